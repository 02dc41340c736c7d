"""Choosing the number of clusters: criteria side by side, by hand and against plain loops."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import agglomerative
from refclust.cluster.results import BisectingFit, KMeansFit
from refclust.cluster.tree import Tree
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, KOutOfRange, TooLarge
from refclust.metrics import adjusted_rand
from refclust.mixture.choosing import clusters
from refclust.mixture.choosing.clusters import USUAL, most_compared, usual
from refclust.mixture.choosing.selection import criteria_of, select
from refclust.mixture.choosing.stability import samples, stability

# Three clouds on a line, and seven on the axes around one in the middle, as in FCPS hepta.
LINE = [[x + i * 0.25] for x in (0.0, 10.0, 25.0) for i in range(5)]
AXES = [(0, 0, 0), (3, 0, 0), (-3, 0, 0), (0, 3, 0), (0, -3, 0), (0, 0, 3), (0, 0, -3)]
HEPTA = [
    [x + i % 3 * 0.25, y + i % 4 * 0.125, z + i % 5 * 0.125] for x, y, z in AXES for i in range(9)
]
MODELS = ("kmeans", "bisecting", "agglomerative")


def clustered(model: str, rows: Any, k: int, seed: int) -> Any:
    if model == "agglomerative":
        return agglomerative(rows, k=k).labels
    if model == "bisecting":
        return bisecting(rows, k, seed=seed, restarts=2).labels
    return kmeans(rows, k, seed=seed, restarts=2).labels


@pytest.mark.spec("MS-STAB", "KM-KSEL")
@pytest.mark.parametrize("model", MODELS)
def test_stability_by_plain_loops(model: str) -> None:
    chosen = select(LINE, model=model, criterion="stability", k=[2, 3, 4], pairs=3, seed=4)
    for candidate in chosen.candidates:
        indices = []
        for first, second in samples(len(LINE), 3, seed=4):
            a, b = (
                dict(
                    zip(
                        rows,
                        clustered(model, [LINE[i] for i in rows], candidate.k, 4),
                        strict=True,
                    )
                )
                for rows in (first, second)
            )
            both = sorted(a.keys() & b.keys())
            index = adjusted_rand([a[i] for i in both], [b[i] for i in both]).fraction
            assert index is not None
            indices.append(index)
        assert candidate.values["stability"] == float(sum(indices, Fraction(0)) / 3)
    assert chosen.best is not None
    assert chosen.best.k == 3
    assert chosen.best.values["stability"] == 1.0
    assert chosen.why.startswith("largest stability 1.0000; ")


@pytest.mark.spec("MS-STAB")
def test_what_has_no_stability() -> None:
    """One cluster, and samples of fewer different rows than clusters."""
    rows = [[0.0], [0.0], [5.0], [5.0], [9.0]]
    chosen = select(rows, model="kmeans", criterion="stability", k=[1, 2, 3], pairs=2, seed=1)
    assert sorted(chosen.candidates[0].values) == ["rss"]
    assert "stability" in chosen.candidates[1].values
    alone = select(rows, model="kmeans", criterion="stability", k=1, pairs=1)
    assert (alone.chosen, alone.fit) == (None, None)
    assert alone.why == "stability has no value for any of these numbers of clusters"
    same = ({0: 0, 1: 1}, {0: 1, 1: 0})
    assert stability([same, None], dataset([[0.0], [1.0]])) is None
    assert stability([same], dataset([[0.0], [1.0]], weights=[0.5, 1.0])) is None
    # Two of three copies of row 0 apart from row 1: with weights there are pairs to agree on.
    assert stability([same], dataset([[0.0], [1.0]], weights=[3.0, 1.0])) == 1


@pytest.mark.spec("MS-GAP", "MS-GAPRULE")
@pytest.mark.parametrize(
    ("model", "kind", "rows", "k"),
    [
        ("kmeans", KMeansFit, HEPTA, 7),
        ("agglomerative", Tree, HEPTA, 7),
        ("bisecting", BisectingFit, LINE, 3),  # which would cut through the one in the middle
    ],
)
def test_clear_clusters(model: str, kind: type, rows: list[list[float]], k: int) -> None:
    chosen = select(rows, model=model, criterion=["gap", "stability"], k=range(1, k + 2), seed=3,
                    references=5, pairs=3)  # fmt: skip
    assert [verdict.criterion for verdict in chosen.verdicts] == ["gap", "stability"]
    assert [verdict.chosen for verdict in chosen.verdicts] == [k - 1, k - 1]
    assert (chosen.criterion, chosen.chosen) == ("gap", k - 1)
    assert isinstance(chosen.fit, kind)
    labels = list(getattr(chosen.fit, "labels", ()))
    assert list(map(labels.count, range(k))) == [len(rows) // k] * k


@pytest.mark.spec("MS-GAP", "KM-RSS")
def test_trees_have_the_sums_of_squares_of_their_clusters() -> None:
    tree = select(LINE, model="agglomerative", criterion="elbow", k=[1, 2, 3])
    # 0.25 (-2 -1 0 1 2) has 0.625; two clouds 10 apart have 2 * 0.625 + 5 * 5 * 10**2 / 10
    assert [each.values["rss"] for each in tree.candidates][1:] == [3 * 0.625 + 250.0, 3 * 0.625]
    single = select(LINE, model="agglomerative", criterion="elbow", k=[1, 2, 3], linkage="single")
    assert single.candidates == tree.candidates


@pytest.mark.spec("KM-KSEL", "MS-BEST")
def test_metrics_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is asked for by its name, with the clusters of each K; directions and ties."""
    told = {"silhouette": [0.5, 0.75, 0.75], "davies_bouldin": [3.0, float("nan"), 2.0]}

    def evaluate(entry: Any, evidence: Any, options: Any, **_: Any) -> Any:
        assert options == {}
        assert evidence.n == len(LINE)
        return told[entry.name][evidence.k - 2]

    def find(name: str) -> Any:
        return SimpleNamespace(name=name, better="lower" if name[0] == "d" else "higher")

    monkeypatch.setattr(clusters, "evaluate", evaluate)
    monkeypatch.setattr(clusters, "catalogue", SimpleNamespace(find=find))
    names = ["davies-bouldin", "Silhouette"]
    chosen = select(LINE, model="kmeans", criterion=names, k=[2, 3, 4])
    assert [(each.criterion, each.chosen) for each in chosen.verdicts] == [
        ("davies_bouldin", 2),
        ("silhouette", 1),
    ]
    assert chosen.why == "smallest davies_bouldin 2.0000; next K = 2 at 3.0000"
    assert chosen.verdicts[1].why == "largest silhouette 0.7500; so has K = 4"
    assert [sorted(each.values) for each in chosen.candidates] == [
        ["davies_bouldin", "rss", "silhouette"],
        ["rss", "silhouette"],
        ["davies_bouldin", "rss", "silhouette"],
    ]


