"""``freezer-ui`` without a subcommand: the dashboard."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import secrets
import shlex
import threading
import webbrowser
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final
from urllib.parse import urlencode

import freeze_engine as fe
from freeze_engine import analysis, models, opening, process, requests, sweep, worker
from viewer.cli.command import COMMAND_NAMES, FINE, CommandError
from viewer.cli.terminal import remark, say

if TYPE_CHECKING:
    from viewer.dashboard.server_state import State

_TOKEN_VARIABLE: Final = "FREEZER_UI_TOKEN"
_TOKEN: Final = re.compile(r"[\w.~-]{16,200}", re.ASCII)
_FACTORY: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_EXAMPLE: Final = "example:"
_MAX_JOBS: Final = 64


@dataclass(frozen=True, slots=True)
class Start:
    """The initial page of the dashboard.

    Attributes:
        query: arguments of the page's address.
        traces: absolute paths of the traces that it shows.
        model: model to record at once.
    """

    query: dict[str, str]
    traces: tuple[Path, ...] = ()
    model: str | None = None


class OpenCommand:
    """Record how PyTorch freezes a model, pass by pass, and see what each pass did.

    Without a COMMAND this opens the dashboard in the browser: its first page (examples, recent traces, a form to
    record a model), a TRACE, two TRACEs side by side, the files of a FOLDER, the table of a SWEEP (two SWEEPs: what
    changed), or a MODEL, which it starts to record. A TorchScript file that was frozen already, a log of TORCH_TRACE
    (or its folder) and a folder of TORCH_COMPILE_DEBUG are read, without running anything, and the trace is opened.
    MODEL and INPUT are as in freezer-ui record; the traces of the dashboard are kept in the user's data folder. One
    recording runs at a time unless --jobs says otherwise, because recordings that measure at the same time disturb
    each other. The others wait in a queue.

    The server listens on this machine only, and answers only to a browser that presents a token of this server. The
    printed link has a token that is valid until the server ends; the browser that this command starts gets one that
    works once, because other users of the machine can read the arguments of programs. With --host the server
    listens on a network: anybody with the link can then list your folders, open traces, upload files and start
    recordings, which are programs, as you, and the connection is not encrypted.
    """

    name: ClassVar[str] = "open"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the dashboard's arguments."""
        parser.usage = "freezer-ui [options] [TRACE | TRACE TRACE | MODEL | FOLDER]\n       freezer-ui COMMAND ..."
        parser.add_argument("targets", nargs="*", metavar="TRACE | MODEL | FOLDER", help="what to open")
        add = parser.add_argument_group("the server").add_argument
        add(
            "--host",
            default="127.0.0.1",
            help="address to listen on (default: %(default)s); if others can reach it, anybody with the link can list "
            "your folders, upload files and start programs as you, unencrypted",
        )
        add("--port", type=_port, help="port to listen on (default: 7007, or the next that is free)")
        add("--no-browser", action="store_true", help="print the link, but do not open it")
        add(
            "--token",
            type=_token,
            help="secret that a browser must present, 16 characters or more (default: a new random one). Other users "
            f"of this machine can read it in the list of processes, so better set {_TOKEN_VARIABLE}",
        )
        add(
            "--upload-limit",
            type=requests.size_bytes,
            default=4 << 30,
            metavar="SIZE",
            help="how large an uploaded file may be, such as 500M or 4G (default: 4G)",
        )
        add(
            "--upload-total",
            type=requests.size_bytes,
            default=16 << 30,
            metavar="SIZE",
            help="how large all uploads together may be (default: 16G)",
        )
        add(
            "--jobs",
            type=_count,
            default=1,
            metavar="N",
            help="how many recordings run at the same time; the others wait, as recordings that measure disturb each "
            "other's figures (default: 1)",
        )
        recording = parser.add_argument_group("recording a MODEL", "as in freezer-ui record")
        self._recording = worker.add_recording_arguments(recording)

    def run(self, arguments: argparse.Namespace) -> int:
        """Serves the dashboard until a signal ends it."""
        start = _start(arguments.targets)
        self._refuse_unused(arguments, start)
        own_token = _own_token()
        request = None if start.model is None else _request(arguments, start.model)
        token = arguments.token or own_token or secrets.token_urlsafe(32)
        launch = None if arguments.no_browser else secrets.token_urlsafe(32)
        from viewer.dashboard.end_signals import EndSignals
        from viewer.dashboard.listening_socket import DEFAULT_PORT, listen, port_of
        from viewer.dashboard.preload import EarlyPayload

        with (
            listen(arguments.host, arguments.port) as listening,
            EndSignals() as signals,
            EarlyPayload(start.traces) as early,
        ):
            port = port_of(listening)
            if arguments.port is None and port != DEFAULT_PORT:
                remark(f"port {DEFAULT_PORT} is taken, so this is port {port}")
            job = secrets.token_hex(4)
            query = start.query if request is None else {"job": job}
            address = f"http://{_link_host(arguments.host)}:{port}/?"
            _announce(arguments.host, address + urlencode(query | {"token": token}))
            if launch is not None:
                _start_browser(address + urlencode(query | {"launch": launch}))
            # These imports take about a second, in which the browser starts as well; its requests wait meanwhile.
            from viewer.dashboard.server import ServerOptions, run
            from viewer.dashboard.upload_store import UploadLimits

            def begin(state: State) -> None:
                if request is not None:
                    state.jobs.record(request, job)
                if start.traces:
                    state.prepare(start.traces, early.take())

            uploads = UploadLimits(arguments.upload_limit, arguments.upload_total)
            options = ServerOptions(arguments.host, token, uploads, arguments.jobs, launch, remark)
            run(options, listening, signals, begin)
        return FINE

    def _refuse_unused(self, arguments: argparse.Namespace, start: Start) -> None:
        used = [action for action in self._recording if getattr(arguments, action.dest) != action.default]
        if start.model is None and used:
            raise CommandError(f"{used[0].option_strings[0]} is for recording, and there is no MODEL to record")


