"""Loads the model that a MODEL argument of the command line names.

A MODEL is one of

* a TorchScript file (`torch.jit.save`),
* an exported program (`torch.export.save`, ``.pt2``), with the example inputs it was exported with,
* ``package.module:factory``, looked up from the working directory,
* ``example:NAME``, see `freeze_engine.models.examples`.

A model is a program, and so is a file that holds one: load only what you trust. In particular `torch.export.load`
may fall back to unpickling (torch 2.13, ``torch/_export/serde/serialize.py``). Pickled modules are refused.
"""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import sys
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from freeze_engine.backends.common.exported_programs import exported_class, holds_exported, module_of
from freeze_engine.errors import ModelSpecError
from freeze_engine.models.examples import EXAMPLES
from freeze_engine.models.factory_names import factory_advice
from freeze_engine.models.file_kinds import file_kind
from freeze_engine.models.imports import import_modules, missing_operators, missing_text
from freeze_engine.models.other_files import other_file
from freeze_engine.models.tensors import device_named, moved
from freeze_engine.models.untrusted.canonical_copy import canonical_copy, check_archive
from freeze_engine.models.untrusted.exported_program import ProgramOrigin, program_operators
from freeze_engine.models.untrusted.refusals import quoted
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.suggestions import did_you_mean

FORMS = (
    "a TorchScript file (model.pt), an exported program (model.pt2), package.module:factory, or example:NAME "
    "(example:resnet50)"
)
PAGE_FORMS = "a TorchScript file (model.pt), an exported program (model.pt2), or example:NAME (example:resnet50)"
_FACTORY = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<path>[^\W\d]\w*(\.[^\W\d]\w*)*)")
_FILE_FACTORY = re.compile(r"(?P<file>.+)\.py:(?P<path>.+)")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """The model that a MODEL argument stands for.

    Attributes:
        module: an `nn.Module` or a ScriptModule, in the mode (training or not) it came in.
        inputs: the inputs that the MODEL brings, ``None`` if it brings none.
        name: a short name: the file's stem, the factory's or the example's name.
        via: how the module gets into TorchScript: an exported program can only be traced.
        preserved_attrs: the default of what to preserve; only examples have one.
    """

    module: nn.Module
    inputs: Inputs | None
    name: str
    via: Literal["script", "trace"] = "script"
    preserved_attrs: tuple[str, ...] = ()


def load_model(
    spec: str, *, map_location: str | None = None, imports: Sequence[str] = (), trusted: bool = True
) -> LoadedModel:
    """Loads the model that a MODEL of the command line names.

    For ``package.module:factory`` the working directory goes on `sys.path`, first, and stays there, as with
    ``python -m``. A factory is a function that takes no arguments and returns a module or ``(module, inputs)``, a
    module class, or a module. What the imported code itself raises passes through.

    Args:
        spec: the MODEL.
        map_location: the device to load onto, such as ``cpu`` or ``cuda:0``; ``None`` leaves the model where it is.
        imports: modules to import first, such as ``torchao.quantization.pt2e``, which registers operators that a saved
            program needs. They are the caller's choice, never the file's.
        trusted: whether code may be imported and unpickled for it. ``False`` refuses ``package.module:factory``, and
            exported programs that hold more than tensors and operators; ``TORCH_FORCE_WEIGHTS_ONLY_LOAD=1`` must then
            have been set, for `torch.export.load` unpickles otherwise.

    Returns:
        The model, with example inputs where it has some.

    Raises:
        ModelSpecError: if ``spec`` does not name a model, or a module cannot be imported; the message says what to do.
    """
    own = import_modules(imports, trusted=trusted)
    prefix, _, name = spec.partition(":")
    if prefix == "example":
        return _moved(_example(name), map_location)
    path = Path(spec)
    if path.is_file():
        return _file(path, map_location, None if trusted else own)
    if _FACTORY.fullmatch(spec) and not trusted:
        raise ModelSpecError(
            f"MODEL {spec!r} names code to import, which is not done from here. Give a TorchScript file (model.pt) or "
            "an exported program (model.pt2), or record it on the command line: freezer-ui record."
        )
    if match := _FACTORY.fullmatch(spec):
        return _moved(_factory(spec, match["module"], match["path"]), map_location)
    forms = FORMS if trusted else PAGE_FORMS
    if path.is_dir():
        raise ModelSpecError(f"MODEL {spec!r} is a folder. Give {forms}.")
    if path.is_symlink() and not path.exists():
        raise ModelSpecError(f"MODEL {spec!r} is a link to {path.readlink()}, which is not there. Give {forms}.")
    if path.exists():
        raise ModelSpecError(f"MODEL {spec!r} is a device or a pipe. Give {forms}.")
    raise ModelSpecError(f"MODEL {spec!r} is neither a file here nor of a known form.{_hint(spec)} Give {forms}.")


