"""The golden vectors of agglomerative clustering, judged through the formulas of chapter 20."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from refclust.errors import RefclustError
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
