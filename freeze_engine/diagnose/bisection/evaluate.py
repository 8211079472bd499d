"""Evaluates a criterion on one candidate, which may crash or hang without ending the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from freeze_engine.backends.inductor.capture.compile import compile_in_this_thread
from freeze_engine.diagnose.bisection.criteria import Answer, Criterion
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix
from freeze_engine.diagnose.bisection.result import Probe
from freeze_engine.process.fork import Lost, Tell, forked, has_task_threads, why_not_forked
from freeze_engine.requests.options import Progress
from freeze_engine.trace import Trace

Result = TypeVar("Result")
OnProbe = Callable[[Probe], None]


@dataclass(frozen=True, slots=True)
class CandidateEvaluator:
    """Evaluates candidates.

    Attributes:
        criterion: the criterion to run.
        trace: the recording of the freeze.
        progress: called with the candidate that is being tested.
        on_probe: called with every answer.
    """

    criterion: Criterion
    trace: Trace
    progress: Progress
    on_probe: OnProbe

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Applies the criterion to a candidate, in a fork if one is possible.

        Args:
            prefix: the candidate.
            before: an earlier one that is good.
        """
        self.progress(f"checking {prefix.name}", 0, 0)
        answer = in_fork(lambda: self.criterion.ask(prefix, before), self.trace, self.criterion.limit_s)
        return self.criterion.lost(answer) if isinstance(answer, Lost) else answer

    def doubt(self) -> str | None:
        """Returns why the criterion is not reliable, if there is a reason."""
        doubt = in_fork(self.criterion.doubt, self.trace, self.criterion.limit_s)
        return None if isinstance(doubt, Lost) else doubt


def in_fork(task: Callable[[], Result], trace: Trace, limit_s: float | None = None) -> Result | Lost:
    """Runs a task that may crash in a fork, or here if no fork is possible.

    Args:
        task: the function to run; its result must be picklable.
        trace: the recording of the freeze.
        limit_s: how long it may take in a fork, ``None`` for as long as it takes.

    Returns:
        Its result, or how the fork ended without one.

    Raises:
        Exception: what the task raised.
    """
    if why_exposed(trace):
        return task()

    def settled(tell: Tell) -> Result:
        compile_in_this_thread()
        return task()

    return forked(settled, limit_s=limit_s)


def why_exposed(trace: Trace) -> str:
    """Returns why a candidate that may crash must run in this process; empty if it need not."""
    if has_task_threads() and starts_tasks(trace):
        return "the model calls torch.jit.fork, which has run here before and would wait for ever in a fork"
    return why_not_forked()


def starts_tasks(trace: Trace) -> bool:
    """Returns whether running what was frozen runs ``torch.jit.fork``."""
    return any(node.op == "prim::fork" for graph in {step.graph for step in trace.steps} for node in graph.walk())
