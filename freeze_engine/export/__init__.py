"""Converts traces to other tools' formats, as plain dicts and texts; writes no files."""
