"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .inputs import (
    DTYPES as DTYPES,
    InputRequest as InputRequest,
    RandomTensor as RandomTensor,
    SavedTensor as SavedTensor,
    parse_input as parse_input,
)
from .option_arguments import (
    seconds as seconds,
    size_bytes as size_bytes,
)
from .option_metadata import (
    OptionField as OptionField,
    option_fields as option_fields,
)
from .options import (
    BACKEND_OPTIONS as BACKEND_OPTIONS,
    COMPILE_MODES as COMPILE_MODES,
    CheckName as CheckName,
    Options as Options,
    Progress as Progress,
)
from .suggestions import (
    did_you_mean as did_you_mean,
)
