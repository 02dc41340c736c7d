"""Model files: what is written, what is read back, and everything that is refused."""

from __future__ import annotations

import copy
import gzip
import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import agglomerative
from refclust.cluster.results import Metric, Policy, Reason, Split, Start
from refclust.cluster.tree import Merge, Tree
from refclust.data.accepting.door import dataset
from refclust.data.files.document import parse
from refclust.data.readers.formats import Options
from refclust.data.text import TextOptions
from refclust.errors import (
    BadCheckpoint,
    BadModel,
    BadOption,
    DimensionMismatch,
    FileExists,
    FileNotReadable,
    NotFinite,
)
from refclust.kernels.distances import METRICS
from refclust.kernels.linkage import LINKAGES
from refclust.models.clusters import (
    Cut,
    from_json,
    load_model,
    model_of,
    save_model,
    to_json,
    tree_of,
)
from refclust.models.document import ALGORITHMS
from refclust.models.records.clusters import (
    AgglomerativeModel,
    BisectingModel,
    DataKind,
    KMeansModel,
)
from refclust.models.schema import text as schema_text
from tests.models.samples import FLOWERS, WORDS, models

MODELS = models()
SCHEMA_FILE = Path(__file__).parents[2] / "spec" / "schema" / "model.schema.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
Edit = Callable[[Any], object]


def document(name: str) -> Any:
    return json.loads(to_json(MODELS[name]))


@pytest.mark.spec("MODEL-DOC", "MODEL-LOAD")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_as_it_was(name: str) -> None:
    text = to_json(MODELS[name])
    again = from_json(text, "model.json")
    assert again == MODELS[name]
    assert to_json(again) == text
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")


@pytest.mark.spec("MODEL-DOC")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_follows_the_schema(name: str) -> None:
    VALIDATOR.validate(document(name))


