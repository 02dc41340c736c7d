"""One step of a multinomial or Bernoulli mixture by two witnesses (chapter 31).

The first witness multiplies powers of probabilities as the definition reads; the second adds up
logarithms. What labels or given shares make rational is decided by fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from .mixture_bounds import Matrix
from .mixture_gaussian import expected, lifted
from .mixture_numbers import BALLS, EXACT, NEVER, Field, floats_of, log_sum


@dataclass(frozen=True, slots=True)
class CountState:
    """Shares of the components, and of each the probability of every word, in doubles."""

    weights: list[float]
    probabilities: Matrix


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of counts, a state, and how the rows are shared out."""

    rows: list[list[int]]
    state: CountState
    kind: str = "multinomial"
    m: Fraction = Fraction(0)
    p: tuple[Fraction, ...] = ()
    weights: list[float] | None = None
    hard: bool = False
    q: Matrix | None = None
    toy: bool = False  # so small that the posteriors are given as fractions

    @property
    def masses(self) -> list[float]:
        """The weights of the rows."""
        return [1.0] * len(self.rows) if self.weights is None else self.weights

    @property
    def prior(self) -> tuple[Fraction, ...]:
        """The share of each word among imagined observations."""
        d = len(self.rows[0])
        return self.p or (Fraction(1, d if self.kind == "multinomial" else 2),) * d

    @property
    def fixed(self) -> bool:
        """Whether shares are by labels or given."""
        return self.hard or self.q is not None

    def logs(self, field: Field, weights: Any, thetas: Any) -> Any:
        """log p(x, k) of every row."""
        return joint(field, self.kind, self.rows, weights, thetas)

    def pull(self, field: Field, thetas: Any) -> Any:
        """The log-prior."""
        return log_prior(field, self, thetas)


def factors(kind: str, row: list[int], theta: list[Any], one: Any) -> list[tuple[Any, int]]:
    """Probabilities and their powers in the density of a row, without those to the power of 0."""
    found = [(t, x) for t, x in zip(theta, row, strict=True) if x]
    if kind == "bernoulli":
        found += [(one - t, 1) for t, x in zip(theta, row, strict=True) if not x]
    return found


def joint(field: Field, kind: str, rows: list[list[int]], weights: Any, thetas: Any) -> Any:
    """log p(x, k) of every row, -inf where a factor is zero."""
    one = field.of(Fraction(1))
    found = []
    for row in rows:
        line: list[Any] = []
        for share, theta in zip(weights, thetas, strict=True):
            parts = [(share, 1), *factors(kind, row, theta, one)]
            line.append(_log_product(field, parts))
        found.append(line)
    return found


def _log_product(field: Field, parts: list[tuple[Any, int]]) -> Any:
    if any(_zero(value) for value, _ in parts):
        return NEVER
    if field is BALLS:
        product = arb(1)
        for value, power in parts:
            product *= value**power
        return product.log()
    return field.total([power * field.log(value) for value, power in parts])


def _zero(value: Any) -> bool:
    return bool(value == 0)


def exact_posteriors(problem: Counts) -> list[list[Fraction]]:
    """Posteriors of small problems as the fractions they are; zero if there is no component."""
    found = []
    for row in problem.rows:
        densities = []
        for share, theta in zip(problem.state.weights, problem.state.probabilities, strict=True):
            product = Fraction(share)
            for value, power in factors(problem.kind, row, lifted(EXACT, theta), Fraction(1)):
                product *= value**power
            densities.append(product)
        whole = sum(densities, Fraction(0))
        found.append([x / whole if whole else x for x in densities])
    return found


def maximised(field: Field, problem: Counts, q: Any) -> dict[str, Any]:
    """Counts, shares of components and probabilities of words."""
    masses = lifted(field, problem.masses)
    mass = [
        [w * share for w, share in zip(masses, column, strict=True)]
        for column in zip(*q, strict=True)
    ]
    counts = [field.total(column) for column in mass]
    whole = field.total(counts)
    m, prior = field.of(problem.m), [field.of(x) for x in problem.prior]
    thetas = []
    for column, n in zip(mass, counts, strict=True):
        words = [
            field.total([w * x for w, x in zip(column, line, strict=True)])
            for line in zip(*problem.rows, strict=True)
        ]
        tokens = field.total(words) if problem.kind == "multinomial" else n
        thetas.append(_estimates(words, tokens, m, prior))
    return {
        "counts": counts,
        "next.weights": [n / whole for n in counts],
        "next.probabilities": thetas,
    }


def _estimates(words: Any, tokens: Any, m: Any, prior: Any) -> list[Any]:
    if isinstance(tokens, Fraction) and not tokens + m:
        return list(prior)
    return [(x + m * share) / (tokens + m) for x, share in zip(words, prior, strict=True)]


