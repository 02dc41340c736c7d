"""New rows into old clusters: by centres, down a tree, or not at all."""

from __future__ import annotations

import math
from array import array
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest

from refclust.backends.session import Session
from refclust.cluster.bisecting import bisecting
from refclust.cluster.directions import unit_rows
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import agglomerative
from refclust.cluster.results import BisectingFit, KMeansFit
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.data.readers.formats import Options, read
from refclust.data.text import TextOptions, corpus, document_frequencies
from refclust.data.vectors import distance
from refclust.errors import (
    CannotPredict,
    FeatureMismatch,
    KOutOfRange,
    LabelLengthMismatch,
    MissingColumn,
    ZeroVector,
)
from refclust.models.clusters import from_json, load_model, model_of, save_model, to_json
from refclust.models.nearest import distances, predict
from refclust.models.reading import new_options, read_like, reading_of
from refclust.models.records.clusters import BisectingModel, ClusterModel, Model, Reading, Weighing
from tests.models.samples import FLOWERS, WORDS, is_nearest_cosine_distance

SQUARE = kmeans([[0, 0], [0, 1], [4, 0], [4, 1]], centres=[[0, 0], [4, 0]])


@pytest.mark.spec("MODEL-PREDICT")
def test_the_nearest_centre_and_the_lowest_of_equals() -> None:
    new = [[1, 9], [2, 0.5], [math.nextafter(2, 3), 0.5], [100, 0]]
    assert predict(SQUARE, new).labels == array("i", [0, 0, 1, 1])


FITS: dict[str, KMeansFit | BisectingFit] = {
    "kmeans": kmeans(FLOWERS, 3, restarts=2),
    "one emptied": kmeans(FLOWERS, centres=[[0, 0], [0, 0]]),
    "one dropped": kmeans(FLOWERS, centres=[[0, 0], [0, 0], [9, 9]], empty="drop"),
    "bisecting": bisecting(FLOWERS, 4),
    "one cluster": bisecting(FLOWERS, 1),
}


@pytest.mark.spec("MODEL-PREDICT")
@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_a_loaded_model_predicts_as_the_fit(fit: KMeansFit | BisectingFit) -> None:
    model = cast(ClusterModel, from_json(to_json(model_of(fit, data=FLOWERS)), "m"))
    assert predict(model, FLOWERS).labels == fit.labels
    assert predict(fit, FLOWERS).labels == fit.labels


@pytest.mark.spec("MODEL-PREDICT")
def test_words_under_the_cosine() -> None:
    for fit in (kmeans(WORDS, 2, metric="cosine"), bisecting(WORDS, 3, metric="cosine")):
        model = cast(ClusterModel, from_json(to_json(model_of(fit, data=WORDS)), "m"))
        found = predict(model, WORDS)
        assert found.labels == fit.labels
        assert found.unseen == 0


@pytest.mark.spec("MODEL-PREDICT")
def test_unknown_words_are_dropped_and_counted() -> None:
    fit = kmeans(WORDS, labels=[0, 0, 1, 1, 0], metric="cosine")
    known = predict(fit, [{"cat": 1}, {"sea": 1}])
    loud = predict(fit, [{"cat": 1, "aardvark": 50, "zebra": 1}, {"sea": 1, "zebra": 9}])
    assert loud.labels == known.labels
    assert (known.unseen, loud.unseen) == (0, 2)
    assert len(set(known.labels)) == 2


@pytest.mark.spec("MODEL-PREDICT")
def test_a_row_of_unknown_words_has_no_direction() -> None:
    fit = kmeans(WORDS, 2, metric="cosine")
    new = dataset([{"cat": 1}, {"zebra": 1}], ids=["first", "second"])
    with pytest.raises(ZeroVector, match="row second is the zero vector"):
        predict(fit, new)
    # Without directions the origin is a place like any other.
    assert predict(kmeans(WORDS, 2), new).unseen == 1


