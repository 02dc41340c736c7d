"""The golden vectors of k-means, judged through the formulas of chapter 10."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from refclust.errors import EmptyCluster, KOutOfRange, ZeroVector
from refclust.formulas import kmeans as formulas
from refclust.formulas.vectors import exact
from refclust.numbers.real import Real
from refclust.vectors import answers
from refclust.vectors.runners.clusters import STOPPED
from tests.cluster import witness
from tests.formulas.golden import names, parted

FOLDER: Final = Path(__file__).parents[2] / "spec/vectors/10-kmeans"


def cases(subject: str) -> list[Any]:
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.iterdir())]
    return [
        pytest.param(case, id=case["id"])
        for content in contents
        if content["subject"] == subject
        for case in content["cases"]
    ]


def at_the_door(case: dict[str, Any]) -> str | None:
    """Why a case is not judged here."""
    return "the door refuses it, before any formula is asked" if "error" in case["expect"] else None


FITS, NO_FITS = parted(cases("cluster.kmeans"), at_the_door)
STARTS, NO_STARTS = parted(cases("cluster.seeding"), at_the_door)
LEAVES, NO_LEAVES = parted(cases("cluster.bisecting"), at_the_door)


def double(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


def rows_of(given: list[Any], beside: list[Any] = []) -> list[witness.Row]:  # noqa: B006
    """Dense rows; sparse ones get their zeros, for the columns of all rows and those beside."""
    sparse = [dict(row["sparse"]) for row in [*given, *beside] if isinstance(row, dict)]
    columns = sorted({key for row in sparse for key in row})
    return [
        tuple(double(dict(row["sparse"]).get(key, "0")) for key in columns)
        if isinstance(row, dict)
        else tuple(map(double, row))
        for row in given
    ]


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    readings: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(("seed", "restarts", "trials", "limit"), int),
        **dict.fromkeys(("metric", "empty"), str),
        "tolerance": double,
        "weights": lambda texts: list(map(double, texts)),
    }
    return {name: read(given[name]) for name, read in readings.items() if name in given}


class Fit:
    """A whole fit by the formulas alone."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.rows, options, start = rows_of(given["rows"]), options_of(given), given["start"]
        self.weights = options.get("weights", [1.0] * len(self.rows))
        self.cosine = options.get("metric") == "cosine"
        if isinstance(start, dict):
            options["centres"] = self._given(start, given["rows"])
        else:
            options["start"] = start
        k = int(given["k"]) if "k" in given else len(options["centres"])
        self.best, self.runs = witness.fit(self.rows, k, **options)
        if self.cosine:
            self.rows = [witness.unit(row) for row in self.rows]

    def _given(self, start: dict[str, Any], rows: list[Any]) -> list[witness.Row]:
        if "centres" in start:
            return rows_of(start["centres"], rows)
        names = sorted(set(start["labels"]))
        own = [names.index(label) for label in start["labels"]]
        seen = [witness.unit(row) for row in self.rows] if self.cosine else self.rows
        return [witness.mean(seen, own, self.weights, k) for k in range(len(names))]


def whole(numbers: Any) -> list[Fraction]:
    return [Fraction(number) for number in numbers]


def sizes(fit: Fit) -> list[Fraction]:
    best = fit.best
    return [witness.weight_of(best.labels, fit.weights, k) for k in range(len(best.centres))]


