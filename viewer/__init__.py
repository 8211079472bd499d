"""Shows traces: view models, charts, the report, the command line, the notebook; none of it needs torch.

`show` and `compare` are listed in ``__init__.pyi`` and loaded on first use, so that importing this package costs
nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
