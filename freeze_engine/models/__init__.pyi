"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .file_kinds import (
    FileKind as FileKind,
    file_kind as file_kind,
)
from .loading import (
    LoadedModel as LoadedModel,
)
from .other_files import (
    OtherFile as OtherFile,
    other_file as other_file,
)
from .summary import (
    ModelAttribute as ModelAttribute,
    ModelParameter as ModelParameter,
    ModelSummary as ModelSummary,
)
from .tensors import (
    make_inputs as make_inputs,
)
from .trial.trial import (
    CallFailure as CallFailure,
    CallFix as CallFix,
    CallTrial as CallTrial,
)
