"""Searches a step's rewrites for those that break a criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from freeze_engine.diagnose.bisection.algorithms import Subset, smallest_bad
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix, Prefixes
from freeze_engine.diagnose.bisection.result import GuiltyRewrite
from freeze_engine.trace import GraphSnapshot, Rewrite, Step, node_line

Ask = Callable[[Prefix], bool]
"""Checks a candidate and returns whether it is bad."""
_MOST_ALONE = 100


@dataclass(frozen=True, slots=True)
class Blame:
    """Facts about the rewrites of a step that breaks a criterion.

    Attributes:
        guilty: positions of the fewest that were found to break it; empty where none could be singled out.
        note: a further fact, one sentence or empty.
    """

    guilty: tuple[int, ...] = ()
    note: str = ""


@dataclass(slots=True)
class RewriteSearch:
    """Searches the rewrites of one step.

    Attributes:
        step: the step.
        end: the step after which to check: itself, or a later one.
        prefixes: gives the step with some of them done.
        is_bad: checks a candidate.
        is_cheap: whether each rewrite can be checked on its own.
    """

    step: Step
    end: Step
    prefixes: Prefixes
    is_bad: Ask
    is_cheap: bool
    known: dict[Subset, bool] = field(default_factory=dict)

    def run(self) -> Blame:
        """Returns the rewrites to blame."""
        count = len(self.step.rewrites)
        every = frozenset(range(count))
        if not count:
            return Blame()
        if not self.prefixes.has_parts(self.step):
            only = "; it does one rewrite" if count == 1 else f"; it does {count} rewrites"
            return Blame(note=f"{self.step.name} cannot be run in part{only}.")
        if self._bad(frozenset()):
            return Blame(
                note="The step breaks the criterion also with all its rewrites left out, so none of them is to blame."
            )
        if not self._bad(every):
            return Blame(
                note="Run once more on the same graph the step passes the criterion, so no rewrite can be blamed."
            )
        guilty = smallest_bad(self._bad, count)
        return Blame(tuple(sorted(guilty)), self._also(guilty, every))

    def _bad(self, done: Subset) -> bool:
        if done not in self.known:
            self.known[done] = self.is_bad(self.prefixes.partial(self.step, done, self.end))
        return self.known[done]

    def _also(self, guilty: Subset, every: Subset) -> str:
        interacting = (
            f"None of these {len(guilty)} rewrites breaks it alone; together they do. " if len(guilty) > 1 else ""
        )
        rest = every - guilty
        if not rest or not self._bad(rest):
            return interacting.strip()
        others = "The other rewrites of the step break it as well, without " + ("it" if len(guilty) == 1 else "them")
        if self.is_cheap and len(rest) <= _MOST_ALONE:
            alone = [number for number in sorted(rest) if self._bad(frozenset({number}))]
            others += f"; {len(alone)} of these {len(rest)} do so alone"
        return f"{interacting}{others}."


def described(rewrite: Rewrite, before: GraphSnapshot) -> GuiltyRewrite:
    """Returns a rewrite in a form that can be read without the trace.

    Args:
        rewrite: the rewrite.
        before: the graph before it.
    """
    consumed = [node for node in before.walk() if node.id in rewrite.consumed and node.op not in _CONSTANTS]
    return GuiltyRewrite(
        rewrite.kind,
        tuple(node_line(node) for node in consumed),
        rewrite.attributes,
        rewrite.modules,
        tuple(dict.fromkeys(node.source for node in consumed if node.source is not None)),
    )


_CONSTANTS = ("prim::Constant", "get_attr")
