"""Saboteurs that take a short way a little too far (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from refclust.kernels.mixtures import whitening
from refclust.kernels.mixtures.shared import Rule
from refclust.kernels.points import Points
from refclust.numbers.linalg import inverse_lower
from refclust.testing.saboteurs.arithmetic.rows import masses_of, rows_of
from refclust.testing.saboteurs.hidden.hiding import hidden, instead, last_label, twice_the_last
from refclust.testing.saboteurs.saboteur import Saboteur


def hidden_edges() -> Iterable[Saboteur]:
    """Those of rows, which only the long kit rejects."""
    return (*_of_candidates(), *_of_sums())


def _potential(points: Points, before: Any, row: int) -> float:
    """What a candidate leaves, in doubles."""
    rows, centres = rows_of(points), [*before.centres, points.whole_row(row)]
    squares = (min(math.dist(x, c) ** 2 for c in centres) for x in rows)
    return math.fsum(w * s for w, s in zip(masses_of(points), squares, strict=True))


def _of_candidates() -> Iterable[Saboteur]:
    def in_doubles(points: Points, before: Any, candidates: tuple[int, ...]) -> int:
        return min(candidates, key=lambda row: _potential(points, before, row))

    def best(name: str, word: str, when: Any) -> Saboteur:
        kernel = "seeding.best_candidate"
        return Saboteur(name, word, {kernel: instead(kernel, when, in_doubles)})

    yield best("two-candidates-in-doubles", "doubles alone",
               lambda p, _, rows: len(rows) == 2 and p.dense and not p.weighted)  # fmt: skip
    yield best("candidates-of-the-least-weights", "instead of",
               lambda p, *_: p.weighted and 0.0 < max(masses_of(p)) < 2.0**-1060)  # fmt: skip


def _of_sums() -> Iterable[Saboteur]:
    def no_sums(points: Points, sums: Any, centres: Any) -> bool:
        largest = max(abs(x) for c in centres for x in c)
        return points.dense and largest > 2.0**110 and not any(map(any, sums.exact().sums))

    def large_centres(points: Points, _: Any, centres: Any) -> bool:
        sizes = [abs(x) for c in centres for x in c]
        return points.dense and 2.0**490 < min(sizes) <= max(sizes) < 2.0**900

    def in_parts(points: Points, centres: Any, *_: Any) -> bool:
        size = len(centres) * (points.d + 1)
        return points.n < 400 and 256 <= (1 << 18) // size < points.n

    def rounded_up(right: Any, _: Points, sums: Any) -> Any:
        return array("d", map(_up_to_a_power, right, _means(sums.exact())))

    yield hidden("means-below-a-power-of-two", "last place", "kmeans.means",
                 lambda *_: True, rounded_up)  # fmt: skip
    yield hidden("residual-of-no-sums", "instead of", "kmeans.residual", no_sums, twice_the_last)
    yield hidden("residual-of-large-centres", "instead of", "kmeans.residual",
                 large_centres, twice_the_last)  # fmt: skip
    yield hidden("products-beyond-a-part", "n = 331", "kmeans.assign", in_parts, last_label)


def _means(sums: Any) -> list[Fraction]:
    return [
        Fraction(s << sums.weight_shift, (weight << sums.shift) or 1)
        for weight, cluster in zip(sums.weights, sums.sums, strict=True)
        for s in cluster
    ]


def _up_to_a_power(nearest: float, mean: Fraction) -> float:
    """The double above, if that is a power of two and the mean is next to the middle of both."""
    above = math.nextafter(nearest, math.copysign(math.inf, nearest))
    if abs(math.frexp(above)[0]) != 0.5 or abs(nearest) < 2.0**-1000:
        return nearest
    middle = (Fraction(nearest) + Fraction(above)) / 2
    return above if abs(mean - middle) < abs(middle) / 2**90 else nearest


def of_edges() -> Iterable[Saboteur]:
    """Those of mixtures, which the short kit rejects."""

    def any_pivot(points: Points, covariances: Any, form: str) -> Any:
        right = whitening.whitening(points, covariances, form)  # type: ignore[arg-type]
        d, factors = points.d, array("d", right)
        for begin in range(0, len(factors) if form == "full" else 0, d * d):
            if not any(factors[begin : begin + d * d]):
                block = list(covariances[begin : begin + d * d])
                factors[begin : begin + d * d] = array("d", _unguarded(block, d))
        return factors

    yield Saboteur("whitening-of-any-pivot", "zeros are due", {"gaussian.whitening": any_pivot})

    def believed(right: Any, *_: Any) -> Any:
        return replace(right, bound=-800.0) if right.bound == -math.inf else right

    def drawing(_: Points, __: Any, rule: Rule, *___: Any) -> bool:
        return rule.draws is not None

    for kernel in ("gaussian.em_step", "multinomial.em_step"):
        name = f"{kernel.split('.')[0]}-draws-of-rows-that-nobody-made"
        yield hidden(name, "bound", kernel, drawing, believed)


def _unguarded(block: list[float], d: int) -> list[float]:
    """The inverse factor as long as pivots are positive; zeros if one is not."""
    lower = [[0.0] * d for _ in range(d)]
    for j in range(d):
        pivot = block[j * d + j] - math.fsum(x * x for x in lower[j][:j])
        if not pivot > 0.0:
            return [0.0] * (d * d)
        lower[j][j] = math.sqrt(pivot)
        for i in range(j + 1, d):
            rest = math.fsum(a * b for a, b in zip(lower[i][:j], lower[j][:j], strict=True))
            lower[i][j] = (block[i * d + j] - rest) / lower[j][j]
    return [x for line in inverse_lower(tuple(map(tuple, lower))) for x in line]
