"""One step of EM on rows with missing cells, from the definitions, in two ways.

The balls go by precision matrices: with L the inverse of a covariance, the missing cells have the
covariance L_mm^-1 and the slopes -L_mm^-1 L_mo, and the seen ones the precision that is left when
these are eliminated. The intervals go by the covariances themselves. Matrices are inverted by their
cofactors; every row is filled by itself, whatever its pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .mixture_gaussian import State
from .mixture_numbers import BALLS, EXACT, Field, log_sum

Row = Sequence[float | None]
Square = list[list[Any]]
FORMS = {"VVV": "full", "EEE": "full", "VVI": "diagonal", "EEI": "diagonal"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows with gaps, a state, and the model of the M-step."""

    rows: list[list[float | None]]
    state: State
    model: str = "VVV"
    weights: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What the seen cells of a row tell in one component."""

    log_density: Any
    row: list[Any]  # expected
    left: Square  # covariance
    entropy: Any


def determinant(matrix: Square, one: Any) -> Any:
    """By the first line."""
    if not matrix:
        return one
    total = one * 0
    for j, entry in enumerate(matrix[0]):
        minor = [line[:j] + line[j + 1 :] for line in matrix[1:]]
        total = total + (-1) ** j * entry * determinant(minor, one)
    return total


def inverse(matrix: Square, one: Any) -> Square:
    """By cofactors."""
    d, whole = len(matrix), determinant(matrix, one)

    def minor(i: int, j: int) -> Square:
        return [line[:j] + line[j + 1 :] for a, line in enumerate(matrix) if a != i]

    return [[(-1) ** (i + j) * determinant(minor(j, i), one) / whole for j in range(d)]
            for i in range(d)]  # fmt: skip


def part(matrix: Square, lines: Sequence[int], columns: Sequence[int]) -> Square:
    """Some lines and columns."""
    return [[matrix[i][j] for j in columns] for i in lines]


def product(left: Square, right: Square, zero: Any) -> Square:
    """Of two matrices."""
    return [
        [sum((a * b for a, b in zip(line, column, strict=True)), zero)
         for column in zip(*right, strict=True)]
        for line in left
    ]  # fmt: skip


def square(spread: Sequence[float], model: str, d: int) -> list[list[Fraction]]:
    """A covariance as a whole matrix."""
    numbers = list(map(Fraction, spread))
    if FORMS.get(model) == "full":
        return [numbers[i * d : (i + 1) * d] for i in range(d)]
    variances = numbers if len(numbers) == d and model in FORMS else numbers[:1] * d
    return [[variances[i] if i == j else Fraction(0) for j in range(d)] for i in range(d)]


@dataclass(frozen=True, slots=True)
class Algebra:
    """What needs no logarithm: the squared distance, the determinant, the row, what is left."""

    distance: Any
    volume: Any
    row: list[Any]
    left: Square
    hidden: Any  # the determinant of what is left


def algebra(field: Field, row: Row, mean: Sequence[Any], sigma: Square) -> Algebra:
    """The marginal of the seen cells and the conditional of the others."""
    one, zero = field.of(Fraction(1)), field.of(Fraction(0))
    o = [j for j, x in enumerate(row) if x is not None]
    m = [j for j, x in enumerate(row) if x is None]
    away = [[field.of(Fraction(x)) - mean[j]] for j, x in enumerate(row) if x is not None]
    slopes: Square = [[] for _ in m]
    if field is BALLS:
        precision = inverse(sigma, one)
        left = inverse(part(precision, m, m), one)
        kept = part(precision, o, o)
        if m and o:
            pulled = product(left, part(precision, m, o), zero)
            slopes = [[-x for x in line] for line in pulled]
            kept = minus(kept, product(part(precision, o, m), pulled, zero))
        volume = determinant(sigma, one) * determinant(part(precision, m, m), one)
    else:
        kept = inverse(part(sigma, o, o), one)
        left = part(sigma, m, m)
        if m and o:
            slopes = product(part(sigma, m, o), kept, zero)
            left = minus(left, product(slopes, part(sigma, o, m), zero))
        volume = determinant(part(sigma, o, o), one)
    seen = range(len(o))
    distance = sum((away[i][0] * kept[i][j] * away[j][0] for i in seen for j in seen), zero)
    filled = [zero if x is None else field.of(Fraction(x)) for x in row]
    whole = [[zero] * len(row) for _ in row]
    for a, j in enumerate(m):
        filled[j] = mean[j] + sum((slopes[a][b] * away[b][0] for b in seen), zero)
        for b, i in enumerate(m):
            whole[j][i] = left[a][b]
    return Algebra(distance, volume, filled, whole, determinant(left, one))


def minus(left: Square, right: Square) -> Square:
    """The difference of two matrices."""
    lines = zip(left, right, strict=True)
    return [[a - b for a, b in zip(x, y, strict=True)] for x, y in lines]


def given(field: Field, row: Row, mean: Sequence[Any], sigma: Square) -> Given:
    """The logarithm of the marginal density, the row expected, what is left, its entropy."""
    known, missing = algebra(field, row, mean, sigma), sum(x is None for x in row)
    two_pi = 2 * field.pi()
    log = (len(row) - missing) * field.log(two_pi) + field.log(known.volume)
    entropy = field.of(Fraction(0))
    if missing:
        entropy = (missing * (1 + field.log(two_pi)) + field.log(known.hidden)) / 2
    return Given(-(log + known.distance) / 2, known.row, known.left, entropy)


def evaluated(field: Field, problem: Problem) -> dict[str, Any]:
    """Everything that follows from the state, and the next state with what follows from that."""
    state, d = problem.state, len(problem.rows[0])
    of = field.of
    weights = [of(Fraction(w)) for w in problem.weights or [1.0] * len(problem.rows)]
    shares = [of(Fraction(x)) for x in state.weights]
    means = [[of(Fraction(x)) for x in mean] for mean in state.means]
    sigmas = [
        [[of(x) for x in line] for line in square(spread, problem.model, d)]
        for spread in state.spreads
    ]
    table = [
        [given(field, row, mu, sigma) for mu, sigma in zip(means, sigmas, strict=True)]
        for row in problem.rows
    ]
    joint = [
        [field.log(pi) + each.log_density for pi, each in zip(shares, line, strict=True)]
        for line in table
    ]
    logs = [log_sum(field, line) for line in joint]
    q = [[field.exp(x - log) for x in line] for line, log in zip(joint, logs, strict=True)]
    counts = [field.total([w * r[k] for w, r in zip(weights, q, strict=True)])
              for k in range(len(shares))]  # fmt: skip
    found: dict[str, Any] = {
        "joint": joint,
        "row_log_likelihoods": logs,
        "log_likelihood": field.total([w * x for w, x in zip(weights, logs, strict=True)]),
        "responsibilities": q,
        "expected_rows": [[each.row for each in line] for line in table],
        "uncertainties": [[[x for row in each.left for x in row] for each in line]
                          for line in table],
        "hidden_entropies": [[each.entropy for each in line] for line in table],
        "counts": counts,
    }  # fmt: skip
    return {**found, **_followed(field, problem, weights, q, counts, table)}


def rationals(problem: Problem) -> dict[str, Any]:
    """What is rational, in fractions: cells and covariances, and all of one component."""
    d, state = len(problem.rows[0]), problem.state
    components = [
        ([Fraction(x) for x in mean], square(spread, problem.model, d))
        for mean, spread in zip(state.means, state.spreads, strict=True)
    ]
    table = [[algebra(EXACT, row, *each) for each in components] for row in problem.rows]
    nothing = [all(x is None for x in row) for row in problem.rows]
    certain = sum(map(Fraction, state.weights)) == 1
    found: dict[str, Any] = {
        "expected_rows": [[each.row for each in line] for line in table],
        "uncertainties": [
            [[x for row in each.left for x in row] for each in line] for line in table
        ],
        "row_log_likelihoods": [Fraction(0) if empty and certain else None for empty in nothing],
        "responsibilities": [
            [Fraction(x) for x in state.weights] if empty and certain else None for empty in nothing
        ],
    }
    if len(components) > 1:
        return found
    weights = list(map(Fraction, problem.weights or [1.0] * len(problem.rows)))
    rows = [[Given(None, each.row, each.left, None) for each in line] for line in table]
    ones, whole = [[Fraction(1)]] * len(weights), sum(weights, Fraction(0))
    means, _, sigmas = _estimates(EXACT, problem, [weights], [whole], rows)
    return {
        **found,
        "responsibilities": ones,
        "counts": [whole],
        "next.weights": [Fraction(1)],
        "next.means": means,
        "next.spreads": [_spread(problem.model, sigma) for sigma in sigmas],
    }


def _followed(
    field: Field,
    problem: Problem,
    weights: list[Any],
    q: list[list[Any]],
    counts: list[Any],
    table: list[list[Given]],
) -> dict[str, Any]:
    d, k, zero = len(problem.rows[0]), len(counts), field.of(Fraction(0))
    whole = field.total(counts)
    masses = [[w * r[c] for w, r in zip(weights, q, strict=True)] for c in range(k)]
    means, scatters, sigmas = _estimates(field, problem, masses, counts, table)
    shares = [n / whole for n in counts]
    one, two_pi = field.of(Fraction(1)), 2 * field.pi()
    terms = []
    for c in range(k):
        precision = inverse(sigmas[c], one)
        trace = sum((precision[i][j] * scatters[c][j][i] for i in range(d) for j in range(d)), zero)
        log = d * field.log(two_pi) + field.log(determinant(sigmas[c], one))
        terms.append(counts[c] * (field.log(shares[c]) - log / 2) - trace / 2)
        for x, line, row in zip(masses[c], table, q, strict=True):
            terms.append(x * (line[c].entropy - field.log(row[c])))
    after = [
        log_sum(
            field,
            [
                field.log(pi) + given(field, row, mu, sigma).log_density
                for pi, mu, sigma in zip(shares, means, sigmas, strict=True)
            ],
        )
        for row in problem.rows
    ]
    return {
        "next.weights": shares,
        "next.means": means,
        "next.spreads": [_spread(problem.model, sigma) for sigma in sigmas],
        "next.lower_bound": field.total(terms),
        "next.log_likelihood": field.total([w * x for w, x in zip(weights, after, strict=True)]),
    }


def _estimates(
    field: Field,
    problem: Problem,
    masses: list[list[Any]],
    counts: list[Any],
    table: list[list[Given]],
) -> tuple[list[list[Any]], list[Square], list[Square]]:
    """Means, scatters and covariances of the M-step."""
    d, k = len(problem.rows[0]), len(counts)
    means = [
        [
            field.total([x * line[c].row[j] for x, line in zip(masses[c], table, strict=True)])
            / counts[c]
            for j in range(d)
        ]
        for c in range(k)
    ]
    scatters = [
        [
            [
                field.total(
                    [
                        x
                        * (
                            (line[c].row[i] - means[c][i]) * (line[c].row[j] - means[c][j])
                            + line[c].left[i][j]
                        )
                        for x, line in zip(masses[c], table, strict=True)
                    ]
                )
                for j in range(d)
            ]
            for i in range(d)
        ]
        for c in range(k)
    ]
    return means, scatters, _covariances(field, problem.model, counts, scatters)


def _covariances(field: Field, model: str, n: list[Any], s: list[Square]) -> list[Square]:
    d, k, zero = len(s[0]), len(n), field.of(Fraction(0))

    def matrix(values: list[Any]) -> Square:
        return [[values[i] if i == j else zero for j in range(d)] for i in range(d)]

    if model in ("EII", "EEI", "EEE"):
        s = [[[field.total([s_k[i][j] for s_k in s]) for j in range(d)] for i in range(d)]] * k
        n = [field.total(n)] * k
    if model in ("VVV", "EEE"):
        return [[[x / n_k for x in line] for line in s_k] for n_k, s_k in zip(n, s, strict=True)]
    pairs = list(zip(n, s, strict=True))
    if model in ("VVI", "EEI"):
        return [matrix([s_k[j][j] / n_k for j in range(d)]) for n_k, s_k in pairs]
    return [
        matrix([field.total([s_k[j][j] for j in range(d)]) / (d * n_k)] * d) for n_k, s_k in pairs
    ]


def _spread(model: str, sigma: Square) -> list[Any]:
    form = FORMS.get(model)
    if form == "full":
        return [x for line in sigma for x in line]
    return [sigma[j][j] for j in range(len(sigma) if form else 1)]
