"""Traces in the forms that other tools read; plain dicts and texts, nothing is written here."""
