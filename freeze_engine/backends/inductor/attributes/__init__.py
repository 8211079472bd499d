"""Fates of a model's attributes in a compile, and the constants that hold their values."""
