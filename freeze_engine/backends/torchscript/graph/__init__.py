"""Reads TorchScript graphs, from torch's text and from live objects, and rebuilds live ones."""