def _start(targets: list[str]) -> Start:
    """Returns the initial page for the words on the command line.

    Raises:
        CommandError: they cannot be opened, or not together.
    """
    if not targets:
        return Start({})
    kinds = [_kind(target) for target in targets]
    paths = tuple(Path(target).absolute() for target in targets)
    match kinds:
        case ["model"]:
            return Start({}, model=targets[0])
        case ["existing"]:
            read = _read(targets[0])
            return Start({"trace": str(read)}, (read,))
        case ["sweep"]:
            return Start({"sweep": str(paths[0])})
        case ["sweep", "sweep"]:
            return Start({"sweep": str(paths[1]), "since": str(paths[0])})
        case ["folder"]:
            return Start({"folder": str(paths[0])})
        case ["trace"]:
            return Start({"trace": str(paths[0])}, paths)
        case ["trace", "trace"]:
            return Start({"compare": str(paths[0]), "with": str(paths[1])}, paths)
    raise CommandError("give one TRACE, MODEL or FOLDER, or two TRACEs to see side by side")


def _read(target: str) -> Path:
    """Returns the file of a new trace of what exists already."""
    from viewer.dashboard.library import new_recording, recordings_folder

    name = Path(target).resolve().stem
    trace = opening.open_existing(target, name=name, call=f"freezer-ui {shlex.quote(target)}")
    output = new_recording(recordings_folder(), name, datetime.now())
    fe.save(trace, output)
    remark(f"{target} is {analysis.ORIGINS[trace.origin]}, so it was read; nothing of it was run or measured")
    return output


