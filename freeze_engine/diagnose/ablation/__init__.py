"""Measures what each pass contributes on its own: a freeze without it runs in turns with the whole freeze."""
