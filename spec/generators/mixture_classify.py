"""Classes from labelled rows: estimates as fractions, scores of new rows by two witnesses.

Naive Bayes is the M-step of a mixture with labels for shares, and so are the normal densities of
the discriminants; the errors of the estimates carry over to the scores (``mixture_bounds``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from . import mixture_count_bounds as count_bounds
from . import mixture_counts as counted
from . import mixture_gaussian as normal
from . import mixture_gaussian_bounds as normal_bounds
from .mixture_bounds import Matrix, Shares, Triangle, U, added, allowed, apply, log, total
from .mixture_counts import Counts, CountState
from .mixture_gaussian import Problem, State, square
from .mixture_numbers import EXACT, NEVER, WITNESSES, Field, floats_of, log_sum, prepared


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows with the number of their class, and rows to be classified."""

    rows: Any
    labels: list[int]
    queries: Any
    model: str  # of covariances, or the kind of counts
    weights: list[float] | None = None
    m: Fraction = Fraction(0)
    p: tuple[Fraction, ...] = ()
    prior: str = "documents"

    @property
    def k(self) -> int:
        """The number of classes."""
        return max(self.labels) + 1

    @property
    def one_hot(self) -> Matrix:
        """The labels as shares."""
        return [[float(label == c) for c in range(self.k)] for label in self.labels]

    @property
    def normal(self) -> bool:
        """Whether the classes have normal densities."""
        return self.model in normal.MODELS


def estimates(problem: Labelled) -> dict[str, Any]:
    """Priors and parameters of the classes, as fractions."""
    if problem.normal:
        found = normal.maximised(EXACT, _gaussian(problem), _exact(problem.one_hot))
    else:
        found = counted.maximised(EXACT, _counts(problem), _exact(problem.one_hot))
    told = {name.removeprefix("next."): value for name, value in found.items()}
    if problem.prior == "tokens":
        tokens = [Fraction(0)] * problem.k
        for row, label in zip(problem.rows, problem.labels, strict=True):
            tokens[label] += sum(row)
        told["weights"] = [x / sum(tokens, Fraction(0)) for x in tokens]
    if problem.prior == "equal":
        told["weights"] = [Fraction(1, problem.k)] * problem.k
    return told


def _exact(rows: Matrix) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in rows]


def _gaussian(problem: Labelled) -> Problem:
    d, k = len(problem.rows[0]), problem.k
    state = State([1 / k] * k, [[0.0] * d] * k, [[1.0] * d] * k)
    means = [
        [
            total(
                [
                    row[j]
                    for row, label in zip(problem.rows, problem.labels, strict=True)
                    if label == c
                ]
            )
            / problem.labels.count(c)
            for j in range(d)
        ]
        for c in range(k)
    ]
    state = replace(state, means=means)
    return Problem(problem.rows, state, problem.model, problem.weights, q=problem.one_hot)


def _counts(problem: Labelled) -> Counts:
    d, k = len(problem.rows[0]), problem.k
    state = CountState([1 / k] * k, [[1 / d] * d] * k)
    q = problem.one_hot
    return Counts(problem.rows, state, problem.model, problem.m, problem.p, problem.weights, q=q)


def scores(field: Field, problem: Labelled, found: dict[str, Any]) -> dict[str, Any]:
    """log p(x, k) of new rows, discriminants, posteriors, and linear forms of one covariance."""
    raised = {name: normal.lifted(field, value) for name, value in found.items()}
    if problem.normal:
        d, zero = len(problem.rows[0]), field.of(Fraction(0))
        matrices = [square(one, d, zero) for one in raised["spreads"]]
        rows = normal.lifted(field, problem.queries)
        logs = normal.joint(field, rows, (raised["weights"], raised["means"], matrices))
        constant = d * field.log(2 * field.pi()) / 2
        more = {"discriminants": [[x + constant for x in row] for row in logs]}
        if problem.model == "EEE":
            more |= _linear(field, raised, matrices[0])
    else:
        logs = counted.joint(
            field, problem.model, problem.queries, raised["weights"], raised["probabilities"]
        )
        more = {"totals": [field.total(row) for row in raised["probabilities"]]}
    log_p = [log_sum(field, row) for row in logs]
    shares = [
        [Fraction(0) if x is NEVER else field.exp(x - p) for x in row]
        for row, p in zip(logs, log_p, strict=True)
    ]
    return {**raised, **more, "joint": logs, "log_p": log_p, "scores": logs, "posteriors": shares}


def _linear(field: Field, raised: dict[str, Any], matrix: Any) -> dict[str, Any]:
    """Slopes P m and offsets log pi - m' P m / 2, by polarisation of the quadratic form."""
    quadratic, _ = prepared(field, matrix)
    d = len(matrix)
    units = [[field.of(Fraction(int(i == j))) for i in range(d)] for j in range(d)]
    slopes, offsets = [], []
    for share, mean in zip(raised["weights"], raised["means"], strict=True):
        whole = quadratic(mean)
        slopes.append(
            [
                (
                    quadratic([a + b for a, b in zip(mean, unit, strict=True)])
                    - whole
                    - quadratic(unit)
                )
                / 2
                for unit in units
            ]
        )
        offsets.append(field.log(share) - whole / 2)
    return {"linear.slopes": slopes, "linear.offsets": offsets}


