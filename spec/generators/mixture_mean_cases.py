"""Steps on counts by their means as cases: keys, input, what is rational (chapter 35)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from . import mixture_counts as counted
from .mixture_bounds import Matrix
from .mixture_cases import ESTEP, THEORY, Family, Keys, Wrong
from .mixture_counts import CountState, shares_given
from .mixture_gaussian import lifted
from .mixture_means import Means, evaluated, joint_errors, step_bounds
from .mixture_numbers import BALLS, EXACT, log_sum, told, told_rows
from .values import Json
from .writer import VectorFile

MSTEP: Keys = ("counts", "next.weights", "next.means")
STEP: Keys = (*ESTEP, *MSTEP, *THEORY)
CERTIFIED: Keys = ("certified_log_likelihood",)
PRIOR: Keys = ("next.log_prior",)
LAWS = {"poisson": "PMIX-LL", "geometric": "GEO-LL"}
LIKELIHOODS = (*ESTEP[:2], "certified_log_likelihood", "expected_complete", *THEORY[2:])


def _posteriors(problem: Means) -> list[list[Fraction]]:
    """Posteriors as the fractions they are; Poisson's if all components count equally much."""
    found = []
    for row in problem.rows:
        line = []
        for share, means in zip(problem.state.weights, problem.state.probabilities, strict=True):
            product = Fraction(share)
            for x, mu in zip(row, map(Fraction, means), strict=True):
                product *= mu**x if problem.kind == "poisson" else mu**x / (1 + mu) ** (x + 1)
            line.append(product)
        found.append([x / sum(line) for x in line])
    return found


def _rationals(problem: Means, found: dict[str, Any]) -> dict[str, Any]:
    exact: dict[str, Any] = {}
    state, shares = problem.state, None
    sums = {sum(map(Fraction, mu)) for mu in state.probabilities}
    even = problem.kind == "poisson" and len(sums) == 1 and sum(map(Fraction, state.weights)) == 1
    if even:  # nothing is counted with probability exp(-mu), mu the sum of means
        [mu] = sums
        exact["row_log_likelihoods"] = [None if any(row) else -mu for row in problem.rows]
    if problem.toy:
        assert even or problem.kind == "geometric"
        exact["responsibilities"] = shares = _posteriors(problem)
    if len(state.weights) == 1:
        shares = [[Fraction(1)]] * len(problem.rows)
        exact |= {"responsibilities": shares, "entropy": Fraction(0)}
    if problem.fixed:
        shares = shares_given(problem, found["joint"])
    if shares is None:
        return exact
    after = counted.maximised(EXACT, problem, shares)
    return {**exact, **after, "next.means": after["next.probabilities"]}


def _told(problem: Means) -> dict[str, Json]:
    given: dict[str, Json] = {
        "rows": [[str(x) for x in row] for row in problem.rows],
        "kind": problem.kind,
        "state": {
            "weights": [told(x) for x in problem.state.weights],
            "means": told_rows(problem.state.probabilities),
        },
    }
    given |= {"m": str(problem.m)} if problem.m else {}
    given |= {"p": [str(x) for x in problem.p]} if problem.p else {}
    given |= {"weights": [told(x) for x in problem.weights]} if problem.weights else {}
    given |= {"assign": "hard"} if problem.hard else {}
    given |= {"q": told_rows(problem.q)} if problem.q else {}
    return given


def _cited(problem: Means, keys: Sequence[str]) -> set[str]:
    found = {LAWS[problem.kind]} if set(keys) & set(LIKELIHOODS) else set()
    found |= {"CM-MU"} if "next.means" in keys else set()
    return found | ({"CM-PRIOR"} if {"log_prior", "next.log_prior"} & set(keys) else set())


def _errors(problem: Means) -> Matrix:
    return joint_errors(problem, problem.state.weights, problem.state.probabilities)[0]


MEANS = Family(
    evaluated, counted.followed, step_bounds, _errors, _rationals, _told, _cited, MSTEP[1:]
)


