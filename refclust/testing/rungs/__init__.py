"""What a rung of the ladder is, and how its data are made (chapter 81)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from refclust.data.dataset import Dataset, dense, readonly, sparse
from refclust.kernels.points import Vector
from refclust.numbers.sampling import below, stream

RungKind: TypeAlias = Literal[
    "rows",  # k-means, its starts and distances, at length
    "cosine",
    "steps",  # the same, each kernel a few times, from given centres
    "cosine-steps",
    "path",  # steps of k-means alone, with centres that are given for each
    "cosine-path",
    "fit",  # steps of k-means alone, each from the means of the one before
    "candidates",  # the first two rows as candidates, beside centres that are there already
    "pairs",  # distances and passes over pairs alone
    "passes",  # passes over pairs alone
    "some-calls",  # all kernels of rows, mixtures too, each a few times
    "gaussian",
    "counts",
    "mixture-calls",  # mixtures, each kernel a few times
    "rules",  # mixtures: all rules for responsibilities
    "terms",  # densities of counts that are made up, whatever the rows
    "all-rows",
    "several",
    "labels",
    "margins",
    "distances",
]

STEP: Final = 2.0**-20  # at an offset of 1e9 still eight times the distance of doubles
LEAST: Final = 5e-324


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """One data set, what it is good for, and where k-means or a mixture starts on it."""

    name: str
    why: str
    kind: RungKind
    data: Any  # a Dataset, rungs, LabelPairs, some Margins, squared distances in condensed form
    k: int = 3
    centres: tuple[Vector, ...] | None = None  # to start from; else the first K different rows
    quick: bool = False
    n: int = 0  # of distances: how many rows they belong to
    large: bool = False  # only a few calls, since each takes long
    path: tuple[tuple[Vector, ...], ...] = ()  # the centres of one step after another
    sharp: float = 1.0  # of normal densities: so many times narrower than the rows ask for


def rung_of(
    name: str,
    why: str,
    data: Dataset,
    *,
    k: int = 3,
    kind: RungKind = "rows",
    centres: tuple[Vector, ...] | None = None,
    quick: bool = False,
) -> Rung:
    """A rung of rows; given centres say how many clusters there are."""
    return Rung(name, why, kind, data, k if centres is None else len(centres), centres, quick)


def on_grid(x: float) -> float:
    """A number rounded to a power of two, which offsets leave as it is.

    Spec: none (made-up data)
    """
    return round(x / STEP) * STEP


def blobs_of(n: int, d: int, seed: int) -> list[Vector]:
    """Decimals around three places.

    Spec: none (made-up data)
    """
    rng = stream(seed)
    return [
        tuple(round(4.0 * ((i + j) % 3) + 2.5 * rng.random() - 1.0, 4) for j in range(d))
        for i in range(n)
    ]


def weights_of(n: int, seed: int) -> list[float]:
    """Weights some of which are 0, the first one not.

    Spec: none (made-up data)
    """
    rng = stream(seed)
    allowed = [0.0, 1.0, 0.1, 2.5, 1e-3, 7.0, 1 / 3, 0.0]
    return [1.0, *(allowed[below(rng, 8)] for _ in range(n - 1))]


def dense_of(rows: Sequence[Vector], weights: Sequence[float] | None = None) -> Dataset:
    """A dense data set of some rows."""
    flat = array("d", (x for row in rows for x in row))
    return dense(flat, len(rows[0]), **_known(weights))


def singles_of(rows: Sequence[Vector]) -> Dataset:
    """The same rows kept as 32-bit floats."""
    return weighted_singles(rows, None)


def weighted_singles(rows: Sequence[Vector], weights: Sequence[float] | None) -> Dataset:
    """The same rows kept as 32-bit floats, with weights."""
    return dense(array("f", (x for row in rows for x in row)), len(rows[0]), **_known(weights))


def sparse_of(
    rows: Sequence[dict[int, float]],
    d: int,
    *,
    indices: str = "q",
    starts: str = "",
    values: str = "d",
    weights: Sequence[float] | None = None,
) -> Dataset:
    """A sparse data set; the formats of its column numbers and values can be chosen."""
    places, columns = array(starts or indices, [0]), array(indices)
    numbers: array[float] = array(values)
    for row in rows:
        for column in sorted(row):
            columns.append(column)
            numbers.append(row[column])
        places.append(len(numbers))
    return sparse(places, columns, numbers, d, **_known(weights))


def _known(weights: Sequence[float] | None) -> dict[str, Any]:
    return {} if weights is None else {"weights": readonly(array("d", weights))}


def nonzero(rows: Sequence[Vector]) -> list[dict[int, float]]:
    """Rows as mappings without their zeros.

    Spec: none (made-up data)
    """
    return [{j: x for j, x in enumerate(row) if x} for row in rows]
