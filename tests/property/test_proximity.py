"""Clusterings judged by pairs of objects: against brute force, and what must not matter (46)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust import metrics
from refclust.formulas import proximity as room
from refclust.formulas.clustered import Clustered
from refclust.formulas.undefined import Undefined
from refclust.metrics.calls.clusterings import InternalMetric
from refclust.metrics.catalogue import ENTRIES
from refclust.metrics.score import Score, evaluate
from refclust.numbers.real import Real, real, sqrt

F = Fraction
PAIRS = [name for name, entry in ENTRIES.items() if entry.family in ("proximity", "density")]


@st.composite
def lines(draw: Any, most: int = 6) -> tuple[list[int], list[int]]:
    """Points on a line with a label each: all distances are rational."""
    n = draw(st.integers(2, most))
    points = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    return points, draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))


@st.composite
def planes(draw: Any, most: int = 6) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Points of a small lattice, where ties abound, with a label and a weight each."""
    n = draw(st.integers(1, most))
    point = st.tuples(st.integers(0, 3), st.integers(0, 3))
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 2), min_size=n, max_size=n))
    return draw(st.lists(point, min_size=n, max_size=n)), labels, weights


@st.composite
def matrices(draw: Any, *, diagonal: bool = False) -> tuple[list[list[int]], list[int]]:
    """A symmetric matrix with a label for each object."""
    n = draw(st.integers(2, 6))
    upper = draw(st.lists(st.integers(0, 9), min_size=n * n, max_size=n * n))
    table = [
        [upper[min(i, j) * n + max(i, j)] * (diagonal or i != j) for j in range(n)]
        for i in range(n)
    ]
    return table, draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))


def on_line(points: list[int], labels: list[int]) -> Clustered:
    return Clustered.of([[x] for x in points], labels)


def groups(labels: list[int]) -> list[list[int]]:
    return [[i for i, y in enumerate(labels) if y == k] for k in sorted(set(labels))]


def asked(formula: Callable[..., Any], *args: Any, **options: Any) -> Fraction | str | None:
    """The rational value of a formula, or the kind of value it has instead."""
    try:
        return real(formula(*args, **options)).fraction
    except Undefined as missing:
        return "undefined" if math.isnan(missing.value) else "infinite"


def over(top: Fraction | int, bottom: Fraction | int) -> Fraction | str:
    if bottom:
        return F(top) / F(bottom)
    return "infinite" if top else "undefined"


@pytest.mark.spec("DIST-SP")
@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 9)), max_size=8),
)
def test_shortest_paths(n: int, drawn: list[tuple[int, int, int]]) -> None:
    edges = [(a % n, b % n, F(length, 2)) for a, b, length in drawn]
    value = room.shortest_paths(n, edges)
    for start in range(n):
        # Bellman and Ford: every edge is relaxed as often as there are nodes.
        lengths: list[Any] = [0 if i == start else math.inf for i in range(n)]
        for _ in range(n):
            for a, b, length in [*edges, *((b, a, c) for a, b, c in edges)]:
                lengths[b] = min(lengths[b], lengths[a] + length)
        assert value[start] == lengths


@pytest.mark.spec("INT-WSR", "INT-WII", "INT-WIN", "INT-WOUT", "INT-VOL", "INT-CUTSUM")
@given(matrices(diagonal=True))
def test_weights_by_loops(drawn: tuple[list[list[int]], list[int]]) -> None:
    table, labels = drawn
    n = len(labels)
    clustered = Clustered.of_proximities(table, labels, similarities=True)
    everything = room.weight(clustered, range(n), range(n))
    assert everything == sum(map(sum, table))
    insides = []
    for k, members in enumerate(groups(labels)):
        insides.append(sum(table[i][j] for i in members for j in members))
        assert room.weight_inside(clustered, k) == insides[-1]
        assert room.volume(clustered, k) == sum(sum(table[i]) for i in members)
    assert room.weight_within(clustered) == F(sum(insides), 2)
    between = [table[i][j] for i in range(n) for j in range(i) if labels[i] != labels[j]]
    assert room.weight_between(clustered) == sum(between)
    assert room.weight_within(clustered) + room.weight_between(clustered) == everything / 2


