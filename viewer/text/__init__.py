"""What a terminal shows: figures, tables and differences as text."""
