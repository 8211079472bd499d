"""``freezer-ui bisect``."""

from __future__ import annotations

import argparse
import shlex
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import freeze_engine as fe
from freeze_engine import analysis, diagnose, models, requests, worker
from viewer.cli.command import CHECK_FAILED, FINE, FREEZE_FAILED, CommandError, output_file
from viewer.cli.signals import SIGNALS
from viewer.cli.terminal import progress_line, say, say_json


class BisectCommand:
    """Find the pass, and the rewrite in it, that breaks a criterion.

    The model is frozen once, and the criterion tests the graph after each pass: a binary search finds the first pass
    that breaks the criterion, then tests that pass and the one before it again. If the pass folds, a second search
    applies only some of its rewrites, and finds the fewest that break the criterion. MODEL and INPUT are as in
    freezer-ui record.

    CHECK is accuracy (outputs against eager; it tests every pass, not only those that a binary search needs),
    latency (timed in turns with the first step, then with the step before the culprit), or a command. The command
    gets each candidate as a file, as its last argument and in FREEZER_CANDIDATE: a TorchScript file, or for
    Inductor a Python file that has the graph as `program`, an exported program, and as `module`. FREEZER_INPUTS is
    a file for torch.load with the args and kwargs of the call, FREEZER_METHOD the method that the file has as its
    forward, FREEZER_STEP the step's index. As for git bisect run, 0 means good, 1 to 127 bad, and 125 that the
    candidate cannot be tested; any other code ends the search, and so do 126 and 127 on the first candidate. No
    shell runs the command; for a shell, write "sh -c '…'". Its output goes to standard error. A candidate that
    torch cannot save cannot be tested.

    Each candidate runs in a child process: one that crashes or exceeds the limit is bad. On CUDA all candidates
    share the process of the freeze, and a crash ends the search.

    The search includes each preserved method that runs on the inputs; --method NAME searches only that method, with
    the inputs for it. With Inductor it takes the graphs before and after a graph break in their order.

    For Inductor the steps run as graphs, operator by operator, and only the last candidate is generated code:
    latency finds a pass that makes a graph slower, but not the effect of freezing on the generated code (see record
    --ablation).

    For a culprit the command writes a script that shows the fault with torch alone, reduced to the nodes of the
    rewrite if these show it. The script is run once to confirm that.

    Exits with 0 if the criterion never fails; with 1 if it fails (there is a culprit, or the criterion failed before
    anything was frozen, or contradicts itself); with 3 if the freeze itself fails or crashes.
    """

    name: ClassVar[str] = "bisect"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        add("model", metavar="MODEL", help="the model to freeze")
        add("--check", required=True, metavar="CRITERION", help="accuracy, latency, or a command (in quotes)")
        worker.add_freeze_arguments(parser)
        add("--max-error", type=_positive, metavar="E", help="accuracy: largest absolute difference to accept")
        add("--margin", type=_positive, metavar="M", help="latency: slowdown to accept (default: 0.01, which is 1%%)")
        add("--seconds", type=requests.seconds, metavar="S", help="latency: time for each comparison (default: 3)")
        add(
            "--limit",
            type=requests.seconds,
            metavar="S",
            help="a candidate that takes longer, such as one that hangs, is bad",
        )
        add("--method", metavar="NAME", help="search this frozen method only (default: each that runs on the inputs)")
        add("--every-step", action=argparse.BooleanOptionalAction, help="test every step (accuracy: the default)")
        add("--script", type=output_file, metavar="FILE", help="the script (default: MODEL_repro.py)")
        add("--no-script", action="store_true", help="write none")
        add("--json", action="store_true", help="print the result, and each answer of the criterion, as JSON")

    def run(self, arguments: argparse.Namespace) -> int:
        """Searches, and prints the result."""
        criterion = _criterion(arguments)
        worker.check_recording(arguments)
        script = (
            None if arguments.no_script else arguments.script or Path(f"{worker.model_name(arguments.model)}_repro.py")
        )
        found = _bisected(arguments, criterion, script)
        if arguments.json:
            say_json(diagnose.bisection_json(found))
        else:
            say("".join(f"{line}\n" for line in bisection_lines(found)))
        return FINE if found.ending == "nothing_found" else CHECK_FAILED