@pytest.mark.spec("MODEL-PREDICT")
def test_columns_are_found_by_name() -> None:
    fit = kmeans(FLOWERS, 3)
    swapped = dataset(
        [[row[1], 7.0, row[0]] for row in FLOWERS.rows()], features=["length", "colour", "width"]
    )
    found = predict(fit, swapped)
    assert found.labels == fit.labels
    assert found.unseen == 1
    with pytest.raises(FeatureMismatch, match="lack features of the model: 'width'"):
        predict(fit, dataset([[1.0]], features=["length"]))
    with pytest.raises(FeatureMismatch, match="the data have 3 features and the model has 2"):
        predict(fit, [[1, 2, 3]])


@pytest.mark.spec("MODEL-PREDICT")
def test_the_way_down_need_not_lead_to_the_nearest_centre() -> None:
    # 0 and 1 against 9, 10 and 30; then 9 and 10 against 30: the cut between the first two is
    # at half the way from 1/2 to 49/3, not at half the way from 1/2 to 19/2.
    fit = bisecting([[0], [1], [9], [10], [30]], 3)
    leaves = {centre[0]: label for label, centre in enumerate(fit.centres)}
    model = model_of(fit)
    assert isinstance(model, BisectingModel)
    (near, far) = sorted(model.fitted.splits[0].centres)
    border = Fraction(near[0]) / 2 + Fraction(far[0]) / 2
    below, above = float(border - Fraction(1, 8)), float(border + Fraction(1, 8))
    labels = predict(model, [[below], [above]]).labels
    assert labels == array("i", [_down(model, below), _down(model, above)])
    nearest = [min(leaves, key=lambda c, x=x: (abs(c - x), c)) for x in (below, above)]  # type: ignore[misc]
    assert list(labels) != [leaves[centre] for centre in nearest]


def _down(model: BisectingModel, x: float) -> int:
    kind, index = "split", 0
    while kind == "split":
        split = model.fitted.splits[index]
        gaps = [abs(Fraction(centre[0]) - Fraction(x)) for centre in split.centres]
        child = split.children[gaps.index(min(gaps))]
        kind, index = child.kind, child.index
    return index


@pytest.mark.spec("MODEL-PREDICT")
def test_no_row_of_the_new_data_need_reach_every_leaf() -> None:
    fit = bisecting([[0], [1], [10], [11], [30], [31]], 5)
    for row, label in zip([[0], [1], [10], [11], [30], [31]], fit.labels, strict=True):
        assert predict(fit, [row]).labels == array("i", [label])


def test_the_parts_of_the_rows_are_not_kept() -> None:
    session = Session("reference")
    predict(bisecting(FLOWERS, 4), FLOWERS, session=session)
    assert [one.data for one in session._prepared.values()] == [FLOWERS]
    assert session.provenance().kernels[0].calls == 3


@pytest.mark.spec("MODEL-PREDICT")
def test_merges_have_no_rule_for_new_rows() -> None:
    tree = agglomerative(FLOWERS)
    for given in (tree, model_of(tree, data=FLOWERS)):
        with pytest.raises(CannotPredict, match=r"kmeans\(data, labels=\.\.\.\)"):
            predict(given, FLOWERS)
        with pytest.raises(CannotPredict):
            distances(given, FLOWERS, [0] * 6)
    advised = kmeans(FLOWERS, labels=tree.cut(3))
    assert len(predict(advised, FLOWERS).labels) == 6


def test_backends_and_provenance() -> None:
    found = predict(SQUARE, [[1, 1]], backend="loopback")
    assert [(run.kernel, run.backend) for run in found.provenance.kernels] == [
        ("kmeans.assign", "loopback")
    ]
    assert isinstance(found.labels, array)
    session = Session("reference")
    predict(SQUARE, [[1, 1]], session=session)
    assert predict(SQUARE, [[3, 1]], session=session).provenance.kernels[0].calls == 2


@pytest.mark.spec("MODEL-DIST")
def test_distances_are_the_nearest_doubles() -> None:
    new = [[0.1, 0.7], [1e200, 3], [4, 0.5], [5e-324, 0.5]]
    labels = predict(SQUARE, new).labels
    due = [distance(row, SQUARE.centres[k]) for row, k in zip(new, labels, strict=True)]
    assert distances(SQUARE, new, labels).tolist() == due
    assert due[1:] == [1e200, 0.0, 5e-324]


