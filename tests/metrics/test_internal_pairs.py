"""Metrics of pairs of objects as calls: the ledger, similarities, profiles, large ties (46, 48)."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest

from refclust import metrics
from refclust.errors import BadOption, ProfileLacksMetric, WeightsNotInteger, WrongEvidence
from refclust.metrics.calls.clusterings import score_clustering
from refclust.metrics.profiles import QUIRKS
from refclust.numbers.real import sqrt

A = [(0, 0), (0, 1), (1, 0), (10, 10), (10, 11), (11, 10), (20, 0)]
# The data of the survey of libraries: what each of them really printed stands below.
CASES: dict[str, tuple[list[tuple[int, int]], list[int]]] = {
    "gen": (A[:6], [0, 0, 0, 1, 1, 1]),
    "sing": (A, [0, 0, 0, 1, 1, 1, 2]),
    "one": (A[:4], [0] * 4),
    "all": (A[:4], [0, 1, 2, 3]),
    "same": ([(1, 2)] * 4, [0, 0, 1, 1]),
    "coin": ([(0, 1), (0, -1), (1, 0), (-1, 0)], [0, 0, 1, 1]),
    "zero": ([(0, 0), (0, 0), (3, 4), (3, 4)], [0, 0, 1, 1]),
}
NAN, INF = math.nan, math.inf
LEDGER: list[tuple[str, str | None, dict[str, Any], list[float]]] = [
    # metric, profile, options, and its values on the cases above
    ("silhouette", None, {}, [0.9196, 0.7874, NAN, 0, 0, -0.2929, 1]),
    ("silhouette", "sklearn", {}, [0.9196, 0.7874, NAN, NAN, 0, -0.2929, 1]),
    ("silhouette", "genieclust", {}, [0.9196, 0.7874, NAN, 0, NAN, -0.2929, 1]),
    (
        "silhouette",
        "genieclust",
        {"average": "larger"},
        [0.9196, 0.9186, NAN, NAN, NAN, -0.2929, 1],
    ),
    ("silhouette", "permetrics", {}, [0.9196, 0.7874, -1, 0, 0, -0.2929, 0]),
    ("silhouette", "clustercrit", {}, [0.9196, NAN, 1, NAN, NAN, -0.2929, 1]),
    ("silhouette", "cluster", {}, [0.9196, 0.7874, NAN, NAN, 0, -0.2929, 1]),
    ("silhouette", "fpc", {}, [0.9196, 0.7874, NAN, NAN, 0, -0.2929, 1]),
    ("dunn", None, {}, [9.513, 9.513, NAN, INF, NAN, 0.7071, INF]),
    ("dunn", "clustercrit", {}, [9.513, 9.513, NAN, INF, NAN, 0.7071, INF]),
    ("dunn", "genieclust", {}, [9.513, 9.513, NAN, INF, NAN, 0.7071, INF]),
    ("dunn", "fpc", {}, [9.513, 9.513, NAN, NAN, NAN, 0.7071, INF]),
    ("dunn", "torchmetrics", {}, [18.97, 18.97, NAN, INF, NAN, 0, INF]),
    ("dunn", "permetrics", {}, [9.667, 9.667, 0, 0, 0, 0.5, 0]),
    ("dunn", "permetrics", {"between": "nearest"}, [9.513, 9.513, 0, 0, 0, 0.7071, 0]),
    ("baker_hubert_gamma", None, {}, [1, 1, NAN, NAN, NAN, -1, 1]),
    ("baker_hubert_gamma", "clustercrit", {}, [1, 1, NAN, NAN, 1, -1, 1]),
    ("baker_hubert_gamma", "fpc", {}, [1, 1, NAN, NAN, NAN, -1, 1]),
]


def printed(value: float, digits: int = 4) -> str:
    """A value with the digits that the survey gives."""
    return f"{value:.{digits}g}" if math.isfinite(value) else str(value)


@pytest.mark.parametrize(("name", "profile", "options", "due"), LEDGER)
def test_ledger(name: str, profile: str | None, options: dict[str, Any], due: list[float]) -> None:
    call = getattr(metrics, name)
    scores = [call(rows, labels, profile=profile, **options) for rows, labels in CASES.values()]
    assert [printed(x) for x in scores] == [printed(x) for x in due]
    assert all(score.certified for score in scores)
    assert all((score.undefined is None) == math.isfinite(score) for score in scores)


def test_d10_unequal_clusters() -> None:
    draw = random.Random(10)
    sizes, places = (12, 12, 2), ((0, 0), (9, 0), (0, 9))
    rows = [
        (x + draw.randrange(5), y + draw.randrange(5))
        for (x, y), n in zip(places, sizes, strict=True)
        for _ in range(n)
    ]
    labels = [k for k, n in enumerate(sizes) for _ in range(n)]
    points, clusters = (
        metrics.silhouette(rows, labels, profile=p) for p in ("cluster", "clustercrit")
    )
    assert points == metrics.silhouette(rows, labels)
    assert clusters == metrics.silhouette(rows, labels, average="clusters")
    assert points != clusters
    means = [metrics.silhouette(rows, labels, cluster=k).exact for k in range(3)]
    weighed = [n * mean for n, mean in zip(sizes, means, strict=True) if mean is not None]
    assert float(sum(weighed) / 26) == points


def test_d19_the_sign_of_point_biserial() -> None:
    good, bad = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
    values = [
        metrics.point_biserial_unscaled(A[:6], labels, profile="clustercrit")
        for labels in (good, bad)
    ]
    assert values[0] < 0 < values[1]
    assert values[0].better == "lower"
    assert metrics.point_biserial(A[:6], good) > 0 > metrics.point_biserial(A[:6], bad)
    assert metrics.point_biserial(A[:6], good).better == "higher"
    assert "D19" in next(q.text for q in QUIRKS if q.metric == "point_biserial_unscaled")


def test_d28_half_of_the_clusters_in_one_place() -> None:
    rows, labels = [(0, 0), (0, 0), (3, 4), (4, 4)], [0, 0, 1, 1]
    score = metrics.silhouette(rows, labels, profile="permetrics")
    assert "D28" in score.explain().text()
    assert "D28" not in metrics.silhouette(*CASES["sing"], profile="permetrics").explain().text()


def test_d30_density_of_permetrics_is_another() -> None:
    with pytest.raises(ProfileLacksMetric):
        metrics.dbcv(A[:6], [0, 0, 0, 1, 1, 1], profile="permetrics")
    # 0.9133974596215562 is what permetrics 2.1.0 prints.
    assert float(metrics.dbcv(A[:6], [0, 0, 0, 1, 1, 1])) == 0.9183503419072274


# -- similarities ---------------------------------------------------------------------------

BLOCKS = [[4, 3, 0, 1], [3, 4, 1, 0], [0, 1, 4, 3], [1, 0, 3, 4]]


def test_directions_follow_the_proximity() -> None:
    for name, distances in (
        ("normalized_cut", "higher"),
        ("ratio_cut", "higher"),
        ("modularity", "lower"),
        ("weight_within", "lower"),
        ("weight_between", "higher"),
    ):
        call = getattr(metrics, name)
        similar = [
            call(proximity=BLOCKS, labels=labels, similarities=True) for labels in ("aabb", "abab")
        ]
        assert similar[0].better == {"higher": "lower", "lower": "higher"}[distances]
        assert (similar[0] < similar[1]) == (similar[0].better == "lower")
        lengths = [
            [0 if i == j else 5 - w for j, w in enumerate(row)] for i, row in enumerate(BLOCKS)
        ]
        apart = [call(proximity=lengths, labels=labels) for labels in ("aabb", "abab")]
        assert apart[0].better == distances
        assert (apart[0] < apart[1]) == (distances == "lower")


def test_similarities_are_refused_where_distances_are_needed() -> None:
    for name in ("silhouette", "dunn", "c_index", "beta_cv", "baker_hubert_gamma"):
        with pytest.raises(WrongEvidence, match="needs distances"):
            getattr(metrics, name)(proximity=BLOCKS, labels="aabb", similarities=True)
    names = set(score_clustering(proximity=BLOCKS, labels="aabb", similarities=True))
    assert {"normalized_cut", "modularity"} <= names
    assert "silhouette" not in names


def test_a_matrix_has_no_centres() -> None:
    lengths = [[0, 1, 5], [1, 0, 4], [5, 4, 0]]
    assert metrics.dunn(proximity=lengths, labels="aab", between="hausdorff").fraction == 5
    with pytest.raises(WrongEvidence):
        metrics.dunn(proximity=lengths, labels="aab", between="centres")
    with pytest.raises(WrongEvidence):
        metrics.internal_hubert_raw(proximity=lengths, labels="aab")


# -- options and weights --------------------------------------------------------------------


def test_one_object_and_one_cluster_by_number() -> None:
    rows, labels = CASES["sing"]
    assert metrics.silhouette(rows, labels, point=6) == 0.0
    assert metrics.silhouette(rows, labels, cluster=2) == 0.0
    for wrong in ({"point": 7}, {"point": -1}, {"cluster": 3}, {"point": Fraction(1, 2)}):
        with pytest.raises(BadOption):
            metrics.silhouette(rows, labels, **wrong)
    with pytest.raises(BadOption):
        metrics.dbcv(rows, labels, dimension=0)


def test_fractional_weights() -> None:
    halves = [Fraction(1, 2)] * 6
    rows, labels = CASES["gen"]
    for name in ("silhouette", "c_index", "dunn", "dbcv"):
        with pytest.raises(WeightsNotInteger):
            getattr(metrics, name)(rows, labels, weights=halves)
    whole = metrics.normalized_cut(rows, labels)
    assert metrics.normalized_cut(rows, labels, weights=halves) == whole


# -- numbers --------------------------------------------------------------------------------


def test_shifted_integers_lose_nothing() -> None:
    rows, labels = CASES["gen"]
    moved = [(x + 10**15, y - 10**15) for x, y in rows]
    for name in ("silhouette", "dunn", "c_index", "point_biserial", "dbcv", "modularity"):
        call = getattr(metrics, name)
        assert call(moved, labels) == call(rows, labels)


@pytest.mark.parametrize("rule", ["{x}", "{chess}", "{left} {low}"])
def test_lattices_are_full_of_ties(rule: str) -> None:
    points = list(itertools.product(range(4), repeat=2))
    labels = [rule.format(x=x, chess=(x + y) % 2, left=x // 2, low=y // 2) for x, y in points]
    scores = score_clustering(points, labels)
    assert len(scores) >= 18
    assert all(score.certified for score in scores.values())


def test_equal_sums_of_different_roots() -> None:
    # From (0, 0): √2 + √8 and √18 + 0 are equal, and a tie of two other clusters.
    rows = [(0, 0), (1, 1), (1, 1), (2, 2), (3, 3), (0, 0)]
    score = metrics.silhouette(rows, ["a", "a", "b", "b", "c", "c"], point=0)
    assert score.certified
    assert score.exact == (sqrt(18) / 2 - sqrt(2)) / (sqrt(18) / 2)
    assert score.fraction == Fraction(1, 3)


def test_steps_are_told() -> None:
    derivation = metrics.silhouette([[0], [1], [5]], "aab").explain().text()
    for step in ("a_0", "b_0", "s_0", "31/60"):
        assert step in derivation
    derivation = metrics.normalized_cut([[0], [1], [5]], "aab").explain().text()
    assert "W(a,b)" in derivation
