"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .command_line import (
    add_freeze_arguments as add_freeze_arguments,
    add_recording_arguments as add_recording_arguments,
    check_reading as check_reading,
    check_recording as check_recording,
    freeze_options as freeze_options,
    model_name as model_name,
    parse_recording_command as parse_recording_command,
    recording_request as recording_request,
)
from .events import (
    JobEnded as JobEnded,
    JobEvent as JobEvent,
    JobPreview as JobPreview,
    JobProgress as JobProgress,
    JobStep as JobStep,
    under_way as under_way,
)
from .inspect import (
    inspect_model as inspect_model,
    try_model as try_model,
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
