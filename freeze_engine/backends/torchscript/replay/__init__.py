"""Runs and saves recorded graphs: latency, numeric error, memory, and single passes again."""
