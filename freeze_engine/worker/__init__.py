"""Records or inspects a model in a child process; a crash there does not affect the caller.

`RecordingProcess` starts the process and sends its events; `inspect_model` only inspects. A recording's state is
written to a journal (`journal`), so that a crash inside torch leaves the steps recorded so far
(`post_mortem`). Nothing here imports torch in the caller's process.
"""

from __future__ import annotations

from freeze_engine.models.summary import ModelAttribute, ModelSummary
from freeze_engine.worker.events import JobEnded, JobEvent, JobPreview, JobProgress, JobStep
from freeze_engine.worker.inspect import inspect_model
from freeze_engine.worker.recording_process import RecordingProcess
from freeze_engine.worker.request import RecordRequest
from freeze_engine.worker.sandbox import SandboxStatus, sandbox_status

__all__ = [
    "JobEnded",
    "JobEvent",
    "JobPreview",
    "JobProgress",
    "JobStep",
    "ModelAttribute",
    "ModelSummary",
    "RecordRequest",
    "RecordingProcess",
    "SandboxStatus",
    "inspect_model",
    "sandbox_status",
]
