"""A table of counts drawn in a terminal: every cell shaded by its share of the row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from refclust.cli.output import can_show, room
from refclust.escape import for_terminal, left, right, width
from refclust.numbers.reading import told as number

if TYPE_CHECKING:
    from refclust.formulas.evidence import Evidence, Grid

BLOCKS: Final = " ░▒▓█"
SIGNS: Final = " .:+#"  # where the terminal has no blocks
_LONGEST: Final = 24  # columns of a name
_BAR: Final = 2  # signs of shade beside a number


def drawn(evidence: Evidence) -> Iterator[str]:
    """Draw the table behind a score, or say in words why there is none."""
    grid = evidence.grid()
    if grid is None or grid.row_sums is None:
        yield "there is no table to draw"
        return
    if grid.is_large:
        yield f"{len(grid.rows)} rows and {len(grid.columns)} columns: too many to draw"
        return
    shades = BLOCKS if can_show(BLOCKS) else SIGNS
    yield grid.caption
    yield from shaded(grid, shades, most=room())
    yield f"  {_legend(shades)}"


def shaded(grid: Grid, shades: str, *, most: int | None = None) -> Iterator[str]:
    """The lines of a drawing; one that is wider than the terminal goes on below, by columns."""
    names = _short([name for name, _ in grid.rows])
    heads = _short(grid.columns)
    sums = grid.row_sums or tuple(sum(numbers) for _, numbers in grid.rows)
    cells = [
        [f"{_shade(count, total, shades) * _BAR} {number(count)}".lstrip() for count in counts]
        for (_, counts), total in zip(grid.rows, sums, strict=True)
    ]
    total = "sum" if shades is SIGNS else "Σ"
    first = max(map(width, [*names, total]))
    margins = [number(sum_) for sum_ in sums]
    corner = "" if grid.total is None else number(grid.total)
    last = max(map(width, [total, *margins, corner]))
    below = [number(sum_) for sum_ in grid.column_sums or ()]
    widths = _widths(heads, *cells, below)
    for block in _blocks(widths, first + last + 4, most):
        wide = {j: widths[j] for j in block}

        def line(name: str, row: Sequence[str], sum_: str, at: dict[int, int] = wide) -> str:
            parts = [left(name, first), *(right(row[j], at[j]) for j in at), right(sum_, last)]
            return ("  " + "  ".join(parts)).rstrip()

        if block[0]:
            yield ""
        yield line("", heads, total)
        for name, row, sum_ in zip(names, cells, margins, strict=True):
            yield line(name, row, sum_)
        if below:
            yield line(total, below, corner)


def _widths(*rows: Sequence[str]) -> list[int]:
    return [max(map(width, column)) for column in zip(*filter(None, rows), strict=True)]


def _blocks(widths: Sequence[int], around: int, most: int | None) -> list[list[int]]:
    """Which columns are drawn side by side."""
    blocks: list[list[int]] = [[]]
    taken = around
    for j, wide in enumerate(widths):
        if blocks[-1] and most is not None and taken + 2 + wide > most:
            blocks.append([])
            taken = around
        blocks[-1].append(j)
        taken += 2 + wide
    return blocks


def _shade(count: int | Fraction, total: int | Fraction, shades: str) -> str:
    """No shade for nothing; the others change at 3, 5 and 7 eighths of the row."""
    if not count or not total:
        return shades[0]
    return shades[max(1, int(Fraction(count) / Fraction(total) * 4 + Fraction(1, 2)))]


def _legend(shades: str) -> str:
    return f"shade by share of the row: {' '.join(sign * _BAR for sign in shades[1:])}"


def _short(names: Sequence[object]) -> list[str]:
    """Names cut to what a table can take, unless two of them would be the same then."""
    full = [for_terminal(name) for name in names]
    end = "…" if can_show("…") else "~"
    cut = [name if width(name) <= _LONGEST else _cut(name) + end for name in full]
    return cut if len(set(cut)) == len(set(full)) else full


def _cut(name: str) -> str:
    while width(name) > _LONGEST - 1:
        name = name[:-1]
    return name
