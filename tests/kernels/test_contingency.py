"""The kernel that counts label pairs (chapter 40)."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.kernels.contingency import Count, LabelPairs, table
from refclust.kernels.contracts.basic import Exact
from refclust.kernels.registry import KERNELS
from tests.metrics.strategies import Pair, labelings


@pytest.mark.spec("KER-CT", "CT-TABLE")
def test_counts() -> None:
    assert table(LabelPairs("aab", "xyx")) == {("a", "x"): 1, ("a", "y"): 1, ("b", "x"): 1}
    assert table(LabelPairs([], [])) == {}
    assert table(LabelPairs([None, None], [(1,), (1,)])) == {(None, (1,)): 2}
    counted = table(LabelPairs("aaa", "xxx"))
    assert type(counted) is dict
    assert type(counted["a", "x"]) is int


@pytest.mark.spec("KER-CT", "CT-WEIGHT")
def test_weights() -> None:
    weights: list[Count] = [Fraction(1, 3), 2, Fraction(2, 3), 0]
    cells = table(LabelPairs("aaab", "xyxx", weights))
    assert cells == {("a", "x"): 1, ("a", "y"): 2, ("b", "x"): 0}
    assert table(LabelPairs([], [], [])) == {}


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        table(LabelPairs("ab", "x"))
    with pytest.raises(ValueError, match=r"shorter|longer"):
        table(LabelPairs("ab", "xy", [1]))
    with pytest.raises(ValueError, match=r"shorter|longer"):
        table(LabelPairs("ab", "x", [1, 2]))


@pytest.mark.spec("KER-CT", "CT-TABLE", "CT-WEIGHT")
@given(labelings(), st.randoms(use_true_random=False), st.data())
def test_the_order_of_objects_does_not_matter(
    pair: Pair, rng: random.Random, data: st.DataObject
) -> None:
    n = len(pair.true)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    order = list(range(n))
    rng.shuffle(order)
    clusters, classes = [pair.pred[x] for x in order], [pair.true[x] for x in order]
    plain = table(LabelPairs(pair.pred, pair.true))
    assert table(LabelPairs(clusters, classes)) == plain
    assert table(LabelPairs(pair.pred, pair.true, [1] * n)) == plain
    assert sum(plain.values()) == n
    for (cluster, label), count in plain.items():
        members = [x for x in range(n) if (pair.pred[x], pair.true[x]) == (cluster, label)]
        assert count == len(members)
    weighted = table(LabelPairs(pair.pred, pair.true, weights))
    shuffled = table(LabelPairs(clusters, classes, [weights[x] for x in order]))
    assert weighted == shuffled
    assert set(weighted) == set(plain)
    assert sum(weighted.values()) == sum(weights)


def test_the_answer_keeps_the_contract() -> None:
    kernel = KERNELS["contingency.table"]
    assert kernel.reference is table
    assert isinstance(kernel.contract, Exact)
    halves: list[Count] = [1, Fraction(1, 2), 3]
    for weights in (None, halves):
        data = LabelPairs("aab", "xyx", weights)
        assert kernel.contract.malformed(table(data)) is None
        assert kernel.contract.fault(table(data), table(data)) is None
