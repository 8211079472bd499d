"""Reads the interfaces of the JavaScript's ``types.d.ts``, and checks JSON values against them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FRONTEND = Path(__file__).parents[1] / "frontend"

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INTERFACE = re.compile(r"^interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_ALIAS = re.compile(r"^type (\w+) =(.*?);\n", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"(\w+)(\?)?:\s")
_TOKEN = re.compile(r'\s*("[^"]*"|\w+|\[\]|[\[\]{}()|,;:?<>])')
_SCALARS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "undefined": (),
    "true": (bool,),
}


@dataclass(frozen=True)
class Declarations:
    """The types of one room of the front end, by name.

    Attributes:
        interfaces: their fields, as (name, is optional, type text).
        aliases: text of each ``type``.
    """

    interfaces: Mapping[str, tuple[tuple[str, bool, str], ...]]
    aliases: Mapping[str, str]

    def problems(self, value: Any, kind: str, where: str) -> Iterator[str]:
        """Yields what does not fit a type, each with its place."""
        tokens = _TOKEN.findall(kind)
        node, rest = _union(tokens)
        assert not rest, f"cannot read the type {kind!r}"
        yield from self._check(value, node, where)

    def _check(self, value: Any, node: Any, where: str) -> Iterator[str]:
        what, *parts = node
        if what == "union":
            if not any(not list(self._check(value, each, where)) for each in parts):
                # The alternative that is no scalar says best what is wrong.
                likely = [each for each in parts if each[0] != "name" or each[1] not in _SCALARS]
                fits = [each for each in likely if isinstance(value, (dict, list))]
                yield from self._check(value, fits[0], where) if fits else [f"{where}: {value!r} fits no {node}"]
        elif what == "array":
            yield from self._items(value, [parts[0]] * len(value) if isinstance(value, list) else [], where)
        elif what == "tuple":
            yield from self._items(value, parts, where)
        elif what == "record":
            if not isinstance(value, dict):
                yield f"{where}: {value!r} is no object"
            else:
                for key, each in value.items():
                    yield from self._check(each, parts[0], f"{where}[{key!r}]")
        elif what == "literal":
            if value != parts[0]:
                yield f"{where}: {value!r} is not {parts[0]!r}"
        elif what == "object":
            yield from self._fields(value, parts, where)
        else:
            yield from self._named(value, parts[0], where)

    def _items(self, value: Any, kinds: Any, where: str) -> Iterator[str]:
        if not isinstance(value, list) or len(value) != len(kinds):
            yield f"{where}: {value!r} is no list of {len(kinds)}"
            return
        for index, (each, kind) in enumerate(zip(value, kinds, strict=True)):
            yield from self._check(each, kind, f"{where}[{index}]")

    def _named(self, value: Any, name: str, where: str) -> Iterator[str]:
        if name in ("any", "unknown", "object"):
            return
        if name in _SCALARS:
            if not isinstance(value, _SCALARS[name]) or (name == "number" and isinstance(value, bool)):
                yield f"{where}: {value!r} is no {name}"
        elif name in self.interfaces:
            fields = [
                (field, optional, _union(_TOKEN.findall(kind))[0]) for field, optional, kind in self.interfaces[name]
            ]
            yield from self._fields(value, fields, where)
        else:
            yield from self.problems(value, self.aliases[name].strip().lstrip("|"), where)

    def _fields(self, value: Any, fields: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where}: {value!r} is no object"
            return
        known = {name: (optional, kind) for name, optional, kind in fields}
        yield from (f"{where}: the page does not declare {name}" for name in value if name not in known)
        for name, (optional, kind) in known.items():
            if name in value:
                yield from self._check(value[name], kind, f"{where}.{name}")
            elif not optional:
                yield f"{where}: {name} is missing"


def declarations(*rooms: str) -> Declarations:
    """Returns the types of some rooms of ``frontend/``."""
    text = "\n".join(_COMMENT.sub("", (FRONTEND / room / "types.d.ts").read_text(encoding="utf-8")) for room in rooms)
    interfaces = {name: _fields_of(body) for name, _, body in _INTERFACE.findall(text)}
    for name, base, _ in _INTERFACE.findall(text):
        if base:
            interfaces[name] = (*interfaces[base], *interfaces[name])
    return Declarations(interfaces, dict(_ALIAS.findall(text)))


def _fields_of(body: str) -> tuple[tuple[str, bool, str], ...]:
    found, depth, start = [], 0, 0
    for place, letter in enumerate(body):
        depth += letter in "{[(<"
        depth -= letter in "}])" or (letter == ">" and body[place - 1] != "=")
        if letter == ";" and depth == 0:
            match = _FIELD.match(body[start:place].lstrip())
            if match:
                found.append((match[1], match[2] == "?", body[start:place].lstrip()[match.end() :]))
            start = place + 1
    return tuple(found)


def _union(tokens: list[str]) -> tuple[Any, list[str]]:
    parts = []
    while True:
        part, tokens = _single(tokens)
        while tokens and tokens[0] == "[]":
            part, tokens = ("array", part), tokens[1:]
        parts.append(part)
        if not tokens or tokens[0] != "|":
            return (parts[0] if len(parts) == 1 else ("union", *parts)), tokens
        tokens = tokens[1:]


def _single(tokens: list[str]) -> tuple[Any, list[str]]:
    head, rest = tokens[0], tokens[1:]
    if head == "(":
        part, rest = _union(rest)
        return part, rest[1:]
    if head == "[":
        items = []
        while rest[0] != "]":
            if rest[1] == ":":  # a tuple's name for its place
                rest = rest[2:]
            part, rest = _union(rest)
            items.append(part)
            rest = rest[1:] if rest[0] == "," else rest
        return ("tuple", *items), rest[1:]
    if head == "{":
        fields = []
        while rest[0] != "}":
            name, rest = rest[0], rest[1:]
            optional = rest[0] == "?"
            part, rest = _union(rest[2:] if optional else rest[1:])
            fields.append((name, optional, part))
            rest = rest[1:] if rest[0] == ";" else rest
        return ("object", *fields), rest[1:]
    if head == "Record":
        _, rest = _union(rest[1:])
        part, rest = _union(rest[1:])
        return ("record", part), rest[1:]
    if head.startswith('"'):
        return ("literal", head[1:-1]), rest
    return ("name", head), rest
