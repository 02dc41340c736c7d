"""Steps on counts as cases: keys, clauses, input, and what is rational."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .mixture_bounds import Matrix
from .mixture_cases import ESTEP, THEORY, Family, Keys, Wrong
from .mixture_count_bounds import joint_errors, step_bounds
from .mixture_counts import (
    Counts,
    CountState,
    evaluated,
    exact_posteriors,
    followed,
    maximised,
    shares_given,
)
from .mixture_numbers import EXACT, told, told_rows
from .values import Json
from .writer import VectorFile

MSTEP: Keys = ("counts", "next.weights", "next.probabilities")
STEP: Keys = (*ESTEP, *MSTEP, *THEORY)
WAYS = "log_likelihood[coefficient=multinomial]"
HARD: Keys = ("labels", "log_likelihood", "expected_complete", *MSTEP, "next.expected_complete")
CLAUSES = {
    "row_log_likelihoods": "NB-LIK",
    "log_likelihood": "MMIX-LL",
    WAYS: "MMIX-COEF",
    "responsibilities": "MMIX-ESTEP",
    "next.weights": "MMIX-PI",
    "next.probabilities": "MMIX-THETA",
    "expected_complete": "EM-EXPCDLL",
    "next.expected_complete": "EM-EXPCDLL",
    "next.lower_bound": "MMIX-Q EM-Q",
    "next.log_likelihood": "EM-CONV",
    "next.log_prior": "MMIX-PRIOR EM-PRIOR",
    "certified_log_likelihood": "EM-CERT",
}
BERNOULLI = {
    "log_likelihood": "BMIX-LL",
    "responsibilities": "BMIX-ESTEP",
    "next.probabilities": "BMIX-THETA",
    "next.lower_bound": "EM-Q",
    "row_log_likelihoods": "BMIX-LL",
}


def _cited(problem: Counts, keys: Sequence[str]) -> set[str]:
    names = {**CLAUSES, **(BERNOULLI if problem.kind == "bernoulli" else {})}
    found = {one for key in keys for one in names.get(key, "").split()}
    found |= {"MMIX-HARD"} if problem.hard else set()
    return found | ({"NB-MEST"} if problem.m else set())


def _told(problem: Counts) -> dict[str, Json]:
    given: dict[str, Json] = {
        "rows": [[str(x) for x in row] for row in problem.rows],
        "kind": problem.kind,
        "state": {
            "weights": [told(x) for x in problem.state.weights],
            "probabilities": told_rows(problem.state.probabilities),
        },
    }
    if problem.m:
        given["m"] = str(problem.m)
    if problem.p:
        given["p"] = [str(x) for x in problem.p]
    if problem.weights is not None:
        given["weights"] = [told(x) for x in problem.weights]
    if problem.hard:
        given["assign"] = "hard"
    if problem.q is not None:
        given["q"] = told_rows(problem.q)
    return given


def _rationals(problem: Counts, found: dict[str, Any]) -> dict[str, Any]:
    # An empty document has probability one, if the shares of the components add up to one.
    whole = sum(map(Fraction, problem.state.weights)) == 1 and problem.kind == "multinomial"
    rows = [Fraction(0) if whole and not any(row) else None for row in problem.rows]
    exact: dict[str, Any] = {"row_log_likelihoods": rows}
    if problem.fixed:
        return maximised(EXACT, problem, shares_given(problem, found["joint"]))
    if len(problem.state.weights) == 1:
        ones = [[Fraction(1)]] * len(problem.rows)
        exact |= {"responsibilities": ones, "entropy": Fraction(0)}
        return {**exact, **maximised(EXACT, problem, ones)}
    if problem.toy:
        shares = exact_posteriors(problem)
        return {**exact, "responsibilities": shares, **maximised(EXACT, problem, shares)}
    return exact


def _errors(problem: Counts) -> Matrix:
    state = problem.state
    return joint_errors(problem.kind, problem.rows, state.weights, state.probabilities)[0]


COUNTS = Family(evaluated, followed, step_bounds, _errors, _rationals, _told, _cited, MSTEP[1:])


def step(
    file: VectorFile,
    slug: str,
    problem: Counts,
    description: str,
    keys: Sequence[str] = STEP,
    *,
    more: Sequence[str] = (),
    flags: list[str] | None = None,
    wrong: Wrong | None = None,
) -> CountState:
    """Append a case, and return the new state in nearest doubles."""
    return CountState(
        *COUNTS.step(file, slug, problem, description, keys, more=more, flags=flags, wrong=wrong)
    )
