"""Reads the file of a sweep (TOML): models × options × backends × environments. ``docs/sweeps.md`` describes it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from freeze_engine.errors import FreezerError
from freeze_engine.requests.inputs import parse_input
from freeze_engine.requests.options import BACKEND_OPTIONS, AOTInductorOptions, Measure, unmeasured
from freeze_engine.requests.suggestions import did_you_mean
from freeze_engine.sweep.plan import PlannedRow, PythonEnvironment, SweepPlan
from freeze_engine.sweep.toml_options import fits, known_names, request_fields
from freeze_engine.worker.command_line import model_name
from freeze_engine.worker.request import RecordRequest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TOP: Final = ("name", "paths", "packages", "defaults", "environments", "options", "models")
_CHOICES: Final = ("backends", "options", "environments", "packages")
_MODEL: Final = ("model", "models", "name", *_CHOICES)
_DEFAULT: Final = "default"
_MEASURE: Final = "measure"


@dataclass(frozen=True, slots=True)
class _Source:
    """Settings that all models of a file share."""

    path: Path
    defaults: Mapping[str, Any]
    options: Mapping[str, Mapping[str, Any]]
    environments: Mapping[str, PythonEnvironment]
    packages: tuple[str, ...]
    paths: tuple[str, ...]


def read_plan(path: Path) -> SweepPlan:
    """Reads the file of a sweep.

    Args:
        path: the file.

    Raises:
        FreezerError: it cannot be read, or it has something that is not known; the message names the place.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FreezerError(f"{path}: the sweep's file cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FreezerError(f"{path}: it is no TOML: {error}") from error
    return plan_of(document, path)


def plan_of(document: Mapping[str, Any], path: Path) -> SweepPlan:
    """Returns the plan of a parsed file.

    Args:
        document: its content.
        path: its path: folders in it are relative to its folder, and MODELs that are files as well.

    Raises:
        FreezerError: as of `read_plan`.
    """
    _refuse_unknown(document, _TOP, str(path))
    source = _source(document, path)
    models = _tables(document.get("models"), f"{path}: models")
    if not models:
        raise FreezerError(f'{path}: there are no models: write a table [[models]] with model = "example:resnet18"')
    rows = tuple(row for number, table in enumerate(models, 1) for row in _rows(table, number, source))
    if not rows:
        raise FreezerError(
            f"{path}: nothing is left to record: each option is for a backend that its model does not have"
        )
    twice = [label for label, count in Counter(row.label for row in rows).items() if count > 1]
    if twice:
        raise FreezerError(f"{path}: two recordings are called {twice[0]!r}; give one of the models a name of its own")
    _refuse_shared_packages(rows, path)
    return SweepPlan(str(document.get("name") or path.stem), rows)


def _refuse_shared_packages(rows: Sequence[PlannedRow], path: Path) -> None:
    owners: dict[str, PlannedRow] = {}
    for row in rows:
        options = row.request.options
        if not isinstance(options, AOTInductorOptions) or not options.package:
            continue
        first = owners.setdefault(options.package, row)
        if first is not row:
            raise FreezerError(
                f"{path}: {first.label!r} and {row.label!r} would keep their packages in one file, {options.package}; "
                "give each a file of its own"
            )


def _source(document: Mapping[str, Any], path: Path) -> _Source:
    defaults = _table(document.get("defaults", {}), f"{path}: defaults")
    _refuse_unknown(defaults, (*_CHOICES, _MEASURE, *known_names()), f"{path}: defaults")
    options = {
        name: _table(table, f"{path}: options.{name}")
        for name, table in _table(document.get("options", {}), f"{path}: options").items()
    }
    folder = path.absolute().parent
    given = _table(document.get("environments", {}), f"{path}: environments")
    for name, table in options.items():
        _refuse_unknown(table, (_MEASURE, *known_names()), f"{path}: options.{name}")
    environments = {name: _environment(name, value, folder, path) for name, value in given.items()}
    return _Source(
        path=path,
        defaults=defaults,
        options=options or {_DEFAULT: {}},
        environments=environments or {"": PythonEnvironment()},
        packages=_texts(document.get("packages", []), f"{path}: packages"),
        paths=tuple(str(folder / part) for part in _texts(document.get("paths", ["."]), f"{path}: paths")),
    )


def _environment(name: str, value: Any, folder: Path, path: Path) -> PythonEnvironment:
    """Reads the path of a Python, or of a virtual environment."""
    if not isinstance(value, str) or not value:
        raise FreezerError(f"{path}: environments.{name}: give the path of a Python or of its environment, as a text")
    found = folder / Path(value).expanduser()
    python = found / "bin" / "python" if found.is_dir() else found
    if not python.is_file():
        raise FreezerError(f"{path}: environments.{name}: there is no Python {python}; make that environment first")
    return PythonEnvironment(name, str(python))


def _rows(table: Mapping[str, Any], number: int, source: _Source) -> Iterator[PlannedRow]:
    where = f"{source.path}: models, entry {number}"
    _refuse_unknown(table, (*_MODEL, _MEASURE, *known_names()), where)
    merged = {**source.defaults, **table}
    specs = _texts(merged.get("models", merged.get("model", [])), where)
    if not specs or ("models" in table and "model" in table):
        raise FreezerError(f"{where}: name one MODEL by model, or several by models = [...]")
    if len(specs) > 1 and "name" in table:
        raise FreezerError(f"{where}: a name is for one model, and this entry has {len(specs)}")
    backends = _chosen(merged, "backends", ("torchscript",), tuple(BACKEND_OPTIONS), where)
    labels = _chosen(merged, "options", tuple(source.options), tuple(source.options), where)
    places = _chosen(merged, "environments", tuple(source.environments), tuple(source.environments), where)
    packages = (*source.packages, *_texts(merged.get("packages", []), where))
    own = {name: value for name, value in merged.items() if name not in _MODEL}
    for spec in specs:
        name = str(table.get("name") or model_name(spec))
        for place in places:
            for label in labels:
                for backend in backends:
                    if fits(source.options[label], backend):
                        request = _request(spec, name, backend, {**own, **source.options[label]}, where, source)
                        yield PlannedRow(name, label, source.environments[place], request, packages, source.paths)


def _request(
    spec: str, name: str, backend: str, given: Mapping[str, Any], where: str, source: _Source
) -> RecordRequest:
    measure = given.get(_MEASURE, True)
    if not isinstance(measure, bool):
        raise FreezerError(f"{where}: measure = {measure!r} is neither true nor false")
    fields = request_fields({flag: value for flag, value in given.items() if flag != _MEASURE}, backend, where)
    try:
        for text in fields.get("inputs", ()):
            parse_input(text)
    except FreezerError as error:
        raise FreezerError(f"{where}: {error}") from error
    measured = Measure(**fields.pop("_measure"))
    file = source.path.absolute().parent / spec
    return RecordRequest(
        model=str(file) if file.is_file() else spec,
        output=Path(),
        backend=backend,  # type: ignore[arg-type]  # one of BACKEND_OPTIONS
        measure=measured if measure else unmeasured(measured),
        name=name,
        **fields,
    )


def _chosen(
    given: Mapping[str, Any], name: str, default: tuple[str, ...], known: tuple[str, ...], where: str
) -> tuple[str, ...]:
    chosen = _texts(given[name], f"{where}: {name}") if name in given else default
    for each in chosen:
        if each not in known:
            named = ", ".join(filter(None, known)) or "none"
            raise FreezerError(f"{where}: {name}: there is no {each!r}.{did_you_mean(each, known)} There are {named}.")
    return chosen


def _refuse_unknown(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in known:
            raise FreezerError(f"{where}: {name!r} is not known here.{did_you_mean(name, known)}")


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FreezerError(f"{where}: a table is due here, and this is {value!r:.60}")
    return value


def _tables(value: Any, where: str) -> list[Mapping[str, Any]]:
    if value is not None and not isinstance(value, list):
        raise FreezerError(f"{where}: write [[models]], with two brackets, once for each model")
    return [_table(each, where) for each in value or []]


def _texts(value: Any, where: str) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise FreezerError(f"{where}: a text or a list of texts is due here, and this is {value!r:.60}")
    return tuple(texts)
