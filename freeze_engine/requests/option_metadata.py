"""Describes an option beside the dataclass field that has its value; the command line and the dashboard are made of it.

A field that is declared with `option` becomes an argument of ``freezer-ui``, a field of the dashboard's form, and a
part of the command that the form shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

Kind = Literal["switch", "yes_no", "choice", "choices", "names", "count", "seconds", "size", "text"]
"""What the value of an option is.

``switch``: true or false. ``yes_no``: true, false or ``None``. ``choice``: the value of one of the choices.
``choices``: a tuple of such values. ``names``: a tuple of texts. ``count``: a whole number of at least 1. ``seconds``:
a positive time in s. ``size``: a number of bytes. ``text``: a text. All but ``switch`` may be ``None`` or empty.
"""

_KEY = "option"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that an option may have.

    Attributes:
        value: of the option.
        label: of the value in the form.
        help: what the value does, in the form; empty if the label says it.
    """

    value: str | bool | None
    label: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class OptionField:
    """An option, as the command line and the form present it.

    Attributes:
        name: of the dataclass field.
        default: of the dataclass field.
        kind: what the value is.
        label: of the option in the form.
        help: what the option does, in the form and in the program's help.
        flag: on the command line, without dashes; by default the name.
        no_help: the program's help for ``--no-FLAG``, of a switch that is on by default.
        metavar: placeholder of the value in the program's help.
        choices: the values to choose from; those of a ``yes_no`` are ``None``, ``True`` and ``False``.
        takes_many: whether one ``--FLAG`` takes several names.
        empty: what is in the form's field while there is no value.
        needs: name of the switch that must be on for the option to matter.
        backend: the only backend that has the option, ``None`` if each has.
    """

    name: str
    default: Any
    kind: Kind
    label: str
    help: str
    flag: str = ""
    no_help: str = ""
    metavar: str | None = None
    choices: tuple[Choice, ...] = ()
    takes_many: bool = False
    empty: str = ""
    needs: str | None = None
    backend: str | None = None


def option(default: Any, kind: Kind, label: str, help: str, **more: Any) -> Any:
    """Declares a dataclass field as an option.

    Args:
        default: of the field.
        kind: as of `OptionField`.
        label: as of `OptionField`.
        help: as of `OptionField`.
        **more: further attributes of `OptionField`.
    """
    return field(default=default, metadata={_KEY: OptionField("", default, kind, label, help, **more)})


def option_fields(kind: type) -> tuple[OptionField, ...]:
    """Returns the options that a dataclass declares, in their order.

    Args:
        kind: the dataclass.
    """
    named = ((each.name, each.metadata[_KEY]) for each in fields(kind) if _KEY in each.metadata)
    return tuple(replace(found, name=name, flag=found.flag or name.replace("_", "-")) for name, found in named)
