"""Forks, exit causes, temporary folders, and files that are written whole or not at all."""