def _bisected(
    arguments: argparse.Namespace,
    criterion: fe.AccuracyCriterion | fe.LatencyCriterion | fe.CommandCriterion,
    script: Path | None,
) -> fe.Bisection:
    wanted = [requests.parse_input(text) for text in arguments.inputs or ()]
    inputs = models.make_inputs(wanted, device=arguments.device or "cpu") if wanted else None
    with progress_line() as line:

        def show(message: str, done: int, total: int) -> None:
            SIGNALS.check()
            line.show(message, done, total)

        def tell(probe: diagnose.Probe) -> None:
            line.clear()
            if not arguments.json:
                say(f"{probe.verdict:<10} {probe.candidate}: {probe.detail}\n")

        try:
            return fe.bisect(
                arguments.model,
                inputs,
                criterion=criterion,
                backend=arguments.backend,
                options=worker.freeze_options(arguments),
                via=arguments.via,
                map_location=arguments.device,
                imports=arguments.imports or (),
                method=arguments.method,
                every_step=arguments.every_step,
                script=script,
                apart=True,
                progress=show,
                on_probe=tell,
            )
        except fe.CrashError as error:
            kept = f"freezer-ui record {arguments.model} keeps a trace of what torch did until then"
            text = f"the freeze crashed: {error}\n{kept}"
            raise CommandError(text, FREEZE_FAILED, details=_details(error)) from error
        except (fe.FreezerError, ModuleNotFoundError):
            raise
        except Exception as error:
            text = f"the freeze failed: {type(error).__name__}: {error}"
            raise CommandError(text, FREEZE_FAILED, details=_details(error)) from error


def _details(error: Exception) -> str:
    return "".join(traceback.format_exception(error))


def _criterion(arguments: argparse.Namespace) -> fe.AccuracyCriterion | fe.LatencyCriterion | fe.CommandCriterion:
    kind = arguments.check if arguments.check in ("accuracy", "latency") else "a command"
    for option, value, belongs in (
        ("--max-error", arguments.max_error, "accuracy"),
        ("--margin", arguments.margin, "latency"),
        ("--seconds", arguments.seconds, "latency"),
    ):
        if value is not None and kind != belongs:
            raise CommandError(f"{option}: for --check {belongs} only, and this is {kind}")
    if kind == "accuracy":
        return fe.AccuracyCriterion(arguments.max_error, limit_s=arguments.limit)
    if kind == "latency":
        given = {"seconds": arguments.seconds, "margin": arguments.margin, "limit_s": arguments.limit}
        return fe.LatencyCriterion(**{name: value for name, value in given.items() if value is not None})
    try:
        words = tuple(shlex.split(arguments.check))
    except ValueError as error:
        raise CommandError(f"--check {arguments.check}: the command cannot be read: {error}") from error
    if not words:
        raise CommandError("--check is empty: give accuracy, latency, or a command")
    return fe.CommandCriterion(words, arguments.limit)


def bisection_lines(found: fe.Bisection) -> Iterator[str]:
    """Yields the result of a bisection as lines for the terminal.

    Args:
        found: the result.
    """
    yield ""
    yield found.message
    if found.culprit is not None:
        yield from _culprit_lines(found.culprit, found.trace)
    yield from found.notes
    if found.reproduction is not None:
        yield from _script_lines(found.reproduction)


def _culprit_lines(culprit: diagnose.Culprit, trace: fe.Trace) -> Iterator[str]:
    yield f"  last good: step {culprit.last_good}{_between(culprit, trace)}"
    if len(culprit.suspects) > 1:
        yield f"  any of: {analysis.listed(culprit.suspects)}"
    if culprit.rewrites:
        many = f"{len(culprit.rewrites)} of its {culprit.rewrites_of_step} rewrites"
        yield f"  by {many}:" if culprit.rewrites_of_step > 1 else "  by its one rewrite:"
    for rewrite in culprit.rewrites:
        yield f"  {rewrite.kind}: {' + '.join(rewrite.modules) or 'the top module'}"
        yield from (f"    {node}" for node in rewrite.nodes)
        if rewrite.attributes:
            yield f"    attributes: {analysis.listed(rewrite.attributes, 12)}"
    if culprit.note:
        yield f"  {culprit.note}"


def _between(culprit: diagnose.Culprit, trace: fe.Trace) -> str:
    """Returns a remark if steps between the last good one and the culprit exist and changed nothing."""
    end = len(trace.steps) if culprit.step is None else culprit.step
    steps = trace.steps[culprit.last_good + 1 : end]
    if not steps or any(step.changed and step.method == culprit.method for step in steps):
        return ""
    first, last = steps[0].index, steps[-1].index
    return f" (step {first} changed nothing)" if first == last else f" (steps {first} to {last} changed nothing)"


def _script_lines(made: diagnose.Reproduction) -> Iterator[str]:
    size = "only the nodes involved" if made.is_reduced else "the whole model"
    shows = "shows it with torch alone" if made.reproduces else "does NOT show it when run on its own"
    yield f"{made.script} {shows} ({size}; beside it: {', '.join(file.name for file in made.files)})"
    yield from () if made.reproduces else (f"    {line}" for line in made.output)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number that could be accepted; give one such as 0.001")
    return number
