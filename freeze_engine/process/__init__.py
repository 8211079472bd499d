"""Forks, exit causes, temporary folders, atomic writing of files, and what only POSIX systems have.

The exports are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
