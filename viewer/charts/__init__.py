"""Draws the charts of one trace or of two."""