def step(
    file: VectorFile,
    slug: str,
    problem: Means,
    description: str,
    keys: Sequence[str] = STEP,
    *,
    flags: list[str] | None = None,
    wrong: Wrong | None = None,
) -> CountState:
    """Append a case for a law, and return the new state in nearest doubles."""
    short = {"poisson": "pmix", "geometric": "geo"}[problem.kind]
    return CountState(
        *MEANS.step(file, f"{short}-{slug}", problem, description, keys, flags=flags, wrong=wrong)
    )


NOTES = {
    "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction for m and p",
    "log_likelihood": "with 1/x! of every count, if the law is Poisson's",
    "pass": "an answer passes when it is within bound of the true value",
    "factorials": "mistake: the likelihood without 1/x!",
    "rate": "mistake: the mean of a geometric law taken for its inverse",
    "imagined": "mistake: N and N + m taken for each other, in means and in shares",
}
TOY = CountState([0.5, 0.5], [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
START = CountState([0.4, 0.6], [[3.3, 1.2, 0.7], [0.9, 2.1, 4.8]])
NEVER_COUNTS = CountState([0.5, 0.5], [[1.5, 2.0, 0.0], [0.0, 0.75, 3.0]])


def visits(seed: int, n: int, means: list[list[int]]) -> list[list[int]]:
    """Rows of counts from 0 to twice their means, of components in turn."""
    draw = random.Random(seed)
    return [[int(draw.random() * (2 * mu + 1)) for mu in means[i % len(means)]] for i in range(n)]


ROWS = visits(351, 6, [[3, 1, 1], [1, 2, 4]])


def steps() -> VectorFile:
    """Chains, special rows and mistakes for both laws."""
    title = "Steps of Poisson and geometric mixtures"
    file = VectorFile("35-counts/steps.json", "mixture.counts", title, dict(NOTES))
    for kind in LAWS:
        _chains(file, kind)
        _special(file, kind)
        _shared(file, kind)
        _mistakes(file, kind)
    return file


def _chains(file: VectorFile, kind: str) -> None:
    toy = [[2, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 3], [0, 0, 0]]
    text = "halves and quarters, equal sums of means: everything but logarithms is rational"
    step(file, "toy", Means(toy, TOY, kind, toy=True), text, (*STEP, *CERTIFIED))
    state = START
    for number in range(1, 4):
        text = f"step {number} of a chain without smoothing"
        state = step(file, f"chain-{number}", Means(ROWS, state, kind), text, (*STEP, *CERTIFIED))
    state = START
    for number in range(1, 4):
        text = f"step {number} with one imagined row, of the means of all rows"
        problem = Means(ROWS, state, kind, m=Fraction(1))
        state = step(file, f"smooth-{number}", problem, text, (*ESTEP, *MSTEP, *PRIOR))
    p = (Fraction(1, 2), Fraction(3), Fraction(9, 4))
    problem = Means(ROWS, START, kind, m=Fraction(5, 2), p=p)
    step(file, "smooth-own", problem, "m = 5/2, p = (1/2, 3, 9/4)", (*MSTEP, "log_prior", *PRIOR))


def _special(file: VectorFile, kind: str) -> None:
    unseen = [[row[0], 0, row[2]] for row in ROWS]
    text = "a column that never counts: its mean becomes zero, and stays zero"
    state = step(file, "unseen-1", Means(unseen, START, kind), text)
    step(file, "unseen-2", Means(unseen, state, kind), text)
    smooth = Means(unseen, state, kind, m=Fraction(1))
    text = "imagined rows like all rows never count there either"
    step(file, "unseen-smooth", smooth, text, (*MSTEP, "log_prior", *PRIOR))
    p = (Fraction(1), Fraction(1, 4), Fraction(0))
    text = "imagined rows count where the mean is zero: the prior of that is zero"
    step(file, "unseen-prior", Means(unseen, state, kind, m=Fraction(1), p=p), text, ("log_prior",))
    rows = [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 2]]
    keys = (*ESTEP, *MSTEP)
    text = "no component can have made the first row: log p = -inf, and it belongs nowhere"
    step(file, "impossible", Means(rows, NEVER_COUNTS, kind), text, keys)
    text = "the impossible row has no weight, so nothing happens"
    light = Means(rows, NEVER_COUNTS, kind, weights=[0.0, 1.0, 2.0, 0.5])
    step(file, "impossible-light", light, text, keys)
    zeros = [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    text = "rows of zeros belong to the component that counts less"
    step(file, "zeros", Means(zeros, START, kind), text)
    large = [[100000, 30], [99000, 20], [100500, 25]]
    close = CountState([0.5, 0.5], [[100000.0, 25.0], [99500.0, 24.0]])
    text = "counts of 100,000: the terms of log p are a million times as large as it is"
    step(file, "large", Means(large, close, kind), text, keys)
    tiny = CountState([0.5, 0.5], [[1e-20, 0.5], [1e-9, 0.75]])
    text = "means near zero: log(1 + mu) is nearly zero"
    step(file, "tiny", Means([[0, 1], [1, 0], [0, 0]], tiny, kind), text)
    alone = CountState([1.0], [[0.7, 1.9]])
    text = "one component: the means of all rows"
    step(file, "alone", Means([[2, 1], [0, 4], [1, 1]], alone, kind), text)


def _shared(file: VectorFile, kind: str) -> None:
    weights = [1.0, 2.0, 3.0] * 2
    copies = [row for row, w in zip(ROWS, weights, strict=True) for _ in range(int(w))]
    keys = ("log_likelihood", *MSTEP, *THEORY, *PRIOR)
    text = "integer weights, and in the twin case as many copies"
    one = Fraction(1)
    step(file, "weights", Means(ROWS, START, kind, m=one, weights=weights), text, keys)
    step(file, "copies", Means(copies, START, kind, m=one), text, keys)
    keys = ("labels", "log_likelihood", "expected_complete", *MSTEP, "next.expected_complete")
    step(file, "hard", Means(ROWS, START, kind, hard=True), "hard shares: means of groups", keys)
    text = "hard shares, one imagined row"
    step(file, "hard-smooth", Means(ROWS, START, kind, m=one, hard=True), text, keys)
    q = [[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]] * 2
    step(file, "given", Means(ROWS, START, kind, q=q), "given shares: a rational M-step", MSTEP)
    p = (Fraction(1, 2), Fraction(3), Fraction(1, 4))
    text = "given shares and three imagined rows: a rational M-step"
    problem = Means(ROWS, START, kind, m=Fraction(3), p=p, q=q)
    step(file, "given-smooth", problem, text, (*MSTEP, *PRIOR))


def _mistakes(file: VectorFile, kind: str) -> None:
    keys = ESTEP[:2]
    wrong = _without_factorials if kind == "poisson" else _inverse
    flag = "factorials" if kind == "poisson" else "rate"
    step(file, f"err-{flag}", Means(ROWS, START, kind), "", keys, flags=[flag], wrong=wrong)
    problem = Means(ROWS, START, kind, m=Fraction(2))
    step(file, "err-imagined", problem, "", MSTEP, flags=["imagined"], wrong=_confused)


def _without_factorials(problem: Means, found: dict[str, Any]) -> dict[str, Any]:
    rows = [
        log_p + BALLS.total([arb(x + 1).lgamma() for x in row])
        for log_p, row in zip(found["row_log_likelihoods"], problem.rows, strict=True)
    ]
    return {"row_log_likelihoods": rows, "log_likelihood": BALLS.total(rows)}


def _inverse(problem: Means, _: dict[str, Any]) -> dict[str, Any]:
    weights, means = (
        lifted(BALLS, part) for part in (problem.state.weights, problem.state.probabilities)
    )
    logs = problem.logs(BALLS, weights, [[1 / mu for mu in row] for row in means])
    rows = [log_sum(BALLS, row) for row in logs]
    return {"row_log_likelihoods": rows, "log_likelihood": BALLS.total(rows)}


def _confused(problem: Means, found: dict[str, Any]) -> dict[str, Any]:
    m, counts = BALLS.of(problem.m), found["counts"]
    more = [n + m for n in counts]
    return {
        "next.means": [
            [mu * total / n for mu in row]
            for row, n, total in zip(found["next.means"], counts, more, strict=True)
        ],
        "next.weights": [n / BALLS.total(more) for n in more],
    }
