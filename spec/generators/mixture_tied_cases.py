"""M-steps of the eight covariance models that tie volumes, shapes or axes, all of them rational.

Two components in the plane, shares given, and rows laid out so that the roots, the axes and the
volumes of the answer are fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath

from .mixture_bounds import U, allowed
from .mixture_gaussian import State
from .mixture_gaussian_family import told_state
from .mixture_numbers import told, told_rows
from .mixture_tied import DIAGONAL, DIGITS, PLACES, Pair, check, estimated, recognised
from .mixture_tied_bounds import Placed, spread_errors
from .values import Json, encode
from .vectors_common import rounded_up
from .writer import VectorFile

Steps = list[tuple[int, int, int]]  # steps from the mean, there and back, with their weight
STATE = State([0.5, 0.5], [[0.0, 0.0], [4.0, 4.0]], [])


@dataclass(frozen=True, slots=True)
class Layout:
    """Of two components the mean, a frame of whole numbers, and steps in that frame."""

    frames: tuple[tuple[int, int], tuple[int, int]]
    steps: tuple[Steps, Steps]
    means: tuple[tuple[int, int], tuple[int, int]] = ((1, -2), (7, 3))

    def rows(self) -> list[Placed]:
        """Of every row its component, the numbers and the weight."""
        found = []
        for k, ((cos, sin), steps, mean) in enumerate(
            zip(self.frames, self.steps, self.means, strict=True)
        ):
            for a, b, weight in steps:
                step = (a * cos - b * sin, a * sin + b * cos)
                for sign in (1, -1):
                    row = [float(m + sign * x) for m, x in zip(mean, step, strict=True)]
                    found.append((k, row, float(weight)))
        return found


PLAIN, THREE, FIVE = (1, 0), (3, 4), (5, 12)
LAYOUTS = {
    "VEI": Layout((PLAIN, PLAIN), ([(1, 1, 2), (-3, 1, 2)], [(1, -1, 1), (-2, -2, 1)])),
    "EVI": Layout((PLAIN, PLAIN), ([(-1, 1, 1), (2, 0, 2)], [(-2, -2, 1), (-3, 3, 1)])),
    "VEE": Layout((PLAIN, PLAIN), ([(3, -2, 2), (3, 1, 2)], [(3, 1, 1), (-1, 1, 1)])),
    "EVV": Layout((PLAIN, PLAIN), ([(-2, -1, 2), (-3, 3, 2)], [(1, -3, 1), (2, -1, 1)])),
    "EEV": Layout((THREE, FIVE), ([(4, 0, 2), (0, 3, 1)], [(1, 0, 1), (0, 2, 3)])),
    "VEV": Layout((THREE, FIVE), ([(4, 0, 2), (0, 3, 1)], [(4, 0, 1), (0, 1, 1)])),
    "EVE": Layout((THREE, THREE), ([(0, 1, 3), (6, -1, 1)], [(5, -3, 1), (5, 3, 2)])),
    "VVE": Layout((THREE, THREE), ([(0, 1, 3), (3, -1, 1)], [(1, -1, 2), (4, 1, 1)])),
}


def models() -> VectorFile:
    """One M-step for each of the eight models, from spheres."""
    file = VectorFile(
        "32-gaussian/models.json",
        "mixture.gaussian",
        "M-steps of the models that tie volumes, shapes or axes",
        {
            "numbers": "strings: an integer or a double in C99 hexadecimal",
            "state": "shares, means and covariances of the components, as the model writes them",
            "next": "what belongs to the parameters after the M-step; all of it is rational",
            "pass": "an answer passes when it is within bound of the true value",
        },
    )
    with mpmath.workdps(DIGITS):
        for model, layout in LAYOUTS.items():
            _add(file, model, layout)
    return file


def _add(file: VectorFile, model: str, layout: Layout) -> None:
    rows, s = layout.rows(), [_scatter(layout, k) for k in (0, 1)]
    n = [sum((Fraction(w) for own, _, w in rows if own == k), Fraction(0)) for k in (0, 1)]
    exact = [recognised(one) for one in estimated(model, s, n)]
    check(model, s, n, exact)
    errors = spread_errors(model, s, n, rows, STATE.means)
    means = [[Fraction(m) for m in mean] for mean in layout.means]
    count = len(rows) + 4
    sizes = [[sum(w * abs(x[j]) for own, x, w in rows if own == k) for j in (0, 1)] for k in (0, 1)]
    moved = [
        [(count * size / float(m) + abs(x)) * U for size, x in zip(*pair, strict=True)]
        for *pair, m in zip(sizes, layout.means, n, strict=True)
    ]
    sphere = [1.0, 1.0] if model in DIAGONAL else [1.0, 0.0, 0.0, 1.0]
    file.add(
        f"gmm-{model.lower()}",
        {
            "rows": told_rows([row for _, row, _ in rows]),
            "weights": [told(w) for _, _, w in rows],
            "model": model,
            "state": told_state(replace(STATE, spreads=[sphere] * 2)),
            "q": told_rows([[float(own == k) for k in (0, 1)] for own, _, _ in rows]),
        },
        {
            "counts": _told(n, [count * U * float(one) for one in n]),
            "next.weights": _told([one / sum(n) for one in n], [count * U] * 2),
            "next.means": _told(means, moved),
            "next.spreads": _told(*([_written(model, one) for one in x] for x in (exact, errors))),
        },
        f"shares given, model {model}: the covariances are fractions",
        formulas=["GMM-COV", "GMM-COVM", "GMM-MU", "GMM-NK", "GMM-PI"],
    )


def _written(model: str, one: Pair) -> list[Any]:
    """A covariance as its model writes it."""
    a, b, c = one
    return [a, c] if model in DIAGONAL else [a, b, b, c]


def _told(values: Any, bounds: Any) -> dict[str, Json]:
    if isinstance(values, list):
        return {"list": [_told(*pair) for pair in zip(values, bounds, strict=True)]}
    return {**encode(values), "bound": rounded_up(Fraction(allowed(bounds)))}


def _scatter(layout: Layout, k: int) -> Pair:
    mean = layout.means[k]
    own = [
        (Fraction(w), [Fraction(x) - m for x, m in zip(row, mean, strict=True)])
        for c, row, w in layout.rows()
        if c == k
    ]
    return tuple(  # type: ignore[return-value]
        sum((w * y[i] * y[j] for w, y in own), Fraction(0)) for i, j in PLACES
    )
