"""Correction for chance: exact expectations, and estimates where they are out of reach."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from refclust import metrics
from refclust.errors import BadOption, TooLarge
from refclust.formulas.matching import adjusted, expected_bcubed_precision
from refclust.formulas.undefined import Undefined
from refclust.metrics import Contingency, score
from refclust.metrics.adjusted import matching, pairs
from refclust.metrics.adjusted.estimates import SAMPLES, SEED, Estimate, estimated
from refclust.metrics.adjusted.matching import (
    expected_bcubed_f,
    expected_purity,
)
from refclust.metrics.adjusted.pairs import expected_jaccard
from refclust.metrics.contingency import contingency
from refclust.numbers.combinatorics import table_statistics
from refclust.numbers.real import real
from tests.metrics import witness


def partitions(n: int, most: int | None = None) -> Iterator[list[int]]:
    """All ways to write n as a falling sum."""
    if n == 0:
        yield []
    for first in range(min(n, most or n), 0, -1):
        for rest in partitions(n - first, first):
            yield [first, *rest]


def labels(sizes: list[int]) -> list[int]:
    return [group for group, size in enumerate(sizes) for _ in range(size)]


MARGINS = [
    (rows, columns)
    for n in range(1, 7)
    for rows, columns in itertools.product(partitions(n), repeat=2)
] + [([3, 2, 2], [4, 2, 1]), ([4, 3], [3, 3, 1]), ([2, 2, 2, 1], [5, 2]), ([6, 1], [4, 3])]


@pytest.mark.spec("PUR-EXP", "BC-PEXP", "BC-FADJ", "JAC-ADJ", "ARI", "PUR-ADJ")
def test_expectations_for_all_margins_by_all_permutations() -> None:
    """Every pair of margins up to n = 6, and a few with n = 7, against every permutation."""
    for rows, columns in MARGINS:
        pred, true = labels(rows), labels(columns)
        table = contingency(true, pred)
        orders = list(witness.arrangements(true))
        by_chance = [witness.pair_counts(shuffled, pred) for shuffled in orders]
        purities = [witness.purity(shuffled, pred) for shuffled in orders]
        precisions = [witness.bcubed_precision(shuffled, pred) for shuffled in orders]
        recalls = [witness.bcubed_precision(pred, shuffled) for shuffled in orders]
        f = [witness.harmonic(p, r) for p, r in zip(precisions, recalls, strict=True)]
        assert expected_purity(table) == witness.mean(purities)
        assert expected_bcubed_precision(table) == witness.mean(precisions)
        assert expected_bcubed_precision(table.transposed()) == witness.mean(recalls)
        assert expected_bcubed_f(table) == witness.mean(f)
        together = [Fraction(c[0]) for c in by_chance]
        tp, fp, fn, tn = by_chance[0]
        p, q, n = tp + fp, tp + fn, tp + fp + fn + tn
        if n:
            assert witness.mean(together) == Fraction(p * q, n)
        if p + q:
            assert expected_jaccard(table) == witness.mean([t / (p + q - t) for t in together])


@pytest.mark.spec("PUR-EXP", "BC-PEXP")
def test_expectation_is_one_exactly_for_singletons_or_one_class() -> None:
    for rows, columns in MARGINS:
        table = contingency(labels(columns), labels(rows))
        trivial = len(rows) == sum(rows) or len(columns) == 1
        assert (expected_purity(table) == 1) == trivial
        assert (expected_bcubed_precision(table) == 1) == trivial


def test_rescaling() -> None:
    assert adjusted(real("3/4"), Fraction(1, 2)).fraction == Fraction(1, 2)
    assert adjusted(real(0), Fraction(1, 2)).fraction == -1
    assert adjusted(real(1), 0).fraction == 1
    with pytest.raises(Undefined, match=r"^0/0: every permutation of the labels gives 1$"):
        adjusted(real(1), 1)


@pytest.mark.spec("PUR-ADJ", "BC-FADJ", "JAC-ADJ", "BC-PADJ", "BC-RADJ")
def test_large_trivial_tables_are_undefined_and_not_estimated() -> None:
    """The shape decides: sampling would divide one rounding error by another."""
    many = 20_000
    for table in ([[many]], [[many], [5]], [[many // 2]] * 2):
        found = metrics.adjusted_purity(table)
        assert math.isnan(found)
        assert found.undefined == "0/0: every permutation of the labels gives 1"
        assert found.certified
    singletons = (range(60), range(60))
    for metric in (metrics.adjusted_bcubed_f, metrics.adjusted_purity):
        found = metric(*singletons)
        assert math.isnan(found)
        assert found.undefined == "0/0: every permutation of the labels gives 1"
    assert math.isnan(metrics.adjusted_jaccard(*singletons))
    assert math.isnan(metrics.adjusted_bcubed_f([[many]]))
    assert math.isnan(metrics.adjusted_bcubed_f([1], [1]))
    # One side trivial is another matter: there F is not 1 for every permutation.
    assert metrics.adjusted_bcubed_f([0, 0, 1, 1], [0, 0, 0, 0]).fraction == 0
    assert metrics.adjusted_bcubed_f([0, 0, 1, 1], range(4)).fraction == 0
    assert metrics.adjusted_bcubed_f([[2], [1]]).fraction == 0
    assert metrics.adjusted_bcubed_f([[2, 1]]).fraction == 0


@pytest.mark.spec("JAC-ADJ", "BC-FADJ")
@pytest.mark.parametrize("turn", [False, True])
def test_many_small_groups_against_few_large_ones_stay_exact(turn: bool) -> None:
    true, pred = [0] * 20 + [1] * 20, [*range(36), 0, 1, 2, 3]
    pair = (pred, true) if turn else (true, pred)
    for metric in (metrics.adjusted_jaccard, metrics.adjusted_bcubed_f):
        found = metric(*pair)
        assert found.certified
        assert found.fraction is not None


ROWS = [[7, 2, 1], [1, 6, 2], [0, 2, 5]]
ENUMERATED = ("adjusted_purity", "adjusted_bcubed_f", "adjusted_jaccard")


@pytest.fixture
def no_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every exact expectation is refused as too large."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise TooLarge("too large for today")

    monkeypatch.setattr(matching, "table_statistics", refuse)
    monkeypatch.setattr(matching, "expected_maximum", refuse)
    monkeypatch.setattr(pairs, "table_statistics", refuse)


class TestEstimates:
    """Above the limits of exact work the value is an estimate that says so."""

    @pytest.mark.spec("EXP-MC")
    @pytest.mark.parametrize(
        ("key", "value", "error"),
        [
            ("adjusted_purity[samples=50]", "0x1.a5a5a5a5a5a5ap-2", "0x1.f9c61a2ce4d21p-8"),
            ("adjusted_purity[samples=50,seed=3]", "0x1.a688150d28392p-2", "0x1.0e84047e9ece2p-7"),
            ("adjusted_bcubed_f[samples=50]", "0x1.06ff067e738b7p-2", "0x1.8eecc82f5bae6p-8"),
            ("adjusted_jaccard[samples=50]", "0x1.4e30bb551018dp-3", "0x1.0011f6b7bb904p-8"),
        ],
    )
    @pytest.mark.usefixtures("no_enumeration")
    def test_seeded_values_are_pinned(self, key: str, value: str, error: str) -> None:
        found = score(key, ROWS)
        assert (found.hex(), found.bound.hex()) == (value, error)

    @pytest.mark.spec("EXP-MC")
    @pytest.mark.parametrize("name", ENUMERATED)
    @pytest.mark.usefixtures("no_enumeration")
    def test_an_estimate_is_not_certified(self, name: str) -> None:
        found = score(name, ROWS, samples=20)
        assert found.certified is False
        assert found.bound > 0
        assert found.exact is None
        assert found.fraction is None
        assert found.undefined is None
        assert found == score(name, ROWS, samples=20)
        assert found != score(name, ROWS, samples=20, seed=1)
        assert found != score(name, ROWS, samples=21)
        assert found.name == f"{name}[samples=20]"

    @pytest.mark.spec("EXP-MC", "JAC-ADJ")
    def test_a_table_that_really_is_too_large(self) -> None:
        spread = [[40, 3, 5, 2, 1], [2, 35, 4, 4, 3], [6, 1, 30, 2, 2], [1, 4, 2, 25, 3], [9] * 5]
        found = metrics.adjusted_jaccard(spread, samples=5)
        assert not found.certified
        assert 0.2 < found < 0.5

    @pytest.mark.spec("EXP-MC", "PUR-ADJ")
    def test_estimates_lie_within_five_standard_errors_of_the_exact_value(self) -> None:
        """Exact and estimated side by side, where both are possible; fixed seeds, so no chance."""
        table = Contingency.of_rows([[12, 3, 1], [2, 9, 2], [1, 2, 8]])
        n = int(table.total)
        exact = metrics.adjusted_purity(table)
        assert exact.certified
        for seed in range(10):
            found = estimated(
                table,
                metrics.purity(table).exact or real(0),
                lambda drawn: sum(map(max, drawn)) / n,
                samples=400,
                seed=seed,
            )
            assert 0 < abs(found.value - exact) < 5 * found.standard_error

    @pytest.mark.spec("EXP-MC", "BC-FADJ", "JAC-ADJ", "PUR-ADJ")
    @pytest.mark.parametrize("name", ENUMERATED)
    def test_the_metrics_estimate_what_they_compute(
        self, name: str, request: pytest.FixtureRequest
    ) -> None:
        """Refuse the exact way, and the same metric comes out near, with a bound."""
        exact = score(name, ROWS)
        assert exact.certified
        request.getfixturevalue("no_enumeration")
        for seed in range(4):
            found = score(name, ROWS, samples=500, seed=seed)
            assert not found.certified
            assert 0 < abs(found - exact) < 5 * found.bound
            assert found.bound < 0.05

    @pytest.mark.spec("EXP-MC")
    def test_the_standard_error_is_that_of_the_rescaled_value(self) -> None:
        table, draws = Contingency.of_rows([[3, 1], [1, 3]]), iter([0.25, 0.5, 0.75, 0.5])
        found = estimated(table, real("3/4"), lambda _: next(draws), samples=4, seed=0)
        # Mean 1/2, variance (1/16 + 0 + 1/16 + 0)/3 = 1/24; slope (1 − 3/4)/(1/2)² = 1.
        assert found == Estimate(0.5, math.sqrt(1 / 24 / 4), 4, 0)

    @pytest.mark.spec("EXP-MC")
    @pytest.mark.usefixtures("no_enumeration")
    def test_samples_and_seed_are_whole_numbers(self) -> None:
        cases: tuple[tuple[dict[str, Any], str], ...] = (
            ({"samples": 1}, "samples=1: a whole number, 2 or more"),
            ({"samples": "5/2"}, "samples=5/2: a whole number, 2 or more"),
            ({"seed": -1}, "seed=-1: a whole number, 0 or more"),
            ({"seed": 0.5}, "seed=1/2: a whole number, 0 or more"),
        )
        for options, words in cases:
            with pytest.raises(BadOption) as caught:
                metrics.adjusted_jaccard(ROWS, **{"samples": 5, **options})
            assert words in str(caught.value)
        assert not metrics.adjusted_jaccard(ROWS, samples=2).certified
        assert (SAMPLES, SEED) == (1000, 0)

    def test_a_sample_without_any_mistake_tells_nothing(self) -> None:
        table = Contingency.of_rows([[3, 1], [1, 3]])
        with pytest.raises(TooLarge, match="each of 9 random tables gives 1"):
            estimated(table, real("3/4"), lambda _: 1.0, samples=9, seed=0)


def test_the_limit_of_exact_work_is_reached_soon_and_not_after_hours() -> None:
    """One row alone can have more deals than anybody could count: C(40, 20)."""
    with pytest.raises(TooLarge, match="more than 1000 rows"):
        table_statistics([20, 20], [1] * 40, 0, lambda a, _, cells: a + max(cells), limit=1000)
