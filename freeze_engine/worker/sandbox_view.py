"""The parts of the machine that a sandboxed process sees: files, devices and variables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_SYSTEM: Final = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store", "/gnu/store")
_ETC: Final = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone"),
    *("nsswitch.conf", "os-release", "OpenCL"),
)
#: Root may write there without any right of a namespace, and bubblewrap 0.8 leaves that so.
_OF_THE_KERNEL: Final = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "timer_list")
_PROCESSORS: Final = "/sys/devices/system"
_GPUS: Final = ("nvidia*", "dri", "kfd", "dxg")
_INSTALLED: Final = ("site-packages", "dist-packages")
#: Packages that a worker imports, wherever they are installed: editable ones stand elsewhere.
_PACKAGES: Final = ("freeze_engine", "torch", "torchgen", "functorch", "triton", "numpy", "sympy", "networkx", "jinja2")
#: An exported program is copied there once. Linux gives a tmpfs half of the memory, too (tmpfs(5)).
_TEMPORARY_BYTES: Final = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
_SHARED_BYTES: Final = 1 << 30
_TEMPORARY: Final = "/tmp"
_HOME: Final = "/tmp/home"
_USER: Final = "sandbox"
_VARIABLES: Final = frozenset(
    (
        *("LANG", "LANGUAGE", "TZ", "CC", "CXX", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONHASHSEED", "CUDA_HOME"),
        *("CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING"),
        *("PYTORCH_JIT", "PYTORCH_JIT_LOG_LEVEL", "PYTORCH_TENSOREXPR_FALLBACK", "PYTORCH_CUDA_ALLOC_CONF"),
        *("DNNL_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY", "MALLOC_ARENA_MAX", "TORCH_LOGS"),
    )
)
#: Settings of numeric libraries; names that end so could hold something secret, or a path that is not there.
_FAMILIES: Final = ("LC_", "OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "TORCHINDUCTOR_", "TORCHDYNAMO_")
_NOT_SETTINGS: Final = ("TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIALS", "URL", "DIR", "PATH")


@dataclass(frozen=True, slots=True)
class View:
    """The files that one sandboxed process sees besides the system's.

    Attributes:
        folder: of its job; it writes there, and nowhere else.
        readable: absolute paths of files and folders that it reads.
        place: its working directory, which is empty but for what else is seen there.
    """

    folder: Path
    readable: tuple[Path, ...]
    place: Path


def base_view(folder: Path, files: Iterable[Path] = ()) -> View:
    """Returns the view of a process that runs Python and torch.

    Args:
        folder: of its job.
        files: that it may read besides; relative ones are found from the working directory.
    """
    return View(folder.absolute(), (*_python(), *(path.absolute() for path in files)), _working_directory())


def mounts(view: View) -> Iterator[str]:
    """Yields bubblewrap's options for a view; later ones lie over earlier ones."""
    yield from ("--proc", "/proc", "--dev", "/dev")
    for name in _OF_THE_KERNEL:
        yield from ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")
    yield from _devices()
    yield from ("--size", str(_TEMPORARY_BYTES), "--tmpfs", _TEMPORARY, "--dir", _HOME)
    yield from ("--size", str(_SHARED_BYTES), "--tmpfs", "/dev/shm")
    for system in _SYSTEM:
        yield from _as_it_is(Path(system))
    for name in _ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    yield from ("--ro-bind-try", _PROCESSORS, _PROCESSORS)
    yield from ("--dir", str(view.place))
    for path in _needed(view.readable):
        yield from ("--ro-bind-try", str(path), str(path))
    yield from ("--bind", str(view.folder), str(view.folder))
    # Neither has a size of its own, so nothing may be written there.
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(view.place))


def environment(variables: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Returns the variables of a sandboxed process: settings of torch, Python and the compiler, and no others.

    Args:
        variables: further ones.
    """
    kept = {name: value for name, value in os.environ.items() if _is_setting(name)}
    own = {"PATH": _search_path(), "HOME": _HOME, "LOGNAME": _USER, "USER": _USER}
    return kept | own | dict(variables)


def visible_search_path(entries: Iterable[str]) -> list[str]:
    """Returns the entries of a module search path that name a folder; what is not seen there is not found.

    Args:
        entries: of `sys.path`.
    """
    return [entry for entry in entries if entry]


def _needed(paths: Iterable[Path]) -> Iterator[Path]:
    """Yields what to bind so that all paths are seen; bubblewrap binds nothing over a link, so its target is bound."""
    bound = [Path(system) for system in _SYSTEM]
    for path in paths:
        for place in (path, path.resolve()):
            if place.exists() and not any(place.is_relative_to(folder) for folder in bound):
                bound.append(place)
                yield place


def _is_setting(name: str) -> bool:
    return name in _VARIABLES or (name.startswith(_FAMILIES) and not name.endswith(_NOT_SETTINGS))


def _search_path() -> str:
    """Returns the folders of programs that are seen: the system's, and those of this Python."""
    system = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
    return os.pathsep.join(dict.fromkeys((str(Path(sys.executable).parent), *system)))


def _as_it_is(path: Path) -> Iterator[str]:
    """Binds a folder; a link, as /lib often is one, stays a link."""
    if path.is_symlink():
        yield from ("--symlink", str(path.readlink()), str(path))
    else:
        yield from ("--ro-bind-try", str(path), str(path))


def _devices() -> Iterator[str]:
    found = [device for pattern in _GPUS for device in sorted(Path("/dev").glob(pattern))]
    for device in found:
        yield from ("--dev-bind-try", str(device), str(device))
    if found:  # drivers look up their devices there
        yield from ("--ro-bind-try", "/sys", "/sys")


def _python() -> Iterator[Path]:
    """Yields the folders of this Python, of its packages, and of the packages that are installed as links."""
    yield from dict.fromkeys((*_installation(), *_packages()))


def _installation() -> Iterator[Path]:
    for prefix in (sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix):
        yield from (Path(prefix), Path(prefix).resolve())
    # A venv's Python is a link to the one that it was made with, often through further links.
    program = Path(sys.executable)
    yield from (program, program.resolve())
    yield from (Path(entry) for entry in sys.path if Path(entry).name in _INSTALLED)


def _packages() -> Iterator[Path]:
    for name in _PACKAGES:
        spec = PathFinder.find_spec(name, [entry for entry in sys.path if entry]) or find_spec(name)
        if spec is not None:
            yield from (Path(place).absolute() for place in spec.submodule_search_locations or ())


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")
