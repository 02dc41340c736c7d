"""Models of any numbers come back bit for bit; any damage is refused and nothing else happens."""

from __future__ import annotations

import copy
import json
import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refclust.cluster.bisecting import bisecting
from refclust.cluster.directions import unit_rows
from refclust.cluster.fit import kmeans
from refclust.cluster.results import BisectingFit, Centres, Metric, Split
from refclust.cluster.tree import Merge, Tree
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Features
from refclust.data.readers.formats import Options, read
from refclust.data.text import TextOptions
from refclust.data.vectors import distance
from refclust.errors import BadModel, KOutOfRange
from refclust.fitting.labels import Labels
from refclust.models.clusters import from_json, model_of, to_json, tree_of
from refclust.models.nearest import distances, predict
from refclust.models.reading import read_like, reading_of
from refclust.models.records.clusters import (
    AgglomerativeModel,
    BisectingModel,
    ClusterModel,
    DataFacts,
    IterationRecord,
    KMeansFitted,
    KMeansModel,
    KMeansParams,
    Model,
    RunFacts,
)
from tests.models.samples import is_nearest_cosine_distance, models

MODELS = models()
VALIDATOR = jsonschema.Draft202012Validator(
    json.loads(
        (Path(__file__).parents[2] / "spec" / "schema" / "model.schema.json").read_text("utf-8")
    )
)
EDGES = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 1e23]
doubles = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(EDGES)
amounts = doubles.map(abs)
sizes = st.fractions(min_value=0) | amounts.map(Fraction) | st.integers(0, 10**30).map(Fraction)
wholes = st.integers(0, 2**53)


def bits(centres: Centres) -> bytes:
    return b"".join(struct.pack(f"<{len(centre)}d", *centre) for centre in centres)


@st.composite
def kmeans_models(draw: st.DrawFn) -> KMeansModel:
    """A model that no fit need have made, of numbers that any double may be."""
    k, d, cosine = draw(st.integers(1, 4)), draw(st.integers(0, 4)), draw(st.booleans())
    cosine = cosine and d > 0
    total = doubles if cosine else st.none()
    centre = st.lists(doubles, min_size=d, max_size=d).map(tuple)
    if cosine:
        centre = centre.filter(any)

    def numbers(of: st.SearchStrategy[Any], count: int) -> tuple[Any, ...]:
        return tuple(draw(st.lists(of, min_size=count, max_size=count)))

    run = st.builds(
        RunFacts, amounts, total, wholes, st.sampled_from(["unchanged", "limit"]), st.just(())
    )
    runs = tuple(draw(st.lists(run, min_size=1, max_size=3)))
    best = draw(st.integers(0, len(runs) - 1))
    trace = tuple(
        IterationRecord(
            i, draw(st.integers(0, 9)), draw(amounts), draw(st.none() | amounts), draw(total)
        )
        for i in range(1, draw(st.integers(0, 3)) + 1)
    )
    params = KMeansParams(
        k,
        "cosine" if cosine else "euclidean",
        "random",
        draw(st.integers(0, 2**200)),
        len(runs) + draw(st.integers(0, 2)),
        draw(st.none() | st.integers(1, 9)),
        "keep",
        draw(st.none() | amounts),
        draw(st.integers(1, 10**20)),
    )
    fitted = KMeansFitted(
        runs[best].rss,
        draw(amounts),
        runs[best].cosine,
        runs[best].iterations,
        runs[best].stopped,
        best,
        numbers(sizes, k),
        numbers(amounts, k),
        numbers(centre, k),
        runs,
        trace,
    )
    words = st.lists(st.text(), min_size=d, max_size=d, unique=True)
    keys = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=d, max_size=d, unique=True)
    features: Features | None = draw(st.none() | words.map(tuple) | keys.map(tuple))
    data = DataFacts(
        draw(st.sampled_from(["dense", "sparse"])),
        9,
        d,
        "0123456789abcdef" * 4,
        features,
        None,
    )
    return KMeansModel(params, fitted, data, MODELS["kmeans"].provenance)


