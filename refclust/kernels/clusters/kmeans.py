"""The kernels of k-means: assign rows to centres, add up clusters, do both (chapter 10).

Policy is not here: starts, empty clusters, stopping and restarts belong to the driver.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress
from operator import mul, ne
from typing import Any, Protocol, TypeAlias

from refclust.kernels.clusters.nearness import Cosine, Euclidean, nearest_labels
from refclust.kernels.contracts.basic import Argmin, Rationals
from refclust.kernels.contracts.merging import IN_ROW_ORDER, RATIONALS, concatenated
from refclust.kernels.points import Integers, Points, Vector, grouped
from refclust.kernels.registry import Merge, kernel

Centres: TypeAlias = Sequence[Vector]  # a CentreMatrix, if the driver calls
Labels: TypeAlias = "array[int]"  # from another backend any flat buffer of 32-bit integers


class Sums(Protocol):
    """The sums of clusters in the form of some backend: only it looks inside."""

    @property
    def weights(self) -> tuple[int, ...]:
        """The exact weight of each cluster times 2**weight_shift."""

    @property
    def weight_shift(self) -> int:
        """The power of two that makes all weights integers."""

    def exact(self) -> ClusterSums:
        """The same as plain integers."""


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """The exact weight W_k and sum S_k of each cluster, as integers over powers of two.

    Spec: KER-SUMS
    """

    weights: tuple[int, ...]  # over 2**weight_shift
    weight_shift: int
    sums: tuple[tuple[int, ...], ...]  # over 2**shift
    shift: int

    def exact(self) -> ClusterSums:
        """The sums themselves: the reference keeps them as they are."""
        return self

    def weight(self, k: int) -> Fraction:
        """The weight of a cluster.

        Spec: KER-SUMS
        """
        return Fraction(self.weights[k], 1 << self.weight_shift)


@dataclass(frozen=True, slots=True)
class LloydStep:
    """One pass: the new labels, how many differ from the old ones, and the sums of the clusters.

    In a step before, the label -1 says that the row's cluster is gone.
    """

    labels: Labels
    changed: int
    sums: Sums


def copied(labels: Labels) -> array[int]:
    """Labels of any backend as an array of one's own.

    Spec: BK-SESSION

    >>> copied(memoryview(array("i", [2, 0])))
    array('i', [2, 0])
    """
    own = array("i")
    own.frombytes(memoryview(labels).cast("B"))
    return own


@dataclass(frozen=True, slots=True)
class SumsContract:
    """The contract of exact sums: equal as rationals, whatever the powers of two."""

    name: str = "Sums"

    def malformed(self, answer: Any) -> str | None:
        """Ask for exact weights, and for a way to say the sums exactly."""
        weights, shift = getattr(answer, "weights", None), getattr(answer, "weight_shift", None)
        if not isinstance(weights, tuple) or type(shift) is not int or shift < 0:
            return f"a {type(answer).__name__} without a tuple of weights and their shift"
        odd = next((w for w in weights if type(w) is not int), None)
        if odd is not None:
            return f"a weight is a {type(odd).__name__}, not a plain int"
        return None if callable(getattr(answer, "exact", None)) else "it cannot say its exact sums"

    def inexact(self, answer: Any) -> str | None:
        """Say why the exact form of an answer is not one."""
        if not isinstance(answer, ClusterSums):
            return f"a {type(answer).__name__} instead of ClusterSums"
        parts: list[Any] = [answer.weights, answer.sums]
        if not all(isinstance(part, tuple) for part in parts):
            return "weights and sums are tuples"
        rows: tuple[Any, ...] = answer.sums
        if not all(isinstance(row, tuple) for row in rows):
            return "the sums of each cluster are a tuple"
        numbers = [answer.shift, answer.weight_shift, *answer.weights]
        numbers += [value for row in answer.sums for value in row]
        for value in numbers:
            if type(value) is not int:
                return f"a {type(value).__name__}, not a plain int"
        return "a shift is negative" if min(answer.shift, answer.weight_shift) < 0 else None

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare clusters one by one."""
        malformed = self.malformed(answer)
        if malformed:
            return malformed
        weights, reference, answer = answer.weights, reference.exact(), answer.exact()
        inexact = self.inexact(answer)
        if inexact:
            return inexact
        if answer.weights != weights:
            return "the weights differ from those of its exact form"
        if len(answer.weights) != len(reference.weights) or len(answer.sums) != len(reference.sums):
            return f"{len(answer.sums)} clusters instead of {len(reference.sums)}"
        for k, (actual, due) in enumerate(zip(answer.sums, reference.sums, strict=True)):
            if answer.weight(k) != reference.weight(k):
                return f"cluster {k}: the weight is {answer.weight(k)}, not {reference.weight(k)}"
            if len(actual) != len(due):
                return f"cluster {k}: {len(actual)} sums instead of {len(due)}"
            for j, (entry, right) in enumerate(zip(actual, due, strict=True)):
                if entry << reference.shift != right << answer.shift:
                    return f"cluster {k}, column {j}: the sum is not exact"
        return None


