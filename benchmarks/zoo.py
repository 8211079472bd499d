"""The table of the zoo: which architectures are recorded, and whether the recordings are right.

``make zoo`` runs the sweep of ``examples/zoo.toml`` and prints this.
``python -m benchmarks.zoo FOLDER > docs/zoo.md`` renews the page, with what the folder has.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from freeze_engine.sweep import Sweep, SweepRow, read_sweep

_HEAD = """\
# The zoo

`examples/zoo.toml` lists {architectures} architectures of torch, torchvision, timm and transformers, with random
weights and small inputs. `make zoo` records each, TorchScript and Inductor, and prints this table; a run that was ended
continues. The table has what was run so far{place}, and nothing else: {done} of {total} recordings.

- *outputs*: the largest absolute error of the frozen model's outputs against eager's. *Equal* is exactly equal; *close*
  is within the defaults of `torch.testing.assert_close`.
- *fates*: whether the frozen module has, by `hasattr`, just what the recording says, for every parameter, buffer and
  value (`--check attributes`). What `torch.compile` returns has no attributes to look up.
- *notices*: their codes.
- *took*: the whole recording with the start of its process, on a busy machine; no figure of speed.
"""


def zoo_page(found: Sweep) -> str:
    """Returns the page of a zoo's sweep as Markdown."""
    rows = found.rows
    machines = sorted({f"torch {row.torch}, {row.machine}" for row in rows})
    # The labels of what is missing begin with the model, too.
    names = {row.model for row in rows} | {label.partition(" ·")[0] for label in found.waiting}
    head = _HEAD.format(
        architectures=len(names),
        place=f" ({'; '.join(machines)})" if machines else "",
        done=len(rows),
        total=len(rows) + len(found.waiting),
    )
    return "\n".join([head, *_counts(rows), "", *_table(rows)]) + "\n"


def _counts(rows: Sequence[SweepRow]) -> Iterator[str]:
    yield "| package | backend | recorded | outputs close | fates true |"
    yield "|---|---|---|---|---|"
    groups = Counter((_package(row), row.backend) for row in rows)
    for (package, backend), count in groups.items():
        members = [row for row in rows if (_package(row), row.backend) == (package, backend)]
        recorded = [row for row in members if row.is_recorded]
        compared = [row for row in recorded if row.is_close is not None]
        looked_up = [row for row in recorded if row.checks_passed or row.checks_failed]
        yield (
            f"| {package} | {backend} | {len(recorded)} of {count} "
            f"| {sum(row.is_close is True for row in compared)} of {len(compared)} "
            f"| {_of(sum(not row.checks_failed for row in looked_up), len(looked_up))} |"
        )


def _of(count: int, total: int) -> str:
    return f"{count} of {total}" if total else ""


def _table(rows: Sequence[SweepRow]) -> Iterator[str]:
    yield "| architecture | backend | recorded | outputs | fates | passes | notices | took |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        name = f"{_package(row)} {row.model.partition('_')[2]}"
        reason = row.reason.replace("|", "\\|").replace("<", "&lt;")
        recorded = "yes" if row.is_recorded else f"{row.status.replace('_', ' ')}: {reason}"
        codes = ", ".join(f"`{code}`" for code in row.notice_codes)
        passes = "" if row.steps is None else str(row.steps)
        took = f"{row.time_s:.0f} s"
        cells = (name, row.backend, recorded, _outputs(row), _fates(row), passes, codes, took)
        yield f"| {' | '.join(cells)} |"


def _package(row: SweepRow) -> str:
    return row.model.partition("_")[0]


def _outputs(row: SweepRow) -> str:
    if row.max_abs_error is None:
        return row.unmeasured.replace("|", "\\|").partition("\n")[0] or ("not compared" if row.is_recorded else "")
    if row.max_abs_error == 0:
        return "equal"
    return f"{'close' if row.is_close else '**past tolerance**'}, {row.max_abs_error:.1e}"


def _fates(row: SweepRow) -> str:
    return "**wrong**" if row.checks_failed else "true" if row.checks_passed else ""


def main() -> None:
    print(zoo_page(read_sweep(Path(sys.argv[1]))), end="")


if __name__ == "__main__":
    main()
