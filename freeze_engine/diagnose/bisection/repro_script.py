"""Text of a script that reproduces a fault with torch alone."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from freeze_engine.diagnose.bisection.request import CriterionOptions
from freeze_engine.diagnose.bisection.result import Ran
from freeze_engine.requests.criteria import CommandCriterion, LatencyCriterion

BROKEN = "BROKEN: "
"""Start of the line that reports the fault; a script exits with 1 on purpose only after this line."""

_SCRIPT = Template('''\
"""$title

$facts

Needs nothing but torch (recorded with $torch). Exits with 1 while this is broken, and with 0 once it is not.
"""

import sys
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent


def load():
    """Returns the module as it was before."""
$load


def inputs():
    given = torch.load(HERE / "$inputs", weights_only=False)
    return given["args"], given["kwargs"]


def freeze(module):
    """Does to the module what is to blame."""
$freeze


$check


$main


if __name__ == "__main__":
    sys.exit(main())
''')

_MAIN = """\
def main():
    with torch.no_grad():
        fault = check()
    print("fine" if fault is None else f"BROKEN: {fault}")
    return 0 if fault is None else 1
"""

#: For a culprit that crashes its process, or hangs.
_MAIN_APART = Template('''\
LIMIT_S = $limit


def main():
    """Checks in a process of its own, for that does not come to its end."""
    if "--here" not in sys.argv:
        return watch()
    with torch.no_grad():
        fault = check()
    print("fine" if fault is None else f"BROKEN: {fault}", flush=True)
    os._exit(0 if fault is None else 1)


def watch():
    try:
        code = subprocess.run([sys.executable, __file__, "--here"], timeout=LIMIT_S).returncode
    except subprocess.TimeoutExpired:
        print(f"BROKEN: not done after {LIMIT_S:g} s")
        return 1
    if code < 0:
        print(f"BROKEN: ended by {signal.Signals(-code).name}")
    return 1 if code else 0
''')

_RUN = Template('''\
def run(module):
    """Calls it as often as torch needs to have it optimised."""
    for _ in range(3):
        args, kwargs = inputs()
        torch.manual_seed(0)
        result = $called(*args, **kwargs)
    return result


''')

_ACCURACY = Template('''\
def check():
    """Expected: the outputs stay within $words."""
    expected = numbers(run(load()))
    found = numbers(run(freeze(load())))
    try:
        torch.testing.assert_close(found, expected, equal_nan=True$tolerance)
    except AssertionError as error:
        return str(error)
    return None


def numbers(value):
    """Returns the tensors and numbers in what a module returned."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [number for each in value for number in numbers(each)]
    return [value] if isinstance(value, (torch.Tensor, int, float, complex)) else []
''')

_RUNS = '''\
def check():
    """Expected: it runs, as it did before."""
    run(load())
    try:
        run(freeze(load()))
    except Exception as error:  # whatever it raises is the fault
        return f"{type(error).__name__}: {error}"
    return None
'''

_LATENCY = Template('''\
def check():
    """Expected: it gets no more than $words slower; both are timed in turns."""
    before, after = load(), freeze(load())
    run(before), run(after)
    ratios = sorted(seconds(after) / seconds(before) for _ in range(60))
    ratio = ratios[len(ratios) // 2]
    return f"takes {ratio:.3f} times as long (median of {len(ratios)})" if ratio > 1 + $margin else None


def seconds(module):
    args, kwargs = inputs()
    start = time.perf_counter()
    for _ in range(10):
        $called(*args, **kwargs)
    return time.perf_counter() - start
''')

_COMMAND = Template('''\
COMMAND = $words


def check():
    """Expected: the command, which gets the module as a file, exits with 0."""
    with tempfile.TemporaryDirectory() as folder:
        candidate = Path(folder) / "candidate.pt"
        torch.jit.save(freeze(load()), candidate)
        told = {"FREEZER_CANDIDATE": str(candidate), "FREEZER_INPUTS": str(HERE / "$inputs")}
        told |= {"FREEZER_METHOD": "$method", "FREEZER_STEP": "$step"}
        code = subprocess.run([*COMMAND, str(candidate)], env=os.environ | told).returncode
    return f"the command exits with {code}" if code else None
''')


#: Further modules; a script imports those that its texts use.
_MODULES = ("os", "signal", "subprocess", "tempfile", "time")
#: Time for a script to import torch and to freeze, in s.
_START_S = 120.0


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """The contents of a reproduction script.

    Attributes:
        title: one line.
        facts: known facts about the fault, a line each.
        torch: version.
        load: the lines that return the module.
        freeze: the lines that return it frozen.
        inputs: name of the file with the inputs.
        step: index of the culprit.
        method: the method of the module that the script calls.
        ran: how far the culprit ran.
    """

    title: str
    facts: Sequence[str]
    torch: str
    load: Sequence[str]
    freeze: Sequence[str]
    inputs: str
    step: int
    method: str = "forward"
    ran: Ran = "to_its_end"


def script_text(facts: ScriptFacts, criterion: CriterionOptions) -> str:
    """Returns the script.

    Args:
        facts: the contents of the script.
        criterion: the criterion that fails.
    """
    checking = _criterion_code(facts, criterion).rstrip()
    main = _main_text(facts.ran, criterion.limit_s).rstrip()
    text = _SCRIPT.substitute(
        title=_docstring_text(facts.title),
        facts="\n".join(_docstring_text(fact) for fact in facts.facts),
        torch=facts.torch,
        load=textwrap.indent("\n".join(facts.load), "    "),
        freeze=textwrap.indent("\n".join(facts.freeze), "    "),
        inputs=facts.inputs,
        check=checking,
        main=main,
    )
    needed = [name for name in _MODULES if f"{name}." in checking + main]
    imports = "\n".join(f"import {name}" for name in sorted(("sys", *needed)))
    return text.replace("import sys\n", f"{imports}\n", 1)


def _main_text(ran: Ran, limit_s: float | None) -> str:
    if ran in ("to_its_end", "raised"):
        return _MAIN
    return _MAIN_APART.substitute(limit=repr(_START_S + (limit_s or 0.0)) if ran == "hung" else "None")


def _criterion_code(facts: ScriptFacts, criterion: CriterionOptions) -> str:
    if isinstance(criterion, CommandCriterion):
        words = repr(list(criterion.words))
        return _COMMAND.substitute(words=words, inputs=facts.inputs, step=facts.step, method=facts.method)
    called = "module" if facts.method == "forward" else f"module.{facts.method}"
    run = _RUN.substitute(called=called)
    if facts.ran != "to_its_end":
        return run + _RUNS
    if isinstance(criterion, LatencyCriterion):
        return run + _LATENCY.substitute(words=f"{criterion.margin:.0%}", margin=repr(criterion.margin), called=called)
    if criterion.max_error is None:
        return run + _ACCURACY.substitute(words="the tolerances of torch.testing.assert_close", tolerance="")
    tolerance = f", rtol=0, atol={criterion.max_error!r}"
    return run + _ACCURACY.substitute(words=f"{criterion.max_error:g} of what they were", tolerance=tolerance)


def _docstring_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")
