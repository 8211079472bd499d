"""From words to a model: MODEL of the command line, and the tensors that ``--input`` asks for.

A MODEL is one of

* a TorchScript file (`torch.jit.save`),
* an exported program (`torch.export.save`, ``.pt2``), with the example inputs it was exported with,
* ``package.module:factory``, looked up from the working directory,
* ``example:NAME``, see `freeze_engine.examples`.

A model is a program, and so is a file that holds one: load only what you trust. In particular `torch.export.load`
may fall back to unpickling (torch 2.13, ``torch/_export/serde/serialize.py``). Pickled modules are refused.
"""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from freeze_engine.errors import ModelSpecError
from freeze_engine.examples import EXAMPLES
from freeze_engine.exported_program import check_exported_program
from freeze_engine.inputs import InputRequest, Inputs, RandomTensor, SavedTensor, did_you_mean, parse_input
from freeze_engine.serde import is_trace_file

__all__ = ["InputRequest", "Inputs", "LoadedModel", "load_model", "make_inputs", "parse_input"]

FORMS = (
    "a TorchScript file (model.pt), an exported program (model.pt2), package.module:factory, or example:NAME "
    "(example:resnet50)"
)
_FACTORY = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<path>[^\W\d]\w*(\.[^\W\d]\w*)*)")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What a MODEL stands for.

    Attributes:
        module: an `nn.Module` or a ScriptModule, in the mode (training or not) it came in.
        inputs: the inputs that the MODEL brings, ``None`` if it brings none.
        name: a short name: the file's stem, the factory's or the example's name.
        via: how the module gets into TorchScript: an exported program can only be traced.
        preserved_attrs: what to preserve where the user does not say; only examples have some.
    """

    module: nn.Module
    inputs: Inputs | None
    name: str
    via: Literal["script", "trace"] = "script"
    preserved_attrs: tuple[str, ...] = ()


def load_model(spec: str, *, map_location: str | None = None, trusted: bool = True) -> LoadedModel:
    """Loads the model that a MODEL of the command line names.

    For ``package.module:factory`` the working directory goes on `sys.path`, first, and stays there, as with
    ``python -m``. A factory is a function that takes no arguments and returns a module or ``(module, inputs)``, a
    module class, or a module. What the imported code itself raises passes through.

    Args:
        spec: the MODEL.
        map_location: the device to load onto, such as ``cpu`` or ``cuda:0``; ``None`` leaves the model where it is.
        trusted: whether code may be imported and unpickled for it. ``False`` refuses ``package.module:factory``, and
            exported programs that hold more than tensors and operators; ``TORCH_FORCE_WEIGHTS_ONLY_LOAD=1`` must then
            have been set, for `torch.export.load` unpickles otherwise.

    Returns:
        The model, with example inputs where it has some.

    Raises:
        ModelSpecError: if ``spec`` does not name a model; the message says what it could be.
    """
    prefix, _, name = spec.partition(":")
    if prefix == "example":
        return _moved(_example(name), map_location)
    path = Path(spec)
    if path.is_file():
        return _file(path, map_location, trusted)
    if _FACTORY.fullmatch(spec) and not trusted:
        raise ModelSpecError(
            f"MODEL {spec!r} names code to import, which is not done from here. Give a TorchScript file (model.pt) or "
            "an exported program (model.pt2), or record it on the command line: freezer-ui record."
        )
    if match := _FACTORY.fullmatch(spec):
        return _moved(_factory(spec, match["module"], match["path"]), map_location)
    if path.is_dir():
        raise ModelSpecError(f"MODEL {spec!r} is a folder. Give {FORMS}.")
    hint = f" Did you mean example:{spec}?" if spec in EXAMPLES else ""
    raise ModelSpecError(f"MODEL {spec!r} is neither a file here nor of a known form.{hint} Give {FORMS}.")


def make_inputs(requests: Iterable[InputRequest], *, seed: int = 0, device: str = "cpu") -> Inputs:
    """Makes what ``--input`` asks for.

    Args:
        requests: in the order of the arguments.
        seed: of a generator of its own on the CPU: the same requests and seed give the same tensors on each device.
        device: where the tensors go.

    Returns:
        The arguments to call the model with.

    Raises:
        ModelSpecError: if a keyword is there twice, a file holds no tensor, a tensor does not fit into memory, or the
            device is not there.
    """
    target = _device(device)
    generator = torch.Generator().manual_seed(seed)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for request in requests:
        value = _to(_made(request, generator), target)
        if request.keyword is None:
            args.append(value)
        elif request.keyword in kwargs:
            raise ModelSpecError(f"--input {request.keyword}=… is given twice; give each keyword once.")
        else:
            kwargs[request.keyword] = value
    return Inputs(tuple(args), kwargs)


def _example(name: str) -> LoadedModel:
    example = EXAMPLES.get(name)
    if example is None:
        raise ModelSpecError(
            f"There is no example {name!r}.{did_you_mean(name, EXAMPLES)} The examples are {', '.join(EXAMPLES)}."
        )
    module, inputs = example.build()
    return LoadedModel(module, inputs, name, preserved_attrs=example.preserved_attrs)


def _file(path: Path, map_location: str | None, trusted: bool) -> LoadedModel:
    if is_trace_file(path):
        raise ModelSpecError(f"{path} is a recorded trace, not a model. Look at it with `freezer-ui {path}`.")
    members = _archive_members(path)
    if _is_torchscript(members):
        return _torchscript(path, map_location)
    if "archive_format" in members or "serialized_exported_program.json" in members:
        if not trusted:
            check_exported_program(path)
        return _moved(_exported(path), map_location)
    if "data.pkl" in members or _is_pickle(path):
        raise ModelSpecError(
            f"{path} is a pickle (torch.save of a module, a state dict or a tensor), which is not opened: it holds no "
            "program, or needs running code to be read. Build the module in Python, load its state dict, and either "
            f'save TorchScript, torch.jit.script(module.eval()).save("{path.stem}.ts.pt"), or give the function that '
            "builds it as package.module:factory."
        )
    raise ModelSpecError(
        f"{path} is neither a TorchScript file nor an exported program; it may be truncated. Give {FORMS}."
    )


def _archive_members(path: Path) -> frozenset[str]:
    """Names in a zip file without the archive's own top folder, empty if it is no zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return frozenset()
    # An older exported program has no top folder (torch 2.13 still reads it, torch/export/__init__.py).
    return frozenset(names) | {name.partition("/")[2] for name in names}


