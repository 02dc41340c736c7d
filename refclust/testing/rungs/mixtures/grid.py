"""The grid of mixtures: sizes, numbers, weights, forms and rules, in combination (chapter 81)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from refclust.data.dataset import Dataset
from refclust.kernels.points import Vector
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import Rung, dense_of, sparse_of, weighted_singles
from refclust.testing.rungs.centres.grid import weights_like
from refclust.testing.rungs.design import orthogonal, sizes

ROWS: Final = (1, 2, 5, 17, 33, 65, 130)
COLUMNS: Final = (1, 2, 3, 4, 5, 8, 9)
COMPONENTS: Final = (1, 2, 3, 4, 8, 9, 17)
NUMBERS: Final = ("decimals", "integers", "offset", "small", "large", "few", "zeros")
STORAGE: Final = ("dense", "float32", "dense", "float32", "dense", "sparse", "sparse float32")
WEIGHTS: Final = ("none", "ones", "halves", "fractions", "counts", "small", "minus zero")
LEVELS: Final = (ROWS, COLUMNS, COMPONENTS, NUMBERS, STORAGE, WEIGHTS)


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of levels."""

    n: int
    d: int
    k: int
    numbers: str
    storage: str
    weights: str


def mixture_grid(*, quick: bool) -> Rung:
    """Combinations of any two factors; in the short kit every third one of them."""
    cells = [
        Cell(*(levels[i] for levels, i in zip(LEVELS, row, strict=True)))  # type: ignore[arg-type]
        for row in orthogonal(7, 2, 6)
    ]
    small = [cell for cell in cells if cell.n * cell.d * cell.k <= 600]
    rungs = tuple(map(_rung, small[::3] if quick else cells))
    why = "mixtures: sizes, numbers, storage and weights, all combinations of any 2; all rules"
    name = "pairs-of-mixtures" if quick else "pairs-of-mixtures-all"
    return Rung(name, why, "several", rungs, quick=quick)


def mixture_lines() -> Iterable[Rung]:
    """Numbers of rows, of columns and of components, one after another."""
    why = "mixtures: numbers of rows, columns and components without a gap"
    cell = Cell(6, 2, 2, "decimals", "dense", "none")
    cells = [
        *(replace(cell, n=n) for n in sizes(1, 600, each=18)),
        *(replace(cell, d=d) for d in sizes(1, 40, each=18)),
        *(replace(cell, n=k + 3, k=k) for k in sizes(1, 135, each=18)),
    ]
    yield Rung("mixture-sizes", why, "several", tuple(map(_rung, cells)))
    why = "mixtures: more rows than fit a block of 2^{}"
    for power, weights in ((12, "fractions"), (13, "none"), (14, "fractions")):
        many = replace(cell, n=(1 << power) + 1, d=1 + power % 2, weights=weights)
        rung = replace(_rung(many), kind="mixture-calls")
        yield replace(rung, name=f"mixtures-beyond-2^{power}", why=why.format(power))
    wide = replace(cell, n=24, d=300, storage="sparse")
    why = "documents of hundreds of different words"
    yield Rung("long-documents", why, "counts", _long_documents(wide), 3)


def _rung(cell: Cell) -> Rung:
    rng = stream(sum((i + 1) * ord(c) for i, c in enumerate(repr(cell))))
    rows = [tuple(_number(cell.numbers, rng) for _ in range(cell.d)) for _ in range(cell.n)]
    kind = "small" if cell.weights == "small" else cell.weights
    weights = [1e-30] * cell.n if kind == "small" else weights_like(kind, cell.n, rng)
    return Rung(repr(cell), "", "rules", _stored(cell, rows, weights), cell.k)


def _number(kind: str, rng: Random) -> float:
    """A number that is a count, too: not below 0."""
    number = below(rng, 8)
    match kind:
        case "decimals":
            return round(4.0 * rng.random(), 3)
        case "offset":
            return 1e6 + number * 2.0**-6
        case "small":
            return number * 2.0**-40
        case "large":
            return number * 2.0**30
        case "few":
            return float(number % 2)
        case "zeros":
            return (0.0, 0.0, -0.0, 2.0)[number % 4]
    return float(number)


def _stored(cell: Cell, rows: list[Vector], weights: list[float] | None) -> Dataset:
    if cell.storage == "dense":
        return dense_of(rows, weights)
    if cell.storage == "float32":
        return weighted_singles(rows, weights)
    maps = [{j: x for j, x in enumerate(row) if x} for row in rows]
    values = "f" if "float32" in cell.storage else "d"
    return sparse_of(maps, cell.d, values=values, weights=weights)


def _long_documents(cell: Cell) -> Dataset:
    rng = stream(95)
    words = [
        {j: float(1 + below(rng, 3)) for j in range(cell.d) if below(rng, 4)} for _ in range(cell.n)
    ]
    return sparse_of(words, cell.d, weights=weights_like("fractions", cell.n, rng))
