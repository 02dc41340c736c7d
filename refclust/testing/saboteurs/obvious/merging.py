"""Saboteurs of exact sums and of the merge law: one fault each (chapter 81)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from refclust.kernels import contingency
from refclust.kernels.clusters import kmeans, masses
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust.kernels.clusters.seeding import Potential, potential
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.mixtures import exact_moments, gaussian, multinomial
from refclust.kernels.mixtures.exact_moments import ExactMoments, ExactTallies
from refclust.kernels.points import Points
from refclust.testing.saboteurs.saboteur import Saboteur


def of_merging() -> Iterable[Saboteur]:
    """All of them."""
    return (*_of_exact_sums(), *_of_masses(), *_of_cuts())


# -- exact sums -----------------------------------------------------------------------------------


def _of_exact_sums() -> Iterable[Saboteur]:
    def rounded(*args: Any) -> ExactMoments:
        sums = gaussian.moments(*args)
        return ExactMoments(
            _exact(sums.counts), _exact(sums.firsts), _exact(sums.seconds), sums.around, sums.spread
        )

    def once(*args: Any) -> ExactMoments:
        # Right but for the last rounding, which belongs to whoever merges.
        exact = exact_moments.exact_moments(*args)
        sums = exact.rounded()
        return replace(exact, firsts=_exact(sums.firsts), seconds=_exact(sums.seconds))

    def tallied(*args: Any) -> ExactTallies:
        sums = multinomial.moments(*args)
        return ExactTallies(_exact(sums.counts), _exact(sums.sums))

    def in_doubles(*args: Any) -> Any:
        sums = exact_moments.exact_tallies(*args)
        return replace(sums, sums=tuple(float(s) for s in sums.sums))  # type: ignore[misc]

    yield Saboteur("moments-in-doubles", "instead of", {"gaussian.exact_moments": rounded})
    yield Saboteur("moments-rounded-once", "instead of", {"gaussian.exact_moments": once})
    yield Saboteur("tallies-in-doubles", "instead of", {"multinomial.exact_tallies": tallied})
    yield Saboteur("tallies-as-floats", "a float", {"multinomial.exact_tallies": in_doubles})


def _exact(values: Iterable[float]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, values))


# -- masses ---------------------------------------------------------------------------------------


def _of_masses() -> Iterable[Saboteur]:
    def floating(points: Points, before: Potential | None, by: str) -> tuple[Fraction]:
        [right] = masses.mass(points, before, by)
        return (Fraction(float(right)),) if right < 2**1000 else (right,)

    def reached(points: Points, before: Potential | None, passed: Fraction, by: str) -> int:
        # The first row that reaches the mass instead of the first beyond it.
        return masses.beyond(points, before, passed * (1 - Fraction(1, 2**200)), by)

    yield Saboteur("mass-in-doubles", "instead of", {"seeding.mass": floating})
    yield Saboteur("reached-not-beyond", "instead of", {"seeding.beyond": reached})


# -- cuts -----------------------------------------------------------------------------------------


def _of_cuts() -> Iterable[Saboteur]:
    """Faults that show where rows are cut: large wholes are right."""

    def rounded_sums(points: Points, labels: array[int], k: int) -> ClusterSums:
        right = kmeans.accumulate(points, labels, k)
        if not 1 < points.n < 7:
            return right
        drop = max(0, max(abs(s).bit_length() for c in right.sums for s in c) - 20)
        cut = tuple(tuple(s >> drop << drop for s in cluster) for cluster in right.sums)
        return replace(right, sums=cut)

    def carried() -> Callable[..., Any]:
        """Squares are added to those of the rows before: a buffer that nobody clears."""
        last: list[tuple[int, tuple[Fraction, ...]]] = []

        def squares(points: Points, labels: array[int], k: int) -> tuple[Fraction, ...]:
            right = kmeans.squares(points, labels, k)
            if last and points.n < last[0][0] and len(last[0][1]) == k and points.n <= 3:
                return tuple(a + b for a, b in zip(right, last[0][1], strict=True))
            last[:] = [(points.n, right)]
            return right

        return squares

    def by_part(points: Points, centre: Any, before: Potential | None) -> Potential:
        # A single row is its own nearest centre, it thought.
        right = potential(points, centre, before)
        if points.n > 1 or before is None:
            return right
        return replace(right, nearest=array("i", [0]))

    def shares(pairs: LabelPairs) -> dict[Any, Any]:
        right = contingency.table(pairs)
        if len(pairs.classes) != 1 or pairs.weights is None:
            return right
        return dict.fromkeys(right, Fraction(1))

    yield Saboteur("small-parts-rounded", "not exact", {"kmeans.accumulate": rounded_sums})
    yield Saboteur("carried-over", "instead of", {"kmeans.squares": carried()})
    yield Saboteur("single-rows-guessed", "instead of", {"seeding.potential": by_part})
    yield Saboteur("single-weights-lost", "instead of", {"contingency.table": shares})
