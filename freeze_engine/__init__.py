"""Records how PyTorch freezes a model, pass by pass, as plain data that opens without torch.

Everything public is listed in ``__init__.pyi`` and loaded on first use, so that importing this package costs
nothing and torch is not imported until something is recorded.
"""

import lazy_loader

from freeze_engine.ipython.display import load_ipython_extension as load_ipython_extension, register

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register()
