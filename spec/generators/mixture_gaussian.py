"""One step of a Gaussian mixture by two witnesses (chapter 32), with bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .mixture_bounds import Matrix
from .mixture_numbers import BALLS, NEVER, Field, floats_of, log_sum, prepared

# Whether the M-step keeps whole matrices, diagonals or traces; and whether it pools components.
MODELS = {
    "VVV": ("full", False),
    "EEE": ("full", True),
    "VVI": ("diagonal", False),
    "EEI": ("diagonal", True),
    "VII": ("spherical", False),
    "EII": ("spherical", True),
}


@dataclass(frozen=True, slots=True)
class State:
    """Shares, means and covariances, in doubles; a covariance as its model writes it."""

    weights: list[float]
    means: Matrix
    spreads: Matrix


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, a state, and how the rows are shared out: by posteriors, labels, or given shares."""

    rows: Matrix
    state: State
    model: str = "VVV"
    weights: list[float] | None = None
    floor: float = 0.0
    hard: bool = False
    q: Matrix | None = None

    @property
    def form(self) -> str:
        """How one covariance is written."""
        return MODELS[self.model][0]

    @property
    def masses(self) -> list[float]:
        """The weights of the rows."""
        return [1.0] * len(self.rows) if self.weights is None else self.weights


def square(spread: Sequence[Any], d: int, zero: Any) -> list[list[Any]]:
    """A covariance as a whole matrix."""
    if len(spread) == d * d:
        return [list(spread[i * d : (i + 1) * d]) for i in range(d)]
    diagonal = spread if len(spread) == d else list(spread) * d
    return [[diagonal[i] if i == j else zero for j in range(d)] for i in range(d)]


def lifted(field: Field, values: Any) -> Any:
    """Doubles as numbers of a field, list by list."""
    if isinstance(values, list):
        return [lifted(field, one) for one in values]
    return field.of(Fraction(values))


