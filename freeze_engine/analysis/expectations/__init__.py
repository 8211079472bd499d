"""Checks a trace against what the user expects of the freeze; `expectations` has the list."""
