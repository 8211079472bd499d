"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .events import (
    JobEnded as JobEnded,
    JobEvent as JobEvent,
    JobPreview as JobPreview,
    JobProgress as JobProgress,
    JobStep as JobStep,
)
from .inspect import (
    inspect_model as inspect_model,
)
from .recording_process import (
    RecordingProcess as RecordingProcess,
)
from .request import (
    RecordRequest as RecordRequest,
)
from .sandbox import (
    SandboxStatus as SandboxStatus,
    sandbox_status as sandbox_status,
)
