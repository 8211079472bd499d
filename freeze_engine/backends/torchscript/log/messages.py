"""Messages in torch's log of a freeze (``freeze_module.cpp``, ``graph_executor.cpp``; torch 2.13)."""

import re
from typing import Final

#: Each is followed by the name of a function.
ANALYZING: Final = "Analyzing function: "
RECORDING: Final = "Recording mutable attrs for function: "
PROPAGATING: Final = "Propagating function: "
CLEANING: Final = "Cleaning up module"
FOLDING: Final = re.compile(r"Folding GetAttr %(?P<value>.+?) with (?P<constant>.+)")
AFTER: Final = re.compile(r"After (\w+)(?:\s*, before (\w+))?")
BEFORE: Final = re.compile(r"Before (\w+)")
