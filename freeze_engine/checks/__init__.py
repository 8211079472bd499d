"""Questions put to a frozen module after its freeze; `running` has the table of them."""
