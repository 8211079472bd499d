"""Tries one call of a model before it is recorded, and explains why one fails."""
