"""Passes over one clustering: the values of the definitions, certified or within a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import TooLarge, Undecided
from refclust.formulas.clustered import Clustered
from refclust.metrics import catalogue
from refclust.metrics.calls.clusterings import clustered
from refclust.metrics.passes import kernels, orders, source
from refclust.metrics.passes.kernels import LEAST, KernelPasses
from refclust.metrics.passes.silhouette_intervals import (
    AVERAGES,
    Sums,
    mean_between,
    of_fine,
    width_below,
)
from refclust.metrics.passes.silhouettes import mean_silhouette
from refclust.metrics.score import evaluate
from refclust.numbers.real import Real, minimum, real, sqrt, total
from refclust.numbers.sampling import below, stream

Rows = list[list[float]]


def made(n: int, d: int, *, offset: float = 0.0, seed: int = 1) -> Rows:
    rng = stream(seed)
    return [[offset + round(8 * rng.random(), 2) for _ in range(d)] for _ in range(n)]


ROWS = made(20, 2)
LABELS = [i * i % 3 for i in range(20)]
WEIGHTS = [Fraction(1 + i % 4, 3) for i in range(20)]


def passes(
    rows: Any = ROWS, labels: Sequence[int] = LABELS, weights: Any = None, **more: Any
) -> KernelPasses:
    return KernelPasses(dataset(rows), labels, max(labels) + 1, weights, **more)


@pytest.fixture
def in_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all data were too large to be certified."""
    monkeypatch.setattr(source, "CERTIFIED", 0)
    monkeypatch.setattr(source, "CERTIFIED_ROWS", 0)


def squared(rows: Rows, i: int, j: int) -> Fraction:
    return sum(
        ((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(rows[i], rows[j], strict=True)),
        Fraction(),
    )


def members(k: int) -> list[int]:
    return [i for i, label in enumerate(LABELS) if label == k]


def defined(i: int, k: int, weights: Sequence[Any], rows: Rows = ROWS) -> Real:
    return total(weights[j] * sqrt(squared(rows, i, j)) for j in members(k))


FORMS: list[Any] = [list, lambda rows: [dict(enumerate(row)) for row in rows]]


@pytest.mark.spec("KER-DISTSUM")
@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 1e9, 1e15])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
def test_sums_are_those_of_the_definition(form: Any, offset: float, weights: Any) -> None:
    rows = made(20, 2, offset=offset)
    due = weights or [1] * 20
    told = passes(form(rows), weights=weights)
    for i in range(20):
        for k in range(2):
            right = defined(i, k, due, rows)
            assert told.distance_sum(i, k).digits(60) == right.digits(60)
            assert float(told.distance_sum(i, k)) == float(right)
    for k in range(2):
        right = total(due[i] * defined(i, 1, due, rows) for i in members(k))
        assert told.cluster_sum(k, 1).digits(40) == right.digits(40)


@pytest.mark.spec("KER-DISTSUM", "KER-CENTREDIST")
@pytest.mark.usefixtures("in_doubles")
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
def test_intervals_of_doubles_hold_the_exact_sums_and_are_narrow(weights: Any) -> None:
    rows = made(20, 3, offset=1e9)
    told, exact = passes(rows, weights=weights), passes(rows, weights=weights)
    exact.insist()
    pairs = [
        *((told.distance_sum(i, 1), exact.distance_sum(i, 1)) for i in range(20)),
        *((told.cluster_sum(k, 0), exact.cluster_sum(k, 0)) for k in range(2)),
    ]
    for rough, right in pairs:
        low, high = rough.enclosure()
        inner_low, inner_high = right.enclosure(60)
        assert low <= inner_low <= inner_high <= high
        assert high - low < Fraction(1, 10**13) * Fraction(high)
        with pytest.raises(Undecided):
            float(rough)


@pytest.mark.spec("KER-CENTREDIST")
@pytest.mark.usefixtures("in_doubles")
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_fine_sums_hold_the_exact_ones_and_settle_doubles(weights: Any, offset: float) -> None:
    rows = made(20, 3, offset=offset)
    told, exact = passes(rows, weights=weights), passes(rows, weights=weights)
    exact.insist()
    for k in range(2):
        low, high = told.centre_distances(k).enclosure()
        inner_low, inner_high = exact.centre_distances(k).enclosure(60)
        assert low <= inner_low <= inner_high <= high
        assert high - low < Fraction(1, 10**21) * Fraction(high)
        assert float(told.centre_distances(k)) == float(exact.centre_distances(k))
        with pytest.raises(Undecided, match="fine sums over 20 rows do not settle 60 digits"):
            told.centre_distances(k).enclosure(60)


