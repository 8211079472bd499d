"""Sends signals to recordings, their callers and the dashboard, at each step and at random, and checks what they leave.

`python -m benchmarks.kill_sweep` runs all of it; `tests/torch/test_kill_sweep.py` runs a few cases of each kind.
"""
