"""Compiles each C++ source once for all tests, whichever process and folder it is compiled in.

Most tests of Inductor begin with empty caches, so that all of a compile is recorded. The C++ compiler would then take
most of their time, for sources that it has compiled before: the trials of the processor's vector units, which precede
the first kernel of each process, and the kernels of the models that several tests share.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

_COMPILER = "g++"
_FOLDER = "FREEZER_COMPILED"


@contextmanager
def compiled_once() -> Iterator[None]:
    """Puts `main` before the compiler on the path of this process and of those that it starts."""
    if _FOLDER in os.environ or shutil.which(_COMPILER) is None:  # in a worker of xdist the path is that of its parent
        yield
        return
    with tempfile.TemporaryDirectory(prefix="freezer-compiled-") as folder:
        compiler = Path(folder) / _COMPILER
        # It starts for each compile, so without the packages of this environment.
        compiler.write_text(f"#!{sys.executable} -IS\n{Path(__file__).read_text()}\nmain()\n")
        compiler.chmod(0o700)
        before = os.environ["PATH"]
        os.environ |= {_FOLDER: folder, "PATH": f"{folder}{os.pathsep}{before}"}
        try:
            yield
        finally:
            os.environ["PATH"] = before
            del os.environ[_FOLDER]


def main() -> NoReturn:
    """Does as the compiler does; takes the result of an earlier call with equal sources and options if there is one."""
    folder = Path(sys.argv[0]).parent
    path = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if each != str(folder))
    compiler = shutil.which(_COMPILER, path=path)
    assert compiler is not None
    words = sys.argv[1:]
    key = _key(words)
    if key is None:
        os.execv(compiler, [compiler, *words])
    kept, output = folder / key, _output(words)
    if kept.exists():
        shutil.copy(kept, output)
        sys.exit(0)
    ended = subprocess.run([compiler, *words], check=False)
    if ended.returncode == 0 and output.is_file():
        with suppress(OSError):  # a sandbox shows the folder, but nothing can be written there
            unfinished = Path(tempfile.mkdtemp(dir=folder)) / key
            shutil.copy(output, unfinished)
            unfinished.replace(kept)
    sys.exit(ended.returncode)


def _output(words: list[str]) -> Path:
    return Path(words[words.index("-o") + 1])


def _key(words: list[str]) -> str | None:
    """Names a compile by its options and the content of its sources, not by their folders; some have no name."""
    if "-o" not in words[:-1]:
        return None
    output = words.index("-o") + 1
    key = hashlib.sha256()
    for word in (*words[:output], *words[output + 1 :]):
        path = Path(word)
        said = word.encode() if word.startswith("-") or not path.is_file() else path.read_bytes()
        if word.startswith("@") or b".incbin" in said:  # there is more to read
            return None
        key.update(len(said).to_bytes(8, "big") + said)
    return key.hexdigest()
