"""Folds: merged nodes, near misses with reasons, and folds that lost precision."""