@pytest.mark.spec("MODEL-DOC")
def test_the_schema_is_made_of_the_records() -> None:
    """After a change of records ``python -m refclust.models.schema`` prints what the file holds."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA_FILE.read_text("utf-8") == schema_text()


def test_the_schema_names_every_choice() -> None:
    defs = SCHEMA["$defs"]
    assert SCHEMA["properties"]["algorithm"]["enum"] == list(ALGORITHMS)
    params = defs["KMeansParams"]["properties"]
    for name, words in (("metric", Metric), ("start", Start), ("empty", Policy)):
        assert params[name]["enum"] == list(get_args(words))
    assert defs["RunFacts"]["properties"]["stopped"]["enum"] == list(get_args(Reason))
    assert defs["DataFacts"]["properties"]["kind"]["enum"] == list(get_args(DataKind))
    tree = defs["AgglomerativeParams"]["properties"]
    assert tree["linkage"]["enum"] == [*LINKAGES, "given"]
    assert tree["metric"]["enum"] == [*METRICS, "gower", "given"]
    options = defs["Reading"]["properties"]["options"]["properties"]
    assert set(options) == {field.name for field in fields(Options)}
    # The words of a given vocabulary are the features of the model already.
    texts = {*defs["TextOptions"]["properties"], "vocabulary"}
    assert texts == {field.name for field in fields(TextOptions)}


@pytest.mark.spec("MODEL-DOC")
def test_the_document_to_the_letter() -> None:
    fit = kmeans([[0, 0], [0, 1], [4, 0], [4, 1]], centres=[[0, 0], [4, 0]], backend="reference")
    text = to_json(model_of(fit))
    assert text.startswith(
        """{
 "format": "refclust-model",
 "version": 1,
 "algorithm": "kmeans",
 "params": {
  "k": 2,
  "metric": "euclidean",
  "start": "given",
  "seed": 0,
  "restarts": 1,
  "trials": null,
  "empty": "farthest",
  "tolerance": null,
  "limit": 300
 },
 "fitted": {
  "rss": 1.0,
  "mean_square": 0.25,
  "cosine": null,
  "iterations": 2,
  "stopped": "unchanged",
  "best": 0,
  "sizes": ["2", "2"],
  "within": [0.5, 0.5],
  "centres": [
   [0.0, 0.5],
   [4.0, 0.5]
  ],
  "runs": [
   {"rss": 1.0, "cosine": null, "iterations": 2, "stopped": "unchanged", "emptied": []}
  ],
  "trace": [
   {"iteration": 1, "changed": 4, "rss": 2.0, "rss_updated": 1.0, "cosine": null},
   {"iteration": 2, "changed": 0, "rss": 1.0, "rss_updated": null, "cosine": null}
  ]
 },
 "data": {
  "kind": "dense",
  "n": 4,
  "d": 2,
"""
    )
    assert list(json.loads(text)) == SCHEMA["required"]


@pytest.mark.spec("MODEL-DOC")
def test_the_same_fit_gives_the_same_bytes() -> None:
    one, other = (kmeans(WORDS, 2, metric="cosine", restarts=3) for _ in range(2))
    assert to_json(model_of(one, data=WORDS)) == to_json(model_of(other, data=WORDS))


@pytest.mark.spec("MODEL-DOC")
def test_sparse_centres_keep_everything_but_the_plain_zero() -> None:
    model = MODELS["cosine"]
    assert isinstance(model, KMeansModel)
    odd = replace(model, fitted=replace(model.fitted, centres=((0.0, -0.0, 5e-324, 0.0),) * 2))
    assert "[[1, -0.0], [2, 5e-324]]" in to_json(odd)
    again = from_json(to_json(odd), "m")
    assert isinstance(again, KMeansModel)
    assert [math.copysign(1, x) for x in again.fitted.centres[0]] == [1, -1, 1, 1]


def test_strings_of_any_kind_come_back() -> None:
    model = MODELS["kmeans"]
    names = ('é \u2028 \x00 " \\', "half a pair \ud800")
    odd = replace(model, data=replace(model.data, features=names))
    text = to_json(odd)
    assert text.encode()  # nothing that UTF-8 could not hold
    assert from_json(text, "m") == odd


def test_features_may_be_numbers() -> None:
    model = MODELS["kmeans"]
    numbered = replace(model, data=replace(model.data, features=(7, -3)))
    text = to_json(numbered)
    VALIDATOR.validate(json.loads(text))
    assert from_json(text, "m") == numbered


def test_a_number_that_is_not_finite_is_not_written() -> None:
    tree = agglomerative(distances=[1], linkage="single")
    with pytest.raises(NotFinite, match="cannot be written"):
        to_json(model_of(tree, cut=Cut(height=math.inf)))


def without(*path: str | int) -> Edit:
    def edit(top: Any) -> None:
        del at(top, path[:-1])[path[-1]]

    return edit


def put(value: Any, *path: str | int) -> Edit:
    def edit(top: Any) -> None:
        at(top, path[:-1])[path[-1]] = value

    return edit


def at(top: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        top = top[key]
    return top


OPTIONS = ("data", "reading", "options")
TEXT = (*OPTIONS, "text")
WEIGHING = ("data", "reading", "weighing")
FREQUENCIES = (*WEIGHING, "frequencies")
# Which model, what is done to it, and how the complaint begins.
BOTH_REFUSE: list[tuple[str, Edit, str]] = [
    ("kmeans", put("model", "format"), "this is no model file"),
    ("kmeans", without("format"), "this is no model file"),
    ("kmeans", put(2, "version"), "version: version 2 of model files; this program reads 1"),
    ("kmeans", put("1", "version"), "version: the string '1'; an integer"),
    ("kmeans", put(True, "version"), "version: true; an integer"),
    ("kmeans", without("version"), "the key 'version' is missing"),
    ("kmeans", put("em", "algorithm"), "algorithm: the string 'em'; one of kmeans, bisecting"),
    ("kmeans", put("bisecting", "algorithm"), "params: unknown key 'trials'"),
    ("kmeans", put(1, "extra"), "unknown key 'extra'; the keys are format, version"),
    ("kmeans", without("provenance"), "the key 'provenance' is missing"),
    ("kmeans", put([], "params"), "params: an array; an object is needed"),
    ("kmeans", put(1, "params", "K"), "params: unknown key 'K'; the keys are k, metric"),
    ("kmeans", without("params", "seed"), "params: the key 'seed' is missing"),
    ("kmeans", put(True, "params", "k"), "params.k: true; an integer from 1 to 2147483647"),
    ("kmeans", put(0, "params", "k"), "params.k: 0; an integer from 1"),
    ("kmeans", put(2**31, "params", "k"), "params.k: 2147483648; an integer from 1"),
    ("kmeans", put("manhattan", "params", "metric"), "params.metric: the string 'manhattan'"),
    ("kmeans", put(["cosine"], "params", "metric"), "params.metric: an array; one of"),
    ("kmeans", put("cosine", "params", "metric"), "fitted.cosine: null; a finite"),
    ("kmeans", put("first", "params", "start"), "params.start: the string 'first'; one of"),
    ("kmeans", put(-1, "params", "seed"), "params.seed: -1; an integer of at least 0"),
    ("kmeans", put(0, "params", "restarts"), "params.restarts: 0; an integer of at least 1"),
    ("kmeans", put(0, "params", "trials"), "params.trials: 0; an integer of at least 1"),
    ("kmeans", put("split it", "params", "empty"), "params.empty: the string 'split it'"),
    ("kmeans", put(-0.5, "params", "tolerance"), "params.tolerance: -0.5; a number of at least 0"),
    ("kmeans", put("0.5", "params", "tolerance"), "params.tolerance: the string '0.5'; a finite"),
    ("kmeans", put(2.5, "params", "limit"), "params.limit: 2.5; an integer of at least 1"),
    ("kmeans", put(False, "fitted", "rss"), "fitted.rss: false; a finite number"),
    ("kmeans", put(-1.0, "fitted", "mean_square"), "fitted.mean_square: -1.0; a number of at"),
    ("kmeans", put(1.0, "fitted", "cosine"), "fitted.cosine: a total cosine is known under"),
    ("kmeans", put(None, "fitted", "iterations"), "fitted.iterations: null; an integer"),
    ("kmeans", put("bored", "fitted", "stopped"), "fitted.stopped: the string 'bored'; one of"),
    ("kmeans", put(-1, "fitted", "best"), "fitted.best: -1; an integer from 0 to 1"),
    ("kmeans", put(2, "fitted", "sizes", 0), "fitted.sizes[0]: 2; a rational number"),
    ("kmeans", put("-2", "fitted", "sizes", 0), "fitted.sizes[0]: the string '-2'; a rational"),
    ("kmeans", put("2/0", "fitted", "sizes", 1), "fitted.sizes[1]: the string '2/0'; a rational"),
    ("kmeans", put("2.0", "fitted", "sizes", 1), "fitted.sizes[1]: the string '2.0'; a rational"),
    ("kmeans", put("02", "fitted", "sizes", 1), "fitted.sizes[1]: the string '02'; a rational"),
    ("kmeans", put("٢", "fitted", "sizes", 1), "fitted.sizes[1]: the string '٢'; a rational"),
    ("kmeans", put("9" * 5000, "fitted", "sizes", 1), "fitted.sizes[1]: the string '9999"),
    ("kmeans", put(-0.5, "fitted", "within", 2), "fitted.within[2]: -0.5; a number of at least 0"),
    ("kmeans", put([], "fitted", "centres"), "fitted.centres: 0 centres; params.k is 3"),
    ("kmeans", put(None, "fitted", "centres", 1), "fitted.centres[1]: null; an array of numbers"),
    ("kmeans", put("1", "fitted", "centres", 2, 0), "fitted.centres[2][0]: the string '1'; a fin"),
    ("kmeans", put(True, "fitted", "centres", 2, 1), "fitted.centres[2][1]: true; a finite"),
    ("kmeans", put([0, 1.5], "fitted", "centres", 2, 1), "fitted.centres[2][1]: an array; a fin"),
    ("kmeans", put([], "fitted", "runs"), "fitted.runs: 0 runs; params.restarts is 2"),
    ("kmeans", put(1, "fitted", "runs", 0, "k"), "fitted.runs[0]: unknown key 'k'"),
    ("kmeans", put("1", "fitted", "runs", 1, "rss"), "fitted.runs[1].rss: the string '1'"),
    ("kmeans", without("fitted", "trace", 0, "changed"), "fitted.trace[0]: the key 'changed'"),
    ("kmeans", put(0, "fitted", "trace", 0, "iteration"), "fitted.trace[0].iteration: 0; an int"),
    ("kmeans", put(-2, "fitted", "trace", 0, "rss_updated"), "fitted.trace[0].rss_updated: -2; a"),
    ("kmeans", put("table", "data", "kind"), "data.kind: the string 'table'; one of dense, spa"),
    ("kmeans", put("sparse", "data", "kind"), "fitted.centres[0][0]: "),
    ("kmeans", put("distances", "data", "kind"), "data: distances have no features"),
    ("kmeans", put(0, "data", "n"), "data.n: 0; an integer from 1"),
    ("kmeans", put(2**53 + 1, "data", "n"), "data.n: 9007199254740993; an integer from 1"),
    ("kmeans", put(-1, "data", "d"), "data.d: -1; an integer from 0"),
    ("kmeans", put("A" * 64, "data", "digest"), "data.digest: the string 'AAAA"),
    ("kmeans", put("0" * 63, "data", "digest"), "data.digest: the string '0000"),
    ("kmeans", put(None, "data", "digest"), "data.digest: null; a string"),
    ("kmeans", put("width", "data", "features"), "data.features: the string 'width'; an array"),
    ("kmeans", put(["a", 1], "data", "features"), "data.features[1]: 1; a string"),
    ("kmeans", put([1, "a"], "data", "features"), "data.features[1]: the string 'a'; an integer"),
    ("kmeans", put([1.5, 2], "data", "features"), "data.features[0]: 1.5; a string"),
    ("kmeans", put(["a", "a"], "data", "features"), "data.features[1]: the feature 'a' occurs tw"),
    ("kmeans", put([1, 2**63], "data", "features"), "data.features[1]: 9223372036854775808; an"),
    ("kmeans", put("csv", "data", "reading"), "data.reading: the string 'csv'; an object"),
    ("kmeans", without("data", "reading", "format"), "data.reading: the key 'format' is missing"),
    ("kmeans", put(1, "data", "reading", "format"), "data.reading.format: 1; a string"),
    ("kmeans", put(1, *OPTIONS, "sep"), "data.reading.options: unknown key 'sep'; the keys are"),
    ("kmeans", put(1, *OPTIONS, "header"), "data.reading.options.header: 1; true or false"),
    ("kmeans", put(2, *OPTIONS, "base"), "data.reading.options.base: 2; an integer from 0"),
    ("kmeans", put([1], *OPTIONS, "columns"), "data.reading.options.columns[0]: 1; a string"),
    (
        "kmeans",
        put({"documents": 6, "frequencies": [1, 1]}, *WEIGHING),
        "data.reading.weighing: frequencies of words belong to tf-idf",
    ),
    ("cosine", put(None, *WEIGHING), "data.reading.weighing: frequencies of"),
    ("cosine", put(0, *WEIGHING, "documents"), "data.reading.weighing.documents: 0; an integer"),
    ("cosine", put(0, *FREQUENCIES, 1), "data.reading.weighing.frequencies[1]: 0; an integer from"),
    ("cosine", put(0, *TEXT, "min_df"), "data.reading.options.text.min_df: 0; an integer from 1"),
    ("cosine", put("0", *TEXT, "min_df"), "data.reading.options.text: min_df is Fraction(0, 1)"),
    ("cosine", put("½", *TEXT, "min_df"), "data.reading.options.text.min_df: the string '½'; a"),
    ("cosine", put(0, *TEXT, "min_length"), "data.reading.options.text.min_length: 0; an integer"),
    ("cosine", without(*TEXT, "tfidf"), "data.reading.options.text: the key 'tfidf' is missing"),
    ("kmeans", put({}, "provenance", "kernels"), "provenance.kernels: an object; an array"),
    ("kmeans", put(None, "provenance", "refclust"), "provenance.refclust: null; a string"),
    ("kmeans", put(0.5, "provenance", "kernels", 0, "seconds"), "provenance.kernels[0]: unknown"),
    ("emptied", put(-1, "fitted", "runs", 0, "emptied", 0, "row"), "fitted.runs[0].emptied[0].row"),
    ("emptied", put("x", "fitted", "runs", 0, "emptied", 0, "policy"), "fitted.runs[0].emptied[0]"),
    ("cosine", put(None, "fitted", "cosine"), "fitted.cosine: null; a finite number"),
    ("cosine", put([1.0] * 4, "fitted", "centres", 0), "fitted.centres[0][0]: 1.0; an array"),
    ("cosine", put([0, 1, 2], "fitted", "centres", 0, 0), "fitted.centres[0][0]: an array of 3"),
    ("cosine", put("0", "fitted", "centres", 0, 0, 0), "fitted.centres[0][0][0]: the string '0'"),
    ("cosine", put(None, "fitted", "centres", 0, 0, 1), "fitted.centres[0][0][1]: null; a finite"),
    ("cosine", put(-1, "fitted", "centres", 0, 0, 0), "fitted.centres[0][0][0]: -1; an integer"),
    ("bisecting", put("best", "params", "by"), "params.by: the string 'best'; one of rss, size"),
    ("bisecting", without("fitted", "splits", 1, "rss"), "fitted.splits[1]: the key 'rss' is miss"),
    ("bisecting", put([[1, 2]], "fitted", "splits", 0, "centres"), "fitted.splits[0].centres: an"),
    ("bisecting", put([], "fitted", "splits", 0, "children"), "fitted.splits[0].children: an arra"),
    ("bisecting", put(1, "fitted", "splits", 0, "children", 0), "fitted.splits[0].children[0]: 1"),
    ("bisecting", put({}, "fitted", "splits", 0, "children", 0), "fitted.splits[0].children[0]: a"),
    (
        "bisecting",
        put({"split": 1, "cluster": 0}, "fitted", "splits", 0, "children", 0),
        "fitted.splits[0].children[0]: an object with one key",
    ),
    (
        "bisecting",
        put({"split": 0}, "fitted", "splits", 1, "children", 0),
        "fitted.splits[1].children[0].split: 0; an integer from 1 to 2",
    ),
    ("bisecting", put({"left": 1}, "fitted", "splits", 0, "children", 0), "fitted.splits[0].child"),
    ("tree", put("centroids", "params", "linkage"), "params.linkage: the string 'centroids'; one"),
    ("tree", put("given", "params", "metric"), "params.metric: given does not go with data.kind"),
    ("tree", put(2, "params", "cut"), "params.cut: 2; an object is needed"),
    ("tree", put({"k": 0}, "params", "cut"), "params.cut.k: 0; an integer from 1 to 6"),
    ("tree", put({"k": 2, "height": 1}, "params", "cut"), "params.cut: an object with one key"),
    ("tree", put({}, "params", "cut"), "params.cut: an object with one key"),
    ("tree", put({"height": "2"}, "params", "cut"), "params.cut.height: the string '2'; a finite"),
    ("tree", put([0, 1, 0.5], "fitted", "merges", 0), "fitted.merges[0]: an array of 3 items; 4"),
    (
        "tree",
        put([0, 1, 0.5, 2, 0], "fitted", "merges", 0),
        "fitted.merges[0]: an array of 5 items",
    ),
    ("tree", put(None, "fitted", "merges", 0, 2), "fitted.merges[0][2]: null; a finite number"),
    ("tree", put(1, "fitted", "merges", 0, 3), "fitted.merges[0][3]: 1; an integer from 2"),
    ("tree", put(-1, "fitted", "merges", 0, 0), "fitted.merges[0][0]: -1; an integer from 0 to 5"),
    ("tree", put(0.5, "fitted", "n"), "fitted: unknown key 'n'"),
    ("height", put("euclidean", "params", "metric"), "params.metric: euclidean does not go with"),
    ("height", put(2, "data", "d"), "data: distances have no features"),
    ("height", put([], "data", "features"), "data: distances have no features"),
]
# What one part says about another, and what JSON Schema calls equal, is beyond a schema.
ONLY_LOADER: list[tuple[str, Edit, str]] = [
    ("kmeans", put(1.0, "version"), "version: 1.0; an integer"),
    ("kmeans", put(3.0, "params", "k"), "params.k: 3.0; an integer"),
    ("kmeans", put(4, "params", "k"), "fitted.centres: 3 centres; params.k is 4"),
    ("kmeans", put(1, "params", "restarts"), "fitted.runs: 2 runs; params.restarts is 1"),
    ("dropped", put(1, "params", "k"), "fitted.centres: 2 centres; params.k is 1"),
    ("kmeans", put(2, "fitted", "best"), "fitted.best: 2; an integer from 0 to 1"),
    ("kmeans", put(0.75, "fitted", "rss"), "fitted.rss: 0.75; the best run, runs["),
    ("kmeans", put("limit", "fitted", "stopped"), "fitted.stopped: 'limit'; the best run, runs["),
    ("kmeans", put(99, "fitted", "iterations"), "fitted.iterations: 99; the best run, runs["),
    ("kmeans", put(10**400, "fitted", "rss"), "fitted.rss: a number of 401 digits; a number wit"),
    ("kmeans", put("2/4", "fitted", "sizes", 0), "fitted.sizes[0]: the string '2/4'; a rational"),
    ("kmeans", put("2/1", "fitted", "sizes", 0), "fitted.sizes[0]: the string '2/1'; a rational"),
    ("kmeans", without("fitted", "sizes", 0), "fitted.sizes: an array of 2 items; 3 are due"),
    ("kmeans", without("fitted", "within", 0), "fitted.within: an array of 2 numbers; 3 are due"),
    ("kmeans", without("fitted", "centres", 0), "fitted.centres: 2 centres; params.k is 3"),
    ("kmeans", without("fitted", "centres", 1, 0), "fitted.centres[1]: an array of 1 numbers; 2"),
    ("kmeans", put(2, "fitted", "trace", 0, "iteration"), "fitted.trace[0].iteration: iteration 2"),
    ("kmeans", put(7, "fitted", "trace", 0, "changed"), "fitted.trace[0].changed: 7; an integer"),
    ("kmeans", put(3, "data", "d"), "data.features: an array of 2 items; 3 are due"),
    ("emptied", put(6, "fitted", "runs", 0, "emptied", 0, "row"), "fitted.runs[0].emptied[0].row"),
    ("emptied", put(6, "fitted", "runs", 0, "emptied", 0, "cluster"), "fitted.runs[0].emptied[0]"),
    ("cosine", put(4, "fitted", "centres", 0, 0, 0), "fitted.centres[0][0][0]: 4; an integer from"),
    (
        "cosine",
        put([[1, 1.0], [0, 1.0]], "fitted", "centres", 0),
        "fitted.centres[0][1][0]: column",
    ),
    (
        "cosine",
        put([[1, 1.0], [1, 1.0]], "fitted", "centres", 0),
        "fitted.centres[0][1][0]: column",
    ),
    ("cosine", put([[1, 0.0]], "fitted", "centres", 0), "fitted.centres[0][0][1]: a zero; zeros"),
    ("cosine", put([], "fitted", "centres", 1), "fitted.centres[1]: the zero vector, which has no"),
    ("cosine", put([[1, -0.0]], "fitted", "centres", 1), "fitted.centres[1]: the zero vector"),
    ("without data", put(10**9, "data", "d"), "data.features: an array of 4 items"),
    ("cosine", put(6, *FREQUENCIES, 0), "data.reading.weighing.frequencies[0]: 6; an integer from"),
    ("cosine", without(*FREQUENCIES, 0), "data.reading.weighing.frequencies: an array of 3 items"),
    ("cosine", put("3/2", *TEXT, "max_df"), "data.reading.options.text: max_df is Fraction(3, 2)"),
    ("bisecting", put(3, "params", "k"), "fitted.centres: 4 centres; params.k is 3"),
    ("bisecting", without("fitted", "splits", 2), "fitted.splits: an array of 2 items; 3 are due"),
    ("bisecting", without("fitted", "centres", 2), "fitted.centres: 3 centres; params.k is 4"),
    ("bisecting", put([0.0], "fitted", "splits", 1, "centres", 1), "fitted.splits[1].centres[1]: "),
    ("tree", without("fitted", "merges", 4), "fitted.merges: an array of 4 items; 5 are due"),
    ("tree", put(7, "data", "n"), "fitted.merges: an array of 5 items; 6 are due"),
    ("tree", put(10**15, "data", "n"), "fitted.merges: an array of 5 items; 999999999999999 are"),
    ("tree", put({"k": 7}, "params", "cut"), "params.cut.k: 7; an integer from 1 to 6"),
    ("tree", put([1, 0, 0.5, 2], "fitted", "merges", 0), "fitted.merges[0]: clusters 1 and 0; the"),
    ("tree", put([0, 0, 0.5, 2], "fitted", "merges", 0), "fitted.merges[0]: clusters 0 and 0; the"),
    ("tree", put([0, 6, 0.5, 2], "fitted", "merges", 0), "fitted.merges[0][1]: 6; an integer from"),
    (
        "tree",
        put([0, 1, 0.5, 3], "fitted", "merges", 0),
        "fitted.merges[0][3]: 3; the two clusters",
    ),
    ("tree", put([0, 2, 0.5, 2], "fitted", "merges", 1), "fitted.merges[1][0]: cluster 0 is part"),
]


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize(
    ("name", "edit", "complaint", "valid"),
    [(*case, False) for case in BOTH_REFUSE] + [(*case, True) for case in ONLY_LOADER],
)
def test_what_is_wrong_is_refused_with_its_path(
    name: str, edit: Edit, complaint: str, valid: bool
) -> None:
    top = copy.deepcopy(document(name))
    edit(top)
    with pytest.raises(BadModel) as caught:
        from_json(json.dumps(top), "model.json")
    assert str(caught.value).startswith(f"model.json: {complaint}")
    assert "\n" not in str(caught.value)
    assert VALIDATOR.is_valid(top) is valid


@pytest.mark.spec("MODEL-TREE", "MODEL-LOAD")
@pytest.mark.parametrize(
    ("children", "complaint"),
    [
        # Four clusters: a chain to the left, one to the right and the balanced tree are trees.
        ([["s1", "c3"], ["s2", "c2"], ["c0", "c1"]], None),
        ([["c0", "s1"], ["c1", "s2"], ["c2", "c3"]], None),
        ([["s1", "s2"], ["c0", "c1"], ["c2", "c3"]], None),
        ([["s2", "s1"], ["c2", "c3"], ["c0", "c1"]], "splits[0].children[0]: the split 2; 1 is"),
        ([["s1", "s1"], ["c0", "c1"], ["c2", "c3"]], "splits[0].children[1]: the split 1; 2 is"),
        ([["s1", "c3"], ["s1", "c2"], ["c0", "c1"]], "splits[1].children[0]: the split 1; 2 is"),
        ([["c1", "s1"], ["c0", "s2"], ["c2", "c3"]], "splits[0].children[0]: the cluster 1; 0 is"),
        ([["c0", "c1"], ["s2", "c2"], ["c0", "c3"]], "splits[1]: no split leads here"),
        ([["s1", "c2"], ["c0", "c1"], ["c0", "c3"]], "splits[2]: no split leads here"),
    ],
)
def test_splits_must_be_a_tree(children: list[list[str]], complaint: str | None) -> None:
    top = document("bisecting")
    kinds = {"s": "split", "c": "cluster"}
    for split, pair in zip(top["fitted"]["splits"], children, strict=True):
        split["children"] = [{kinds[child[0]]: int(child[1:])} for child in pair]
    VALIDATOR.validate(top)
    if complaint is None:
        from_json(json.dumps(top), "model.json")
        return
    with pytest.raises(BadModel) as caught:
        from_json(json.dumps(top), "model.json")
    assert str(caught.value).startswith(f"model.json: fitted.{complaint}")


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"rss": ', '"rss": NaN, "was": ', "m: fitted: unknown key 'was'"),
        (
            '"mean_square": ',
            '"mean_square": NaN}}',
            "m:18: column 23: this is not JSON: extra",
        ),
        ('"tolerance": 0.25', '"tolerance": NaN', "m: params.tolerance: NaN is no finite number"),
        ('"tolerance": 0.25', '"tolerance": Infinity', "m: params.tolerance: Infinity is no fin"),
        ('"tolerance": 0.25', '"tolerance": -Infinity', "m: params.tolerance: -Infinity is no f"),
        ('"tolerance": 0.25', '"tolerance": 1e999', "m: params.tolerance: inf; a finite number"),
        ('"seed": 0', f'"seed": 1{"0" * 5000}', "m: params.seed: an integer of 5001 digits is to"),
        ('"seed": 0', '"seed": 0, "seed": 0', "m: params: the key 'seed' occurs twice"),
        ('"n": 6', '"n": 6, "n": 6', "m: data: the key 'n' occurs twice"),
        ('"version": 1', '"version": 1, "version": 1', "m: the key 'version' occurs twice"),
    ],
)
def test_what_json_allows_and_a_model_does_not(old: str, new: str, complaint: str) -> None:
    text = to_json(MODELS["kmeans"])
    assert old in text
    with pytest.raises(BadModel) as caught:
        from_json(text.replace(old, new, 1), "m")
    assert str(caught.value).startswith(complaint)


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "m:1: column 1: this is not JSON: expecting value; the file ends too early"),
        ("\n \n", "m:3: column 1: this is not JSON: expecting value; the file ends too early"),
        ("{} {}", "m:1: column 4: this is not JSON: extra data"),
        ("[" * 200_000, "m: nested too deeply"),
        ('{"a":' * 200_000, "m: nested too deeply"),
        ("[]", "m: an array; an object is needed"),
        ("null", "m: null; an object is needed"),
        ("NaN", "m: NaN is no finite number"),
        ("{}", "m: this is no model file; those begin with the format 'refclust-model'"),
    ],
)
def test_texts_that_are_no_model(text: str, complaint: str) -> None:
    with pytest.raises(BadModel) as caught:
        from_json(text, "m")
    assert str(caught.value) == complaint


@pytest.mark.spec("MODEL-LOAD")
def test_a_file_cut_off_anywhere_is_refused() -> None:
    text = to_json(MODELS["height"])
    for length in range(len(text) - 2):
        with pytest.raises(BadModel, match="this is not JSON"):
            from_json(text[:length], "m")


def test_a_short_file_cannot_ask_for_all_memory() -> None:
    for name, where in (("without data", "fitted.centres"), ("bisecting words", "fitted.splits")):
        top = document(name)
        top["data"].update(kind="sparse", d=10**8 // 3, features=None)
        top["fitted"]["centres"] = [[[0, 1.0]] for _ in top["fitted"]["centres"]]
        for split in top["fitted"].get("splits", []):
            split["centres"] = [[[0, 1.0]], [[1, 1.0]]]
        if name == "without data":
            top["data"]["d"] = 10**8
        with pytest.raises(BadModel, match=f"m: {where}: . centres of .* are allowed"):
            from_json(json.dumps(top), "m")


def test_numbers_written_by_others_are_read() -> None:
    top = document("kmeans")
    top["fitted"]["centres"][0] = [1, 10**30]
    model = from_json(json.dumps(top), "m")
    assert isinstance(model, KMeansModel)
    assert [type(x) for x in model.fitted.centres[0]] == [float, float]
    assert model.fitted.centres[0] == (1.0, 1e30)


@pytest.mark.spec("MODEL-TREE")
def test_a_tree_may_be_deep() -> None:
    k = 3000
    root: Split | int = 0
    for cluster in range(1, k):
        root = Split(((0.0,), (1.0,)), (root, cluster), 1.0, 0.5)
    fit = bisecting([[0], [1]], 2)
    deep = replace(
        fit,
        root=root,
        k=k,
        n=k,
        centres=((0.5,),) * k,
        sizes=(Fraction(1),) * k,
        within=(0.0,) * k,
    )
    model = model_of(deep)
    assert isinstance(model, BisectingModel)
    assert len(model.fitted.splits) == k - 1
    assert from_json(to_json(model), "m") == model


@pytest.mark.spec("MODEL-TREE")
def test_the_splits_of_a_fit_come_in_the_order_of_a_walk() -> None:
    leaf = ((0.0,), (1.0,))
    inner = Split(leaf, (Split(leaf, (0, 1), 3.0, 2.0), 2), 4.0, 3.0)
    root = Split(leaf, (inner, Split(leaf, (3, 4), 6.0, 5.0)), 9.0, 8.0)
    fit = bisecting([[0], [1]], 2)
    model = model_of(replace(fit, root=root))
    assert isinstance(model, BisectingModel)
    told = [
        (split.rss, *((child.kind, child.index) for child in split.children))
        for split in model.fitted.splits
    ]
    assert told == [
        (9.0, ("split", 1), ("split", 3)),
        (4.0, ("split", 2), ("cluster", 2)),
        (3.0, ("cluster", 0), ("cluster", 1)),
        (6.0, ("cluster", 3), ("cluster", 4)),
    ]


def test_a_model_of_merges_gives_back_its_tree() -> None:
    for cut in ({}, {"k": 3}, {"height": 0.7}):
        tree = agglomerative(FLOWERS, linkage="average", **cut)
        model = model_of(tree, data=FLOWERS, cut=Cut(**cut) if cut else None)
        assert isinstance(model, AgglomerativeModel)
        again = tree_of(model)
        assert (again.merges, again.labels) == (tree.merges, tree.labels)
        assert (again.linkage, again.metric, again.n) == ("average", "euclidean", 6)


def test_a_cut_is_found_again_or_asked_for() -> None:
    cut = model_of(agglomerative(FLOWERS, k=2), data=FLOWERS)
    assert isinstance(cut, AgglomerativeModel)
    assert cut.params.cut == Cut(k=2)
    # An inversion: at 1.8 three clusters are left, but not those after the first merge.
    inverted = Tree(4, (Merge(0, 1, 2.0, 2), Merge(2, 4, 1.5, 3), Merge(3, 5, 3.0, 4)))
    at_height = replace(inverted, labels=(0, 1, 2, 3))
    assert model_of(at_height).params.cut == Cut(k=4)  # type: ignore[union-attr]
    with pytest.raises(BadOption, match="the tree was cut at a height"):
        model_of(replace(inverted, labels=(0, 1, 1, 2)))


def test_a_tree_made_by_hand_has_a_model() -> None:
    model = model_of(Tree(2, (Merge(0, 1, 1.0, 2),)))
    assert model.provenance.requested == "none"
    assert from_json(to_json(model), "m") == model


def test_a_model_needs_what_belongs_to_it() -> None:
    fit = kmeans(FLOWERS, 2)
    with pytest.raises(DimensionMismatch, match="the data have 5 rows and 4 features; those of"):
        model_of(fit, data=WORDS)
    with pytest.raises(BadOption, match="a cut belongs to a tree of merges"):
        model_of(fit, cut=Cut(k=2))
    with pytest.raises(BadOption, match="needs the data of the fit"):
        model_of(agglomerative(FLOWERS))
    with pytest.raises(DimensionMismatch, match="the data have 5 rows; those of the tree were 6"):
        model_of(agglomerative(FLOWERS), data=WORDS)


def test_given_distances_may_have_a_digest() -> None:
    square = [[0, 1], [1, 0]]
    data = dataset(square)
    model = model_of(agglomerative(distances=square, linkage="single"), data=data)
    assert (model.data.kind, model.data.digest) == ("distances", data.digest())
    assert from_json(to_json(model), "m") == model


def test_files(tmp_path: Path) -> None:
    path = str(tmp_path / "model.json")
    save_model(path, MODELS["kmeans"])
    assert load_model(path) == MODELS["kmeans"]
    with pytest.raises(FileExists, match="exists already"):
        save_model(path, MODELS["cosine"])
    assert load_model(path) == MODELS["kmeans"]
    save_model(path, MODELS["cosine"], force=True)
    assert load_model(path) == MODELS["cosine"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]
    with pytest.raises(FileNotReadable, match="cannot write"):
        save_model(str(tmp_path / "no" / "model.json"), MODELS["kmeans"])
    with pytest.raises(FileNotReadable, match="cannot read"):
        load_model(str(tmp_path / "none.json"))
    (tmp_path / "half.json").write_text('{"format": ', encoding="utf-8")
    with pytest.raises(BadModel, match=r"half\.json:1: column 12: this is not JSON"):
        load_model(str(tmp_path / "half.json"))


def test_packed_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json.gz", tmp_path / "other.json.GZ"
    for path in (one, other):
        save_model(str(path), MODELS["kmeans"])
        assert load_model(str(path)) == MODELS["kmeans"]
    assert one.read_bytes() == other.read_bytes()
    assert gzip.decompress(one.read_bytes()) == to_json(MODELS["kmeans"]).encode()


def test_other_documents_have_their_own_error() -> None:
    with pytest.raises(BadCheckpoint, match="c: progress: null; an object is needed"):
        parse('{"progress": null}', "c", error=BadCheckpoint).entry("progress").mapping()
    with pytest.raises(BadCheckpoint, match="not JSON"):
        parse("{", "c", error=BadCheckpoint)


def test_names_of_a_document_are_shown_in_messages() -> None:
    with pytest.raises(BadModel) as caught:
        parse('{"a\\u00adb": {"\\u001b": 3}}', "m.json").entry("a\xadb").entry("\x1b").wrong(
            "a text"
        )
    assert str(caught.value) == r"m.json: a\xadb.\x1b: 3; a text is needed"
