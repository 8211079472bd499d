"""The rules that every trace keeps beyond the types of its fields, one module per subject.

`freeze_engine.trace.validation` puts them together: `freeze_engine.load` refuses a file that breaks one, so that
whatever reads a trace relies on all of them.
"""
