"""Builds a trace step by step and gives nodes stable ids."""