@pytest.mark.spec("MODEL-DIST")
def test_sparse_distances() -> None:
    fit = kmeans(WORDS, 2)
    due = [
        distance(row, {j: x for j, x in enumerate(fit.centres[k]) if x})
        for row, k in zip(WORDS.rows(), fit.labels, strict=True)
    ]
    assert distances(fit, WORDS, fit.labels).tolist() == due


@pytest.mark.spec("MODEL-DIST")
def test_cosine_distances_against_integers() -> None:
    fit = kmeans([[3, 4], [4, 3], [-3, 4], [0, 1]], centres=[[1, 1], [-1, 1]], metric="cosine")
    new = [[1, 1], [1e-8, 1], [-3, 4], [7, -1], [-2, -2]]
    for k in (0, 1):
        found = distances(fit, new, [k] * len(new))
        for row, value in zip(unit_rows(dataset(new)).rows(), found, strict=True):
            assert isinstance(row, tuple)
            assert is_nearest_cosine_distance(value, row, fit.centres[k])


@pytest.mark.spec("MODEL-DIST")
def test_a_leaf_without_direction_has_no_cosine() -> None:
    fit = bisecting([[1, 0], [-1, 0]], 1, metric="cosine")
    assert fit.centres == ((0.0, 0.0),)
    assert predict(fit, [[2, 0]]).labels == array("i", [0])
    with pytest.raises(ZeroVector, match="the centre of cluster 0 is the zero vector"):
        distances(fit, [[2, 0]], [0])


def test_distances_need_a_label_for_each_row() -> None:
    with pytest.raises(LabelLengthMismatch, match="1 labels for 2 rows"):
        distances(SQUARE, [[1, 1], [2, 2]], [0])
    for label in (-1, 2):
        with pytest.raises(KOutOfRange, match=f"row 0 has the label {label}; the model has 0 to 1"):
            distances(SQUARE, [[1, 1]], [label])


TEXTS = ["the cat and the dog", "the cat sat", "the fish in the sea", "the deep sea", "the dog"]


@pytest.mark.spec("MODEL-READ")
def test_frequencies_are_those_of_the_counts() -> None:
    options = TextOptions(tfidf=True)
    reading = reading_of("lines", Options(text=options), corpus(TEXTS, options))
    counts = document_frequencies(corpus(TEXTS))
    assert 5 in counts  # the word that weighs nothing
    assert reading.weighing == Weighing(5, counts)
    plain = Options(text=TextOptions())
    assert reading_of("lines", plain, corpus(TEXTS)) == Reading("lines", plain, None)
    assert reading_of("csv", Options(), FLOWERS) == Reading("csv", Options(), None)


@pytest.mark.spec("MODEL-READ", "MODEL-PREDICT")
@pytest.mark.parametrize("tfidf", [False, True])
def test_new_texts_are_read_and_weighed_like_the_old_ones(tmp_path: Path, tfidf: bool) -> None:
    old, new, model_file = tmp_path / "old.txt", tmp_path / "new.txt", str(tmp_path / "model.json")
    old.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    text = TextOptions(stop_words=frozenset(["and"]), max_df=Fraction(1), tfidf=tfidf)
    options = Options(text=text)
    data = read(str(old), format="lines", options=options)
    fit = kmeans(data, 2)
    save_model(model_file, model_of(fit, data=data, reading=reading_of("lines", options, data)))
    model = cast(ClusterModel, load_model(model_file))
    again, unseen = read_like(model, str(old))
    assert same(again, data)
    assert unseen == 0
    assert predict(model, again).labels == fit.labels
    assert same(read_like(model, str(old), options=options)[0], data)  # weighed once, not twice
    # A row alone is weighed as it was among the others.
    new.write_text("dog and cat! the... zebra\nThe CAT sat\n", encoding="utf-8")
    fresh, unseen = read_like(model, str(new))
    assert unseen == 1
    assert fresh.row(1) == data.row(1)