@pytest.mark.spec("KM-KSEL")
def test_a_metric_that_cannot_be_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> float:
        raise TooLarge("15 rows are too many")

    monkeypatch.setattr(clusters, "evaluate", refuse)
    monkeypatch.setattr(
        clusters, "catalogue", SimpleNamespace(find=lambda _: SimpleNamespace(better="higher"))
    )
    chosen = select(LINE, model="kmeans", criterion=["silhouette", "stability"], k=[2, 3], pairs=1)
    assert chosen.notes == ("silhouette could not be computed: 15 rows are too many [too-large]",)
    assert chosen.chosen is None
    assert chosen.why == "silhouette has no value for any of these numbers of clusters"
    assert chosen.verdicts[1].chosen is not None


@pytest.mark.spec("KM-KSEL")
def test_a_fast_backend_compares_more_rows() -> None:
    rows = dataset([[0.0] * 8] * 2001)
    assert most_compared(rows, Session("reference")) == 2000
    session = Session("reference")
    session.runs_on = lambda *_: "fast"  # type: ignore[method-assign]
    assert most_compared(rows, session) == 11585
    assert most_compared(dataset([[0.0] * 8] * 2000), session) == 2000
    assert usual(2001, [2, 3], 11585) == usual(2000, [2, 3])
    assert "slow above 11,585 rows" in usual(11586, [2, 3], 11585)[1][0]


@pytest.mark.spec("KM-KSEL")
def test_what_is_usual() -> None:
    criteria, notes = usual(2001, [2, 3])
    assert criteria == [name for name in usual(2000, [2, 3])[0] if name != "silhouette"]
    assert notes == (
        "silhouette compares every row with every other, which is slow above 2,000 rows: left out "
        "unless it is asked for",
    )
    assert usual(5, [2, 4])[1] == (
        "the gap needs two or more numbers of clusters without a hole: left out",
    )
    assert USUAL == ("silhouette", "calinski_harabasz", "davies_bouldin", "gap", "stability")


