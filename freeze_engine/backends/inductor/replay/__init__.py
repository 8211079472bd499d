"""Runs recorded graphs in the place of the compiled ones, to measure them."""
