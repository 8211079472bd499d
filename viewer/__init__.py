"""Shows traces: view models, charts, the report, the command line, the notebook; none of it needs torch.

`show` and `compare` are listed in ``__init__.pyi`` and loaded on first use, so that importing this package costs
nothing.
"""

__all__ = ["compare", "show"]


def __getattr__(name: str) -> object:
    # Not above: it takes longer to import than the command line takes to listen to signals.
    import lazy_loader

    load, _, _ = lazy_loader.attach_stub(__name__, __file__)
    return load(name)


def __dir__() -> list[str]:
    return __all__
