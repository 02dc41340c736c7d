"""Model files of mixtures and classifiers: bit for bit there and back, all damage refused."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.classify.discriminants import lda, nearest_gaussian, qda
from refclust.classify.naive_bayes import naive_bayes
from refclust.data.accepting.door import dataset
from refclust.errors import BadModel, BadOption, DimensionMismatch
from refclust.mixture.bayes.fit import variational_gaussian, variational_multinomial
from refclust.mixture.covariance.models import MODELS as SHAPES
from refclust.mixture.families.counts.coefficients import log_coefficient
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.named.bernoulli import bernoulli_mixture
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.models.classifiers import classifier_of, model_of
from refclust.models.clusters import Cut, from_json, load_model, save_model, to_json
from refclust.models.mixtures import parameters_of
from refclust.models.records.clusters import ClassifierModel, MixtureModel, Model
from refclust.models.records.mixtures import (
    Collapse,
    End,
    MixtureStart,
    Variation,
    Verdict,
)
from refclust.models.records.numbers import Covariance, Smoothing, form_of
from tests.property.test_model import anything, loaded, places

POINTS = dataset(
    [[0.0, 1.0], [0.5, 0.0], [1.0, 2.0], [6.0, 5.0], [7.0, 6.5], [6.5, 8.0]], features=["x", "y"]
)
WORDS = dataset(
    [{"cat": 2, "dog": 1}, {"cat": 1}, {"fish": 3}, {"fish": 1, "sea": 2}, {"dog": 1}, {}],
    weights=[1, 0.5, 1, 2, 0.1, 1],
)
BITS = dataset([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
KINDS = list("aaabbb")
ZEROS = CountParameters((0.5, 0.5), ((0.5, 0.5, 0, 0), (0, 0, 0.5, 0.5)))
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "spec" / "schema" / "model.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def models() -> dict[str, Model]:
    """Every family, form, variation and classifier; beliefs, too."""
    return {
        "full": model_of(gaussian_mixture(POINTS, 2, limit=3, labels=KINDS), data=POINTS),
        "tied": model_of(gaussian_mixture(POINTS, 2, covariance="tied", floor=0.5, labels=KINDS)),
        "diagonal": model_of(
            gaussian_mixture(POINTS, 2, covariance="VVI", variation="hard", floor=0.1)
        ),
        "spherical": model_of(gaussian_mixture(POINTS, 2, covariance="EII", restarts=3)),
        "sampled": model_of(
            gaussian_mixture(POINTS, 2, floor=1, variation="monte-carlo", samples=4, limit=3)
        ),
        "damped": model_of(gaussian_mixture(POINTS, 2, variation="generalized", floor=0.1)),
        "dropped": model_of(
            gaussian_mixture(
                [[0.0], [0.0], [5.0], [6.0], [7.5]], 2, collapse="drop", start="points"
            )
        ),
        "to the limit": model_of(gaussian_mixture(POINTS, 1, tolerance=None, limit=3)),
        "words": model_of(multinomial_mixture(WORDS, 2, m=1, variation="top", top=1), data=WORDS),
        "shares": model_of(multinomial_mixture(WORDS, 2, m=2, p=[0.1, 0.2, 0.3, 0.4])),
        "minus infinity": model_of(multinomial_mixture(WORDS, m=1, parameters=ZEROS, limit=0)),
        "bits": model_of(bernoulli_mixture(BITS, 2, m=0.5), data=BITS),
        "beliefs": model_of(variational_gaussian(POINTS, 2), data=POINTS),
        "believed words": model_of(variational_multinomial(WORDS, 2), data=WORDS),
        "naive": model_of(naive_bayes(WORDS, KINDS, smoothing="half"), data=WORDS),
        "prior": model_of(naive_bayes(WORDS, KINDS, m=2, p=[0.1] * 4, prior=[0.25, 0.75])),
        "there": model_of(naive_bayes(BITS, [3, 3, 7, 7], kind="bernoulli", m=1)),
        "numbers": model_of(naive_bayes(POINTS, KINDS, kind="gaussian")),
        "qda": model_of(qda(POINTS, KINDS), data=POINTS),
        "lda": model_of(lda(POINTS, KINDS, floor=0.1)),
        "nearest": model_of(nearest_gaussian(POINTS, KINDS, covariance="EEV")),
    }


MODELS = models()


def document(name: str) -> Any:
    return json.loads(to_json(MODELS[name]))


@pytest.mark.spec("MODEL-DOC", "MODEL-LOAD")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_as_it_was(name: str) -> None:
    text = to_json(MODELS[name])
    again = from_json(text, "model.json")
    assert again == MODELS[name]
    assert to_json(again) == text
    VALIDATOR.validate(json.loads(text))


def test_the_schema_names_every_choice() -> None:
    defs = SCHEMA["$defs"]
    asked = defs["gaussian.MixtureParams"]["properties"]
    assert asked["covariance"]["enum"] == list(get_args(Covariance)) == list(SHAPES)
    assert all(form_of(name) == SHAPES[name].form for name in get_args(Covariance))
    for key, words in (("start", MixtureStart), ("variation", Variation), ("collapse", Collapse)):
        assert asked[key]["enum"] == list(get_args(words))
    assert defs["MixtureRun"]["properties"]["stopped"]["enum"] == list(get_args(End))
    assert defs["AscentFacts"]["properties"]["verdict"]["enum"] == list(get_args(Verdict))
    naive = defs["NaiveBayesParams"]["properties"]
    assert naive["smoothing"]["enum"] == list(get_args(Smoothing))


@pytest.mark.spec("MODEL-DOC")
def test_what_a_model_holds() -> None:
    fit = gaussian_mixture(POINTS, 2, labels=KINDS, limit=2)
    told = json.loads(to_json(model_of(fit)))
    found = told["fitted"]
    assert found["parameters"]["means"] == [list(mean) for mean in fit.parameters.means]
    assert found["parameters"]["covariances"] == [list(one) for one in fit.parameters.spreads]
    assert [one["objective"] for one in found["trace"]] == [one.objective for one in fit.trace]
    assert [one["expectation"] for one in found["certificate"]] == [
        one.expectation for one in fit.monotone.ascents
    ]
    assert told["params"]["covariance"] == "VVV"


@pytest.mark.spec("MODEL-DOC")
def test_minus_infinity_is_null() -> None:
    model = MODELS["minus infinity"]
    assert isinstance(model, MixtureModel)
    assert model.fitted.log_prior == -math.inf
    assert document("minus infinity")["fitted"]["log_prior"] is None
    fit = multinomial_mixture(WORDS, m=1, parameters=ZEROS, limit=1)
    again = from_json(to_json(model_of(fit)), "m")
    assert isinstance(again, MixtureModel)
    assert again.fitted.certificate[0].maximisation == math.inf


@pytest.mark.spec("MODEL-PREDICT")
def test_the_rows_of_a_fit_get_back_their_labels(tmp_path: Path) -> None:
    fit = gaussian_mixture(POINTS, 2, labels=KINDS)
    path = str(tmp_path / "m.json.gz")
    refclust.save_model(path, fit)
    model = refclust.load_model(path)
    assert isinstance(model, MixtureModel)
    assert parameters_of(model) == fit.parameters
    found = refclust.predict(model, POINTS, full=True)
    assert found.labels == fit.labels
    assert found.log_likelihoods == refclust.predict(fit, POINTS).log_likelihoods
    rule = qda(POINTS, KINDS)
    save_model(path, model_of(rule), force=True)
    stored = load_model(path)
    assert isinstance(stored, ClassifierModel)
    assert classifier_of(stored).parameters == rule.parameters
    assert refclust.predict(stored, POINTS).labels == tuple(KINDS)
    assert refclust.predict(rule, POINTS).labels == tuple(KINDS)
    with pytest.raises(BadOption, match="clusters have no densities"):
        refclust.predict(refclust.kmeans(POINTS, 2), POINTS, full=True)  # type: ignore[call-overload]


def test_settings_come_back() -> None:
    rule = naive_bayes(WORDS, KINDS, m=2, p=[0.1] * 4, prior=[0.25, 0.75])
    model = model_of(rule)
    assert isinstance(model, ClassifierModel)
    assert classifier_of(model).settings == rule.settings
    assert classifier_of(model).kind == "multinomial"


def test_what_cannot_be_a_model() -> None:
    with pytest.raises(BadOption, match="no model file for a fit that is wishful"):
        model_of(replace(gaussian_mixture(POINTS, 1), family="wishful"))
    with pytest.raises(BadOption, match="all texts or all whole numbers"):
        model_of(qda(POINTS, [0.5] * 3 + [1.5] * 3))
    with pytest.raises(DimensionMismatch):
        model_of(gaussian_mixture(POINTS, 2, labels=KINDS), data=BITS)
    with pytest.raises(BadOption, match="a cut belongs"):
        model_of(gaussian_mixture(POINTS, 2, labels=KINDS), cut=Cut(k=2))


def put(value: Any, *path: Any) -> Callable[[Any], None]:
    def edit(top: Any) -> None:
        for key in path[:-1]:
            top = top[key]
        top[path[-1]] = value

    return edit


NUMBERS = ("fitted", "parameters")


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize(
    ("name", "edit", "complaint"),
    [
        (
            "full",
            put([0.5, 0.25], *NUMBERS, "weights"),
            "weights: together they are 0.75; 1 is due",
        ),
        ("full", put([-0.5, 1.5], *NUMBERS, "weights"), "weights[0]: -0.5; a number of at least 0"),
        ("full", put([1.0], *NUMBERS, "weights"), "means: an array of 2 items; 1 are due"),
        ("full", put([1, 2, 0, 1], *NUMBERS, "covariances", 0), "[0]: a matrix that is not symm"),
        (
            "full",
            put([1, 2, 2, 1], *NUMBERS, "covariances", 0),
            "not positive definite in column 1",
        ),
        ("full", put([1.0], *NUMBERS, "covariances", 0), "an array of 1 numbers; 4 are due"),
        ("full", put("diagonal", *NUMBERS, "form"), "form: diagonal; params.covariance is written"),
        ("full", put("EII", "params", "covariance"), "form: full; params.covariance is written"),
        ("full", put("XYZ", "params", "covariance"), "params.covariance: the string 'XYZ'; one of"),
        ("full", put(1, "params", "top"), "params.top: 1 components for the variation em"),
        ("full", put(2, "params", "samples"), "params.samples: 2 samples for the variation em"),
        ("full", put(0.5, "params", "damping"), "params.damping: 0.5 for the variation em"),
        ("full", put(3, "params", "k"), "fitted.parameters: 2 components; params.k is 3"),
        ("full", put(-7.0, "fitted", "entropy"), "fitted.entropy: -7.0; the best run, runs[0]"),
        ("full", put(0, "fitted", "weight"), "fitted.weight: 0; a number above 0"),
        ("full", put(5, "fitted", "trace", 1, "iteration"), "trace[1].iteration: iteration 5; 1"),
        ("full", put("up", "fitted", "certificate", 0, "verdict"), "certificate[0].verdict: the s"),
        ("full", put("distances", "data", "kind"), "distances"),
        ("diagonal", put([0.0, 1.0], *NUMBERS, "covariances", 0), "the variance 0.0; it must be"),
        ("words", put([[0, 1.5]], *NUMBERS, "probabilities", 0), "column 0 is 1.5; probabilities"),
        ("words", put([[0, 0.5]], *NUMBERS, "probabilities", 0), "together they are 0.5; 1 is due"),
        ("words", put([1.0], "params", "p"), "params.p: an array of 1 numbers; 4 are due"),
        ("naive", put(["b", "a"], "fitted", "classes"), "classes[1]: the class 'a' after 'b'"),
        ("naive", put(["a", 1], "fitted", "classes"), "classes[1]: 1; a string is needed"),
        ("naive", put(["a"], "fitted", "classes"), "classes: 1 classes; two or more"),
        ("naive", put("qda", "algorithm"), "params: unknown key 'smoothing'"),
        ("naive", put(2.0, "params", "p"), "params.p: 2.0; a number from 0 to 1"),
        ("prior", put([0.5, 0.5], "params", "prior"), "weights: other numbers than params.prior"),
        ("numbers", put("EEI", "params", "covariance"), "columns are independent in naive Bayes"),
        ("qda", put("tokens", "params", "prior"), "params.prior: the string 'tokens'; one of"),
        ("lda", put("VVV", "params", "covariance"), "linear discriminants share one"),
        ("lda", put([9.0, 0, 0, 9], *NUMBERS, "covariances", 1), "another covariance than that"),
        (
            "nearest",
            put("documents", "params", "prior"),
            "the nearest Gaussian has the prior equal",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_its_path(
    name: str, edit: Callable[[Any], None], complaint: str
) -> None:
    top = document(name)
    edit(top)
    with pytest.raises(BadModel) as refused:
        from_json(json.dumps(top), "m")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.spec("MODEL-LOAD")
@settings(max_examples=150)
@given(st.sampled_from(sorted(MODELS)), st.data())
def test_damage_is_refused_or_harmless(name: str, data: st.DataObject) -> None:
    top = copy.deepcopy(document(name))
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(places(top)))
        action = data.draw(st.sampled_from(["put", "drop", "twice"]))
        if action == "put":
            container[key] = data.draw(anything)
        elif action == "drop":
            del container[key]
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[data.draw(st.text(max_size=3))] = copy.deepcopy(container[key])
    model = loaded(json.dumps(top))
    # What the loader takes is a model in every respect, and the schema takes it too.
    assert isinstance(model, str) or VALIDATOR.is_valid(top)


@pytest.mark.spec("MMIX-COEF")
def test_the_coefficient_counts_sequences() -> None:
    # 4!/(2! 1! 1!) = 12 orders, taken twice by the weight, and 1 of a row of one word. A gamma
    # function of small integers errs by a few units in the last place of log 24.
    rows = dataset([[2, 1, 1], [0, 7, 0]], weights=[2, 5])
    assert abs(log_coefficient(rows) - 2 * math.log(12)) < 1e-14
    sparse = dataset([{"a": 2, "b": 1, "c": 1}, {}])
    assert log_coefficient(sparse) == log_coefficient([[2, 1, 1], [0, 0, 0]])
    assert log_coefficient(replace(rows, weights=None)) * 2 == log_coefficient(rows)
