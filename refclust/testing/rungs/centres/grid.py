"""The grid of k-means: sizes, kinds of numbers, storage, weights and centres, in combination.

Any two of the eight factors (in the long kit any three) take all combinations of their levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from refclust.cluster.directions import unit_rows
from refclust.data.dataset import Dataset
from refclust.kernels.points import Points, Vector
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import LEAST, Rung, RungKind, dense_of, sparse_of, weighted_singles
from refclust.testing.rungs.design import orthogonal

ROWS: Final = (1, 2, 5, 16, 33, 65, 130)
COLUMNS: Final = (1, 2, 3, 4, 7, 8, 17)
CLUSTERS: Final = (1, 2, 3, 5, 9, 17, 34)
NUMBERS: Final = ("decimals", "integers", "offset", "least", "largest", "mixed", "zeros")
STORAGE: Final = (
    *("dense", "float32", "sparse", "sparse, 32-bit columns", "sparse float32"),
    *("sparse, columns of a byte", "sparse, stored zeros"),
)
WEIGHTS: Final = ("none", "ones", "halves", "fractions", "counts", "wild", "minus zero")
PATTERNS: Final = ("different", "twice", "equal", "opposite", "one far", "steps", "last empty")
CENTRES: Final = (
    *("rows", "middles", "equal", "far"),
    *("cosine rows", "cosine middles", "cosine equal"),
)
LEVELS: Final = (ROWS, COLUMNS, CLUSTERS, NUMBERS, STORAGE, WEIGHTS, PATTERNS, CENTRES)


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of levels."""

    n: int
    d: int
    k: int
    numbers: str
    storage: str
    weights: str
    pattern: str
    centres: str


def grid(*, quick: bool) -> Rung:
    """All combinations of any two factors, or of any three."""
    strength = 2 if quick else 3
    why = f"sizes, numbers, storage, weights and centres: all combinations of any {strength}"
    cells = (
        Cell(*(levels[i] for levels, i in zip(LEVELS, row, strict=True)))  # type: ignore[arg-type]
        for row in orthogonal(7, strength, 8)
    )
    name = "pairs-of-factors" if quick else "triples-of-factors"
    return Rung(name, why, "several", tuple(map(rung_of_cell, cells)), quick=quick)


def rung_of_cell(cell: Cell) -> Rung:
    """The data and centres of one combination."""
    rng = stream(hash_of(cell))
    cosine = cell.centres.startswith("cosine")
    rows = _rows(cell, rng, cosine)
    data = _stored(cell, rows, weights_like(cell.weights, cell.n, rng))
    if cosine:
        data = unit_rows(data)
    centres = _centres(cell, data, rng)
    kind: RungKind = "cosine-steps" if cosine else "steps"
    return Rung(_name(cell), "", kind, data, cell.k, centres)


def hash_of(cell: Cell) -> int:
    """A seed of its own for each combination, the same in every run.

    Spec: none (made-up data)
    """
    return sum((i + 1) * ord(c) for i, c in enumerate(repr(cell)))


def _name(cell: Cell) -> str:
    return f"{cell.n} x {cell.d}, K = {cell.k}, {cell.numbers}, {cell.storage}, {cell.pattern}"


def _number(cell: Cell, rng: Random) -> float:
    """A number of a kind; 32-bit floats have ends of their own."""
    singles = "float32" in cell.storage
    low, high = (2.0**-149, 2.0**127) if singles else (LEAST, 2.0**1023)
    number = below(rng, 9) - 4
    match cell.numbers:
        case "decimals":
            return round(6.0 * rng.random() - 3.0, 3)
        case "integers":
            return float(number * (65537 if rng.random() < 0.3 else 1))
        case "offset":
            return (4096.0 if singles else 1e9) + number * 2.0**-10
        case "least":
            return number * low
        case "largest":
            return number / 4 * high
        case "mixed":
            return (number or 1) * (1.0, low, high / 8, 0.1, 1e-30)[below(rng, 5)]
    return (0.0, -0.0, 1.0, -1.0)[below(rng, 4)]


