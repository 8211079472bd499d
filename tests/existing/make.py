"""Makes the files of this folder anew: ``python -m tests.existing.make frozen|logs|debug``.

The logs are those of real compiles. Only paths of the machine are replaced in them, and the digests of payloads with
such paths computed anew; the events of the profiler, guards and whole configurations, most of a log, are left out.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import torch

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
LOGS = ("frozen", "plain", "hit", "breaks", "failed")
_HEADER = re.compile(r"(?P<head>V\d{4} \S+ \d+ \S+\] )(?P<json>\{.*)")
_LONGEST = 2000
_DROPPED = ("chromium_event", "dynamo_cpp_guards_str", "runtime_wrapper_orchestration")


class Counting(torch.nn.Module):
    """Keeps what freezing keeps: a requested value, one that is assigned, one that is written in place."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.bn = torch.nn.BatchNorm2d(4)
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("scale", torch.ones(4))
        self.version = 3
        self.calls = 0

    def forward(self, x: torch.Tensor, double: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Counts, branches and loops."""
        self.seen.view(1).add_(1)  # type: ignore[operator]
        self.calls += 1
        y = self.bn(self.conv(x)).relu()
        if double:
            y = y * 2.5
        for number in range(x.size(0)):
            y = y + number
        return y, torch.rand(4) + self.scale  # type: ignore[operator]


def frozen() -> None:
    """Writes ``frozen.pt``."""
    torch.manual_seed(0)
    module = torch.jit.script(Counting().eval())
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "frozen.pt"
        torch.jit.freeze(module, ["version"], optimize_numerics=False).save(str(saved))
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(FOLDER / "frozen.pt", "w") as new:
            for info in old.infolist():
                if not info.filename.endswith(".debug_pkl"):  # it names the files of this machine
                    new.writestr(info.filename, old.read(info))


def logs() -> None:
    """Writes the logs of ``TORCH_TRACE``: ``hit`` is a second compile of ``plain``."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for name in LOGS:
            kind = "plain" if name == "hit" else name
            _compile(kind, folder, {"TORCH_TRACE": str(folder / name)})
            (log,) = (folder / name).iterdir()
            write_log(log, name)


def write_log(log: Path, name: str) -> None:
    """Writes a log, packed, without what tests do not need and without paths of this machine."""
    records: list[tuple[str, str, list[str]]] = []
    for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
        if match := _HEADER.match(line):
            records.append((match["head"], match["json"], []))
        else:
            records[-1][2].append(line[1:])
    kept = [each for record in records if (each := _anonymous(*record))]
    with gzip.GzipFile(FOLDER / f"{name}.log.gz", "wb", mtime=0) as packed:
        packed.write("".join(kept).encode())


def _anonymous(head: str, text: str, lines: list[str]) -> str:
    record = json.loads(without_paths(text))
    names = {*record, record.get("artifact", {}).get("name")}
    if names & set(_DROPPED):
        return ""
    for about in record.values():
        if isinstance(about, dict):  # the metrics hold whole configurations
            long = [key for key, value in about.items() if isinstance(value, str) and len(value) > _LONGEST]
            about |= dict.fromkeys(long)
    payload = without_paths("".join(lines).removesuffix("\n"))
    if payload or "has_payload" in record:
        record["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    body = "".join(f"\t{line}\n" for line in payload.split("\n")) if "has_payload" in record else ""
    return f"{head}{json.dumps(record)}\n{body}"


def without_paths(text: str) -> str:
    """Returns a text with the folders of this machine replaced."""
    text = re.sub(r"/[\w./+-]*/site-packages/", "/site-packages/", text)
    text = re.sub(r"/[\w./+-]*/(compiles|mklog)\.py", "/home/user/compiles.py", text)
    return re.sub(r"/(tmp|work|root)/[\w./+-]*", "/home/user/cache", text)


def debug() -> None:
    """Writes ``compile_debug.zip``: the folder of ``TORCH_COMPILE_DEBUG``."""
    with tempfile.TemporaryDirectory() as text:
        _compile("frozen", Path(text), {"TORCH_COMPILE_DEBUG": "1"})
        write_debug(Path(text))


def write_debug(folder: Path) -> None:
    """Writes the files of single compiles, and the name of the log beside them."""
    with zipfile.ZipFile(FOLDER / "compile_debug.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.glob("torch_compile_debug/**/*")):
            name = re.sub(r"run_[^/]*", "run_1", file.relative_to(folder).as_posix())
            if file.suffix == ".py":
                packed.writestr(name, without_paths(file.read_text(encoding="utf-8")))
            elif "tlparse" in name and file.is_file():
                packed.writestr(name, "")


def _compile(kind: str, folder: Path, variables: dict[str, str]) -> None:
    environment = os.environ | variables | {"TORCHINDUCTOR_CACHE_DIR": str(folder / f"cache-{kind}")}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-W", "ignore", "-m", "tests.existing.compiles", kind]
    subprocess.run(command, check=True, cwd=folder, env=environment)


if __name__ == "__main__":
    {"frozen": frozen, "logs": logs, "debug": debug}[sys.argv[1]]()
