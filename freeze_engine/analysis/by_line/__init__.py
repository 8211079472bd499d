"""Outcome of each line of the user's source: passes, nodes, kernels, time, error."""
