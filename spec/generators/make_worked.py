"""The worked examples of the source documents, every key, checked against printed decimals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .matching import optimal_matchings
from .printed import DECIMALS, LISTS
from .tables import make_table
from .writer import METRICS, VectorFile

CATDOG: list[list[int | str]] = [[39, 6, 1], [8, 31, 1], [2, 1, 11]]
THREE: list[list[int | str]] = [[50, 100, 0], [10, 1000, 50], [100, 90, 150]]
FIVE: list[list[int | str]] = [[2, 1], [0, 2]]
IIR: list[list[int | str]] = [[5, 1, 0], [1, 4, 1], [2, 0, 3]]
C1: list[list[int | str]] = [[50, 10, 2, 100, 0], [0, 200, 0, 1000, 20], [30, 0, 40, 50, 300]]
IRIS: list[list[int | str]] = [[50, 20, 5], [0, 30, 0], [0, 0, 45]]

CASES: list[tuple[str, list[list[int | str]], str]] = [
    ("g-catdog", CATDOG, "cat, dog, parrot: joint probabilities times 100"),
    ("g-catdog-swap", [CATDOG[1], CATDOG[0], CATDOG[2]], "clusters 1 and 2 exchanged"),
    ("g-five", FIVE, "five objects, {g1 g2 g3}{g4 g5} against {g1 g2}{g3 g4 g5}"),
    ("g-3x3", THREE, "the table of the maximum-matching example"),
    ("x-iir", IIR, "the 17 objects of the purity figure (table from the published textbook)"),
    (
        "g-c1",
        C1,
        "first row, and 1150 objects in the fourth class, as printed; the other cells of "
        "rows 2 and 3 are ours, since the source leaves them blank",
    ),
    (
        "g-iris",
        IRIS,
        "sizes 75+30+45 against 50+50+50 as printed; the cells are ours and reach the "
        "largest purity these sizes allow",
    ),
]


def files() -> list[VectorFile]:
    """The file of worked examples."""
    file = VectorFile(
        "41-metrics/worked.json",
        METRICS,
        "Worked examples of the source documents",
        {
            "g-five": "the source prints 9, 4, 4, 8 ordered pairs, Rand 17/25 and Jaccard 9/17",
            "x-iir": "the source prints purity 0.71 only",
        },
    )
    for slug, rows, description in CASES:
        file.add_table(slug, rows, description, bases=(2, 10))
        case: Any = file.cases[-1]
        if slug != "g-c1":
            matchings = optimal_matchings(make_table(rows))
            case["expect"]["matching_accuracy"]["matching"] = {"either": matchings}
    _self_test(file)
    return [file]


def _self_test(file: VectorFile) -> None:
    """Every printed decimal must agree with what was computed, to its last digit."""
    found: dict[str, Any] = {str(case["id"]): case["expect"] for case in file.cases}
    for slug, printed in DECIMALS.items():
        for key, text in printed.items():
            _agree(found[slug][key], text, f"{slug} {key}")
        for key, listed in LISTS[slug].items():
            assert [item["exact"] for item in found[slug][key]["list"]] == listed.split(), key
        same = ("nmi", "nmi_strehl_ghosh"), ("fowlkes_mallows", "hubert_cosine")
        assert all(found[slug][a] == found[slug][b] for a, b in same)
    plain = found["g-catdog"]
    swapped = found["g-catdog-swap"]
    for key in plain:
        if not key.startswith("cluster_") and key != "matching_accuracy":
            assert plain[key] == swapped[key], key
    first = [
        found["g-c1"][key]["list"][0]["exact"]
        for key in ("cluster_purity", "cluster_recall", "cluster_f")
    ]
    assert first == ["50/81", "2/23", "25/164"]
    iris = found["g-iris"]
    _agree(iris["entropy_classes"], "1.09861228866810969139524523692", "iris")
    _agree(iris["entropy_clusters"], "1.02965301406457352741559179270", "iris")
    assert iris["purity"]["exact"] == "5/6"
    assert found["g-3x3"]["matching_accuracy"]["matching"] == {"either": [[[0, 0], [1, 1], [2, 2]]]}


def _agree(value: dict[str, str], text: str, what: str) -> None:
    printed = Fraction(text)
    digits = len(text.split(".")[1])
    number = Fraction(value["exact"]) if "exact" in value else Fraction(value["decimal"])
    radius = Fraction(value.get("radius", "0"))
    assert abs(number - printed) <= Fraction(1, 2 * 10**digits) + radius, what
