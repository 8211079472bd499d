"""Runs recorded graphs in place of the compiled ones, to measure them."""