@pytest.mark.spec("KER-CENTREDIST")
@pytest.mark.usefixtures("in_doubles")
def test_rests_of_means_are_rounded_and_that_is_counted() -> None:
    # Two neighbouring doubles near 2**52, three times as often the upper one: means are no doubles,
    # and what the rest of a mean loses is about as large as all else that is lost.
    rows = [[2.0**52 + (i % 3 > 0)] for i in range(9)]
    told, exact = (passes(rows, [0] * 9) for _ in range(2))
    exact.insist()
    low, high = told.centre_distances(0).enclosure()
    inner = exact.centre_distances(0).enclosure(60)
    assert low <= inner[0] <= inner[1] <= high
    assert float(exact.centre_distances(0)) == 4.0


@pytest.mark.spec("KER-CENTREDIST")
@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
@pytest.mark.parametrize("weights", [None, WEIGHTS, [Fraction(1 << 60, 3)] * 20])
def test_distances_to_means_are_those_of_the_definition(form: Any, weights: Any) -> None:
    told, due = passes(form(ROWS), weights=weights), weights or [1] * 20
    everything = Fraction(0)
    for k in range(2):
        own = members(k)
        whole = sum((Fraction(due[i]) for i in own), Fraction())
        mean = [
            sum((due[i] * Fraction(ROWS[i][j]) for i in own), Fraction()) / whole for j in range(2)
        ]
        squares = [
            sum(((Fraction(x) - m) ** 2 for x, m in zip(ROWS[i], mean, strict=True)), Fraction())
            for i in own
        ]
        right = total(due[i] * sqrt(square) for i, square in zip(own, squares, strict=True))
        assert told.centre_distances(k).digits(40) == right.digits(40)
        exact = sum((due[i] * square for i, square in zip(own, squares, strict=True)), Fraction())
        assert told.centre_distances(k, squared=True).fraction == exact
    for i in range(20):
        for j in range(i):
            everything += Fraction(due[i]) * due[j] * squared(ROWS, i, j)
    assert told.squared_sum() == everything


@pytest.mark.spec("KER-EXTREMES")
def test_extremes_and_orders_are_those_of_the_definition() -> None:
    told = passes()
    for k in range(2):
        for m in range(2):
            gaps = [[squared(ROWS, i, j) for j in members(m) if i != j] for i in members(k)]
            flat = [gap for row in gaps for gap in row]
            assert told.nearest_squared(k, m) == min(flat)
            assert told.farthest_squared(k, m) == max(flat)
            assert told.hausdorff_squared(k, m) == max(map(min, gaps))
    pairs = [(squared(ROWS, i, j), LABELS[i] == LABELS[j]) for i in range(20) for j in range(i)]
    inside = [gap for gap, same in pairs if same]
    between = [gap for gap, same in pairs if not same]
    closer = sum(a < b for a in inside for b in between)
    farther = sum(a > b for a in inside for b in between)
    assert told.orders() == (closer, farther)
    every = sorted(gap for gap, _ in pairs)
    for count in (1, 30, len(every)):
        assert told.least_sum(count).digits(30) == total(map(sqrt, every[:count])).digits(30)
        assert told.largest_sum(count).digits(30) == total(map(sqrt, every[-count:])).digits(30)


def test_a_weight_is_so_many_objects() -> None:
    times = [1 + i % 3 for i in range(20)]
    copies = [row for row, count in zip(ROWS, times, strict=True) for _ in range(count)]
    labels = [label for label, count in zip(LABELS, times, strict=True) for _ in range(count)]
    few, many = passes(weights=[Fraction(t) for t in times]), passes(copies, labels)
    assert few.orders() == many.orders()
    assert few.squared_sum() == many.squared_sum()
    assert few.least_sum(50).digits(30) == many.least_sum(50).digits(30)
    assert few.cluster_sum(0, 1).digits(30) == many.cluster_sum(0, 1).digits(30)


def test_equal_sums_of_roots_are_one_number() -> None:
    # Two clusters lie alike on both sides of the last row, and far more roots than are written out.
    side = [[x + 0.1, y + 0.7] for x in range(18) for y in range(18)]
    rows = [*side, *([-x, y] for x, y in side), [0.0, 0.3]]
    told = passes(rows, [0] * 324 + [1] * 324 + [2])
    left, right = told.distance_sum(648, 0), told.distance_sum(648, 1)
    assert left == right
    assert minimum(left, right) == left
    assert told.distance_sum(0, 0) != told.distance_sum(0, 1)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "MOST_PAIRS", 189)
    with pytest.raises(TooLarge, match="190 pairs of rows would have to be put in order"):
        passes().orders()
    monkeypatch.setattr(kernels, "CERTIFIED", 199)
    with pytest.raises(TooLarge, match="all pairs of 20 rows of 2 columns"):
        passes().hausdorff_squared(0, 1)
    monkeypatch.setattr(kernels, "MOST_CLUSTERS", 1)
    with pytest.raises(TooLarge, match="pairs of 2 clusters; at most 1 are allowed"):
        passes().nearest_squared(0, 1)