def joint(field: Field, rows: Any, state: tuple[Any, Any, Any]) -> list[list[Any]]:
    """log p(x, k) of every row; a state is shares, means and whole covariances."""
    columns = []
    for share, mean, matrix in zip(*state, strict=True):
        quadratic, log_det = prepared(field, matrix)
        d = len(mean)
        top = field.log(share) - (d * field.log(2 * field.pi()) + log_det) / 2
        columns.append(
            [top - quadratic([x - m for x, m in zip(row, mean, strict=True)]) / 2 for row in rows]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def shared(field: Field, logs: list[list[Any]]) -> tuple[list[Any], list[list[Any]]]:
    """log p(x) of every row and the logarithms of its shares."""
    found = [log_sum(field, row) for row in logs]
    return found, [[x - p for x in row] for row, p in zip(logs, found, strict=True)]


def expected(field: Field, masses: Any, q: Any, values: Any) -> Any:
    """The sum of w q times values; what is never there has no share."""
    terms = [
        w * share * x
        for w, row, line in zip(masses, q, values, strict=True)
        for share, x in zip(row, line, strict=True)
        if x is not NEVER
    ]
    return field.total(terms)


def column_variances(field: Field, rows: Any, masses: Any) -> list[Any]:
    """The weighted variance of every column, divided by the sum of weights."""
    whole = field.total(masses)
    found = []
    for column in zip(*rows, strict=True):
        mean = field.total([w * x for w, x in zip(masses, column, strict=True)]) / whole
        terms = [w * (x - mean) * (x - mean) for w, x in zip(masses, column, strict=True)]
        found.append(field.total(terms) / whole)
    return found


def maximised(field: Field, problem: Problem, q: Any) -> dict[str, Any]:
    """Counts, shares, means and whole covariances that maximise the expectation."""
    rows, masses = lifted(field, problem.rows), lifted(field, problem.masses)
    d = len(rows[0])
    mass = [
        [w * share for w, share in zip(masses, column, strict=True)]
        for column in zip(*q, strict=True)
    ]
    counts = [field.total(column) for column in mass]
    means = [
        [
            field.total([w * row[j] for w, row in zip(column, rows, strict=True)]) / n
            for j in range(d)
        ]
        for column, n in zip(mass, counts, strict=True)
    ]
    extra = [field.of(Fraction(problem.floor)) * v for v in column_variances(field, rows, masses)]
    scatters = [
        _scatter(field, rows, column, mean, n, extra)
        for column, mean, n in zip(mass, means, counts, strict=True)
    ]
    whole = field.total(masses)
    return {
        "counts": counts,
        "next.weights": [n / whole for n in counts],
        "next.means": means,
        "next.spreads": spreads(field, problem.model, scatters, counts),
    }


def _scatter(field: Field, rows: Any, mass: Any, mean: Any, n: Any, extra: Any) -> list[list[Any]]:
    d = len(mean)
    found = [[field.of(Fraction(0))] * d for _ in range(d)]
    for i in range(d):
        for j in range(i + 1):
            if field is BALLS:
                raw = field.total([w * x[i] * x[j] for w, x in zip(mass, rows, strict=True)])
                value = raw - n * mean[i] * mean[j]
            else:
                value = field.total(
                    [
                        w * (x[i] - mean[i]) * (x[j] - mean[j])
                        for w, x in zip(mass, rows, strict=True)
                    ]
                )
            found[i][j] = found[j][i] = value + extra[i] if i == j else value
    return found


def spreads(field: Field, model: str, scatters: Any, counts: Any) -> list[list[Any]]:
    """Covariances of a model from central scatters, each as the model writes it."""
    form, pooled = MODELS[model]
    d = len(scatters[0])
    if pooled:
        one = [[field.total([s[i][j] for s in scatters]) for j in range(d)] for i in range(d)]
        scatters, counts = [one] * len(counts), [field.total(counts)] * len(counts)
    found = []
    for scatter, n in zip(scatters, counts, strict=True):
        if form == "full":
            found.append([x / n for line in scatter for x in line])
        elif form == "diagonal":
            found.append([scatter[i][i] / n for i in range(d)])
        else:
            found.append([field.total([scatter[i][i] for i in range(d)]) / n / d])
    return found


def log_prior(field: Field, problem: Problem, matrices: Any) -> Any:
    """-1/2 of the sum over components of tr(Psi S^-1)."""
    rows, masses = lifted(field, problem.rows), lifted(field, problem.masses)
    extra = [field.of(Fraction(problem.floor)) * v for v in column_variances(field, rows, masses)]
    d = len(extra)
    terms = []
    for matrix in matrices:
        quadratic, _ = prepared(field, matrix)
        for j in range(d):
            unit = [field.of(Fraction(int(i == j))) for i in range(d)]
            terms.append(extra[j] * quadratic(unit))
    return -field.total(terms) / 2


def evaluated(field: Field, problem: Problem) -> dict[str, Any]:
    """Everything about the state given, and the state after it."""
    rows, masses = lifted(field, problem.rows), lifted(field, problem.masses)
    d, zero = len(rows[0]), field.of(Fraction(0))
    matrices = [square(one, d, zero) for one in lifted(field, problem.state.spreads)]
    state = (lifted(field, problem.state.weights), lifted(field, problem.state.means), matrices)
    logs = joint(field, rows, state)
    log_p, log_post = shared(field, logs)
    post = [[field.exp(x) for x in row] for row in log_post]
    q, log_q = post, log_post
    if problem.hard or problem.q is not None:
        exact = shares_given(problem, logs)
        q = lifted(field, exact)
        log_q = [[field.log(field.of(x)) if x else NEVER for x in row] for row in exact]
    gaps = [
        [NEVER if a is NEVER else a - b for a, b in zip(*pair, strict=True)]
        for pair in zip(log_q, log_post, strict=True)
    ]
    entropy = -expected(field, masses, q, log_q)
    complete = expected(field, masses, q, logs)
    step = maximised(field, problem, q)
    return {
        **step,
        "next.matrices": [square(one, d, zero) for one in step["next.spreads"]],
        "joint": logs,
        "q": q,
        "log_q": log_q,
        "densities": [field.total([field.exp(x) for x in row]) for row in logs],
        "row_log_likelihoods": log_p,
        "log_likelihood": field.total([w * p for w, p in zip(masses, log_p, strict=True)]),
        "responsibilities": post,
        "entropy": entropy,
        "expected_complete": complete,
        "lower_bound": complete + entropy,
        "kl": expected(field, masses, q, gaps),
        "log_prior": log_prior(field, problem, matrices),
    }


def followed(field: Field, problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    """The same with everything about the state after it, which must not be singular."""
    rows, masses = lifted(field, problem.rows), lifted(field, problem.masses)
    after = found["next.matrices"]
    logs = joint(field, rows, (found["next.weights"], found["next.means"], after))
    log_p, _ = shared(field, logs)
    complete = expected(field, masses, found["q"], logs)
    return {
        **found,
        "next.joint": logs,
        "next.row_log_likelihoods": log_p,
        "next.expected_complete": complete,
        "next.lower_bound": complete + found["entropy"],
        "next.log_likelihood": field.total([w * p for w, p in zip(masses, log_p, strict=True)]),
        "next.log_prior": log_prior(field, problem, after),
    }


def shares_given(problem: Problem, logs: list[list[Any]]) -> list[list[Fraction]]:
    """Shares by labels or as given, exactly."""
    if problem.q is not None:
        return [[Fraction(x) for x in row] for row in problem.q]
    # Of equals the lowest index.
    labels, k = [row.index(max(row)) for row in floats_of(logs)], len(problem.state.weights)
    return [[Fraction(int(label == c)) for c in range(k)] for label in labels]
