"""Steps of Gaussian mixtures as cases: keys, clauses, input, and what is rational."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .mixture_bounds import Matrix
from .mixture_cases import ESTEP, THEORY, Family, Keys, Wrong
from .mixture_gaussian import (
    MODELS,
    Problem,
    State,
    evaluated,
    followed,
    maximised,
    shares_given,
    square,
)
from .mixture_gaussian_bounds import joint_errors, step_bounds
from .mixture_numbers import EXACT, told, told_rows
from .values import Json
from .writer import VectorFile

MSTEP: Keys = ("counts", "next.weights", "next.means", "next.spreads")
STEP: Keys = (*ESTEP, *MSTEP, *THEORY)
HARD: Keys = ("labels", "log_likelihood", "expected_complete", *MSTEP, "next.expected_complete")
GIVEN: Keys = ("log_likelihood", "entropy", "lower_bound", "kl", *MSTEP)
CLAUSES = {
    "densities": "GAU-PDF GMM-DENS",
    "row_log_likelihoods": "GMM-DENS",
    "log_likelihood": "GMM-LL MIX-MARGLL",
    "responsibilities": "GMM-ESTEP EM-ESTEP",
    "counts": "GMM-NK",
    "next.weights": "GMM-PI",
    "next.means": "GMM-MU",
    "next.spreads": "GMM-SIG",
    "expected_complete": "GMM-EXPCDLL",
    "next.expected_complete": "GMM-EXPCDLL EM-EXPCDLL",
    "next.lower_bound": "EM-Q",
    "next.log_likelihood": "EM-CONV",
    "lower_bound": "EM-ELBO EM-ELBOFACT",
    "kl": "EM-DECOMP IT-KL",
    "certified_log_likelihood": "EM-CERT",
}
HARD_CLAUSES = {
    "labels": "CEM-ASSIGN",
    "counts": "CEM-NK",
    "next.weights": "CEM-PI",
    "next.means": "CEM-MU",
    "next.spreads": "CEM-SIG",
    "next.expected_complete": "CEM-MSTEP",
}


def _cited(problem: Problem, keys: Sequence[str]) -> set[str]:
    names = {**CLAUSES, **(HARD_CLAUSES if problem.hard else {})}
    found = {one for key in keys for one in names.get(key, "").split()}
    found |= {"GMM-SPH"} if problem.model == "EII" else set()
    if problem.floor:
        found |= {"GMM-FLOOR", "EM-PRIOR"}
    return found | ({"GMM-COVM"} if "next.spreads" in keys and problem.model != "VVV" else set())


def told_state(state: State) -> dict[str, Json]:
    """A state as the files write it."""
    return {
        "weights": [told(x) for x in state.weights],
        "means": told_rows(state.means),
        "spreads": told_rows(state.spreads),
    }


def _told(problem: Problem) -> dict[str, Json]:
    given: dict[str, Json] = {
        "rows": told_rows(problem.rows),
        "model": problem.model,
        "state": told_state(problem.state),
    }
    if problem.weights is not None:
        given["weights"] = [told(x) for x in problem.weights]
    if problem.floor:
        given["floor"] = told(problem.floor)
    if problem.hard:
        given["assign"] = "hard"
    if problem.q is not None:
        given["q"] = told_rows(problem.q)
    return given


def _rationals(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    n, k = len(problem.rows), len(problem.state.weights)
    if problem.hard or problem.q is not None:
        return maximised(EXACT, problem, shares_given(problem, found["joint"]))
    if k > 1:
        return {}
    ones = [[Fraction(1)]] * n
    return {"responsibilities": ones, "entropy": Fraction(0), **maximised(EXACT, problem, ones)}


def _errors(problem: Problem) -> Matrix:
    state, d = problem.state, len(problem.rows[0])
    matrices = [square(one, d, 0.0) for one in state.spreads]
    return joint_errors(problem.rows, state.weights, state.means, matrices)[0]


GAUSSIAN = Family(evaluated, followed, step_bounds, _errors, _rationals, _told, _cited, MSTEP[1:])


def step(
    file: VectorFile,
    slug: str,
    problem: Problem,
    description: str,
    keys: Sequence[str] = STEP,
    *,
    more: Sequence[str] = (),
    flags: list[str] | None = None,
    wrong: Wrong | None = None,
) -> State:
    """Append a case, and return the new state in nearest doubles."""
    return State(
        *GAUSSIAN.step(file, slug, problem, description, keys, more=more, flags=flags, wrong=wrong)
    )


def identity(d: int, scale: float = 1.0) -> list[float]:
    """A multiple of the unit matrix, row after row."""
    return [scale * (i == j) for i in range(d) for j in range(d)]


def start(model: str, weights: list[float], means: Matrix, scale: float = 1.0) -> State:
    """A state with spheres around means."""
    d = len(means[0])
    form = MODELS[model][0]
    spread = identity(d, scale) if form == "full" else [scale] * (d if form == "diagonal" else 1)
    return State(weights, means, [spread] * len(means))
