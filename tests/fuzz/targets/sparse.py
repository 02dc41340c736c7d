"""Documents of the sparse formats: SVMlight, MatrixMarket, docword, LDA-C, CLUTO."""

from __future__ import annotations

from typing import Any, Final

from tests.fuzz.cases import Draw, Target
from tests.fuzz.mutations import Lines
from tests.fuzz.numerals import decimal, whole, word
from tests.fuzz.targets.reading import Document, reader_target
from tests.fuzz.targets.texts import after_changes, joined

_ENDS: Final = ("\n", "\n", "\n", "\r\n", "\r\n", "\r")
_SIZES: Final = ("0", "1", "-1", "1000000000", "9" * 18, "9" * 19, "9" * 5000, "1e3", "٣", "2.0")


def _rows(draw: Draw, n: int, d: int, make: Any = decimal) -> list[dict[int, str]]:
    """Sparse rows whose last column occurs, since some formats know no other width."""
    found = [{j: make(draw) for j in range(d) if draw.chance(0.4)} for _ in range(n)]
    found[draw.upto(n - 1)][d - 1] = draw.pick(("1", "2", "5"))
    return [dict(sorted(row.items())) for row in found]


def _expected(rows: list[dict[int, str]], changes: int) -> Any:
    return None if changes else {"rows": [{str(j): x for j, x in row.items()} for row in rows]}


def _svmlight(draw: Draw, changes: int) -> Document:
    rows = _rows(draw, draw.upto(8, 1), draw.upto(6, 1))
    base = draw.upto(1)
    labelled = draw.chance(0.7)
    lines: Lines = []
    for row in rows:
        cells = [f"{j + base}:{x}" for j, x in row.items()]
        if draw.chance(0.1) and labelled:
            cells.insert(0, f"qid:{whole(draw)}")
        if not cells and not labelled:
            cells = [f"{base}:0"]
        lines.append([*([str(draw.upto(3))] if labelled else []), *cells])
        if draw.chance(0.05):
            lines[-1].append(f"# {word(draw)}")
    expected = _expected(rows, changes)
    content = joined(draw, after_changes(draw, lines, changes), " ", _ENDS)
    return Document(content, {"base": base}, expected)


def _with_sizes(draw: Draw, lines: Lines, header: int, changes: int) -> Lines:
    """Now and then the sizes lie."""
    if changes and draw.chance(0.35):
        line = lines[header]
        line[draw.upto(len(line) - 1)] = draw.pick((*_SIZES, str(draw.upto(30))))
        changes -= 1
    return after_changes(draw, lines, changes)


def _matrixmarket(draw: Draw, changes: int) -> Document:
    field = draw.pick(("real", "real", "double", "integer", "pattern"))
    make = whole if field == "integer" else decimal
    symmetry = draw.pick(("general", "general", "general", "symmetric", "skew-symmetric"))
    n = draw.upto(6, 1)
    d = n if symmetry != "general" else draw.upto(6, 1)
    layout = "array" if field != "pattern" and draw.chance(0.4) else "coordinate"
    lines: Lines = [["%%MatrixMarket", "matrix", layout, field, symmetry]]
    lines += [["%", word(draw)] for _ in range(draw.upto(2) if draw.chance(0.3) else 0)]
    at, expected = len(lines), None
    skew = symmetry == "skew-symmetric"
    if layout == "array":
        dense = [[make(draw) for _ in range(d)] for _ in range(n)]
        lines.append([str(n), str(d)])
        below = symmetry != "general"
        first = [(j + skew if below else 0) for j in range(d)]
        lines += [[dense[i][j]] for j in range(d) for i in range(first[j], n)]
        if symmetry == "general" and not changes:
            expected = {"rows": dense}
    else:
        rows = _rows(draw, n, d, make)
        entries = [(i, j, x) for i, row in enumerate(rows) for j, x in row.items()]
        if symmetry != "general":
            entries = [entry for entry in entries if entry[0] >= entry[1] + skew]
        elif field != "pattern":
            expected = _expected(rows, changes)
        draw.shuffle(entries)
        lines.append([str(n), str(d), str(len(entries))])
        lines += [
            [str(i + 1), str(j + 1), *(() if field == "pattern" else (x,))] for i, j, x in entries
        ]
    content = joined(draw, _with_sizes(draw, lines, at, changes), " ", _ENDS)
    return Document(content, {}, expected)


def _docword(draw: Draw, changes: int) -> Document:
    n, d = draw.upto(6, 1), draw.upto(6, 1)
    rows = _rows(draw, n, d, lambda draw: str(draw.upto(9, 1)))
    entries = [[str(i + 1), str(j + 1), x] for i, row in enumerate(rows) for j, x in row.items()]
    lines: Lines = [[str(n)], [str(d)], [str(len(entries))], *entries]
    content = joined(draw, _with_sizes(draw, lines, draw.upto(2), changes), " ", _ENDS)
    return Document(content, {}, _expected(rows, changes))


def _ldac(draw: Draw, changes: int) -> Document:
    rows = _rows(draw, draw.upto(8, 1), draw.upto(6, 1), lambda draw: str(draw.upto(9, 1)))
    lines: Lines = [[str(len(row)), *(f"{j}:{x}" for j, x in row.items())] for row in rows]
    content = joined(draw, _with_sizes(draw, lines, draw.upto(len(lines) - 1), changes), " ", _ENDS)
    return Document(content, {}, _expected(rows, changes))


def _cluto(draw: Draw, changes: int) -> Document:
    n, d = draw.upto(6, 1), draw.upto(6, 1)
    if draw.chance(0.4):
        dense = [[decimal(draw) for _ in range(d)] for _ in range(n)]
        lines: Lines = [[str(n), str(d)], *([*row] for row in dense)]
        expected = None if changes else {"rows": dense}
    else:
        rows = _rows(draw, n, d)
        rows[-1][d - 1] = "1"  # an empty last line without its end would be no line
        count = sum(map(len, rows))
        pairs = [[cell for j, x in row.items() for cell in (str(j + 1), x)] for row in rows]
        lines = [[str(n), str(d), str(count)], *pairs]
        expected = _expected(rows, changes)
    content = joined(draw, _with_sizes(draw, lines, 0, changes), " ", _ENDS)
    return Document(content, {}, expected)


TARGETS: Final[tuple[Target, ...]] = (
    reader_target("svmlight", ".svm", _svmlight),
    reader_target("matrixmarket", ".mtx", _matrixmarket),
    reader_target("docword", ".docword", _docword),
    reader_target("ldac", ".ldac", _ldac),
    reader_target("cluto", ".mat", _cluto),
)