def _is_torchscript(members: frozenset[str]) -> bool:
    return {"constants.pkl", "data.pkl"} <= members


def _is_pickle(path: Path) -> bool:
    with path.open("rb") as stream:
        start = stream.read(2)
    return len(start) == 2 and start[:1] == pickle.PROTO and start[1] <= pickle.HIGHEST_PROTOCOL


def _torchscript(path: Path, map_location: str | None) -> LoadedModel:
    try:
        # torch.jit.load carries no annotations (torch 2.13).
        module: torch.jit.ScriptModule = torch.jit.load(path, map_location=map_location)  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as error:
        raise ModelSpecError(
            f"{path} looks like TorchScript, but torch {torch.__version__} cannot load it: {error}"
        ) from error
    return LoadedModel(module, None, path.stem)


def _exported(path: Path) -> LoadedModel:
    try:
        program = torch.export.load(path)
    except pickle.UnpicklingError as error:
        raise ModelSpecError(
            f"{path} holds something pickled that is no tensor, which is not opened from here. If you trust the file, "
            "record it on the command line: freezer-ui record."
        ) from error
    except (RuntimeError, ValueError, KeyError, AssertionError) as error:
        raise ModelSpecError(
            f"{path} looks like an exported program, but torch {torch.__version__} cannot load it: {error}"
        ) from error
    module = program.module()
    # An exported program's mode was fixed when it was exported; its eval() raises, and the flag that is left says
    # "training" whatever the mode was, which torch.jit.freeze refuses.
    for submodule in module.modules():
        submodule.training = False
    example = program.example_inputs
    inputs = None if example is None else Inputs(tuple(example[0]), dict(example[1]))
    return LoadedModel(module, inputs, path.stem, via="trace")


def _factory(spec: str, module_name: str, path: str) -> LoadedModel:
    found: Any = _import(spec, module_name)
    for name in path.split("."):
        if not hasattr(found, name):
            raise ModelSpecError(
                f"MODEL {spec!r}: {module_name} has no {path!r}.{did_you_mean(name, dir(found))} Give the name of a "
                "function that takes no arguments and returns a module, or (module, inputs)."
            )
        found = getattr(found, name)
    made = found if isinstance(found, nn.Module) else _called(spec, found)
    name = path.rpartition(".")[2]
    if isinstance(made, nn.Module):
        return LoadedModel(made, None, name)
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], nn.Module):
        return LoadedModel(made[0], _as_inputs(spec, made[1]), name)
    raise ModelSpecError(
        f"MODEL {spec!r} gave {type(made).__name__}, which is no module. Let it return a torch.nn.Module, or "
        "(module, inputs)."
    )


