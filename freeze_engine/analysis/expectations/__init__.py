"""What a user expects of a freeze, and whether a trace shows it; `expectations` has the list."""
