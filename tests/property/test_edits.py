"""Edit distance of partitions and standardised mutual information, by brute force (41, 43)."""

from __future__ import annotations

import itertools
from fractions import Fraction
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.formulas import information
from refclust.formulas.contingency import table
from refclust.formulas.undefined import Undefined
from refclust.metrics.adjusted import information_standardized as fast
from refclust.numbers.real import sqrt, total


def sides(most: int) -> st.SearchStrategy[tuple[list[int], list[int]]]:
    one = st.integers(0, 2)
    return st.integers(1, most).flatmap(
        lambda n: st.tuples(*[st.lists(one, min_size=n, max_size=n)] * 2)
    )


@pytest.mark.spec("MATCH-EDIT")
@given(sides(7))
def test_edits_by_every_renaming(pair: tuple[list[int], list[int]]) -> None:
    truth, clusters = pair
    renamed = itertools.permutations([*range(3), "u", "v", "w"], 3)
    due = min(sum(names[c] != t for c, t in zip(clusters, truth, strict=True)) for names in renamed)
    score = refclust.edit_distance(truth, clusters)
    assert score.fraction == due
    accuracy = refclust.matching_accuracy(truth, clusters).fraction
    assert accuracy is not None
    assert score.fraction == len(truth) * (1 - accuracy)
    assert refclust.edit_distance(clusters, truth) == score
    assert refclust.score("transfer_distance", truth, clusters) == score


@pytest.mark.spec("MATCH-EDIT")
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=8))
def test_edits_are_a_metric(rows: list[tuple[int, int, int]]) -> None:
    a, b, c = zip(*rows, strict=True)
    assert refclust.edit_distance(a, a) == 0
    assert refclust.edit_distance(a, c) <= refclust.edit_distance(a, b) + refclust.edit_distance(
        b, c
    )


@settings(max_examples=40, deadline=None)
@pytest.mark.spec("SMI")
@given(sides(5))
def test_smi_by_every_permutation(pair: tuple[list[int], list[int]]) -> None:
    truth, clusters = pair
    values = [
        information.mutual_information(table(clusters, order))
        for order in itertools.permutations(truth)
    ]
    score = refclust.standardized_mutual_information(truth, clusters)
    if all(value == values[0] for value in values):
        assert score.undefined is not None
        with pytest.raises(Undefined):
            information.standardized_mutual_information(table(clusters, truth))
        return
    mean = total(values) / len(values)
    variance = total((value - mean) ** 2 for value in values) / len(values)
    due = float((values[0] - mean) / sqrt(variance))
    assert float(score) == due
    assert float(information.standardized_mutual_information(table(clusters, truth))) == due
    assert score.certified


@pytest.mark.spec("SMI")
def test_smi_of_two_values_is_rational() -> None:
    # Three objects each: one table in ten is perfect, so it stands 3 deviations above the mean
    # only if all others are alike; they are.
    score = refclust.standardized_mutual_information("aaabbb", "xxxyyy")
    assert score.fraction == 3
    mean = refclust.expected_mutual_information("aaabbb", "xxxyyy")
    assert float(mean) < float(refclust.mutual_information("aaabbb", "xxxyyy"))


@pytest.mark.spec("SMI", "EXP-MC")
def test_smi_is_estimated_beyond_its_limit() -> None:
    truth, clusters = [0, 1, 2] * 8, [0, 0, 1, 1, 2, 2] * 4
    exact = refclust.standardized_mutual_information(truth, clusters)
    assert exact.certified
    with mock.patch.object(fast, "MOST_SETS", 3):
        drawn = refclust.standardized_mutual_information(truth, clusters, samples=2000, seed=1)
        again = refclust.standardized_mutual_information(truth, clusters, samples=2000, seed=1)
    assert not drawn.certified
    assert float(drawn) == float(again)
    assert abs(drawn - exact) < 5 * drawn.bound
    assert Fraction(drawn.bound) > 0
