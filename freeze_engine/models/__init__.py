"""Finds, checks and loads models and input tensors, also those from untrusted files."""
