"""Reads model files from somebody else, and writes copies that torch may open."""
