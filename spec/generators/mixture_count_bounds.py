"""Bounds of a step on counts, by the analysis of ``mixture_bounds``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from flint import arb

from .mixture_bounds import Matrix, Shares, U, added, log, total
from .mixture_bounds import transposed as turned
from .mixture_counts import Counts
from .mixture_numbers import floats_of


def joint_errors(
    kind: str, rows: list[list[int]], weights: list[float], thetas: Matrix
) -> tuple[Matrix, Matrix]:
    """The error of each log p(x, k), and the size of its terms."""
    errors, sizes = [], []
    for row in rows:
        line, terms = [], []
        for share, theta in zip(weights, thetas, strict=True):
            d, own = len(theta), abs(_log(share))
            parts = [x * abs(_log(t)) for x, t in zip(row, theta, strict=True) if x and t]
            if kind == "bernoulli":
                absent = [abs(_log(1 - t)) if t < 1 else 0.0 for t in theta]
                parts += absent
                parts += [a for a, x in zip(absent, row, strict=True) if x]
            size = total(parts)
            line.append(U * (8 * own + (d + 10) * size + 2 * d * (kind == "bernoulli")))
            terms.append(own + size)
        errors.append(line)
        sizes.append(terms)
    return errors, sizes


def _log(value: float) -> float:
    return log(value) if value > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Moved:
    """How far the new parameters may be off."""

    weights: list[float]
    probabilities: Matrix


def moved(problem: Counts, shares: Shares, thetas: Matrix) -> Moved:
    """The errors of the M-step."""
    n, d, m = len(problem.rows), len(problem.rows[0]), float(problem.m)
    counts, sizes, lost = shares.counts(), shares.sizes(), shares.moved()
    found = []
    for c, theta in enumerate(thetas):
        mass = [w * row[c] for w, row in zip(shares.weights, shares.q, strict=True)]
        words, errors = [], []
        for column in zip(*problem.rows, strict=True):
            words.append(total([w * x for w, x in zip(mass, column, strict=True)]))
            spent = total([row[c] * x for row, x in zip(lost, column, strict=True)])
            errors.append(spent + (n + 2) * U * words[-1])
        multinomial = problem.kind == "multinomial"
        whole = (total(words) if multinomial else sizes[c]) + m
        off = total(errors) if multinomial else counts[c]
        found.append(
            [
                (e + t * off) / whole + (n + d + 8) * U * t if whole else U * t
                for e, t in zip(errors, theta, strict=True)
            ]
        )
    return Moved(shares.shares_of_all(), found)


def shifted(
    kind: str, rows: list[list[int]], weights: list[float], thetas: Matrix, off: Moved
) -> Matrix:
    """How far each log p(x, k) moves with parameters that are off."""
    columns = []
    for c, theta in enumerate(thetas):
        fixed = off.weights[c] / weights[c] if weights[c] else 0.0
        column = []
        for row in rows:
            terms = [
                x * e / t
                for x, t, e in zip(row, theta, off.probabilities[c], strict=True)
                if x and t
            ]
            if kind == "bernoulli":
                terms += [
                    e / (1 - t)
                    for x, t, e in zip(row, theta, off.probabilities[c], strict=True)
                    if not x and t < 1
                ]
            column.append(fixed + total(terms))
        columns.append(column)
    return turned(columns)


def prior_errors(problem: Counts, thetas: Matrix, off: Matrix | None) -> float:
    """The error of the log-prior."""
    terms = []
    m, d = float(problem.m), len(thetas[0])
    for c, theta in enumerate(thetas):
        for j, (t, share) in enumerate(zip(theta, map(float, problem.prior), strict=True)):
            pairs = [(t, share)]
            if problem.kind == "bernoulli":
                pairs.append((1 - t, 1 - share))
            for x, part in pairs:
                if x and part:
                    own = off[c][j] / x if off is not None else 0.0
                    terms.append(m * part * (own + (len(thetas) * d + 8) * U * (1 + abs(_log(x)))))
    return total(terms)


def way_errors(problem: Counts) -> float:
    """The error of the logarithms of multinomial coefficients."""
    terms = []
    for w, row in zip(problem.masses, problem.rows, strict=True):
        sizes = [float(arb(x + 1).lgamma()) for x in (sum(row), *row)]
        terms.append(w * (4 * len(row) + (len(problem.rows) + len(row) + 16) * total(sizes)) * U)
    return total(terms)


def step_bounds(problem: Counts, values: dict[str, Any]) -> dict[str, Any]:
    """The bound of every key, before the factor for the second order."""
    found = {name: floats_of(value) for name, value in values.items()}
    state = problem.state
    errors, sizes = joint_errors(problem.kind, problem.rows, state.weights, state.probabilities)
    masses, logs, log_p = problem.masses, found["joint"], found["row_log_likelihoods"]
    shares = Shares(masses, logs, errors, log_p, found["q"], found["log_q"], problem.fixed)
    post = replace(shares, q=found["responsibilities"], given=False)
    off = moved(problem, shares, found["next.probabilities"])
    entropy, complete = shares.entropy(), shares.expectation(sizes, errors)
    likelihood = shares.log_likelihood()
    bounds: dict[str, Any] = {
        "row_log_likelihoods": [shares.row(n) for n in range(len(problem.rows))],
        "log_likelihood": likelihood,
        "log_likelihood[coefficient=multinomial]": likelihood + way_errors(problem),
        "responsibilities": post.lost(),
        "entropy": entropy,
        "expected_complete": complete,
        "lower_bound": complete + entropy,
        "counts": shares.counts(),
        "next.weights": off.weights,
        "next.probabilities": off.probabilities,
        "log_prior": prior_errors(problem, state.probabilities, None),
    }
    if "next.joint" in found:
        bounds |= _followed(problem, shares, found, off)
    return bounds


def _followed(
    problem: Counts, shares: Shares, found: dict[str, Any], off: Moved
) -> dict[str, float]:
    weights, thetas = found["next.weights"], found["next.probabilities"]
    errors, sizes = joint_errors(problem.kind, problem.rows, weights, thetas)
    shift = shifted(problem.kind, problem.rows, weights, thetas, off)
    everything = added(errors, shift)
    new = replace(
        shares,
        joint=found["next.joint"],
        errors=everything,
        log_p=found["next.row_log_likelihoods"],
        given=True,
    )
    pull = prior_errors(problem, thetas, off.probabilities) if problem.m else 0.0
    complete = shares.expectation(sizes, errors) + pull
    return {
        "next.expected_complete": complete,
        "next.lower_bound": complete + shares.entropy(),
        "next.log_likelihood": new.log_likelihood()
        if math.isfinite(found["next.log_likelihood"])
        else 0.0,
        "next.log_prior": pull,
    }
