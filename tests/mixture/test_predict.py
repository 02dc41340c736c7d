"""What a mixture says of rows, new and old (EM-PRED)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refclust.errors import RefclustError
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.predict import assignments
from tests.mixture.tools import FITS, check_numbers

UNIT = GaussianParameters((0.5, 0.5), ((0.0,), (2.0,)), ((1.0,), (1.0,)), "spherical")
WORDS = CountParameters((0.25, 0.75), ((0.5, 0.5, 0.0), (0.25, 0.0, 0.75)))


@pytest.mark.spec("EM-PRED")
def test_a_tie_goes_to_the_lowest_index() -> None:
    found = assignments(UNIT, [[1.0], [1.0 + 1e-9], [-4.0]], family="gaussian")
    assert found.labels.tolist() == [0, 1, 0]
    assert found.responsibilities(0) == (0.5, 0.5)
    assert found.entropy(0) == pytest.approx(math.log(2), abs=1e-16)
    assert found.entropy(2) == pytest.approx(0.0, abs=1e-3)
    assert found.k == 2
    log = -0.5 * math.log(2 * math.pi) - 0.5
    assert found.log_likelihoods[0] == pytest.approx(log, abs=1e-15)
    assert found.log_joint(0) == pytest.approx((log + math.log(0.5),) * 2, abs=1e-15)


@pytest.mark.spec("EM-PRED", "MMIX-IMPOSSIBLE")
def test_rows_that_no_component_made() -> None:
    rows = [[1, 1, 1], [1, 0, 0], [0, 1, 1]]
    with pytest.raises(RefclustError) as caught:
        assignments(WORDS, rows, family="multinomial")
    assert caught.value.code == "impossible-row"
    assert "row 0" in str(caught.value)
    assert "2 of 3 rows" in str(caught.value)
    found = assignments(WORDS, rows, family="multinomial", impossible="prior")
    assert found.labels.tolist() == [1, 1, 1]
    assert found.log_likelihoods[0] == -math.inf
    assert found.responsibilities(0) == (0.25, 0.75)
    due = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    assert found.entropy(0) == pytest.approx(due, abs=1e-16)
    assert found.responsibilities(1) == pytest.approx((0.4, 0.6), abs=1e-15)


@pytest.mark.spec("EM-PRED")
@pytest.mark.parametrize("name", FITS)
def test_the_labels_of_a_fit_are_those_of_its_parameters(name: str) -> None:
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    options: dict[str, Any] = {"floor": 0.1} if name == "gaussian" else {"m": 1.0}
    fit = FITS[name](rows, 2, seed=2, **options)
    found = assignments(fit.parameters, rows, family=name)
    assert found.labels == fit.labels
    assert math.fsum(found.log_likelihoods) == pytest.approx(fit.log_likelihood, abs=1e-13)
    sizes = [math.fsum(found.responsibilities(i)[c] for i in range(6)) for c in range(2)]
    assert sizes == pytest.approx(fit.sizes, abs=1e-13)
    check_numbers(found)


@pytest.mark.spec("EM-PRED", "MMIX-UNSEEN")
def test_features_are_brought_to_those_of_the_model() -> None:
    rows = [{"c": 2, "z": 5}, {"a": 1, "b": 1}, {"z": 1}]
    found = assignments(WORDS, rows, family="multinomial", features=("a", "b", "c"))
    assert found.unseen == 1
    assert found.labels.tolist() == [1, 0, 1]
    assert found.responsibilities(2) == pytest.approx((0.25, 0.75), abs=2e-16)
    with pytest.raises(RefclustError) as caught:
        assignments(WORDS, [[1, 2]], family="multinomial")
    assert caught.value.code == "feature-mismatch"


@pytest.mark.spec("EM-PRED")
def test_densities_must_be_asked_for() -> None:
    found = assignments(UNIT, [[1.0]], family="gaussian", full=False)
    with pytest.raises(RefclustError) as caught:
        found.log_joint(0)
    assert caught.value.code == "bad-option"


@pytest.mark.parametrize(
    ("parameters", "options", "code"),
    [
        (UNIT, {"family": "bernoulli"}, "bad-option"),
        (WORDS, {"family": "nope", "data": [[1, 0, 0]]}, "bad-option"),
        (UNIT, {"impossible": "skip"}, "bad-option"),
        (None, {}, "bad-option"),
        (GaussianParameters((), (), (), "full"), {}, "bad-option"),
        (GaussianParameters((1.0,), ((float("nan"),),), ((1.0,),), "full"), {}, "not-finite"),
        (GaussianParameters((1.0,), ((0.0,),), ((-1.0,),), "full"), {}, "degenerate-covariance"),
        (GaussianParameters((0.7,), ((0.0,),), ((1.0,),), "full"), {}, "bad-option"),
    ],
)
def test_what_is_refused(parameters: Any, options: dict[str, Any], code: str) -> None:
    known: dict[str, Any] = {"family": "gaussian", "data": [[1.0]], **options}
    with pytest.raises(RefclustError) as caught:
        assignments(parameters, known.pop("data"), **known)
    assert caught.value.code == code
