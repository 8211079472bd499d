"""Strikes recordings, their callers and the dashboard at each step and at random moments, and checks what is left.

`python -m benchmarks.kill_sweep` runs all of it; `tests/torch/test_kill_sweep.py` runs a few cases of each kind.
"""
