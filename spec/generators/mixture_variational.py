"""One step of variational Bayes (chapter 34): beliefs from given shares, the bound, new shares.

Beliefs are fractions. The bound is found by the first witness from its closed form with gamma
functions, by the second as expected log-likelihood less divergence from the prior plus entropy,
with digamma functions. For the bounds on errors see ``mixture_bounds``; a digamma function is
allowed 128 u of max(1, |psi|, 1 / x), and it multiplies counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .mixture_bounds import Matrix
from .mixture_gaussian import lifted
from .mixture_numbers import BALLS, EXACT, NEVER, Field, log_sum, prepared
from .mixture_selection import Wishart
from .vectors_common import ball, mpmath

Rows = list[list[Fraction]]


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Rows and shares, and the prior: of components, and of words or of normal densities."""

    rows: Matrix
    q: Matrix
    alpha: Fraction
    beta: Fraction = Fraction(0)
    nu: Fraction = Fraction(0)
    concentration: Fraction = Fraction(0)  # of words; zero for normal densities

    @property
    def sizes(self) -> list[Fraction]:
        """The N of each component."""
        return [sum(column, Fraction(0)) for column in zip(*lifted(EXACT, self.q), strict=True)]

    @property
    def alphas(self) -> list[Fraction]:
        """The beliefs about shares."""
        return [self.alpha + n for n in self.sizes]

    def words(self) -> Rows:
        """The beliefs about words of each component."""
        rows, q = lifted(EXACT, self.rows), lifted(EXACT, self.q)
        return [
            [
                self.concentration
                + sum((s[c] * x[j] for s, x in zip(q, rows, strict=True)), Fraction(0))
                for j in range(len(rows[0]))
            ]
            for c in range(len(q[0]))
        ]

    def prior(self) -> Wishart:
        """The prior of means and precisions, in the units of the data."""
        return Wishart.of(self.rows, self.beta, self.nu)

    def densities(self) -> list[Wishart]:
        """The beliefs about means and precisions of each component."""
        rows, q, prior = lifted(EXACT, self.rows), lifted(EXACT, self.q), self.prior()
        return [_after(prior, rows, [s[c] for s in q]) for c in range(len(q[0]))]


def _after(prior: Wishart, rows: Rows, shares: list[Fraction]) -> Wishart:
    """A normal-Wishart distribution after rows that count by shares."""
    n, d = sum(shares, Fraction(0)), len(prior.mean)
    pairs = list(zip(shares, rows, strict=True))
    mean = [sum((s * x[j] for s, x in pairs), Fraction(0)) / n for j in range(d)]
    away = [a - m for a, m in zip(mean, prior.mean, strict=True)]
    pull = prior.beta * n / (prior.beta + n)
    scale = [
        [
            prior.scale[i][j]
            + sum((s * (x[i] - mean[i]) * (x[j] - mean[j]) for s, x in pairs), Fraction(0))
            + pull * away[i] * away[j]
            for j in range(d)
        ]
        for i in range(d)
    ]
    centre = [m + n * x / (prior.beta + n) for m, x in zip(prior.mean, away, strict=True)]
    return Wishart(centre, prior.beta + n, prior.nu + n, scale)


def lgamma(field: Field, x: Fraction) -> Any:
    """The logarithm of the gamma function."""
    return ball(x).lgamma() if field is BALLS else mpmath.iv.loggamma(field.of(x))


def digamma(field: Field, x: Fraction) -> Any:
    """The digamma function; mpmath has no interval of it, so its digits get a margin."""
    if field is BALLS:
        return ball(x).digamma()
    with mpmath.workprec(mpmath.iv.prec + 64):
        value = mpmath.digamma(mpmath.mpf(x.numerator) / x.denominator)
        margin = mpmath.ldexp(1, -mpmath.iv.prec + 16) * (1 + abs(value))
        return mpmath.iv.mpf([value - margin, value + margin])


def log_beta(field: Field, alpha: list[Fraction]) -> Any:
    """log B(alpha)."""
    return field.total([lgamma(field, a) for a in alpha]) - lgamma(field, sum(alpha, Fraction(0)))


def dirichlet_divergence(field: Field, alpha: list[Fraction], prior: list[Fraction]) -> Any:
    """KL between two Dirichlet distributions."""
    whole = digamma(field, sum(alpha, Fraction(0)))
    terms = [
        field.of(a - b) * (digamma(field, a) - whole) for a, b in zip(alpha, prior, strict=True)
    ]
    return log_beta(field, prior) - log_beta(field, alpha) + field.total(terms)


def log_z(field: Field, belief: Wishart) -> Any:
    """The logarithm of the constant of a Wishart density."""
    d, nu = len(belief.mean), field.of(belief.nu)
    _, log_det = prepared(field, lifted(field, belief.scale))
    gammas = [lgamma(field, (belief.nu - j) / 2) for j in range(d)]
    value = nu / 2 * (d * field.log(field.of(Fraction(2))) - log_det) + field.total(gammas)
    return value + field.log(field.pi()) * field.of(Fraction(d * (d - 1), 4))


