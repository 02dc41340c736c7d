"""Bounds of a Gaussian step, by the analysis of ``mixture_bounds``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .mixture_bounds import Matrix, Shares, Triangle, U, absolute, added, apply, log, product, total
from .mixture_bounds import transposed as turned
from .mixture_gaussian import MODELS, Problem, square
from .mixture_numbers import floats_of

LOG_TWO_PI = log(2.0) + log(3.141592653589793)


def joint_errors(
    rows: Matrix, weights: Sequence[float], means: Matrix, covs: Any
) -> tuple[Matrix, Matrix]:
    """The error of each log p(x, k) at parameters that are doubles, and the size of its terms."""
    columns, sizes = [], []
    for share, mean, cov in zip(weights, means, covs, strict=True):
        triangle, d = Triangle.of(cov), len(mean)
        parts = [abs(log(share)), d * LOG_TWO_PI / 2, triangle.log_diagonal]
        fixed = triangle.log_error() + 4 * U * (2 * parts[0] + 2 * parts[1] + parts[2])
        column, terms = [], []
        white = absolute(triangle.inverse)
        for row in rows:
            away = [x - m for x, m in zip(row, mean, strict=True)]
            size = total([z * z for z in apply(white, [abs(x) for x in away])])
            column.append(fixed + triangle.square_error(away) / 2 + 2 * U * size)
            terms.append(total(parts) + size / 2)
        columns.append(column)
        sizes.append(terms)
    return turned(columns), turned(sizes)


@dataclass(frozen=True, slots=True)
class Moved:
    """How far the new parameters may be off: shares, means, whole covariances."""

    weights: list[float]
    means: Matrix
    matrices: list[Matrix]


def moved(problem: Problem, shares: Shares, found: dict[str, Any]) -> Moved:
    """The errors of the M-step."""
    d, k = len(problem.rows[0]), len(shares.q[0])
    whole, variances = _columns(problem)
    means, scatters = [], []
    for c in range(k):
        lost = [row[c] for row in shares.moved()]
        mass = [w * row[c] for w, row in zip(shares.weights, shares.q, strict=True)]
        mean = found["next.means"][c]
        size = total(mass)
        dm = _mean_error(problem.rows, mass, lost, mean, size)
        means.append(dm)
        around = [
            absolute_moments(problem.rows, mass, mean, centre)
            for centre in (mean, problem.state.means[c], whole)
        ]
        spent = absolute_moments(problem.rows, lost, mean, mean)
        signed = _signed_moments(problem.rows, mass, mean)
        n = len(problem.rows)
        scatters.append(
            [
                [
                    spent[i][j]
                    + abs(signed[i][j]) * total(lost) / size
                    + (n + 8) * U * max(one[i][j] for one in around)
                    + size * dm[i] * dm[j]
                    + (n + 4) * U * abs(signed[i][j])
                    + (i == j) * (n + 14) * U * problem.floor * variances[i]
                    for j in range(d)
                ]
                for i in range(d)
            ]
        )
    # Pooling adds K scatters, a mean over the diagonal d entries; both divide.
    more = (d + k + 4) * U
    matrices = [
        [
            [x + more * abs(y) for x, y in zip(*pair, strict=True)]
            for pair in zip(*both, strict=True)
        ]
        for both in zip(
            _divided(problem, scatters, shares.sizes()), found["next.matrices"], strict=True
        )
    ]
    return Moved(shares.shares_of_all(), means, matrices)


def _divided(problem: Problem, scatters: list[Matrix], sizes: list[float]) -> list[Matrix]:
    """Errors of scatters as errors of covariances of the model."""
    form, pooled = MODELS[problem.model]
    d = len(scatters[0])
    if pooled:
        one = [[total([s[i][j] for s in scatters]) for j in range(d)] for i in range(d)]
        scatters, sizes = [one] * len(sizes), [total(sizes)] * len(sizes)
    found = []
    for scatter, size in zip(scatters, sizes, strict=True):
        matrix = [[x / size for x in line] for line in scatter]
        if form != "full":
            matrix = [[matrix[i][j] if i == j else 0.0 for j in range(d)] for i in range(d)]
        if form == "spherical":
            mean = total([matrix[i][i] for i in range(d)]) / d
            matrix = [[mean if i == j else 0.0 for j in range(d)] for i in range(d)]
        found.append(matrix)
    return found


def _mean_error(
    rows: Matrix, mass: list[float], lost: list[float], mean: list[float], size: float
) -> list[float]:
    n = len(rows)
    return [
        total(
            [
                dq * abs(row[j] - mean[j]) + (n + 4) * U * q * abs(row[j])
                for dq, q, row in zip(lost, mass, rows, strict=True)
            ]
        )
        / size
        + U * abs(mean[j])
        for j in range(len(mean))
    ]


def absolute_moments(
    rows: Matrix, mass: list[float], mean: list[float], centre: list[float]
) -> Matrix:
    """Absolute second moments around a centre, with those of the correction to the mean."""
    step = [abs(m - a) for m, a in zip(mean, centre, strict=True)]
    size, d = total(mass), len(mean)
    far = [[abs(x - a) for x, a in zip(row, centre, strict=True)] for row in rows]
    return [
        [_moment(mass, far, i, j) + 2 * size * step[i] * step[j] for j in range(d)]
        for i in range(d)
    ]


def _moment(mass: list[float], rows: Matrix, i: int, j: int) -> float:
    return total([w * row[i] * row[j] for w, row in zip(mass, rows, strict=True)])


def _signed_moments(rows: Matrix, mass: list[float], mean: list[float]) -> Matrix:
    own = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
    d = len(mean)
    return [[_moment(mass, own, i, j) for j in range(d)] for i in range(d)]


def _columns(problem: Problem) -> tuple[list[float], list[float]]:
    """Mean and variance of every column."""
    masses, whole = problem.masses, total(problem.masses)
    means, found = [], []
    for column in zip(*problem.rows, strict=True):
        mean = total([w * x for w, x in zip(masses, column, strict=True)]) / whole
        terms = [w * (x - mean) ** 2 for w, x in zip(masses, column, strict=True)]
        means.append(mean)
        found.append(total(terms) / whole)
    return means, found


def shifted(rows: Matrix, found: dict[str, Any], matrices: list[Matrix], off: Moved) -> Matrix:
    """How far each log p(x, k) moves with parameters that are off."""
    d = len(rows[0])
    columns = []
    for c, matrix in enumerate(matrices):
        p = Triangle.of(matrix).precision
        mean, dm, ds = found["next.means"][c], off.means[c], off.matrices[c]
        fixed = off.weights[c] / found["next.weights"][c]
        fixed += total([abs(p[i][j]) * ds[i][j] for i in range(d) for j in range(d)]) / 2
        column = []
        for row in rows:
            v = [abs(x) for x in apply(p, [x - m for x, m in zip(row, mean, strict=True)])]
            around = total([v[i] * ds[i][j] * v[j] for i in range(d) for j in range(d)]) / 2
            column.append(fixed + around + total([x * y for x, y in zip(v, dm, strict=True)]))
        columns.append(column)
    return turned(columns)


def traces(matrices: list[Matrix], off: list[Matrix], sizes: list[float]) -> float:
    """The error of half the traces of P times scatters, if taken of scatters that are off."""
    found = 0.0
    for matrix, error, n in zip(matrices, off, sizes, strict=True):
        white = absolute(Triangle.of(matrix).inverse)
        pull = product(turned(white), white)
        d = len(pull)
        found += n * total([pull[i][j] * error[i][j] for i in range(d) for j in range(d)]) / 2
    return found


def prior_errors(problem: Problem, matrices: list[Matrix], off: list[Matrix] | None) -> float:
    """The error of the log-prior, at covariances that are doubles or off by so much."""
    d, n = len(problem.rows[0]), len(problem.rows)
    extra = [problem.floor * v for v in _columns(problem)[1]]
    terms = []
    for c, matrix in enumerate(matrices):
        triangle = Triangle.of(matrix)
        for j in range(d):
            unit = [float(i == j) for i in range(d)]
            size = total([z * z for z in apply(triangle.inverse, unit)])
            terms.append(extra[j] * (triangle.square_error(unit) + (n + d + 12) * U * size))
        if off is not None:
            p = absolute(triangle.precision)
            scaled = [[x * extra[i] for i, x in enumerate(line)] for line in p]
            pull = product(scaled, p)
            terms += [pull[i][j] * off[c][i][j] for i in range(d) for j in range(d)]
    return total(terms) / 2


def step_bounds(problem: Problem, values: dict[str, Any]) -> dict[str, Any]:
    """The bound of every key, before the factor for the second order."""
    found = {name: floats_of(value) for name, value in values.items()}
    state, d = problem.state, len(problem.rows[0])
    matrices = [square(one, d, 0.0) for one in state.spreads]
    errors, sizes = joint_errors(problem.rows, state.weights, state.means, matrices)
    given = problem.hard or problem.q is not None
    masses, logs, log_p = problem.masses, found["joint"], found["row_log_likelihoods"]
    shares = Shares(masses, logs, errors, log_p, found["q"], found["log_q"], given)
    post = replace(shares, q=found["responsibilities"], given=False)
    off = moved(problem, shares, found)
    entropy, complete = shares.entropy(), shares.expectation(sizes, errors)
    rowwise = [shares.row(n) for n in range(len(problem.rows))]
    bounds = {
        "row_log_likelihoods": rowwise,
        "densities": [p * (r + 6 * U) for p, r in zip(found["densities"], rowwise, strict=True)],
        "log_likelihood": shares.log_likelihood(),
        "responsibilities": post.lost(),
        "entropy": entropy,
        "expected_complete": complete,
        "lower_bound": complete + entropy + 2 * U * abs(found["lower_bound"]),
        "kl": _divergence(shares, sizes, rowwise),
        "counts": shares.counts(),
        "next.weights": off.weights,
        "next.means": off.means,
        "next.spreads": [flat(problem.form, matrix) for matrix in off.matrices],
        "log_prior": prior_errors(problem, matrices, None),
    }
    if "next.joint" in found:
        bounds |= _followed(problem, shares, found, off)
    return bounds


def _divergence(shares: Shares, sizes: Matrix, rowwise: list[float]) -> float:
    errors = [[x + r for x in line] for line, r in zip(shares.errors, rowwise, strict=True)]
    both = [
        [abs(a) + b if a > -math.inf else 0.0 for a, b in zip(*pair, strict=True)]
        for pair in zip(shares.log_q, sizes, strict=True)
    ]
    return shares.expectation(both, errors)


def _followed(
    problem: Problem, shares: Shares, found: dict[str, Any], off: Moved
) -> dict[str, float]:
    after = found["next.matrices"]
    errors, sizes = joint_errors(problem.rows, found["next.weights"], found["next.means"], after)
    shift = shifted(problem.rows, found, after, off)
    everything = added(errors, shift)
    new = replace(
        shares,
        joint=found["next.joint"],
        errors=everything,
        log_p=found["next.row_log_likelihoods"],
        given=True,
    )
    pull = prior_errors(problem, after, off.matrices)
    complete = shares.expectation(sizes, errors) + pull
    complete += traces(after, off.matrices, shares.sizes())
    return {
        "next.expected_complete": complete,
        "next.lower_bound": complete + shares.entropy() + 2 * U * abs(found["next.lower_bound"]),
        "next.log_likelihood": new.log_likelihood(),
        "next.log_prior": pull,
    }


def flat(form: str, matrix: Matrix) -> list[float]:
    """A covariance as its model writes it."""
    if form == "full":
        return [x for line in matrix for x in line]
    return [matrix[i][i] for i in range(len(matrix))] if form == "diagonal" else [matrix[0][0]]
