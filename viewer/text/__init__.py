"""Text output for a terminal: figures, tables and differences."""
