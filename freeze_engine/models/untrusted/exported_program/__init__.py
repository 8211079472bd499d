"""Writes a copy of an exported program that holds only what was understood and found harmless.

`torch.export.load` (torch 2.13.0) runs more than operators: it unpickles custom objects and compiled libraries
(``torch/export/pt2_archive/_package.py``), looks operators up by any path that begins with ``torch``, evaluates the
texts of sizes (``torch/_export/serde/serialize.py``), executes those of guards and of text inputs
(``torch/export/_unlift.py``), and writes the names of values and arguments into Python source (``torch/fx/graph.py``).
So a file from somebody else is never opened by torch. It is read by a strict reader
(`freeze_engine.models.untrusted.strict_zip`), what it holds is compared with all that torch is known to write
(`schema`, `archive`), and a new file is written from exactly that; torch opens the new one.
"""

from freeze_engine.models.untrusted.exported_program.archive import (
    ProgramOrigin as ProgramOrigin,
    is_exported_program as is_exported_program,
    program_operators as program_operators,
    write_canonical as write_canonical,
)
from freeze_engine.models.untrusted.exported_program.rules import RefusedError as RefusedError
from freeze_engine.models.untrusted.exported_program.texts import is_arithmetic as is_arithmetic
