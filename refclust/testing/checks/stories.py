"""Stories for the merge law: data, and a few calls that can be told about any of their rows.

What belongs to a row (its label, its shares) follows from the row's number in the whole, so a part
is told about with the same arguments as the whole.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

from refclust.data.dataset import Dataset
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.mixtures.gaussian import moments
from refclust.kernels.mixtures.multinomial import moments as tallies
from refclust.kernels.mixtures.whitening import whitening
from refclust.kernels.points import Points, Vector
from refclust.testing.rungs import LEAST, blobs_of, dense_of, singles_of, sparse_of, weights_of
from refclust.testing.scripts.mixture_calls import covariances_of, densities_of, terms_of
from refclust.testing.scripts.row_calls import first_rows

Call: TypeAlias = Callable[..., Any]
RowNumbers: TypeAlias = Sequence[int]  # the numbers that some rows have in the whole

_K: Final = 3


@dataclass(frozen=True, slots=True)
class Story:
    """Some data, and what is asked about any of their rows."""

    name: str
    data: Dataset | LabelPairs
    tell: Callable[[Call, RowNumbers], None]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.data.classes) if isinstance(self.data, LabelPairs) else self.data.n

    def part(self, rows: RowNumbers) -> Any:
        """The data of some rows."""
        if isinstance(self.data, Dataset):
            return self.data.select(rows)
        weights = self.data.weights
        return LabelPairs(
            _taken(self.data.clusters, rows),
            _taken(self.data.classes, rows),
            None if weights is None else [weights[i] for i in rows],
        )

    def weighs(self, rows: RowNumbers) -> bool:
        """Whether some of these rows have weight: others are no data set."""
        weights = self.data.weights if isinstance(self.data, Dataset) else None
        return bool(rows) and (weights is None or any(weights[i] for i in rows))


def stories(*, quick: bool = False) -> Iterator[Story]:
    """All stories, or those that show most.

    >>> [story.name for story in stories(quick=True)][:4]
    ['weighted rows', 'a grid', 'sparse rows', 'normal densities']
    """
    blobs = blobs_of(17, 3, 51)
    yield _of_rows("weighted rows", dense_of(blobs, weights_of(17, 52)))
    # Masses of whole numbers, whose shares doubles can tell: draws fall on the very edge of rows.
    yield _of_rows("a grid", dense_of([(float(i % 4), float(i // 4)) for i in range(16)]))
    words = [{(3 * i + j * j) % 9: (i + j) / 10 for j in range(i % 4)} for i in range(19)]
    yield _of_rows("sparse rows", sparse_of(words, 9, weights=weights_of(19, 53)))
    yield _of_gaussians("normal densities", dense_of(blobs, weights_of(17, 54)))
    counts = [{j: float(1 + (i + j) % 3) for j in range(i % 4)} for i in range(19)]
    yield _of_counts("counts", sparse_of(counts, 5, weights=weights_of(19, 55)))
    clusters = array("i", (i * i % 5 for i in range(40)))
    classes = array("i", (i % 3 for i in range(40)))
    yield _of_labels("labels", LabelPairs(clusters, classes))
    thirds = [Fraction(1 + i % 4, 3) for i in range(40)]
    yield _of_labels("weighted labels", LabelPairs(list("abcab" * 8), list("xxyz" * 10), thirds))
    if quick:
        return
    yield _of_rows("single precision", singles_of(blobs))
    yield _of_rows("far rows", dense_of([tuple(1e9 + x for x in row) for row in blobs]))
    wild = [1e300, -1e-300, 1.0, 0.0, 3e-310, -1e155, 2.5, LEAST]
    mixed = [(wild[i % 8], wild[(3 * i + 1) % 8]) for i in range(16)]
    yield _of_rows("huge and tiny", dense_of(mixed))
    yield _of_rows("many rows", dense_of(blobs_of(1500, 2, 56)))
    # Parts with more rows than a block of limbs holds.
    line = [(i % 97 / 10,) for i in range(13_000)]
    yield _of_gaussians("many weighted rows", dense_of(line, weights_of(13_000, 57)), few=True)
    yield _of_counts("many weighted counts", dense_of(line, weights_of(13_000, 58)), few=True)
    yield _of_gaussians("far densities", dense_of([tuple(1e6 + x for x in row) for row in blobs]))
    yield _of_counts("dense counts", dense_of([tuple(map(abs, row)) for row in blobs]))
    yield _of_labels("many labels", LabelPairs(array("i", range(700)), array("i", [0] * 700)))


def _of_rows(name: str, data: Dataset) -> Story:
    first = first_rows(data, _K)
    centres = CentreMatrix.of(first)
    moved = CentreMatrix.of([_between(first[c], first[(c + 1) % _K]) for c in range(_K)])

    def tell(call: Call, rows: RowNumbers) -> None:
        labels = array("i", (i * i % 7 % _K for i in rows))
        call("kmeans.directions")
        call("kmeans.assign", centres, "euclidean")
        step = call("kmeans.lloyd_step", centres, None, "euclidean")
        call("kmeans.lloyd_step", moved, step, "euclidean")
        call("kmeans.accumulate", labels, _K)
        call("kmeans.squares", labels, _K)
        call("seeding.mass", None, "squares")
        near = call("seeding.potential", first[1], call("seeding.potential", moved[0], None))
        call("seeding.mass", near, "distinct")
        call("seeding.mass", near, "squares")

    return Story(name, data, tell)


def _between(row: Vector, other: Vector) -> Vector:
    return tuple(a / 2 + b / 2 for a, b in zip(row, other, strict=True))


def _of_gaussians(name: str, data: Dataset, *, few: bool = False) -> Story:
    """Posteriors and exact sums; if few only the sums, since posteriors take long to judge."""
    points, centres = Points(data), CentreMatrix.of(first_rows(data, _K))
    whole = moments(points, array("i", (i % _K for i in range(data.n))), _K, centres, "full")
    white = whitening(points, covariances_of(whole, "full"), "full")
    densities = densities_of(whole, white, "full", 1.0)

    def tell(call: Call, rows: RowNumbers) -> None:
        call("gaussian.exact_moments", _shares(rows), _K, densities.means, "full")
        if few:
            return
        call("gaussian.posterior", densities, True)
        call("gaussian.exact_moments", _labels(rows), _K, centres, "full")
        call("gaussian.exact_moments", _shares(rows), _K, centres, "diagonal")

    return Story(name, data, tell)


def _of_counts(name: str, data: Dataset, *, few: bool = False) -> Story:
    labels = array("i", (i % _K for i in range(data.n)))
    terms = terms_of(tallies(Points(data), labels, _K), 0.125)

    def tell(call: Call, rows: RowNumbers) -> None:
        call("multinomial.exact_tallies", _shares(rows), _K)
        if few:
            return
        call("multinomial.posterior", terms, True)
        call("multinomial.exact_tallies", _labels(rows), _K)

    return Story(name, data, tell)


def _of_labels(name: str, data: LabelPairs) -> Story:
    def tell(call: Call, rows: RowNumbers) -> None:  # noqa: ARG001
        call("contingency.table")

    return Story(name, data, tell)


def _labels(rows: RowNumbers) -> array[int]:
    """Some rows belong to no component."""
    return array("i", (-1 if i % 5 == 4 else i % _K for i in rows))


def _shares(rows: RowNumbers) -> array[float]:
    """Shares that no power of two makes whole."""
    parts = [[1 + (i + 2 * c) % 5 for c in range(_K)] for i in rows]
    return array("d", (share / sum(row) for row in parts for share in row))


def _taken(labels: Sequence[Any], rows: RowNumbers) -> Sequence[Any]:
    taken = [labels[i] for i in rows]
    return array(labels.typecode, taken) if isinstance(labels, array) else taken
