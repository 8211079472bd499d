"""Python runs this at the start of a child process that ``freezer-ui run`` records.

It takes the place of the user's own ``sitecustomize``, so it runs that first.
"""

import importlib
import json
import os
import sys
from pathlib import Path


def _run_own() -> None:
    """Imports the module of this name that Python would have found without this one."""
    here = Path(__file__).resolve().parent
    mine = sys.modules.pop("sitecustomize")
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != here]
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", mine)


def _begin() -> None:
    place = json.loads(os.environ.get("FREEZER_RECORD_CHILDREN", "{}"))
    if place.get("prefix") != sys.prefix:
        return
    try:
        from freeze_engine.captures.child_start import begin_in_child
    except ImportError:
        sys.path.append(place["package"])
        from freeze_engine.captures.child_start import begin_in_child
    begin_in_child()


_run_own()
_begin()