@pytest.mark.spec("INT-NC", "INT-RCUT", "INT-MODUL", "INT-CUTSUM")
@given(matrices(diagonal=True))
def test_cuts_by_loops(drawn: tuple[list[list[int]], list[int]]) -> None:
    table, labels = drawn
    clustered = Clustered.of_proximities(table, labels, similarities=True)
    whole, parts = sum(map(sum, table)), groups(labels)
    inside = [sum(table[i][j] for i in c for j in c) for c in parts]
    volumes = [sum(sum(table[i]) for i in c) for c in parts]
    cuts = [v - a for v, a in zip(volumes, inside, strict=True)]
    due: Any = [over(c, v) for c, v in zip(cuts, volumes, strict=True)]
    cut = asked(room.normalized_cut, clustered)
    assert cut == ("undefined" if "undefined" in due else sum(due))
    assert cut == "undefined" or (isinstance(cut, Fraction) and 0 <= cut <= len(parts))
    ratios = [F(c, len(part)) for c, part in zip(cuts, parts, strict=True)]
    assert room.ratio_cut(clustered) == sum(ratios)
    assert room.ratio_cut(clustered, per="all") == F(sum(cuts), len(labels))
    if not whole:
        assert asked(room.modularity, clustered) == "undefined"
        return
    terms = [F(a, whole) - F(v, whole) ** 2 for a, v in zip(inside, volumes, strict=True)]
    assert room.modularity(clustered) == sum(terms)
    assert F(-1, 2) <= sum(terms) <= 1


def width(a: Fraction, b: Fraction) -> Fraction:
    return F(0) if a == b else (b - a) / max(a, b)


@pytest.mark.spec("INT-SIL", "INT-SILK", "INT-SILAVG")
@given(lines())
def test_silhouettes_by_loops(drawn: tuple[list[int], list[int]]) -> None:
    points, labels = drawn
    clustered, parts = on_line(points, labels), groups(labels)
    if len(parts) == 1:
        assert asked(room.silhouette, clustered) == "undefined"
        assert asked(room.silhouette_of, clustered, 0) == "undefined"
        return
    widths = []
    for i, x in enumerate(points):
        own = next(c for c in parts if i in c)
        others = [F(sum(abs(x - points[j]) for j in c), len(c)) for c in parts if i not in c]
        a = F(sum(abs(x - points[j]) for j in own), max(len(own) - 1, 1))
        widths.append(width(a, min(others)) if len(own) > 1 else F(0))
    assert [s.fraction for s in room.silhouettes(clustered)] == widths
    assert all(-1 <= s <= 1 for s in widths)
    by_cluster = [sum((widths[i] for i in c), F()) / len(c) for c in parts]
    for k, mean in enumerate(by_cluster):
        assert room.cluster_silhouette(clustered, k) == mean
        assert room.silhouette(clustered, cluster=F(k)) == mean
    assert room.silhouette(clustered, point=F(0)) == widths[0]
    assert room.silhouette(clustered) == sum(widths) / len(widths)
    assert room.silhouette(clustered, average="clusters") == sum(by_cluster) / len(parts)
    larger = [mean for mean, c in zip(by_cluster, parts, strict=True) if len(c) > 1]
    due = over(sum(larger, F()), len(larger))
    assert asked(room.silhouette, clustered, average="larger") == due


@pytest.mark.spec("INT-MEDOID", "INT-MSIL")
@given(lines())
def test_medoids_by_loops(drawn: tuple[list[int], list[int]]) -> None:
    points, labels = drawn
    clustered, parts = on_line(points, labels), groups(labels)
    medoids = []
    for k, members in enumerate(parts):
        sums = {i: sum(abs(points[i] - points[j]) for j in members) for i in members}
        medoids.append(min(i for i in members if sums[i] == min(sums.values())))
        assert room.medoid(clustered, k) == medoids[k]
    if len(parts) == 1:
        assert asked(room.medoid_silhouette, clustered) == "undefined"
        return
    widths = []
    for i, x in enumerate(points):
        lengths = [F(abs(x - points[m])) for m in medoids]
        own = lengths.pop(next(k for k, c in enumerate(parts) if i in c))
        widths.append(width(own, min(lengths)))
    assert room.medoid_silhouette(clustered) == sum(widths) / len(widths)


