"""``freezer-ui export``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import freeze_engine as fe
from freeze_engine import export, process
from viewer.cli.command import CommandError, output_file
from viewer.cli.terminal import say
from viewer.cli.trace_file import load_trace


class ExportCommand:
    """Convert a trace for another tool.

    model-explorer: the graphs, for Model Explorer, and facts about single nodes (bytes of constants, latency and error
    of the step that last changed a node, kernel times), one file of node data each.

    csv: steps, attributes and baselines, one file each, with one row each.

    perfetto: the passes on a time line, with latency, error and sizes as counters, for Perfetto or chrome://tracing. A
    trace has the durations of passes but not their start times, so they stand end to end.

    Lists the files that it writes. Replaces existing files, all of them or none. Does not import torch.
    """

    name: ClassVar[str] = "export"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        add("trace", metavar="TRACE", help="the trace file")
        add("--format", choices=tuple(_FORMATS), required=True, help="which form")
        add(
            "-o",
            "--output",
            type=output_file,
            metavar="FILE",
            help="the file, or the beginning of several names (default: TRACE, with another ending)",
        )
        add("--step", type=int, metavar="N", help="model-explorer: the graph of this step only")

    def run(self, arguments: argparse.Namespace) -> int:
        """Writes the files."""
        if arguments.step is not None and arguments.format != "model-explorer":
            raise CommandError(f"--step is for --format model-explorer only, and this is --format {arguments.format}")
        suffix, render = _FORMATS[arguments.format]
        output = arguments.output or Path(arguments.trace).with_suffix(suffix)
        texts = render(load_trace(arguments.trace), arguments.step)
        if len(texts) > 1 and output.suffix != suffix:
            output = output.with_name(output.name + suffix)  # the given name is the prefix of their names
        paths = {ending: output.with_suffix(f".{ending}{output.suffix}") if ending else output for ending in texts}
        _write({paths[ending]: text.encode(errors="backslashreplace") for ending, text in texts.items()})
        say("".join(f"{path}\n" for path in paths.values()))
        return 0


def _model_explorer(trace: fe.Trace, step: int | None) -> dict[str, str]:
    kinds = {kind: _json(document) for kind, document in fe.model_explorer_data(trace, step).items()}
    return {"": _json(export.model_explorer_graphs(trace, step)), **kinds}


def _csv(trace: fe.Trace, step: int | None) -> dict[str, str]:
    return fe.csv_tables(trace)


def _perfetto(trace: fe.Trace, step: int | None) -> dict[str, str]:
    return {"": _json(fe.chrome_trace(trace))}


_FORMATS: Final[Mapping[str, tuple[str, Callable[[fe.Trace, int | None], dict[str, str]]]]] = {
    "model-explorer": (".json", _model_explorer),
    "csv": (".csv", _csv),
    "perfetto": (".perfetto.json", _perfetto),
}


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _write(files: Mapping[Path, bytes]) -> None:
    try:
        process.write_files(files)
    except OSError as error:
        text = f"cannot write {error.filename}: {error.strerror}; nothing was replaced; choose another place with -o"
        raise CommandError(text) from error
