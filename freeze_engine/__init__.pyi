"""What the package exports, and where it comes from; read by type checkers and by the lazy loader alike."""

from . import (
    testing as testing,
)
from .analysis.alignment import (
    align as align,
)
from .analysis.attribute_counts import (
    AttributeCounts as AttributeCounts,
    attribute_counts as attribute_counts,
    held_bytes as held_bytes,
    is_counted as is_counted,
    trace_counts as trace_counts,
)
from .analysis.check_facts import (
    check_outcome as check_outcome,
)
from .analysis.detectability import (
    Detection as Detection,
    below_text as below_text,
    bounds_known as bounds_known,
    claim_text as claim_text,
    detection as detection,
    smallest_apart as smallest_apart,
    smallest_found as smallest_found,
    unseen_text as unseen_text,
)
from .analysis.duplicate_constants import (
    Duplicate as Duplicate,
    duplicates as duplicates,
)
from .analysis.error_breakdown import (
    AddedError as AddedError,
    ErrorSplit as ErrorSplit,
    error_split as error_split,
    largest_error as largest_error,
)
from .analysis.expectations.expectations import (
    Expectations as Expectations,
)
from .analysis.expectations.result import (
    Finding as Finding,
    findings_text as findings_text,
)
from .analysis.failures import (
    failure_kind as failure_kind,
    failure_title as failure_title,
    has_died as has_died,
    knows_constants as knows_constants,
)
from .analysis.final_measurements import (
    FinalFigures as FinalFigures,
    final_figures as final_figures,
)
from .analysis.graph_diff import (
    GraphDiff as GraphDiff,
    NodeChange as NodeChange,
    diff_snapshots as diff_snapshots,
)
from .analysis.graph_inputs import (
    input_attributes as input_attributes,
)
from .analysis.kernel_comparison import (
    FreezingLoss as FreezingLoss,
    KernelGroup as KernelGroup,
    PassDifference as PassDifference,
    ProgramComparison as ProgramComparison,
    compare_programs as compare_programs,
    freezing_losses as freezing_losses,
    group_times_ns as group_times_ns,
    kernels_time_ns as kernels_time_ns,
    lost_groups as lost_groups,
)
from .analysis.node_provenance import (
    NodeEnd as NodeEnd,
    node_ends as node_ends,
)
from .analysis.number_texts import (
    bytes_delta_text as bytes_delta_text,
    bytes_text as bytes_text,
    duration_text as duration_text,
    error_text as error_text,
    interval_text as interval_text,
    ratio_text as ratio_text,
    timed_text as timed_text,
)
from .analysis.step_metrics import (
    LatencyChange as LatencyChange,
    StepMetrics as StepMetrics,
    latency_changes as latency_changes,
    past_tolerance as past_tolerance,
    step_metrics as step_metrics,
)
from .analysis.summary.action import (
    Action as Action,
)
from .analysis.summary.facts import (
    ErrorFact as ErrorFact,
    FrozenFact as FrozenFact,
    KeptFact as KeptFact,
)
from .analysis.summary.passes import (
    PassEffects as PassEffects,
)
from .analysis.summary.sentence import (
    place_text as place_text,
    ratio_words as ratio_words,
)
from .analysis.summary.summary import (
    Summary as Summary,
    summarize as summarize,
)
from .analysis.summary.times import (
    TimeFact as TimeFact,
)
from .analysis.trace_diff import (
    FateDiff as FateDiff,
    FinalDiff as FinalDiff,
    LatencyPair as LatencyPair,
    NumericsPair as NumericsPair,
    SettingDiff as SettingDiff,
    StepDiff as StepDiff,
    TraceDiff as TraceDiff,
    diff_traces as diff_traces,
)
from .analysis.trace_diff.kernels import (
    KernelMatch as KernelMatch,
    ProgramPair as ProgramPair,
    program_pairs as program_pairs,
)
from .analysis.trace_diff.pass_correspondence import (
    CORRESPONDENCES as CORRESPONDENCES,
    Correspondence as Correspondence,
    PassEffect as PassEffect,
    PassPair as PassPair,
)
from .analysis.unmeasured import (
    Unmeasured as Unmeasured,
    unmeasured as unmeasured,
    why_absent as why_absent,
)
from .backends.common.partial_trace import (
    partial_trace as partial_trace,
)
from .diagnose.bisection.bisect import (
    bisect as bisect,
)
from .diagnose.bisection.result import (
    Bisection as Bisection,
    Culprit as Culprit,
    GuiltyRewrite as GuiltyRewrite,
    Probe as Probe,
    Reproduction as Reproduction,
    bisection_json as bisection_json,
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
    model_explorer_graphs as model_explorer_graphs,
)
from .models.examples import (
    EXAMPLES as EXAMPLES,
)
from .models.file_kind import (
    FileKind as FileKind,
    file_kind as file_kind,
)
from .models.loading import (
    LoadedModel as LoadedModel,
    load_model as load_model,
)
from .models.other_files import (
    OtherFile as OtherFile,
    other_file as other_file,
)
from .models.summary import (
    ModelAttribute as ModelAttribute,
    ModelSummary as ModelSummary,
)
from .models.tensors import (
    make_inputs as make_inputs,
)
from .process.temporary_folders import (
    temporary_folder as temporary_folder,
)
from .process.whole_file import (
    write_files as write_files,
)
from .requests.inputs import (
    DTYPES as DTYPES,
    InputRequest as InputRequest,
    Inputs as Inputs,
    RandomTensor as RandomTensor,
    SavedTensor as SavedTensor,
    parse_input as parse_input,
)
from .requests.option_arguments import (
    seconds as seconds,
    size_bytes as size_bytes,
)
from .requests.option_fields import (
    OptionField as OptionField,
    option_fields as option_fields,
)
from .requests.options import (
    BACKEND_OPTIONS as BACKEND_OPTIONS,
    CHECKS as CHECKS,
    COMPILE_MODES as COMPILE_MODES,
    AccuracyCheck as AccuracyCheck,
    CheckName as CheckName,
    CommandCheck as CommandCheck,
    InductorOptions as InductorOptions,
    LatencyCheck as LatencyCheck,
    Measure as Measure,
    Progress as Progress,
    TorchScriptOptions as TorchScriptOptions,
)
from .requests.suggestions import (
    did_you_mean as did_you_mean,
)
from .serde import (
    SCHEMA_VERSION as SCHEMA_VERSION,
    dumps as dumps,
    is_trace_file as is_trace_file,
    load as load,
    loads as loads,
    save as save,
)
from .session import (
    Captured as Captured,
    Recording as Recording,
    capture as capture,
    record as record,
)
from .trace import (
    AliasAnalysis as AliasAnalysis,
    AliasEntry as AliasEntry,
    AttributeFate as AttributeFate,
    Baseline as Baseline,
    Block as Block,
    ChainLink as ChainLink,
    Check as Check,
    Constant as Constant,
    Contribution as Contribution,
    Environment as Environment,
    Evidence as Evidence,
    Failure as Failure,
    GraphInput as GraphInput,
    GraphSnapshot as GraphSnapshot,
    InputSpec as InputSpec,
    Interval as Interval,
    Kernel as Kernel,
    Latency as Latency,
    Location as Location,
    MemoryLedger as MemoryLedger,
    NearMiss as NearMiss,
    Node as Node,
    Notice as Notice,
    Numerics as Numerics,
    OutputError as OutputError,
    Payoff as Payoff,
    Program as Program,
    ProgramPass as ProgramPass,
    Rewrite as Rewrite,
    SourceLines as SourceLines,
    SourceRef as SourceRef,
    Step as Step,
    Trace as Trace,
    Value as Value,
    Write as Write,
    graph_lines as graph_lines,
    node_line as node_line,
)
from .trace.notice_codes import (
    FACT_CODES as FACT_CODES,
    NOTICE_CODES as NOTICE_CODES,
)
from .trace.validation import (
    check_trace as check_trace,
    problems as problems,
)
from .worker import (
    JobEnded as JobEnded,
    JobEvent as JobEvent,
    JobPreview as JobPreview,
    JobProgress as JobProgress,
    JobStep as JobStep,
    RecordingProcess as RecordingProcess,
    RecordRequest as RecordRequest,
    SandboxStatus as SandboxStatus,
    inspect_model as inspect_model,
    sandbox_status as sandbox_status,
)
from .worker.command_line import (
    add_freeze_arguments as add_freeze_arguments,
    add_recording_arguments as add_recording_arguments,
    check_recording as check_recording,
    freeze_options as freeze_options,
    model_name as model_name,
    parse_recording_command as parse_recording_command,
    recording_request as recording_request,
)