@dataclass(frozen=True, slots=True)
class StepContract:
    """The contract of a whole step: those of its parts."""

    name: str = "Argmin, Sums"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a ``LloydStep`` whose parts are well formed."""
        if not isinstance(answer, LloydStep):
            return f"a {type(answer).__name__} instead of a LloydStep"
        if type(answer.changed) is not int:
            return f"changed: a {type(answer.changed).__name__}, not a plain int"
        return Argmin().malformed(answer.labels) or SumsContract().malformed(answer.sums)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare labels, then sums, then the number of changes."""
        wrong = self.malformed(answer)
        wrong = wrong or Argmin().fault(reference.labels, answer.labels)
        wrong = wrong or SumsContract().fault(reference.sums, answer.sums)
        if wrong is None and answer.changed != reference.changed:
            return f"{answer.changed} changed labels instead of {reference.changed}"
        return wrong


def merged_sums(parts: Sequence[Sums]) -> ClusterSums:
    """The sums of all rows from those of parts of them.

    Spec: KER-SUMS, BK-MERGE

    >>> merged_sums([ClusterSums((2,), 0, ((3,),), 1), ClusterSums((1,), 1, ((1,),), 0)])
    ClusterSums(weights=(5,), weight_shift=1, sums=((5,),), shift=1)
    """
    exact = [part.exact() for part in parts]
    weight_shift = max(part.weight_shift for part in exact)
    shift = max(part.shift for part in exact)
    weights = [[w << (weight_shift - part.weight_shift) for w in part.weights] for part in exact]
    sums = [
        [[s << (shift - part.shift) for s in cluster] for cluster in part.sums] for part in exact
    ]
    return ClusterSums(
        tuple(map(sum, zip(*weights, strict=True))),
        weight_shift,
        tuple(tuple(map(sum, zip(*clusters, strict=True))) for clusters in zip(*sums, strict=True)),
        shift,
    )


def merged_steps(parts: Sequence[LloydStep]) -> LloydStep:
    """The step of all rows from those of parts of them, in the order of the rows.

    Spec: KER-STEP, BK-MERGE
    """
    return LloydStep(
        concatenated([part.labels for part in parts]),
        sum(part.changed for part in parts),
        merged_sums([part.sums for part in parts]),
    )


@kernel("kmeans.assign", contract=Argmin(), merge=IN_ROW_ORDER)
def assign(points: Points, centres: Centres, metric: str = "euclidean") -> Labels:
    """Give every row the index of its nearest centre, the lowest of equals.

    Spec: KM-ASSIGN, KM-COSASSIGN, KER-ASSIGN

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2, 3]), 1))
    >>> assign(line, ((0.0,), (2.0,))).tolist()
    [0, 0, 1, 1]
    """
    distinct = list(dict.fromkeys(centres))  # of equal centres the lowest index gets everything
    field = Cosine(points, distinct) if metric == "cosine" else Euclidean(points, distinct)
    labels = nearest_labels(field)
    if len(distinct) == len(centres):
        return labels
    index = [centres.index(centre) for centre in distinct]
    return array("i", map(index.__getitem__, labels))


@kernel("kmeans.accumulate", contract=SumsContract(), merge=Merge(merged_sums))
def accumulate(points: Points, labels: Labels, k: int) -> ClusterSums:
    """Add up the weights and the weighted rows of every cluster, exactly.

    Spec: KM-CENTROID, KER-SUMS

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [1, 2, 3, 5]), 1))
    >>> accumulate(line, array("i", [0, 0, 1, 1]), 2)
    ClusterSums(weights=(2, 2), weight_shift=0, sums=((3,), (8,)), shift=0)
    """
    return accumulate_some(points, range(points.n), labels, k)