def same(one: Dataset, other: Dataset) -> bool:
    return (one.digest(), one.features) == (other.digest(), other.features)


@pytest.mark.spec("MODEL-READ")
def test_new_tables_are_read_like_the_old_ones(tmp_path: Path) -> None:
    old, new = tmp_path / "old.data", tmp_path / "new.data"
    old.write_text("name;x;y\na;1;2\nb;3;4\nc;9;9\n", encoding="utf-8")
    new.write_text("y;name;x\n4;q;3\n", encoding="utf-8")
    options = Options(delimiter=";", header=True, id_column="name")
    data = read(str(old), format="csv", options=options)
    model = model_of(kmeans(data, 2), data=data, reading=reading_of("csv", options, data))
    fresh, unseen = read_like(from_json(to_json(model), "m"), str(new))
    assert (fresh.rows().__next__(), fresh.ids, unseen) == ((3.0, 4.0), ("q",), 0)
    # What is known of the new file overrules what is known of the old one.
    new.write_text("y\tx\tz\n4\t3\t1\n", encoding="utf-8")
    fresh, unseen = read_like(model, str(new), format_name="tsv", options=Options())
    assert (fresh.row(0), unseen) == ((3.0, 4.0), 1)
    unknown = replace(model, data=replace(model.data, reading=None))
    assert read_like(unknown, str(new), format_name="tsv")[0].row(0) == (3.0, 4.0)


@pytest.mark.spec("MODEL-READ")
def test_new_data_need_no_labels_and_no_weights(tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("x,y,kind,w\n1,2,a,1\n3,4,b,1\n9,9,b,2\n", encoding="utf-8")
    options = Options(label_column="kind", weight_column="w", id_column=None)
    data = read(str(old), format="csv", options=options)
    model = model_of(kmeans(data, 2), data=data, reading=reading_of("csv", options, data))
    assert read_like(model, str(old))[0].labels == ("a", "b", "b")
    new.write_text("x,y\n3,4\n", encoding="utf-8")
    fresh, unseen = read_like(model, str(new))
    assert (fresh.row(0), fresh.labels, fresh.weights, unseen) == ((3.0, 4.0), None, None, 0)
    # A column that was asked for explicitly must be there, and so must ids.
    with pytest.raises(MissingColumn):
        read_like(model, str(new), options=Options(label_column="kind"))
    named = replace(options, id_column="name", label_column=None, weight_column=None)
    asked = replace(model, data=replace(model.data, reading=Reading("csv", named)))
    with pytest.raises(MissingColumn):
        read_like(asked, str(new))


@pytest.mark.spec("MODEL-READ")
def test_every_option_is_kept() -> None:
    text = TextOptions(
        lowercase=False,
        stop_words=frozenset(["b", "a"]),
        min_df=2,
        max_df=Fraction(2, 3),
        min_length=3,
    )
    options = Options(
        delimiter="\t",
        header=False,
        id_column="1",
        label_column="class",
        weight_column="w",
        columns=("x", "y"),
        base=0,
        array="rows",
        text=text,
        text_column="body",
        decimal="comma",
        encoding="cp1252",
        vocabulary="words.txt",
        exclude=("z*",),
        categorical=("y",),
        missing="integrate",
    )
    assert all(getattr(options, field.name) is not None for field in fields(options))
    model = model_of(kmeans(FLOWERS, 2), data=FLOWERS, reading=Reading("any", options))
    again: Model = from_json(to_json(model), "m")
    assert again == model
    assert again.data.reading == Reading("any", options)
    new = new_options(Reading("any", options))
    assert new.text == replace(text, min_df=1, max_df=None)
    assert replace(new, text=text) == options


def test_a_given_vocabulary_is_kept_as_the_features() -> None:
    words = TextOptions(vocabulary=("sea", "cat"))
    data = corpus(TEXTS, words)
    reading = reading_of("lines", Options(text=words), data)
    model = model_of(kmeans(data, 2), data=data, reading=reading)
    again = from_json(to_json(model), "m")
    assert again.data.features == ("sea", "cat")
    assert again.data.reading == Reading("lines", Options(text=TextOptions()))
