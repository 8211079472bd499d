"""Records the freezes of code that this package does not call: of a block, of a process, of its child processes.

The exports are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
