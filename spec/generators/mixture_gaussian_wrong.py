"""What misprinted formulas and common mistakes make of a Gaussian step, by balls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .mixture_gaussian import Problem, joint, lifted, square
from .mixture_numbers import BALLS

Wrong = Callable[[Problem, dict[str, Any]], dict[str, Any]]


def _mirrored(problem: Problem, found: dict[str, Any]) -> list[Any]:
    """log p with a plus in the exponent: twice its value at the mean, less its own."""
    state, zero = problem.state, BALLS.of(Fraction(0))
    matrices = [square(one, len(problem.rows[0]), zero) for one in lifted(BALLS, state.spreads)]
    means = lifted(BALLS, state.means)
    peak = joint(BALLS, means, (lifted(BALLS, state.weights), means, matrices))[0][0]
    return [2 * peak - row[0] for row in found["joint"]]


def _sign(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    return {"densities": [x.exp() for x in _mirrored(problem, found)]}


def _sign_sum(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    return {"log_likelihood": BALLS.total(_mirrored(problem, found))}


def _entropy(_: Problem, found: dict[str, Any]) -> dict[str, Any]:
    names = ("next.lower_bound", "next.expected_complete")
    return {names[0]: found[names[1]], names[1]: found[names[0]]}


def _index(problem: Problem, _: dict[str, Any]) -> dict[str, Any]:
    k = len(problem.state.weights)
    return {"responsibilities": [[Fraction(1, k)] * k for _ in problem.rows]}


def _weighted(problem: Problem, mass: Any, means: Any, n: Any) -> list[Any]:
    """Covariances from any masses, around any means, divided by any numbers."""
    rows, d = lifted(BALLS, problem.rows), len(problem.rows[0])
    return [
        [
            BALLS.total(
                [
                    row[c] * (x[i] - mean[i]) * (x[j] - mean[j])
                    for row, x in zip(mass, rows, strict=True)
                ]
            )
            / size
            for i in range(d)
            for j in range(d)
        ]
        for c, (mean, size) in enumerate(zip(means, n, strict=True))
    ]


def _norm(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    d, zero = len(problem.rows[0]), Fraction(0)
    spreads = [
        [
            BALLS.total([one[i * d + i] for i in range(d)]) if i == j else zero
            for i in range(d)
            for j in range(d)
        ]
        for one in found["next.spreads"]
    ]
    return {"next.spreads": spreads}


def _unweighted(problem: Problem, _: dict[str, Any]) -> dict[str, Any]:
    rows = lifted(BALLS, problem.rows)
    k, n = len(problem.state.weights), len(rows)
    mean = [BALLS.total(list(column)) / n for column in zip(*rows, strict=True)]
    ones = [[BALLS.of(Fraction(1))] * k for _ in rows]
    return {
        "counts": [Fraction(n)] * k,
        "next.weights": [Fraction(1)] * k,
        "next.means": [mean] * k,
        "next.spreads": _weighted(problem, ones, [mean] * k, [n] * k),
    }


def _old_mean(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    old = lifted(BALLS, problem.state.means)
    return {"next.spreads": _weighted(problem, found["q"], old, found["counts"])}


def _divisor(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    less = [n - 1 for n in found["counts"]]
    means = found["next.means"]
    return {"next.spreads": _weighted(problem, found["q"], means, less)}


def _half(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    """The determinant in the place of its root: log |S| for half of it."""
    state = problem.state
    logs = []
    for spread in lifted(BALLS, state.spreads):
        matrix = square(spread, len(problem.rows[0]), BALLS.of(Fraction(0)))
        det = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]
        logs.append(det.log() / 2)
    rows = [
        BALLS.total([(x - less).exp() for x, less in zip(row, logs, strict=True)]).log()
        for row in found["joint"]
    ]
    return {"log_likelihood": BALLS.total(rows)}


WRONG: dict[str, Wrong] = {
    "ERR-01": _sign,
    "ERR-02": _sign_sum,
    "ERR-14": _entropy,
    "ERR-30": _index,
    "ERR-33": _norm,
    "ERR-34": _unweighted,
    "old-mean": _old_mean,
    "divisor": _divisor,
    "half": _half,
}