def bounds(problem: Labelled, values: dict[str, Any]) -> dict[str, Any]:
    """The bound of every key, before the factor for the second order."""
    found = {name: floats_of(value) for name, value in values.items()}
    n, d = len(problem.rows), len(problem.rows[0])
    masses = [1.0] * n if problem.weights is None else problem.weights
    q = problem.one_hot
    labels = Shares(masses, q, q, [0.0] * n, q, q, True)
    if problem.normal:
        off, errors, more = _normal_errors(problem, labels, found)
    else:
        moved = count_bounds.moved(_counts(problem), labels, found["probabilities"])
        if problem.prior == "tokens":
            moved = replace(moved, weights=[(n + d + 4) * U * x for x in found["weights"]])
        theta = found["probabilities"]
        errors, _ = count_bounds.joint_errors(
            problem.model, problem.queries, found["weights"], theta
        )
        shift = count_bounds.shifted(problem.model, problem.queries, found["weights"], theta, moved)
        errors = added(errors, shift)
        off = {"weights": moved.weights, "probabilities": moved.probabilities}
        more = {
            "totals": [
                total(row) + d * U * total(t)
                for row, t in zip(moved.probabilities, theta, strict=True)
            ]
        }
    if not problem.queries:
        return {**off, **more, "counts": labels.counts()}
    ones = [1.0] * len(problem.queries)
    new = Shares(
        ones, found["joint"], errors, found["log_p"], found["posteriors"], found["joint"], False
    )
    return {
        **off,
        **more,
        "counts": labels.counts(),
        "scores": errors,
        "posteriors": new.lost(),
    }


def _normal_errors(
    problem: Labelled, labels: Shares, found: dict[str, Any]
) -> tuple[dict[str, Any], Matrix, dict[str, Any]]:
    d = len(problem.rows[0])
    matrices = [square(one, d, 0.0) for one in found["spreads"]]
    after = {
        "next.weights": found["weights"],
        "next.means": found["means"],
        "next.matrices": matrices,
    }
    moved = normal_bounds.moved(_gaussian(problem), labels, after)
    if problem.prior == "equal":
        moved = replace(moved, weights=[U / problem.k] * problem.k)
    errors, sizes = normal_bounds.joint_errors(
        problem.queries, found["weights"], found["means"], matrices
    )
    errors = added(errors, normal_bounds.shifted(problem.queries, after, matrices, moved))
    off = {
        "weights": moved.weights,
        "means": moved.means,
        "spreads": [
            normal_bounds.flat(normal.MODELS[problem.model][0], one) for one in moved.matrices
        ],
    }
    more: dict[str, Any] = {
        "discriminants": [
            [x + 2 * U * y for x, y in zip(*pair, strict=True)]
            for pair in zip(errors, sizes, strict=True)
        ]
    }
    if problem.model == "EEE":
        more |= _linear_errors(found, matrices[0], moved)
    return off, errors, more


def _linear_errors(found: dict[str, Any], matrix: Matrix, moved: Any) -> dict[str, Any]:
    triangle, d = Triangle.of(matrix), len(matrix)
    precision = [[abs(x) for x in line] for line in triangle.precision]
    spread = moved.matrices[0]
    slopes, offsets = [], []
    for c, (share, mean) in enumerate(zip(found["weights"], found["means"], strict=True)):
        w = [abs(x) for x in found["linear.slopes"][c]]
        pulled = [x + y for x, y in zip(moved.means[c], apply(spread, w), strict=True)]
        own = triangle.solution_error(mean)
        slopes.append([x + y for x, y in zip(own, apply(precision, pulled), strict=True)])
        off = moved.weights[c] / share + total(
            [x * y for x, y in zip(w, moved.means[c], strict=True)]
        )
        off += total([w[i] * spread[i][j] * w[j] for i in range(d) for j in range(d)]) / 2
        size = total([abs(m) * x for m, x in zip(mean, w, strict=True)])
        off += triangle.square_error(mean) / 2 + 8 * U * (abs(log(share)) + size)
        offsets.append(off)
    return {"linear.slopes": slopes, "linear.offsets": offsets}


def both(problem: Labelled) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Everything by both witnesses, and the estimates as fractions."""
    exact = estimates(problem)
    first, second = (scores(field, problem, exact) for field in WITNESSES)
    assert not any(math.isnan(x) for row in floats_of(first["joint"]) for x in row)
    return first, second, exact


def trained(problem: Labelled) -> tuple[Any, Any, float]:
    """The logarithm of the probability of all rows with their labels, and its bound."""
    own = replace(problem, queries=problem.rows)
    first, second, _ = both(own)
    masses = [1.0] * len(own.rows) if own.weights is None else own.weights
    places = list(enumerate(own.labels))
    values = [
        field.total(
            [
                field.of(Fraction(w)) * found["joint"][i][c]
                for w, (i, c) in zip(masses, places, strict=True)
            ]
        )
        for field, found in zip(WITNESSES, (first, second), strict=True)
    ]
    errors = bounds(own, first)["scores"]
    lost = [
        w * (errors[i][c] + (len(masses) + 8) * U * abs(floats_of(first["joint"][i][c])))
        for w, (i, c) in zip(masses, places, strict=True)
    ]
    return values[0], values[1], allowed(total(lost))
