"""Writes scripts that reproduce a fault with torch alone, runs them, and keeps the smallest that does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from freeze_engine.diagnose.bisection.command_criterion import save_inputs
from freeze_engine.diagnose.bisection.criteria import Answer
from freeze_engine.diagnose.bisection.repro import Recipe
from freeze_engine.diagnose.bisection.repro_script import BROKEN, ScriptFacts, script_text
from freeze_engine.diagnose.bisection.request import CriterionOptions
from freeze_engine.diagnose.bisection.result import Culprit, Reproduction
from freeze_engine.measure.candidate import CandidateError, inference, reported
from freeze_engine.process.whole_file import write_files
from freeze_engine.requests.criteria import AccuracyCriterion, LatencyCriterion
from freeze_engine.trace import Trace

_LIMIT_S = 300.0
_TOLD_LINES = 6


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault to reproduce.

    Attributes:
        criterion: the criterion that fails.
        culprit: the step that breaks it.
        trace: of the freeze.
        answer: the criterion's answer about the culprit.
    """

    criterion: CriterionOptions
    culprit: Culprit
    trace: Trace
    answer: Answer

    @property
    def limit_s(self) -> float:
        """Returns the time limit for a script that freezes a model and runs the criterion once."""
        return _LIMIT_S + (self.criterion.limit_s or 0.0)


def reproduction(script: Path, fault: Fault, recipes: Iterable[Recipe]) -> Reproduction | None:
    """Writes the first script that shows the fault.

    Args:
        script: where; its files are written beside it.
        fault: the fault to reproduce.
        recipes: ways to show it, the smallest first.

    Returns:
        The script; where none shows the fault the last that could be written, and ``None`` where none could.
    """
    last = None
    for recipe in recipes:
        try:
            with inference(), reported():
                last = _written(script, fault, recipe)
        except CandidateError:
            continue
        if last.reproduces:
            break
    return last


def _written(script: Path, fault: Fault, recipe: Recipe) -> Reproduction:
    module, inputs = (script.with_name(f"{script.stem}.{end}") for end in (f"module{recipe.suffix}", "inputs.pt"))
    given = recipe.save(module)
    save_inputs(given, inputs)
    culprit = fault.culprit
    facts = ScriptFacts(
        title=f"{culprit.name} breaks {_broken(fault.criterion)} of {fault.trace.name}.",
        facts=_facts(fault, recipe),
        torch=f"torch {fault.trace.environment.torch} on {fault.trace.environment.platform}",
        load=[line.replace("{file}", module.name) for line in recipe.load],
        freeze=recipe.freeze,
        inputs=inputs.name,
        step=culprit.last_good if culprit.step is None else culprit.step,
        method=recipe.method,
        ran=fault.answer.ran,
    )
    write_files({script: script_text(facts, fault.criterion).encode()})
    reproduces, output = _shows(script, fault.limit_s)
    return Reproduction(script, (module, inputs), recipe.is_reduced, reproduces, output)


def _broken(criterion: CriterionOptions) -> str:
    if isinstance(criterion, AccuracyCriterion):
        return "the accuracy"
    return "the speed" if isinstance(criterion, LatencyCriterion) else "a criterion"


def _facts(fault: Fault, recipe: Recipe) -> list[str]:
    found = [f"Seen in the freeze ({fault.trace.backend}): {fault.answer.detail}."]
    for rewrite in fault.culprit.rewrites:
        found += ["", f"Rewrite {rewrite.kind} of {' and '.join(rewrite.modules) or 'the top module'}:"]
        found += [f"    {line}" for line in rewrite.nodes]
    found += ["", "Only these nodes are in the module." if recipe.is_reduced else "The whole model is in the module."]
    return found


def _shows(script: Path, limit_s: float) -> tuple[bool, tuple[str, ...]]:
    """Runs a script as its reader will, without this project, and returns whether it shows the fault."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B", script.name]
    try:
        ended = subprocess.run(
            command,
            cwd=script.parent,
            env=environment,
            timeout=limit_s,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, (f"not done after {limit_s:g} s",)
    printed = [line for line in (ended.stdout + ended.stderr).splitlines() if line.strip()]
    shows = ended.returncode == 1 and any(line.startswith(BROKEN) for line in ended.stdout.splitlines())
    return shows, tuple(printed[-_TOLD_LINES:])
