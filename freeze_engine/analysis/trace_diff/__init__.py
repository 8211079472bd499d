"""Compares two recorded freezes."""

from freeze_engine.analysis.trace_diff.diff_traces import diff_traces as diff_traces
from freeze_engine.analysis.trace_diff.model import (
    FateDiff as FateDiff,
    FinalDiff as FinalDiff,
    LatencyPair as LatencyPair,
    NumericsPair as NumericsPair,
    SettingDiff as SettingDiff,
    StepDiff as StepDiff,
    TraceDiff as TraceDiff,
)
