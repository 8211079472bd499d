"""The rules of the layout: who may import what, and where torch is touched how."""

from __future__ import annotations

import ast
import copy
import functools
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from freeze_engine.trace import COMPILED_FROZEN

ROOT = Path(__file__).parents[2]

#: Rooms by floor: an import goes to a floor below or stays in its room. Imports for types alone count as well.
FLOORS = (
    {"errors"},
    {"process", "requests", "trace"},
    {"analysis", "backends.common", "serde", "tensors"},
    {"export", "measure", "recorder"},
    {"backends.torchscript"},
    {"backends.inductor", "models"},
    {"captures", "diagnose", "opening"},
    {"session"},
    {"ipython", "testing", "worker"},
    {"sweep"},
    {"pytest_plugin"},
)
VIEWER_FLOORS = (
    {"assets"},
    {"views"},
    {"charts", "text"},
    {"card", "page"},
    {"report"},
    {"sweep_page"},
    {"dashboard", "notebook"},
    {"cli"},
)
TOP_FILES = {"__init__.py", "__init__.pyi", "errors.py", "session.py", "testing.py", "py.typed"}
#: The rooms inside of both backends; the second set holds those that only one of them needs.
BACKEND_ROOMS = {"attributes", "capture", "folds", "graph", "replay"}
OWN_ROOMS = {"torchscript": {"log"}, "inductor": {"kernels"}}
#: The rooms of the engine whose exports others may import.
OPEN_ROOMS = {
    "analysis",
    "captures",
    "diagnose",
    "export",
    "models",
    "opening",
    "process",
    "requests",
    "serde",
    "sweep",
    "trace",
    "worker",
}
USES_TORCH = (
    "backends",
    "diagnose.bisection",
    "diagnose.checks",
    "measure",
    "models.examples",
    "models.binding",
    "models.inspection",
    "models.loading",
    "models.signature.first_use",
    "models.signature.input_texts",
    "models.signature.parameters",
    "models.tensors",
    "models.trial.call",
    "models.untrusted.canonical_copy",
    "models.untrusted.plain_tensors",
    "tensors",
)
PRIVATE_NAMES = Path("freeze_engine/backends/common/torch_private.py")
PATCHING = Path("freeze_engine/backends/common/patching.py")
# In pieces, for this file is looked through as well.
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("jsdelivr", "net"),
        ("unpkg", "com"),
        ("debian", "org"),
        ("download", "pytorch", "org"),
    )
)


def _sources(package: str) -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py"))


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


SOURCES = (*_sources("freeze_engine"), *_sources("viewer"))


def _package_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1])


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """The dotted names that a file imports."""
    return frozenset(imported(_tree(path), _package_of(path)))


def imported(tree: ast.Module, package: str) -> Iterator[str]:
    """Yields the dotted names a file imports: modules, and what it takes from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def at_run_time(tree: ast.Module) -> ast.Module:
    """The file without what stands under ``if TYPE_CHECKING:``, which no interpreter runs."""

    class Stripped(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST:
            if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                return ast.Pass()
            return self.generic_visit(node)

    return ast.fix_missing_locations(Stripped().visit(copy.deepcopy(tree)))


def names_of(tree: ast.Module, package: str) -> dict[str, str]:
    """What a file's names stand for, where they stand for a package or a part of it."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == package:
                    names[alias.asname or package] = alias.name if alias.asname else package
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


