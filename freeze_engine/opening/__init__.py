"""Makes traces of what exists already: frozen files, and what torch's logs keep of a compile. Nothing is run.

The exports are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
