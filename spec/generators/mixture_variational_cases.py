"""Cases of variational Bayes: one step from given shares, with bounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from .mixture_bounds import Matrix, Shares, Triangle, U, absolute, allowed, apply, total
from .mixture_cases import cloud, tenths
from .mixture_count_cases import TOPICS, documents
from .mixture_gaussian import lifted
from .mixture_numbers import (
    BALLS,
    INTERVALS,
    WITNESSES,
    encode,
    floats_of,
    told_rows,
    use_precision,
)
from .mixture_selection import Wishart
from .mixture_variational import (
    Beliefs,
    Factor,
    Normal,
    dirichlet_pairs,
    evaluated,
    factor_pairs,
)
from .values import Json
from .vectors_common import ball
from .writer import VectorFile

PSI = 128 * U
CLAUSES = {
    "VVI": ["VB-DIAG"],
    "VII": ["VB-BALL"],
    "EEE": ["VB-COMMON"],
    "EEI": ["VB-COMMON", "VB-DIAG"],
    "EII": ["VB-BALL", "VB-COMMON"],
}


def psi(x: Fraction) -> float:
    """The size of what a digamma function may err by, in units of 128 u."""
    return max(1.0, abs(float(ball(x).digamma())), float(1 / x))


def beliefs_of(problem: Beliefs) -> tuple[dict[str, Any], dict[str, Any]]:
    """The beliefs as fractions, and their errors."""
    n = len(problem.rows)
    plain: dict[str, Any] = {"beliefs.alpha": problem.alphas}
    if problem.concentration:
        plain["beliefs.eta"] = [[x for words in own for x in words] for own in problem.words()]
        errors = {key: _times((n + 4) * U, floats_of(x)) for key, x in plain.items()}
        if problem.binary:
            # A word that is missing is the weight less the word: both err.
            errors["beliefs.eta"] = [
                [(n + 4) * U * float(x + size) for x in own]
                for own, size in zip(plain["beliefs.eta"], problem.sizes, strict=True)
            ]
        return plain, errors
    found = problem.densities()
    plain |= {
        "beliefs.beta": [x.beta for x in found],
        "beliefs.nu": [x.factors[0].nu for x in found],
    }
    errors = {key: _times((n + 4) * U, floats_of(x)) for key, x in plain.items()}
    plain |= {
        "beliefs.means": [x.mean for x in found],
        "beliefs.scales": [
            [y for factor in x.factors for line in factor.scale for y in line] for x in found
        ],
    }
    errors |= {
        "beliefs.means": [normal_errors(problem, c)[0] for c in range(len(found))],
        "beliefs.scales": [
            [
                y
                for factor, ds in zip(x.factors, scale_errors(problem, c), strict=True)
                for line in ds
                for y in line
            ]
            for c, x in enumerate(found)
        ],
    }
    return plain, errors


def _times(factor: float, values: Any) -> Any:
    return [_times(factor, x) for x in values] if isinstance(values, list) else factor * values


def normal_errors(problem: Beliefs, c: int) -> tuple[list[float], Matrix]:
    """The errors of mean and of a full inverse scale: those of mean, scatter and prior."""
    rows, n, d = problem.rows, len(problem.rows), len(problem.rows[0])
    mass = [row[c] for row in problem.q]
    size, prior = total(mass), Wishart.of(problem.rows, problem.beta, problem.nu)
    centre = floats_of(prior.mean)
    full = replace(problem, model="VVV").densities()[c].factors[0]
    scale = floats_of(full.scale)
    own = [total([q * x[j] for q, x in zip(mass, rows, strict=True)]) / size for j in range(d)]
    sizes = [
        total([q * abs(x[j]) for q, x in zip(mass, rows, strict=True)]) / size
        + total([abs(x[j]) for x in rows]) / n
        for j in range(d)
    ]
    dm = [(n + 6) * U * x for x in sizes]
    away = [abs(a - b) for a, b in zip(own, centre, strict=True)]
    pull = float(prior.beta) * size / (float(prior.beta) + size)
    ds = [
        [
            (n + 12) * U * 2 * _moment([1.0] * n, rows, centre, i, j) / n
            + (n + 8) * U * (_moment(mass, rows, centre, i, j) + 3 * size * away[i] * away[j])
            + (size + pull) * dm[i] * dm[j]
            + pull * (away[i] * dm[j] + away[j] * dm[i] + 8 * U * away[i] * away[j])
            + 6 * U * abs(scale[i][j])
            for j in range(d)
        ]
        for i in range(d)
    ]
    return dm, ds


def scale_errors(problem: Beliefs, c: int) -> list[Matrix]:
    """The errors of the inverse scales of the factors of a component.

    A number that is a sum over components or over columns has the sum of their errors, and u for
    each term; the prior is then counted several times, which only widens the bound.
    """
    d, k = len(problem.rows[0]), len(problem.alphas)
    parts = [normal_errors(problem, x)[1] for x in (range(k) if problem.common else (c,))]
    more = (k if problem.common else 0) + (d if problem.model.endswith("II") else 0)
    found = []
    for factor in problem.densities()[c].factors:
        size = len(factor.scale)
        found.append(
            [
                [
                    total([ds[g[i]][g[j]] for ds in parts for g in factor.groups])
                    + more * 2 * U * abs(float(factor.scale[i][j]))
                    for j in range(size)
                ]
                for i in range(size)
            ]
        )
    return found


def _moment(mass: list[float], rows: Matrix, centre: list[float], i: int, j: int) -> float:
    pairs = zip(mass, rows, strict=True)
    return total([q * abs(x[i] - centre[i]) * abs(x[j] - centre[j]) for q, x in pairs])


def joint_errors(problem: Beliefs, logs: Matrix) -> Matrix:
    """The errors of the expected log p(x, k)."""
    alphas, n = problem.alphas, len(problem.rows)
    whole = psi(sum(alphas, Fraction(0)))
    found = []
    for i, row in enumerate(problem.rows):
        line = []
        for c, alpha in enumerate(alphas):
            error = PSI * (psi(alpha) + whole) + (n + 8) * U * (4 + abs(logs[i][c]))
            if problem.concentration:
                error += _word_errors(problem, c, row)
            else:
                error += _square_errors(problem, c, row)
            line.append(error)
        found.append(line)
    return found


def _word_errors(problem: Beliefs, c: int, row: list[float]) -> float:
    n, errors = len(problem.rows), []
    for words in problem.words()[c]:
        tokens = psi(sum(words, Fraction(0)))
        # An eta off by (n + 4) u of itself moves its digamma function by less than 2 (n + 4) u; as
        # a difference, one off by as much of the weight as well.
        rest = float(problem.sizes[c] / min(words) + 1) if problem.binary else 1.0
        errors.append(
            [
                PSI * (psi(x) + tokens) + (2 * n + len(words) + 20) * U * 2 * psi(x) * rest
                for x in words
            ]
        )
    if problem.binary:
        # Offset and log-odds: what a missing word costs, and once more where it is there.
        return total([there + 2 * missing for there, missing in errors])
    return total([x * s for x, s in zip(row, errors[0], strict=True)])


def _square_errors(problem: Beliefs, c: int, row: list[float]) -> float:
    belief, (dm, _) = problem.densities()[c], normal_errors(problem, c)
    pairs = zip(belief.factors, scale_errors(problem, c), strict=True)
    return total([_factor_errors(problem, belief, row, dm, *pair) for pair in pairs])


def _factor_errors(
    problem: Beliefs, belief: Normal, row: list[float], dm: list[float], factor: Factor, ds: Matrix
) -> float:
    d, n, nu = len(factor.scale), len(problem.rows), float(factor.nu)
    triangle = Triangle.of(floats_of(factor.scale))
    p = triangle.precision
    errors = []
    for group in factor.groups:
        away = [row[j] - float(belief.mean[j]) for j in group]
        v = [abs(x) for x in apply(p, away)]
        size = total([z * z for z in apply(triangle.inverse, away)])
        moved = total([x * dm[j] for x, j in zip(v, group, strict=True)])
        moved += total([v[i] * ds[i][j] * v[j] for i in range(d) for j in range(d)]) / 2
        error = nu * (triangle.square_error(away) / 2 + moved + (n + 8) * U * size)
        error += triangle.log_error() + (d + 8) * U * triangle.log_diagonal
        error += total([abs(p[i][j]) * ds[i][j] for i in range(d) for j in range(d)]) / 2
        error += total([PSI * psi((factor.nu - j) / 2) for j in range(d)]) + (n + 12) * U * d
        errors.append(error)
    return total(errors)


def bound_error(problem: Beliefs, shares: Shares, found: dict[str, Any]) -> float:
    """The error of the bound: of the expectation, of the divergences, of the entropy."""
    error = shares.expectation(found["joint"], shares.errors) + shares.entropy()
    n = len(problem.rows)
    error += _dirichlet_error(problem.alphas, problem.alpha, n)
    if problem.concentration:
        parts = [_dirichlet_error(x, problem.concentration, n) for x, _ in dirichlet_pairs(problem)]
    else:
        ds = [
            scale
            for c in range(1 if problem.common else len(problem.alphas))
            for scale in scale_errors(problem, c)
        ]
        pairs = zip(factor_pairs(problem), ds, strict=True)
        parts = [_wishart_error(problem, *pair, scale) for pair, scale in pairs]
    return total([error, *parts, 4 * U * abs(found["bound"])])


def _dirichlet_error(alpha: list[Fraction], prior: Fraction, n: int) -> float:
    points = [*alpha, sum(alpha, Fraction(0)), prior, prior * len(alpha)]
    gammas = total([abs(float(ball(x).lgamma())) + 4 for x in points])
    gammas += len(alpha) * abs(float(ball(prior).lgamma()))
    counts = total([abs(float(a - prior)) * 2 * psi(a) for a in alpha])
    whole = psi(sum(alpha, Fraction(0))) * total([abs(float(a - prior)) for a in alpha])
    return (PSI + (2 * n + 16) * U) * (counts + whole) + (20 + len(points)) * U * gammas


def _wishart_error(problem: Beliefs, factor: Factor, prior: Factor, ds: Matrix) -> float:
    d, n = len(factor.scale), len(problem.rows)
    ends = Triangle.of(floats_of(factor.scale)), Triangle.of(floats_of(prior.scale))
    nus = float(factor.nu), float(prior.nu)
    logs = total([nu * one.log_error() for nu, one in zip(nus, ends, strict=True)])
    pulls = [absolute(one.precision) for one in ends]
    spread = total(
        [
            (nus[0] * pulls[0][i][j] * 2 + nus[1] * pulls[1][i][j]) * ds[i][j]
            for i in range(d)
            for j in range(d)
        ]
    )
    points = [(nu - j) / 2 for nu in (factor.nu, prior.nu) for j in range(d)]
    gammas = total([abs(float(ball(x).lgamma())) + 4 for x in points])
    counts = total([psi(x) for x in points]) * (nus[0] + 1)
    trace = total(
        [pulls[0][i][j] * abs(float(prior.scale[i][j])) for i in range(d) for j in range(d)]
    )
    sizes = nus[0] * (trace + d + ends[0].log_diagonal) + nus[1] * ends[1].log_diagonal
    return logs + spread + PSI * counts + (n + d * d + 20) * U * (gammas + sizes)


def case(file: VectorFile, slug: str, problem: Beliefs, description: str) -> None:
    """Append a case."""
    use_precision()
    first, second = (evaluated(field, problem) for field in WITNESSES)
    flat = {key: floats_of(value) for key, value in first.items()}
    errors = joint_errors(problem, flat["joint"])
    ones = [1.0] * len(problem.rows)
    given = Shares(ones, flat["joint"], errors, flat["log_p"], problem.q, flat["log_q"], True)
    after = Shares(
        ones, flat["joint"], errors, flat["log_p"], flat["responsibilities"], flat["joint"], False
    )
    plain, off = beliefs_of(problem)
    expect: dict[str, Json] = {
        key: encode(lifted(BALLS, value), lifted(INTERVALS, value), allowed(off[key]), value)
        for key, value in plain.items()
    }
    lost = allowed(bound_error(problem, given, flat))
    expect["bound"] = encode(first["bound"], second["bound"], lost)
    shares = first["responsibilities"], second["responsibilities"]
    expect["responsibilities"] = encode(*shares, allowed(after.lost()))
    told: dict[str, Json] = {
        "rows": told_rows(problem.rows),
        "q": told_rows(problem.q),
        "alpha": str(problem.alpha),
    }
    if problem.concentration:
        told["concentration"] = str(problem.concentration)
        own = ["VB-MULT"]
    else:
        told |= {"beta": str(problem.beta), "nu": str(problem.nu)}
        own = ["VB-GAUSS"]
    if problem.binary:
        told["kind"], own = "bernoulli", ["VB-BERN"]
    if problem.model != "VVV":
        told["model"], own = problem.model, CLAUSES[problem.model]
    file.add(slug, told, expect, description, formulas=["MS-VIE", "MS-VIELBO", "MS-VIM", *own])


def steps() -> VectorFile:
    """One step of variational Bayes from given shares."""
    notes = {
        "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction",
        "beliefs": "of the parameters after the shares given; scales are inverses, row after row, "
        "as the covariance model stores covariances; eta of kind bernoulli: there, missing",
        "model": "the covariance model; VVV where there is none",
        "bound": "on the log evidence, at the shares given and these beliefs",
        "responsibilities": "those that the beliefs lead to",
        "pass": "an answer passes when it is within bound of the true value",
    }
    file = VectorFile(
        "34-selection/variational.json",
        "selection.variational",
        "Steps of variational Bayes",
        notes,
    )
    half = Fraction(1, 2)
    pairs = [[0.5, 0.5], [1.0, 0.0], [0.25, 0.75], [0.125, 0.875], [0.0, 1.0], [0.75, 0.25]]
    line = [[0.0], [0.5], [3.0], [4.25], [4.0], [1.0]]
    case(file, "vb-line", Beliefs(line, pairs, half, Fraction(1), Fraction(1)), "on the line")
    plane = cloud(391, 6, [[0.0, 0.0], [3.0, 1.0]], 1.5)
    case(file, "vb-plane", Beliefs(plane, pairs, half, Fraction(1), Fraction(2)), "two columns")
    strong = Beliefs(plane, pairs, Fraction(10), Fraction(8), Fraction(25, 2))
    case(file, "vb-strong", strong, "a prior that is sure of itself")
    three = [[0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] * 2
    space = tenths(cloud(392, 8, [[0.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 3.0, 0.0]], 1.5))
    sparse = Beliefs(space, three, Fraction(1, 3), Fraction(1), Fraction(3))
    case(file, "vb-space", sparse, "three columns in tenths, three components")
    sure = [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3
    case(file, "vb-sure", Beliefs(plane, sure, half, Fraction(1), Fraction(2)), "shares of one")
    words = [[float(x) for x in row] for row in documents(393, 6, TOPICS, 7)]
    one = Fraction(1)
    case(file, "vb-words", Beliefs(words, pairs, half, concentration=one), "words")
    thin = Beliefs(words, pairs, Fraction(1, 100), concentration=Fraction(1, 8))
    case(file, "vb-words-sparse", thin, "sparse priors")
    _models(file, Beliefs(plane, pairs, half, one, one), sparse)
    there = [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    both = Beliefs(there * 2, pairs, half, concentration=one, binary=True)
    case(file, "vb-binary", both, "words that are there or not")
    doubt = replace(both, alpha=Fraction(3), concentration=Fraction(1, 8))
    case(file, "vb-binary-sparse", doubt, "the same, a prior of extremes")
    return file


def _models(file: VectorFile, plane: Beliefs, space: Beliefs) -> None:
    """Every covariance model that has a conjugate prior."""
    words = {
        "VVI": "a precision for each column and component",
        "VII": "a precision for each component",
        "EEE": "one precision matrix for all",
        "EEI": "a precision for each column",
        "EII": "one precision",
    }
    for model, description in words.items():
        own = replace(plane, model=model, nu=Fraction(2 if model == "EEE" else 1))
        case(file, f"vb-{model.lower()}", own, description)
        sure = replace(own, alpha=Fraction(10), beta=Fraction(8), nu=Fraction(25, 2))
        case(file, f"vb-{model.lower()}-strong", sure, "the same, a prior that is sure of itself")
        more = replace(space, model=model)
        case(file, f"vb-{model.lower()}-space", more, "the same, three columns in tenths")
