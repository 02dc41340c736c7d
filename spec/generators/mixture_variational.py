"""One step of variational Bayes (chapter 34): beliefs from given shares, the bound, new shares.

Beliefs are fractions; the precision of a component is made of Wishart matrices, of all columns, of
one, or of one number for all, as its covariance model says. The bound is found by the first witness
from its closed form with gamma functions, by the second as expected log-likelihood less divergence
from the prior plus entropy, with digamma functions. For the bounds on errors see
``mixture_bounds``; a digamma function is allowed 128 u of max(1, |psi|, 1 / x), and it multiplies
counts.
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
class Factor:
    """A part of a precision matrix: a Wishart matrix, in one or several groups of columns."""

    groups: list[list[int]]
    nu: Fraction
    scale: Rows  # the inverse of the scale matrix


@dataclass(frozen=True, slots=True)
class Normal:
    """The beliefs about one component: where it is, and the parts of its precision."""

    mean: list[Fraction]
    beta: Fraction
    factors: list[Factor]


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Rows and shares, and the prior: of components, and of words or of normal densities."""

    rows: Matrix
    q: Matrix
    alpha: Fraction
    beta: Fraction = Fraction(0)
    nu: Fraction = Fraction(0)
    concentration: Fraction = Fraction(0)  # of words; zero for normal densities
    model: str = "VVV"  # of covariances
    binary: bool = False  # words are there or not

    @property
    def sizes(self) -> list[Fraction]:
        """The N of each component."""
        return [sum(column, Fraction(0)) for column in zip(*lifted(EXACT, self.q), strict=True)]

    @property
    def alphas(self) -> list[Fraction]:
        """The beliefs about shares."""
        return [self.alpha + n for n in self.sizes]

    @property
    def common(self) -> bool:
        """Whether all components have one precision."""
        return self.model.startswith("E")

    def words(self) -> list[Rows]:
        """The Dirichlet distributions of each component: one of all words, or one of each."""
        rows, q = lifted(EXACT, self.rows), lifted(EXACT, self.q)
        found = []
        for c, n in enumerate(self.sizes):
            sums = [
                sum((s[c] * x[j] for s, x in zip(q, rows, strict=True)), Fraction(0))
                for j in range(len(rows[0]))
            ]
            own = self.concentration
            if self.binary:
                found.append([[own + x, own + n - x] for x in sums])
            else:
                found.append([[own + x for x in sums]])
        return found

    def prior(self) -> Normal:
        """The prior of means and precisions, in the units of the data."""
        whole = Wishart.of(self.rows, self.beta, self.nu)
        return Normal(whole.mean, whole.beta, self._factors(whole.scale, self.nu))

    def densities(self) -> list[Normal]:
        """The beliefs about means and precisions of each component."""
        rows, q, n = lifted(EXACT, self.rows), lifted(EXACT, self.q), len(self.rows)
        start = Wishart.of(self.rows, self.beta, self.nu)
        own = [_after(start, rows, [s[c] for s in q]) for c in range(len(q[0]))]
        times = len(rows[0]) if self.model.endswith("II") else 1
        found = []
        for c, after in enumerate(own):
            scale, freedom = after.scale, self.nu + times * self.sizes[c]
            if self.common:
                # What every component adds to the prior, added up.
                scale = [
                    [
                        start.scale[i][j] + sum(x.scale[i][j] - start.scale[i][j] for x in own)
                        for j in range(len(rows[0]))
                    ]
                    for i in range(len(rows[0]))
                ]
                freedom = self.nu + times * n
            found.append(Normal(after.mean, after.beta, self._factors(scale, freedom, start.scale)))
        return found

    def _factors(self, scale: Rows, nu: Fraction, start: Rows | None = None) -> list[Factor]:
        """The parts of a precision whose inverse scale, without the form of the model, is this.

        A ball begins with the mean of the variances, not with their sum.
        """
        d = len(scale)
        if not self.model.endswith("I"):
            return [Factor([list(range(d))], nu, scale)]
        if not self.model.endswith("II"):
            return [Factor([[j]], nu, [[scale[j][j]]]) for j in range(d)]
        begun = scale if start is None else start
        before = sum((begun[j][j] for j in range(d)), Fraction(0))
        whole = sum((scale[j][j] for j in range(d)), Fraction(0)) - before + before / d
        return [Factor([[j] for j in range(d)], nu, [[whole]])]


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


def log_z(field: Field, factor: Factor) -> Any:
    """The logarithm of the constant of a Wishart density."""
    d, nu = len(factor.scale), field.of(factor.nu)
    _, log_det = prepared(field, lifted(field, factor.scale))
    gammas = [lgamma(field, (factor.nu - j) / 2) for j in range(d)]
    value = nu / 2 * (d * field.log(field.of(Fraction(2))) - log_det) + field.total(gammas)
    return value + field.log(field.pi()) * field.of(Fraction(d * (d - 1), 4))


