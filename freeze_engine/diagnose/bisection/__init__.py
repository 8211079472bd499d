"""Finds the pass, and the rewrite in it, that breaks a criterion."""
