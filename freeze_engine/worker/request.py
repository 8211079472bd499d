"""Request for a recording as plain data, sent to the child process as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from freeze_engine.requests.option_metadata import Choice, option
from freeze_engine.requests.options import (
    BACKEND_OPTIONS,
    CheckName,
    Measure,
    Options,
)

if TYPE_CHECKING:
    from freeze_engine.trace import Backend

REQUEST = "request.json"
_DEFAULT_MEASURE = Measure()
_CHECKS = (
    Choice("stale_weights", "Stale weights", "whether it notices that a parameter of the original changed"),
    Choice("idempotence", "Idempotence", "whether freezing it once more leaves it as it is"),
    Choice("determinism", "Determinism", "whether freezing anew gives the same"),
    Choice("round_trip", "Round trip", "whether it is the same after saving and loading"),
    Choice("attributes", "Attributes", "whether it has just the attributes that the recording calls preserved"),
)


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """A request for a recording.

    Attributes:
        model: a MODEL as on the command line: a file, ``package.module:factory``, or ``example:NAME``.
        output: the trace file; its folder must exist. It is first written before measuring begins.
        inputs: texts as of ``--input``; without any, the inputs that the MODEL brings.
        imports: modules to import before the model is loaded, for a saved program that needs a package's operators.
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
        float_model: a MODEL that the recorded one was quantised from, to compare their layers; ``None`` for none.
        must_bind: whether to refuse ``inputs`` that do not fit the parameters of the model's ``forward``, before
            anything is frozen; else such a model is recorded and not measured.
        reads_only: whether to read what exists already (`freeze_engine.opening`), and never to load a model.
    """

    model: str
    output: Path
    inputs: tuple[str, ...] = option(
        (), "names", "Inputs", "an input, once for each argument", flag="input", metavar="INPUT"
    )
    imports: tuple[str, ...] = option(
        (),
        "names",
        "Import",
        "a module to import before the model is loaded, such as torchao.quantization.pt2e, which registers operators",
        flag="import",
        metavar="MODULE",
    )
    backend: Backend = option(
        "torchscript",
        "choice",
        "Backend",
        "which freezing",
        choices=(
            Choice("torchscript", "TorchScript: torch.jit.freeze"),
            Choice("inductor", "Inductor: torch.compile with freezing"),
            Choice("aotinductor", "AOTInductor: a package, compiled ahead of time with freezing"),
        ),
    )
    options: Options | None = None
    measure: Measure | None = _DEFAULT_MEASURE
    via: Literal["script", "trace"] | None = option(
        None,
        "choice",
        "Convert with",
        "how a module becomes a TorchScript program",
        choices=(
            Choice(None, "script, unless the model asks for trace"),
            Choice("script", "script"),
            Choice("trace", "trace"),
        ),
        backend="torchscript",
    )
    device: str | None = option(
        None,
        "text",
        "Device",
        "where to put model and inputs, freeze and measure (cpu, cuda:0)",
        metavar="DEVICE",
        empty="where the model is",
    )
    call: str | None = None
    name: str | None = None
    trusted: bool = True
    limit_s: float | None = option(
        None,
        "seconds",
        "Time limit, seconds",
        "end the recording after this many seconds, for example if it hangs",
        flag="limit",
        empty="none",
    )
    memory_bytes: int | None = option(
        None,
        "size",
        "Memory limit, GiB",
        "end the recording if all its processes together take more memory than this, such as 500M or 4G",
        flag="memory",
        empty="none",
    )
    checks: tuple[CheckName, ...] = option(
        (),
        "choices",
        "Checks",
        "run this check on the frozen module afterwards",
        flag="check",
        metavar="NAME",
        choices=_CHECKS,
    )
    ablation: bool = option(
        False,
        "switch",
        "What each pass contributes",
        "freeze again without each pass in turn, to measure what it contributes; takes one more freeze for each",
    )
    float_model: str | None = option(
        None,
        "text",
        "Float model",
        "the model that this one was quantised from: compare weight and output of each layer",
        metavar="MODEL",
        empty="none",
    )
    sandbox: bool | None = None
    must_bind: bool = False
    reads_only: bool = False


def request_text(request: RecordRequest) -> str:
    """Returns the request as JSON."""
    return json.dumps(asdict(request) | {"output": str(request.output)})


def read_request(text: str) -> RecordRequest:
    """Returns the request that `request_text` wrote."""
    given: dict[str, Any] = json.loads(text)
    options, measure = given["options"], given["measure"]
    kind = BACKEND_OPTIONS[given["backend"]]
    changed = {
        "output": Path(given["output"]),
        "inputs": tuple(given["inputs"]),
        "imports": tuple(given["imports"]),
        "checks": tuple(given["checks"]),
        "options": None if options is None else kind(**_tuples(options)),
        "measure": None if measure is None else Measure(**_tuples(measure)),
    }
    return RecordRequest(**(given | changed))


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
