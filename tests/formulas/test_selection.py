"""The golden vectors of model selection, judged through the formulas of chapter 34."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from refclust.errors import BadOption
from refclust.formulas import gaussian, selection
from refclust.formulas.vectors import scaled, total
from refclust.numbers.real import exp, log
from refclust.numbers.sampling import shuffled, stream
from tests.formulas.golden import cases, meets, number, numbers
from tests.formulas.test_gaussian import Step


@pytest.mark.spec("MS-BIC", "MS-AIC", "MS-ICL", "GMM-COVDF")
@pytest.mark.parametrize("case", cases("34-selection/criteria.json"))
def test_criteria(case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    if "state" not in given:
        k, d = int(given["k"]), int(given["d"])
        for key, expected in expect.items():
            model = key.removeprefix("free_parameters[model=").rstrip("]")
            if model not in ("multinomial", "bernoulli"):
                assert meets(expected, gaussian.free_parameters(model.upper(), k, d)), key
        return
    if "model" not in given:
        return  # counts: chapter 31
    step = Step(given)
    nu = gaussian.free_parameters(step.model, step.k, step.d)
    j, q, w = gaussian.log_likelihood(step.x, step.w, step.mixture), step.q, step.w
    found = {
        "df": nu,
        "bic": selection.bic(j, nu, total(w)),
        "aic": selection.aic(j, nu),
        "icl": selection.icl(j, nu, w, q),
        "icl_soft": selection.icl(j, nu, w, q, soft=True),
    }
    for key, expected in expect.items():
        assert meets(expected, found[key]), key


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
    if "model" not in given:
        return  # counts: chapter 31
    x, folds = numbers(given["rows"]), int(given["folds"])
    w: list[int] = [1] * len(x)
    order = shuffled(stream(int(given["seed"])), range(len(x)))

    def without(left_out: list[int]) -> Any:
        kept = [x_i for i, x_i in enumerate(x) if i not in left_out]
        ones = [1] * len(kept)
        mu = gaussian.mean_of_rows(kept, ones)
        s = gaussian.scatter(kept, ones, ones, mu)
        [sigma] = gaussian.covariances(given["model"], [len(kept)], [s])
        return lambda row: log(gaussian.density(row, mu, sigma))

    assert meets(case["expect"]["cv"], selection.held_out(x, w, order, folds, without))
    with pytest.raises(BadOption):
        selection.held_out(x, w, order, 1, without)
