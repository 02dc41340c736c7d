"""Candidates that leave nearly the same potential: which is the better one, exactly (chapter 81).

Estimates in single precision with a bound of their errors rule out most candidates. Here two are
left whose potentials differ by a rounding of one coordinate, or of one weight, at every size of the
numbers; and candidates under weights so small that products with them are rounded to nearly
nothing. Whoever takes an error for smaller than it is chooses the wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Final

from refclust.kernels.points import Vector
from refclust.numbers.nearest import nearest
from refclust.numbers.sampling import below, stream
from refclust.testing.rungs import LEAST, Rung, dense_of, nonzero, sparse_of

_ROWS: Final = 9  # beside the two candidates
_POWERS: Final = (
    *(0, 3, 5, 6, 7, 8, 9, 12, 19, 60, 450, 480, 505),
    *(-3, -9, -19, -60, -430, -460, -490, -505, -520),
)
_COLUMNS: Final = (1, 2, 3, 8)


def candidates() -> Rung:
    """Data sets of such candidates, the first two rows of each, and a centre that is far away."""
    rungs = [
        rung
        for place, power in enumerate(_POWERS)
        for d in (_COLUMNS[:2] if power > 4 or power < -400 else _COLUMNS[place % 4 :][:1])
        for rung in _tied(d, 2.0**power, 7000 + 10 * place + d)
    ]
    # Most bounds are looser than they need be, but not where all is equally far from the middle.
    rungs += [_rim(2.0 ** (place / 36), (-1) ** place * math.inf) for place in range(361)]
    rungs += [_faint(1 + seed % 3, seed) for seed in range(7500, 7524)]
    why = "two candidates whose potentials differ in the last place, at all sizes"
    return Rung("candidates", why, "several", tuple(rungs))


def _tied(d: int, scale: float, seed: int) -> Iterator[Rung]:
    """A coordinate of the last row is moved to where both candidates are equally good."""
    rng = stream(seed)
    while True:
        rows = [tuple(rng.random() for _ in range(d)) for _ in range(_ROWS + 2)]
        meeting = _meeting(rows)
        if abs(meeting) < 2.0:
            break
    due = nearest(meeting.numerator, meeting.denominator) if meeting else 0.0
    centre = (8.0,) * d
    for last in (math.nextafter(due, -math.inf), math.nextafter(due, math.inf)):
        moved = [*rows[:-1], (last, *rows[-1][1:])]
        yield _rung(f"coordinate, times {scale:g}", moved, None, centre, scale)
    weights = _weights(rows, rng)
    for up in (-math.inf, math.inf) if weights else ():
        other = [*weights[:-1], math.nextafter(weights[-1], up)]
        yield _rung(f"weight, times {scale:g}", rows, other, centre, scale)


def _rim(size: float, up: float) -> Rung:
    """Rows at both ends of a line, a centre just beyond either end; a candidate is for one end.

    Squares that count are small beside those of the distances from the middle, in units of which
    an estimate by products errs.
    """
    rng, centres = stream(7600 + round(64 * size)), (1.0625 * size, -1.0625 * size)
    while True:
        rows: list[Vector] = [
            ((-1) ** i * size * (1.0 - rng.random() / 64),) for i in range(_ROWS + 2)
        ]
        taken = [_gap(row, (centres[i % 2],), rows[i % 2]) for i, row in enumerate(rows[:-1])]
        # What the last row, x, has to gain: (x - c)² - (x - a)² = 2 x (a - c) + c² - a².
        due, a, c = sum(taken[1::2]) - sum(taken[::2]), Fraction(rows[0][0]), Fraction(centres[0])
        meeting = (due - c * c + a * a) / (2 * (a - c))
        if 15 * size < 16 * meeting < 8 * (a + c):
            break
    last = math.nextafter(nearest(meeting.numerator, meeting.denominator), up)
    name = f"at a distance of {size:g}"
    data = dense_of([*rows[:-1], (last,)])
    return Rung(name, "", "candidates", data, 1, tuple((c,) for c in centres))


def _meeting(rows: Sequence[Vector]) -> Fraction:
    """The first coordinate of the last row with which the first two leave the same potential.

    Everything is nearer to them than to the centre, so the difference is linear in it.
    """
    a, b = rows[0], rows[1]
    rest = sum((_gap(row, a, b) for row in rows[:-1]), _gap((0.0, *rows[-1][1:]), a, b))
    # (x - a)² - (x - b)² grows by 2 (b - a) with each unit of x.
    return -rest / (2 * (Fraction(b[0]) - Fraction(a[0])))


def _gap(row: Vector, a: Vector, b: Vector) -> Fraction:
    """|x - a|² - |x - b|², exactly."""
    return sum(
        (
            (Fraction(x) - Fraction(p)) ** 2 - (Fraction(x) - Fraction(q)) ** 2
            for x, p, q in zip(row, a, b, strict=True)
        ),
        Fraction(0),
    )


def _weights(rows: Sequence[Vector], rng: Random) -> list[float]:
    """Weights of which the last makes both candidates equally good; none if none does."""
    weights = [0.25 + rng.random() for _ in rows[:-1]]
    gaps = [_gap(row, rows[0], rows[1]) for row in rows]
    rest = sum((Fraction(w) * gap for w, gap in zip(weights, gaps, strict=False)), Fraction(0))
    due = -rest / gaps[-1] if gaps[-1] else Fraction(0)
    return [*weights, nearest(due.numerator, due.denominator)] if due > 0 else []


def _faint(d: int, seed: int) -> Rung:
    """Weights of a few times the least double: products with gains below 1 are rounded to it."""
    rng = stream(seed)
    rows = [tuple(rng.random() for _ in range(d)) for _ in range(_ROWS + 2)]
    weights = [(1 + below(rng, 3)) * LEAST for _ in rows]
    return _rung("least weights", rows, weights, (1.5,) * d, 1.0)


def _rung(
    name: str, rows: Sequence[Vector], weights: list[float] | None, centre: Vector, scale: float
) -> Rung:
    """The rows times a power of two, so that what is nearly a tie stays one; some sparse."""
    scaled = [tuple(scale * x for x in row) for row in rows]
    stored = len(rows[0]) == 3
    data = sparse_of(nonzero(scaled), 3, weights=weights) if stored else dense_of(scaled, weights)
    centres = (tuple(scale * x for x in centre),)
    return Rung(name, "", "candidates", data, 1, centres)
