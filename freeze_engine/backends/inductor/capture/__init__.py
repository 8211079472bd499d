"""Hooks into torch's compile and keeps its graphs, passes and matches."""