def dotted(node: ast.expr, names: dict[str, str]) -> str | None:
    """The full name of an attribute chain that starts at one of the names, ``None`` for any other expression."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        start = dotted(node.value, names)
        return None if start is None else f"{start}.{node.attr}"
    return None


def attributes_of(tree: ast.Module, package: str) -> set[str]:
    """The full names of the attribute chains of a file that start at a package or a part of it."""
    names = names_of(tree, package)
    found = (dotted(node, names) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {name for name in found if name is not None}


@functools.cache
def exports(package: str) -> frozenset[str]:
    """The names that a package exports: those that its stub lists, or else its ``__init__``."""
    folder = ROOT.joinpath(*package.split("."))
    file = next(path for path in (folder / "__init__.pyi", folder / "__init__.py") if path.exists())
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return frozenset(alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names)


def is_hidden(name: str) -> bool:
    """Whether a dotted name leads past what ``freeze_engine`` and its open rooms export."""
    package, _, inside = name.partition(".")
    first, _, rest = inside.partition(".")
    if package != "freeze_engine" or not first or first in exports(package):
        return False
    return first not in OPEN_ROOMS or (bool(rest) and rest.partition(".")[0] not in exports(f"{package}.{first}"))


def is_private(name: str) -> bool:
    """Whether a part of a dotted name is private, as in ``torch._C`` and ``torch.utils._pytree``."""
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def private_torch_names(tree: ast.Module) -> set[str]:
    """Private names of torch that a file imports or reaches through attributes."""
    names = names_of(tree, "torch")
    reached = {dotted(node, names) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    taken = {name for name in imported(tree, "") if name.split(".")[0] == "torch"}
    return {name for name in reached | taken if name is not None and is_private(name)}


def called_name(node: ast.Call) -> str | None:
    """The name of the function that is called, if it is a plain name."""
    return node.func.id if isinstance(node.func, ast.Name) else None


def torch_assignments(tree: ast.Module) -> set[str]:
    """Attributes of torch that a file sets or deletes."""
    names = names_of(tree, "torch")
    found: set[str | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(dotted(node, names))
        elif isinstance(node, ast.Call) and called_name(node) in ("setattr", "delattr") and node.args:
            found.add(dotted(node.args[0], names))
    return {name for name in found if name is not None}


def modules(package: str) -> dict[str, Path]:
    """The modules of a package by dotted name; a package stands for its ``__init__``."""
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in _sources(package)}


def imports_of(package: str) -> Iterator[tuple[str, str]]:
    """Yields each module of a package with each module of it that it imports, for types or at run time."""
    known = modules(package)
    for module, path in known.items():
        for name in imports(path):
            if name.split(".")[0] == package:
                target = name if name in known else name.rpartition(".")[0]
                if target != module:
                    yield module, target


def is_within(module: str, rooms: Iterable[str]) -> bool:
    """Whether a dotted name, without its package, is one of some rooms or is in one."""
    return any(f"{module}.".startswith(f"{room}.") for room in rooms)


def floor(module: str, floors: Sequence[set[str]]) -> tuple[int, str]:
    """Returns the floor and the room of a module; the package itself stands above all."""
    _, _, inside = module.partition(".")
    if not inside:
        return len(floors), ""
    found = [(number, room) for number, rooms in enumerate(floors) for room in rooms if is_within(inside, {room})]
    assert found, f"{module} has no room: give it one here, and in ARCHITECTURE.md"
    return found[0]


def circle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """Returns names of which each leads to the next and the last to the first; none where there is no circle."""
    done: set[str] = set()

    def from_here(name: str, way: list[str]) -> list[str]:
        if name in way:
            return way[way.index(name) :]
        if name in done:
            return []
        found = next(filter(None, (from_here(each, [*way, name]) for each in arrows.get(name, ()))), [])
        done.add(name)
        return found

    return next(filter(None, (from_here(name, []) for name in arrows)), [])


@pytest.mark.parametrize(("package", "floors"), [("freeze_engine", FLOORS), ("viewer", VIEWER_FLOORS)])
def test_imports_go_to_a_floor_below(package, floors):
    wrong = []
    for module, target in imports_of(package):
        (here, room), (there, other) = floor(module, floors), floor(target, floors)
        if room != other and there >= here:
            wrong.append(f"{module} imports {target}")
    assert wrong == []


@pytest.mark.parametrize("package", ["freeze_engine", "viewer"])
def test_no_modules_and_no_rooms_import_each_other_in_a_circle(package):
    arrows: dict[str, dict[str, set[str]]] = {}
    for module, target in imports_of(package):
        ours, theirs = f"{module}.__init__".split("."), f"{target}.__init__".split(".")
        shared = next(place for place, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other)
        arrows.setdefault(".".join(ours[:shared]), {}).setdefault(ours[shared], set()).add(theirs[shared])
    assert {room: circle(members) for room, members in arrows.items() if circle(members)} == {}


def is_test_module(name: str) -> bool:
    """Whether a dotted name leads to a module or a ``conftest`` that pytest collects, or into one."""
    module = re.compile(r"test_\w+|conftest")
    return name.startswith("tests.") and any(module.fullmatch(part) for part in name.split(".")[1:])


def collected_imports(path: Path) -> list[str]:
    """The test modules of pytest that a file imports."""
    return [name for name in sorted(imports(path)) if is_test_module(name)]


def test_no_module_imports_a_test_module():
    files = (path for folder in ("tests", "benchmarks", "docs") for path in _sources(folder))
    assert {str(path): found for path in files if (found := collected_imports(path))} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from tests.browser.test_viewer import host_page", True),
        ("import tests.unit.test_log as log", True),
        ("from tests.unit import test_log", True),
        ("from tests.browser.conftest import ARGUMENTS", True),
        ("from . import test_log", True),
        ("from .conftest import lab", True),
        ("from tests.builders import small_trace", False),
        ("from freeze_engine.testing import assert_frozen", False),
    ],
)
def test_an_import_of_a_test_module_is_found(source, found):
    assert any(is_test_module(name) for name in imported(ast.parse(source), "tests.unit")) == found


def test_the_engine_knows_no_viewer():
    found = [
        (str(path), name)
        for path in _sources("freeze_engine")
        for name in imports(path)
        if name.split(".")[0] == "viewer"
    ]
    assert found == []


def test_the_top_of_the_engine_has_five_files():
    assert {path.name for path in (ROOT / "freeze_engine").iterdir() if path.is_file()} == TOP_FILES


@pytest.mark.parametrize("backend", ["torchscript", "inductor"])
def test_both_backends_have_the_same_rooms_inside(backend):
    folder = ROOT / "freeze_engine" / "backends" / backend
    assert {path.parent.name for path in folder.glob("*/__init__.py")} == BACKEND_ROOMS | OWN_ROOMS[backend]


@pytest.mark.parametrize(
    ("arrows", "found"),
    [({"a": ["b"], "b": ["c"]}, []), ({"a": ["b"], "b": ["c"], "c": ["b"]}, ["b", "c"]), ({"a": ["a"]}, ["a"])],
)
def test_circles_are_found(arrows, found):
    assert circle(arrows) == found


def test_the_viewer_uses_only_exports_of_the_engine_and_of_its_rooms():
    found = [
        (str(path), name)
        for path in _sources("viewer")
        for name in sorted({*imports(path), *attributes_of(_tree(path), "freeze_engine")})
        if name.split(".")[0] == "torch" or is_hidden(name)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "hidden"),
    [
        ("import freeze_engine as fe\nfe.record\nfe.Trace.model", False),
        ("from freeze_engine import analysis, load\nanalysis.Duplicate.saved_bytes", False),
        ("from freeze_engine.trace import Interval", False),
        ("import freeze_engine as fe\nfe.session", True),
        ("import freeze_engine as fe\nfe.worker.RecordRequest", False),
        ("from freeze_engine import measure", True),
        ("from freeze_engine.errors import FreezerError", True),
        ("from freeze_engine.worker.limits import Limits", True),
        ("from freeze_engine.worker import limits", True),
        ("from freeze_engine import worker\nworker.journal.Journal", True),
        ("import freeze_engine.worker.journal", True),
    ],
)
def test_import_of_an_unexported_name_is_found(source, hidden):
    tree = ast.parse(source)
    names = {*imported(tree, "viewer"), *attributes_of(tree, "freeze_engine")}
    assert bool([name for name in names if is_hidden(name)]) == hidden


def test_torch_is_imported_only_where_something_is_recorded():
    found = [
        (str(path), name)
        for module, path in modules("freeze_engine").items()
        if not is_within(module.partition(".")[2], USES_TORCH)
        for name in imported(at_run_time(_tree(path)), _package_of(path))
        if name.split(".")[0] == "torch"
    ]
    assert found == []


def test_private_names_of_torch_stand_in_one_file():
    assert [str(path) for path in SOURCES if path != PRIVATE_NAMES and private_torch_names(_tree(path))] == []


def test_torch_is_patched_in_one_file():
    assert [str(path) for path in SOURCES if path != PATCHING and torch_assignments(_tree(path))] == []


@pytest.mark.parametrize(
    ("source", "private"),
    [
        ("import torch\ntorch._C._jit_pass_inline(graph)", {"torch._C", "torch._C._jit_pass_inline"}),
        ("import torch\ntorch.jit._script.x", {"torch.jit._script", "torch.jit._script.x"}),
        ("from torch import _C", {"torch._C"}),
        ("from torch.utils import _pytree as tree", {"torch.utils._pytree"}),
        ("import torch._inductor.config", {"torch._inductor.config"}),
        ("import torch.utils as u\nu._pytree", {"torch.utils._pytree"}),
        ("import torch\ntorch.__version__\ntorch.jit.freeze\nmine._C", set()),
    ],
)
def test_private_names_are_found(source, private):
    assert private_torch_names(ast.parse(source)) == private


@pytest.mark.parametrize(
    ("source", "assigned"),
    [
        ("import torch\ntorch.jit.freeze = mine", {"torch.jit.freeze"}),
        ("import torch.jit as j\nj.freeze = mine", {"torch.jit.freeze"}),
        ("from torch import jit\ndel jit.freeze", {"torch.jit.freeze"}),
        ("import torch\nsetattr(torch.jit, name, mine)", {"torch.jit"}),
        ("import torch\nx.freeze = torch.jit.freeze\nself.torch = 3", set()),
    ],
)
def test_assignments_are_found(source, assigned):
    assert torch_assignments(ast.parse(source)) == assigned


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b\nfrom c import d", ["a.b", "c.d"]),
        ("from . import d", ["freeze_engine.serde.d"]),
        ("from ..trace import Step", ["freeze_engine.trace.Step"]),
    ],
)
def test_imports_are_found(source, names):
    assert list(imported(ast.parse(source), "freeze_engine.serde")) == names


@pytest.mark.parametrize(
    "code",
    [
        "import freeze_engine",
        "import freeze_engine; freeze_engine.load, freeze_engine.save, freeze_engine.Trace",
        "from freeze_engine.worker import RecordRequest, RecordingProcess, inspect_model",
        "from freeze_engine import analysis, export; analysis.detection, export.model_explorer_graphs",
        "import freeze_engine.worker.post_mortem_task, freeze_engine.worker.record_task",
        "from freeze_engine.sweep import read_plan, read_sweep, run_sweep, row_columns",
        "import viewer",
        "import freeze_engine.models.examples as examples; list(examples.EXAMPLES)",
        "from freeze_engine.requests.inputs import parse_input; parse_input('1x3x224x224')",
        "import viewer.dashboard.server",
        "import viewer.cli\ntry: viewer.cli.main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_looking_costs_no_heavy_import(code):
    tail = "\nimport sys; print(sorted({'torch', 'panel', 'bokeh', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + tail], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_no_file_names_a_registry_host():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: which files are the project's own is not known")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    files = [ROOT / name for name in listed.split("\0") if name]
    naming = [
        (path.relative_to(ROOT).as_posix(), host)
        for path in files
        if path.is_file()
        for host in REGISTRY_HOSTS
        if host.encode() in path.read_bytes()
    ]
    assert naming == []


def test_the_name_of_the_frozen_baseline_is_written_once():
    writing = [
        str(path)
        for path in SOURCES
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Constant) and node.value == COMPILED_FROZEN
    ]
    assert writing == [str(Path("freeze_engine/trace/baselines.py"))]


def test_conditions_that_tests_of_pages_wait_for_are_functions() -> None:
    """Of a bare expression playwright evaluates the text at each look, which a page's policy refuses at the second."""
    bare = re.compile(r"wait_for_function\(\s*[\"'](?!\()")
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    assert [path.name for path in files if bare.search(path.read_text(encoding="utf-8"))] == []