def check_module(model: object) -> nn.Module:
    """Returns a model, which must be a module.

    Raises:
        ModelSpecError: it is something else.
    """
    if isinstance(model, nn.Module):
        return model
    made = f"an instance of it, {model.__name__}(...)" if isinstance(model, type) else "a torch.nn.Module in eval mode"
    what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
    raise ModelSpecError(f"the model is {what}: pass {made}, or {FORMS}")


def _hint(spec: str) -> str:
    """Returns a suggestion, empty if there is none."""
    if spec in EXAMPLES:
        return f" Did you mean example:{spec}?"
    if match := _FILE_FACTORY.fullmatch(spec):
        return f" Did you mean {factory_advice(Path(match['file'] + '.py'), match['path'])}?"
    return ""


def _example(name: str) -> LoadedModel:
    example = EXAMPLES.get(name)
    if example is None:
        raise ModelSpecError(
            f"There is no example {name!r}.{did_you_mean(name, EXAMPLES)} The examples are {', '.join(EXAMPLES)}."
        )
    module, inputs = example.build()
    return LoadedModel(module, inputs, name, preserved_attrs=example.preserved_attrs)


def _file(path: Path, map_location: str | None, namespaces: Set[str] | None) -> LoadedModel:
    """Opens a file; for an untrusted one, ``namespaces`` has those of the operators that the user imported."""
    try:
        return _opened(path, map_location, namespaces)
    except PermissionError as error:
        raise ModelSpecError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from error


def _opened(path: Path, map_location: str | None, namespaces: Set[str] | None) -> LoadedModel:
    kind = file_kind(path)
    if kind == "trace":
        raise ModelSpecError(f"{path} is a recorded trace, not a model. Look at it with `freezer-ui {path}`.")
    if kind == "frozen" and namespaces is not None:
        raise ModelSpecError(f"{path} is frozen already, so no pass is left to record. Open it to see what is in it.")
    if kind in ("torchscript", "frozen"):
        if namespaces is not None:
            check_archive(path)
        return _torchscript(path, map_location)
    if kind == "exported":
        loaded = _exported(path, path.stem) if namespaces is None else _untrusted(path, namespaces)
        return _moved(loaded, map_location)
    found = other_file(path)
    raise ModelSpecError(f"{path} is {found.what}. {found.remedy if namespaces is None else found.page_remedy}")


def _torchscript(path: Path, map_location: str | None) -> LoadedModel:
    try:
        # torch.jit.load carries no annotations (torch 2.13).
        module: torch.jit.ScriptModule = torch.jit.load(path, map_location=map_location)  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as error:
        raise ModelSpecError(
            f"{path} looks like TorchScript, but torch {torch.__version__} cannot load it: {error}"
        ) from error
    return LoadedModel(module, None, path.stem)


