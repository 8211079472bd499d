"""Explains passes: what each does, and why it changed nothing in a recorded graph.

The sentences and conditions are read from torch 2.13's source (``torch/csrc/jit/passes``, ``torch/_inductor``). A
reason is given only where the recorded graph proves it.
"""