@pytest.mark.spec("MODEL-LOAD", "MODEL-DOC")
@given(kmeans_models())
def test_any_model_comes_back_bit_for_bit(model: KMeansModel) -> None:
    text = to_json(model)
    again = from_json(text, "m")
    assert again == model
    assert isinstance(again, KMeansModel)
    assert bits(again.fitted.centres) == bits(model.fitted.centres)
    assert to_json(again) == text
    VALIDATOR.validate(json.loads(text))
    text.encode()


@st.composite
def split_fits(draw: st.DrawFn) -> BisectingFit:
    """A bisecting fit with a tree of any shape."""
    k = draw(st.integers(1, 7))
    fit = bisecting([[0.0], [1.0]], 1)

    def grown(first: int, count: int) -> Split | int:
        if count == 1:
            return first
        left = draw(st.integers(1, count - 1))
        centres = ((draw(doubles),), (draw(doubles),))
        children = grown(first, left), grown(first + left, count - left)
        return Split(centres, children, draw(amounts), draw(amounts))

    return replace(
        fit,
        k=k,
        root=grown(0, k),
        centres=tuple((draw(doubles),) for _ in range(k)),
        sizes=tuple(draw(sizes) for _ in range(k)),
        within=tuple(draw(amounts) for _ in range(k)),
    )


@pytest.mark.spec("MODEL-TREE", "MODEL-LOAD")
@given(split_fits())
def test_any_tree_of_splits_comes_back(fit: BisectingFit) -> None:
    model = model_of(fit)
    text = to_json(model)
    again = from_json(text, "m")
    assert again == model
    assert to_json(again) == text
    assert isinstance(again, BisectingModel)
    assert _nested(again, 0) == fit.root
    VALIDATOR.validate(json.loads(text))


