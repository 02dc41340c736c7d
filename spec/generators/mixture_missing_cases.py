"""The file of chapter 36: steps of EM on rows with missing cells, one after another."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .mixture_cases import CERTIFIED, cloud, tenths
from .mixture_gaussian import State
from .mixture_gaussian_family import start, told_state
from .mixture_missing import FORMS, Problem, evaluated, inverse, rationals, square
from .mixture_numbers import WITNESSES, encode, floats_of, told, use_precision
from .values import Json
from .vectors_common import middle
from .writer import VectorFile

UNIT = 2.0**-53
NOTES = {
    "numbers": "strings: an integer or a double in C99 hexadecimal; null is a missing cell",
    "state": "shares, means and covariances of the components, as the model writes them",
    "next": "what belongs to the parameters after the M-step",
    "pass": "an answer passes when it is within bound of the true value",
}
CLAUSES = {
    "row_log_likelihoods": "MISS-PDF MISS-LL",
    "log_likelihood": "MISS-LL",
    "certified_log_likelihood": "MISS-LL",
    "responsibilities": "MISS-ESTEP",
    "expected_rows": "MISS-FILL",
    "uncertainties": "MISS-COV",
    "hidden_entropies": "MISS-ENT",
    "counts": "MISS-EM",
    "next.weights": "MISS-EM",
    "next.means": "MISS-MU MISS-EM",
    "next.spreads": "MISS-SIG MISS-EM",
    "next.lower_bound": "MISS-BOUND",
    "next.log_likelihood": "MISS-BOUND",
}
ESTEP = ("row_log_likelihoods", "log_likelihood", "certified_log_likelihood", "responsibilities")
GIVEN = ("expected_rows", "uncertainties", "hidden_entropies")
MSTEP = ("counts", "next.weights", "next.means", "next.spreads")
THEORY = ("next.lower_bound", "next.log_likelihood")


def steps() -> VectorFile:
    """Chains of steps in six models, and cases that stand for themselves."""
    file = VectorFile(
        "36-missing/steps.json", "mixture.missing", "Steps with missing cells", dict(NOTES)
    )
    rows = _holes(
        cloud(361, 7, [[0.0, 0.0], [2.5, 1.0]], 1.25), {1: (0,), 2: (1,), 4: (1,), 6: (0, 1)}
    )
    for model in ("VVV", "EEE", "VVI", "EEI", "VII", "EII"):
        state = start(model, [0.5, 0.5], [[0.0, 0.5], [2.0, 0.0]])
        if FORMS.get(model) == "full":
            state = State(state.weights, state.means, [[1.0, 0.5, 0.5, 1.5]] * 2)
        for number in (1, 2):
            keys = (
                (*ESTEP, *GIVEN, *MSTEP, *THEORY)
                if model == "VVV"
                else (*ESTEP[1:], *MSTEP, *THEORY)
            )
            words = f"step {number} of a chain, model {model}; the last row has no cell at all"
            problem = Problem(rows, state, model)
            state = _step(file, f"miss-{model.lower()}-{number}", problem, words, keys)
    spread = [2.0, 0.75, -0.5, 0.75, 1.0, 0.25, -0.5, 0.25, 1.5]
    other = [1.0, -0.25, 0.5, -0.25, 2.0, 0.0, 0.5, 0.0, 1.0]
    space = tenths(cloud(362, 6, [[0.0, 0.0, 0.0], [2.0, -1.0, 1.0]], 1.5))
    holes = _holes(space, {0: (2,), 1: (0,), 2: (0, 2), 3: (1,), 4: (1, 2)})
    state = State([0.25, 0.75], [[0.0, 0.1, 0.2], [1.5, -1.0, 0.5]], [spread, other])
    words = "three columns, every pattern another, weights"
    problem = Problem(holes, state, weights=[1.0, 2.0, 0.5, 1.0, 3.0, 0.25])
    _step(file, "miss-space", problem, words, (*ESTEP, *GIVEN, *MSTEP, *THEORY[:1]))
    words = "two rows twice are these rows with weights of 2"
    once = _holes(space[:4], {1: (0,), 3: (1, 2)})
    heavy = Problem(once, state, weights=[1.0, 2.0, 1.0, 2.0])
    copies = Problem([*once, once[1], once[3]], state)
    for slug, twin in (("miss-heavy", heavy), ("miss-copies", copies)):
        _step(file, slug, twin, words, ("log_likelihood", *MSTEP))
    one = State([1.0], [[1.0, -1.0, 0.5]], [spread])
    alone = Problem(holes, one)
    _step(file, "miss-alone", alone, "one component", (*ESTEP, *GIVEN, *MSTEP, *THEORY[:1]))
    whole = Problem(_holes(space, {}), state)
    _step(file, "miss-none", whole, "nothing is missing", ("log_likelihood", *GIVEN, *MSTEP))
    murray: list[list[float | None]] = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    murray += [[x, None] for x in (2.0, 2.0, -2.0, -2.0)]
    murray += [[None, x] for x in (2.0, 2.0, -2.0, -2.0)]
    saddle = State([1.0], [[0.0, 0.0]], [[2.5, 0.0, 0.0, 2.5]])
    words = "Murray's rows at the saddle between two maxima, where EM stays"
    _step(file, "miss-saddle", Problem(murray, saddle), words, ("log_likelihood", *MSTEP[1:]))
    return file


def _holes(rows: list[list[float]], gaps: dict[int, tuple[int, ...]]) -> list[list[float | None]]:
    return [
        [None if j in gaps.get(i, ()) else x for j, x in enumerate(row)]
        for i, row in enumerate(rows)
    ]


def _step(
    file: VectorFile, slug: str, problem: Problem, description: str, keys: tuple[str, ...]
) -> State:
    use_precision()
    first, second = (evaluated(field, problem) for field in WITNESSES)
    assert middle(first["log_likelihood"]) <= middle(first["next.log_likelihood"]) + Fraction(
        1, 2**200
    )
    bounds, exact = _bounds(problem, first), rationals(problem)
    expect: dict[str, Json] = {}
    for key in keys:
        if key == "certified_log_likelihood":
            expect[key] = encode(first["log_likelihood"], second["log_likelihood"], CERTIFIED)
        else:
            expect[key] = encode(
                _plain(first[key]), _plain(second[key]), bounds[key], exact.get(key)
            )
    told_rows: list[Any] = [[None if x is None else told(x) for x in row] for row in problem.rows]
    inputs: dict[str, Json] = {
        "rows": told_rows,
        "model": problem.model,
        "missing": "integrate",
        "state": told_state(problem.state),
    }
    if problem.weights is not None:
        inputs["weights"] = [told(w) for w in problem.weights]
    cited = sorted({clause for key in keys for clause in CLAUSES[key].split()})
    file.add(slug, inputs, expect, description, formulas=cited)
    names = ("next.weights", "next.means", "next.spreads")
    return State(*(_doubles(first[name]) for name in names))


def _plain(value: Any) -> Any:
    """Numbers as they are, but what is exactly zero as the fraction it is."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return Fraction(0) if value == 0 else value


