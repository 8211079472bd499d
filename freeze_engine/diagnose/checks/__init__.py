"""Checks of a frozen module after its freeze; `run` has the table of them."""
