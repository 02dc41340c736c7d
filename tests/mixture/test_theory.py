"""The bound, the divergence and their sum by hand, and what they refuse (EM-ELBO, EM-DECOMP)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from refclust.data.accepting.door import dataset
from refclust.errors import RefclustError
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.theory import (
    decomposition,
    divergence,
    expected_log_likelihood,
    log_joint,
    lower_bound,
    posteriors,
)

COINS = CountParameters((0.5, 0.5), ((0.75, 0.25), (0.25, 0.75)))
UNIT = GaussianParameters((0.5, 0.5), ((0.0,), (2.0,)), ((1.0,), (1.0,)), "spherical")


@pytest.mark.spec("EM-DECOMP", "EM-ELBO", "EM-EXPCDLL")
def test_two_coins() -> None:
    """One throw: joint probabilities 3/8 and 1/8, posterior 3/4 and 1/4."""
    found = decomposition([(0.5, 0.5)], COINS, [[1, 0]], family="multinomial")
    assert found.log_likelihood == pytest.approx(math.log(0.5), abs=2e-16)
    bound = 0.5 * math.log(3 / 4) + 0.5 * math.log(1 / 4)
    assert found.lower_bound == pytest.approx(bound, abs=1e-15)
    assert found.divergence == pytest.approx(0.5 * math.log(4 / 3), abs=1e-15)
    assert found.entropy == pytest.approx(math.log(2), abs=1e-15)
    assert found.expected == pytest.approx(bound - math.log(2), abs=1e-15)
    assert posteriors(COINS, [[1, 0]], family="multinomial")[0] == pytest.approx((0.75, 0.25))
    args: Any = ([(0.5, 0.5)], COINS, [[1, 0]])
    assert lower_bound(*args, family="multinomial") == found.lower_bound
    assert divergence(*args, family="multinomial") == found.divergence
    assert expected_log_likelihood(*args, family="multinomial") == found.expected


@pytest.mark.spec("EM-ELBOFACT", "MIX-JOINT")
def test_rows_add_up_by_their_weights() -> None:
    data = dataset([[1, 0], [0, 1], [5, 5]], weights=[2.0, 0.5, 0.0])
    q = [(1.0, 0.0), (0.5, 0.5), (0.25, 0.75)]
    found = decomposition(q, COINS, data, family="multinomial")
    each = [
        decomposition([one], COINS, [row], family="multinomial")
        for one, row in zip(q, ([1, 0], [0, 1]), strict=False)
    ]
    assert found.lower_bound == pytest.approx(
        2 * each[0].lower_bound + 0.5 * each[1].lower_bound, abs=1e-15
    )
    assert found.log_likelihood == pytest.approx(2.5 * math.log(0.5), abs=1e-15)


@pytest.mark.spec("MIX-JOINT", "MIX-MARGLL")
@pytest.mark.parametrize("weight", [1, 2, 3])
def test_every_copy_of_a_row_has_a_component_of_its_own(weight: int) -> None:
    """The sum over the components of all copies: 3/8 and 1/8 for each of them.

    With one component for all copies it would be 3^w/8^w + 1/8^w.
    """
    throw = dataset([[1, 0]], weights=[float(weight)])
    found = decomposition([(0.5, 0.5)], COINS, throw, family="multinomial")
    apart = sum(
        math.prod(Fraction((3, 1)[z], 8) for z in copies)
        for copies in product((0, 1), repeat=weight)
    )
    assert apart == Fraction(1, 2**weight)
    assert found.log_likelihood == pytest.approx(math.log(apart), abs=4e-16 * weight)
    if weight > 1:
        together = Fraction(3**weight + 1, 8**weight)
        assert found.log_likelihood > math.log(together) + 0.1


@pytest.mark.spec("EM-TIGHT")
def test_equality_needs_every_component() -> None:
    """A one-hot q where the other component is possible is not tight; where it is not, it is."""
    assert divergence([(1.0, 0.0)], COINS, [[1, 0]], family="multinomial") > 0.2
    alone = CountParameters((0.5, 0.5), ((1.0, 0.0), (0.0, 1.0)))
    found = decomposition([(1.0, 0.0)], alone, [[1, 0]], family="multinomial")
    assert (found.divergence, found.lower_bound) == (0.0, found.log_likelihood)


@pytest.mark.spec("EM-ELBO", "EM-JENSEN")
@pytest.mark.parametrize(
    ("q", "code"),
    [
        ([(0.5, 0.6)], "bad-distribution"),
        ([(1.5, -0.5)], "bad-distribution"),
        ([(float("nan"), 0.5)], "bad-distribution"),
        ([(1.0,)], "dimension-mismatch"),
        ([], "dimension-mismatch"),
        ([(0.5, 0.5)] * 2, "dimension-mismatch"),
    ],
)
def test_shares_must_be_distributions(q: Any, code: str) -> None:
    with pytest.raises(RefclustError) as caught:
        decomposition(q, COINS, [[1, 0]], family="multinomial")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("parameters", "data", "family", "code"),
    [
        (COINS, [[1, 0, 0]], "multinomial", "dimension-mismatch"),
        (COINS, [[1, 0]], "gaussian", "bad-option"),
        (COINS, [[1, 0]], "poisson", "bad-option"),
        (UNIT, [[1.0]], "multinomial", "bad-option"),
        (UNIT, [[1.0, 2.0]], "gaussian", "dimension-mismatch"),
        (None, [[1.0]], "gaussian", "bad-option"),
        (CountParameters((), ()), [[1]], "multinomial", "bad-option"),
        (CountParameters((1.0,), ((float("nan"), 0.5),)), [[1, 0]], "multinomial", "bad-option"),
        (CountParameters((1.0,), (("a", 0.5),)), [[1, 0]], "multinomial", "bad-option"),  # type: ignore[arg-type]
        (COINS, [[-1, 0]], "multinomial", "negative-count"),
        (COINS, [[2, 0]], "bernoulli", "not-binary"),
        (
            GaussianParameters((1.0,), ((0.0,),), ((0.0,),), "spherical"),
            [[1.0]],
            "gaussian",
            "degenerate-covariance",
        ),
    ],
)
def test_parameters_are_checked(parameters: Any, data: Any, family: str, code: str) -> None:
    with pytest.raises(RefclustError) as caught:
        log_joint(parameters, data, family=family)
    assert caught.value.code == code
