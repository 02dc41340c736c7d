"""Every metric of huge counts: a number soon, or a clear refusal, and none costs the others."""

from __future__ import annotations

import contextlib
import math
import time
from fractions import Fraction
from typing import Any

import pytest

from refclust import metrics, score, score_all
from refclust.errors import BadOption, NotFinite, TooLarge
from refclust.formulas.information import entropy
from refclust.metrics import Contingency
from refclust.metrics.adjusted.estimates import estimated
from refclust.numbers.combinatorics import expected_maximum, table_statistics
from refclust.numbers.real import real
from tests.metrics.keys import EXTERNAL

TABLES = {
    "1e6": [[10**6, 3], [5, 10**6]],
    "1e18": [[10**18, 3], [5, 10**18]],
    "1e30": [[10**30, 1], [1, 10**30]],
    "1e4000": [[10**4000, 3], [5, 10**4000]],
    "mixed": [[10**9, 10**9 + 7, 1], [10**9 - 5, 10**8, 2]],
}


@pytest.mark.spec("EMI", "AMI", "EXP-MC", "NUM-TABLES")
@pytest.mark.parametrize("name", TABLES)
def test_every_metric_ends(name: str) -> None:
    table = Contingency.of_rows(TABLES[name])
    for key in EXTERNAL:
        start = time.monotonic()
        with contextlib.suppress(TooLarge, NotFinite):
            assert math.isfinite(score(key, table))
        assert time.monotonic() - start < 30, key


@pytest.mark.spec("AMI")
def test_adjusted_information_of_huge_counts() -> None:
    half = 10**18
    assert score("ami", TABLES["1e18"]).certified
    even = score("expected_mutual_information", [[half, half], [half, half]])
    assert even.certified
    # The table is independent: I = 0, and AMI = −E/(log 2 − E) with E within 1/n of 1/(2n − 2).
    assert score("ami", [[half, half], [half, half]]) == pytest.approx(
        -1 / (8 * half) / math.log(2), rel=1e-9
    )
    assert float(even) == pytest.approx(1 / (8 * half), rel=1e-12)


@pytest.mark.spec("CONV-SCORE")
def test_what_is_too_large_does_not_cost_the_others() -> None:
    found = score_all(TABLES["1e4000"], heavy=True)
    assert found["purity"] == 1.0
    assert {"chi_squared", "mirkin", "adjusted_jaccard", "adjusted_purity"}.isdisjoint(found)
    assert {"ami", "nmi", "adjusted_rand"} <= found.keys()


@pytest.mark.spec("EXP-MC")
def test_estimates_are_refused_by_their_steps() -> None:
    table = Contingency.of_rows([[3, 0], [0, 3]])
    with pytest.raises(TooLarge, match=r"^an estimate from 1,000,000,000,000 random tables takes "):
        estimated(table, real(1), lambda _: 0.25, samples=10**12, seed=1)
    huge = Contingency.of_rows([[2**40, 0], [0, 1]])
    with pytest.raises(TooLarge, match="doubles, which serve up to 1,099,511,627,776 objects"):
        estimated(huge, real(1), lambda _: 0.25, samples=10, seed=1)


@pytest.mark.spec("NUM-TABLES", "PUR-EXP")
def test_binomials_out_of_reach_are_not_formed() -> None:
    with pytest.raises(TooLarge, match=r"^the expected maximum of about 10\^4000 objects in 2"):
        expected_maximum(10**4000, [10**4000, 10**4000])
    with pytest.raises(TooLarge, match=r"bit operations or more, and the limit is 4000000000$"):
        table_statistics([10**7] * 2, [10**7] * 2, 0, lambda *_: 0)
    with pytest.raises(TooLarge, match="bit operations or more"):
        table_statistics([10**6] * 3, [10**6] * 3, 0, lambda *_: 0)


@pytest.mark.spec("CT-WEIGHT")
def test_numbers_without_end_in_python() -> None:
    huge: Any = 10 ** (10**6)
    with pytest.raises(TooLarge, match=r"^the weight of object 0 takes 1,000,000,000 digits"):
        metrics.purity([1, 2], [1, 1], weights=["1e999999999", 1])
    with pytest.raises(TooLarge, match=r"^exact arithmetic with these weights takes "):
        metrics.purity([1, 2], [1, 1], weights=[huge, 1])
    with pytest.raises(TooLarge, match=r"^exact arithmetic with these cells takes "):
        metrics.purity([[huge, 1], [1, 2]])
    with pytest.raises(TooLarge, match=r"^mutual_information: base=about 10\^1000000 takes "):
        metrics.mutual_information([[1, 2], [3, 4]], base=huge)
    with pytest.raises(TooLarge, match=r"^v_measure: beta='1e-999999999' takes "):
        metrics.v_measure([[1, 2], [3, 4]], beta="1e-999999999")
    with pytest.raises(BadOption, match=r"^pair_f: beta=about -10\^9000 must not be negative"):
        metrics.pair_f([[1, 2], [3, 4]], beta=-(10**9000))
    with pytest.raises(TooLarge, match=r"^probability 0 takes "):
        entropy(["1e-999999999", 1])
    with pytest.raises(TooLarge, match=r"about 10\^4500 objects is not settled within the 5,000"):
        metrics.nmi([[10**4500, 1], [2, 3]])
    assert metrics.purity([[10**5000, 1], [1, 2]]).fraction == Fraction(10**5000 + 2, 10**5000 + 4)
