"""The user's request as plain data: options, inputs, arguments, and suggestions for misspelt names.

The exports are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
