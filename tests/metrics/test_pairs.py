"""Pair metrics on the five objects of the sources and on traps (chapter 42)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from refclust.errors import WeightsNotInteger
from refclust.formulas.pairs import PairCounts, pair_counts, pair_metric, same_cluster
from refclust.formulas.undefined import Undefined
from refclust.metrics import Contingency, score
from refclust.numbers.real import sqrt

FIVE = [[2, 1], [0, 2]]
SKEW = [[3, 1], [0, 2]]


def value(key: str, rows: list[list[int]]) -> Fraction | None:
    return score(key, rows).fraction


@pytest.mark.spec("PC-UNORD", "PC-ORD", "PC-NPAIRS")
def test_counts_of_the_five_objects() -> None:
    table = Contingency.of_rows(FIVE)
    counts = pair_counts(table)
    assert isinstance(counts, PairCounts)
    assert [c.fraction for c in counts] == [2, 2, 2, 4]
    assert counts.all.fraction == 10
    assert counts.in_clusters.fraction == 4
    assert counts.in_classes.fraction == 4
    assert [c.fraction for c in pair_counts(table, pairs="ordered")] == [9, 4, 4, 8]
    skew = pair_counts(Contingency.of_rows(SKEW))
    assert [c.fraction for c in skew] == [4, 3, 2, 6]
    assert skew.in_clusters.fraction == 7
    assert skew.in_classes.fraction == 6


@pytest.mark.spec("PC-UNORD", "PC-ORD")
def test_weights_can_only_be_counted_in_order() -> None:
    table = Contingency.of_rows([["1/2", 1]])
    with pytest.raises(WeightsNotInteger, match=r"with whole weights; use pairs='ordered'$"):
        pair_counts(table)
    assert [c.fraction for c in pair_counts(table, pairs="ordered")] == [Fraction(5, 4), 1, 0, 0]


@pytest.mark.spec("PC-UNORD", "PC-ORD")
def test_derivations_call_the_counts_by_their_names() -> None:
    table = Contingency.of_rows(SKEW)
    for convention, names in (("unordered", "TP FP FN TN"), ("ordered", "SS SD DS DD")):
        counts = pair_counts(table, pairs=convention)
        assert [count.content for count in counts] == [(name, name) for name in names.split()]


@pytest.mark.spec("PC-IND")
def test_indicators() -> None:
    assert [same_cluster("aba", 0, y) for y in range(3)] == [1, 0, 1]


@pytest.mark.spec("PAIR-OP")
def test_a_coefficient_of_ones_own() -> None:
    table = Contingency.of_rows(SKEW)
    assert pair_metric(lambda a, b, c, d: a - b + 10 * c + 100 * d, table).fraction == 621
    assert pair_metric(lambda a, b, c, d: sqrt(a) + b * c * d, table) == 38
    ordered = pair_metric(lambda a, b, c, d: a + b + c + d, table, pairs="ordered")
    assert ordered.fraction == 36
    with pytest.raises(
        Undefined, match=r"^the coefficient divides by zero on these pair counts$"
    ) as missing:
        pair_metric(lambda a, b, c, d: Fraction(a, b - b) + c + d, table)
    assert math.isnan(missing.value.value)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("rand", Fraction(10, 15), marks=pytest.mark.spec("RAND")),
        pytest.param("rand[pairs=ordered]", Fraction(26, 36), marks=pytest.mark.spec("RAND")),
        pytest.param("jaccard", Fraction(4, 9), marks=pytest.mark.spec("JAC")),
        pytest.param("jaccard[pairs=ordered]", Fraction(14, 24), marks=pytest.mark.spec("JAC")),
        pytest.param("pair_precision", Fraction(4, 7), marks=pytest.mark.spec("PC-PREC")),
        pytest.param("pair_recall", Fraction(4, 6), marks=pytest.mark.spec("PC-REC")),
        pytest.param("pair_f", Fraction(8, 13), marks=pytest.mark.spec("PC-F")),
        pytest.param("pair_f[beta=2]", Fraction(20, 31), marks=pytest.mark.spec("PC-F")),
        pytest.param("pair_f[beta=0]", Fraction(4, 7), marks=pytest.mark.spec("PC-F")),
        pytest.param("hubert_raw", Fraction(4, 15), marks=pytest.mark.spec("HUB-STAT")),
        pytest.param("wallace", Fraction(4, 7), marks=pytest.mark.spec("WAL")),
        pytest.param("wallace[given=classes]", Fraction(2, 3), marks=pytest.mark.spec("WAL")),
        pytest.param(
            "wallace[given=classes,pairs=ordered]", Fraction(7, 9), marks=pytest.mark.spec("WAL")
        ),
        pytest.param("kulczynski", Fraction(13, 21), marks=pytest.mark.spec("KULC")),
        pytest.param("rogers_tanimoto", Fraction(10, 20), marks=pytest.mark.spec("ROGTAN")),
        pytest.param("sokal_sneath_1", Fraction(4, 14), marks=pytest.mark.spec("SOKSN1")),
        pytest.param("sokal_sneath_2", Fraction(20, 25), marks=pytest.mark.spec("SOKSN2")),
        pytest.param("mirkin", Fraction(10), marks=pytest.mark.spec("MIRKIN")),
        pytest.param("adjusted_rand", Fraction(36, 111), marks=pytest.mark.spec("ARI")),
        pytest.param("adjusted_pair_f", Fraction(36, 111), marks=pytest.mark.spec("PC-FADJ")),
        pytest.param("adjusted_wallace", Fraction(18, 63), marks=pytest.mark.spec("WAL-ADJ")),
        pytest.param(
            "adjusted_wallace[given=classes]", Fraction(18, 48), marks=pytest.mark.spec("WAL-ADJ")
        ),
    ],
)
def test_values_of_the_skew_table(key: str, expected: Fraction) -> None:
    assert value(key, SKEW) == expected


@pytest.mark.spec("FM", "HUB-COS", "HUB-NORM", "FM-ADJ")
def test_values_with_roots() -> None:
    root = sqrt(42)
    assert score("fowlkes_mallows", SKEW).exact == 4 / root
    assert score("hubert_cosine", SKEW).exact == 4 / root
    assert score("fowlkes_mallows[pairs=ordered]", SKEW).exact == 14 / sqrt(20 * 18)
    assert score("hubert_normalized", SKEW).exact == 18 / sqrt(42 * 8 * 9)
    assert score("adjusted_fowlkes_mallows", SKEW).exact == 18 / (root * (15 - root))
    assert value("hubert_cosine[pairs=ordered]", FIVE) == Fraction(9, 13)


@pytest.mark.spec("ARI")
def test_the_adjusted_rand_index_can_be_minus_one_half() -> None:
    assert value("adjusted_rand", [[1, 1], [1, 1]]) == Fraction(-1, 2)
    assert value("hubert_normalized", [[1, 1], [1, 1]]) == Fraction(-1, 2)


@pytest.mark.spec("JAC-ADJ")
def test_the_adjusted_jaccard_index() -> None:
    # The cluster of three holds one A of AABBB in 6 of 10 ways (TP = 1, J = 1/7), two in 3 ways
    # (TP = 2, J = 2/6), none in 1 way (TP = 4, J = 1).
    expected = Fraction(6, 10) * Fraction(1, 7) + Fraction(3, 10) * Fraction(2, 6) + Fraction(1, 10)
    assert value("adjusted_jaccard", FIVE) == (Fraction(1, 3) - expected) / (1 - expected)


ONE, SINGLE, POINT = [[3]], [[1, 0], [0, 1]], [[1]]


@pytest.mark.parametrize(
    ("key", "rows", "reason"),
    [
        ("rand", POINT, "there is no pair of objects"),
        ("hubert_raw", POINT, "there is no pair of objects"),
        ("rogers_tanimoto", POINT, "there is no pair of objects"),
        ("sokal_sneath_2", POINT, "there is no pair of objects"),
        ("jaccard", SINGLE, "no pair is together in either partition"),
        ("pair_f", SINGLE, "no pair is together in either partition"),
        ("sokal_sneath_1", SINGLE, "no pair is together in either partition"),
        ("pair_precision", [[1], [1]], "no cluster holds two objects"),
        ("wallace", [[1], [1]], "no cluster holds two objects"),
        ("pair_recall", [[1, 1]], "no class holds two objects"),
        ("wallace[given=classes]", [[1, 1]], "no class holds two objects"),
        ("fowlkes_mallows", [[1, 1]], "one side keeps no pair together"),
        ("kulczynski", [[1], [1]], "one side keeps no pair together"),
        ("hubert_cosine", [[1, 1]], "one of the indicator vectors is zero"),
        ("hubert_normalized", ONE, "one partition keeps all pairs together or all apart"),
        ("hubert_normalized", [[1, 1]], "one partition keeps all pairs together or all apart"),
        ("adjusted_rand", ONE, "both partitions are one group, or both are all singletons"),
        ("adjusted_rand", SINGLE, "both partitions are one group, or both are all singletons"),
        ("adjusted_pair_f", SINGLE, "both partitions are one group, or both are all singletons"),
        ("adjusted_fowlkes_mallows", ONE, "one side keeps no pair together, or both keep all"),
        ("adjusted_wallace", ONE, "the given side keeps no pair together, or the other keeps all"),
        ("adjusted_jaccard", ONE, "every permutation of the labels gives 1"),
        ("adjusted_jaccard", SINGLE, "no pair is together in either partition"),
    ],
)
def test_reasons_where_there_is_no_value(key: str, rows: list[list[int]], reason: str) -> None:
    found = score(key, rows)
    assert math.isnan(found)
    assert found.undefined == f"0/0: {reason}"


@pytest.mark.parametrize("rows", [ONE, SINGLE, POINT, [[1, 1]], [[1], [1]]])
def test_ordered_pairs_always_have_values_but_for_constant_indicators(
    rows: list[list[int]],
) -> None:
    for name in ("rand", "jaccard", "pair_precision", "pair_recall", "pair_f", "fowlkes_mallows"):
        assert value(f"{name}[pairs=ordered]", rows) is not None or rows in ([[1, 1]], [[1], [1]])
    constant = len(rows) == 1 or len(rows[0]) == 1
    assert math.isnan(score("hubert_normalized[pairs=ordered]", rows)) == constant
