"""The degenerate grid: nothing, one object, one group, singletons, independent labels."""

from __future__ import annotations

from .catalogue import all_encoded, clauses
from .tables import from_labels
from .values import Json
from .writer import METRICS, VectorFile

# slug: truth, clustering, words
GRID: list[tuple[str, list[int], list[int], str]] = [
    ("deg-1", [0], [0], "a single object"),
    ("deg-11", [0, 0, 0, 0], [0, 0, 0, 0], "one class, one cluster"),
    ("deg-12", [0, 0, 0, 0], [0, 0, 1, 1], "one class, two clusters"),
    ("deg-21", [0, 0, 1, 1], [0, 0, 0, 0], "two classes, one cluster"),
    ("deg-1s", [0, 0, 0, 0], [0, 1, 2, 3], "one class, every object its own cluster"),
    ("deg-s1", [0, 1, 2, 3], [0, 0, 0, 0], "every object its own class, one cluster"),
    ("deg-ss", [0, 1, 2, 3], [0, 1, 2, 3], "singletons on both sides"),
    ("deg-2s", [0, 0, 1, 1], [0, 1, 2, 3], "two classes, every object its own cluster"),
    ("deg-s2", [0, 1, 2, 3], [0, 0, 1, 1], "every object its own class, two clusters"),
    ("deg-ind", [0, 0, 1, 1], [0, 1, 0, 1], "independent"),
    (
        "deg-ami-min-12",
        [0] * 6 + [1] * 6,
        list(range(12)),
        "two classes of six against singletons: AMI by the smaller entropy is 0/0",
    ),
    ("deg-swap-names", [0, 0, 1, 1], [1, 1, 0, 0], "a perfect match under other names"),
]


def files() -> list[VectorFile]:
    """The file of degenerate cases."""
    file = VectorFile(
        "41-metrics/degenerate.json",
        METRICS,
        "Degenerate inputs",
        {
            "ERR-73": "no source says what happens at 0/0; the vectors do",
            "truth-first": "labels_true are the classes (columns), labels_pred the clusters (rows)",
        },
    )
    file.add(
        "deg-e",
        {"labels_true": [], "labels_pred": []},
        {"error": "empty-input"},
        "no object at all: an error for every metric",
        flags=["ERR-73"],
        formulas=["CT-TABLE"],
    )
    for slug, true, pred, words in GRID:
        expect = all_encoded(from_labels(true, pred))
        given: dict[str, Json] = {"labels_true": [*true], "labels_pred": [*pred]}
        file.add(slug, given, expect, words, flags=["ERR-73"], formulas=clauses(list(expect)))
    return [file]
