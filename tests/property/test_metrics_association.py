"""Association metrics by their definitions: expected counts and guessing games (chapter 44)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

from refclust.formulas import association, information
from refclust.metrics import Contingency
from refclust.metrics.contingency import contingency
from refclust.numbers.real import sqrt
from tests.metrics import witness
from tests.metrics.keys import or_none
from tests.metrics.strategies import Pair, is_one, labelings, rational_tables, some, tables


@pytest.mark.spec("CHI2", "CRAMER")
@some(25)
@given(tables() | rational_tables())
def test_chi_squared_by_observed_and_expected_counts(table: Contingency) -> None:
    n, squares = table.total, Fraction()
    for i, row in enumerate(table.rows()):
        for j, observed in enumerate(row):
            expected = Fraction(table.row[i]) * table.col[j] / n
            squares += (observed - expected) ** 2 / expected
    found = association.chi_squared(table)
    assert found.fraction == squares
    fewer = min(len(table.row), len(table.col))
    assert 0 <= squares <= n * (fewer - 1)
    v = or_none(association.cramers_v, table)
    if fewer == 1:
        assert v is None
    else:
        assert v == sqrt(squares / (n * (fewer - 1)))
        assert v is not None
        assert 0 <= v <= 1
    assert (squares == 0) == (information.mutual_information(table) == 0)


def wrong_guesses(target: list[int], known: list[int]) -> int:
    """The objects missed when each group of ``known`` guesses its most frequent target."""
    missed = 0
    for group in witness.members(known).values():
        missed += len(group) - max(sum(target[x] == t for x in group) for t in target)
    return missed


def wrong_draws(target: list[int], known: list[int]) -> Fraction:
    """The mean number of misses when each object guesses the target of a random group mate."""
    missed = Fraction()
    for group in witness.members(known).values():
        for x in group:
            missed += Fraction(sum(target[x] != target[y] for y in group), len(group))
    return missed


@pytest.mark.spec("GK-LAMBDA", "GK-TAU")
@given(labelings())
def test_guessing_games(pair: Pair) -> None:
    table, blind = contingency(*pair), [0] * len(pair.true)
    sides = {"classes": (pair.true, pair.pred), "clusters": (pair.pred, pair.true)}
    errors = {
        side: (wrong_guesses(target, blind), wrong_guesses(target, known))
        for side, (target, known) in sides.items()
    }
    (b1, a1), (b2, a2) = errors.values()
    errors["both"] = (b1 + b2, a1 + a2)
    for predict, (before, after) in errors.items():
        found = or_none(association.goodman_kruskal_lambda, table, predict=predict)
        expected = Fraction(before - after, before) if before else None
        assert (None if found is None else found.fraction) == expected
    for predict, (target, known) in sides.items():
        at_first, at_last = wrong_draws(target, blind), wrong_draws(target, known)
        found = or_none(association.goodman_kruskal_tau, table, predict=predict)
        saved = (at_first - at_last) / at_first if at_first else None
        assert (None if found is None else found.fraction) == saved


@pytest.mark.spec("THEIL-U", "HOM", "COMPL", "NMI-ARI")
@some(25)
@given(tables() | rational_tables())
def test_uncertainty_is_homogeneity_completeness_or_their_mean(table: Contingency) -> None:
    one_cluster, one_class = is_one(table.row), is_one(table.col)
    for predict, undefined, same in (
        ("classes", one_class, information.homogeneity),
        ("clusters", one_cluster, information.completeness),
        ("both", one_class and one_cluster, lambda t: information.nmi(t, average="arithmetic")),
    ):
        found = or_none(association.theils_u, table, predict=predict)
        if undefined:
            assert found is None
        else:
            assert found == same(table)


@pytest.mark.spec("GK-LAMBDA", "GK-TAU", "THEIL-U", "CRAMER")
@some(25)
@given(tables() | rational_tables())
def test_association_lies_between_zero_and_one(table: Contingency) -> None:
    for metric, targets in (
        (association.goodman_kruskal_lambda, ("classes", "clusters", "both")),
        (association.goodman_kruskal_tau, ("classes", "clusters")),
        (association.theils_u, ("classes", "clusters", "both")),
    ):
        for predict in targets:
            found = or_none(metric, table, predict=predict)
            assert found is None or 0 <= found <= 1
            one = {"classes": is_one(table.col), "clusters": is_one(table.row)}
            assert (found is None) == one.get(predict, all(one.values()))
