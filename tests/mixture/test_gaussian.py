"""Gaussian mixtures by hand: parameters, densities, one component, priors (chapter 32)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refclust.errors import RefclustError
from refclust.formulas.gaussian import density, log_likelihood_of_one
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.density import mahalanobis, whitened
from refclust.mixture.families.gaussian.parameters import GaussianParameters, constant_of
from tests.mixture.tools import MODELS, gaussian

ROWS = [[0.0, 0.0], [2.0, 1.0], [4.0, 5.0], [6.0, 2.0]]


@pytest.mark.spec("GAU-PDF1", "GAU-PDF")
def test_the_density_has_its_minus_sign() -> None:
    assert float(density([1], [0], [[1]])) == 0.24197072451914334
    assert float(density([0], [0], [[1]])) == 0.3989422804014327
    assert float(density([60], [0], [[1]])) == 0.0


@pytest.mark.spec("GAU-LL", "GAU-MLEMU", "GAU-MLESIG", "GMM-LL")
@pytest.mark.parametrize("model", MODELS)
def test_one_component_is_the_maximum_likelihood_estimate(model: str) -> None:
    """Mean (3, 2), covariance (5, 2.5; 2.5, 3.5): divisor n."""
    fit = gaussian(ROWS, 1, covariance=model, start="random")
    assert fit.parameters.weights == (1.0,)
    assert fit.parameters.means[0] == pytest.approx((3.0, 2.0), abs=1e-14)
    full = model[2] in "EV" and model[1] != "I"
    due = ((5.0, 2.5), (2.5, 3.5)) if full else ((5.0, 0.0), (0.0, 3.5))
    if model[1] == "I":
        due = ((4.25, 0.0), (0.0, 4.25))
    for one, other in zip(fit.parameters.covariances[0], due, strict=True):
        assert one == pytest.approx(other, abs=1e-11)
    whole = float(log_likelihood_of_one(ROWS, [1] * 4, (3.0, 2.0), due))
    assert fit.log_likelihood == pytest.approx(whole, abs=1e-9)
    assert fit.iterations == 1
    assert fit.entropy == 0.0


@pytest.mark.spec("GAU-LL", "PROP-EM-W")
def test_weights_in_the_likelihood() -> None:
    place = ((0.0, 0.0), ((2.0, 0.0), (0.0, 1.0)))
    twice = log_likelihood_of_one([ROWS[1], ROWS[1]], [1, 1], *place)
    assert log_likelihood_of_one([ROWS[1], ROWS[0]], [2, 0], *place) == twice


@pytest.mark.spec("DIST-MAHA", "GAU-PDF")
@pytest.mark.parametrize(
    ("covariance", "code"),
    [
        (((1.0, 2.0), (2.0, 1.0)), "degenerate-covariance"),
        (((0.0,),), "degenerate-covariance"),
        (((1.0, 0.0),), "dimension-mismatch"),
    ],
)
def test_covariances_must_be_positive_definite(covariance: Any, code: str) -> None:
    with pytest.raises(RefclustError) as caught:
        whitened(covariance)
    assert caught.value.code == code


def test_points_and_means_belong_together() -> None:
    with pytest.raises(RefclustError):
        mahalanobis((1.0,), (0.0, 0.0), ((1.0, 0.0), (0.0, 1.0)))


@pytest.mark.spec("GMM-COV")
def test_aliases() -> None:
    names = {
        "full": "VVV",
        "tied": "EEE",
        "diagonal": "VVI",
        "spherical": "VII",
        "shared-spherical": "EII",
    }
    for alias, name in names.items():
        assert covariance_model(alias).name == name
        assert gaussian(ROWS, 1, covariance=alias).settings["covariance"] == name


@pytest.mark.spec("GMM-SCALE")
def test_the_constant_is_added_last() -> None:
    assert constant_of([0]) == -0.5 * math.log(2 * math.pi)
    assert constant_of([3, -3]) == pytest.approx(-math.log(2 * math.pi), rel=1e-15)
    fit = gaussian(ROWS, 1)
    assert fit.constant == pytest.approx(constant_of([0, 0]) - 3 * math.log(2.0), rel=1e-15)


@pytest.mark.spec("GMM-FLOOR")
def test_a_floor_by_hand() -> None:
    """Variances 5 and 3.5, n = 4: every scatter gains f v, the prior is -tr(Psi C^-1) / 2."""
    fit = gaussian(ROWS, 1, covariance="VVI", floor=2.0)
    assert fit.parameters.spreads[0] == pytest.approx((5 + 10 / 4, 3.5 + 7 / 4), rel=1e-14)
    assert fit.log_prior == pytest.approx(-0.5 * (10 / 7.5 + 7 / 5.25), rel=1e-14)
    assert fit.objective == pytest.approx(fit.log_likelihood + fit.log_prior, rel=1e-15)


@pytest.mark.spec("GMM-DENS")
def test_forms_of_covariances() -> None:
    round_one = GaussianParameters((1.0,), ((0.0, 0.0),), ((4.0,),), "spherical")
    flat = GaussianParameters((1.0,), ((0.0, 0.0),), ((4.0, 4.0),), "diagonal")
    whole = GaussianParameters((1.0,), ((0.0, 0.0),), ((4.0, 0.0, 0.0, 4.0),), "full")
    assert round_one.covariances == flat.covariances == whole.covariances
    found = [
        gaussian(ROWS, parameters=one, covariance=model, limit=0).log_likelihood
        for one, model in ((round_one, "VII"), (flat, "VVI"), (whole, "VVV"))
    ]
    assert found == pytest.approx([found[0]] * 3, rel=1e-15)
