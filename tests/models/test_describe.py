"""Descriptions: sizes, spread, characteristic features, typical rows, against plain fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import agglomerative
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.errors import BadOption, CannotPredict
from refclust.models.clusters import Cut, model_of
from refclust.models.describe import Description, Portrait, describe
from refclust.models.nearest import distances, predict

NUMBERS = st.sampled_from([0.0, 0.1, 0.3, 1.0, -2.0, 1e-300, 1e16, 5e-324, 7.0])
WEIGHTS = st.sampled_from([0.5, 1.0, 2.0, 0.1])


@st.composite
def problems(draw: st.DrawFn) -> tuple[Dataset, list[tuple[float, ...]]]:
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[NUMBERS] * d), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=n, max_size=n))
    k = draw(st.integers(1, n))
    centres = draw(st.lists(st.tuples(*[NUMBERS] * d), min_size=k, max_size=k))
    data: Any = rows
    if draw(st.booleans()):
        data = [{j: x for j, x in enumerate(row) if x} for row in rows]
    features = range(d)
    if weights is None:
        return dataset(data, features=features), centres
    return dataset(data, features=features, weights=weights), centres


def whole(data: Dataset, i: int) -> list[Fraction]:
    row = data.row(i)
    if isinstance(row, dict):
        return [Fraction(row.get(j, 0.0)) for j in range(data.d)]
    return [Fraction(x) for x in row]


def near(value: Fraction) -> float:
    return value.numerator / value.denominator


def total(parts: Any) -> Fraction:
    return sum(parts, Fraction(0))


class Plain:
    """The definitions of the chapter in fractions, row by row."""

    def __init__(self, data: Dataset, labels: list[int], k: int) -> None:
        self.rows = [whole(data, i) for i in range(data.n)]
        weights = [1.0] * data.n if data.weights is None else list(data.weights)
        self.w = [Fraction(w) for w in weights]
        self.members = [[i for i, label in enumerate(labels) if label == c] for c in range(k)]
        self.all = total(self.w)
        self.overall = [self.mean(range(data.n), j) for j in range(data.d)]
        self.sparse = data.kind == "sparse"

    def size(self, k: int) -> Fraction:
        return total(self.w[i] for i in self.members[k])

    def mean(self, members: Any, j: int) -> Fraction:
        chosen = list(members)
        weight = total(self.w[i] for i in chosen)
        return total(self.w[i] * self.rows[i][j] for i in chosen) / weight

    def variance(self, j: int) -> Fraction:
        squares = (
            w * (row[j] - self.overall[j]) ** 2 for w, row in zip(self.w, self.rows, strict=True)
        )
        return total(squares) / self.all

    def order(self, k: int) -> list[int]:
        if not self.members[k]:
            return []
        gaps = {j: self.mean(self.members[k], j) - mu for j, mu in enumerate(self.overall)}
        kept = [j for j, gap in gaps.items() if gap > 0 or (gap and not self.sparse)]
        return sorted(kept, key=lambda j: (-(gaps[j] ** 2) / self.variance(j), j))


@pytest.mark.spec("DESC-SHARE", "DESC-SPREAD", "DESC-OVERALL", "DESC-DIFF", "DESC-STD", "DESC-TOP")
@given(problems())
def test_descriptions_with_data(problem: tuple[Dataset, list[tuple[float, ...]]]) -> None:
    data, centres = problem
    given_centres: Any = centres
    if data.kind == "sparse":
        given_centres = [dict(enumerate(centre)) for centre in centres]
    fit = kmeans(data, centres=given_centres, empty="keep", limit=2)
    found = describe(model_of(fit, data=data), data, top=99)
    assert found.labels is not None
    labels = found.labels.tolist()
    plain = Plain(data, labels, len(fit.centres))
    for k, one in enumerate(found.clusters):
        size = plain.size(k)
        assert (one.cluster, one.size, one.share) == (k, size, near(size / plain.all))
        centre = [Fraction(x) for x in fit.centres[k]]
        rss = total(
            plain.w[i] * total((x - c) ** 2 for x, c in zip(plain.rows[i], centre, strict=True))
            for i in plain.members[k]
        )
        assert one.rss == near(rss)
        assert one.mean_square == (near(rss / size) if size else None)
        if one.root_mean_square is not None and one.mean_square:
            # The square of a root rounded to nearest differs by at most 2 units of 2**-53 from
            # the number itself, that of the rounded mean square by one more.
            assert math.isclose(one.root_mean_square**2, one.mean_square, rel_tol=2**-51)
        assert [trait.feature for trait in one.traits] == plain.order(k)
        for trait in one.traits:
            j = trait.feature
            mean = plain.mean(plain.members[k], j)
            gap = mean - plain.overall[j]
            assert (trait.mean, trait.overall) == (near(mean), near(plain.overall[j]))
            assert trait.difference == near(gap)
            assert trait.standardised is not None
            assert (trait.standardised > 0) == (gap > 0)
            assert encloses(trait.standardised, gap**2 / plain.variance(j))


def encloses(root: float, square: Fraction) -> bool:
    """Whether a double is the nearest one to the root of a rational, its sign left aside."""
    size = abs(root)
    low = (Fraction(math.nextafter(size, 0)) + Fraction(size)) / 2
    high = (Fraction(math.nextafter(size, math.inf)) + Fraction(size)) / 2
    return low**2 <= square <= high**2


@pytest.mark.spec("DESC-NEAR")
@given(problems(), st.integers(0, 7))
def test_typical_rows(problem: tuple[Dataset, list[tuple[float, ...]]], count: int) -> None:
    data, _ = problem
    fit = kmeans(data, 1)
    model = model_of(fit, data=data)
    (one,) = describe(model, data, typical=count).clusters
    centre = [Fraction(x) for x in fit.centres[0]]

    def square(i: int) -> Fraction:
        pairs = zip(whole(data, i), centre, strict=True)
        return total((x - c) ** 2 for x, c in pairs)

    order = sorted(range(data.n), key=lambda i: (square(i), i))[:count]
    assert [row.row for row in one.typical] == order
    far = distances(model, data, fit.labels)
    assert [row.distance for row in one.typical] == [far[i] for i in order]


@pytest.mark.spec("DESC-NEAR")
def test_typical_rows_under_the_cosine() -> None:
    data = dataset([[3, 4], [4, 3], [10, 10], [-1, 0], [0, -1]], ids="abcde")
    fit = kmeans(data, centres=[[1, 1], [-1, -1]], metric="cosine")
    model = model_of(fit, data=data)
    found = describe(model, data)
    first, second = found.clusters
    # Row c lies on the diagonal; a and b are mirror images, and so are d and e.
    assert [row.name for row in first.typical] == ["c", "a", "b"]
    assert [row.name for row in second.typical] == ["d", "e"]
    far = distances(model, data, fit.labels)
    assert [row.distance for row in first.typical] == [far[2], far[0], far[1]]
    assert found.metric == "cosine"


@pytest.mark.spec("DESC-TOP", "DESC-DIFF", "DESC-OVERALL", "DESC-SHARE", "DESC-SPREAD")
def test_without_data_centres_and_sizes_are_all_there_is() -> None:
    data = [[0, 0, 5], [0, 3, 5], [9, 6, 5]]
    fit = kmeans(data, centres=[[0, 0, 5], [9, 6, 5]])
    first, second = describe(model_of(fit)).clusters
    assert (first.size, first.share, second.share) == (Fraction(2), 2 / 3, 1 / 3)
    assert (first.rss, first.mean_square, first.root_mean_square) == (4.5, 2.25, 1.5)
    assert told(first) == [("0", 0.0, 3.0, -3.0, None), ("1", 1.5, 3.0, -1.5, None)]
    assert told(second) == [("0", 9.0, 3.0, 6.0, None), ("1", 6.0, 3.0, 3.0, None)]
    assert (first.typical, second.typical) == ((), ())


def told(one: Portrait) -> list[tuple[str, float, float, float, float | None]]:
    return [(t.name, t.mean, t.overall, t.difference, t.standardised) for t in one.traits]


@pytest.mark.spec("DESC-TOP")
def test_of_sparse_rows_only_what_is_there_is_listed() -> None:
    words = [{"cat": 2, "the": 1}, {"cat": 1, "the": 1}, {"dog": 3, "the": 1}]
    data = dataset(words)
    fit = kmeans(data, centres=[{"cat": 1}, {"dog": 1}])
    model = model_of(fit, data=data)
    for found in (describe(model), describe(model, data)):
        assert [[t.name for t in one.traits] for one in found.clusters] == [["cat"], ["dog"]]


@pytest.mark.spec("DESC-TOP")
def test_equal_features_keep_their_order_and_nearly_equal_ones_do_not() -> None:
    tiny = 2.0**-60
    data: list[list[float]] = [[0, 0, 0], [1, 1, 1]]
    fit = kmeans(data, centres=data)
    assert names(describe(model_of(fit), data)) == [["0", "1", "2"]] * 2
    # The second feature differs by less than a double of its z can show; exactly it is first.
    data = [[0, 0], [0, 0], [1, 1], [1 + 2.0**-52, 1]]
    fit = kmeans(data, centres=[[0, 0], [1, 1]])
    found = describe(model_of(fit), data)
    zs = {t.name: t.standardised for t in found.clusters[0].traits}
    assert zs["0"] == zs["1"]
    assert names(found) == [["1", "0"]] * 2
    # Without data: differences that are equal as doubles, decided exactly.
    data = [[tiny, 0], [1, 1]]
    fit = kmeans(data, centres=data)
    found = describe(model_of(fit))
    assert [trait.difference for trait in found.clusters[0].traits] == [-0.5, -0.5]
    assert names(found) == [["1", "0"]] * 2


def names(found: Description) -> list[list[str]]:
    return [[trait.name for trait in one.traits] for one in found.clusters]


@pytest.mark.spec("DESC-TOP")
def test_top_limits_and_one_cluster_has_none() -> None:
    data = [[0, 0, 0], [3, 2, 1]]
    fit = kmeans(data, centres=data)
    model = model_of(fit)
    assert names(describe(model, top=2)) == [["0", "1"]] * 2
    assert names(describe(model, data, top=0)) == [[], []]
    assert names(describe(model_of(kmeans(data, 1)), data)) == [[]]
    with pytest.raises(BadOption, match="top is -1"):
        describe(model, top=-1)
    with pytest.raises(BadOption, match=r"typical is 1\.5"):
        describe(model, typical=1.5)  # type: ignore[arg-type]


@pytest.mark.spec("DESC-SHARE", "DESC-SPREAD")
def test_a_cluster_without_rows() -> None:
    fit = kmeans([[0], [1]], centres=[[0], [50]], empty="keep")
    model = model_of(fit)
    for found in (describe(model), describe(model, [[0], [1]])):
        empty = found.clusters[1]
        assert (empty.size, empty.share, empty.rss) == (Fraction(0), 0.0, 0.0)
        assert (empty.mean_square, empty.root_mean_square) == (None, None)
        assert (empty.traits, empty.typical) == ((), ())


def test_bisecting_goes_down_its_tree() -> None:
    data = dataset([[0.0], [1.0], [10.0], [11.0], [30.0]])
    fit = bisecting(data, 3)
    model = model_of(fit, data=data)
    found = describe(model, data)
    assert found.labels == fit.labels == predict(model, data).labels
    assert [one.size for one in found.clusters] == list(fit.sizes)
    assert [one.rss for one in found.clusters] == list(fit.within)
    assert [one.rss for one in describe(model).clusters] == list(fit.within)


@pytest.mark.spec("DESC-SHARE", "DESC-SPREAD")
def test_trees_of_merges() -> None:
    data = dataset([[0.0], [1.0], [10.0]])
    tree = agglomerative(data, linkage="single", k=2)
    model = model_of(tree, data=data, cut=Cut(k=2))
    first, second = describe(model).clusters
    assert (first.size, second.size, first.share) == (Fraction(2), Fraction(1), 2 / 3)
    assert (first.rss, first.mean_square, first.traits) == (None, None, ())
    first, second = describe(model, data).clusters
    assert (first.rss, first.mean_square, second.rss) == (0.5, 0.25, 0.0)
    assert [row.row for row in first.typical] == [0, 1]
    with pytest.raises(CannotPredict, match="other data"):
        describe(model, [[0.0], [1.0], [11.0]])
    with pytest.raises(BadOption, match="not cut"):
        describe(model_of(agglomerative(data, linkage="single"), data=data))
    given = model_of(agglomerative(distances=[3, 2, 1], linkage="single", k=2))
    assert [one.size for one in describe(given).clusters] == [1, 2]
    with pytest.raises(BadOption, match="made of distances"):
        describe(given, [[0.0], [1.0], [11.0]])
