"""Compares freezer-ui with Netron and Model Explorer on the same frozen models, in the same Chromium.

``python -m benchmarks.side_by_side`` makes an environment of its own for the two (in the temporary folder, or the one
named with ``--environment``), writes the models in the format of each, and opens them in turns: one browser for each
visit, round by round, so that the load of the machine falls on all alike.
"""
