"""The package's public names, and the modules that define them; read by type checkers and by the lazy loader alike."""

from . import (
    testing as testing,
)
from .analysis.expectations.expectations import (
    Expectations as Expectations,
)
from .analysis.expectations.result import (
    Finding as Finding,
)
from .analysis.step_metrics import (
    StepMetrics as StepMetrics,
    step_metrics as step_metrics,
)
from .analysis.summary.summary import (
    Summary as Summary,
    summarize as summarize,
)
from .analysis.trace_diff import (
    TraceDiff as TraceDiff,
    diff_traces as diff_traces,
)
from .backends.common.partial_trace import (
    partial_trace as partial_trace,
)
from .captures.block import (
    capture as capture,
)
from .captures.captured import (
    Captured as Captured,
)
from .diagnose.bisection.bisect import (
    bisect as bisect,
)
from .diagnose.bisection.result import (
    Bisection as Bisection,
)
from .errors import (
    CrashError as CrashError,
    FreezerError as FreezerError,
    InvalidTraceError as InvalidTraceError,
    MeasureError as MeasureError,
    ModelSpecError as ModelSpecError,
    SandboxError as SandboxError,
    TraceFileError as TraceFileError,
    UnsupportedTorchError as UnsupportedTorchError,
)
from .export.chrome_trace import (
    chrome_trace as chrome_trace,
)
from .export.csv_tables import (
    csv_tables as csv_tables,
)
from .export.model_explorer import (
    model_explorer_data as model_explorer_data,
)
from .models.examples import (
    EXAMPLES as EXAMPLES,
)
from .models.loading import (
    load_model as load_model,
)
from .requests.criteria import (
    AccuracyCriterion as AccuracyCriterion,
    CommandCriterion as CommandCriterion,
    LatencyCriterion as LatencyCriterion,
)
from .requests.inputs import (
    Inputs as Inputs,
)
from .requests.options import (
    CHECKS as CHECKS,
    AOTInductorOptions as AOTInductorOptions,
    InductorOptions as InductorOptions,
    Measure as Measure,
    TorchScriptOptions as TorchScriptOptions,
)
from .serde import (
    dumps as dumps,
    load as load,
    loads as loads,
    save as save,
)
from .session import (
    Recording as Recording,
    record as record,
)
from .trace import (
    AttributeFate as AttributeFate,
    GraphSnapshot as GraphSnapshot,
    Node as Node,
    Step as Step,
    Trace as Trace,
)
from .trace.notice_codes import (
    NOTICE_CODES as NOTICE_CODES,
)
from .trace.validation import (
    check_trace as check_trace,
    problems as problems,
)
