"""BIC, AIC and ICL: exact values, and those of mclust from its own parameters."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption
from refclust.kernels.mixtures.shared import SOFT, shares
from refclust.mixture.bayes.fit import variational_gaussian
from refclust.mixture.choosing.criteria import aic, bic, criteria, doubts, icl, icl_soft
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.named.bernoulli import bernoulli_mixture
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.mixture.predict import assignments

MCLUST: Any = json.loads(
    (Path(__file__).parents[1] / "golden/peers/mixtures/mclust.json").read_text(encoding="utf-8")
)
LINE = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.5]]
DOCS = [[2, 0], [0, 2], [3, 1]]


@pytest.mark.spec("MS-BIC", "MS-AIC", "MS-ICL")
def test_the_formulas() -> None:
    e2 = math.exp(2.0)
    assert bic(-3.0, 4, 1.0) == 6.0
    assert bic(-3.0, 4, math.e) == 10.0
    assert aic(-3.0, 4) == 14.0
    assert icl(-3.0, 4, 1.0, 0.25) == 6.5
    assert icl_soft(-3.0, 4, 1.0, 0.5) == 7.0
    assert bic(-3.0, 4, e2) == aic(-3.0, 4)  # log W = 2


@pytest.mark.spec("MS-BIC")
def test_free_parameters() -> None:
    fits: list[tuple[Any, int]] = [
        (gaussian_mixture(LINE, 2, covariance="tied"), 1 + 2 + 1),
        (gaussian_mixture(LINE, 2, covariance="full"), 1 + 2 + 2),
        (multinomial_mixture(DOCS, 2, labels=[0, 1, 0]), 1 + 2 * 1),
        (bernoulli_mixture([[1, 0], [0, 1], [1, 1]], 2, m=1.0), 1 + 2 * 2),
    ]
    for fit, free in fits:
        assert fit.free_parameters == free


@pytest.mark.spec("MS-BIC", "MS-AIC", "MS-ICL")
def test_documents_by_hand() -> None:
    """Two documents of two words, one component each: p = 1/2 for each, J = -2 log 2."""
    docs = [[2, 0], [0, 2]]
    found = criteria(multinomial_mixture(docs, 2, labels=[0, 1]), docs)
    assert found.bic == 4 * math.log(2) + 3 * math.log(2.0)
    assert found.aic == 4 * math.log(2) + 6
    assert found.icl == found.icl_soft == found.bic


@pytest.mark.spec("MS-ICL")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_doubt_is_the_sum_over_rows(k: int) -> None:
    """One pass with every row in its best component, against row by row."""
    weights = [1.0, 2.0, 0.5, 1.0, 0.0, 3.0]
    data = dataset(LINE, weights=weights)
    fit = gaussian_mixture(data, k, covariance="tied", floor=0.1)
    found = assignments(fit.parameters, data, family="gaussian")
    each = [found.responsibilities(i) for i in range(6)]
    doubt, entropy = doubts(fit, data, Session("reference"))
    wanted = math.fsum(-w * math.log(max(q)) for w, q in zip(weights, each, strict=True))
    # The difference of two sums of six terms, each below 2**5 and with an error of a few u.
    assert doubt == pytest.approx(wanted, abs=6 * 2.0**5 * 8 * 2.0**-53)
    plain = math.fsum(
        w * shares(found.log_joint(i), SOFT).entropy for i, w in enumerate(weights) if w
    )
    assert entropy == pytest.approx(plain, abs=6 * 2.0**5 * 8 * 2.0**-53)


@pytest.mark.spec("MS-ICL")
def test_shares_of_other_variations_are_not_taken_for_posteriors() -> None:
    """A hard fit has shares without entropy; its soft ICL has that of the posteriors."""
    rows = [[0.0], [1.0], [1.5], [2.0], [3.0]]
    hard = gaussian_mixture(rows, 2, covariance="tied", variation="hard")
    assert hard.entropy == 0.0
    found = criteria(hard, rows)
    assert found.bic < found.icl < found.icl_soft


@pytest.mark.spec("MS-BIC", "MS-ICL")
@pytest.mark.parametrize("name", ["faithful", "iris"])
def test_mclust_from_its_own_parameters(name: str) -> None:
    """mclust prints -BIC and -ICL; recomputed from the parameters it found, they agree."""
    told, rows = MCLUST["defaults"][name], MCLUST["data"][name]
    parameters = GaussianParameters(
        tuple(told["weights"]),
        tuple(map(tuple, told["means"])),
        tuple(tuple(x for line in one for x in line) for one in told["covariances"]),
        "full",
    )
    assert MODELS[told["model"]].form == "full"
    fit = gaussian_mixture(rows, covariance=told["model"], parameters=_normed(parameters), limit=0)
    found = criteria(fit, rows)
    assert fit.free_parameters == told["df"]
    # Its last E-step belongs to parameters one iteration older, and it stops at a relative gain of
    # 1e-5, so its numbers are those of a neighbour.
    assert fit.log_likelihood == pytest.approx(told["log_likelihood"], rel=1e-5)
    assert found.bic == pytest.approx(-told["bic"], rel=1e-5)
    assert found.icl == pytest.approx(-told["icl"], rel=1e-3)
    # From its own log-likelihood the formula gives its number to the last digits.
    weight = float(len(rows))
    assert bic(told["log_likelihood"], told["df"], weight) == pytest.approx(-told["bic"], rel=1e-14)


def _normed(given: GaussianParameters) -> GaussianParameters:
    whole = math.fsum(given.weights)
    return GaussianParameters(
        tuple(w / whole for w in given.weights), given.means, given.spreads, given.form
    )


@pytest.mark.spec("MS-BIC")
def test_weights_are_copies() -> None:
    copies = [[0.0], [0.0], [1.0], [4.0], [4.0], [4.0], [5.0], [6.0]]
    rows = dataset([[0.0], [1.0], [4.0], [5.0], [6.0]], weights=[2.0, 1.0, 3.0, 1.0, 1.0])
    start = GaussianParameters((0.5, 0.5), ((0.0,), (5.0,)), ((1.0,), (1.0,)), "full")
    one = gaussian_mixture(rows, parameters=start, limit=3)
    other = gaussian_mixture(copies, parameters=start, limit=3)
    assert one.weight == other.weight == 8.0
    assert criteria(one, rows).bic == pytest.approx(criteria(other, copies).bic, rel=1e-13)
    assert criteria(one, rows).icl == pytest.approx(criteria(other, copies).icl, rel=1e-13)


def test_other_data_and_other_fits_are_refused() -> None:
    fit = gaussian_mixture(LINE, 2, covariance="tied")
    with pytest.raises(BadOption, match="not those of the fit"):
        criteria(fit, [*LINE[:-1], [9.0]])
    with pytest.raises(BadOption, match="no likelihood of its own"):
        criteria(variational_gaussian(LINE, 1), LINE)
