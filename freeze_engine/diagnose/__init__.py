"""Finds causes by freezing a model again: checks of the result, ablation of passes, bisection."""
