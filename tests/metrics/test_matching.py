"""Matching metrics on tables of the sources and on traps (chapter 41)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from refclust import metrics
from refclust.formulas import matching
from refclust.formulas.matching import (
    cluster_f,
    cluster_purity,
    cluster_recall,
    expected_bcubed_precision,
    optimal_matching,
    overlap_matching,
    recall_matching,
)
from refclust.metrics import Contingency, score
from refclust.metrics.adjusted.matching import expected_purity
from refclust.numbers.real import postorder

IIR = [[5, 1, 0], [1, 4, 1], [2, 0, 3]]
BIG = [[50, 100, 0], [10, 1000, 50], [100, 90, 150]]


def fractions(key: str, rows: list[list[int]]) -> Fraction | None:
    return score(key, rows).fraction


@pytest.mark.spec("PUR", "PUR-INV", "PUR-F")
def test_purity_of_the_seventeen_objects() -> None:
    assert fractions("purity", IIR) == Fraction(12, 17)
    assert fractions("inverse_purity", IIR) == Fraction(12, 17)
    # ERR-21: a table that tells the two apart.
    skew = [[2, 0, 1], [0, 2, 1]]
    assert fractions("purity", skew) == Fraction(2, 3)
    assert fractions("inverse_purity", skew) == Fraction(5, 6)
    assert fractions("purity_f", skew) == Fraction(20, 27)


@pytest.mark.spec("PUR-I", "XM-PREC", "XM-REC", "XM-FI", "XM-F", "XM-FCLASS")
def test_the_lists_per_cluster() -> None:
    table = Contingency.of_rows(BIG)
    assert [x.fraction for x in cluster_purity(table)] == [
        Fraction(2, 3),
        Fraction(50, 53),
        Fraction(15, 34),
    ]
    # ERR-07: 100 of the 1190 in the class, not of the 1060 in the second cluster.
    assert [x.fraction for x in cluster_recall(table)] == [
        Fraction(100, 1190),
        Fraction(1000, 1190),
        Fraction(150, 200),
    ]
    f = [x.fraction for x in cluster_f(table)]
    assert f == [Fraction(200, 1340), Fraction(2000, 2250), Fraction(300, 540)]
    assert fractions("f_macro", BIG) == Fraction(961, 1809)
    by_class = (
        Fraction(160 * 2 * 100, 160 + 340) + Fraction(1190 * 2000, 2250) + Fraction(200 * 300, 540)
    )
    assert fractions("f_measure", BIG) == by_class / 1550


@pytest.mark.spec("XM-REC", "XM-FI")
def test_ties_go_to_the_smaller_class_whatever_its_name() -> None:
    for rows in ([[2, 2], [0, 3]], [[2, 2], [3, 0]]):
        table = Contingency.of_rows(rows)
        assert cluster_recall(table)[0].fraction == 1
        assert cluster_f(table)[0].fraction == Fraction(4, 6)
    even = Contingency.of_rows([[2, 2], [1, 0], [0, 1]])
    assert [x.fraction for x in cluster_recall(even)] == [
        Fraction(2, 3),
        Fraction(1, 3),
        Fraction(1, 3),
    ]


@pytest.mark.spec("MATCH", "CLACC", "MATCH-HUNG")
def test_matching_of_the_source() -> None:
    assert fractions("matching_accuracy", BIG) == Fraction(1200, 1550)
    assert optimal_matching(Contingency.of_rows(BIG)) == ((0, 0), (1, 1), (2, 2))
    greedy_trap = [[5, 4], [4, 0]]
    assert fractions("matching_accuracy", greedy_trap) == Fraction(8, 13)
    assert optimal_matching(Contingency.of_rows(greedy_trap)) == ((0, 1), (1, 0))
    assert fractions("matching_accuracy", [[3, 2, 1]]) == Fraction(1, 2)
    assert fractions("matching_accuracy", [[3], [2], [1]]) == Fraction(1, 2)
    assert fractions("matching_accuracy", [[1, 0], [1, 0], [0, 1], [0, 1]]) == Fraction(1, 2)


@pytest.mark.spec("NCA", "NPA")
def test_the_normalised_accuracies() -> None:
    assert fractions("nca", [[3, 1], [1, 3]]) == Fraction(1, 2)
    # Recalls decide, not counts: 1/1 + 3/10 beats 7/10.
    uneven = [[7, 1], [3, 0]]
    assert fractions("nca", uneven) == Fraction(3, 10)
    assert recall_matching(Contingency.of_rows(uneven)) == ((0, 1), (1, 0))
    assert optimal_matching(Contingency.of_rows(uneven)) == ((0, 0),)
    assert fractions("npa", uneven) == (Fraction(7, 11) - Fraction(1, 2)) * 2
    # More clusters than classes can be worse than the worst square table.
    assert fractions("nca", [[1, 1]] * 4) == Fraction(-1, 2)
    assert fractions("nca", [[1, 0, 0], [0, 1, 1]]) == Fraction(1, 2)
    assert fractions("npa", [[1, 1]] * 2) == 0
    assert fractions("npa", [[2, 1, 1]]) == Fraction(1, 4)
    assert fractions("npa", [[2, 1, 0]]) == Fraction(1, 3)  # the empty column is no class


@pytest.mark.spec("NCA", "NPA")
def test_the_normalised_accuracies_without_a_second_group() -> None:
    assert math.isnan(metrics.nca([[4]]))
    assert metrics.nca([[4]]).undefined == "0/0: there is only one class"
    assert math.isnan(metrics.npa([[4]]))
    assert metrics.npa([[4]]).undefined == "0/0: there is one cluster and one class"
    assert metrics.nca([[4, 3]]).fraction == 0
    assert metrics.npa([[4], [3]]).fraction == Fraction(1, 7)


@pytest.mark.spec("PSI")
def test_the_pair_sets_index() -> None:
    assert fractions("psi", [[3, 1], [1, 3]]) == Fraction(1, 2)
    assert fractions("psi", [[7]]) == 1
    assert fractions("psi", [[2, 1]]) == 0
    # The sizes 4 and 1 against 3 and 2.
    rows = [[3, 1], [0, 1]]
    s, e = Fraction(3, 4) + Fraction(1, 2), Fraction(3, 5) + Fraction(1, 5)
    assert fractions("psi", rows) == (s - e) / (2 - e)
    assert overlap_matching(Contingency.of_rows(rows)) == ((0, 0), (1, 1))
    three = [[2, 1, 0], [0, 1, 3]]
    s, e = Fraction(2, 3) + Fraction(3, 4), Fraction(3, 7) + Fraction(2, 7)
    assert fractions("psi", three) == (s - e) / (3 - e)
    # Independent: S is below E, and the index is cut off at 0.
    assert fractions("psi", [[1, 1], [1, 1]]) == 0
    assert fractions("psi", [[1, 1, 1], [1, 1, 1]]) == 0


@pytest.mark.spec("BC-P", "BC-R", "BC-F")
def test_bcubed() -> None:
    rows = [[2, 1], [0, 2]]
    p, r = Fraction(5, 3) + 2, Fraction(4, 2) + Fraction(5, 3)
    assert fractions("bcubed_precision", rows) == p / 5
    assert fractions("bcubed_recall", rows) == r / 5
    assert fractions("bcubed_precision", [[3, 1]]) == Fraction(10, 16)
    assert fractions("bcubed_recall", [[3, 1]]) == 1
    assert fractions("bcubed_f", [[3, 1]]) == Fraction(2 * 10, 26)


@pytest.mark.spec("PUR", "PUR-INV", "VD")
def test_derivations_name_the_sums_of_largest_cells() -> None:
    rows, columns = "Σ_i max_j n_ij", "Σ_j max_i n_ij"
    table = Contingency.of_rows(IIR)
    for formula, names in (
        (matching.purity, [rows]),
        (matching.inverse_purity, [columns]),
        (matching.van_dongen, [rows, columns]),
    ):
        named = [x.content for x in postorder(formula(table)) if x.op == "named"]
        latex = [r"\sum_i \max_j n_{ij}", r"\sum_j \max_i n_{ij}"]
        assert named == [(name, latex[name == columns]) for name in names]


@pytest.mark.spec("VD")
def test_van_dongen() -> None:
    assert fractions("van_dongen", IIR) == 2 * 17 - 12 - 12
    assert fractions("van_dongen", [[3, 1]]) == 1
    assert fractions("van_dongen", [[2, 0, 1], [0, 2, 1]]) == 12 - 4 - 5


@pytest.mark.spec("PUR-ADJ", "BC-PADJ", "BC-RADJ", "BC-FADJ", "PUR-EXP", "BC-PEXP")
def test_adjusted_for_chance() -> None:
    rows = [[2, 1], [0, 2]]
    table = Contingency.of_rows(rows)
    # Ten ways to choose the cluster of three out of AABBB: 6 hold one A, 3 hold two, 1 none.
    expected = Fraction(6 * 3 + 3 * 4 + 1 * 5, 10 * 5)
    assert expected_purity(table) == expected == Fraction(7, 10)
    assert fractions("adjusted_purity", rows) == (Fraction(4, 5) - expected) / (1 - expected)
    assert expected_bcubed_precision(table) == Fraction(2, 5) + Fraction(3, 5) * Fraction(4, 10)
    p, e = Fraction(11, 15), Fraction(16, 25)
    assert fractions("adjusted_bcubed_precision", rows) == (p - e) / (1 - e)
    assert fractions("adjusted_bcubed_recall", rows) == (p - e) / (1 - e)
    assert expected_bcubed_precision(Contingency.of_rows([[1]])) == 1
    for key in ("adjusted_purity", "adjusted_bcubed_precision"):
        for trivial in ([[3], [2]], [[1, 0], [0, 1]], [[1]]):
            assert score(key, trivial).undefined == "0/0: every permutation of the labels gives 1"
    for trivial in ([[3, 2]], [[1, 0], [0, 1]], [[1]]):
        assert math.isnan(metrics.adjusted_bcubed_recall(trivial))


@pytest.mark.spec("CT-WEIGHT")
def test_rational_weights() -> None:
    rows = [["1/2", "1/3"], [0, "1/6"]]
    assert score("purity", rows).fraction == Fraction(2, 3)
    assert score("matching_accuracy", rows).fraction == Fraction(2, 3)
    assert score("nca", rows).fraction == Fraction(1, 3)
    s, e = Fraction(3, 5) + Fraction(1, 3), Fraction(1, 2) + Fraction(1, 6)
    assert score("psi", rows).fraction == (s - e) / (2 - e)
    assert score("van_dongen", rows).fraction == 2 - Fraction(2, 3) - Fraction(5, 6)
    assert score("bcubed_precision", rows).fraction == Fraction(13, 36) / Fraction(5, 6) + Fraction(
        1, 6
    )
