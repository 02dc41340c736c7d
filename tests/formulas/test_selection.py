"""The golden vectors of model selection, judged through the formulas of chapter 34."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import pytest

from refclust.errors import BadOption
from refclust.formulas import gaussian, multinomial, selection
from refclust.formulas.undefined import Undefined
from refclust.formulas.vectors import Number, scaled, total
from refclust.numbers.real import exp, log, sqrt
from refclust.numbers.sampling import shuffled, stream
from tests.formulas import golden_mixtures
from tests.formulas.golden import VECTORS, cases, contents, judged, meets, number, numbers
from tests.formulas.test_gaussian import Step

# Of K components and V words (MS-BIC).
FREE: Final[dict[str, Callable[[int, int], int]]] = {
    "multinomial": lambda k, v: (k - 1) + k * (v - 1),
    "bernoulli": lambda k, v: (k - 1) + k * v,
}


def of_families(case: dict[str, Any]) -> bool:
    return "state" in case["input"]


@pytest.mark.spec("MS-BIC", "MS-AIC", "MS-ICL", "GMM-COVDF")
@pytest.mark.parametrize("case", cases("34-selection/criteria.json", where=of_families))
def test_criteria(case: dict[str, Any]) -> None:
    given = case["input"]
    j: Any
    if "model" in given:
        step = Step(given)
        nu = gaussian.free_parameters(step.model, step.k, step.d)
        j, q, w = gaussian.log_likelihood(step.x, step.w, step.mixture), step.q, step.w
    else:
        words = golden_mixtures.Step(given)
        k, d = len(words.mixture[0]), len(words.x[0])
        nu = FREE[words.kind](k, d)
        j, q, w = words.log_likelihood(words.mixture), words.q, words.w
    found = {
        "df": nu,
        "bic": selection.bic(j, nu, total(w)),
        "aic": selection.aic(j, nu),
        "icl": selection.icl(j, nu, w, q),
        "icl_soft": selection.icl(j, nu, w, q, soft=True),
    }
    for key, expected in case["expect"].items():
        assert meets(expected, found[key]), key


@pytest.mark.spec("GMM-COVDF", "MS-BIC")
@pytest.mark.parametrize(
    "case", cases("34-selection/criteria.json", where=lambda case: not of_families(case))
)
def test_free_parameters(case: dict[str, Any]) -> None:
    k, d = int(case["input"]["k"]), int(case["input"]["d"])
    models = {f"free_parameters[model={name.lower()}]": name for name in gaussian.MODELS}
    words = {f"free_parameters[model={name}]": count for name, count in FREE.items()}
    assert {*models, *words} == set(case["expect"])
    for key, expected in case["expect"].items():
        count = words[key] if key in words else partial(gaussian.free_parameters, models[key])
        assert meets(expected, count(k, d)), key


@pytest.mark.spec("MS-ELBOW", "MS-GAP")
@pytest.mark.parametrize("case", cases("34-selection/curves.json"))
def test_curves(case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    first, r = int(given["first"]), numbers(given["rss"])
    for key, expected in expect.items():
        if key in ("heights", "elbow"):
            found: Any = (
                selection.elbow_heights(r) if key == "heights" else selection.elbow(first, r)
            )
        else:
            references = numbers(given["references"])
            sets = zip(*references, strict=True)  # the reference sets for each K
            gaps = [selection.gap(r_k, line) for r_k, line in zip(r, sets, strict=True)]
            place = selection.first_gap(gaps)
            found = {
                "gaps": [value for value, _ in gaps],
                "gap_errors": [error for _, error in gaps],
                "gap_choice": None if place is None else first + place,
            }[key]
        if found is None:
            assert "undefined" in expected
        else:
            assert meets(expected, found), key


@pytest.mark.spec("MS-GAPRULE", "MS-BEST", "MS-STAB")
@pytest.mark.parametrize("case", cases("34-selection/rules.json"))
def test_rules(case: dict[str, Any]) -> None:
    given, names = case["input"], {rule.lower(): rule for rule in selection.GAP_RULES}
    first = int(given["first"])
    for key, expected in case["expect"].items():
        options = dict(part.split("=") for part in key.rstrip("]").partition("[")[2].split(","))
        if "gaps" in given:
            gaps = list(zip(numbers(given["gaps"]), numbers(given["errors"]), strict=True))
            place = selection.gap_choice(gaps, names[options["rule"]])
            k = None if place is None else first + place
        else:
            values = dict(enumerate(numbers(given["values"]), first))
            k = selection.best_number(values, **options)
        assert ("undefined" in expected) if k is None else meets(expected, k), key


@pytest.mark.spec("MS-STAB", "NUM-RAND")
@pytest.mark.parametrize("case", cases("34-selection/stability.json"))
def test_stability(case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    if "samples" in expect:
        draws, n = stream(int(given["seed"])), int(given["n"])
        rows = [
            selection.subsample(shuffled(draws, range(n))) for _ in range(2 * int(given["pairs"]))
        ]
        assert meets(expect["samples"], rows)
        return
    pairs = [
        tuple({i: y for i, y in enumerate(side) if y != "-"} for side in pair)
        for pair in given["clusterings"]
    ]
    weights = [int(w) for w in given["weights"]] if "weights" in given else None
    if "undefined" in expect["stability"]:
        with pytest.raises(Undefined, match="both partitions are one group"):
            selection.stability(pairs, weights)  # type: ignore[arg-type]
    else:
        assert meets(expect["stability"], selection.stability(pairs, weights))  # type: ignore[arg-type]


@pytest.mark.spec("VB-GAUSS", "VB-MULT")
@pytest.mark.parametrize("case", cases("34-selection/evidence.json"))
def test_evidence(case: dict[str, Any]) -> None:
    given = case["input"]
    x = numbers(given["rows"])
    w, q = [1] * len(x), [[1]] * len(x)
    if "concentration" in given:
        b = [number(given["concentration"])] * len(x[0])
        found = selection.multinomial_bound(
            w, q, 1, b, selection.variational_multinomial(x, w, q, 1, b)
        )
    else:
        prior = prior_of(x, w, Fraction(1), number(given["beta"]), number(given["nu"]))
        found = selection.gaussian_bound(
            w, q, prior, selection.variational_gaussian(x, w, q, prior)
        )
    assert meets(case["expect"]["log_evidence"], found)


def prior_of(x: Any, w: Any, alpha: Any, beta: Any, nu: Any) -> selection.Believed:
    centre = gaussian.mean_of_rows(x, w)
    return selection.Believed(alpha, beta, nu, centre, gaussian.covariance_of_rows(x, w))


def beliefs_of(
    model: str, x: Any, w: Any, q: Any, prior: selection.Believed
) -> tuple[selection.Believed, list[selection.Believed]]:
    """The prior of a covariance model, and the beliefs that shares lead to."""
    d, update = len(prior.m), selection.variational_gaussian
    if model[2] == "I":
        diagonal = gaussian.diagonal_part(prior.v_inverse)
        prior, update = replace(prior, v_inverse=diagonal), selection.variational_diagonal
    if model[1] == "I":
        mean = gaussian.trace(prior.v_inverse) / d
        prior = replace(prior, v_inverse=scaled(mean, gaussian.identity(d)))
        update = selection.variational_ball
    own = update(x, w, q, prior)
    return prior, selection.variational_common(prior, own) if model[0] == "E" else own


def stored(model: str, v_inverse: Any) -> list[Any]:
    """A matrix as a covariance model stores it."""
    return [x for part in selection.wisharts(v_inverse, model) for row in part for x in row]


@pytest.mark.spec("VB-GAUSS", "VB-DIAG", "VB-BALL", "VB-COMMON", "VB-MULT", "VB-BERN")
@pytest.mark.parametrize("case", cases("34-selection/variational.json"))
def test_variational_steps(case: dict[str, Any]) -> None:
    given = case["input"]
    x, q, alpha = numbers(given["rows"]), numbers(given["q"]), number(given["alpha"])
    w = numbers(given.get("weights", ["1"] * len(x)))
    if "kind" in given:
        weight = number(given["concentration"])
        features = selection.variational_bernoulli(x, w, q, alpha, weight)
        found: dict[str, Any] = {
            "beliefs.alpha": [own for own, _ in features],
            "beliefs.eta": [[b for pair in pairs for b in pair] for _, pairs in features],
            "bound": selection.bernoulli_bound(w, q, alpha, weight, features),
        }
        rho = [selection.bernoulli_log_rho(x_i, features) for x_i in x]
    elif "concentration" in given:
        b = [number(given["concentration"])] * len(x[0])
        words = selection.variational_multinomial(x, w, q, alpha, b)
        found = {
            "beliefs.alpha": [one for one, _ in words],
            "beliefs.eta": [beta for _, beta in words],
            "bound": selection.multinomial_bound(w, q, alpha, b, words),
        }
        rho = [selection.multinomial_log_rho(x_i, words) for x_i in x]
    else:
        model = given.get("model", "VVV")
        start = prior_of(x, w, alpha, number(given["beta"]), number(given["nu"]))
        prior, beliefs = beliefs_of(model, x, w, q, start)
        found = {
            "beliefs.alpha": [one.alpha for one in beliefs],
            "beliefs.beta": [one.beta for one in beliefs],
            "beliefs.nu": [one.nu for one in beliefs],
            "beliefs.means": [one.m for one in beliefs],
            "beliefs.scales": [stored(model, one.v_inverse) for one in beliefs],
            "bound": selection.gaussian_bound(w, q, prior, beliefs, model),
        }
        rho = [selection.gaussian_log_rho(x_i, beliefs, model) for x_i in x]
    found["responsibilities"] = [
        [exp(one) / total(exp(other) for other in row) for one in row] for row in rho
    ]
    for key, expected in case["expect"].items():
        assert meets(expected, found[key]), key


@pytest.mark.spec("MS-IS")
@pytest.mark.parametrize("case", cases("34-selection/importance.json"))
def test_importance(case: dict[str, Any]) -> None:
    log_evidence, effective = selection.importance(numbers(case["input"]["log_weights"]))
    found = {"log_evidence": log_evidence, "effective_sample_size": effective}
    for key, expected in case["expect"].items():
        assert meets(expected, found[key]), key


@pytest.mark.spec("MS-CVLL")
@pytest.mark.parametrize("case", cases("34-selection/held-out.json"))
def test_held_out(case: dict[str, Any]) -> None:
    given = case["input"]
    x, folds = numbers(given["rows"]), int(given["folds"])
    w: list[int] = [1] * len(x)
    order = shuffled(stream(int(given["seed"])), range(len(x)))

    seen: list[list[int]] = []

    def without(left_out: list[int]) -> Any:
        seen.append(left_out)
        kept = [x_i for i, x_i in enumerate(x) if i not in left_out]
        ones = [1] * len(kept)
        if "model" not in given:
            share = [Fraction(1, len(x[0]))] * len(x[0])
            theta = multinomial.word_probabilities(kept, ones, ones, number(given["m"]), share)
            return lambda row: multinomial.document_log_likelihood(row, theta)
        mu = gaussian.mean_of_rows(kept, ones)
        s = gaussian.scatter(kept, ones, ones, mu)
        [sigma] = gaussian.covariances(given["model"], [len(kept)], [s])
        return lambda row: log(gaussian.density(row, mu, sigma))

    found = selection.held_out(x, w, order, folds, without)
    assert meets(case["expect"]["cv"], found)
    if "folds" in case["expect"]:
        assert meets(case["expect"]["folds"], list(map(sorted, seen)))


@pytest.mark.spec("MS-CVLL")
def test_held_out_rows_count_with_their_weights() -> None:
    seen = []

    def without(left_out: list[int]) -> Any:
        seen.append(left_out)
        return lambda row: row * sum(left_out)

    x, w, order = [1, 2, 4, 8], [1, 2, 3, 5], [2, 0, 3, 1]
    # Without rows 2 and 3: 5 times 4 and 8; without rows 0 and 1: 1 times 1 and 2.
    found = selection.held_out(x, w, order, 2, without)
    assert found == Fraction(3 * 20 + 5 * 40 + 1 * 1 + 2 * 2, 11)
    assert seen == [[2, 3], [0, 1]]
    assert selection.held_out(x, w, order, 4, without) == Fraction(3 * 8 + 5 * 24 + 2 * 2, 11)
    for folds in (1, 5):
        with pytest.raises(BadOption):
            selection.held_out(x, w, order, folds, without)


@pytest.mark.spec("VB-GAUSS", "VB-MULT")
def test_beliefs_by_hand() -> None:
    """Weights, shares and a prior that is not 1 anywhere, in one and two columns."""
    x, w = [[2, 0], [0, 4]], [2, 3]
    q: list[list[Number]] = [[Fraction(1, 2), 0], [Fraction(1, 3), 1]]
    words = selection.variational_multinomial(x, w, q, Fraction(1, 2), [3, 5])
    assert words == [(Fraction(5, 2), (5, 9)), (Fraction(7, 2), (3, 17))]
    prior = selection.Believed(Fraction(2), Fraction(3), Fraction(5), (1, 1), ((7, 1), (1, 6)))
    first, second, empty = selection.variational_gaussian(x, w, [[*row, 0] for row in q], prior)
    # Weights 1 and 1 around (1, 2), so 2 in all; 3 imagined around (1, 1).
    assert [first.alpha, first.beta, first.nu] == [4, 5, 7]
    assert first.m == (1, Fraction(7, 5))
    # The prior, the scatter (2, -4; -4, 8) around (1, 2), and 6/5 of the way (0, 1).
    assert first.v_inverse == ((9, -3), (-3, Fraction(76, 5)))
    assert [second.alpha, second.beta, second.nu] == [5, 6, 8]
    assert second.m == (Fraction(1, 2), Fraction(5, 2))
    # One row: no scatter, and 9/6 of the way (-1, 3).
    assert second.v_inverse == (
        (Fraction(17, 2), Fraction(-7, 2)),
        (Fraction(-7, 2), Fraction(39, 2)),
    )
    assert empty == prior


@pytest.mark.spec("MS-IS", "MS-ELBOW", "MS-GAP", "MS-ICL", "MS-BIC", "MS-AIC")
def test_curves_and_criteria_by_hand() -> None:
    log_evidence, size = selection.importance([log(1), log(3)])
    assert log_evidence == log(2)
    assert size == Fraction(8, 5)
    with pytest.raises(BadOption):
        selection.importance([])
    assert selection.elbow(2, [10, 3, 2, 1]) == 3
    assert selection.elbow(1, [9, 7, 1, 0]) == 3
    assert selection.elbow(1, [3, 4, 5]) is None
    assert selection.elbow(1, [3, 1, 3]) is None
    with pytest.raises(BadOption):
        selection.elbow(1, [3, 1])
    value, error = selection.gap(Fraction(1, 2), [1, 4])
    assert (value, error) == (2 * log(2), sqrt(Fraction(3, 2)) * log(2))
    q: list[list[Number]] = [[Fraction(1, 4), Fraction(3, 4)], [1, 0]]
    assert selection.bic(-3, 2, 5) == 6 + 2 * log(5)
    assert selection.aic(-3, 2) == 10
    assert selection.icl(-3, 2, [2, 3], q) == 6 + 2 * log(5) - 4 * log(Fraction(3, 4))
    soft = Fraction(1, 4) * log(4) + Fraction(3, 4) * log(Fraction(4, 3))
    assert selection.icl(-3, 2, [2, 3], q, soft=True) == 6 + 2 * log(5) + 4 * soft


def test_every_golden_case_is_judged() -> None:
    names = (
        *("criteria", "curves", "evidence", "variational", "importance", "held-out"),
        *("rules", "stability"),
    )
    tests = [
        test_rules,
        test_stability,
        test_criteria,
        test_free_parameters,
        test_curves,
        test_evidence,
        test_variational_steps,
        test_importance,
        test_held_out,
    ]
    assert {path.stem for path in (VECTORS / "34-selection").glob("*.json")} == set(names)
    everything = contents(*(f"34-selection/{name}.json" for name in names))
    assert sorted(judged(tests)) == sorted(everything)
