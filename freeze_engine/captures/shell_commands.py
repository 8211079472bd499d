"""Splits a command line of the shell into the programs that it starts, as far as that is plain to see."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_ENDS: Final = frozenset(("&", "&&", "|", "||", "|&", ";", ";;", "(", ")", "\n"))
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_BEFORE_PROGRAM: Final = frozenset(("exec", "command", "time", "nice", "nohup", "env", "!", "{", "then", "do", "else"))

_EMPTYING: Final = ("-", "-i", "--ignore-environment")


def shell_commands(
    text: str, environment: Mapping[str, str]
) -> Iterator[tuple[Sequence[str], Mapping[str, str] | None]]:
    """Yields the programs of a command line with their arguments, and their environments where these differ.

    Expansions, loops and functions stay as they are written. A text that no shell can read yields nothing.

    Args:
        text: the command line.
        environment: of the shell.
    """
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars="();|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in [*lexer, ";"]:
            if word not in _ENDS:
                words.append(word)
                continue
            found = _program(words, environment)
            if found[0]:
                yield found
            words = []
    except ValueError:  # a quotation without an end
        return


def _program(words: Sequence[str], environment: Mapping[str, str]) -> tuple[Sequence[str], Mapping[str, str] | None]:
    """Returns a program with its arguments, without what precedes it."""
    changed: dict[str, str] = {}
    inherited = environment
    before = ""
    for place, word in enumerate(words):
        assigned = _ASSIGNMENT.fullmatch(word)
        if assigned is not None:
            changed[assigned[1]] = assigned[2]
        elif word in _BEFORE_PROGRAM:
            before = word
        elif before and (word.startswith("-") or word.isdecimal()):  # such as nice -n 5
            inherited = {} if before == "env" and word in _EMPTYING else inherited
        else:
            return words[place:], {**inherited, **changed} if changed or inherited is not environment else None
    return (), None
