"""Builds a trace step by step and gives nodes ids that last."""
