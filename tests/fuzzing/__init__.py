"""Altered trace files, and everything that reads a trace: what opens can be shown, or is refused.

`tests/unit/test_fuzzing.py` tries some inputs, `python -m benchmarks.fuzz` as many as one likes.
"""