def _untrusted(path: Path, namespaces: Set[str]) -> LoadedModel:
    """Loads an exported program from somebody else, from a copy with only the validated parts."""
    with canonical_copy(path, namespaces) as (copy, origin):
        try:
            return _exported(copy, path.stem)
        except ModelSpecError as error:
            raise ModelSpecError(_unreadable(path, origin, error.__cause__)) from error
        # Parts of a program may not fit together in more ways than torch checks.
        except (TypeError, AttributeError, IndexError, SyntaxError, NameError, RecursionError) as error:
            raise ModelSpecError(_unreadable(path, origin, error)) from error


def _unreadable(path: Path, origin: ProgramOrigin, error: BaseException | None) -> str:
    return (
        f"{path} looks like an exported program, written by torch {origin.torch_version} with schema "
        f"{origin.schema_version}, but torch {torch.__version__} cannot load it: {quoted(str(error))}"
    )


def _exported(path: Path, name: str) -> LoadedModel:
    # torch would print two tracebacks for a missing operator before it raises.
    if missing := missing_operators(program_operators(path)):
        raise ModelSpecError(f"{path} needs {missing_text(missing)}")
    try:
        program = torch.export.load(path)
    except pickle.UnpicklingError as error:
        raise ModelSpecError(
            f"{path} holds something pickled that is not a tensor, which is not opened from here. If you trust the "
            "file, record it on the command line: freezer-ui record."
        ) from error
    except (RuntimeError, ValueError, KeyError, AssertionError) as error:
        raise ModelSpecError(
            f"{path} looks like an exported program, but torch {torch.__version__} cannot load it: {error}"
        ) from error
    return replace(of_program(program), name=name)


def of_program(program: Any) -> LoadedModel:
    """Returns the module of an exported program, with the program's example inputs.

    Args:
        program: the ``torch.export.ExportedProgram``.

    Raises:
        ModelSpecError: it is something else.
    """
    if not isinstance(program, torch.export.ExportedProgram):
        check_module(program)
    module = module_of(program)
    name = exported_class(program.graph) or "exported program"
    example = program.example_inputs
    inputs = None if example is None else Inputs(tuple(example[0]), dict(example[1]))
    return LoadedModel(module, inputs, name, via="trace")


def _factory(spec: str, module_name: str, path: str) -> LoadedModel:
    found: Any = _import(spec, module_name)
    for name in path.split("."):
        if not hasattr(found, name):
            raise ModelSpecError(
                f"MODEL {spec!r}: {module_name} has no {path!r}.{did_you_mean(name, dir(found))} Give the name of a "
                "function that takes no arguments and returns a module, or (module, inputs)."
            )
        found = getattr(found, name)
    made: Any = found if isinstance(found, (nn.Module, torch.export.ExportedProgram)) else _called(spec, found)
    name = path.rpartition(".")[2]
    inputs = None
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], (nn.Module, torch.export.ExportedProgram)):
        made, inputs = made[0], _as_inputs(spec, made[1])
    if isinstance(made, torch.export.ExportedProgram):
        loaded = of_program(made)
        return replace(loaded, inputs=inputs or loaded.inputs, name=name)
    if isinstance(made, nn.Module):
        return LoadedModel(made, inputs, name, "trace" if holds_exported(made) else "script")
    raise ModelSpecError(
        f"MODEL {spec!r} gave {type(made).__name__}, which is not a module. Let it return a torch.nn.Module, an "
        "exported program, or (module, inputs)."
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
            f"MODEL {spec!r}: there is no module {error.name!r}, neither installed nor in {here}.{_hint(spec)} "
            f"Give {FORMS}."
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
        pass  # built-in callables have no signature to check; the call itself raises
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
    target = device_named(device)
    inputs = loaded.inputs
    if inputs is not None:
        inputs = Inputs(
            tuple(moved(value, target) for value in inputs.args),
            {name: moved(value, target) for name, value in inputs.kwargs.items()},
        )
    return replace(loaded, module=loaded.module.to(target), inputs=inputs)
