"""Model files of beliefs about mixtures: there and back, new rows, and what is refused."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import mpmath
import pytest

import refclust
from refclust.data.accepting.door import dataset
from refclust.errors import BadModel, NegativeCount
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.fit import variational_gaussian, variational_multinomial
from refclust.mixture.bayes.predict import assignments
from refclust.mixture.sample import sample
from refclust.models.classifiers import model_of
from refclust.models.clusters import from_json, load_model, to_json
from refclust.models.describe import describe
from refclust.models.mixtures import parameters_of
from refclust.models.predict import predict
from refclust.models.records.clusters import MixtureModel

POINTS = dataset(
    [[0.0, 1.0], [0.5, 0.0], [1.0, 2.0], [6.0, 5.0], [7.0, 6.5], [6.5, 8.0]], features=["x", "y"]
)
WORDS = dataset(
    [{"cat": 2, "dog": 1}, {"cat": 1}, {"fish": 3}, {"fish": 1, "sea": 2}, {"dog": 1}],
    weights=[1, 0.5, 1, 2, 0.1],
)
FITS: dict[str, Any] = {
    "gaussian": variational_gaussian(POINTS, 2, backend="reference"),
    "one": variational_gaussian(POINTS, 1, alpha=3, beta=2, nu=4.5, backend="reference"),
    "words": variational_multinomial(WORDS, 3, restarts=2, concentration=1, backend="reference"),
}
DATA = {"gaussian": POINTS, "one": POINTS, "words": WORDS}
SCHEMA = Path(__file__).parents[2] / "spec" / "schema" / "model.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
UNIT = 2.0**-53


def model(name: str) -> MixtureModel:
    found = model_of(FITS[name], data=DATA[name])
    assert isinstance(found, MixtureModel)
    return found


@pytest.mark.spec("MODEL-DOC", "MODEL-LOAD")
@pytest.mark.parametrize("name", FITS)
def test_beliefs_come_back_bit_for_bit(name: str, tmp_path: Path) -> None:
    text = to_json(model(name))
    again = from_json(text, "m")
    assert again == model(name)
    assert to_json(again) == text
    VALIDATOR.validate(json.loads(text))
    refclust.save_model(tmp_path / "beliefs.json", FITS[name])
    loaded = load_model(tmp_path / "beliefs.json")
    assert isinstance(loaded, MixtureModel)
    assert parameters_of(loaded) == FITS[name].parameters


@pytest.mark.spec("MODEL-DOC")
def test_what_the_file_holds() -> None:
    told = json.loads(to_json(model("one")))
    fit = FITS["one"]
    assert told["algorithm"] == "variational-gaussian"
    asked = [told["params"][key] for key in ("covariance", "alpha", "beta", "nu")]
    assert asked == ["VVV", 3.0, 2.0, 4.5]
    assert told["fitted"]["parameters"] == {
        "covariance": "VVV",
        "alpha": list(fit.parameters.alpha),
        "beta": list(fit.parameters.beta),
        "nu": list(fit.parameters.nu),
        "means": [list(mean) for mean in fit.parameters.means],
        "scales": [list(scale) for scale in fit.parameters.scales],
    }
    assert told["fitted"]["objective"] == fit.objective
    words = json.loads(to_json(model("words")))
    assert words["params"]["concentration"] == 1.0
    # All numbers of the beliefs are above 0: nothing could be left out of sparse rows.
    assert words["data"]["kind"] == "sparse"
    assert words["fitted"]["parameters"]["eta"] == [
        list(eta) for eta in FITS["words"].parameters.eta
    ]


@pytest.mark.spec("MODEL-PREDICT", "MS-VIE")
@pytest.mark.parametrize("name", FITS)
def test_the_rows_of_a_fit_get_back_their_labels(name: str) -> None:
    rows = DATA[name]
    assert predict(model(name), rows, backend="reference").labels == FITS[name].labels
    assert predict(FITS[name], rows, backend="reference").labels == FITS[name].labels


def expected_joint(beliefs: GaussianBeliefs, row: tuple[float, ...], k: int) -> tuple[Any, Any]:
    """E[log p(x, k)] by its formula in 50 digits, and the sizes of its terms together."""
    d, alpha, nu = len(row), beliefs.alpha, mpmath.mpf(beliefs.nu[k])
    scale = mpmath.matrix(d, d)
    for i in range(d * d):
        scale[i // d, i % d] = mpmath.mpf(beliefs.scales[k][i])
    away = mpmath.matrix([mpmath.mpf(x) - m for x, m in zip(row, beliefs.means[k], strict=True)])
    square = (away.T * (scale**-1) * away)[0]
    terms = [mpmath.digamma(alpha[k]), -mpmath.digamma(mpmath.fsum(alpha))]
    terms += [mpmath.digamma((nu - i) / 2) / 2 for i in range(d)]
    terms += [d * mpmath.log(2) / 2, -mpmath.log(mpmath.det(scale)) / 2]
    terms += [-d / mpmath.mpf(2 * beliefs.beta[k]), -nu * square / 2]
    terms += [-d * mpmath.log(2 * mpmath.pi) / 2]
    return mpmath.fsum(terms), mpmath.fsum(map(abs, terms))


@pytest.mark.spec("MODEL-PREDICT", "MS-VIE", "VB-GAUSS")
def test_densities_are_expected_logarithms() -> None:
    # Whitening matrices that are doubles: scale/nu is [[1, 0.5], [0.5, 1.25]] = LL' with L of
    # ones and halves. So a term errs by its own rounding: digamma by less than 2**7 u (its
    # docstring), logarithms and products by a few u, of the size of the term.
    believed = GaussianBeliefs(
        (1.5, 4.0), (2.0, 8.0), (4.0, 4.0), ((0.0, 1.0), (3.0, -1.0)), ((4.0, 2.0, 2.0, 5.0),) * 2
    )
    rows = [(0.0, 0.0), (1.0, 2.0), (2.5, -3.0), (100.0, 7.0)]
    found = assignments(believed, rows, backend="reference")
    with mpmath.workdps(50):
        for i, row in enumerate(rows):
            for k in range(2):
                exact, sizes = expected_joint(believed, row, k)
                assert abs(found.log_joint(i)[k] - exact) <= 2**8 * UNIT * sizes


@pytest.mark.spec("MODEL-PREDICT", "MS-VIE")
def test_the_log_density_is_a_bound_on_the_expected_one() -> None:
    believed = GaussianBeliefs((2.0,), (3.0,), (2.5,), ((1.0,),), ((4.0,),))
    nu, beta, scale = 2.5, 3.0, 4.0
    for x in (-3.0, 0.0, 1.0, 12.0):
        (bound,) = assignments(believed, [[x]], backend="reference").log_likelihoods
        # The density expected under a normal-Wishart distribution is Student's.
        width = scale * (beta + 1) / beta
        student = (
            math.lgamma((nu + 1) / 2)
            - math.lgamma(nu / 2)
            - 0.5 * math.log(math.pi * width)
            - 0.5 * (nu + 1) * math.log1p((x - 1.0) ** 2 / width)
        )
        assert bound < student


@pytest.mark.spec("MODEL-PREDICT", "MS-VIE", "VB-MULT")
def test_words_under_beliefs() -> None:
    believed = CountBeliefs((1.0, 3.0), ((2.0, 0.5), (1.0, 7.0)))
    rows = [[3, 0], [1, 1], [0, 5], [0, 0]]
    found = assignments(believed, rows, backend="reference")
    with mpmath.workdps(50):
        for i, row in enumerate(rows):
            for k, eta in enumerate(believed.eta):
                pairs = [(1, believed.alpha, k), (row[0], eta, 0), (row[1], eta, 1)]
                terms = [n * mpmath.digamma(of[j]) for n, of, j in pairs]
                terms += [-n * mpmath.digamma(mpmath.fsum(of)) for n, of, _ in pairs]
                sizes = mpmath.fsum(max(1, abs(term)) for term in terms) + 2 * sum(row)
                assert abs(found.log_joint(i)[k] - mpmath.fsum(terms)) <= 2**8 * UNIT * sizes
    with pytest.raises(NegativeCount):
        assignments(believed, [[-1, 0]])


@pytest.mark.spec("MODEL-PREDICT")
def test_describing_and_drawing_take_the_expected_mixture() -> None:
    found, beliefs = model("gaussian"), FITS["gaussian"].parameters
    assert found.family == "gaussian"
    numbers = found.fitted.parameters
    assert numbers.mixture() == beliefs.expected()
    assert numbers.weights == beliefs.expected().weights
    assert (len(numbers), numbers.middles) == (2, beliefs.means)
    drawn = sample(numbers.mixture(), 3, family=found.family, seed=1)
    assert drawn == sample(beliefs.expected(), 3, family="gaussian", seed=1)
    told = describe(found).clusters
    assert [float(one.size) for one in told] == list(FITS["gaussian"].sizes)
    words = model("words").fitted.parameters
    assert words.middles == tuple(FITS["words"].parameters.expected().probabilities)


NUMBERS = ("fitted", "parameters")
WRONG: list[tuple[str, tuple[Any, ...], Any, str]] = [
    (
        "gaussian",
        (*NUMBERS, "alpha"),
        [1.0],
        "fitted.parameters.beta: an array of 2 numbers; 1 a",
    ),
    ("gaussian", (*NUMBERS, "alpha", 1), 0.0, "fitted.parameters.alpha[1]: 0.0; a number above 0"),
    ("gaussian", (*NUMBERS, "beta", 0), -1, "fitted.parameters.beta[0]: -1; a number of at least"),
    ("gaussian", (*NUMBERS, "nu", 0), 1.0, "fitted.parameters.nu[0]: 1.0; a number above 1, colu"),
    ("gaussian", (*NUMBERS, "means", 0), [1.0], "fitted.parameters.means[0]: an array of 1 numbe"),
    ("gaussian", (*NUMBERS, "scales", 0), [1, 2, 2, 1], "fitted.parameters.scales[0]: a matrix th"),
    ("gaussian", (*NUMBERS, "covariance"), "EEE", "fitted.parameters.covariance: EEE; params.cov"),
    ("gaussian", (*NUMBERS, "weights"), [1.0], "fitted.parameters: unknown key 'weights'; the ke"),
    ("gaussian", ("params", "nu"), 0, "params.nu: 0; a number above 0"),
    ("gaussian", ("params", "floor"), 0, "params: unknown key 'floor'; the keys are k, covarianc"),
    ("gaussian", ("algorithm",), "gaussian", "params: unknown key 'alpha'"),
    ("gaussian", ("fitted", "sizes"), [1.0], "fitted.sizes: an array of 1 numbers; 2 are due"),
    ("words", (*NUMBERS, "eta", 0), [1.0], "fitted.parameters.eta[0]: an array of 1 numbers; 4 a"),
    ("words", (*NUMBERS, "eta", 1, 2), 0.0, "fitted.parameters.eta[1][2]: 0.0; a number above 0"),
    ("words", (*NUMBERS, "eta"), [], "fitted.parameters.eta: an array of 0 items; 3 are due"),
    ("words", ("params", "k"), 4, "fitted.parameters: 3 components; params.k is 4"),
]


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize(("name", "path", "value", "complaint"), WRONG)
def test_what_is_wrong_is_refused_with_its_path(
    name: str, path: tuple[Any, ...], value: Any, complaint: str
) -> None:
    top = copy.deepcopy(json.loads(to_json(model(name))))
    place = top
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(BadModel) as refused:
        from_json(json.dumps(top), "m")
    assert str(refused.value).startswith(f"m: {complaint}")
