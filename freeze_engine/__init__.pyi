"""What the package exports, and where it comes from; read by type checkers and by the lazy loader alike."""

from .alignment import (
    align as align,
)
from .diff import (
    GraphDiff as GraphDiff,
)
from .diff import (
    diff_snapshots as diff_snapshots,
)
from .errors import (
    FreezerError as FreezerError,
)
from .errors import (
    InvalidTraceError as InvalidTraceError,
)
from .errors import (
    MeasureError as MeasureError,
)
from .errors import (
    ModelSpecError as ModelSpecError,
)
from .errors import (
    TraceFileError as TraceFileError,
)
from .errors import (
    UnsupportedTorchError as UnsupportedTorchError,
)
from .examples import (
    EXAMPLES as EXAMPLES,
)
from .inputs import (
    Inputs as Inputs,
)
from .inputs import (
    parse_input as parse_input,
)
from .metrics import (
    StepMetrics as StepMetrics,
)
from .metrics import (
    step_metrics as step_metrics,
)
from .models import (
    LoadedModel as LoadedModel,
)
from .models import (
    load_model as load_model,
)
from .models import (
    make_inputs as make_inputs,
)
from .options import (
    Measure as Measure,
)
from .options import (
    Progress as Progress,
)
from .options import (
    TorchScriptOptions as TorchScriptOptions,
)
from .serde import (
    SCHEMA_VERSION as SCHEMA_VERSION,
)
from .serde import (
    dumps as dumps,
)
from .serde import (
    load as load,
)
from .serde import (
    loads as loads,
)
from .serde import (
    save as save,
)
from .session import (
    Captured as Captured,
)
from .session import (
    Recording as Recording,
)
from .session import (
    capture as capture,
)
from .session import (
    partial_trace as partial_trace,
)
from .session import (
    record as record,
)
from .trace import (
    AliasAnalysis as AliasAnalysis,
)
from .trace import (
    AliasEntry as AliasEntry,
)
from .trace import (
    AttributeFate as AttributeFate,
)
from .trace import (
    Baseline as Baseline,
)
from .trace import (
    Block as Block,
)
from .trace import (
    ChainLink as ChainLink,
)
from .trace import (
    Constant as Constant,
)
from .trace import (
    Environment as Environment,
)
from .trace import (
    Evidence as Evidence,
)
from .trace import (
    Failure as Failure,
)
from .trace import (
    GraphSnapshot as GraphSnapshot,
)
from .trace import (
    InputSpec as InputSpec,
)
from .trace import (
    Interval as Interval,
)
from .trace import (
    Latency as Latency,
)
from .trace import (
    Location as Location,
)
from .trace import (
    NearMiss as NearMiss,
)
from .trace import (
    Node as Node,
)
from .trace import (
    Notice as Notice,
)
from .trace import (
    Numerics as Numerics,
)
from .trace import (
    OutputError as OutputError,
)
from .trace import (
    Rewrite as Rewrite,
)
from .trace import (
    SourceLines as SourceLines,
)
from .trace import (
    SourceRef as SourceRef,
)
from .trace import (
    Step as Step,
)
from .trace import (
    Trace as Trace,
)
from .trace import (
    Value as Value,
)
from .trace import (
    Write as Write,
)
from .trace import (
    graph_lines as graph_lines,
)
from .trace import (
    node_line as node_line,
)
from .verify import (
    check_trace as check_trace,
)
from .verify import (
    problems as problems,
)