@pytest.mark.spec("KM-KSEL")
def test_unconverged_fits_are_told() -> None:
    chosen = select(LINE, model="kmeans", criterion="stability", k=[3, 4], limit=1, pairs=1)
    assert [each.limit for each in chosen.candidates] == [1, 1]
    free = select(LINE, model="kmeans", criterion="stability", k=[3, 4], pairs=1)
    assert [each.limit for each in free.candidates] == [None, None]
    splits = select(LINE, model="bisecting", criterion="stability", k=[3], limit=1, pairs=1)
    assert [each.limit for each in splits.candidates] == [1]
    mixture = select(LINE, covariance="EII", k=[2], limit=1, restarts=1)
    assert [each.limit for each in mixture.candidates] == [1]


@pytest.mark.spec("KM-KSEL")
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"criterion": "dunn"}, "criterion is 'dunn'; allowed are silhouette, calinski_harabasz"),
        ({"criterion": ["gap", "bic"]}, "the criterion bic does not go with kmeans; allowed are"),
        ({"criterion": []}, r"criterion is \[\]; a name, or several"),
        ({"criterion": [3]}, r"criterion is \[3\]; a name, or several"),
        ({"model": "gaussian", "criterion": "stability"}, "does not go with gaussian"),
        ({"model": "gaussian", "criterion": ["bic", "aic"]}, "one criterion decides"),
        ({"criterion": "gap", "k": [2, 4]}, "without a hole"),
        ({"criterion": "elbow", "k": [2, 3]}, "at least three"),
        ({"criterion": "stability", "pairs": 0}, "pairs is 0"),
        ({"criterion": "gap", "gap_rule": "tallest"}, "gap_rule is 'tallest'; allowed are glob"),
        ({"linkage": "single"}, "choosing among kmeans models has no option linkage"),
        ({"model": "agglomerative", "restarts": 3}, "has no option restarts"),
        ({"model": "agglomerative", "linkage": "nearest"}, "linkage is 'nearest'; allowed are"),
        ({"model": "agglomerative", "weights": [1.0] * 15, "criterion": "gap"}, "have weights"),
    ],
)
def test_what_is_refused(options: dict[str, Any], match: str) -> None:
    asked: dict[str, Any] = {"model": "kmeans", "k": [2, 3], **options}
    with pytest.raises(BadOption, match=match):
        select(LINE, **asked)


def test_too_many_clusters_for_all() -> None:
    for model in MODELS:
        with pytest.raises(KOutOfRange):
            select([[0.0], [1.0]], model=model, criterion="stability", k=[3, 4])
        some = select([[0.0], [1.0], [1.5]], model=model, criterion="stability", k=[2, 5])
        assert [each.error for each in some.candidates] == [None, "k-out-of-range"]


def test_progress() -> None:
    told: list[tuple[int, int, str]] = []
    select(LINE, model="agglomerative", criterion=["stability", "gap"], k=[2, 3], pairs=2,
           references=1, after_candidate=lambda *each: told.append(each))  # fmt: skip
    assert told == [
        (1, 5, "K = 2"),
        (2, 5, "K = 3"),
        (3, 5, "pair of samples 1"),
        (4, 5, "pair of samples 2"),
        (5, 5, "reference set 1"),
    ]


def test_names_of_criteria() -> None:
    assert criteria_of(["GAP", "gap", "Davies-Bouldin"], "kmeans") == ["gap", "davies_bouldin"]
    assert criteria_of("ICL-soft", "gaussian") == ["icl-soft"]
    assert criteria_of(None, "agglomerative") == []


@pytest.mark.spec("KM-KSEL", "MS-BEST")
def test_all_usual_criteria_by_hand() -> None:
    rows = [[0.0], [1.0], [10.0], [11.0]]
    chosen = select(rows, model="kmeans", k=[1, 2, 3], references=1, pairs=1)
    assert [verdict.criterion for verdict in chosen.verdicts] == list(USUAL)
    assert chosen.criterion == "silhouette"
    assert chosen.best is not None
    assert chosen.best.k == 2
    values = chosen.best.values
    assert values["rss"] == 1.0
    # Row 0 is 1 from its own cluster and 10.5 from the other, row 1 is 1 and 9.5.
    assert values["silhouette"] == float((Fraction(19, 21) + Fraction(17, 19)) / 2)
    assert values["calinski_harabasz"] == 200.0  # 100 between, 1 within, 2 degrees of freedom
    assert values["davies_bouldin"] == 0.1  # 1/2 and 1/2 around means that are 10 apart
    one, _, three = (set(each.values) for each in chosen.candidates)
    assert one == {"rss", "gap", "gap-error"}
    assert {"silhouette", "calinski_harabasz", "davies_bouldin"} <= three
