"""Golden vectors of chapter 07: scales, quantiles, gaps, categories, Gower's distance.

The witness knows no weights: a cell of weight 3 is written out three times. Quantiles are counted
out in the list of all cells, roots are left to the balls.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from .exact import Node, square_root
from .values import Irrational, Json, Undefined, Value, encode
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"
COLUMNS = {
    "two": ("0 10", "1 1"),
    "halves": ("1/2 3/2 3/2 -4", "1 1 1 1"),
    "weighted": ("1 2 4 9 9/2", "1 2 1 3 2"),
    "even": ("3 1 4 1 5 9 2 6", "1 1 1 1 1 1 1 1"),
    "odd": ("-7 0 22/7 0 100 1/3 8", "1 1 1 1 1 1 1"),
    "nothing-weighs": ("5 6 1000", "2 2 0"),
    "constant": ("3 3 3", "1 2 1"),
    "flat-middle": ("0 0 0 0 0 0 0 0 0 9", "1 1 1 1 1 1 1 1 1 1"),
    "quarters": ("1 2 3 4", "1 1 1 1"),
    "heavy-end": ("1 2 3 4", "1 1 1 9"),
}


def files() -> list[VectorFile]:
    """The file of chapter 07."""
    file = VectorFile("07-preparation/columns.json", SUBJECT, "Scales, gaps, categories, distances")
    for name, (cells, weights) in COLUMNS.items():
        _column(file, name, cells.split(), [int(w) for w in weights.split()])
    dice = random.Random(7)
    for number in range(6):
        drawn = [str(F(dice.randint(-50, 50), dice.choice([1, 2, 3, 8]))) for _ in range(9)]
        _column(file, f"drawn-{number}", drawn, [dice.randint(1, 4) for _ in range(9)])
    _gaps(file)
    _scaled(file)
    _categories(file)
    _gower(file)
    return [file]


def _copies(cells: list[str | None], weights: list[int]) -> list[F]:
    """Every cell that is there as often as it weighs, in rising order."""
    pairs = zip(cells, weights, strict=True)
    return sorted(F(cell) for cell, w in pairs if cell is not None for _ in range(w))


def _quantile(every: list[F], p: F) -> F:
    """By counting: the cell after p of all, or the middle of the two at a clean cut."""
    place = p * len(every)
    if place.denominator == 1 and 0 < place < len(every):
        return (every[int(place) - 1] + every[int(place)]) / 2
    return every[min(int(place), len(every) - 1)]


def _root(square: F) -> Value:
    whole = square_root(square)
    if whole is not None:
        return whole
    # The second road goes by the other number under the root.
    other = Node("/", (square, Node("sqrt", (square,))))
    return Irrational(Node("sqrt", (square,)), other)


def _column(file: VectorFile, name: str, cells: list[str], weights: list[int]) -> None:
    every = _copies([*cells], weights)
    n = len(every)
    mean = sum(every, F(0)) / n
    # By pairs, which is the same and written otherwise: 1/(2 n^2) of all squared differences.
    variance = sum(((x - y) ** 2 for x in every for y in every), F(0)) / (2 * n * n)
    quartiles = [_quantile(every, F(i, 4)) for i in (1, 2, 3)]
    expect: dict[str, Json] = {
        "prep_standard": encode((mean, _root(variance))),
        "prep_range": encode((every[0], every[-1] - every[0])),
        "prep_robust": encode((quartiles[1], quartiles[2] - quartiles[0])),
        "prep_mean": encode(mean),
        "prep_median": encode(quartiles[1]),
    }
    clauses = ["PREP-STANDARD", "PREP-RANGE", "PREP-ROBUST", "PREP-QUANTILE", "PREP-FILL"]
    given: dict[str, Json] = {"cells": [*cells], "weights": [*weights]}
    file.add(f"prep-column-{name}", given, expect, formulas=clauses)
    for share in ("1/10", "1/4", "1/2", "2/3", "9/10"):
        expect = {"prep_quantile": encode(_quantile(every, F(share)))}
        slug = f"prep-quantile-{name}-{share.replace('/', '.')}"
        file.add(slug, {**given, "share": share}, expect, formulas=["PREP-QUANTILE"])


def _gaps(file: VectorFile) -> None:
    for number, (text, weights) in enumerate(
        [("1 ? 4", [1, 5, 2]), ("? ? 7/3", [1, 1, 1]), ("9 1 ? 4 1/2 ?", [1, 2, 3, 1, 2, 9])]
    ):
        cells: list[str | None] = [None if cell == "?" else cell for cell in text.split()]
        every = _copies(cells, weights)
        expect: dict[str, Json] = {
            "prep_mean": encode(sum(every, F(0)) / len(every)),
            "prep_median": encode(_quantile(every, F(1, 2))),
        }
        given: dict[str, Any] = {"cells": [*cells], "weights": [*weights]}
        file.add(f"prep-gaps-{number}", given, expect, formulas=["PREP-FILL"])


def _scaled(file: VectorFile) -> None:
    for number, (text, c, s) in enumerate(
        [("7 4 -2", "4", "2"), ("1/2 0 3", "1/3", "3/7"), ("5", "0", "1"), ("-1 1", "1", "1/8")]
    ):
        cells = text.split()
        expect: dict[str, Json] = {
            "prep_scaled": encode(tuple(F(x) / F(s) - F(c) / F(s) for x in cells)),
            "prep_units": encode(tuple((F(x) + F(c) / F(s)) * F(s) for x in cells)),
        }
        given: dict[str, Json] = {"cells": [*cells], "centre": c, "divisor": s}
        file.add(f"prep-scaled-{number}", given, expect, formulas=["PREP-SCALED", "PREP-UNITS"])


def _categories(file: VectorFile) -> None:
    for number, (cell, categories, weight) in enumerate(
        [(2, [1, 2, 3], "1"), (1, [1], "1/2"), (9, [1, 2], "1"), (3, [3, 1, 2], "5/7")]
    ):
        places = [F(0)] * len(categories)
        if cell in categories:
            places[categories.index(cell)] = F(weight)
        given: dict[str, Json] = {"category": cell, "categories": [*categories], "weight": weight}
        expect: dict[str, Json] = {"prep_one_hot": encode(tuple(places))}
        file.add(f"prep-one-hot-{number}", given, expect, formulas=["PREP-ONEHOT", "PREP-UNSEEN"])


def _gower(file: VectorFile) -> None:
    tables: dict[str, tuple[list[list[Any]], list[int]]] = {
        "mixed": ([["1", 1, None], ["3", 2, "7"], ["9", 1, "5"]], [1]),
        "numbers": ([["0", "5/2"], ["1", "5/2"], ["4", "1/2"]], []),
        "categories": ([[1, 1, 2], [1, 2, 2], [2, 2, 1], [1, 1, 2]], [0, 1, 2]),
        "constant": ([["3", 1], ["3", 2], ["3", 1]], [1]),
        "gaps": ([["1", None], [None, 4], ["2", 4], ["5", 3]], [1]),
    }
    for name, (rows, nominal) in tables.items():
        distances: list[Value] = []
        for i in range(len(rows)):
            for k in range(i + 1, len(rows)):
                distances.append(_pair(rows, i, k, nominal))
        given: dict[str, Any] = {"table": [[*row] for row in rows], "nominal": [*nominal]}
        if any(isinstance(value, Undefined) for value in distances):
            expect: dict[str, Json] = {"gower": encode(Undefined())}
        else:
            expect = {"gower": encode(tuple(distances))}
        file.add(f"gower-{name}", given, expect, formulas=["DIST-GOWER"])


def _pair(rows: list[list[Any]], i: int, k: int, nominal: list[int]) -> Value:
    similar, both = F(0), 0  # Gower's own way: likeness first, then what is left of 1
    for j in range(len(rows[0])):
        a, b = rows[i][j], rows[k][j]
        if a is None or b is None:
            continue
        both += 1
        if j in nominal:
            similar += a == b
            continue
        cells = [F(row[j]) for row in rows if row[j] is not None]
        width = max(cells) - min(cells)
        similar += 1 - (abs(F(a) - F(b)) / width if width else 0)
    return 1 - similar / both if both else Undefined()