def log_precision(field: Field, factor: Factor) -> Any:
    """E[log |factor|]."""
    d = len(factor.scale)
    _, log_det = prepared(field, lifted(field, factor.scale))
    terms = [digamma(field, (factor.nu - j) / 2) for j in range(d)]
    return field.total(terms) + d * field.log(field.of(Fraction(2))) - log_det


def expected_square(field: Field, belief: Normal, x: list[Fraction]) -> Any:
    """E[(x - m)' precision (x - m)] at the mean m of the beliefs."""
    terms = []
    for factor in belief.factors:
        quadratic, _ = prepared(field, lifted(field, factor.scale))
        for group in factor.groups:
            terms.append(
                field.of(factor.nu) * quadratic([field.of(x[j] - belief.mean[j]) for j in group])
            )
    return field.total(terms)


def mean_divergence(field: Field, belief: Normal, prior: Normal) -> Any:
    """E[KL] between two normal distributions of a mean, over the precision they share."""
    d, ratio = len(belief.mean), field.of(prior.beta / belief.beta)
    far = field.of(prior.beta) * expected_square(field, belief, prior.mean)
    return (d * ratio + far - d - d * field.log(ratio)) / 2


def factor_divergence(field: Field, factor: Factor, prior: Factor) -> Any:
    """KL between two Wishart distributions."""
    d, nu = len(factor.scale), field.of(factor.nu)
    quadratic, _ = prepared(field, lifted(field, factor.scale))
    units = [[field.of(Fraction(int(i == j))) for i in range(d)] for j in range(d)]
    trace = []
    for i in range(d):
        for j in range(d):
            both = [a + b for a, b in zip(units[i], units[j], strict=True)]
            entry = (quadratic(both) - quadratic(units[i]) - quadratic(units[j])) / 2
            trace.append(field.of(prior.scale[i][j]) * entry)
    free = field.of((factor.nu - prior.nu) / 2) * log_precision(field, factor)
    return log_z(field, prior) - log_z(field, factor) + free + nu / 2 * (field.total(trace) - d)


def factor_pairs(problem: Beliefs) -> list[tuple[Factor, Factor]]:
    """All factors of all components with those of the prior; common ones once."""
    beliefs, start = problem.densities(), problem.prior()
    return [
        pair
        for belief in beliefs[: 1 if problem.common else None]
        for pair in zip(belief.factors, start.factors, strict=True)
    ]


def joint(field: Field, problem: Beliefs) -> list[list[Any]]:
    """The expected log p(x, k) of every row."""
    alphas = problem.alphas
    whole = digamma(field, sum(alphas, Fraction(0)))
    parts = _words(field, problem) if problem.concentration else _normals(field, problem)
    tops = [digamma(field, alpha) - whole for alpha in alphas]
    return [[top + part[i] for top, part in zip(tops, parts, strict=True)]
            for i in range(len(problem.rows))]  # fmt: skip


def _words(field: Field, problem: Beliefs) -> list[list[Any]]:
    found = []
    for own in problem.words():
        logs = [
            [digamma(field, x) - digamma(field, sum(words, Fraction(0))) for x in words]
            for words in own
        ]
        lines = []
        for row in problem.rows:
            if problem.binary:
                terms = [pair[0] if x else pair[1] for x, pair in zip(row, logs, strict=True)]
            else:
                pairs = zip(row, logs[0], strict=True)
                terms = [field.of(Fraction(x)) * s for x, s in pairs if x]
            lines.append(field.total(terms))
        found.append(lines)
    return found


def _normals(field: Field, problem: Beliefs) -> list[list[Any]]:
    found, exact = [], lifted(EXACT, problem.rows)
    for belief in problem.densities():
        d = len(belief.mean)
        logs = [len(factor.groups) * log_precision(field, factor) for factor in belief.factors]
        top = (field.total(logs) - d * field.log(2 * field.pi())) / 2
        top -= field.of(d / belief.beta / 2)
        found.append([top - expected_square(field, belief, row) / 2 for row in exact])
    return found


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


def dirichlet_pairs(problem: Beliefs) -> list[tuple[list[Fraction], list[Fraction]]]:
    """All Dirichlet distributions of words with those of the prior."""
    return [
        (words, [problem.concentration] * len(words)) for own in problem.words() for words in own
    ]


def _closed(field: Field, problem: Beliefs) -> Any:
    k = len(problem.alphas)
    value = log_beta(field, problem.alphas) - log_beta(field, [problem.alpha] * k)
    if problem.concentration:
        terms = [log_beta(field, x) - log_beta(field, y) for x, y in dirichlet_pairs(problem)]
        return value + field.total(terms)
    start, d = problem.prior(), len(problem.rows[0])
    for belief in problem.densities():
        value += field.of(Fraction(d, 2)) * field.log(field.of(start.beta / belief.beta))
    for factor, first in factor_pairs(problem):
        value += log_z(field, factor) - log_z(field, first)
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
        lost = [dirichlet_divergence(field, x, y) for x, y in dirichlet_pairs(problem)]
    else:
        start = problem.prior()
        lost = [mean_divergence(field, belief, start) for belief in problem.densities()]
        lost += [factor_divergence(field, *pair) for pair in factor_pairs(problem)]
    return value - field.total(lost)