def _doubles(value: Any) -> Any:
    return [_doubles(one) for one in value] if isinstance(value, list) else float(middle(value))


def _bounds(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    """What a program that works in doubles may be off, with room to spare.

    Factors and solutions err by d^2 u times the condition k of the covariances with unit variances,
    sums by n u, a density by this and u of its logarithm, and all that follows in proportion.
    """
    d, n = len(problem.rows[0]), len(problem.rows)
    stiff = 1.0
    for spread in problem.state.spreads:
        sigma = square(spread, problem.model, d)
        known = inverse(sigma, Fraction(1))
        scale = [float(sigma[j][j]) ** 0.5 for j in range(d)]
        stiff = max(stiff, sum(abs(float(known[i][j])) * scale[i] * scale[j]
                               for i in range(d) for j in range(d)))  # fmt: skip
    joint = floats_of(found["joint"])
    deepest = 1.0 + max(abs(x) for line in joint for x in line)
    error = 4 * UNIT * (n + 8 * d * d + 32) * stiff * deepest
    weights = problem.weights or [1.0] * n
    whole = sum(weights) * (deepest + d)
    cells = floats_of(found["expected_rows"])
    reach = 1.0 + max(abs(x) for line in cells for row in line for x in row)
    sizes = {
        "row_log_likelihoods": deepest,
        "log_likelihood": whole,
        "responsibilities": 1.0,
        "expected_rows": reach,
        "uncertainties": reach**2,
        "hidden_entropies": deepest + d,
        "counts": sum(weights),
        "next.weights": 1.0,
        "next.means": reach,
        "next.spreads": 4 * reach**2,
        "next.lower_bound": 4 * whole * stiff,
        "next.log_likelihood": 4 * whole * stiff,
    }
    return {key: _like(found[key], error * size) for key, size in sizes.items()}


def _like(value: Any, bound: float) -> Any:
    return [_like(one, bound) for one in value] if isinstance(value, list) else bound
