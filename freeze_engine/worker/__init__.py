"""Records or inspects a model in a child process; a crash there does not affect the caller.

`RecordingProcess` starts the process and sends its events; `inspect_model` only inspects. A recording's state is
written to a journal (`journal`), so that a crash inside torch leaves the steps recorded so far (`post_mortem_task`).
Nothing here imports torch in the caller's process.

The exports are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