# -- silhouettes ----------------------------------------------------------------------------


def silhouette(evidence: Clustered) -> Real:
    """The mean silhouette, as a formula asks passes for it."""
    assert evidence.passes is not None
    widths = []
    for i, own in enumerate(evidence.labels):
        a = evidence.passes.distance_sum(i, own) / (evidence.sizes[own] - 1)
        b = minimum(
            *(
                evidence.passes.distance_sum(i, k) / evidence.sizes[k]
                for k in range(evidence.k)
                if k != own
            )
        )
        widths.append(evidence.weight(i) * ((b - a) / (b if a < b else a)))
    return real(total(widths) / evidence.total)


ENTRY = replace(
    catalogue.find("rand"),
    name="silhouette",
    formula=silhouette,
    evidence="rows",
    options={},
    defaults={},
    integer=True,
)


@pytest.mark.usefixtures("in_doubles")
@pytest.mark.parametrize("weights", [None, [1 + i % 3 for i in range(70)]])
def test_large_silhouettes_are_bounded_and_small_ones_certified(
    monkeypatch: pytest.MonkeyPatch, weights: Any
) -> None:
    rows, labels = made(70, 3, offset=1e9), [below(stream(i), 3) for i in range(70)]
    session = Session("reference")
    evidence = clustered(rows, labels, weights=weights, session=session)
    rough = evaluate(ENTRY, evidence, {}, session=session)
    monkeypatch.setattr(source, "CERTIFIED", 1 << 26)
    right = evaluate(ENTRY, clustered(rows, labels, weights=weights), {})
    assert (rough.certified, rough.exact) == (False, None)
    assert 0 < rough.bound < 1e-13
    assert [run.kernel for run in rough.provenance.kernels] == ["silhouette.distance_sums"]
    assert right.certified
    assert right.exact is not None
    assert abs(Fraction(rough) - Fraction(right.exact.enclosure(60)[0])) <= Fraction(rough.bound)


