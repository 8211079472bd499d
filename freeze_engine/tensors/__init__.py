"""Leaf tools on tensors: their bytes and digests, the objects that hold them, rounding units."""
