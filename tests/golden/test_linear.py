"""The golden vectors of chapters 05 (log-space) and 08 (vectors), run against the reference."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from refclust.data import vectors
from refclust.errors import RefclustError
from refclust.numbers import logspace

FOLDER = Path(__file__).parents[2] / "spec" / "vectors"
LINEAR = "08-vectors/linear.json"
LOGSPACE = "05-numbers/logspace.json"

Compute = Callable[[dict[str, Any]], Any]


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((FOLDER / name).read_text("utf-8"))["cases"]
    return cases


def number(text: Any) -> Any:
    """A number of the file; what is not a string is passed on to be refused."""
    if not isinstance(text, str):
        return text
    if "0x" in text:
        return float.fromhex(text)
    return float(text) if text in ("nan", "inf", "-inf") else Fraction(text)


def vector(given: Any) -> Any:
    if isinstance(given, dict):
        return {key: number(value) for key, value in given["sparse"]}
    return [number(value) for value in given]


def pair(function: Callable[[Any, Any], float]) -> Compute:
    return lambda given: function(vector(given["x"]), vector(given["y"]))


def rows(function: Callable[[Any], Any]) -> Compute:
    return lambda given: function([vector(row) for row in given["rows"]])


def weights(function: Callable[[list[float]], Any]) -> Compute:
    return lambda given: function([number(text) for text in given["log_weights"]])


KEYS: dict[str, Compute] = {
    "dot": pair(vectors.dot),
    "norm": lambda given: vectors.norm(vector(given["x"])),
    "squared_distance": pair(vectors.squared_distance),
    "distance": pair(vectors.distance),
    "cosine": pair(vectors.cosine),
    "distance_matrix": rows(vectors.distance_matrix),
    "similarity_matrix": rows(vectors.similarity_matrix),
    "logsumexp": weights(logspace.logsumexp),
    "log_total": weights(lambda xs: logspace.normalise(xs)[1]),
    "log_shares": weights(lambda xs: logspace.normalise(xs)[0]),
    "log1mexp": lambda given: logspace.log1mexp(number(given["x"])),
    "xlogy": lambda given: logspace.xlogy(number(given["x"]), number(given["y"])),
}


def passes(answer: Any, value: dict[str, Any]) -> bool:
    """The pass rule of the two files."""
    match value:
        case {"list": items}:
            return len(answer) == len(items) and all(map(passes, answer, items))
        case {"infinite": sign}:
            return bool(answer == float(f"{sign}inf"))
        case {"decimal": decimal, "bound": bound}:
            return math.isfinite(answer) and abs(Fraction(answer) - Fraction(decimal)) <= Fraction(
                bound
            ) + Fraction(value["radius"])
        case {"binary64": double}:
            return bool(answer == float.fromhex(double))
        case _:
            return bool(answer == Fraction(value["exact"]))


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c["id"]) for name in (LINEAR, LOGSPACE) for c in load(name)]
)
def test_golden(case: dict[str, Any]) -> None:
    expect = case["expect"]
    if "error" in expect:
        keys = (
            ["distance_matrix", "similarity_matrix"]
            if "rows" in case["input"]
            else ["dot", "squared_distance", "distance", "cosine"]
        )
        expect = dict.fromkeys(keys, expect)
    for key, value in expect.items():
        if "error" in value:
            with pytest.raises(RefclustError) as caught:
                KEYS[key](case["input"])
            assert caught.value.code == value["error"]
        else:
            assert passes(KEYS[key](case["input"]), value), key


def test_the_generator_makes_these_files() -> None:
    # By name: the generators are no part of any package that a type checker knows.
    generator: Any = importlib.import_module("spec.generators.vectors_linear")
    for name, text in generator.texts().items():
        assert (FOLDER / name).read_text("utf-8") == text
