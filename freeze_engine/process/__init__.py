"""Forks, exit causes, temporary folders, and atomic writing of files."""
