"""Chapter 35 of the formula room: its golden cases, to the nearest double, and the prior."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.formulas import counts
from refclust.numbers.real import log
from tests.formulas.golden import cases
from tests.formulas.golden_counts import IMAGINED, LIKELIHOODS, missed
from tests.formulas.small import few

LARGE = {"pmix-large", "geo-large"}  # powers to 100,000 as fractions: too large
GOLDEN = [case for case in cases("35-counts/steps.json") if case.id not in LARGE]
laws = pytest.mark.parametrize("law", sorted(IMAGINED))
quarters = st.integers(1, 16).map(lambda x: Fraction(x, 4))
two_means = st.lists(quarters, min_size=2, max_size=2)


@pytest.mark.spec("PMIX-LL", "GEO-LL", "CM-MU", "CM-PRIOR", "CM-LL")
@pytest.mark.parametrize("case", GOLDEN)
def test_golden_steps(case: Any) -> None:
    assert missed(case) == []


@laws
@pytest.mark.spec("CM-PRIOR")
@few
@given(
    mu=st.lists(two_means, min_size=1, max_size=3),
    m=st.integers(0, 3),
    p=st.lists(st.integers(0, 4), min_size=2, max_size=2),
)
def test_whole_imagined_rows_are_as_good_as_real_ones(law: str, mu: Any, m: int, p: Any) -> None:
    """In every component alone, but for factorials, which no mean changes."""
    real = sum(LIKELIHOODS[law]([p], [m], ([1], [mu_k])) for mu_k in mu)
    ways = math.prod(map(math.factorial, p)) if law == "poisson" else 1
    assert counts.log_prior(mu, m, p, IMAGINED[law]) == real + m * len(mu) * log(ways)


@laws
@pytest.mark.spec("CM-PRIOR", "CM-MU")
@few
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 5)] * 2), min_size=1, max_size=3),
    m=quarters,
    p=two_means,
    other=two_means,
)
def test_the_mean_makes_the_posterior_largest(
    law: str, rows: Any, m: Fraction, p: Any, other: Any
) -> None:
    """With imagined rows CM-MU is where likelihood and prior together are largest."""
    ones = [1] * len(rows)
    best = counts.means(rows, ones, ones, m, p)

    def posterior(mu: Any) -> Any:
        return LIKELIHOODS[law](rows, ones, ([1], [mu])) + counts.log_prior(
            [mu], m, p, IMAGINED[law]
        )

    if tuple(other) == tuple(best):
        assert posterior(other) == posterior(best)
    else:
        assert posterior(best) > posterior(other)


@laws
@pytest.mark.spec("CM-PRIOR")
@few
@given(p=quarters, m=quarters, others=two_means)
def test_a_mean_of_zero_has_no_prior_where_imagined_rows_count(
    law: str, p: Fraction, m: Fraction, others: Any
) -> None:
    mu = [[others[0], 0], [others[1], 1]]
    assert counts.log_prior(mu, m, [1, p], IMAGINED[law]) == -math.inf
    assert math.isfinite(float(counts.log_prior(mu, m, [1, 0], IMAGINED[law])))
    assert counts.log_prior(mu, 0, [1, p], IMAGINED[law]) == 0
