"""``freezer-ui`` without a subcommand: the dashboard."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final
from urllib.parse import urlencode

from freeze_engine import models, process, requests, worker
from viewer.cli.command import FINE, CommandError
from viewer.cli.dashboard_targets import Start, find_start
from viewer.cli.terminal import remark, say

if TYPE_CHECKING:
    from viewer.dashboard.server_state import State

_TOKEN_VARIABLE: Final = "FREEZER_UI_TOKEN"
_TOKEN: Final = re.compile(r"[\w.~-]{16,200}", re.ASCII)
_MAX_JOBS: Final = 64


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
            f"of this machine can read it in the list of processes, so set {_TOKEN_VARIABLE}",
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
        start = find_start(arguments.targets)
        self._refuse_unused(arguments, start)
        own_token = _own_token()
        with _requested(arguments, start.model) as request:
            _serve(arguments, start, request, arguments.token or own_token or secrets.token_urlsafe(32))
        return FINE

    def _refuse_unused(self, arguments: argparse.Namespace, start: Start) -> None:
        used = [action for action in self._recording if getattr(arguments, action.dest) != action.default]
        if start.model is None and used:
            raise CommandError(f"{used[0].option_strings[0]} is for recording, and there is no MODEL to record")


def _serve(arguments: argparse.Namespace, start: Start, request: worker.RecordRequest | None, token: str) -> None:
    launch = None if arguments.no_browser else secrets.token_urlsafe(32)
    from viewer.dashboard.end_signals import EndedEarlyError, EndSignals
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
        try:
            with signals.ends_imports():
                from viewer.dashboard.server import ServerOptions, run
                from viewer.dashboard.upload_store import UploadLimits
        except EndedEarlyError:
            return

        def begin(state: State) -> None:
            if request is not None:
                state.jobs.record(request, job)
            if start.traces:
                state.prepare(start.traces, early.take())

        uploads = UploadLimits(arguments.upload_limit, arguments.upload_total)
        options = ServerOptions(arguments.host, token, uploads, arguments.jobs, launch, remark)
        run(options, listening, signals, begin)


@contextmanager
def _requested(arguments: argparse.Namespace, model: str | None) -> Iterator[worker.RecordRequest | None]:
    """Yields the recording request of the command line, ``None`` without a model.

    Its output file exists inside the block, and is removed at the end if it is still empty: a server that cannot start
    records nothing.
    """
    if model is None:
        yield None
        return
    from viewer.dashboard.form_options import backend_offer
    from viewer.dashboard.library import drop_if_empty, new_recording, recordings_folder

    process.require_posix("Recording a model in a child process")
    worker.check_recording(arguments)
    kind = models.file_kind(Path(model)) if Path(model).is_file() else None
    if refusal := backend_offer(arguments.backend)["refuses"].get(kind):
        raise CommandError(refusal)
    output = new_recording(recordings_folder(), worker.model_name(model), datetime.now())
    try:
        spec = str(Path(model).absolute()) if Path(model).is_file() else model
        yield worker.recording_request(arguments, spec, output, arguments.command_line)
    finally:
        drop_if_empty(output)


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