def log_prior(field: Field, problem: Counts, thetas: Any) -> Any:
    """m times the sum of p log theta, in a Bernoulli mixture also of (1 - p) log(1 - theta)."""
    one, terms = field.of(Fraction(1)), []
    for theta in thetas:
        for value, share in zip(theta, problem.prior, strict=True):
            pairs = [(value, share)]
            if problem.kind == "bernoulli":
                pairs.append((one - value, 1 - share))
            for x, part in pairs:
                if part and problem.m:
                    if _zero(x):
                        return NEVER
                    terms.append(field.of(problem.m * part) * field.log(x))
    return field.total(terms)


def coefficients(field: Field, problem: Counts) -> Any:
    """The weighted sum of the logarithms of multinomial coefficients."""
    terms = []
    for w, row in zip(lifted(field, problem.masses), problem.rows, strict=True):
        if field is BALLS:
            value = arb(sum(row) + 1).lgamma()
            for x in row:
                value -= arb(x + 1).lgamma()
        else:
            ways, before = 1, 0
            for x in row:
                before += x
                ways *= math.comb(before, x)
            value = field.log(field.of(Fraction(ways)))
        terms.append(w * value)
    return field.total(terms)


def shares_given(problem: Counts, logs: Any) -> list[list[Fraction]]:
    """Shares by labels or as given, exactly."""
    if problem.q is not None:
        return [[Fraction(x) for x in row] for row in problem.q]
    labels = [row.index(max(row)) for row in floats_of(logs)]
    k = len(problem.state.weights)
    return [[Fraction(int(label == c)) for c in range(k)] for label in labels]


def _sum_rows(field: Field, masses: Any, log_p: list[Any]) -> Any:
    """The weighted sum, -inf if a row that counts is impossible."""
    pairs = [(w, p) for w, p in zip(masses, log_p, strict=True) if floats_of(w)]
    if any(p is NEVER for _, p in pairs):
        return NEVER
    return field.total([w * p for w, p in pairs])


def evaluated(field: Field, problem: Counts) -> dict[str, Any]:
    """Everything about the state given, and the state after it."""
    masses, zero = lifted(field, problem.masses), Fraction(0)
    thetas = lifted(field, problem.state.probabilities)
    weights = lifted(field, problem.state.weights)
    logs = problem.logs(field, weights, thetas)
    log_p = [log_sum(field, row) for row in logs]
    log_post = [
        [NEVER if x is NEVER else x - p for x in row] for row, p in zip(logs, log_p, strict=True)
    ]
    post = [[zero if x is NEVER else field.exp(x) for x in row] for row in log_post]
    q, log_q = _held(field, post), log_post
    if problem.fixed:
        exact = shares_given(problem, logs)
        q = lifted(field, exact)
        log_q = [[field.log(field.of(x)) if x else NEVER for x in row] for row in exact]
    entropy = -expected(field, masses, q, log_q)
    impossible = any(
        x is NEVER and y is not NEVER
        for row, line in zip(logs, log_q, strict=True)
        for x, y in zip(row, line, strict=True)
    )
    complete = NEVER if impossible else expected(field, masses, q, logs)
    likelihood = _sum_rows(field, masses, log_p)
    with_ways = likelihood if likelihood is NEVER else likelihood + coefficients(field, problem)
    return {
        **maximised(field, problem, q),
        "joint": logs,
        "q": q,
        "log_q": log_q,
        "row_log_likelihoods": log_p,
        "log_likelihood": likelihood,
        "log_likelihood[coefficient=multinomial]": with_ways,
        "responsibilities": post,
        "entropy": entropy,
        "expected_complete": complete,
        "lower_bound": NEVER if complete is NEVER else complete + entropy,
        "log_prior": problem.pull(field, thetas),
    }


def _held(field: Field, post: Any) -> Any:
    return [[field.of(x) if isinstance(x, Fraction) else x for x in row] for row in post]


def followed(field: Field, problem: Counts, found: dict[str, Any]) -> dict[str, Any]:
    """The same with everything about the state after it."""
    masses, thetas = lifted(field, problem.masses), found["next.probabilities"]
    logs = problem.logs(field, found["next.weights"], thetas)
    log_p = [log_sum(field, row) for row in logs]
    complete = expected(field, masses, found["q"], logs)
    return {
        **found,
        "next.joint": logs,
        "next.row_log_likelihoods": log_p,
        "next.expected_complete": complete,
        "next.lower_bound": complete + found["entropy"],
        "next.log_likelihood": _sum_rows(field, masses, log_p),
        "next.log_prior": problem.pull(field, thetas),
    }