def _nested(model: BisectingModel, place: int) -> Split | int:
    """The tree as a fit has it, by plain recursion."""
    if not model.fitted.splits:
        return 0
    split = model.fitted.splits[place]
    one, other = (
        child.index if child.kind == "cluster" else _nested(model, child.index)
        for child in split.children
    )
    return Split(split.centres, (one, other), split.rss, split.rss_after)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any tree of merges, inversions and negative heights included."""
    n = draw(st.integers(1, 9))
    free = dict.fromkeys(range(n), 1)
    merges = []
    for made in range(n, 2 * n - 1):
        a, b = sorted(draw(st.permutations(sorted(free)))[:2])
        free[made] = free.pop(a) + free.pop(b)
        merges.append(Merge(a, b, draw(doubles), free[made]))
    return Tree(n, tuple(merges))


@pytest.mark.spec("MODEL-LOAD")
@given(trees(), st.data())
def test_any_tree_of_merges_comes_back(tree: Tree, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, tree.n))
    model = model_of(replace(tree, labels=tree.cut(k)))
    text = to_json(model)
    again = from_json(text, "m")
    assert again == model
    assert to_json(again) == text
    assert isinstance(again, AgglomerativeModel)
    assert tree_of(again).merges == tree.merges
    assert tree_of(again).labels == tree.cut(k)
    VALIDATOR.validate(json.loads(text))


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 8)
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["sparse", "dense", "distances", "cosine", "given", "drop", "1/2", "2"])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["k", "split", "cluster", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    found: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        container = todo.pop()
        keys = container if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                todo.append(container[key])
    return found


@pytest.mark.spec("MODEL-LOAD")
@given(st.sampled_from(sorted(MODELS)), st.data())
def test_damage_is_refused_or_harmless(name: str, data: st.DataObject) -> None:
    top = copy.deepcopy(json.loads(to_json(MODELS[name])))
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(places(top)))
        action = data.draw(st.sampled_from(["put", "drop", "twice"]))
        if action == "put":
            container[key] = data.draw(anything)
        elif action == "drop":
            del container[key]
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[data.draw(st.text(max_size=3))] = copy.deepcopy(container[key])
    text = json.dumps(top)
    model = loaded(text)
    # What the loader takes is a model in every respect, and the schema takes it too.
    assert isinstance(model, str) or VALIDATOR.is_valid(top)


def loaded(text: str) -> Model | str:
    """The model of a text, or why it is none: a single line that names the file."""
    try:
        model = from_json(text, "m")
    except BadModel as refused:
        complaint = str(refused)
    else:
        assert from_json(to_json(model), "m") == model
        return model
    assert complaint.startswith("m:")
    assert "\n" not in complaint
    return complaint


@pytest.mark.spec("MODEL-LOAD")
@given(st.sampled_from(sorted(MODELS)), st.data())
def test_damaged_text_is_refused_or_harmless(name: str, data: st.DataObject) -> None:
    text = to_json(MODELS[name])
    begin = data.draw(st.integers(0, len(text) - 1))
    end = min(len(text), begin + data.draw(st.integers(0, 4)))
    noise = data.draw(st.text(alphabet='{}[]",:0123456789.eE+-\\ntfu \x00é', max_size=4))
    loaded(text[:begin] + noise + text[end:])


small = st.floats(-8, 8) | st.integers(-3, 3).map(float)
tables = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.lists(small, min_size=d, max_size=d), min_size=2, max_size=12)
)


@pytest.mark.spec("MODEL-PREDICT")
@given(tables, st.integers(1, 4), st.sampled_from(["euclidean", "cosine"]), st.booleans())
def test_the_rows_of_a_fit_get_back_their_labels(
    rows: list[list[float]], k: int, metric: Metric, tree: bool
) -> None:
    # A direction for every row: the first feature is 1 more than its size.
    data = dataset([[abs(row[0]) + 1, *row] for row in rows])
    try:
        fit = (bisecting if tree else kmeans)(data, min(k, data.n), metric=metric)
    except KOutOfRange:
        return  # fewer different rows than clusters
    model = cast(ClusterModel, from_json(to_json(model_of(fit, data=data)), "m"))
    assert predict(model, data).labels == fit.labels
    assert type(predict(fit, data).labels) is Labels


@pytest.mark.spec("MODEL-DIST")
@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(small, min_size=d, max_size=d), min_size=2, max_size=6)
    ),
    st.data(),
)
def test_distances_are_rounded_once(rows: list[list[float]], data: st.DataObject) -> None:
    centre, *others = [[abs(row[0]) + 1, *row] for row in rows]
    new = dataset(data.draw(st.permutations([centre, *others])))
    plain = kmeans([centre, *others], centres=[centre], limit=1)
    due = [distance(row, plain.centres[0]) for row in new.rows()]
    assert distances(plain, new, [0] * new.n).tolist() == due
    angular = kmeans([centre, *others], centres=[centre], metric="cosine", limit=1)
    found = distances(angular, new, [0] * new.n)
    for row, value in zip(unit_rows(new).rows(), found, strict=True):
        assert isinstance(row, tuple)
        assert is_nearest_cosine_distance(value, row, angular.centres[0])


words = st.sampled_from(["sea", "Cat", "dog", "fish", "é"])
texts = st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=6)


@pytest.mark.spec("MODEL-READ")
@settings(max_examples=50)
@given(texts, st.booleans(), st.data())
def test_a_text_is_read_alone_as_among_others(
    lines: list[str], tfidf: bool, data: st.DataObject
) -> None:
    options = Options(text=TextOptions(tfidf=tfidf, min_df=data.draw(st.integers(1, 2))))
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "texts")
        Path(path).write_text("\n".join(["cat sea", "sea cat", *lines]), encoding="utf-8")
        old = read(path, format="lines", options=options)
        model = model_of(kmeans(old, 1), data=old, reading=reading_of("lines", options, old))
        i = data.draw(st.integers(0, old.n - 1))
        Path(path).write_text(["cat sea", "sea cat", *lines][i] + " zebra", encoding="utf-8")
        new, unseen = read_like(from_json(to_json(model), "m"), path)
    assert new.row(0) == old.row(i)
    assert new.features == old.features
    assert unseen >= 1
