"""The passes of a run: starts, steps, stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .kmeans_problem import Problem as Clustering
from .kmeans_problem import solve, starts
from .make_sampling import Twister
from .mixture_bounds import Shares, U, total
from .mixture_numbers import WITNESSES, floats_of, log_sum
from .mixture_run import (
    Chooser,
    Pass,
    Run,
    blended,
    errors_of,
    floats,
    joint,
    log_prior,
    maximised,
    moved,
    nothing,
    prior_error,
    raised,
    rounded,
    shares_of,
)

SAMPLED = ("stochastic", "monte-carlo")


@dataclass(frozen=True, slots=True)
class Done:
    """All passes of a run, why it ended, and which pass it returns."""

    passes: list[Pass]
    stopped: str
    best: int


def started(run: Run, stream: Twister) -> tuple[list[Any], Any]:
    """The first parameters by both witnesses, and what they are off by."""
    if not isinstance(run.start, list | str):
        theta = [raised(field, run, run.start) for field in WITNESSES]
        return theta, nothing(floats(theta[0]))
    n, masses = len(run.rows), run.masses
    if run.start == "points":
        return _points(run)
    if run.start != "random":
        exact = [[Fraction(int(label == c)) for c in range(run.k)] for label in _labels(run)]
        qs = [[[field.of(x) for x in row] for row in exact] for field in WITNESSES]
        q = floats_of(qs[0])
        shares = Shares(masses, q, q, [0.0] * n, q, q, True)
    else:
        numbers = [[1 - stream.number() for _ in range(run.k)] for _ in range(n)]
        logs = [
            [[field.log(-field.log(field.of(x))) for x in row] for row in numbers]
            for field in WITNESSES
        ]
        sums = [
            [log_sum(field, row) for row in one] for field, one in zip(WITNESSES, logs, strict=True)
        ]
        qs = [
            [[field.exp(x - s) for x in row] for row, s in zip(one, whole, strict=True)]
            for field, one, whole in zip(WITNESSES, logs, sums, strict=True)
        ]
        flat, errors = floats_of(logs[0]), [[8 * U] * run.k] * n
        shares = Shares(masses, flat, errors, floats_of(sums[0]), floats_of(qs[0]), flat, False)
    theta = [maximised(field, run, q) for field, q in zip(WITNESSES, qs, strict=True)]
    new = floats(theta[0])
    return theta, moved(run, shares, new, new)


def _labels(run: Run) -> Sequence[int]:
    """The labels to start from, given or those of k-means."""
    if isinstance(run.start, list):
        return run.start
    return solve(Clustering(run.rows, k=run.k, seed=run.seed, weights=run.weights)).run.labels


def _points(run: Run) -> tuple[list[Any], Any]:
    """Equal components around random rows, as wide as all rows together."""
    rows = starts(Clustering(run.rows, k=run.k, seed=run.seed, start="random"))[0]
    alone = replace(run, start=[0] * len(run.rows), k=1)
    wide, off = started(alone, Twister(0))
    theta = [
        [
            [field.of(Fraction(1, run.k))] * run.k,
            [[field.of(Fraction(x)) for x in row] for row in rows],
            one[2] * run.k,
        ]
        for field, one in zip(WITNESSES, wide, strict=True)
    ]
    return theta, [[U / run.k] * run.k, nothing(floats(theta[0])[1]), off[2] * run.k]


def done(run: Run, stream: Twister) -> Done:
    """Run to the end."""
    theta, off = started(run, stream)
    chooser, passes, stopped = Chooser(run, stream), list[Pass](), "limit"
    whole = total(run.masses)
    while True:
        one, shares, qs = _passed(run, theta, off, chooser)
        passes.append(one)
        if len(passes) > 1 and run.variation not in SAMPLED:
            gain = floats_of(one.objective[0] - passes[-2].objective[0]) / whole
            lost = (one.errors[1] + passes[-2].errors[1]) / whole
            assert abs(gain - float(run.tolerance)) > 8 * lost, "a stop on a border"
            if gain <= float(run.tolerance):
                stopped = "tolerance"
                break
        if len(passes) > run.limit:
            break
        old = floats(theta[0])
        new = [maximised(field, run, q) for field, q in zip(WITNESSES, qs, strict=True)]
        lost_all = moved(run, shares, old, floats(new[0]))
        if run.variation == "generalized":
            eta = run.option
            theta = [
                blended(a, b, field.of(eta))
                for field, a, b in zip(WITNESSES, theta, new, strict=True)
            ]
            off = rounded(blended(off, lost_all, float(eta)), floats(theta[0]))
        else:
            theta, off = new, lost_all
    best = len(passes) - 1
    if run.variation in SAMPLED:
        values, errors = zip(*(one.likelihood_and_prior() for one in passes), strict=True)
        best = values.index(max(values))
        slack = 8 * max(errors)
        # The same draws twice in a row lead to the same place.
        assert all(values[best] - x > slack or x == values[best] for x in values)
    return Done(passes, stopped, best)


def _passed(run: Run, theta: Any, off: Any, chooser: Chooser) -> tuple[Pass, Shares, Any]:
    logs = [joint(field, run, one) for field, one in zip(WITNESSES, theta, strict=True)]
    flat = floats_of(logs[0])
    errors = errors_of(run, floats(theta[0]), off)
    kept = chooser.kept(flat, errors)
    made = [shares_of(field, one, kept) for field, one in zip(WITNESSES, logs, strict=True)]
    sums = [
        [log_sum(field, row) for row in one] for field, one in zip(WITNESSES, logs, strict=True)
    ]
    masses = [[field.of(Fraction(w)) for w in run.masses] for field in WITNESSES]
    likelihoods, objectives = (
        tuple(
            field.total([w * x for w, x in zip(mass, values, strict=True)])
            for field, mass, values in zip(WITNESSES, masses, each, strict=True)
        )
        for each in (sums, [one[2] for one in made])
    )
    objectives = tuple(
        value + log_prior(field, run, one)
        for field, value, one in zip(WITNESSES, objectives, theta, strict=True)
    )
    q, log_q = floats_of(made[0][0]), floats_of(made[0][1])
    restricted = [
        [x if s is None or s else float("-inf") for x, s in zip(row, line, strict=True)]
        for row, line in zip(flat, kept, strict=True)
    ]
    given = None not in kept[0]
    shares = Shares(run.masses, restricted, errors, floats_of(made[0][2]), q, log_q, given)
    every = Shares(run.masses, flat, errors, floats_of(sums[0]), q, log_q, given)
    drawn = shares.expectation(flat, errors) + shares.entropy() if given else 0.0
    own = (drawn or shares.log_likelihood()) + prior_error(run, floats(theta[0]), off)
    one = Pass(
        (theta[0], theta[1]),
        off,
        (likelihoods[0], likelihoods[1]),
        (objectives[0], objectives[1]),
        (every.log_likelihood(), own),
        logs[0],
        errors,
        (log_prior(WITNESSES[0], run, theta[0]), prior_error(run, floats(theta[0]), off)),
    )
    return one, shares, [one_made[0] for one_made in made]
