"""Near-ties that were searched for: rows that plain arithmetic gives to the wrong centre.

A row is put on the plane between two centres as exactly as doubles allow; then it is seen what
differences of doubles, expanded squares, ``math.dist`` and single precision decide. Rows on which
one of them is wrong are kept. So none of them passes, whatever the number of columns or clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Final

from refclust.cluster.directions import unit_rows
from refclust.kernels.points import Points, Vector
from refclust.numbers.nearest import nearest
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import Rung, dense_of, nonzero, sparse_of
from refclust.testing.saboteurs.arithmetic.rows import differences, dot, expanded, singles

_EACH: Final = 3  # rows on which a rule is wrong
_TRIALS: Final = 400
_SCALES: Final = (1.0, 2.0**-480, 2.0**460)


def searched(*, quick: bool) -> Rung:
    """Data sets of such rows."""
    columns = (1, 2, 3, 5, 8, 17) if quick else (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 33, 64)
    clusters = (2, 9) if quick else (2, 3, 5, 9, 17, 33)
    rungs = [
        _between(d, clusters[(place + turn) % len(clusters)], offset, 500 + 10 * d + turn)
        for place, d in enumerate(columns)
        for turn, offset in enumerate((0.0,) if quick else (0.0, 1e3, 1e8))
    ]
    angles = [
        _angles(d, clusters[place % len(clusters)], 900 + d, _TRIALS // 4 if quick else _TRIALS)
        for place, d in enumerate(columns[1:9])
    ]
    groups = [_groups(d, 800 + d) for d in (columns[1:3] if quick else columns[:8])]
    why = "rows on which plain arithmetic was seen to choose the wrong centre"
    name = "searched" if quick else "searched-more"
    return Rung(name, why, "several", (*rungs, *angles, *groups), quick=quick)


def in_singles(vector: Vector, other: Vector) -> float:
    """The same of numbers rounded to single precision.

    Spec: none (rounded)
    """
    return differences(*singles([vector, other]))


RULES: Final[tuple[Callable[[Vector, Vector], float], ...]] = (
    *(differences, expanded, math.dist, in_singles),
)


def wrong_rows(a: Vector, b: Vector, rng: Random) -> Iterator[Vector]:
    """Rows that a rule gives to the wrong one of two centres, some for each rule."""
    left = dict.fromkeys(RULES, _EACH)
    for _ in range(_TRIALS):
        row = _on_the_plane(a, b, rng)
        gap = _gap(row, a, b)
        if not gap:
            continue
        fooled = [rule for rule in left if (rule(row, a) - rule(row, b)) * gap <= 0]
        if fooled:
            yield row
        left = {rule: n - (rule in fooled) for rule, n in left.items() if n - (rule in fooled)}
        if not left:
            return


def _on_the_plane(a: Vector, b: Vector, rng: Random) -> Vector:
    """A row as near to the plane between two centres as one of its columns can bring it."""
    return to_the_plane([x + (y - x) * rng.random() * 2.0 for x, y in zip(a, b, strict=True)], a, b)


def to_the_plane(row: Sequence[float], a: Vector, b: Vector) -> Vector:
    """A row with the column changed in which two centres differ most, so that it is between them.

    Spec: none (made-up data)
    """
    j = max(range(len(a)), key=lambda j: abs(b[j] - a[j]))
    rest = _difference(*([*v[:j], *v[j + 1 :]] for v in (row, a, b)))
    p, q = Fraction(a[j]), Fraction(b[j])
    # (x - p)² - (x - q)² = 2 x (q - p) + p² - q², and this is to be minus the rest.
    due = (q * q - p * p - rest) / (2 * (q - p))
    return (*row[:j], nearest(due.numerator, due.denominator) if due else 0.0, *row[j + 1 :])


def _gap(row: Vector, a: Vector, b: Vector) -> int:
    """The sign of |x - a|² - |x - b|², exactly."""
    gap = _difference(row, a, b)
    return (gap > 0) - (gap < 0)


def _difference(row: Sequence[float], a: Sequence[float], b: Sequence[float]) -> Fraction:
    """|x - a|² - |x - b|² = Σ (b - a)(2x - a - b), exactly."""
    terms = (
        (Fraction(q) - Fraction(p)) * (2 * Fraction(x) - Fraction(p) - Fraction(q))
        for x, p, q in zip(row, a, b, strict=True)
    )
    return sum(terms, Fraction(0))


def _between(d: int, k: int, offset: float, seed: int) -> Rung:
    rng, scale = stream(seed), _SCALES[seed % 3]
    a, b, rows = _fooled(d, offset, rng)
    far = [tuple(x + 50.0 * (c + 1) for x in a) for c in range(k - 2)]
    centres = _scaled([*far[: k // 2], b, *far[k // 2 :], a] if seed % 2 else [a, b, *far], scale)
    rows = _scaled(rows, scale)
    data = sparse_of(nonzero(rows), d) if seed % 5 == 4 else dense_of(rows)
    return Rung(f"d = {d}, K = {k}, offset {offset:g}", "", "steps", data, k, tuple(centres))


def _groups(d: int, seed: int) -> Rung:
    """Two far groups, mirror images: bounds must grow with the distance from the middle."""
    rng = stream(seed)
    a, b, rows = _fooled(d, 1000.0, rng)
    others = [tuple(-x for x in row) for row in rows]
    centres = (a, b, *(tuple(-x for x in centre) for centre in (a, b)))
    return Rung(f"two groups, d = {d}", "", "steps", dense_of([*rows, *others]), 4, centres)


def _fooled(d: int, offset: float, rng: Random) -> tuple[Vector, Vector, list[Vector]]:
    """Two centres between which some rows are given to the wrong one."""
    while True:  # on a line there is one row between two centres, and it may be decided rightly
        a = tuple(offset + 3.0 * rng.random() for _ in range(d))
        b = tuple(x + 0.5 + rng.random() for x in a)
        rows = list(wrong_rows(a, b, rng))
        if rows:
            return a, b, rows


def _scaled(rows: Iterable[Vector], scale: float) -> list[Vector]:
    """Rows times a power of two: nothing is rounded, and what was nearly a tie stays one."""
    return [tuple(scale * x for x in row) for row in rows]


def _angles(d: int, k: int, seed: int, trials: int) -> Rung:
    """Directions as near to the middle of two centres as rounding leaves them."""
    rng = stream(seed)
    centres = [tuple(2.0 * rng.random() - 1.0 for _ in range(d)) for _ in range(k)]
    units = [tuple(x / math.hypot(*c) for x in c) for c in centres]
    near = _wrong_angles(units, centres, rng, trials)
    away = [tuple(-x for x in unit) for unit in units[:2]]
    data = unit_rows(dense_of([*near, *away]))
    return Rung(f"angles, d = {d}, K = {k}", "", "cosine-steps", data, k, tuple(centres))


def _wrong_angles(
    units: Sequence[Vector], centres: Sequence[Vector], rng: Random, trials: int
) -> list[Vector]:
    """Directions of which products of doubles say another order than the truth."""
    rows: list[Vector] = []
    for _ in range(trials):
        first = below(rng, len(units))
        second = (first + 1 + below(rng, len(units) - 1)) % len(units)
        row = tuple(x + y for x, y in zip(units[first], units[second], strict=True))
        data = unit_rows(dense_of([row if any(row) else units[0]]))
        unit = Points(data).rows[0]
        plain = dot(unit, units[first]) - dot(unit, units[second])
        if plain * _cosine_gap(unit, centres[first], centres[second]) <= 0:
            rows.append(row if any(row) else units[0])
        if len(rows) >= 2 * _EACH:
            break
    return rows or [units[0]]


def _cosine_gap(row: Vector, a: Vector, b: Vector) -> int:
    """The sign of x.a / |a| - x.b / |b|, exactly."""

    def signed(c: Vector) -> Fraction:
        exact = [Fraction(y) for y in c]
        product = sum((Fraction(x) * y for x, y in zip(row, exact, strict=True)), Fraction(0))
        return product * abs(product) / sum(y * y for y in exact)

    gap = signed(a) - signed(b)
    return (gap > 0) - (gap < 0)
