"""Pure functions of one or two traces: differences, metrics, provenance, expectations."""
