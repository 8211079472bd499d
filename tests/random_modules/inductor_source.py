"""Writes the source of random modules for `torch.compile`: a use of an attribute decides its fate."""

from __future__ import annotations

import random

from tests.random_modules.source import Program

#: The shape of what goes through every module: rows of more than the 8 elements that are written into generated code.
SHAPE = (3, 12)
_HEADER = """\
import torch
from torch import nn


def values(seed):
    return torch.rand(12, generator=torch.Generator().manual_seed(seed)) + 0.5

"""
_BUFFER = "self.register_buffer('{n}', values({i}))"
_PARAMETER = "self.{n} = nn.Parameter(values({i}), requires_grad=False)"
_PLAIN = "self.{n} = values({i})"
_LIST = "self.{n} = [values({i}), values({i} + 100)]"
_HELD = (_BUFFER, _PARAMETER, _PLAIN)
#: Lines of ``forward``, each with what may hold the tensor that they use.
_USES = (
    (("x = x + self.{n}",), _HELD),
    (("x = x * (self.{n} * 2.0 + 1.0)",), _HELD),
    (("x = x + self.{n}.reshape(1, 12).expand(3, 12)",), _HELD),
    (("x = x @ torch.diag(self.{n})",), _HELD),
    (("self.{n}.add_(1.0)", "x = x + self.{n}"), (_BUFFER, _PLAIN)),
    (("self.{n}[1:3].mul_(0.5)", "x = x * self.{n}"), (_BUFFER, _PLAIN)),
    (("out.append(self.{n}.view(3, 4))",), _HELD),
    (("out.append(self.{n})",), _HELD),
    (("out.append({{'kept': self.{n}}})",), _HELD),
    (("x = x - self.{n}", "out.append(self.{n})"), _HELD),
    (("x = x * (self.{n} + 0.5)", "out.append((x, self.{n}))"), _HELD),
    (("x = x.reshape(3, self.{n}.shape[0])",), _HELD),
    (("x = x + torch.zeros_like(self.{n})",), _HELD),
    (("unused = self.{n} * 3.0",), _HELD),
    (("x = x + 0.25",), _HELD),
    (("x = x + self.{n}[0]", "out.append(self.{n}[1])"), (_LIST,)),
    (("out.append(self.{n}.clone())",), _HELD),
    (("x = x / (self.{n} * self.{n}).sum()",), _HELD),
)
_ASSIGNED = (("self.{n} = 0.5 * self.{n} + x.mean()", "x = x + self.{n}"), (_BUFFER, _PLAIN))
_LAYERS = (
    ("self.{n} = nn.Linear(12, 12)", "x = self.{n}(x)"),
    ("self.{n} = nn.LayerNorm(12)", "x = self.{n}(x)"),
    ("self.{n} = nn.Conv1d(3, 3, 1)", "x = self.{n}(x.unsqueeze(0)).squeeze(0)"),
    ("self.{n} = nn.BatchNorm1d(12)", "x = self.{n}(x)"),
)


def program(seed: int) -> Program:
    """Returns the source of a random module; the same seed gives the same one.

    Args:
        seed: every fifth makes a module that assigns one of its attributes, every seventh one with a graph break.
    """
    chosen = random.Random(seed)
    inner = _class("Inner", chosen, chosen.randint(1, 3), ())
    extra: list[tuple[tuple[str, ...], tuple[str, ...]]] = [_ASSIGNED] if seed % 5 == 4 else []
    if seed % 7 == 6:
        extra.append((("x = self.eagerly(x, self.{n})",), _HELD))
    outer = _class("Outer", chosen, chosen.randint(4, 7), extra, inner="Inner")
    build = "def build():\n    torch.manual_seed(0)\n    return Outer().eval()\n"
    return Program(seed, "\n\n".join((_HEADER, inner, outer, build)))


def _class(name: str, chosen: random.Random, count: int, extra: object, inner: str = "") -> str:
    assert isinstance(extra, (tuple, list))
    uses = [chosen.choice(_USES) for _ in range(count)] + list(extra)
    made = []
    for number, (lines, holders) in enumerate(uses):
        words = {"n": f"a{number}", "i": chosen.randint(1, 99)}
        made.append((chosen.choice(holders).format(**words), [line.format(**words) for line in lines]))
    for number in range(chosen.randint(0, 2)):
        init, line = chosen.choice(_LAYERS)
        made.append((init.format(n=f"layer{number}"), [line.format(n=f"layer{number}")]))
    if inner:
        made.append((f"self.part = {inner}()", ["x, *more = self.part(x)", "out.extend(more)"]))
    chosen.shuffle(made)
    if chosen.random() < 0.3:
        made.append(("self.twin = self.a0", ["x = x + 0.125"]))
    held = [init for init, _ in made]
    lines = [line for _, uses in made for line in uses]
    return (
        f"class {name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "".join(f"        {line}\n" for line in sorted(held, key=lambda line: "self.twin" in line))
        + "\n    @torch._dynamo.disable\n    def eagerly(self, x, held):\n        return x * held\n"
        + "\n    def forward(self, x):\n        out = []\n"
        + "".join(f"        {line}\n" for line in lines)
        + "        return (x, *out)\n"
    )
