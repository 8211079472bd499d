"""Options are declared once: the command line, the form and the request follow from the declaration."""

from __future__ import annotations

import argparse
from dataclasses import asdict, fields
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.requests import BACKEND_OPTIONS, option_fields
from freeze_engine.worker import RecordRequest, add_recording_arguments, check_recording, parse_recording_command
from viewer.cli.command_line import COMMANDS, build_parser
from viewer.dashboard.form_options import APART, BACKENDS, options_view
from viewer.dashboard.record_request import form_values

KINDS = (fe.TorchScriptOptions, fe.InductorOptions, fe.Measure, RecordRequest)
NOT_OFFERED = {
    fe.Measure: {"devices"},
    RecordRequest: {
        "model",
        "output",
        "options",
        "measure",
        "call",
        "name",
        "trusted",
        "sandbox",
        "must_bind",
        "reads_only",
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_field_is_an_option_or_listed_as_none(kind: type) -> None:
    declared = {option.name for option in option_fields(kind)}
    assert declared == {field.name for field in fields(kind)} - NOT_OFFERED.get(kind, set())


@pytest.mark.parametrize("kind", KINDS)
def test_each_option_says_what_it_does(kind: type) -> None:
    for option in option_fields(kind):
        assert option.label[0].isupper(), option
        assert option.help, option
        assert option.no_help or option.default is not True, option
        values = [choice.value for choice in option.choices]
        if option.kind in ("choice", "yes_no"):
            assert option.default in values, option
        assert values[1:] == [True, False] or option.kind != "yes_no", option


def test_checks_offer_every_check() -> None:
    (checks,) = (option for option in option_fields(RecordRequest) if option.name == "checks")
    assert tuple(choice.value for choice in checks.choices) == fe.CHECKS


def test_the_form_offers_each_option_once() -> None:
    for backend in BACKENDS:
        declared = [option.name for option in option_fields(BACKEND_OPTIONS[backend["id"]])]
        assert [option["id"] for option in backend["options"]] == [name for name in declared if name not in APART]
    assert set(options_view()["measure"]) == {option.name for option in option_fields(fe.Measure)}


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_recording_arguments(parser)
    return parser.parse_args(words)


ARGUMENTS: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("--no-memory --threads 2 --seconds 0.5", {"measure": {"memory": False, "threads": 2, "seconds": 0.5}}),
    ("--no-measure", {"measure": None}),
    ("--preserve a b.c --preserve d", {"options": {"preserved_attrs": ("a", "b.c", "d")}}),
    (
        "--without p --without q --no-optimize-numerics",
        {"options": {"disabled_passes": ("p", "q"), "optimize_numerics": False}},
    ),
    ("--backend inductor --no-dynamic --without p", {"options": {"dynamic": False, "disabled_passes": ("p",)}}),
    ("--backend inductor --max-autotune --mode default", {"options": {"max_autotune": True, "mode": "default"}}),
    ("--memory 1500M --limit 90", {"memory_bytes": 1500 << 20, "limit_s": 90.0}),
    ("--memory 4GiB --check all", {"memory_bytes": 4 << 30, "checks": fe.CHECKS}),
    ("--check idempotence --ablation --via trace", {"checks": ("idempotence",), "ablation": True, "via": "trace"}),
    ("--input 1x3 --input mask=1x3:bool --device cpu", {"inputs": ("1x3", "mask=1x3:bool"), "device": "cpu"}),
]


@pytest.mark.parametrize(("words", "changes"), ARGUMENTS)
def test_the_command_line_becomes_the_request(words: str, changes: dict[str, Any]) -> None:
    request = parse_recording_command(f"freezer-ui record net.pt {words}")
    assert request is not None
    wanted = asdict(RecordRequest("net.pt", request.output, call=request.call, name="pt"))
    wanted["backend"] = "inductor" if "inductor" in words else "torchscript"
    wanted["options"] = asdict(BACKEND_OPTIONS[wanted["backend"]]())
    for name, value in changes.items():
        wanted[name] = wanted[name] | value if isinstance(value, dict) else value
    assert asdict(request) == wanted


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--threads 0", "0 is not a count; give 1 or more"),
        ("--seconds inf", "inf is not a time; give seconds, such as 30 or 0.5"),
        ("--memory 4K", "4K is not a size; give one such as 500M or 4G"),
        ("--memory 0G", "0G is not a size"),
    ],
)
def test_a_wrong_value_is_refused_with_an_example(words: str, told: str) -> None:
    with pytest.raises(argparse.ArgumentError, match=told):
        parsed(*words.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--mode default", "--mode: for --backend inductor only, and this is --backend torchscript"),
        ("--no-dynamic --fullgraph", "--no-dynamic, --fullgraph: for --backend inductor only"),
        ("--backend inductor --via trace", "--via: for --backend torchscript only, and this is --backend inductor"),
        ("--backend inductor --preserve a", "--preserve: for --backend torchscript only"),
    ],
)
def test_an_option_of_another_backend_is_refused(words: str, told: str) -> None:
    with pytest.raises(fe.FreezerError, match=told):
        check_recording(parsed(*words.split()))


@pytest.mark.parametrize("option", [option for option in option_fields(fe.Measure) if option.kind != "switch"])
def test_an_option_of_a_measurement_that_is_switched_off_is_refused(option: Any) -> None:
    for switch in ("--no-measure", *([f"--no-{option.needs}"] if option.needs else [])):
        with pytest.raises(fe.FreezerError, match=rf"^--{option.flag}: without effect, because of {switch};"):
            check_recording(parsed(switch, f"--{option.flag}", "1"))
    check_recording(parsed(f"--{option.flag}", "1"))
    check_recording(parsed("--no-measure", "--no-latency", "--no-values"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "freezer-ui",
        "freezer-ui run -- a.py",
        "freezer-ui report a.fztrace -o a.html",
        "fe.record(model)",
        "freezer-ui record 'open",
        "freezer-ui record",
        "freezer-ui record a.pt --nonsense",
        "freezer-ui record a.pt --seconds soon",
        "freezer-ui record a.pt --mode default",
        "rm -rf a.pt",
    ],
)
def test_text_that_is_not_a_record_command_is_not_parsed(text: str) -> None:
    assert parse_recording_command(text) is None


def test_a_command_of_the_dashboard_is_parsed_without_the_servers_options() -> None:
    request = parse_recording_command("freezer-ui m.pt --port 7100 --no-browser --jobs 2 --input 1x3 --no-memory")
    assert request is not None
    values = form_values(request)
    assert (values["model"], values["inputs"], values["measure"]["memory"]) == ("m.pt", ["1x3"], False)


@pytest.mark.parametrize("command", [None, *(command for command in COMMANDS if command.name == "record")])
def test_every_argument_of_a_recording_can_be_parsed_back(command: Any) -> None:
    parser = build_parser() if command is None else build_parser(command)
    for action in parser._actions:
        for flag in action.option_strings:
            if flag in ("-h", "--help", "--version", "--token"):
                continue  # none of them is in the command that a trace has
            value = "" if action.nargs == 0 else str(next(iter(action.choices or [_sample(action)])))
            prefix = (action.help or "").partition(":")[0]
            backend = prefix if prefix in BACKEND_OPTIONS else "torchscript"
            text = f"freezer-ui record a.pt --backend {backend} {flag} {value}"
            assert parse_recording_command(text) is not None, text


def _sample(action: argparse.Action) -> str:
    return {"SIZE": "1G", "INPUT": "1x3", "FILE": "1.pt2"}.get(str(action.metavar), "1")
