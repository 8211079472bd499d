"""Freezes a model again to find causes: checks of the result, ablation of passes, bisection."""
