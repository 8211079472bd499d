"""Codes of the notices of a trace."""

from __future__ import annotations

from typing import Final, Literal, get_args

NoticeCode = Literal[
    "cache_bypassed",
    "cache_hit",
    "check_inputs_differ",
    "compiled_anew",
    "constant_chain",
    "constants_baked_in",
    "dequantized",
    "device_baked_in",
    "device_not_measured",
    "graph_break",
    "inputs_refused",
    "last_words",
    "left_out",
    "log_cut",
    "log_unseen",
    "misfold",
    "no_journal",
    "not_logged",
    "not_measured",
    "not_serializable",
    "nothing_frozen",
    "nothing_quantised",
    "nothing_ran",
    "nothing_to_ablate",
    "overwritten_input",
    "parameters_discarded",
    "recompilation",
    "reference_is_scripted",
    "removed_attribute",
    "settings_differ",
    "stage_unobserved",
    "still_measured",
    "traced_not_strict",
    "tracer_warning",
    "training_mode",
    "unread",
    "unreadable_name",
    "unusual_setting",
    "written_constant",
]
"""A code that this version gives to a `freeze_engine.trace.Notice`."""

NOTICE_CODES: Final[tuple[NoticeCode, ...]] = get_args(NoticeCode)
"""All codes of notices."""

FACT_CODES: Final[tuple[NoticeCode, ...]] = ("cache_bypassed", "constants_baked_in")
"""Codes of notices that nearly every recording has. They describe what freezing is; they warn of nothing."""
