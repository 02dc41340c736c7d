"""Matching metrics against loops over objects, injections and permutations (chapter 41)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from refclust.formulas import matching
from refclust.formulas.undefined import Undefined
from refclust.metrics import Contingency
from refclust.metrics.adjusted import matching as matching_adjusted
from refclust.metrics.adjusted.estimates import estimated
from refclust.metrics.contingency import contingency
from refclust.numbers.real import Real, real
from tests.metrics import witness
from tests.metrics.strategies import (
    Pair,
    is_one,
    is_single,
    labelings,
    labels_of,
    proper_labelings,
    rational_tables,
    some,
    tables,
)

small = labelings(most=6)


def exactly(value: object) -> Fraction:
    assert isinstance(value, Real)
    assert value.fraction is not None
    return value.fraction


@pytest.mark.spec("PUR", "PUR-INV", "PUR-F")
@given(labelings())
def test_purity_counts_the_objects_of_majority_classes(pair: Pair) -> None:
    table = contingency(*pair)
    p, q = witness.purity(*pair), witness.purity(pair.pred, pair.true)
    assert exactly(matching.purity(table)) == p
    assert exactly(matching.inverse_purity(table)) == q
    assert exactly(matching.purity_f(table)) == witness.harmonic(p, q)
    assert Fraction(1, len(pair.true)) <= p <= 1


@pytest.mark.spec("PUR", "PUR-I")
@given(tables())
def test_purity_is_the_weighted_mean_of_the_purities_of_clusters(table: Contingency) -> None:
    shares = [exactly(share) for share in matching.cluster_purity(table)]
    weighted = sum(n_i * share for n_i, share in zip(table.row, shares, strict=True))
    assert exactly(matching.purity(table)) == weighted / table.total
    for row, share in zip(table.rows(), shares, strict=True):
        assert share == Fraction(max(row)) / sum(row)


@pytest.mark.spec("PUR")
@given(labelings(), st.data())
def test_splitting_a_cluster_never_lowers_purity(pair: Pair, data: st.DataObject) -> None:
    """PROP-PUR-2 is the end of it: with every object alone, purity is 1."""
    split = [(label, data.draw(st.integers(0, 1))) for label in pair.pred]
    whole = exactly(matching.purity(contingency(*pair)))
    assert exactly(matching.purity(contingency(pair.true, split))) >= whole
    assert exactly(matching.purity(contingency(pair.true, range(len(pair.true))))) == 1


@pytest.mark.spec("XM-PREC", "XM-REC", "XM-FI", "XM-F")
@given(tables())
def test_precision_and_recall_of_clusters(table: Contingency) -> None:
    lists = (
        [exactly(value) for value in side(table)]
        for side in (matching.cluster_purity, matching.cluster_recall, matching.cluster_f)
    )
    per_cluster = list(zip(*lists, strict=True))
    assert len(per_cluster) == len(table.row)
    for row, (precision, recall, f) in zip(table.rows(), per_cluster, strict=True):
        # Of the classes with most objects the smallest: it has the greatest recall.
        most = max(row)
        of_class = [Fraction(most) / m for n, m in zip(row, table.col, strict=True) if n == most]
        assert precision == Fraction(most) / sum(row)
        assert recall == max(of_class)
        assert f == witness.harmonic(precision, recall)
    assert exactly(matching.f_macro(table)) == witness.mean([f for _, _, f in per_cluster])


@pytest.mark.spec("XM-FCLASS")
@given(labelings())
def test_each_class_takes_the_cluster_that_suits_it_best(pair: Pair) -> None:
    n, f = len(pair.true), Fraction()
    clusters = witness.members(pair.pred).values()
    for class_ in witness.members(pair.true).values():
        dice = [Fraction(2 * len(class_ & c), len(class_) + len(c)) for c in clusters]
        f += Fraction(len(class_), n) * max(dice)
    assert exactly(matching.f_measure(contingency(*pair))) == f


@pytest.mark.spec("MATCH", "CLACC", "NCA", "NPA", "PSI", "PSI-SIMPLE", "MATCH-HUNG")
@given(labelings(most=9))
def test_matchings_are_the_best_of_all_one_to_one_maps(pair: Pair) -> None:
    n, table = len(pair.true), contingency(*pair)
    r, k = len(table.row), len(table.col)
    assume(max(r, k) <= 6)
    accuracy = witness.best_injection(*pair, lambda a, b: Fraction(len(a & b), n))
    assert exactly(matching.matching_accuracy(table)) == accuracy
    assert accuracy >= Fraction(1, max(r, k))
    recalls = witness.best_injection(
        *pair, lambda class_, cluster: Fraction(len(class_ & cluster), len(class_))
    )
    if k > 1:
        assert exactly(matching.nca(table)) == (recalls - 1) / (k - 1)
        assert -1 < exactly(matching.nca(table)) <= 1
        assert r > k or exactly(matching.nca(table)) >= 0
    if max(r, k) > 1:
        worst = Fraction(1, max(r, k))
        assert exactly(matching.npa(table)) == (accuracy - worst) / (1 - worst)
    overlaps = witness.best_injection(*pair, lambda a, b: Fraction(len(a & b), max(len(a), len(b))))
    sizes = zip(sorted(table.row, reverse=True), sorted(table.col, reverse=True), strict=False)
    chance = sum((Fraction(min(a, b), n) for a, b in sizes), Fraction())
    psi, simple = exactly(matching.psi(table)), exactly(matching.simplified_psi(table))
    if r == k == 1:
        assert psi == simple == 1
    else:
        assert psi == max(Fraction(), (overlaps - chance) / (max(r, k) - chance))
        assert simple == max(Fraction(), (overlaps - 1) / (max(r, k) - 1))
        assert simple <= psi  # since chance is never more than one pair


@pytest.mark.spec("NCA", "NPA")
@given(tables())
def test_where_the_normalised_accuracies_have_no_value(table: Contingency) -> None:
    r, k = len(table.row), len(table.col)
    for metric, undefined in ((matching.nca, k == 1), (matching.npa, r == k == 1)):
        if undefined:
            with pytest.raises(Undefined):
                metric(table)
        else:
            assert exactly(metric(table)) <= 1


@pytest.mark.spec("MATCH-HUNG", "MATCH")
@given(tables(most_groups=5))
def test_no_exchange_of_partners_improves_a_matching(table: Contingency) -> None:
    size: dict[Callable[[Contingency], matching.Matching], Callable[[int, int], Fraction]] = {
        matching.optimal_matching: lambda _i, _j: Fraction(1),
        matching.recall_matching: lambda _i, j: Fraction(table.col[j]),
        matching.overlap_matching: lambda i, j: Fraction(max(table.row[i], table.col[j])),
    }
    for matcher, divisor in size.items():
        worth: dict[tuple[int, int], Fraction] = {
            cell: Fraction(n_ij) / divisor(*cell) for cell, n_ij in table.cells()
        }
        matched = matcher(table)
        rows, columns = {i for i, _ in matched}, {j for _, j in matched}
        assert len(rows) == len(columns) == len(matched)
        assert set(matched) <= set(worth)
        assert not [cell for cell in worth if cell[0] not in rows and cell[1] not in columns]
        for (i, j), (a, b) in itertools.combinations(matched, 2):
            swapped = worth.get((i, b), Fraction()) + worth.get((a, j), Fraction())
            assert swapped <= worth[i, j] + worth[a, b]


@pytest.mark.spec("MATCH", "PUR", "PUR-INV")
@given(tables() | rational_tables())
def test_matching_is_at_most_purity(table: Contingency) -> None:
    """PROP-PUR-1: one to one allows less than many to one."""
    matched = exactly(matching.matching_accuracy(table))
    assert matched <= exactly(matching.purity(table))
    assert matched <= exactly(matching.inverse_purity(table))


@pytest.mark.spec("BC-P", "BC-R", "BC-F")
@given(labelings())
def test_bcubed_by_the_objects(pair: Pair) -> None:
    table = contingency(*pair)
    p, r = witness.bcubed_precision(*pair), witness.bcubed_precision(pair.pred, pair.true)
    assert exactly(matching.bcubed_precision(table)) == p
    assert exactly(matching.bcubed_recall(table)) == r
    assert exactly(matching.bcubed_f(table)) == witness.harmonic(p, r)


@pytest.mark.spec("BC-P", "PUR")
@given(rational_tables())
def test_bcubed_precision_is_at_most_purity(table: Contingency) -> None:
    assert exactly(matching.bcubed_precision(table)) <= exactly(matching.purity(table))


@pytest.mark.spec("VD")
@given(labelings(), st.data())
def test_van_dongen_is_a_metric_on_partitions(pair: Pair, data: st.DataObject) -> None:
    n = len(pair.true)
    third = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))

    def distance(a: list[int], b: list[int]) -> Fraction:
        return exactly(matching.van_dongen(contingency(a, b)))

    assert distance(pair.true, pair.true) == 0
    there = distance(*pair)
    assert there == distance(pair.pred, pair.true)
    assert there == n * (2 - witness.purity(*pair) - witness.purity(pair.pred, pair.true))
    assert there <= distance(pair.true, third) + distance(third, pair.pred)
    assert 0 <= there < 2 * n


@pytest.mark.spec("PUR-EXP", "BC-PEXP", "PUR-ADJ", "BC-PADJ", "BC-RADJ", "BC-FADJ")
@some(30)
@given(small)
def test_expectations_are_means_over_all_permutations(pair: Pair) -> None:
    table, turned = contingency(*pair), Pair(pair.pred, pair.true)
    scores = (
        (matching_adjusted.adjusted_purity, witness.purity, pair),
        (matching.adjusted_bcubed_precision, witness.bcubed_precision, pair),
        (matching.adjusted_bcubed_recall, witness.bcubed_precision, turned),
        (matching_adjusted.adjusted_bcubed_f, witness.bcubed_f, pair),
    )
    for adjusted, plain, labels in scores:
        expected = witness.mean_by_chance(plain, *labels)
        if expected == 1:
            with pytest.raises(Undefined, match="0/0"):
                adjusted(table)
        else:
            found = (plain(*labels) - expected) / (1 - expected)
            assert exactly(adjusted(table)) == found
    for formula in (matching.expected_purity, matching_adjusted.expected_purity):
        assert formula(table) == witness.mean_by_chance(witness.purity, *pair)
    bcubed = witness.mean_by_chance(witness.bcubed_precision, *pair)
    assert matching.expected_bcubed_precision(table) == bcubed
    f = witness.mean_by_chance(witness.bcubed_f, *pair)
    assert matching_adjusted.expected_bcubed_f(table) == f


@pytest.mark.spec("ADJ-CHANCE")
@example([Fraction(1)])
@given(st.lists(st.fractions(0, 1, max_denominator=9), min_size=1, max_size=6))
def test_adjusting_keeps_one_and_moves_the_mean_to_zero(scores: list[Fraction]) -> None:
    """Of a similarity only what the permutations give it counts."""
    expected = witness.mean(scores)
    if expected == 1:
        with pytest.raises(Undefined, match="0/0"):
            matching.adjusted(real(1), expected)
    else:
        assert matching.adjusted(real(1), expected) == 1
        moved = [exactly(matching.adjusted(real(score), expected)) for score in scores]
        assert witness.mean(moved) == 0


@pytest.mark.spec("PUR-ADJ", "BC-PADJ", "BC-RADJ", "BC-FADJ")
@some(15)
@given(proper_labelings(most=5))
def test_adjusted_scores_are_zero_on_average(pair: Pair) -> None:
    for adjusted in (
        matching_adjusted.adjusted_purity,
        matching.adjusted_bcubed_precision,
        matching.adjusted_bcubed_recall,
        matching_adjusted.adjusted_bcubed_f,
    ):
        values = [
            exactly(adjusted(contingency(shuffled, pair.pred)))
            for shuffled in witness.arrangements(pair.true)
        ]
        assert witness.mean(values) == 0


@pytest.mark.spec("PUR-ADJ", "BC-PADJ", "BC-RADJ", "BC-FADJ")
@given(labelings())
def test_adjusted_scores_are_undefined_by_shape(pair: Pair) -> None:
    table = contingency(*pair)
    one, single = ([f(s) for s in (table.row, table.col)] for f in (is_one, is_single))
    for adjusted, undefined in (
        (matching_adjusted.adjusted_purity, single[0] or one[1]),
        (matching.adjusted_bcubed_precision, single[0] or one[1]),
        (matching.adjusted_bcubed_recall, single[1] or one[0]),
        (matching_adjusted.adjusted_bcubed_f, all(one) or all(single)),
    ):
        if undefined:
            with pytest.raises(Undefined, match="0/0"):
                adjusted(table)
        else:
            assert exactly(adjusted(table)) <= 1


@pytest.mark.spec("EXP-MC")
@some(10)
@given(proper_labelings(most=7), st.integers(0, 10**6))
def test_an_estimate_is_near_the_exact_value(pair: Pair, seed: int) -> None:
    table, n, samples = contingency(*pair), len(pair.true), 300
    value = matching.purity(table)

    def purity(drawn: list[list[int]]) -> float:
        assert [sum(row) for row in drawn] == list(table.row)
        assert [sum(column) for column in zip(*drawn, strict=True)] == list(table.col)
        return sum(map(max, drawn)) / n

    found = estimated(table, value, purity, samples=samples, seed=seed)
    assert found == estimated(table, value, purity, samples=samples, seed=seed)
    assert (found.samples, found.seed) == (samples, seed)
    by_chance = [
        witness.purity(shuffled, pair.pred) for shuffled in witness.arrangements(pair.true)
    ]
    e, error = float(witness.mean(by_chance)), witness.sampling_error(by_chance, samples)
    # (S − e)/(1 − e) falls as e grows; 1e-12 is for the roundings of floats below 1.
    p = float(value)
    highest, lowest = e - error, min(e + error, 1 - 1e-9)
    assert (
        (p - lowest) / (1 - lowest) - 1e-12 <= found.value <= (p - highest) / (1 - highest) + 1e-12
    )


@pytest.mark.spec("PUR", "VD", "BC-P", "MATCH")
@given(tables())
def test_a_table_and_its_labels_agree(table: Contingency) -> None:
    again = contingency(*labels_of(table))
    for metric in (
        matching.purity,
        matching.van_dongen,
        matching.bcubed_precision,
        matching.matching_accuracy,
    ):
        assert metric(again) == metric(table)
