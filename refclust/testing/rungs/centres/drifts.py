"""Centres that drift: what is kept between steps must stay true to the last bit (chapter 81).

A pass may leave out rows that cannot have changed, by bounds that shrink as centres move. Here rows
lie at every small distance from where the border ends up, on both sides, and centres get there at
once, in a few steps, or in many that are each too small for single precision to notice. So a bound
that is not taken away in full, or that gains by rounding, keeps a row that has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from refclust.kernels.points import Vector
from refclust.testing.rungs import Rung, dense_of, nonzero, rung_of, sparse_of

Path: TypeAlias = tuple[tuple[Vector, ...], ...]

_APART: Final = 17 / 16  # so much nearer to the first centre than to the second are rows at 0
_STEP: Final = 29 * 2.0**-29  # less than half of what singles tell apart next to that
_DIRECTIONS: Final = ((1.0,), (3.0, 4.0), (1.0, 0.0, -1.0), (1.0,) * 9)
_SPLITS: Final = (0.5, 1.0, 0.25, 0.75)  # the share of a move that the first centre makes
_FAR: Final = (4.0,)  # a third centre, in three columns


def drifts(*, quick: bool) -> Rung:
    """Data sets, each with a path of its centres."""
    steps = ((0,), (7,), (7,), (0,)) if quick else ((30, 200), (50,), (1,), (50,))
    rungs = [
        rung
        for direction, many, split in zip(_DIRECTIONS, steps, _SPLITS, strict=True)
        for rung in _along(direction, many, split)
    ]
    why = "centres that move a little, many times, before a row changes sides"
    name = "drifts" if quick else "long-drifts"
    return Rung(name, why, "several", tuple(rungs), quick=quick)


def _along(direction: Vector, steps: tuple[int, ...], split: float) -> Iterator[Rung]:
    """Rows and centres on a line, from either side of the border; once sparse."""
    third = _FAR if len(direction) == 3 else ()
    for many in steps:
        for side in (1.0, -1.0):
            rows = [_placed(side * t, direction) for t in _places()]
            path = tuple(
                tuple(_placed(side * t, direction) for t in (*centres, *third))
                for centres in _moves(many, split)
            )
            turned = tuple(centres[::-1] for centres in path)
            data = sparse_of(nonzero(rows), 2) if len(direction) == 2 else dense_of(rows)
            rung = rung_of("drift", "", data, kind="path", centres=path[0])
            yield replace(rung, path=path if side > 0.0 else turned)


def _places() -> list[float]:
    """Ties at first, rows that stay with their centres, and rows around 0, where the border ends.

    The ties come first, so that those who stop trusting singles do so before the last ones.
    """
    near = [sign * 2.0**-e for e in range(3, 50, 2) for sign in (1.0, -1.0)]
    stay = [-1.0 - 2.0**-i for i in range(28)] + [_APART + 1.0 + 2.0**-i for i in range(28)]
    return [*[_APART / 2] * 8, *stay, 0.0, *near]


def _moves(many: int, split: float) -> Iterator[tuple[float, float]]:
    """Small steps, then one to where 0 is a tie; then mirror images, and one centre alone."""
    first, second = -0.5, _APART + 0.5
    yield first, second
    for _ in range(many):
        first, second = first - split * _STEP, second - (1.0 - split) * _STEP
        yield first, second
    left = _APART - many * _STEP
    first, second = first - split * left, second - (1.0 - split) * left
    yield first, second
    yield -first, -second
    yield -first, second - 0.25


def _placed(t: float, direction: Vector) -> Vector:
    return tuple(t * x for x in direction)