KEYS: Final[Mapping[str, Callable[[Fit], Any]]] = {
    "labels": lambda fit: whole(fit.best.labels),
    "centres": lambda fit: fit.best.centres,
    "rss": lambda fit: fit.best.rss,
    "exact_rss": lambda fit: fit.best.rss,
    "mean_square": lambda fit: formulas.mean_squared_distance(
        fit.rows, fit.best.labels, fit.best.centres, fit.weights
    ),
    "cosine": lambda fit: fit.best.cosine if fit.cosine else answers.Missing(),
    "sizes": sizes,
    "within": lambda fit: witness.within(fit.rows, fit.best.labels, fit.weights, fit.best.centres),
    "iterations": lambda fit: Fraction(fit.best.iterations),
    "stopped": lambda fit: Fraction(STOPPED.index(fit.best.stopped)),
    "start": lambda fit: fit.best.start,
    "best": lambda fit: Fraction(fit.runs.index(fit.best)),
    "emptied": lambda fit: [
        whole((t, k, -1 if row is None else row)) for t, k, row in fit.best.emptied
    ],
    "runs.rss": lambda fit: [run.rss for run in fit.runs],
    "runs.iterations": lambda fit: whole(run.iterations for run in fit.runs),
    "runs.stopped": lambda fit: whole(STOPPED.index(run.stopped) for run in fit.runs),
    "trace.changed": lambda fit: whole(fit.best.changed),
    "trace.centres": lambda fit: fit.best.moves,
    "trace.labels": lambda fit: [whole(labels) for labels in fit.best.partitions],
    "trace.rss": lambda fit: fit.best.sums[::2],
    "trace.rss_updated": lambda fit: [
        answers.Missing() if fit.cosine else part for part in fit.best.sums[1::2]
    ],
}


@pytest.mark.spec(
    "KM-ALG", "KM-ASSIGN", "KM-COSASSIGN", "KM-COSROWS", "KM-CENTROID", "KM-UPDATE", "KM-EMPTY",
    "KM-RSS", "KM-AVGSQ", "KM-COSOBJ", "KM-STOP", "KM-RESTART", "KM-INIT",
)  # fmt: skip
@pytest.mark.parametrize("case", FITS)
def test_fits(case: dict[str, Any]) -> None:
    expect = case["expect"]
    fit = Fit(case["input"])
    for key in expect:
        answer = rounded_answer(expect[key], KEYS[key](fit))
        assert answers.passes(expect[key], answer), key


@pytest.mark.spec("KM-INIT", "KM-PP", "KM-GREEDY", "KM-FARTHEST", "KM-RANDOM", "KM-BOX", "KM-DRAW")
@pytest.mark.parametrize("case", STARTS)
def test_starts(case: dict[str, Any]) -> None:
    given = case["input"]
    rows, options, rng = rows_of(given["rows"]), options_of(given), Random(int(given["seed"]))
    if options.get("metric") == "cosine":
        rows = [witness.unit(row) for row in rows]
    weights = options.get("weights", [1.0] * len(rows))
    starts = [
        witness.seeds(rows, weights, int(given["k"]), given["start"], rng, options.get("trials"))
        for _ in range(options.get("restarts", 1))
    ]
    assert answers.passes(case["expect"]["starts"], starts)