def test_what_is_small_runs_the_definitions() -> None:
    assert clustered(made(LEAST, 1), [0, 1] * (LEAST // 2)).passes is None
    assert clustered(made(LEAST + 1, 1), [0] * (LEAST + 1)).passes is not None
    assert clustered(proximity=[[0.0] * 70] * 70, labels=[0] * 70).passes is None


def test_means_of_silhouettes() -> None:
    sums = [1.0, 5.0, 1.0, 4.0, 9.0, 0.0]
    by_points = mean_silhouette(sums, [[0, 1], [2]], [1.0] * 3, 1)
    by_clusters = mean_silhouette(sums, [[0, 1], [2]], [1.0] * 3, 1, average="clusters")
    assert by_points is not None
    assert by_clusters is not None
    assert (by_points.value, by_clusters.value) == (31 / 60, 31 / 80)
    alike = mean_silhouette([0.0] * 8, [[0, 1], [2, 3]], [1.0] * 4, 1)
    assert alike is not None
    assert alike.value == 0.0
    assert alike.bound > 0
    assert mean_silhouette([0.0] * 4, [[0], [1]], [1.0] * 2, 1, average="larger") is None
    larger = mean_silhouette(sums, [[0, 1], [2]], [1.0] * 3, 1, average="larger")
    assert larger is not None
    assert larger.value == 31 / 40
    wrong_side = mean_silhouette(
        [4.0, 1.0, 4.0, 1.0, 1.0, 4.0, 1.0, 4.0], [[0, 1], [2, 3]], [1.0] * 4, 1
    )
    assert wrong_side is not None
    assert wrong_side.value == -0.875


@pytest.mark.spec("INT-SILAVG", "INT-SILK")
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("weights", [None, [1 + i % 3 for i in range(70)]])
def test_ends_of_silhouettes_hold_what_the_formula_says(average: str, weights: Any) -> None:
    rows, labels = made(70, 3, offset=1e9), [min(i, 3) if i < 4 else i % 3 for i in range(70)]
    entry = catalogue.find("silhouette")
    evidence = clustered(rows, labels, weights=weights, session=Session("reference"))
    score = evaluate(entry, evidence, {"average": average}, session=Session("reference"))
    without = entry.formula(replace(evidence, passes=None), average=average)
    assert score.certified
    assert score.exact is not None
    assert float(score) == float(without)
    inner, finer = without.enclosure(60), score.exact.enclosure(60)
    low, high = score.exact.enclosure()
    assert low <= inner[0] <= inner[1] <= high
    assert max(inner[0], finer[0]) <= min(inner[1], finer[1])
    assert finer[1] - finer[0] < (high - low) / 10**20


def test_the_ends_of_one_silhouette() -> None:
    one = width_below(0, 1)
    assert [width_below(a, b) for a, b in ((0, 0), (3, 0), (1, 4))] == [0, -one, one * 3 // 4]
    assert width_below(1, 3) == -width_below(3, 1) - 1  # rounded down, either way
    # The own cluster may be as near as 0 or farther than the other one.
    ends = mean_between(Sums([0, 4, 1, 3, 9, 0], [8, 5, 1, 3, 9, 0]), [[0, 1], [2]], [1] * 3)
    assert ends is not None
    low, high = 3 * ends.low, 3 * ends.high  # 4/8 - 1 at worst, 1 at best, and 1 - 1/3
    tiny = Fraction(1, 2**120)
    assert Fraction(-4, 8) + Fraction(2, 3) - tiny <= low <= Fraction(-4, 8) + Fraction(2, 3)
    assert 1 + Fraction(2, 3) <= high <= 1 + Fraction(2, 3) + tiny
    assert mean_between(Sums([0] * 4, [0] * 4), [[0], [1]], [1, 1], average="larger") is None


def test_fine_sums_in_integers() -> None:
    assert of_fine([0.0, 0.0], 1, 1) is None
    assert of_fine([math.inf, 0.0], 1, 1) is None
    assert of_fine([1e300, 1e-300, 0.0, 0.0], 2, 1) is None
    assert of_fine([1e-300, 1e-300, 0.0, 0.0], 2, 1) is None
    sums = of_fine([3.0, 0.0, 2.0**-60, 0.0], 2, 1)
    assert sums is not None
    unit = 2**108  # the least sum has 110 bits before the point
    for low, high, value in zip(
        sums.lows, sums.highs, (3 + Fraction(1, 2**60), Fraction()), strict=True
    ):
        assert low <= unit * value <= high
        assert high - low <= 2 + 2 * Fraction(unit * 4, 2**82) + 4


class Doubtful:
    """Passes in doubles that leave a comparison open until they are told to insist."""

    def __init__(self, *, stubborn: bool = False, rough: Any = None) -> None:
        self.insists, self.stubborn, self.rough = 0, stubborn, rough

    def insist(self) -> bool:
        self.insists += 1
        return self.insists == 1

    def estimate(self, metric: str, options: Any, *, undecided: bool = False) -> Any:
        del metric, options
        return self.rough if undecided else None

    def between(self, metric: str, options: Any) -> None:
        """There is no short way."""

    def decide(self) -> Real:
        if self.stubborn or not self.insists:
            raise Undecided("doubles do not settle it")
        return Real(1)


@pytest.mark.spec("CONV-SCORE")
def test_a_doubt_is_settled_in_integers_or_else_bounded() -> None:
    def formula(evidence: Any) -> Real:
        return evidence.passes.decide()  # type: ignore[no-any-return]

    entry = replace(ENTRY, name="doubtful", formula=formula)
    evidence = Clustered.of([[0], [1]], "ab")
    assert evaluate(entry, replace(evidence, passes=Doubtful()), {}).certified  # type: ignore[arg-type]
    rough = mean_silhouette([0.0] * 4, [[0], [1]], [1.0] * 2, 1)
    assert rough is not None
    told = Doubtful(stubborn=True, rough=rough)
    value = evaluate(entry, replace(evidence, passes=told), {})  # type: ignore[arg-type]
    assert (float(value), value.certified, value.bound) == (0.0, False, rough.bound)
    with pytest.raises(Undecided):
        evaluate(entry, replace(evidence, passes=Doubtful(stubborn=True)), {})  # type: ignore[arg-type]


@pytest.mark.usefixtures("in_doubles")
def test_sums_in_doubles_give_a_middle_and_a_bound() -> None:
    def formula(evidence: Clustered) -> Real:
        assert evidence.passes is not None
        return evidence.passes.distance_sum(0, 0) / 7

    entry = replace(ENTRY, name="spread", formula=formula)
    value = evaluate(entry, clustered(made(70, 3), [0, 1] * 35), {}, session=Session("reference"))
    exact = passes(made(70, 3), [0, 1] * 35)
    exact.insist()
    assert (value.certified, 0 < value.bound < 1e-12) == (False, True)
    assert math.isclose(value, float(exact.distance_sum(0, 0)) / 7, rel_tol=1e-14)