@pytest.mark.spec("INT-DELTA", "INT-DIAM", "INT-DUNN")
@given(lines())
def test_dunn_by_loops(drawn: tuple[list[int], list[int]]) -> None:
    points, labels = drawn
    clustered, parts = on_line(points, labels), groups(labels)
    values = [[F(points[i]) for i in c] for c in parts]
    means = [sum(c, F()) / len(c) for c in values]
    own = [sum((abs(x - mean) for x in c), F()) for c, mean in zip(values, means, strict=True)]
    apart: dict[str, list[Fraction]] = {way: [] for way in room.BETWEEN}
    for (k, x), (l, y) in itertools.combinations(enumerate(values), 2):  # noqa: E741
        lengths = [[abs(a - b) for b in y] for a in x]
        flat = [d for row in lengths for d in row]
        there = [min(row) for row in lengths]
        back = [min(column) for column in zip(*lengths, strict=True)]
        apart["nearest"].append(min(flat))
        apart["farthest"].append(max(flat))
        apart["mean"].append(sum(flat, F()) / len(flat))
        apart["centres"].append(abs(means[k] - means[l]))
        apart["own_centres"].append((own[k] + own[l]) / (len(x) + len(y)))
        apart["hausdorff"].append(max(there + back))
        apart["to_centre"].append(min(abs(b - means[k]) for b in y))
    wide: dict[str, list[Fraction]] = {way: [] for way in room.WITHIN}
    for k, x in enumerate(values):
        lengths_of = [abs(a - b) for a, b in itertools.combinations(x, 2)] or [F()]
        wide["farthest"].append(max(lengths_of))
        wide["mean"].append(sum(lengths_of, F()) / len(lengths_of))
        wide["centre"].append(2 * own[k] / len(x))
        wide["radius"].append(max(abs(a - means[k]) for a in x))
        assert [room.diameter(clustered, k, way).fraction for way in room.WITHIN] == [
            wide[way][k] for way in room.WITHIN
        ]
    for between, within in itertools.product(room.BETWEEN, room.WITHIN):
        value = asked(room.dunn, clustered, between=between, within=within)
        if len(parts) == 1:
            assert value == "undefined"
        else:
            assert value == over(min(apart[between]), max(wide[within]))


