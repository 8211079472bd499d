"""What differs between two recorded freezes."""

from freeze_engine.trace_diff.comparison import diff_traces as diff_traces
from freeze_engine.trace_diff.difference import (
    FateDiff as FateDiff,
    FinalDiff as FinalDiff,
    LatencyPair as LatencyPair,
    NumericsPair as NumericsPair,
    SettingDiff as SettingDiff,
    StepDiff as StepDiff,
    TraceDiff as TraceDiff,
)