def log_precision(field: Field, belief: Wishart) -> Any:
    """E[log |precision|]."""
    d = len(belief.mean)
    _, log_det = prepared(field, lifted(field, belief.scale))
    terms = [digamma(field, (belief.nu - j) / 2) for j in range(d)]
    return field.total(terms) + d * field.log(field.of(Fraction(2))) - log_det


def wishart_divergence(field: Field, belief: Wishart, prior: Wishart) -> Any:
    """KL between two normal-Wishart distributions."""
    d, nu = len(belief.mean), field.of(belief.nu)
    quadratic, _ = prepared(field, lifted(field, belief.scale))
    away = [field.of(a - b) for a, b in zip(belief.mean, prior.mean, strict=True)]
    ratio = field.of(prior.beta / belief.beta)
    means = d * ratio + field.of(prior.beta) * nu * quadratic(away) - d - d * field.log(ratio)
    units = [[field.of(Fraction(int(i == j))) for i in range(d)] for j in range(d)]
    trace = []
    for i in range(d):
        for j in range(d):
            both = [a + b for a, b in zip(units[i], units[j], strict=True)]
            entry = (quadratic(both) - quadratic(units[i]) - quadratic(units[j])) / 2
            trace.append(field.of(prior.scale[i][j]) * entry)
    free = field.of((belief.nu - prior.nu) / 2) * log_precision(field, belief)
    return (
        means / 2
        + log_z(field, prior)
        - log_z(field, belief)
        + free
        + nu / 2 * (field.total(trace) - d)
    )


def joint(field: Field, problem: Beliefs) -> list[list[Any]]:
    """The expected log p(x, k) of every row."""
    alphas = problem.alphas
    whole = digamma(field, sum(alphas, Fraction(0)))
    columns = []
    for c, alpha in enumerate(alphas):
        top = digamma(field, alpha) - whole
        if problem.concentration:
            words = problem.words()[c]
            tokens = digamma(field, sum(words, Fraction(0)))
            slopes = [digamma(field, x) - tokens for x in words]
            columns.append(
                [
                    top
                    + field.total(
                        [field.of(Fraction(x)) * s for x, s in zip(row, slopes, strict=True) if x]
                    )
                    for row in problem.rows
                ]
            )
            continue
        belief = problem.densities()[c]
        d, exact = len(belief.mean), lifted(EXACT, problem.rows)
        quadratic, _ = prepared(field, lifted(field, belief.scale))
        top += (log_precision(field, belief) - d * field.log(2 * field.pi())) / 2
        top -= field.of(d / belief.beta / 2)
        columns.append(
            [
                top
                - field.of(belief.nu / 2)
                * quadratic([field.of(x - m) for x, m in zip(row, belief.mean, strict=True)])
                for row in exact
            ]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def evaluated(field: Field, problem: Beliefs) -> dict[str, Any]:
    """The bound for the shares given, and the shares after it."""
    logs = joint(field, problem)
    log_p = [log_sum(field, row) for row in logs]
    exact = lifted(EXACT, problem.q)
    log_q = [[field.log(field.of(x)) if x else NEVER for x in row] for row in exact]
    entropy = -field.total(
        [
            field.of(x) * y
            for row, line in zip(exact, log_q, strict=True)
            for x, y in zip(row, line, strict=True)
            if x
        ]
    )
    gain = _closed(field, problem) if field is BALLS else _expected(field, problem, logs)
    return {
        "joint": logs,
        "log_p": log_p,
        "log_q": log_q,
        "bound": gain + entropy,
        "responsibilities": [
            [field.exp(x - p) for x in row] for row, p in zip(logs, log_p, strict=True)
        ],
    }


def _closed(field: Field, problem: Beliefs) -> Any:
    k = len(problem.alphas)
    value = log_beta(field, problem.alphas) - log_beta(field, [problem.alpha] * k)
    if problem.concentration:
        prior = [problem.concentration] * len(problem.rows[0])
        terms = [log_beta(field, words) - log_beta(field, prior) for words in problem.words()]
        return value + field.total(terms)
    start, d = problem.prior(), len(problem.rows[0])
    for belief in problem.densities():
        value += field.of(Fraction(d, 2)) * field.log(field.of(start.beta / belief.beta))
        value += log_z(field, belief) - log_z(field, start)
    return value - field.of(Fraction(d * len(problem.rows), 2)) * field.log(2 * field.pi())


def _expected(field: Field, problem: Beliefs, logs: list[list[Any]]) -> Any:
    k = len(problem.alphas)
    exact = lifted(EXACT, problem.q)
    terms = [
        field.of(s) * x
        for row, line in zip(exact, logs, strict=True)
        for s, x in zip(row, line, strict=True)
    ]
    value = field.total(terms) - dirichlet_divergence(field, problem.alphas, [problem.alpha] * k)
    if problem.concentration:
        prior = [problem.concentration] * len(problem.rows[0])
        lost = [dirichlet_divergence(field, words, prior) for words in problem.words()]
    else:
        start = problem.prior()
        lost = [wishart_divergence(field, belief, start) for belief in problem.densities()]
    return value - field.total(lost)
