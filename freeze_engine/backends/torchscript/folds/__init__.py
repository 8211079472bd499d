"""Folds: the nodes that each pass merged, near misses, and the conditions that failed."""
