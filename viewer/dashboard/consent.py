"""The user's consent to open an untrusted model without a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import freeze_engine as fe
from freeze_engine import worker
from viewer.dashboard.record_request import model_kind

DANGER: Final = (
    "A model file is a program: opening it, or recording it, can run code that reads and writes your files and uses "
    "your network"
)


def sandbox_of(
    message: Mapping[str, Any], model: str, status: worker.SandboxStatus, agreed: str = "consent"
) -> Literal[False] | None:
    """Returns `freeze_engine.worker.RecordRequest.sandbox` for a model that the page names.

    Args:
        message: as the page sent it.
        model: as in `freeze_engine.worker.RecordRequest`.
        status: of this machine's sandbox.
        agreed: the field of the message that names the one file that the user agreed to open.

    Returns:
        ``None`` for the default, which sandboxes untrusted models; ``False`` for no sandbox.

    Raises:
        SandboxError: there is no sandbox, and the user did not agree to open this file without one.
    """
    if status.problem is None or model_kind(model) == "example":
        return None
    if message.get(agreed) == model:
        return False
    raise fe.SandboxError(f"{model} was not opened: {status.problem}. {DANGER}. Agree to that first, in the form.")
