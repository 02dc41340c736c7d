"""Saboteurs that believe bounds, groups and short ways where they do not hold (chapter 81).

Each is right on nearly all data; the short kit has rows and centres where it is not.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from ctypes import c_float
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from refclust.kernels.clusters import kmeans
from refclust.kernels.clusters import means as quotients
from refclust.kernels.clusters.kmeans import LloydStep
from refclust.kernels.mixtures import multinomial
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import Posterior
from refclust.kernels.points import Points, Vector
from refclust.numbers.nearest import nearest
from refclust.testing.saboteurs.arithmetic.rows import argmin, dot, rows_of
from refclust.testing.saboteurs.hidden.hiding import instead
from refclust.testing.saboteurs.saboteur import Functions, Saboteur

_GROUP: Final = 16  # centres that are looked at together
_LARGEST: Final = 2.0**64  # its square is beyond single precision


def of_bounds() -> Iterable[Saboteur]:
    """All of them."""
    yield Saboteur("margins-that-overflow", "instead of", _keeping(_far))
    yield Saboteur("groups-that-stand-still", "instead of", _keeping(_still))
    yield Saboteur("own-means-that-hardly-moved", "instead of", _believing())
    yield _short_beside_rows()
    yield _angles_in_singles()
    yield from _of_means()
    yield from _of_terms()


def _far(row: Vector, own: int, now: Sequence[Vector], _: Sequence[Vector]) -> bool:
    """Whether every other centre is so far from ordinary rows that squares overflow in singles."""
    others = (centre for k, centre in enumerate(now) if k != own)
    return math.hypot(*row) < 16.0 and all(math.dist(row, centre) > _LARGEST for centre in others)


def _still(_: Vector, own: int, now: Sequence[Vector], before: Sequence[Vector]) -> bool:
    """Whether the centres beside a row's own are where they were."""
    first = own - own % _GROUP
    group = slice(first, first + _GROUP)
    return len(now) > _GROUP and list(now[group]) == list(before[group])


def _keeping(kept: Any) -> Functions:
    """Steps that leave alone what was told to be safe in the step before, or since then."""
    memory: dict[int, tuple[Any, list[Vector], Any]] = {}

    def lloyd_step(
        points: Points, centres: Any, before: Any, metric: str = "euclidean"
    ) -> LloydStep:
        right = kmeans.lloyd_step(points, centres, before, metric)
        now = [tuple(centre) for centre in centres]
        if metric == "cosine" or len(now) < 2:
            return right
        chosen = array("i", right.labels)
        _, old, labels = memory.get(id(points), (points, [], chosen))
        if len(old) == len(now):
            for i, k in enumerate(labels):
                place = old if kept is _far else now
                if kept(points.whole_row(i), k, place, old):
                    chosen[i] = k
        memory[id(points)] = points, now, chosen  # the data stay, so does their address
        return LloydStep(chosen, right.changed, kmeans.accumulate(points, chosen, len(now)))

    return {"kmeans.lloyd_step": lloyd_step}


def _believing() -> Functions:
    """Steps that know their own means again, and take few changes for none."""
    made: list[Any] = [None]

    def means(points: Points, sums: Any) -> Any:
        made[0] = quotients.means(points, sums)
        return made[0]

    def lloyd_step(
        points: Points, centres: Any, before: Any, metric: str = "euclidean"
    ) -> LloydStep:
        values = getattr(centres, "values", None)
        if before is not None and before.changed < 30 and getattr(values, "obj", 0) is made[0]:
            return LloydStep(array("i", before.labels), 0, before.sums)
        return kmeans.lloyd_step(points, centres, before, metric)

    return {"kmeans.means": means, "kmeans.lloyd_step": lloyd_step}


def _short_beside_rows() -> Saboteur:
    """Doubles, with a bound made of the centres: rows that are far longer err by more."""

    def long_rows(points: Points, centres: Any, *_: Any) -> bool:
        sizes = [math.hypot(*c) for c in centres]
        return points.n > 9 and min(math.hypot(*r) for r in rows_of(points)) > 32 * max(sizes)

    def plain(points: Points, centres: Any, *_: Any) -> Any:
        return argmin(rows_of(points), tuple(centres), lambda x, c: dot(c, c) - 2.0 * dot(x, c))

    other = instead("kmeans.assign", long_rows, plain)
    return Saboteur("doubles-for-long-rows", "instead of", {"kmeans.assign": other})


def _angles_in_singles() -> Saboteur:
    """Sparse directions by single precision."""

    def sparse_angles(points: Points, _: Any, metric: str = "euclidean") -> bool:
        return metric == "cosine" and not points.dense

    def singles(points: Points, centres: Any, *_: Any) -> Any:
        units = [tuple(x / math.hypot(*c) for x in c) for c in map(tuple, centres)]
        return argmin(rows_of(points), units, lambda x, c: c_float(-dot(x, c)).value)

    other = instead("kmeans.assign", sparse_angles, singles)
    return Saboteur("sparse-angles-in-singles", "instead of", {"kmeans.assign": other})


def _of_means() -> Iterable[Saboteur]:
    def twice(points: Points, sums: Any) -> Any:
        """Rounded to 106 bits, then to a double."""
        exact = quotients.means(points, sums)
        whole = sums.exact()
        for place, value in enumerate(_quotients(whole)):
            if value:
                bits = 106 - (value.numerator.bit_length() - value.denominator.bit_length())
                size = Fraction(2) ** bits
                near = Fraction(round(value * size)) / size
                exact[place] = nearest(near.numerator, near.denominator)
        return exact

    def tiny(points: Points, sums: Any) -> Any:
        right = quotients.means(points, sums)
        return array("d", (x if abs(x) >= 2.0**-1022 else 0.0 for x in right))

    def few(points: Points, *_: Any) -> bool:
        return points.n <= 4 and not points.weighted

    def weighed(points: Points, *_: Any) -> bool:
        return points.weighted and points.n == 2

    yield Saboteur(
        "means-rounded-twice",
        "instead of",
        {"kmeans.means": instead("kmeans.means", few, twice)},
    )
    yield Saboteur(
        "means-flushed-to-zero",
        "flushed to zero",
        {"kmeans.means": instead("kmeans.means", weighed, tiny)},
    )


def _quotients(sums: Any) -> Iterable[Fraction]:
    unit = Fraction(2) ** (sums.weight_shift - sums.shift)
    for weight, line in zip(sums.weights, sums.sums, strict=True):
        for total in line:
            yield Fraction(total, weight) * unit if weight else Fraction(0)


def _of_terms() -> Iterable[Saboteur]:
    def last_asks(points: Points, terms: Terms, full: bool) -> Posterior:
        """What the last component asks for is not looked at."""
        if terms.certain is not None:
            terms = replace(terms, certain=(*terms.certain[:-1], ()))
        return multinomial.posterior(points, terms, full)

    def signed(points: Points, terms: Terms, full: bool) -> Posterior:
        """A slope of -inf counts as much as a count, whatever the sign of that."""
        if not any(x < 0 for row in points.nonzero for x in row[1]):
            return multinomial.posterior(points, terms, full)
        slopes = array("d", (max(x, -1e300) for x in terms.slopes))
        return multinomial.posterior(points, replace(terms, slopes=slopes), full)

    yield Saboteur(
        "last-component-asks-in-vain", "-inf says so", {"multinomial.posterior": last_asks}
    )
    yield Saboteur("impossible-and-below-zero", "-inf says so", {"multinomial.posterior": signed})
