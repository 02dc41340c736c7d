"""The golden vectors of agglomerative clustering, judged through the formulas of chapter 20."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from refclust.errors import (
    BadOption,
    EmptyInput,
    KOutOfRange,
    NotSymmetric,
    RefclustError,
)
from refclust.formulas import hierarchical as formulas
from refclust.formulas.vectors import distance, exact, squared_distance
from refclust.numbers.real import Real
from refclust.vectors import answers
from refclust.vectors.runners.numbers import number
from refclust.vectors.runners.products import vector

FOLDER: Final = Path(__file__).parents[2] / "spec/vectors/20-hierarchical"
METRICS: Final = {
    "euclidean": distance,
    "sqeuclidean": squared_distance,
    "cosine": formulas.cosine_distance,
}


def cases(name: str) -> list[Any]:
    content = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"]) for case in content["cases"]]


def matrix_of(given: dict[str, Any]) -> list[list[float]]:
    """Distances of rows, or the given ones, as doubles; squares where the linkage takes them."""
    squares = given["linkage"] in formulas.SQUARES
    if "rows" in given:
        rows = [vector(row) for row in given["rows"]]
        measure = squared_distance if squares else METRICS[given.get("metric", "euclidean")]
        return [[double(measure(x, y)) if i != j else 0.0 for j, y in enumerate(rows)]
                for i, x in enumerate(rows)]  # fmt: skip
    entries = given["distances"]
    if entries and isinstance(entries[0], list):
        whole = [[double(number(entry)) for entry in row] for row in entries]
    else:
        n = round((1 + (1 + 8 * len(entries)) ** 0.5) / 2)
        values, whole = iter(entries), [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1, n):
                whole[i][j] = whole[j][i] = double(number(next(values)))
    known = [[double(entry) for entry in row] for row in formulas.given_distances(whole)]
    return [[x * x for x in row] for row in known] if squares else known


def double(value: Any) -> float:
    return float(Real(exact(value)))


@pytest.mark.spec(
    "HC-AGG", "HC-TIE", "HC-LW", "HC-CUT", "HC-CUTH", "HC-COPH", "HC-LEAF", "HC-INV", "HC-GIVEN",
)  # fmt: skip
@pytest.mark.parametrize("case", cases("trees.json"))
def test_trees(case: dict[str, Any]) -> None:
    given = case["input"]
    w, linkage = matrix_of(given), given["linkage"]
    n = len(w)
    table = formulas.merges(w, partial(formulas.in_floats, linkage))
    if linkage in formulas.SQUARES:
        table = [(a, b, h**0.5, size) for a, b, h, size in table]
    for key, expected in case["expect"].items():
        assert answers.passes(expected, answer(table, n, key)), key


def answer(table: list[formulas.Merge], n: int, key: str) -> Any:
    name, _, option = key.rstrip("]").partition("[")
    value = option.partition("=")[2]
    if name == "merges":
        return [[Fraction(a), Fraction(b), h, Fraction(size)] for a, b, h, size in table]
    if name == "cophenetic":
        return formulas.cophenetic(table, n)
    if name == "inversions":
        return Fraction(formulas.inversions(table, n))
    found = {
        "cut": lambda: formulas.cut(table, n, int(value)),
        "cut_height": lambda: formulas.cut_at(table, n, float(Fraction(value))),
        "leaf_order": lambda: formulas.leaf_order(table, n),
    }[name]()
    return [Fraction(number) for number in found]


@pytest.mark.spec("DIST-L2", "VEC-SQDIST", "DIST-COS", "KER-PAIR")
@pytest.mark.parametrize("case", cases("distances.json"))
def test_distances(case: dict[str, Any]) -> None:
    rows = [vector(row) for row in case["input"]["rows"]]
    measure = METRICS[case["input"]["metric"]]
    expected = case["expect"].get("distances", case["expect"])
    pairs = [(x, y) for i, x in enumerate(rows) for y in rows[i + 1 :]]
    if "error" in expected:
        with pytest.raises(RefclustError) as refused:
            [double(measure(x, y)) for x, y in pairs]
        assert refused.value.code == expected["error"]
        return
    assert answers.passes(expected, [double(measure(x, y)) for x, y in pairs])


# By hand.


@pytest.mark.spec("HC-GIVEN")
@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        ([[0, 1], [1]], "is square"),
        ([[0, 1, 2], [1, 0, 2]], "is square"),
        ([[0, 1], [2, 0]], r"\(0, 1\) is no distance: 1"),
        ([[0, 1, -0.5], [1, 0, 1], [-0.5, 1, 0]], r"\(0, 2\) is no distance: -0.5"),
        ([[0, 1], [1, 3]], r"\(1, 0\) is no distance: 1"),
        ([[3]], r"\(0, 0\) is no distance: 3"),
    ],
)
def test_matrices_of_no_distances(matrix: list[list[float]], told: str) -> None:
    with pytest.raises(NotSymmetric, match=told):
        formulas.given_distances(matrix)


@pytest.mark.spec("HC-GIVEN", "HC-AGG")
def test_no_rows_have_no_tree() -> None:
    with pytest.raises(EmptyInput):
        formulas.given_distances([])
    with pytest.raises(EmptyInput):
        formulas.merges([], partial(formulas.in_floats, "single"))


@pytest.mark.spec("HC-LW")
def test_the_centroid_of_two_and_four_rows() -> None:
    # Two rows at 0 and four at 6 have their mean at 4; the other cluster is one row at 10.
    assert formulas.lance_williams("centroid", 2, 4, 1, 100, 16, 36) == 36
    rows = [(0,), (0,), (6,), (6,), (6,), (6,), (10,)]
    assert formulas.centroid(rows, (0, 1, 2, 3, 4, 5), (6,)) ** 2 == 36


@pytest.mark.spec("HC-CUT")
@pytest.mark.parametrize("k", [-1, 0, 4])
def test_cuts_into_too_few_or_too_many(k: int) -> None:
    with pytest.raises(KOutOfRange):
        formulas.cut([(0, 2, 1, 2), (1, 3, 4, 3)], 3, k)


@pytest.mark.spec("HC-CUTH")
def test_a_merge_above_a_higher_one_is_as_high() -> None:
    # The merge of rows 0 and 1 is above the cut, so all merges that hold it are, at any height.
    second = [(0, 1, 5, 2), (3, 4, 1, 2), (2, 5, 4, 3), (6, 7, 3, 5)]
    assert formulas.cut_at(second, 5, 4.5) == [0, 1, 2, 3, 3]
    assert formulas.cut_at(second, 5, 5) == [0, 0, 0, 0, 0]
    first = [(0, 1, 5, 2), (2, 3, 1, 2), (6, 7, 4, 4), (4, 8, 3, 5), (5, 9, 9, 6)]
    assert formulas.cut_at(first, 6, 4.5) == [0, 1, 2, 2, 3, 4]
    assert formulas.cut_at(first, 6, 5) == [0, 0, 0, 0, 0, 1]


@pytest.mark.spec("HC-CUTH")
def test_heights_are_numbers_of_any_size() -> None:
    with pytest.raises(BadOption):
        formulas.cut_at([(0, 1, 1, 2)], 2, float("nan"))
    assert formulas.cut_at([(0, 1, 1, 2)], 2, 10**400) == [0, 0]