def squares(points: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    return {
        (i, j): (points[i][0] - points[j][0]) ** 2 + (points[i][1] - points[j][1]) ** 2
        for i, j in itertools.combinations(range(len(points)), 2)
    }


@pytest.mark.spec("INT-PAIRS", "INT-ORDERS", "INT-GAMMA", "INT-TAU", "INT-GPLUS")
@given(planes())
def test_orders_by_loops(drawn: tuple[list[tuple[int, int]], list[int], list[int]]) -> None:
    points, labels, _ = drawn
    clustered = Clustered.of(points, labels)
    lengths = squares(points)
    inside = [d for (i, j), d in lengths.items() if labels[i] == labels[j]]
    between = [d for (i, j), d in lengths.items() if labels[i] != labels[j]]
    plus = sum(a < b for a in inside for b in between)
    minus = sum(a > b for a in inside for b in between)
    n = len(lengths)
    assert room.pair_counts(clustered) == (F(len(inside)), F(len(between)))
    assert room.orders(clustered) == (plus, minus)
    assert asked(room.baker_hubert_gamma, clustered) == over(plus - minus, plus + minus)
    assert asked(room.g_plus, clustered) == over(2 * minus, n * (n - 1))
    most = len(inside) * len(between) * n * (n - 1)
    if most:
        assert room.tau_index(clustered) * sqrt(F(most, 2)) == plus - minus
        assert -1 <= float(room.tau_index(clustered)) <= 1
    else:
        assert asked(room.tau_index, clustered) == "undefined"


@pytest.mark.spec("INT-CINDEX", "INT-BETACV")
@given(lines(5))
def test_c_index_by_all_choices(drawn: tuple[list[int], list[int]]) -> None:
    points, labels = drawn
    clustered = on_line(points, labels)
    pairs = list(itertools.combinations(range(len(points)), 2))
    lengths = [abs(points[i] - points[j]) for i, j in pairs]
    inside = [d for d, (i, j) in zip(lengths, pairs, strict=True) if labels[i] == labels[j]]
    between = [d for d, (i, j) in zip(lengths, pairs, strict=True) if labels[i] != labels[j]]
    choices = [sum(choice) for choice in itertools.combinations(lengths, len(inside))]
    low, high = min(choices), max(choices)
    assert asked(room.c_index, clustered) == over(sum(inside) - low, high - low)
    if inside and between:
        means = F(sum(inside), len(inside)), F(sum(between), len(between))
        assert asked(room.beta_cv, clustered) == over(*means)
    else:
        assert asked(room.beta_cv, clustered) == "undefined"


def pearson(points: list[tuple[Fraction, Fraction]]) -> Real | None:
    n = len(points)
    x, y = (sum((p[side] for p in points), F()) / n for side in (0, 1))
    covariance = sum(((a - x) * (b - y) for a, b in points), F())
    spread = sum(((a - x) ** 2 for a, _ in points), F()) * sum(
        ((b - y) ** 2 for _, b in points), F()
    )
    return covariance / sqrt(spread) if spread else None


@pytest.mark.spec("INT-PBRAW", "INT-PB", "INT-HUBERT", "INT-HUBERTN")
@given(lines())
def test_correlations_by_loops(drawn: tuple[list[int], list[int]]) -> None:
    points, labels = drawn
    clustered, parts = on_line(points, labels), groups(labels)
    pairs = list(itertools.combinations(range(len(points)), 2))
    lengths = [F(abs(points[i] - points[j])) for i, j in pairs]
    apart = [F(labels[i] != labels[j]) for i, j in pairs]
    means = {labels[c[0]]: F(sum(points[i] for i in c), len(c)) for c in parts}
    centres = [abs(means[labels[i]] - means[labels[j]]) for i, j in pairs]
    products = [a * b for a, b in zip(lengths, centres, strict=True)]
    assert room.internal_hubert_raw(clustered) == sum(products) / len(pairs)
    for formula, other in (
        (room.point_biserial, apart),
        (room.internal_hubert_normalized, centres),
    ):
        due = pearson(list(zip(lengths, other, strict=True)))
        if due is None:
            assert asked(formula, clustered) == "undefined"
        else:
            assert formula(clustered) == due
    if 0 < sum(apart) < len(pairs):
        n, between = len(pairs), int(sum(apart))
        far = sum(d * y for d, y in zip(lengths, apart, strict=True)) / between
        near = sum(d * (1 - y) for d, y in zip(lengths, apart, strict=True)) / (n - between)
        unscaled = room.point_biserial_unscaled(clustered)
        assert unscaled == (near - far) * sqrt(F(between * (n - between), n * n))
    else:
        assert asked(room.point_biserial_unscaled, clustered) == "undefined"


# -- what must not matter -------------------------------------------------------------------


def scored(name: str, clustered: Clustered) -> Score:
    return evaluate(ENTRIES[name], clustered, {})


def same(x: Score, y: Score) -> bool:
    if x.exact is None or y.exact is None:
        return x.undefined == y.undefined and str(x) == str(y)
    return float(x) == float(y)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.spec(
    "INT-WIN",
    "INT-WOUT",
    "INT-NC",
    "INT-RCUT",
    "INT-MODUL",
    "INT-SILAVG",
    "INT-MSIL",
    "INT-DUNN",
    "INT-CINDEX",
    "INT-BETACV",
    "INT-GAMMA",
    "INT-TAU",
    "INT-GPLUS",
    "INT-PBRAW",
    "INT-PB",
    "INT-HUBERT",
    "INT-HUBERTN",
    "INT-DBCV",
)
@given(planes(5), st.randoms())
def test_order_and_place_of_rows(
    name: str, drawn: tuple[list[tuple[int, int]], list[int], list[int]], random: Any
) -> None:
    points, labels, weights = drawn
    known = scored(name, Clustered.of(points, labels, weights))
    assert known.certified
    order = list(range(len(points)))
    random.shuffle(order)
    turned: Any = [[part[i] for i in order] for part in (points, labels, weights)]
    if name not in ("medoid_silhouette", "dbcv"):  # which choose the first of equals
        assert same(known, scored(name, Clustered.of(turned[0], turned[1], turned[2])))
    moved = [(x + 2**50, y - 2**50) for x, y in points]
    assert same(known, scored(name, Clustered.of(moved, labels, weights)))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.spec(
    "INT-WIN",
    "INT-WOUT",
    "INT-NC",
    "INT-RCUT",
    "INT-MODUL",
    "INT-SILAVG",
    "INT-MSIL",
    "INT-DUNN",
    "INT-CINDEX",
    "INT-BETACV",
    "INT-GAMMA",
    "INT-TAU",
    "INT-GPLUS",
    "INT-PBRAW",
    "INT-PB",
    "INT-HUBERT",
    "INT-HUBERTN",
    "INT-DBCV",
    "INT-PAIRS",
    "INT-ORDERS",
)
@given(planes(4))
def test_a_weight_is_so_many_copies(
    name: str, drawn: tuple[list[tuple[int, int]], list[int], list[int]]
) -> None:
    points, labels, weights = drawn
    copies = [i for i, w in enumerate(weights) for _ in range(w)]
    written = Clustered.of([points[i] for i in copies], [labels[i] for i in copies])
    assert same(scored(name, Clustered.of(points, labels, weights)), scored(name, written))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.spec(
    "INT-WIN",
    "INT-WOUT",
    "INT-NC",
    "INT-RCUT",
    "INT-MODUL",
    "INT-SILAVG",
    "INT-MSIL",
    "INT-DUNN",
    "INT-CINDEX",
    "INT-BETACV",
    "INT-GAMMA",
    "INT-TAU",
    "INT-GPLUS",
    "INT-PBRAW",
    "INT-PB",
    "INT-HUBERT",
    "INT-HUBERTN",
    "INT-DBCV",
)
@given(planes(4))
def test_sparse_rows_and_ranges(
    name: str, drawn: tuple[list[tuple[int, int]], list[int], list[int]]
) -> None:
    points, labels, _ = drawn
    entry = ENTRIES[name]
    dense = scored(name, Clustered.of(points, labels))
    assert dense.undefined or entry.low <= dense <= entry.high
    if len({place for x, y in points for place in (x and "x", y and "y")} - {0}) == 2:
        sparse = [{key: v for key, v in zip("xy", p, strict=True) if v} for p in points]
        assert same(dense, scored(name, Clustered.of(sparse, labels)))


@pytest.mark.spec("INT-SIL", "INT-DUNN", "INT-GAMMA", "INT-CINDEX")
@given(planes(5))
def test_a_matrix_says_what_rows_say(
    drawn: tuple[list[tuple[int, int]], list[int], list[int]],
) -> None:
    points, labels, _ = drawn
    n = len(points)
    steps = [
        [abs(points[i][0] - points[j][0]) for j in range(n)] for i in range(n)
    ]  # the distances of the first columns
    rows = Clustered.of([[x] for x, _ in points], labels)
    table = Clustered.of_proximities(steps, labels)
    for name in PAIRS:
        if ENTRIES[name].evidence == "proximities":
            assert same(scored(name, rows), scored(name, table))


class Told:
    """Passes that say what the definitions say, and remember that they were asked."""

    def __init__(self, plain: Clustered) -> None:
        self.plain, self.asked = plain, set[str]()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        formulas: dict[str, Callable[..., Any]] = {
            "distance_sum": room.distance_sum,
            "cluster_sum": room.cluster_weight,
            "nearest_squared": room.nearest_squared,
            "farthest_squared": room.farthest_squared,
            "hausdorff_squared": room.hausdorff_squared,
            "centre_distances": room.centre_distances,
            "orders": room.orders,
            "least_sum": lambda c, m: room.extreme_sum(c, F(m)),
            "largest_sum": lambda c, m: room.extreme_sum(c, F(m), largest=True),
            "squared_sum": lambda c: sum(d * n for d, _, n in room.squared_lengths(c)),
        }
        if name not in formulas:
            raise AttributeError(name)
        self.asked.add(name)
        return lambda *args: formulas[name](self.plain, *args)


@pytest.mark.spec(
    "INT-WIN",
    "INT-WOUT",
    "INT-NC",
    "INT-RCUT",
    "INT-MODUL",
    "INT-SILAVG",
    "INT-MSIL",
    "INT-DUNN",
    "INT-CINDEX",
    "INT-BETACV",
    "INT-GAMMA",
    "INT-TAU",
    "INT-GPLUS",
    "INT-PBRAW",
    "INT-PB",
    "INT-HUBERT",
    "INT-HUBERTN",
    "INT-DBCV",
    "INT-SIL",
    "INT-MEDOID",
    "INT-DELTA",
    "INT-DIAM",
    "INT-ORDERS",
    "INT-WSR",
)
def test_passes_are_asked_where_there_are_any() -> None:
    rows, labels = [(0, 0), (1, 0), (1, 2), (5, 1), (6, 3), (2, 2)], list("aabbbc")
    plain, asking = Clustered.of(rows, labels), Told(Clustered.of(rows, labels))
    passed: Any = asking
    clustered = Clustered(plain.labels, plain.clusters, rows, passes=passed)
    used: dict[str, set[str]] = {}
    for name in PAIRS:
        assert same(scored(name, plain), scored(name, clustered))
        used[name] = set(asking.asked)
        asking.asked.clear()
    assert used["silhouette"] == {"distance_sum"} == used["medoid_silhouette"]
    assert used["normalized_cut"] == {"cluster_sum"} == used["internal_hubert_raw"]
    assert used["dunn"] == {"nearest_squared", "farthest_squared"}
    assert used["c_index"] == {"least_sum", "largest_sum", "cluster_sum"}
    assert used["baker_hubert_gamma"] == {"orders"} == used["g_plus"]
    assert used["point_biserial"] == {"cluster_sum", "squared_sum"}
    for between, within in itertools.product(room.BETWEEN, room.WITHIN):
        options = {"between": between, "within": within}
        assert room.dunn(plain, **options) == room.dunn(clustered, **options)
    assert {"hausdorff_squared", "centre_distances"} <= asking.asked


@pytest.mark.spec("INT-NC")
def test_the_toy_points_of_the_erratum() -> None:
    assert metrics.normalized_cut([[0], [1], [10], [11]], "aabb").fraction == F(40, 21)
    assert metrics.normalized_cut([[0], [1], [10], [11]], "abab").fraction == F(22, 21)


def test_all_of_them_are_public() -> None:
    assert all(isinstance(getattr(metrics, name), InternalMetric) for name in PAIRS)


@pytest.mark.spec("INT-SIL", "INT-SILK", "INT-SILAVG")
def test_all_silhouettes_at_once() -> None:
    rows = [[0, 0], [0, 1], [3, 0], [9, 9], [9, 8], [4, 4]]
    labels = ["a", "a", "a", "b", "b", "c"]
    widths = metrics.silhouettes(rows, labels)
    assert list(widths.points) == [metrics.silhouette(rows, labels, point=i) for i in range(6)]
    due = {name: metrics.silhouette(rows, labels, cluster=k) for k, name in enumerate("abc")}
    assert widths.clusters == due
    assert widths.mean == metrics.silhouette(rows, labels)
    assert widths.worst(2) == tuple(sorted(range(6), key=lambda i: widths.points[i]))[:2]
    assert widths.points[0].spec[0] == "INT-SIL"
    assert widths.clusters["a"].spec[0] == "INT-SILK"
    assert "clauses: INT-SIL " in widths.points[0].explain().text()
    assert all(s.undefined for s in metrics.silhouettes(rows, ["a"] * 6).points)
    square = [[abs(x - y) for y in (0, 1, 5)] for x in (0, 1, 5)]
    matrix = metrics.silhouettes(proximity=square, labels="aab")
    assert matrix.points == metrics.silhouettes([[0], [1], [5]], "aab").points