@kernel("kmeans.lloyd_step", contract=StepContract(), merge=Merge(merged_steps, ordered=True))
def lloyd_step(
    points: Points, centres: Centres, before: LloydStep | None, metric: str = "euclidean"
) -> LloydStep:
    """Assign, add up, and count the labels that differ from the step before.

    Spec: KM-ALG, KER-STEP

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2, 3]), 1))
    >>> step = lloyd_step(line, ((0.0,), (2.0,)), None)
    >>> lloyd_step(line, ((0.0,), (3.0,)), step).changed
    0
    """
    labels = assign(points, centres, metric)
    if before is None:
        return LloydStep(labels, points.n, accumulate(points, labels, len(centres)))
    moved = list(compress(range(points.n), map(ne, labels, before.labels)))
    known = before.sums.exact()
    same_units = (known.shift, known.weight_shift) == (
        points.shift + points.weight_shift,
        points.weight_shift,
    )
    if len(moved) > points.n // 4 or not same_units:
        return LloydStep(labels, len(moved), accumulate(points, labels, len(centres)))
    # Sums are exact, so adding what came and taking what went gives the same as starting anew.
    came = accumulate_some(points, moved, labels, len(centres))
    from_some = [i for i in moved if before.labels[i] >= 0]
    went = accumulate_some(points, from_some, before.labels, len(centres))
    return LloydStep(labels, len(moved), _changed_sums(known, came, went))


@kernel("kmeans.squares", contract=Rationals(), merge=RATIONALS)
def squares(points: Points, labels: Labels, k: int) -> tuple[Fraction, ...]:
    """Add up the weighted squared lengths of the rows of every cluster, exactly.

    Spec: KM-RSS, KER-SQUARES

    >>> from refclust.data.dataset import dense
    >>> squares(Points(dense(array("d", [0.5, 1, 2]), 1)), array("i", [0, 0, 1]), 2)
    (Fraction(5, 4), Fraction(4, 1))
    """
    weighted = map(mul, points.weights, points.squares)
    unit = 1 << (2 * points.shift + points.weight_shift)
    return tuple(Fraction(sum(group), unit) for group in grouped(labels, weighted, k))


def accumulate_some(points: Points, rows: Sequence[int], labels: Labels, k: int) -> ClusterSums:
    """Add up as ``accumulate`` does, but only some rows.

    Spec: KER-SUMS

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [1, 2, 4]), 1))
    >>> accumulate_some(line, [0, 2], array("i", [0, 0, 1]), 2).sums
    ((1,), (4,))
    """
    groups = grouped(map(labels.__getitem__, rows), rows, k)
    weights = tuple(_weight(points, group) for group in groups)
    sums = tuple(_sums(points, group) for group in groups)
    return ClusterSums(weights, points.weight_shift, sums, points.shift + points.weight_shift)


def _changed_sums(old: ClusterSums, came: ClusterSums, went: ClusterSums) -> ClusterSums:
    weights = zip(old.weights, came.weights, went.weights, strict=True)
    sums = zip(old.sums, came.sums, went.sums, strict=True)
    return ClusterSums(
        tuple(w + plus - minus for w, plus, minus in weights),
        old.weight_shift,
        tuple(
            tuple(s + plus - minus for s, plus, minus in zip(*cluster, strict=True))
            for cluster in sums
        ),
        old.shift,
    )


def _weight(points: Points, rows: Sequence[int]) -> int:
    return sum(map(points.weights.__getitem__, rows)) if points.weighted else len(rows)


def _sums(points: Points, rows: Sequence[int]) -> Integers:
    """The weighted sum of some rows, column by column."""
    integers = points.integers
    if not points.dense:
        into = [0] * points.d
        for i in rows:
            weight = points.weights[i]
            for column, value in zip(points.columns[i], integers[i], strict=True):
                into[column] += weight * value
        return tuple(into)
    if not rows:
        return (0,) * points.d
    columns = zip(*map(integers.__getitem__, rows), strict=True)
    if points.weighted:
        weights = [points.weights[i] for i in rows]
        return tuple(sum(map(mul, weights, column)) for column in columns)
    return tuple(map(sum, columns))
