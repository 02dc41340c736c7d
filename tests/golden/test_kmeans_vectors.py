"""The golden vectors of k-means say what they should, and careless programs do not meet them.

That refclust meets them is tested with all other vectors.
"""

from __future__ import annotations

import importlib
import itertools
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.errors import BadVectorFile
from refclust.numbers.sampling import stream
from refclust.vectors import verify
from refclust.vectors.runners import clusters as cluster_runners
from refclust.vectors.verify import GoldenCase

SPEC = Path(__file__).parents[2] / "spec"
FILES = {file.name: file for file in verify.load("10-kmeans/")}
# A checkpoint is about interrupting a fit, which no table of numbers shows; sums in parts have
# vectors of their own.
WITHOUT_NUMBERS = {"KM-CKPT", "KM-WORKED", "KER-MASS"}


def cases(name: str) -> tuple[GoldenCase, ...]:
    return FILES[f"10-kmeans/{name}.json"].cases


def case(name: str) -> GoldenCase:
    return next(one for file in FILES.values() for one in file.cases if one.id == f"km-{name}")


def number(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


def value(expected: dict[str, Any]) -> Any:
    """An expectation as plain numbers."""
    if "list" in expected:
        return [value(item) for item in expected["list"]]
    if "binary64" in expected:
        return float.fromhex(expected["binary64"])
    exact = Fraction(expected["exact"])
    return exact.numerator / exact.denominator


def rows_of(given: Sequence[Sequence[str]]) -> list[list[float]]:
    return [[number(text) for text in row] for row in given]


@pytest.mark.parametrize("name", ["ties", "empty", "cosine", "seeding", "bisecting"])
def test_the_loopback_meets_every_value(name: str) -> None:
    report = verify.verify(backend="loopback", only=f"10-kmeans/{name}.json")
    assert [file.failures for file in report.files] == [()]
    assert report.ok


@pytest.mark.parametrize("subject", ["kmeans", "seeding", "bisecting"])
def test_a_key_that_does_not_exist_is_refused(subject: str) -> None:
    with pytest.raises(BadVectorFile, match="'rsss'"):
        getattr(cluster_runners, subject)(case("line").input, "rsss", Session("reference"))


def test_every_clause_of_the_chapter_that_has_numbers_is_cited() -> None:
    text = (SPEC / "10-kmeans.md").read_text(encoding="utf-8")
    due = set(re.findall(r"^## (\S+) .*\{(?:normative|identity)\}$", text, re.MULTILINE))
    cited = {one for file in FILES.values() for each in file.cases for one in each.formulas}
    assert due - cited == WITHOUT_NUMBERS


@pytest.mark.parametrize("name", ["worked", "ties", "seeding"])
def test_the_generator_makes_its_files(name: str) -> None:
    made = {
        file.path: file
        for file in importlib.import_module("spec.generators.make_kmeans").some(name)
    }
    assert made
    for path, file in made.items():
        assert (SPEC / "vectors" / path).read_text(encoding="utf-8") == file.text()


@pytest.mark.spec("PROP-KM-3")
def test_the_start_decides() -> None:
    good, bad = (value(case(f"rectangle-{name}").expect["rss"]) for name in ("good", "bad"))
    assert (good, bad) == (1, 16)


@pytest.mark.spec("PROP-KM-1")
def test_the_sums_never_rise() -> None:
    checked = 0
    for file in FILES.values():
        for one in file.cases:
            if "trace.rss_updated" in one.expect and one.input.get("metric") != "cosine":
                before, after = (value(one.expect[f"trace.rss{end}"]) for end in ("", "_updated"))
                both = [x for pair in itertools.zip_longest(before, after) for x in pair]
                kept = [x for x in both if x is not None]
                assert kept == sorted(kept, reverse=True), one.id
                checked += 1
    assert checked > 100


@pytest.mark.spec("PROP-KM-W")
def test_weights_and_copies_expect_the_same() -> None:
    pairs = 0
    for one in cases("weights"):
        if one.id.startswith("km-copies-"):
            twin = case(one.id.removeprefix("km-").replace("copies", "weights", 1))
            for key in ("centres", "rss", "sizes", "iterations", "stopped", "trace.rss"):
                assert one.expect[key] == twin.expect[key], one.id
            counts = [int(weight) for weight in twin.input["weights"]]
            labels = value(twin.expect["labels"])
            repeated = [x for x, w in zip(labels, counts, strict=True) for _ in range(w)]
            assert value(one.expect["labels"]) == repeated
            pairs += 1
    assert pairs >= 15


def differences(x: Sequence[float], c: Sequence[float]) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(x, c, strict=True))


def expanded(x: Sequence[float], c: Sequence[float]) -> float:
    cross = math.fsum(a * b for a, b in zip(x, c, strict=True))
    return math.fsum(a * a for a in x) - 2 * cross + math.fsum(b * b for b in c)


@pytest.mark.parametrize("formula", [differences, expanded])
@pytest.mark.spec("KM-ASSIGN")
def test_distances_in_doubles_are_caught(
    formula: Callable[[Sequence[float], Sequence[float]], float],
) -> None:
    """Even with exact sums of rounded squares the first assignment is wrong somewhere."""
    caught = 0
    for one in cases("ladder"):
        if "border" in one.id:
            rows, centres = rows_of(one.input["rows"]), rows_of(one.input["start"]["centres"])
            gaps = [[formula(x, c) for c in centres] for x in rows]
            labels = [found.index(min(found)) for found in gaps]
            caught += labels != value(one.expect["trace.labels"])[0]
    assert caught >= 6


@pytest.mark.spec("KM-ASSIGN", "KM-VORONOI")
def test_ties_to_the_highest_index_are_caught() -> None:
    caught = 0
    for one in cases("ties"):
        rows, centres = rows_of(one.input["rows"]), rows_of(one.input["start"]["centres"])
        gaps = [[differences(x, c) for c in centres] for x in rows]
        labels = [max(k for k, gap in enumerate(found) if gap == min(found)) for found in gaps]
        caught += labels != value(one.expect["trace.labels"])[0]
    assert caught >= 8


@pytest.mark.spec("KM-CENTROID")
def test_a_float_sum_divided_by_the_number_is_caught() -> None:
    one = case("mean")
    columns = zip(*rows_of(one.input["rows"]), strict=True)
    mean = [math.fsum(column) / len(one.input["rows"]) for column in columns]
    assert [mean] != value(one.expect["centres"])


@pytest.mark.spec("KM-DRAW")
def test_a_draw_in_doubles_is_caught() -> None:
    """The product of share and total rounds up onto the border, so its row is passed over."""
    caught = 0
    for one in cases("seeding"):
        if "-rounded-" in one.id:
            share = stream(int(one.input["seed"])).random()
            first, second = map(number, one.input["weights"])
            row = 0 if first > share * (first + second) else 1
            caught += [rows_of(one.input["rows"])[row]] != value(one.expect["starts"])[0]
    assert caught == 3