def _kind(target: str) -> str:
    """Returns whether a word names a ``sweep``, another ``folder``, a ``trace``, a ``model``, or something to read.

    Raises:
        CommandError: it names none of these.
    """
    path = Path(target)
    if not target:
        raise CommandError("'' names nothing to open; is a variable empty? For this folder, give .")
    if path.is_dir():
        if sweep.is_sweep(path):
            return "sweep"
        return "folder" if opening.existing_kind(path) is None else "existing"
    if path.is_file():
        kind = models.file_kind(path)
        if opening.existing_kind(path) is not None:
            return "existing"
        if kind not in ("trace", "torchscript", "exported"):
            found = models.other_file(path)
            raise CommandError(f"{target} is {found.what}. {found.remedy}")
        return "trace" if kind == "trace" else "model"
    if target.startswith(_EXAMPLE):
        name = target.removeprefix(_EXAMPLE)
        if name not in fe.EXAMPLES:
            meant = requests.did_you_mean(name, fe.EXAMPLES)
            raise CommandError(f"there is no example {name!r}.{meant} The examples are {', '.join(fe.EXAMPLES)}.")
        return "model"
    if _FACTORY.fullmatch(target):
        return "model"
    if path.suffix or path.name != target:
        raise CommandError(f"there is no file or folder {path.absolute()}{_near(path)}")
    raise CommandError(
        f"{target!r} is not a file, folder, example:NAME, package.module:factory or command{_hint(target)}"
    )


def _near(path: Path) -> str:
    """Returns a hint that names a similar file, if there is one."""
    if not path.parent.is_dir():
        return f"; there is not even a folder {path.parent}"
    names = {child.stem: child.name for child in path.parent.iterdir()}
    close = difflib.get_close_matches(path.stem, names, n=1)
    return f"; did you mean {path.with_name(names[close[0]])}?" if close else "; check the name"


def _hint(target: str) -> str:
    close = difflib.get_close_matches(target, COMMAND_NAMES, n=1)
    if close:
        return f"; did you mean freezer-ui {close[0]}?"
    return f"; did you mean {_EXAMPLE}{target}?" if target in fe.EXAMPLES else ""


def _request(arguments: argparse.Namespace, model: str) -> worker.RecordRequest:
    """Returns the recording request of the command line, and creates an empty output file."""
    from viewer.dashboard.form_options import backend_offer
    from viewer.dashboard.library import new_recording, recordings_folder

    process.require_posix("Recording a model in a child process")
    worker.check_recording(arguments)
    kind = models.file_kind(Path(model)) if Path(model).is_file() else None
    if refusal := backend_offer(arguments.backend)["refuses"].get(kind):
        raise CommandError(refusal)
    output = new_recording(recordings_folder(), worker.model_name(model), datetime.now())
    spec = str(Path(model).absolute()) if Path(model).is_file() else model
    return worker.recording_request(arguments, spec, output, arguments.command_line)


def _announce(host: str, link: str) -> None:
    from viewer.dashboard.auth import is_local

    if not is_local(host):
        remark(
            f"--host {host} opens this server to others: whoever has this link can list your folders, open traces, "
            "upload files and start recordings, that is programs, as you; nothing of it is encrypted, nor is the link"
        )
    say(f"{link}\n")
    remark("open this link in a browser; Ctrl-C ends the server")


def _start_browser(link: str) -> None:
    # Some browsers, mainly those in a terminal, return only when they are closed.
    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _link_host(host: str) -> str:
    from viewer.dashboard.auth import link_host

    return link_host(host)


def _own_token() -> str | None:
    """Returns the token from the environment, and removes it there so that child processes do not inherit it."""
    text = os.environ.pop(_TOKEN_VARIABLE, None)
    try:
        return _token(text) if text else None
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"{_TOKEN_VARIABLE}: {error}") from error


def _token(text: str) -> str:
    if not _TOKEN.fullmatch(text):
        raise argparse.ArgumentTypeError("a token has 16 to 200 letters, digits and signs of _ - . ~")
    return text


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise argparse.ArgumentTypeError(f"{text} is not a port; give a number from 1 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) <= _MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{text} is not a number of recordings; give one from 1 to {_MAX_JOBS}")
    return int(text)
