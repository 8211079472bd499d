"""Records many models × options × backends × environments, and compares the results of two such runs.

A sweep is a file of models (`plan_file`) and a folder of results (`folder`): one trace and one row for each recording.
A row is written when its recording has ended, so a sweep that is killed continues where it was. Nothing here imports
torch; each recording is a child process (`freeze_engine.worker`).

The exports are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