def _import(spec: str, module_name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # something that the user's module imports
        raise ModelSpecError(
            f"MODEL {spec!r}: there is no module {error.name!r}, neither installed nor in {here}. Give {FORMS}."
        ) from error


def _called(spec: str, factory: Any) -> Any:
    if not callable(factory):
        raise ModelSpecError(
            f"MODEL {spec!r} is {type(factory).__name__}, which is neither a module nor a function that returns one."
        )
    try:
        inspect.signature(factory).bind()
    except TypeError as error:
        raise ModelSpecError(
            f"MODEL {spec!r} cannot be called without arguments ({error}). Write a function around it, such as "
            "`def build(): return Model(width=64)`, and name that."
        ) from error
    except ValueError:
        pass  # built-in callables have no signature to look at; the call itself tells
    return factory()


def _as_inputs(spec: str, inputs: object) -> Inputs:
    if isinstance(inputs, Inputs):
        return inputs
    if isinstance(inputs, tuple):
        return Inputs(inputs)
    raise ModelSpecError(
        f"MODEL {spec!r}: the inputs it returns are {type(inputs).__name__}. Return a tuple of positional arguments, "
        "as in `return model, (x,)`, or freeze_engine.Inputs(args, kwargs)."
    )


def _moved(loaded: LoadedModel, device: str | None) -> LoadedModel:
    if device is None:
        return loaded
    target = _device(device)
    inputs = loaded.inputs
    if inputs is not None:
        inputs = Inputs(
            tuple(_to(value, target) for value in inputs.args),
            {name: _to(value, target) for name, value in inputs.kwargs.items()},
        )
    return replace(loaded, module=loaded.module.to(target), inputs=inputs)


def _made(request: InputRequest, generator: torch.Generator) -> Any:
    if isinstance(request.value, RandomTensor):
        return _drawn(request.value, generator)
    if isinstance(request.value, SavedTensor):
        return _saved(Path(request.value.path))
    return request.value


def _drawn(wanted: RandomTensor, generator: torch.Generator) -> torch.Tensor:
    dtype = getattr(torch, wanted.dtype)
    try:
        if wanted.values is not None:
            low, high = wanted.values.start, wanted.values.stop
            return torch.randint(low, high, wanted.shape, generator=generator, dtype=dtype)
        if dtype is torch.bool:
            return torch.randint(2, wanted.shape, generator=generator).bool()
        return torch.randn(wanted.shape, generator=generator, dtype=dtype)
    except RuntimeError as error:
        shape = "x".join(str(size) for size in wanted.shape)
        raise ModelSpecError(f"--input {shape}:{wanted.dtype} cannot be made: {error}") from error


def _saved(path: Path) -> torch.Tensor:
    wrong = f"--input @{path}: the file"
    if not path.is_file():
        raise ModelSpecError(f"{wrong} is not there. Write one with torch.save(tensor, {path.name!r}).")
    try:
        # torch.load warns of a TorchScript file before it refuses it, and fails in many ways on what is no file of its
        # own (KeyError, EOFError, ...), so that what is not a zip archive is refused here.
        if not zipfile.is_zipfile(path) or _is_torchscript(_archive_members(path)):
            raise ModelSpecError(f"{wrong} holds no tensor. Write one with torch.save(tensor, {path.name!r}).")
        tensor = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, pickle.UnpicklingError) as error:
        raise ModelSpecError(f"{wrong} cannot be read as a tensor: {error}") from error
    if not isinstance(tensor, torch.Tensor):
        raise ModelSpecError(
            f"{wrong} holds {type(tensor).__name__}. Save one tensor, with torch.save(tensor, {path.name!r})."
        )
    return tensor


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ModelSpecError(f"{name!r} is not a device: {error}. Give cpu or cuda:0.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ModelSpecError(f"There is no device {name!r} on this machine. Give cpu, or run where there is one.")
    return device


def _to(value: Any, device: torch.device) -> Any:
    """Moves the tensors in nested tuples, lists and dicts; leaves the rest."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if type(value) in (tuple, list):
        return type(value)(_to(item, device) for item in value)
    if type(value) is dict:
        return {key: _to(item, device) for key, item in value.items()}
    return value
