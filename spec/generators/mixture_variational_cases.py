"""Cases of variational Bayes: one step from given shares, with bounds."""

from __future__ import annotations

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
from .mixture_variational import Beliefs, evaluated
from .values import Json
from .vectors_common import ball
from .writer import VectorFile

PSI = 128 * U


def psi(x: Fraction) -> float:
    """The size of what a digamma function may err by, in units of 128 u."""
    return max(1.0, abs(float(ball(x).digamma())), float(1 / x))


def beliefs_of(problem: Beliefs) -> tuple[dict[str, Any], dict[str, Any]]:
    """The beliefs as fractions, and their errors."""
    n = len(problem.rows)
    plain: dict[str, Any] = {"beliefs.alpha": problem.alphas}
    if problem.concentration:
        plain["beliefs.eta"] = problem.words()
        return plain, {key: _times((n + 4) * U, floats_of(x)) for key, x in plain.items()}
    found = problem.densities()
    plain |= {"beliefs.beta": [x.beta for x in found], "beliefs.nu": [x.nu for x in found]}
    errors = {key: _times((n + 4) * U, floats_of(x)) for key, x in plain.items()}
    moved = [normal_errors(problem, c, belief) for c, belief in enumerate(found)]
    plain |= {
        "beliefs.means": [x.mean for x in found],
        "beliefs.scales": [[y for line in x.scale for y in line] for x in found],
    }
    errors |= {
        "beliefs.means": [mean for mean, _ in moved],
        "beliefs.scales": [[y for line in scale for y in line] for _, scale in moved],
    }
    return plain, errors


def _times(factor: float, values: Any) -> Any:
    return [_times(factor, x) for x in values] if isinstance(values, list) else factor * values


def normal_errors(problem: Beliefs, c: int, belief: Wishart) -> tuple[list[float], Matrix]:
    """The errors of mean and inverse scale: those of mean and scatter, and of the prior."""
    rows, n, d = problem.rows, len(problem.rows), len(problem.rows[0])
    mass = [row[c] for row in problem.q]
    size, prior = total(mass), problem.prior()
    centre, scale = floats_of(prior.mean), floats_of(belief.scale)
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
    words, n = problem.words()[c], len(problem.rows)
    tokens = psi(sum(words, Fraction(0)))
    # An eta that is off by (n + 4) u of itself moves its digamma function by less than 2 (n + 4) u.
    slope = [PSI * (psi(x) + tokens) + (2 * n + len(words) + 20) * U * 2 * psi(x) for x in words]
    return total([x * s for x, s in zip(row, slope, strict=True)])


def _square_errors(problem: Beliefs, c: int, row: list[float]) -> float:
    belief = problem.densities()[c]
    d, n, nu = len(row), len(problem.rows), float(belief.nu)
    dm, ds = normal_errors(problem, c, belief)
    triangle = Triangle.of(floats_of(belief.scale))
    p = triangle.precision
    away = [x - m for x, m in zip(row, floats_of(belief.mean), strict=True)]
    v = [abs(x) for x in apply(p, away)]
    size = total([z * z for z in apply(triangle.inverse, away)])
    moved = total([x * y for x, y in zip(v, dm, strict=True)])
    moved += total([v[i] * ds[i][j] * v[j] for i in range(d) for j in range(d)]) / 2
    error = nu * (triangle.square_error(away) / 2 + moved + (n + 8) * U * size)
    error += triangle.log_error() + (d + 8) * U * triangle.log_diagonal
    error += total([abs(p[i][j]) * ds[i][j] for i in range(d) for j in range(d)]) / 2
    return error + total([PSI * psi((belief.nu - j) / 2) for j in range(d)]) + (n + 12) * U * d


def bound_error(problem: Beliefs, shares: Shares, found: dict[str, Any]) -> float:
    """The error of the bound: of the expectation, of the divergences, of the entropy."""
    error = shares.expectation(found["joint"], shares.errors) + shares.entropy()
    error += _dirichlet_error(problem.alphas, problem.alpha, len(problem.rows))
    if problem.concentration:
        parts = [
            _dirichlet_error(words, problem.concentration, len(problem.rows))
            for words in problem.words()
        ]
    else:
        parts = [_wishart_error(problem, c, one) for c, one in enumerate(problem.densities())]
    return total([error, *parts, 4 * U * abs(found["bound"])])


def _dirichlet_error(alpha: list[Fraction], prior: Fraction, n: int) -> float:
    points = [*alpha, sum(alpha, Fraction(0)), prior, prior * len(alpha)]
    gammas = total([abs(float(ball(x).lgamma())) + 4 for x in points])
    gammas += len(alpha) * abs(float(ball(prior).lgamma()))
    counts = total([abs(float(a - prior)) * 2 * psi(a) for a in alpha])
    whole = psi(sum(alpha, Fraction(0))) * total([abs(float(a - prior)) for a in alpha])
    return (PSI + (2 * n + 16) * U) * (counts + whole) + (20 + len(points)) * U * gammas


def _wishart_error(problem: Beliefs, c: int, belief: Wishart) -> float:
    prior, d, n = problem.prior(), len(belief.mean), len(problem.rows)
    ends = Triangle.of(floats_of(belief.scale)), Triangle.of(floats_of(prior.scale))
    nus = float(belief.nu), float(prior.nu)
    _, ds = normal_errors(problem, c, belief)
    logs = total([nu * one.log_error() for nu, one in zip(nus, ends, strict=True)])
    pulls = [absolute(one.precision) for one in ends]
    spread = total(
        [
            (nus[0] * pulls[0][i][j] * 2 + nus[1] * pulls[1][i][j]) * ds[i][j]
            for i in range(d)
            for j in range(d)
        ]
    )
    points = [(nu - j) / 2 for nu in (belief.nu, prior.nu) for j in range(d)]
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
    else:
        told |= {"beta": str(problem.beta), "nu": str(problem.nu)}
    own = "VB-MULT" if problem.concentration else "VB-GAUSS"
    file.add(slug, told, expect, description, formulas=["MS-VIE", "MS-VIELBO", "MS-VIM", own])


def steps() -> VectorFile:
    """One step of variational Bayes from given shares."""
    notes = {
        "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction",
        "beliefs": "of the parameters after the shares given; scales are inverses, row after row",
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
    return file
