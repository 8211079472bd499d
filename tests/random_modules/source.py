"""Writes the source of random modules; each line does one thing, so that a line named by evidence can be removed."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

HEADER = '''\
from typing import Dict, List, Tuple

import torch
from torch import Tensor, nn


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


def distinct(module: nn.Module, seed: int) -> nn.Module:
    """Gives every tensor values of its own; those of a batch norm that is not trained stay equal to others."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            if tensor.is_floating_point() and "plain" not in name:
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
    return module.eval()

'''
#: The shape of every module's input and output: a batch of 2, 4 channels, 5 × 5.
SHAPE = (2, 4, 5, 5)


@dataclass(frozen=True)
class Program:
    """A random module's source.

    Attributes:
        seed: of its random choices.
        source: of a Python file whose ``build()`` returns the module.
        preserved: names for ``preserved_attrs``.
        writes: the lines that write an attribute, without their indents.
        runs: whether the frozen module can run: torch 2.13 crashes if the body of a fork still reads attributes.
    """

    seed: int
    source: str
    preserved: tuple[str, ...] = ()
    writes: frozenset[str] = frozenset()
    runs: bool = True


@dataclass
class Body:
    """A class under construction.

    Attributes:
        fields: lines in the class body.
        init: lines of ``__init__``.
        forward: lines of ``forward``, which read and assign ``x``.
        methods: further methods, whole.
        names: of attributes that ``preserved_attrs`` could name.
    """

    fields: list[str] = field(default_factory=list)
    init: list[str] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class Writer:
    """Writes classes, deepest first.

    Args:
        seed: of all choices.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seed = seed
        self._classes: list[str] = []
        self._counter = 0
        self._forks = 0
        self._behind_interfaces = 0
        self._runs = True
        self._writes: set[str] = set()

    def program(self) -> Program:
        """Returns a whole program."""
        name, body = self._class(depth=self._random.choice((0, 1, 1, 2)))
        count = self._random.choice((0, 0, 0, 1, 2))
        preserved = tuple(sorted(self._random.sample(body.names, min(count, len(body.names)))))
        lines = [f"torch.manual_seed({self._seed})", f"return distinct({name}(), {self._seed})"]
        build = "def build() -> nn.Module:\n" + _indented(lines, 1) + "\n"
        source = HEADER + "\n".join((*self._classes, build))
        return Program(self._seed, source, preserved, frozenset(self._writes), self._runs)

    def _class(self, depth: int, base: str = "nn.Module") -> tuple[str, Body]:
        name, body = self._name("Net"), Body()
        for _ in range(self._random.randint(2, 5)):
            snippets = SNIPPETS + (NESTED if depth else ())
            self._random.choice(snippets)(self, body, depth)
        self._classes.append(_class_text(name, body))
        return name, body

    def _name(self, stem: str) -> str:
        self._counter += 1
        return f"{stem.lower() if stem[0].islower() else stem}{self._counter}"

    # -- attributes that are read

    def parameter(self, body: Body, depth: int) -> None:
        name = self._name("p")
        body.init.append(f"self.{name} = nn.Parameter(torch.ones(1, 4, 1, 1))")
        body.forward.append(f"x = x * self.{name}")
        body.names.append(name)

    def buffer(self, body: Body, depth: int) -> None:
        name = self._buffer(body)
        body.forward.append(f"x = x {self._random.choice('+-*/')} self.{name}")
        body.names.append(name)

    def unread(self, body: Body, depth: int) -> None:
        body.names.append(self._buffer(body))

    def flag(self, body: Body, depth: int) -> None:
        name = self._name("flag")
        body.init.append(f"self.{name} = {self._random.choice(('True', 'False'))}")
        body.forward += [f"if self.{name}:", "    x = x * 2.0"]

    def number(self, body: Body, depth: int) -> None:
        name = self._name("n")
        body.init.append(f"self.{name} = {self._random.randint(1, 3)}")
        body.forward += [f"for _ in range(self.{name}):", "    x = x + 1.0"]
        body.names.append(name)

    def numbers(self, body: Body, depth: int) -> None:
        name = self._name("sizes")
        body.fields.append(f"{name}: List[int]")
        body.init.append(f"self.{name} = [1, 2]")
        body.forward.append(f"x = x + self.{name}[1]")

    def tied(self, body: Body, depth: int) -> None:
        first, second = self._name("w"), self._name("tied")
        body.init += [f"self.{first} = nn.Parameter(torch.ones(1, 4, 1, 1))", f"self.{second} = self.{first}"]
        body.forward += [f"x = x * self.{first}", *self._maybe(f"x = x + self.{second}")]

    def tensors(self, body: Body, depth: int) -> None:
        name = self._name("items")
        body.fields.append(f"{name}: List[Tensor]")
        body.init.append(f"self.{name} = [torch.rand(1, 4, 1, 1), torch.rand(1, 4, 1, 1)]")
        body.forward.append(f"x = x + self.{name}[0]")

    def table(self, body: Body, depth: int) -> None:
        name = self._name("table")
        body.fields.append(f"{name}: Dict[str, Tensor]")
        body.init.append(f'self.{name} = {{"a": torch.rand(1, 4, 1, 1)}}')
        body.forward.append(f'x = x + self.{name}["a"]')

    def pair(self, body: Body, depth: int) -> None:
        name = self._name("pair")
        body.fields.append(f"{name}: Tuple[Tensor, Tensor]")
        body.init.append(f"self.{name} = (torch.rand(1, 4, 1, 1), torch.rand(1, 4, 1, 1))")
        body.forward.append(f"x = x + self.{name}[1]")

    # -- attributes that are written

    def set_number(self, body: Body, depth: int) -> None:
        name = self._name("count")
        body.init.append(f"self.{name} = 0")
        write = f"self.{name} = self.{name} + 1"
        body.forward += [*self._placed(write), f"x = x + self.{name}"]

    def set_text(self, body: Body, depth: int) -> None:
        name = self._name("mode")
        body.init.append(f'self.{name} = "a"')
        body.forward += ["x = x + 1.0", *self._placed(f'self.{name} = "b"'), f'if self.{name} == "a":', "    x = -x"]

    def set_tensor(self, body: Body, depth: int) -> None:
        name = self._buffer(body)
        body.forward += self._placed(f"self.{name} = x.mean((0, 2, 3), keepdim=True)")
        body.forward += self._maybe(f"x = x + self.{name}")

    def write_buffer(self, body: Body, depth: int) -> None:
        name = self._buffer(body)
        write = self._random.choice(
            (
                f"self.{name}.add_(1.0)",
                f"self.{name}[0].mul_(2.0)",
                f"self.{name}.view(-1).add_(1.0)",
                f"self.{name}[:, 1:3].zero_()",
                f"self.{name}.copy_(x.mean((0, 2, 3), keepdim=True))",
                f"torch.add(self.{name}, 1.0, out=self.{name})",
                f"self.{name}[0, 0] = 3.0",
            )
        )
        lines = [*self._placed(write), f"x = x + self.{name}"]
        body.forward += lines if self._random.random() < 0.8 else lines[::-1] if len(lines) == 2 else lines
        body.names.append(name)

    def write_through_list(self, body: Body, depth: int) -> None:
        first, second, items = self._buffer(body), self._buffer(body), self._name("items")
        body.forward += [f"{items} = [self.{first}, self.{second}]", *self._placed(f"{items}[0].add_(1.0)")]
        body.forward.append(f"x = x + self.{first} + self.{second}")

    def write_through_tuple(self, body: Body, depth: int) -> None:
        first, second, items = self._buffer(body), self._buffer(body), self._name("items")
        body.forward += [f"{items} = (self.{first}, self.{second})", *self._placed(f"{items}[1].add_(1.0)")]
        body.forward.append(f"x = x + self.{first} + self.{second}")

    def write_shared_memory(self, body: Body, depth: int) -> None:
        first, second = self._buffer(body), self._name("b")
        body.init.append(f'self.register_buffer("{second}", self.{first}{self._random.choice(("", "[:1]"))})')
        body.forward += self._placed(f"self.{first}.add_(1.0)")
        if self._random.random() < 0.4:
            body.forward += self._placed(f"self.{second}.mul_(0.5)")
        body.forward.append(f"x = x + self.{first} + self.{second}")

    def write_held_list(self, body: Body, depth: int) -> None:
        name = self._name("items")
        body.fields.append(f"{name}: List[Tensor]")
        body.init.append(f"self.{name} = [torch.rand(1, 4, 1, 1), torch.rand(1, 4, 1, 1)]")
        body.forward += [*self._placed(f"self.{name}[0].add_(1.0)"), f"x = x + self.{name}[1]"]

    def write_held_numbers(self, body: Body, depth: int) -> None:
        """A list or dictionary of numbers, written directly, through another list, or whole."""
        name = self._name("numbers")
        kind, value, writes = self._random.choice(
            (
                ("List[int]", "[3, 4]", ("{}.append(1)", "{}.sort()", "{} = [x.size(0), 5]", "[{}][0].append(9)")),
                ("Dict[str, int]", '{"a": 3}', ('{}["c"] = 4', '{}.update({{"d": 1}})', "{}.clear()")),
            )
        )
        body.fields.append(f"{name}: {kind}")
        body.init.append(f"self.{name} = {value}")
        body.forward += [*self._placed(self._random.choice(writes).format(f"self.{name}")), f"x = x + len(self.{name})"]

    def unpacked(self, body: Body, depth: int) -> None:
        """A list or tuple that is taken apart."""
        name = self._name("several")
        kind, value = self._random.choice(
            (("List[int]", "[3, 4]"), ("Tuple[int, Tensor]", "(3, torch.rand(1, 4, 1, 1))"))
        )
        body.fields.append(f"{name}: {kind}")
        body.init.append(f"self.{name} = {value}")
        body.forward += [f"{name}a, {name}b = self.{name}", f"x = x * {name}a + {name}b"]

    # -- what folds

    def conv(self, body: Body, depth: int) -> None:
        name = self._name("conv")
        body.init.append(f"self.{name} = nn.Conv2d(4, 4, {self._random.choice(('1', '3, padding=1'))})")
        body.forward.append(f"x = self.{name}(x)")
        if self._random.random() < 0.7:
            self._norm(body)
        if self._random.random() < 0.5:
            scale = self._buffer(body)
            body.forward.append(f"x = x {self._random.choice('+-*/')} self.{scale}")

    def linear(self, body: Body, depth: int) -> None:
        name = self._name("linear")
        body.init.append(f"self.{name} = nn.Linear(5, 5)")
        body.forward.append(f"x = self.{name}(x)")
        if self._random.random() < 0.4:
            self._norm(body)

    def flat_linear(self, body: Body, depth: int) -> None:
        linear, norm = self._name("linear"), self._name("norm")
        body.init += [f"self.{linear} = nn.Linear(4, 4)", f"self.{norm} = nn.BatchNorm1d(4)"]
        body.forward.append(f"x = x + self.{norm}(self.{linear}(x.mean((2, 3)))).unsqueeze(2).unsqueeze(3)")

    def norm(self, body: Body, depth: int) -> None:
        self._norm(body)

    def dropout(self, body: Body, depth: int) -> None:
        name = self._name("drop")
        body.init.append(f"self.{name} = nn.Dropout()")
        body.forward.append(f"x = self.{name}(x)")

    def recurrent(self, body: Body, depth: int) -> None:
        name, kind = self._name("rnn"), self._random.choice(("LSTM", "GRU"))
        body.init.append(f"self.{name} = nn.{kind}(4, 4)")
        body.forward.append(f"x = x + self.{name}(x.mean(3).permute(2, 0, 1))[0].permute(1, 2, 0).unsqueeze(3)")

    # -- submodules

    def nested(self, body: Body, depth: int) -> None:
        name, kind = self._name("sub"), self._class(depth - 1)[0]
        body.init.append(f"self.{name} = {kind}()")
        body.forward.append(f"x = self.{name}(x)")
        body.names.append(name)

    def twice(self, body: Body, depth: int) -> None:
        first, second, kind = self._name("sub"), self._name("sub"), self._class(depth - 1)[0]
        body.init += [f"self.{first} = {kind}()", f"self.{second} = {kind}()"]
        body.forward += [f"x = self.{first}(x)", f"x = x + self.{second}(x)"]

    def looped(self, body: Body, depth: int) -> None:
        """Parts in a list or dictionary that a loop goes through, whose names torch leaves out of their paths.

        torch compiles none behind an interface.
        """
        if self._behind_interfaces:
            return self.nested(body, depth)
        name, each, kind = self._name("parts"), self._name("each"), self._class(depth - 1)[0]
        if self._random.random() < 0.5:
            body.init.append(f"self.{name} = nn.ModuleList([{kind}(), {kind}()])")
            body.forward += [f"for {each} in self.{name}:", f"    x = {each}(x)"]
        else:
            body.init.append(f'self.{name} = nn.ModuleDict({{"u": {kind}(), "v": {kind}()}})')
            body.forward += [f"for {each} in self.{name}.values():", f"    x = x + {each}(x)"]
        return None

    def two_names(self, body: Body, depth: int) -> None:
        first, second, kind = self._name("sub"), self._name("sub"), self._class(depth - 1)[0]
        body.init += [f"self.{first} = {kind}()", f"self.{second} = self.{first}"]
        body.forward += [f"x = self.{first}(x)", *self._maybe(f"x = self.{second}(x)")]

    def interface(self, body: Body, depth: int) -> None:
        self._runs = self._runs and not self._forks
        self._behind_interfaces += 1
        name, kind = self._name("impl"), self._class(depth - 1)[0]
        self._behind_interfaces -= 1
        body.fields.append(f"{name}: Layer")
        body.init.append(f"self.{name} = {kind}()")
        body.forward.append(f"x = self.{name}(x)")

    def forked_submodule(self, body: Body, depth: int) -> None:
        self._forks += 1
        name, future, kind = self._name("sub"), self._name("future"), self._class(depth - 1)[0]
        self._forks -= 1
        body.init.append(f"self.{name} = {kind}()")
        body.forward += [f"{future} = torch.jit.fork(self.{name}, x)", self._waited(future)]

    def forked_method(self, body: Body, depth: int) -> None:
        method, future, inner = self._name("part"), self._name("future"), Body()
        self._forks += 1
        for _ in range(self._random.randint(1, 3)):
            self._random.choice(SNIPPETS)(self, inner, 0)
        self._forks -= 1
        body.fields += inner.fields
        body.init += inner.init
        body.methods += [*inner.methods, _method_text(method, inner.forward)]
        body.forward += [f"{future} = torch.jit.fork(self.{method}, x)", self._waited(future)]

    # -- parts

    def _waited(self, future: str) -> str:
        """Returns a wait, which torch counts as a write to all that lists, tuples and dictionaries hold."""
        line = f"x = torch.jit.wait({future})"
        self._writes.add(line)
        return line

    def _buffer(self, body: Body) -> str:
        name = self._name("b")
        body.init.append(f'self.register_buffer("{name}", torch.ones(1, 4, 1, 1))')
        return name

    def _norm(self, body: Body) -> None:
        name = self._name(self._random.choice(("norm", "plain")))
        body.init.append(f"self.{name} = nn.BatchNorm2d(4)")
        body.forward.append(f"x = self.{name}(x)")

    def _maybe(self, line: str) -> list[str]:
        return [line] if self._random.random() < 0.6 else []

    def _placed(self, line: str) -> list[str]:
        """Returns a line that writes, plain, in a branch, or in a loop."""
        self._runs = self._runs and not self._forks
        self._writes.add(line)
        around = self._random.choice(("", "", "", "if x.size(0) > 1:", "for _ in range(2):"))
        return [around, f"    {line}"] if around else [line]


Snippet = Callable[[Writer, Body, int], None]
SNIPPETS: tuple[Snippet, ...] = (
    *(Writer.parameter, Writer.buffer, Writer.unread, Writer.flag, Writer.number, Writer.numbers, Writer.tied),
    *(Writer.tensors, Writer.table, Writer.pair, Writer.set_number, Writer.set_text, Writer.set_tensor),
    *(Writer.write_buffer, Writer.write_buffer, Writer.write_through_list, Writer.write_through_tuple),
    *(
        Writer.write_shared_memory,
        Writer.write_held_list,
        Writer.write_held_numbers,
        Writer.unpacked,
        Writer.conv,
        Writer.conv,
        Writer.linear,
    ),
    *(Writer.flat_linear, Writer.norm, Writer.dropout, Writer.recurrent),
)
NESTED: tuple[Snippet, ...] = (
    *(Writer.nested, Writer.nested, Writer.twice, Writer.two_names, Writer.interface),
    *(Writer.forked_submodule, Writer.forked_method, Writer.looped),
) * 2


def _class_text(name: str, body: Body) -> str:
    init = ["super().__init__()", *body.init]
    parts = [f"class {name}(nn.Module):"]
    if body.fields:
        parts.append(_indented(body.fields, 1) + "\n")
    parts += ["    def __init__(self):", _indented(init, 2), "", _method_text("forward", body.forward)]
    return "\n".join((*parts, *body.methods)) + "\n"


def _method_text(name: str, lines: list[str]) -> str:
    return f"    def {name}(self, x: Tensor) -> Tensor:\n" + _indented([*lines, "return x"], 2) + "\n"


def _indented(lines: list[str], depth: int) -> str:
    return textwrap.indent("\n".join(lines), "    " * depth)
