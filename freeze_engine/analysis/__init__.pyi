"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .alignment import (
    align as align,
)
from .attribute_counting import (
    AttributeCounts as AttributeCounts,
    attribute_counts as attribute_counts,
    held_bytes as held_bytes,
    is_counted as is_counted,
    trace_counts as trace_counts,
)
from .by_line.outcome import (
    FileOutcome as FileOutcome,
    LineEffect as LineEffect,
    LineError as LineError,
    LineKernel as LineKernel,
    LineNode as LineNode,
    LineOutcome as LineOutcome,
    LineTime as LineTime,
    NodeLines as NodeLines,
    SourceOutcome as SourceOutcome,
    TimeOfNoLine as TimeOfNoLine,
)
from .by_line.outcomes import (
    source_outcome as source_outcome,
)
from .check_facts import (
    check_outcome as check_outcome,
)
from .detectability import (
    Detection as Detection,
    below_text as below_text,
    bounds_known as bounds_known,
    claim_text as claim_text,
    detection as detection,
    smallest_apart as smallest_apart,
    smallest_found as smallest_found,
    tells_nothing as tells_nothing,
    unseen_text as unseen_text,
)
from .duplicate_constants import (
    Duplicate as Duplicate,
    duplicates as duplicates,
)
from .error_breakdown import (
    AddedError as AddedError,
    ErrorSplit as ErrorSplit,
    error_split as error_split,
    largest_error as largest_error,
)
from .expectations.result import (
    findings_text as findings_text,
)
from .failures import (
    failure_kind as failure_kind,
    failure_title as failure_title,
    has_died as has_died,
    knows_constants as knows_constants,
)
from .final_measurements import (
    FinalFigures as FinalFigures,
    final_figures as final_figures,
)
from .graph_diff import (
    GraphDiff as GraphDiff,
    NodeChange as NodeChange,
    diff_snapshots as diff_snapshots,
)
from .graph_inputs import (
    input_attributes as input_attributes,
)
from .kernel_comparison import (
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
from .known_failures import (
    known_failure as known_failure,
)
from .missing_measurements import (
    Unmeasured as Unmeasured,
    is_still_measured as is_still_measured,
    unmeasured as unmeasured,
    why_absent as why_absent,
)
from .name_texts import (
    listed as listed,
    natural_order as natural_order,
    shortened as shortened,
)
from .node_provenance import (
    NodeEnd as NodeEnd,
    node_ends as node_ends,
)
from .number_texts import (
    bytes_delta_text as bytes_delta_text,
    bytes_text as bytes_text,
    duration_text as duration_text,
    error_text as error_text,
    interval_text as interval_text,
    percent_text as percent_text,
    ratio_short_text as ratio_short_text,
    ratio_text as ratio_text,
    timed_text as timed_text,
)
from .pass_explanations.pass_note import (
    RUNTIME as RUNTIME,
    PassNote as PassNote,
    pass_notes as pass_notes,
    pass_title as pass_title,
)
from .quantisation.layer import (
    Quantisation as Quantisation,
    QuantisedLayer as QuantisedLayer,
)
from .quantisation.outcome import (
    quantisation_outcome as quantisation_outcome,
)
from .refused_inputs import (
    plain_refusal as plain_refusal,
)
from .step_metrics import (
    LatencyChange as LatencyChange,
    latency_changes as latency_changes,
    past_tolerance as past_tolerance,
)
from .summary.action import (
    Action as Action,
)
from .summary.facts import (
    ErrorFact as ErrorFact,
    FrozenFact as FrozenFact,
    KeptFact as KeptFact,
)
from .summary.passes import (
    PassEffects as PassEffects,
)
from .summary.read_sentence import (
    ORIGINS as ORIGINS,
)
from .summary.sentence import (
    place_text as place_text,
    ratio_words as ratio_words,
)
from .summary.times import (
    TimeFact as TimeFact,
)
from .trace_diff import (
    FateDiff as FateDiff,
    FinalDiff as FinalDiff,
    LatencyPair as LatencyPair,
    NumericsPair as NumericsPair,
    SettingDiff as SettingDiff,
    StepDiff as StepDiff,
)
from .trace_diff.kernels import (
    KernelMatch as KernelMatch,
    ProgramPair as ProgramPair,
    program_pairs as program_pairs,
)
from .trace_diff.pass_correspondence import (
    CORRESPONDENCES as CORRESPONDENCES,
    Correspondence as Correspondence,
    PassEffect as PassEffect,
    PassPair as PassPair,
)
