"""Steps on counts by their means: Poisson and geometric mixtures (chapter 35).

The first witness multiplies probabilities as the definitions read, with the gamma function for the
factorials; the second adds up logarithms, with that of the whole number x!. The M-step is the one
of counts with N in the place of the number of words, and fractions decide it where shares are
given.

Bounds, by the analysis of ``mixture_bounds``, s the slope, b the logarithm at 0, c = log x!:
  s errs by 13 u |s| (log mu - log(1 + mu) up to mu = 1, -log(1 + 1 / mu) above), its product with x
  by u more; b and c by 4 u of themselves and 4 u; a sum of 3 d + 1 terms by 3 d u of their sizes.
  So e = u ((3 d + 18) A + 8 d), A = |log pi| + sum of x |s| + |b| + c.
  A pass may leave c out and add it at the end: wherever |log p| is rounded, it is |log p| + c.
  mu: (dT + m dp + mu dN) / (N + m) + 8 u mu, dT as dN; p, if it is the mean of all rows, errs by
  dp = (2 n + 4) u p.
  At a computed mean, x s + b moves by |x - mu| / mu dmu, in the geometric law by a further
  1 / (1 + mu); so does the prior with p in the place of x, and by m |s| dp.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb

from . import mixture_counts as counted
from .mixture_bounds import Matrix, Shares, U, added, total, transposed
from .mixture_counts import Counts
from .mixture_numbers import BALLS, NEVER, Field, floats_of


@dataclass(frozen=True, slots=True)
class Means(Counts):
    """Rows of counts, and a state whose ``probabilities`` are means of columns."""

    kind: str = "poisson"

    @property
    def prior(self) -> tuple[Fraction, ...]:
        """The mean of each column in imagined rows."""
        masses = [*map(Fraction, self.masses)]
        return self.p or tuple(
            sum(w * x for w, x in zip(masses, column, strict=True)) / sum(masses)
            for column in zip(*self.rows, strict=True)
        )

    def logs(self, field: Field, weights: Any, thetas: Any) -> Any:
        """log p(x, k) of every row, -inf where something is counted that never counts."""
        return [
            [self._log(field, row, share, mu) for share, mu in zip(weights, thetas, strict=True)]
            for row in self.rows
        ]

    def _log(self, field: Field, row: list[int], share: Any, mu: Any) -> Any:
        cells = [*zip(map(Fraction, row), mu, strict=True)]
        if share == 0 or any(x and m == 0 for x, m in cells):
            return NEVER
        poisson = self.kind == "poisson"
        if field is BALLS:
            product = share
            for x, m in cells:
                product *= probability(self.kind, x, m)
                product /= arb(int(x) + 1).gamma() if poisson else arb(1)
            return product.log()
        terms = [logarithm(field, self.kind, x, m) for x, m in cells]
        ways = [-_log_factorial(field, x) for x in row if poisson and x > 1]
        return field.total([field.log(share), *terms, *ways])

    def pull(self, field: Field, thetas: Any) -> Any:
        """The log-prior: m times the logarithm of the likelihood of an imagined row."""
        terms = []
        for x, mu in ((x, m) for row in thetas for x, m in zip(self.prior, row, strict=True)):
            if self.m and x and mu == 0:
                return NEVER
            own = (
                probability(self.kind, x, mu).log()
                if field is BALLS
                else logarithm(field, self.kind, x, mu)
            )
            terms.append(field.of(self.m) * own)
        return field.total(terms)


def probability(kind: str, x: Fraction, mu: Any) -> Any:
    """The probability of a count, without the factorial: the first witness."""
    if kind == "poisson":
        return (mu ** BALLS.of(x) if x else arb(1)) * (-mu).exp()
    return ((mu / (1 + mu)) ** BALLS.of(x) if x else arb(1)) / (1 + mu)


def logarithm(field: Field, kind: str, x: Fraction, mu: Any) -> Any:
    """Its logarithm: the second witness."""
    high = field.of(x) * field.log(mu) if x else field.of(x)
    return high - (mu if kind == "poisson" else field.of(x + 1) * field.log(1 + mu))


@cache
def _log_factorial(field: Field, x: int) -> Any:
    return field.log(field.of(Fraction(math.factorial(x))))


def evaluated(field: Field, problem: Means) -> dict[str, Any]:
    """Everything about the state given, and the state after it."""
    found = counted.evaluated(field, problem)
    return {**found, "next.means": found["next.probabilities"]}


# Bounds.


def _slope(kind: str, mu: float) -> float:
    return abs(float((arb(mu) if kind == "poisson" else arb(mu) / (1 + arb(mu))).log()))


def _base(kind: str, mu: float) -> float:
    return mu if kind == "poisson" else float((1 + arb(mu)).log())


def _gradient(kind: str, x: float, mu: float) -> float:
    """How fast x s + b moves with the mean."""
    if not mu:
        return 0.0
    return abs(x - mu) / mu / (1.0 if kind == "poisson" else 1.0 + mu)


def _factorials(problem: Means) -> list[float]:
    """log x! of all columns together, row by row."""
    return [
        total([float(arb(x + 1).lgamma()) for x in row if problem.kind == "poisson"])
        for row in problem.rows
    ]


def joint_errors(problem: Means, weights: list[float], means: Matrix) -> tuple[Matrix, Matrix]:
    """The error of each log p(x, k), and the size of its terms."""
    kind, d = problem.kind, len(problem.rows[0])
    sizes = [
        [
            (abs(float(arb(share).log())) if share else 0.0)
            + ways
            + total([x * _slope(kind, m) for x, m in zip(row, mu, strict=True) if x and m])
            + total([_base(kind, m) for m in mu])
            for share, mu in zip(weights, means, strict=True)
        ]
        for row, ways in zip(problem.rows, _factorials(problem), strict=True)
    ]
    return [[U * ((3 * d + 18) * size + 8 * d) for size in line] for line in sizes], sizes


@dataclass(frozen=True)
class CountShares(Shares):
    """Shares from log-densities that were rounded without a part of them, row by row."""

    left_out: list[float]

    def relative(self, n: int, k: int) -> float:
        """The relative error of one share."""
        own = Shares.relative(self, n, k)
        return own + 2 * U * self.left_out[n] if own else own

    def row(self, n: int) -> float:
        """The error of log p(x)."""
        own = Shares.row(self, n)
        return own + 2 * U * self.left_out[n] if own else own

    def log_likelihood(self) -> float:
        """The error of J."""
        parts = zip(self.weights, self.left_out, strict=True)
        return Shares.log_likelihood(self) + total(
            [(len(self.weights) + 8) * U * w * c for w, c in parts]
        )

    def shares_of_all(self) -> list[float]:
        """The error of each pi; an impossible row has no share in their sum."""
        whole = total(self.sizes())
        pairs = zip(self.counts(), self.sizes(), strict=True)
        return [(lost + (len(self.q) + 4) * U * size) / whole for lost, size in pairs]


def moved(problem: Means, shares: Shares, means: Matrix) -> Matrix:
    """The errors of the new means."""
    n, m = len(problem.rows), float(problem.m)
    counts, sizes, lost = shares.counts(), shares.sizes(), shares.moved()
    found = []
    for c, line in enumerate(means):
        mass = [w * row[c] for w, row in zip(shares.weights, shares.q, strict=True)]
        errors = []
        for column, p, mu in zip(zip(*problem.rows, strict=True), problem.prior, line, strict=True):
            size = total([w * x for w, x in zip(mass, column, strict=True)])
            spent = total([row[c] * x for row, x in zip(lost, column, strict=True)])
            imagined = m * (2 * n + 4) * U * float(p)
            off = spent + (n + 2) * U * size + imagined + mu * counts[c]
            errors.append(off / (sizes[c] + m) + 8 * U * mu)
        found.append(errors)
    return found


def shifted(
    problem: Means, weights: list[float], means: Matrix, shares: list[float], off: Matrix
) -> Matrix:
    """How far each log p(x, k) moves with parameters that are off."""
    return transposed(
        [
            [
                (slip / share if share else 0.0)
                + total(
                    [
                        _gradient(problem.kind, x, m) * e
                        for x, m, e in zip(row, mu, errors, strict=True)
                    ]
                )
                for row in problem.rows
            ]
            for share, slip, mu, errors in zip(weights, shares, means, off, strict=True)
        ]
    )


def prior_errors(problem: Means, means: Matrix, off: Matrix | None) -> float:
    """The error of the log-prior."""
    kind, n, terms = problem.kind, len(problem.rows), []
    count = 2 * len(means) * len(means[0]) + 20
    for c, mu in enumerate(means):
        for j, (m, p) in enumerate(zip(mu, map(float, problem.prior), strict=True)):
            if m:
                slope = p * _slope(kind, m)
                terms.append(count * U * (slope + _base(kind, m) + 1) + (2 * n + 4) * U * slope)
                terms.append(_gradient(kind, p, m) * off[c][j] if off is not None else 0.0)
    return float(problem.m) * total(terms)


def step_bounds(problem: Means, values: dict[str, Any]) -> dict[str, Any]:
    """The bound of every key, before the factor for the second order."""
    found = {name: floats_of(value) for name, value in values.items()}
    state, means = problem.state, found["next.means"]
    errors, sizes = joint_errors(problem, state.weights, state.probabilities)
    shares = CountShares(
        problem.masses,
        found["joint"],
        errors,
        found["row_log_likelihoods"],
        found["q"],
        found["log_q"],
        problem.fixed,
        _factorials(problem),
    )
    post = replace(shares, q=found["responsibilities"], given=False)
    weights, off = shares.shares_of_all(), moved(problem, shares, means)
    bounds: dict[str, Any] = {
        "row_log_likelihoods": [shares.row(n) for n in range(len(problem.rows))],
        "log_likelihood": shares.log_likelihood(),
        "responsibilities": post.lost(),
        "entropy": shares.entropy(),
        "expected_complete": shares.expectation(sizes, errors),
        "counts": shares.counts(),
        "next.weights": weights,
        "next.means": off,
        "log_prior": prior_errors(problem, state.probabilities, None),
    }
    if "next.joint" not in found:
        return bounds
    errors, sizes = joint_errors(problem, found["next.weights"], means)
    moves = shifted(problem, found["next.weights"], means, weights, off)
    logs, log_p = found["next.joint"], found["next.row_log_likelihoods"]
    new = replace(shares, joint=logs, errors=added(errors, moves), log_p=log_p, given=True)
    pull = prior_errors(problem, means, off) if problem.m else 0.0
    complete = shares.expectation(sizes, errors) + pull
    return bounds | {
        "next.expected_complete": complete,
        "next.lower_bound": complete + shares.entropy(),
        "next.log_likelihood": new.log_likelihood(),
        "next.log_prior": pull,
    }
