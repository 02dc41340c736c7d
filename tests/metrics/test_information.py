"""Information metrics on worked tables and at their edges (chapter 43)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from refclust import metrics
from refclust.formulas.information import in_base, mean_entropy
from refclust.kernels.information import expected_mi
from refclust.metrics import Contingency, score
from refclust.metrics.adjusted import information
from refclust.metrics.adjusted.information import (
    EXACT_LIMIT,
    ami_is_undefined,
    expected_mutual_information,
    is_trivial,
    margins_of,
)
from refclust.numbers.real import Interval, Real, log, sqrt

HALVES = [[2, 0], [0, 2]]
SKEW = [[2, 0], [1, 1]]
ONE, SINGLE = [[3]], [[1, 0], [0, 1]]


def exact(key: str, rows: list[list[int]]) -> Real:
    found = score(key, rows).exact
    assert found is not None
    return found


@pytest.mark.spec("ENT-C", "ENT-T", "ENT-JOINT", "ENT-COND", "MI-CT", "VI")
def test_amounts_of_information() -> None:
    assert exact("entropy_clusters", SKEW) == log(2)
    assert exact("entropy_classes", SKEW) == 2 * log(2) - 3 * log(3) / 4
    assert exact("joint_entropy", SKEW) == 3 * log(2) / 2
    assert exact("conditional_entropy", SKEW) == log(2) / 2
    assert exact("conditional_entropy[of=clusters]", SKEW) == 3 * log(3) / 4 - log(2) / 2
    assert exact("mutual_information", SKEW) == 3 * log(2) / 2 - 3 * log(3) / 4
    assert exact("variation_of_information", SKEW) == 3 * log(3) / 4
    assert score("entropy_clusters[base=2]", SKEW).fraction == 1
    assert score("joint_entropy[base=4]", SKEW).fraction == Fraction(3, 4)
    assert score("conditional_entropy[base=2]", SKEW).fraction == Fraction(1, 2)
    assert exact("entropy_classes[base=10]", SKEW) == exact("entropy_classes", SKEW) / log(10)
    assert in_base(log(5), None) == log(5)


@pytest.mark.spec("NMI-RATIO", "NMI-GEO", "NMI-ARI", "NMI-MIN", "NMI-MAX", "NMI-JOINT", "NMI-SG")
def test_five_ways_to_normalise() -> None:
    mutual, clusters, classes, joint = (
        exact(key, SKEW)
        for key in ("mutual_information", "entropy_clusters", "entropy_classes", "joint_entropy")
    )
    assert classes < clusters
    assert exact("nmi", SKEW) == mutual / sqrt(clusters * classes)
    assert exact("nmi[average=arithmetic]", SKEW) == 2 * mutual / (clusters + classes)
    assert exact("nmi[average=min]", SKEW) == mutual / classes
    assert exact("nmi[average=max]", SKEW) == mutual / clusters
    assert exact("nmi[average=joint]", SKEW) == mutual / joint
    assert exact("nmi_strehl_ghosh", SKEW) == exact("nmi", SKEW)
    assert exact("information_ratio", SKEW) == mutual / clusters
    assert exact("information_ratio[of=classes]", SKEW) == mutual / classes
    table = Contingency.of_rows(SKEW)
    assert mean_entropy(table, "min") == classes
    assert mean_entropy(table, "max") == clusters
    assert exact("normalized_information_distance", SKEW) == 1 - mutual / clusters
    assert exact("normalized_variation_of_information", SKEW) == 1 - mutual / joint


@pytest.mark.spec("HOM", "COMPL", "V-BETA")
def test_homogeneity_and_completeness() -> None:
    split = [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert score("homogeneity", split).fraction == 1
    assert score("completeness", split).fraction == Fraction(1, 2)
    assert score("v_measure", split).fraction == Fraction(2, 3)
    assert score("v_measure[beta=2]", split).fraction == Fraction(3, 5)
    assert score("v_measure[beta=0]", split).fraction == 1
    # The paper fixes 1 where there is nothing to explain.
    assert score("homogeneity", [[2], [1]]).fraction == 1
    assert score("completeness", [[2], [1]]).fraction == 0
    assert score("completeness", [[2, 1]]).fraction == 1
    assert score("homogeneity", [[2, 1]]).fraction == 0
    assert score("homogeneity", ONE).fraction == score("completeness", ONE).fraction == 1
    assert score("v_measure", [[1, 1], [1, 1]]).fraction == 0
    assert score("v_measure", [[2, 1]]).fraction == 0


@pytest.mark.parametrize(
    ("key", "rows", "reason"),
    [
        ("nmi", [[2, 1]], "the entropies that should normalise are zero"),
        ("nmi[average=min]", [[2], [1]], "the entropies that should normalise are zero"),
        ("nmi[average=arithmetic]", ONE, "the entropies that should normalise are zero"),
        ("nmi_strehl_ghosh", [[2, 1]], "one side is a single group"),
        ("information_ratio", [[2, 1]], "the clusters are one group"),
        ("information_ratio[of=classes]", [[2], [1]], "the classes are one group"),
        ("v_measure", ONE, "the entropies that should normalise are zero"),
        ("v_measure[beta=0]", [[2], [1]], "the entropies that should normalise are zero"),
        (
            "normalized_variation_of_information",
            ONE,
            "all objects are in one cluster and one class",
        ),
        ("normalized_information_distance", ONE, "all objects are in one cluster and one class"),
        ("ami", ONE, "mutual information, its mean and its bound are all the same"),
        (
            "ami[average=joint]",
            SINGLE,
            "mutual information, its mean and its bound are all the same",
        ),
        (
            "ami[average=min]",
            [[1, 0], [1, 0], [0, 1]],
            "mutual information, its mean and its bound are all the same",
        ),
    ],
)
def test_reasons_where_there_is_no_value(key: str, rows: list[list[int]], reason: str) -> None:
    found = score(key, rows)
    assert math.isnan(found)
    assert found.undefined == f"0/0: {reason}"


@pytest.mark.spec("NMI-ARI", "NMI-MAX", "NMI-JOINT", "NID", "VI-NORM")
def test_one_side_one_group_is_zero_where_the_mean_is_not() -> None:
    for average in ("arithmetic", "max", "joint"):
        assert metrics.nmi([[2, 1]], average=average).fraction == 0
        assert metrics.ami([[2, 1]], average=average).fraction == 0
    assert metrics.normalized_information_distance([[2, 1]]).fraction == 1
    assert metrics.normalized_variation_of_information([[2, 1]]).fraction == 1


class TestExpectation:
    """Expected and adjusted mutual information."""

    @pytest.mark.spec("EMI")
    def test_by_hand(self) -> None:
        # AABB against AABB: 1 of 3 arrangements agrees up to names, the others are independent.
        assert exact("expected_mutual_information", HALVES) == log(2) / 3
        assert score("emi[base=2]", HALVES).fraction == Fraction(1, 3)
        assert score("emi[base=2]", [[1, 0], [0, 1]]).fraction == 1
        assert exact("emi", [[4, 1]]) == 0
        assert exact("emi", [[1, 0], [1, 0], [0, 1]]) == exact(
            "mutual_information", [[2, 0], [0, 1]]
        )

    @pytest.mark.spec("AMI")
    def test_exactly_zero_for_a_table_that_is_not_trivial(self) -> None:
        for average in ("arithmetic", "geometric", "min", "max", "joint"):
            found = metrics.ami(SKEW, average=average)
            assert found == 0.0
            assert found.fraction == 0
            assert found.undefined is None

    @pytest.mark.spec("AMI")
    def test_values(self) -> None:
        assert metrics.ami([[1, 1], [1, 1]]).fraction == Fraction(-1, 2)
        assert metrics.ami(HALVES).fraction == 1
        # The table on which a well-known library prints 1.25.
        trap = metrics.ami([0] * 6 + [1] * 6, range(12), average="min")
        assert math.isnan(trap)
        assert metrics.ami([0] * 6 + [1] * 6, range(12)).fraction == 0

    @pytest.mark.spec("AMI")
    @pytest.mark.parametrize(
        ("rows", "undefined"),
        [
            (ONE, {"arithmetic", "max", "joint", "min", "geometric"}),
            (SINGLE, {"arithmetic", "max", "joint", "min", "geometric"}),
            ([[2, 1]], {"min", "geometric"}),
            ([[2], [1]], {"min", "geometric"}),
            ([[1, 0], [1, 0], [0, 1]], {"min"}),
            ([[1, 1, 0], [0, 0, 1]], {"min"}),
            ([[1, 1]], {"min", "geometric"}),
            (SKEW, set()),
        ],
    )
    def test_shapes(self, rows: list[list[int]], undefined: set[str]) -> None:
        table = Contingency.of_rows(rows)
        averages = ("arithmetic", "geometric", "min", "max", "joint")
        assert {a for a in averages if ami_is_undefined(table, a)} == undefined

    def test_margins(self) -> None:
        margins = margins_of(Contingency.of_rows([[2, 1, 0], [0, 1, 2], [1, 0, 0]]))
        assert margins.rows == ((1, 1), (3, 2))
        assert margins.columns == ((2, 2), (3, 1))
        assert margins.total == 7
        assert is_trivial((5,))
        assert is_trivial((1, 1))
        assert not is_trivial((2, 1))

    @pytest.mark.spec("EMI", "KER-EMI")
    def test_the_kernel_of_the_session_is_asked_first_and_the_reference_refines(self) -> None:
        asked: list[int] = []

        def wide(margins: object, digits: int) -> Interval:
            asked.append(digits)
            low, high = expected_mi(margins, digits)  # type: ignore[arg-type]
            return low - 1, high + 1

        table = Contingency.of_rows([[5, 2, 1], [1, 4, 4]])
        found = expected_mutual_information(table, expected_mi=wide)
        assert float(found) == float(expected_mutual_information(table))
        assert asked == [30]

    @pytest.mark.spec("EMI", "AMI")
    def test_trivial_sides_of_any_size_have_no_doubts(self) -> None:
        """No permutation changes the table, so that the expectation is the information itself."""
        n = 2 * EXACT_LIMIT
        halves, single = [x % 2 for x in range(n)], list(range(n))
        assert exact("emi", [[n - 100, 100]]).fraction == 0
        assert exact("emi", [[n - 100], [100]]).fraction == 0
        for pair in ((halves, single), (single, halves)):
            assert metrics.expected_mutual_information(*pair).exact == log(2)
            assert metrics.ami(*pair).fraction == 0

    @pytest.mark.spec("EMI")
    def test_doubts_are_settled_exactly_up_to_a_limit(self) -> None:
        assert EXACT_LIMIT == 200
        quarter = EXACT_LIMIT // 4
        even = Contingency.of_rows([[quarter, quarter], [quarter, quarter]])
        value = expected_mutual_information(even)
        # Equal to itself written out, which only an exact form can tell.
        assert (value - information._written_out(even)).sign() == 0


@pytest.mark.spec("MI-CT", "NMI-GEO")
def test_the_table_of_the_sources() -> None:
    rows = [[39, 6, 1], [8, 31, 1], [2, 1, 11]]
    assert metrics.nmi(rows) == 0.42503627500679453
    assert metrics.nmi_strehl_ghosh(rows) == 0.42503627500679453
