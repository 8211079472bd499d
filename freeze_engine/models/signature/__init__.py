"""Reads the parameters of a model's ``forward``, and suggests an input for each."""
