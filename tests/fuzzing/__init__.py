"""Altered trace files, and all readers of traces: each file is either refused or shown without an error.

`tests/unit/test_fuzzing.py` tries some inputs, `python -m benchmarks.fuzz` any number.
"""
