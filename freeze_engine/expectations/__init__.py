"""What a user expects of a freeze, and whether a trace shows it; `expected` has the list."""