@pytest.mark.spec("HC-BISECT")
@pytest.mark.parametrize("case", LEAVES)
def test_leaves(case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    rows, options = rows_of(given["rows"]), options_of(given)
    weights, cosine = options.get("weights", [1.0] * len(rows)), options.get("metric") == "cosine"
    rows = [witness.unit(row) for row in rows] if cosine else rows
    rng = Random(int(given.get("seed", 0)))

    def halves(own: list[int]) -> tuple[list[int], list[Any]]:
        x, w = [rows[i] for i in own], [weights[i] for i in own]
        metric = "cosine" if cosine else "euclidean"
        runs = [
            witness.run(x, witness.seeds(x, w, 2, given["start"], rng, options.get("trials")), w,
                        metric=metric)
            for _ in range(options.get("restarts", 1))
        ]  # fmt: skip
        best = runs[formulas.best_run([-run.cosine if cosine else run.rss for run in runs])]
        return best.labels, best.centres

    leaves = formulas.bisecting(rows, weights, int(given["k"]), halves, given.get("by", "rss"))
    labels = [next(k for k, own in enumerate(leaves) if i in own) for i in range(len(rows))]
    found: dict[str, Any] = {
        "labels": whole(labels),
        "sizes": [witness.weight_of(labels, weights, j) for j in range(len(leaves))],
    }
    means = [witness.mean(rows, labels, weights, j) for j in range(len(leaves))]
    found |= {"centres": means, "rss": witness.rss(rows, labels, weights, means)}
    for key in expect:
        assert answers.passes(expect[key], rounded_answer(expect[key], found[key])), key


def test_every_golden_case_is_judged_or_has_its_reason() -> None:
    judged = [param.id for param in (*FITS, *STARTS, *LEAVES)]
    reasons = {**NO_FITS, **NO_STARTS, **NO_LEAVES}
    assert sorted([*judged, *reasons]) == sorted(names("10-kmeans"))
    assert (len(judged), len(reasons)) == (375, 35)


def rounded_answer(expected: Any, value: Any) -> Any:
    """Exact numbers as they are where one is due, else the nearest double."""
    if isinstance(value, list | tuple):
        inner = expected["list"] if isinstance(expected, dict) else expected
        return [rounded_answer(due, part) for due, part in zip(inner, value, strict=True)]
    if isinstance(value, answers.Missing) or (isinstance(value, Fraction) and "exact" in expected):
        return value
    return float(Real(exact(value)))


@pytest.mark.spec("KM-ASSIGN", "KM-COSASSIGN", "KM-UPDATE", "KM-RSS", "REP-VEC")
def test_sparse_rows_are_rows_with_zeros() -> None:
    sparse: list[dict[str, float]] = [{"a": 3, "b": 4}, {"b": 2.5}, {"a": 1, "c": 0.1}]
    dense = [[row.get(key, 0) for key in "abc"] for row in sparse]
    centres: list[dict[str, float]] = [{"b": 1}, {"a": 2, "c": 1}]
    known = [[0, 1, 0], [2, 0, 1]]
    for rule in (formulas.nearest, formulas.nearest_by_cosine):
        assert [rule(x, centres) for x in sparse] == [rule(x, known) for x in dense]
    labels, weights = [0, 0, 1], [1, 0.1, 3]
    assert formulas.rss(sparse, labels, centres, weights) == formulas.rss(
        dense, labels, known, weights
    )
    means = formulas.update(sparse, labels, weights, 2)
    full = [tuple(mean.get(key, 0) for key in "abc") for mean in means]
    assert full == formulas.update(dense, labels, weights, 2)


def leaves_of(
    rows: list[int], weights: list[float], k: int, by: str, splits: dict[tuple[int, ...], list[int]]
) -> list[list[int]]:
    """The leaves where each split gives stated labels, once; any other split is a mistake."""
    x, left = [[row] for row in rows], dict(splits)

    def halves(own: list[int]) -> tuple[list[int], list[Any]]:
        labels = left.pop(tuple(own))
        return labels, formulas.update([x[i] for i in own], labels, [1] * len(own), 2)

    found = formulas.bisecting(x, weights, k, halves, by)
    assert left == {}
    return found


@pytest.mark.spec("HC-BISECT")
def test_weights_choose_the_leaf_that_is_split() -> None:
    # Sums of squares 8 and 200; without the weights 8 and 2.
    splits = {(0, 1, 2, 3): [0, 0, 1, 1], (2, 3): [0, 1]}
    found = leaves_of([0, 4, 100, 102], [1, 1, 100, 100], 3, "rss", splits)
    assert found == [[0, 1], [2], [3]]
    by_size = {(0, 1, 2, 3): [0, 0, 0, 1], (0, 1, 2): [0, 0, 1]}
    assert leaves_of([0, 4, 8, 50], [1, 1, 1, 2.5], 3, "size", by_size) == [[0, 1], [2], [3]]


@pytest.mark.spec("HC-BISECT")
@pytest.mark.parametrize("by", ["size", "rss"])
def test_equal_rows_are_not_split(by: str) -> None:
    # The heavier leaf holds equal rows, and one that differs but has no weight.
    splits = {(0, 1, 2, 3, 4): [0, 0, 0, 1, 1], (3, 4): [0, 1]}
    for odd in (0, 5):
        found = leaves_of([0, 0, odd, 10, 11], [5, 5, 0, 1, 1], 3, by, splits)
        assert found == [[0, 1, 2], [3], [4]]
    with pytest.raises(KOutOfRange):
        leaves_of([7, 7], [1, 1], 2, by, {})
    with pytest.raises(KOutOfRange):
        leaves_of([7, 9], [1, 0], 2, by, {})


@pytest.mark.spec("HC-BISECT")
@pytest.mark.parametrize("by", ["size", "rss"])
def test_a_leaf_with_an_empty_side_is_left_whole(by: str) -> None:
    splits = {(0, 1, 2, 3): [0, 0, 1, 1], (0, 1): [0, 0], (2, 3): [0, 1]}
    found = leaves_of([0, 4, 100, 101], [2, 2, 1, 1], 3, by, splits)
    assert found == [[0, 1], [2], [3]]


@pytest.mark.spec("KM-COSROWS")
def test_the_zero_vector_has_no_direction() -> None:
    for row in ([0, 0.0], {}, {"a": 0}):
        with pytest.raises(ZeroVector):
            formulas.direction(row)


@pytest.mark.spec("KM-BOX")
def test_rows_without_weight_are_no_part_of_the_box() -> None:
    x, w = [[-100, 7], [0, 1], [8, 3], [5, 900]], [0, 1, 0.5, 0.0]
    assert formulas.in_box(x, w, [0.25, 0.5]) == (Fraction(2), Fraction(2))
    assert formulas.in_box(x, w, [0, 0]) == (Fraction(0), Fraction(1))


@pytest.mark.spec("KM-INIT")
def test_a_start_takes_the_first_numbers_of_its_stream() -> None:
    x, w = [[0], [1], [5], [9]], [1, 1, 1, 1]
    assert formulas.initial_centres("farthest", x, w, 2, [0, 0.75]) == [[0], [9]]
    assert formulas.initial_centres("farthest", x, w, 2, [0.75, 0]) == [[9], [0]]
    for start in ("random", "k-means++"):
        assert formulas.initial_centres(start, x, w, 1, [0.25, 0, 0.75]) == [[1]]


@pytest.mark.spec("KM-EMPTY")
def test_empty_clusters_are_refused_where_that_is_asked_for() -> None:
    x, w, c = [[0], [1], [6]], [1, 1, 1], [[0], [9]]
    for policy, labels, empty in (("error", [0, 0, 0], [1]), ("drop", [-1] * 3, [0, 1])):
        with pytest.raises(EmptyCluster, match=re.escape(f"{empty}")):
            formulas.refilled(x, labels, c, w, empty, policy)
    assert formulas.refilled(x, [0, 0, 1], c, w, [], "error") == {}
    assert formulas.refilled(x, [0, 0, 0], c, w, [1], "drop") == {}
    assert formulas.refilled(x, [0, 0, 0], c, w, [1], "keep") == {}


@pytest.mark.spec("KM-RSS", "KM-CENTROID", "KM-DRAW", "REP-VEC")
def test_floats_are_the_rationals_they_are() -> None:
    tenth = Fraction(0.1)
    found = formulas.rss([[0.1]], [0], [[0.3]], [0.1])
    assert found == tenth * (tenth - Fraction(0.3)) ** 2
    assert formulas.centre([[0.1], [0.2]], [0.1, 0.7])[0] == (
        (tenth * tenth + Fraction(0.7) * Fraction(0.2)) / (tenth + Fraction(0.7))
    )
    # In floats 0.1 + 0.2 is above 0.3, which would move the border of the draw.
    assert formulas.drawn([0.1, 0.2, 0.3], 0.5) == 2 - (tenth + Fraction(0.2) > (
        Fraction(1, 2) * (tenth + Fraction(0.2) + Fraction(0.3))))  # fmt: skip
