"""Request for a recording as plain data, sent to the child process as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from freeze_engine.requests.options import CheckName, InductorOptions, Measure, TorchScriptOptions
from freeze_engine.trace import Backend

REQUEST = "request.json"
_DEFAULT_MEASURE = Measure()


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """A request for a recording.

    Attributes:
        model: a MODEL as on the command line: a file, ``package.module:factory``, or ``example:NAME``.
        output: the trace file; its folder must exist. It is first written before measuring begins.
        inputs: texts as of ``--input``; without any, the inputs that the MODEL brings.
        backend: which freezing.
        options: how to freeze; of the backend's own class. Where it preserves nothing, what the MODEL preserves by
            itself is preserved.
        measure: what to measure, ``None`` to record only.
        via: how an `nn.Module` gets into TorchScript; by default as the MODEL needs it, else scripted.
        device: where to load the model and make the inputs, such as ``cuda:0``; by default the model stays where it
            is, and inputs are made on the CPU.
        call: the call or command to show in the trace.
        name: the model's name in the trace, by default the MODEL's.
        trusted: whether code of the caller's machine may run: ``False`` refuses ``package.module:factory`` and
            whatever would be unpickled.
        sandbox: whether to record in a sandbox, and to refuse the recording if there is none; by default if it is not
            trusted. The built-in examples never are.
        limit_s: seconds after which the recording is ended, ``None`` for no limit.
        memory_bytes: memory limit for all processes of the recording together, ``None`` for no limit. Needs
            ``/proc``, as on Linux.
        checks: the checks to run on the frozen module.
        ablation: whether to measure what each pass contributes on its own.
    """

    model: str
    output: Path
    inputs: tuple[str, ...] = ()
    backend: Backend = "torchscript"
    options: TorchScriptOptions | InductorOptions | None = None
    measure: Measure | None = _DEFAULT_MEASURE
    via: Literal["script", "trace"] | None = None
    device: str | None = None
    call: str | None = None
    name: str | None = None
    trusted: bool = True
    limit_s: float | None = None
    memory_bytes: int | None = None
    checks: tuple[CheckName, ...] = ()
    ablation: bool = False
    sandbox: bool | None = None


def request_text(request: RecordRequest) -> str:
    """Returns the request as JSON."""
    return json.dumps(asdict(request) | {"output": str(request.output)})


def read_request(text: str) -> RecordRequest:
    """Returns the request that `request_text` wrote."""
    given: dict[str, Any] = json.loads(text)
    options, measure = given["options"], given["measure"]
    kind = InductorOptions if given["backend"] == "inductor" else TorchScriptOptions
    changed = {
        "output": Path(given["output"]),
        "inputs": tuple(given["inputs"]),
        "checks": tuple(given["checks"]),
        "options": None if options is None else kind(**_tuples(options)),
        "measure": None if measure is None else Measure(**_tuples(measure)),
    }
    return RecordRequest(**(given | changed))


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
