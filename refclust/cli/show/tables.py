"""Tables of all commands, in every form they are written in: text, Markdown, LaTeX and CSV.

Heads and cells may hold text from data; they are escaped here, each for where it goes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from refclust.cli.output import columns
from refclust.escape import for_csv, for_latex, for_markdown, for_terminal, width

Form: TypeAlias = Literal["text", "markdown", "latex", "csv"]

_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]+)?|[+-]?inf")
_DIGITS: Final = re.compile(r"[0-9]+")
_INDENT: Final = "  "
MARK: Final = "*"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head, in columns of words or of numbers, which end at the same place."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: frozenset[int] = frozenset((0,))
    marked: frozenset[tuple[int, int]] = frozenset()  # cells that stand out: row and column

    @property
    def numbers(self) -> frozenset[int]:
        """The columns of numbers."""
        return frozenset(range(len(self.head))) - self.words


def written(table: Table, form: Form) -> str:
    """A table in the form that was asked for, without an end of its last line."""
    match form:
        case "text":
            return text(table)
        case "markdown":
            return markdown(table)
        case "latex":
            return latex(table)
        case "csv":
            return csv(table).removesuffix("\n")


def text(table: Table, *, most: int | None = None) -> str:
    """A table for a terminal; wider than ``most`` columns it goes on below, by columns.

    Spec: OUT-TERM

    >>> print(text(Table(["", "a", "b"], [["x", "1", "2"]], marked=frozenset([(0, 2)]))))
         a  b
      x  1  2*
    """
    cells = [[*map(for_terminal, row)] for row in (table.head, *table.rows)]
    with_marks = {place for _, place in table.marked}
    for i, row in enumerate(cells, start=-1):
        for j in with_marks:
            row[j] += MARK if (i, j) in table.marked else " "
    return "\n\n".join(
        "\n".join(
            _INDENT + line
            for line in columns(
                [[row[j] for j in block] for row in cells],
                right=frozenset(place for place, j in enumerate(block) if j in table.numbers),
            )
        )
        for block in _blocks(cells, most)
    )


def _blocks(cells: Sequence[Sequence[str]], most: int | None) -> list[list[int]]:
    """Which columns stand side by side; the first one names the rows of every block."""
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    if most is None or len(widths) < 3:
        return [list(range(len(widths)))]
    first = len(_INDENT) + widths[0]
    blocks, taken = [[0]], first
    for j, wide in enumerate(widths[1:], start=1):
        if taken + 2 + wide > most and len(blocks[-1]) > 1:
            blocks.append([0])
            taken = first
        blocks[-1].append(j)
        taken += 2 + wide
    return blocks


def markdown(table: Table) -> str:
    """A table as Markdown.

    Spec: OUT-MARKDOWN

    >>> print(markdown(Table(["", "a|b"], [["x", "1"]], marked=frozenset([(0, 1)]))))
    |  | a\\|b |
    | --- | ---: |
    | x | **1** |
    """
    rule = ["---:" if j in table.numbers else "---" for j in range(len(table.head))]
    rows = [
        [
            f"**{for_markdown(cell)}**" if (i, j) in table.marked else for_markdown(cell)
            for j, cell in enumerate(row)
        ]
        for i, row in enumerate(table.rows)
    ]
    lines = (list(map(for_markdown, table.head)), rule, *rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def latex(table: Table) -> str:
    """A table as LaTeX, which needs no package.

    Spec: OUT-LATEX
    """
    rows = []
    for i, row in enumerate(table.rows):
        cells = [
            _bold(cell) if (i, j) in table.marked else cell
            for j, cell in enumerate(_cells(row, table.numbers))
        ]
        rows.append(" & ".join(cells) + r" \\")
    kinds = "".join("lr"[j in table.numbers] for j in range(len(table.head)))
    head = " & ".join(_cells(table.head, frozenset())) + r" \\"
    body = "\n".join([head, r"\hline", *rows])
    return f"\\begin{{tabular}}{{{kinds}}}\n{body}\n\\end{{tabular}}"


def csv(table: Table) -> str:
    """A table as CSV; no text in it is a formula to a spreadsheet.

    Spec: DATA-FORMULA

    >>> csv(Table(["name", "p"], [["=f", "-1.5"]]))
    "name,p\\n'=f,-1.5\\n"
    """
    import csv as comma  # start-up is quicker without it
    import io

    lines = io.StringIO()
    writer = comma.writer(lines, lineterminator="\n")
    writer.writerows([for_csv(cell) for cell in row] for row in (table.head, *table.rows))
    return lines.getvalue()


def in_csv(value: float | None) -> str:
    """A number in CSV: the shortest digits that give it back, as other programs read it.

    >>> in_csv(0.1), in_csv(float("nan")), in_csv(float("-inf")), in_csv(None)
    ('0.1', 'NaN', '-Inf', '')
    """
    if value is None:
        return ""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return repr(float(value))


def in_latex(value: str) -> str:
    """A number as LaTeX has it.

    >>> in_latex("1.5e-07"), in_latex("-3"), in_latex("-inf")
    ('1.5\\\\cdot10^{-7}', '-3', '-\\\\infty')
    """
    if value.endswith("inf"):
        return value.replace("inf", r"\infty")
    mantissa, sign, exponent = value.partition("e")
    return mantissa + (f"\\cdot10^{{{int(exponent)}}}" if sign else "")


def _cells(row: Sequence[str], numbers: frozenset[int]) -> Iterator[str]:
    """The cells of a row; what only looks like a number, among words, may be a name: 1e5."""
    for j, cell in enumerate(row):
        numeral = (_NUMBER if j in numbers else _DIGITS).fullmatch(cell)
        yield f"${in_latex(cell)}$" if numeral else for_latex(cell)


def _bold(cell: str) -> str:
    """A cell in bold, numbers too, which do not listen to the text around them."""
    numeral = cell.startswith("$") and cell.endswith("$")
    return rf"$\mathbf{{{cell[1:-1]}}}$" if numeral else rf"\textbf{{{cell}}}"