def _rows(cell: Cell, rng: Random, cosine: bool) -> list[Vector]:
    rows = [tuple(_number(cell, rng) for _ in range(cell.d)) for _ in range(cell.n)]
    match cell.pattern:
        case "twice":
            rows = [rows[i // 2] for i in range(cell.n)]
        case "equal":
            rows = [rows[0]] * cell.n
        case "opposite":
            rows = [tuple(-x for x in rows[i // 2]) if i % 2 else rows[i] for i in range(cell.n)]
        case "one far":
            rows[-1] = tuple(x * 4.0 if abs(x) < 1e30 else x for x in rows[-1])
        case "steps":
            rows = [(rows[i // 7][0], *rows[i][1:]) for i in range(cell.n)]
        case "last empty":
            rows[-1] = (0.0,) * cell.d
    if cosine:
        rows = [row if any(row) else (1.0, *row[1:]) for row in rows]
    return rows


def weights_like(kind: str, n: int, rng: Random) -> list[float] | None:
    """Weights of a kind; where some are 0 the first one is, but not the last.

    Spec: none (made-up data)
    """
    few: Sequence[float]
    match kind:
        case "none":
            return None
        case "ones":
            return [1.0] * n
        case "halves":
            return [0.5] * n
        case "fractions":
            few = (0.1, 2.5, 1 / 3, 7.0, 0.0, 1e-3)
        case "counts":
            few = (2.0**31, 2.0**31 - 1, 2.0**32 + 1, 2.0**53, 255.0, 257.0)
        case "wild":
            few = (LEAST, 1e-310, 1.0, 1e300, 2.0**-1060, 1.7e308)
        case _:
            few = (1.0, -0.0, 2.0, 0.0, 0.25)
    weights = [few[below(rng, len(few))] for _ in range(n)]
    if n > 1 and kind in ("fractions", "minus zero"):
        weights[0] = 0.0 if kind == "fractions" else -0.0
    weights[-1] = few[0]
    return weights


def _stored(cell: Cell, rows: Sequence[Vector], weights: Sequence[float] | None) -> Dataset:
    if cell.storage == "dense":
        return dense_of(rows, weights)
    if cell.storage == "float32":
        return weighted_singles(rows, weights)
    # A column of zeros that no row has may come last, so that the last number is not at the end.
    kept = "zeros" in cell.storage
    maps = [{j: x for j, x in enumerate(row) if x or kept} for row in rows]
    indices = {"sparse, 32-bit columns": "i", "sparse, columns of a byte": "B"}
    values = "f" if "float32" in cell.storage else "d"
    code = indices.get(cell.storage, "q")
    return sparse_of(maps, cell.d, indices=code, starts="q", values=values, weights=weights)


def _centres(cell: Cell, data: Dataset, rng: Random) -> tuple[Vector, ...]:
    points = Points(data)
    rows = [points.whole_row(i) for i in range(data.n)]
    kind = cell.centres.removeprefix("cosine ")

    def centre_of(k: int) -> Vector:
        row, other = rows[k % data.n], rows[below(rng, data.n)]
        if kind == "middles":
            row = tuple(x / 2 + y / 2 for x, y in zip(row, other, strict=True))
        elif kind == "far":
            row = tuple(-x / 2 + k for x in row)
        elif k >= data.n:
            row = tuple(x / 2 + k / 8 for x in other)
        return row if any(row) or "cosine" not in cell.centres else (1.0 + k, *row[1:])

    centres = [centre_of(k) for k in range(cell.k)]
    if kind == "equal" and cell.k > 1:
        centres[-1], centres[cell.k // 2] = centres[0], centres[0]
    assert all(math.isfinite(x) for centre in centres for x in centre)
    return tuple(centres)
