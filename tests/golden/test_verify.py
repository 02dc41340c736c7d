"""The golden vectors, on the reference and on the loopback backend; and that they bite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from refclust.backends.session import Session
from refclust.metrics import Contingency, catalogue
from refclust.vectors import answers, verify
from refclust.vectors.runners import subjects

SPEC = Path(__file__).parents[2] / "spec"
FILES = sorted((SPEC / "vectors").rglob("*.json"))
NAMES = [path.relative_to(SPEC / "vectors").as_posix() for path in FILES]


@pytest.mark.parametrize("name", NAMES)
def test_reference_meets_every_vector(name: str) -> None:
    report = verify.verify(backend="reference", only=name)
    assert [file.failures for file in report.files] == [()]
    assert report.ok


@pytest.mark.parametrize(
    "name",
    [
        "40-contingency/labels.json",
        "41-metrics/traps.json",
        *(name for name in NAMES if name.startswith("20-")),
    ],
)
def test_loopback_meets_the_vectors_that_use_kernels(name: str) -> None:
    assert verify.verify(backend="loopback", only=name).ok


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_follow_the_schema(path: Path) -> None:
    schema = json.loads((SPEC / "schema" / "vectors.schema.json").read_text(encoding="utf-8"))
    content = json.loads(path.read_text(encoding="utf-8"))
    # The longest files hold hundreds of cases made in one loop: some of them stand for all.
    cases = content["cases"]
    content["cases"] = cases[:40] + cases[40::8]
    jsonschema.Draft202012Validator(schema).validate(content)


def test_ids_are_unique_over_the_tree() -> None:
    ids = [case.id for file in verify.load() for case in file.cases]
    assert len(ids) == len(set(ids))


def test_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in FILES) < 10_000_000


def errata() -> list[Any]:
    content = json.loads((SPEC / "vectors/41-metrics/errata.json").read_text(encoding="utf-8"))
    return [case for case in content["cases"] if "misprint" in case]


@pytest.mark.parametrize("case", errata(), ids=lambda case: case["id"])
def test_every_erratum_is_caught(case: dict[str, Any]) -> None:
    """What the misprinted formula gives must fail the very expectation that refclust meets."""
    for key, misprinted in case["misprint"].items():
        ours = subjects.answer("metrics.external", case["input"], key, Session("reference"))
        assert answers.passes(case["expect"][key], ours), key
        assert not answers.passes(misprinted, ours), key


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("purity", "transposed"),
        ("inverse_purity", "transposed"),
        ("homogeneity", "transposed"),
        ("completeness", "transposed"),
        ("pair_precision", "transposed"),
        ("pair_recall", "transposed"),
        ("bcubed_precision", "transposed"),
        ("f_measure", "transposed"),
        ("f_macro", "transposed"),
        ("nca", "transposed"),
        ("rand", "rand[pairs=ordered]"),
        ("jaccard", "jaccard[pairs=ordered]"),
        ("mutual_information", "mutual_information[base=2]"),
        ("entropy_classes", "entropy_classes[base=2]"),
        ("nmi", "nmi[average=arithmetic]"),
        ("ami", "ami[average=max]"),
        ("wallace", "wallace[given=classes]"),
    ],
)
def test_a_confused_implementation_is_caught(key: str, change: str) -> None:
    """A transposed table, a wrong base, average or pair convention fails some vector."""
    session = Session("reference")
    caught = 0
    for file in verify.load("41-metrics/traps"):
        for case in file.cases:
            if key not in case.expect or "table" not in case.input:
                continue
            given, asked = case.input, change
            if change == "transposed":
                given = {"table": [list(column) for column in zip(*given["table"], strict=True)]}
                asked = key
            confused = subjects.answer(file.subject, given, asked, session)
            caught += not answers.passes(case.expect[key], confused)
    assert caught > 0


def test_matchings_are_among_the_optimal_ones() -> None:
    checked = 0
    for file in verify.load("41-metrics"):
        for case in file.cases:
            for key, expected in case.expect.items():
                if isinstance(expected, dict) and "matching" in expected:
                    matcher = catalogue.find(key).matching
                    assert matcher is not None
                    found = [
                        list(pair) for pair in matcher(Contingency.of_rows(case.input["table"]))
                    ]
                    assert found in expected["matching"]["either"], case.id
                    checked += 1
    assert checked >= 6
