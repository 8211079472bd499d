"""Describes the environment of a recording."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

import torch
from torch.backends import cudnn, mkldnn

from freeze_engine.backends.common.torch_private import settings
from freeze_engine.trace import Environment

#: Variables that change what torch's compilers do or how fast they run.
_VARIABLES = (
    "PYTORCH_JIT",
    "PYTORCH_JIT_LOG_LEVEL",
    "PYTORCH_TENSOREXPR_FALLBACK",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
    "DNNL_MAX_CPU_ISA",
)
_FAMILIES = ("TORCHINDUCTOR_", "TORCHDYNAMO_")


def environment(of_backend: Iterable[tuple[str, str]] | None = None) -> Environment:
    """Returns the current versions and settings of this machine that can change a freeze or a measurement.

    Args:
        of_backend: ``(name, value)`` of settings that only one backend uses, by default TorchScript's.
    """
    of_backend = settings() if of_backend is None else of_backend
    gpus = tuple(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
    own = (
        ("mkldnn", str(mkldnn.is_available() and mkldnn.enabled)),  # type: ignore[no-untyped-call]
        ("cudnn", str(cudnn.version() if cudnn.is_available() else None)),  # type: ignore[no-untyped-call]
        ("tf32", str(torch.backends.cuda.matmul.allow_tf32)),
        ("float32_matmul_precision", torch.get_float32_matmul_precision()),
        ("cpu_capability", torch.backends.cpu.get_cpu_capability()),
    )
    names = (*_VARIABLES, *sorted(name for name in os.environ if name.startswith(_FAMILIES)))
    variables = tuple((name, os.environ[name]) for name in names if name in os.environ)
    return Environment(
        torch=torch.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        cpu=_cpu_name(),
        gpus=gpus,
        threads=torch.get_num_threads(),
        settings=(*of_backend, *own, *variables),
    )


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def utc_now() -> str:
    """Returns the time in the format of traces: UTC, ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
