"""Differences of two traces, for a terminal and for CI; the page uses `viewer.views.comparison.data`."""
