"""Reads fx graphs: rows, names, types, inputs and constants; makes recorded ones executable."""
