"""The text of a script that shows a fault with torch alone."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from freeze_engine.options import AccuracyCheck, CommandCheck, LatencyCheck

BROKEN = "BROKEN: "
"""What the line begins with that tells the fault; only after it does a script exit with 1 on purpose."""

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


def main():
    with torch.no_grad():
        fault = check()
    print("fine" if fault is None else f"BROKEN: {fault}")
    return 0 if fault is None else 1


if __name__ == "__main__":
    sys.exit(main())
''')

_RUN = '''\
def run(module):
    """Calls it as often as torch needs to have it optimised."""
    for _ in range(3):
        args, kwargs = inputs()
        torch.manual_seed(0)
        result = module(*args, **kwargs)
    return result


'''

_ACCURACY = Template('''\
def check():
    """Expected: the outputs stay within $words."""
    expected = run(load())
    try:
        torch.testing.assert_close(run(freeze(load())), expected, equal_nan=True$tolerance)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
''')

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
        module(*args, **kwargs)
    return time.perf_counter() - start
''')

_COMMAND = Template('''\
COMMAND = $words


def check():
    """Expected: the command, which gets the module as a file, exits with 0."""
    with tempfile.TemporaryDirectory() as folder:
        candidate = Path(folder) / "candidate.pt"
        torch.jit.save(freeze(load()), candidate)
        told = {"FREEZER_CANDIDATE": str(candidate), "FREEZER_INPUTS": str(HERE / "$inputs"), "FREEZER_STEP": "$step"}
        code = subprocess.run([*COMMAND, str(candidate)], env=os.environ | told).returncode
    return f"the command exits with {code}" if code else None
''')


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """What a script tells and does.

    Attributes:
        title: one line.
        facts: what is known of the fault, a line each.
        torch: version.
        load: the lines that return the module.
        freeze: the lines that return it frozen.
        inputs: name of the file with the inputs.
        step: index of the culprit.
    """

    title: str
    facts: Sequence[str]
    torch: str
    load: Sequence[str]
    freeze: Sequence[str]
    inputs: str
    step: int


def script_text(facts: ScriptFacts, check: AccuracyCheck | LatencyCheck | CommandCheck) -> str:
    """Returns the script.

    Args:
        facts: what it tells and does.
        check: what is broken.
    """
    text = _SCRIPT.substitute(
        title=_docstring_text(facts.title),
        facts="\n".join(_docstring_text(fact) for fact in facts.facts),
        torch=facts.torch,
        load=textwrap.indent("\n".join(facts.load), "    "),
        freeze=textwrap.indent("\n".join(facts.freeze), "    "),
        inputs=facts.inputs,
        check=_check_text(facts, check).rstrip(),
    )
    needed = {LatencyCheck: ("time",), CommandCheck: ("os", "subprocess", "tempfile")}.get(type(check), ())
    imports = "\n".join(f"import {name}" for name in sorted(("sys", *needed)))
    return text.replace("import sys\n", f"{imports}\n", 1)


def _check_text(facts: ScriptFacts, check: AccuracyCheck | LatencyCheck | CommandCheck) -> str:
    if isinstance(check, CommandCheck):
        return _COMMAND.substitute(words=repr(list(check.words)), inputs=facts.inputs, step=facts.step)
    if isinstance(check, LatencyCheck):
        return _RUN + _LATENCY.substitute(words=f"{check.margin:.0%}", margin=repr(check.margin))
    if check.max_error is None:
        return _RUN + _ACCURACY.substitute(words="the tolerances of torch.testing.assert_close", tolerance="")
    tolerance = f", rtol=0, atol={check.max_error!r}"
    return _RUN + _ACCURACY.substitute(words=f"{check.max_error:g} of what they were", tolerance=tolerance)


def _docstring_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")
