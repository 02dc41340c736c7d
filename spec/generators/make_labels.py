"""From label sequences, weights and noise labels to the table; and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .catalogue import all_values, clauses
from .tables import Table, from_labels
from .values import Json, Value, encode
from .writer import VectorFile

Label = int | str
METRIC_KEYS = ("purity", "inverse_purity", "rand", "rand[pairs=ordered]", "mirkin", "nmi", "ami")

# slug, clause, truth, clustering, weights, noise label, policy, words
Case = tuple[str, str, Sequence[Label], Sequence[Label], list[Label] | None, Label | None, str, str]
GIVEN: list[Case] = [
    (
        "labels-ints",
        "CT-TABLE",
        [0, 0, 1, 1, 2],
        [1, 1, 1, 0, 0],
        None,
        None,
        "",
        "integers; groups in the order of their first appearance",
    ),
    (
        "labels-negative",
        "CT-TABLE",
        [-1, 5, -1, 70000000000],
        [3, 3, -2, -2],
        None,
        None,
        "",
        "any integers; without a noise label -1 is a label like others",
    ),
    (
        "labels-text",
        "CT-TABLE",
        ["cat", "dog", "cat", "élan"],
        ["b", "a", "b", "a"],
        None,
        None,
        "",
        "text, compared character by character",
    ),
    (
        "labels-spaces",
        "CT-TABLE",
        ["a", "a ", "A", ""],
        ["x", "x", "x", "y"],
        None,
        None,
        "",
        "nothing is trimmed or folded; the empty text is a label",
    ),
    (
        "labels-mixed",
        "CT-TABLE",
        [1, "1", 1, "1"],
        ["u", 2, 2, "u"],
        None,
        None,
        "",
        "the number 1 and the text 1 are two labels",
    ),
    ("labels-one", "CT-TABLE", ["a"], ["b"], None, None, "", "one object"),
    (
        "labels-many",
        "CT-TABLE",
        [i % 7 for i in range(50)],
        [i * i % 11 for i in range(50)],
        None,
        None,
        "",
        "fifty objects",
    ),
    (
        "noise-ordinary",
        "CT-NOISE",
        list("aabbcc"),
        [0, 0, -1, 1, -1, 1],
        None,
        -1,
        "ordinary",
        "noise as one group",
    ),
    (
        "noise-singletons",
        "CT-NOISE",
        list("aabbcc"),
        [0, 0, -1, 1, -1, 1],
        None,
        -1,
        "singletons",
        "each noise object a group of its own",
    ),
    (
        "noise-ignore",
        "CT-NOISE",
        list("aabbcc"),
        [0, 0, -1, 1, -1, 1],
        None,
        -1,
        "ignore",
        "noise objects left out",
    ),
    (
        "noise-both-singletons",
        "CT-NOISE",
        [-1, 0, 0, -1, 1],
        [0, -1, 0, 0, -1],
        None,
        -1,
        "singletons",
        "noise on both sides: singletons on each",
    ),
    (
        "noise-both-ignore",
        "CT-NOISE",
        [-1, 0, 0, -1, 1],
        [0, -1, 0, 1, 1],
        None,
        -1,
        "ignore",
        "noise on either side drops the object",
    ),
    (
        "noise-text",
        "CT-NOISE",
        ["a", "b", "a"],
        ["noise", "x", "noise"],
        None,
        "noise",
        "singletons",
        "a noise label that is text",
    ),
    (
        "noise-absent",
        "CT-NOISE",
        [0, 1, 1],
        [0, 0, 1],
        None,
        -1,
        "ignore",
        "a noise label that does not occur",
    ),
    (
        "weights-int",
        "CT-WEIGHT",
        [0, 0, 1, 1],
        [0, 1, 1, 1],
        [2, 3, 1, 4],
        None,
        "",
        "whole weights: as if objects were repeated",
    ),
    (
        "weights-zero",
        "CT-WEIGHT",
        [0, 0, 1, 2],
        [0, 1, 1, 2],
        [2, 3, 1, 0],
        None,
        "",
        "an object of weight zero is as if absent",
    ),
    (
        "weights-rational",
        "CT-WEIGHT",
        [0, 0, 1, 1],
        [0, 1, 1, 1],
        ["1/2", "1/3", "5/6", 1],
        None,
        "",
        "fractions add exactly; counting pairs of different objects is refused",
    ),
    (
        "weights-rational-whole",
        "CT-WEIGHT",
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        ["1/2", "3/2", "1/3", "5/3"],
        None,
        "",
        "fractions whose cells are whole are counts",
    ),
    (
        "weights-huge",
        "CT-WEIGHT",
        [0, 0, 1, 1],
        [0, 1, 0, 1],
        [10**17 + 1, 3, 1, 10**17 - 1],
        None,
        "",
        "weights that a double cannot hold",
    ),
    (
        "weights-noise",
        "CT-NOISE",
        [0, 0, 1, 1],
        [-1, -1, 1, 1],
        [2, 3, 1, 4],
        -1,
        "ignore",
        "weights of ignored objects go with them",
    ),
]

REFUSED: list[tuple[str, str, dict[str, Json], str, str]] = [
    (
        "refuse-empty",
        "CT-TABLE",
        {"labels_true": [], "labels_pred": []},
        "empty-input",
        "no object",
    ),
    (
        "refuse-length",
        "CT-TABLE",
        {"labels_true": [0, 1, 1], "labels_pred": [0, 1]},
        "label-length-mismatch",
        "three labels against two",
    ),
    (
        "refuse-length-empty",
        "CT-TABLE",
        {"labels_true": [0], "labels_pred": []},
        "label-length-mismatch",
        "one label against none",
    ),
    (
        "refuse-weights-length",
        "CT-WEIGHT",
        {"labels_true": [0, 1], "labels_pred": [0, 1], "weights": [1]},
        "label-length-mismatch",
        "two objects, one weight",
    ),
    (
        "refuse-weights-negative",
        "CT-WEIGHT",
        {"labels_true": [0, 1], "labels_pred": [0, 1], "weights": [1, -1]},
        "negative-count",
        "a weight below zero",
    ),
    (
        "refuse-weights-cancel",
        "CT-WEIGHT",
        {"labels_true": [0, 0], "labels_pred": [0, 0], "weights": [2, "-1/2"]},
        "negative-count",
        "a negative weight is refused even where the cell would be positive",
    ),
    (
        "refuse-weights-nan",
        "CT-WEIGHT",
        {"labels_true": [0, 1], "labels_pred": [0, 1], "weights": [1, "nan"]},
        "not-finite",
        "a weight that is not a number (the string nan stands for it)",
    ),
    (
        "refuse-weights-inf",
        "CT-WEIGHT",
        {"labels_true": [0, 1], "labels_pred": [0, 1], "weights": [1, "inf"]},
        "not-finite",
        "an infinite weight",
    ),
    (
        "refuse-weights-none-left",
        "CT-WEIGHT",
        {"labels_true": [0, 1], "labels_pred": [0, 1], "weights": [0, 0]},
        "empty-input",
        "no weight at all",
    ),
    (
        "refuse-noise-all",
        "CT-NOISE",
        {"labels_true": [0, 1], "labels_pred": [-1, -1], "noise": -1, "noise_policy": "ignore"},
        "empty-input",
        "all objects are noise and ignored",
    ),
    (
        "refuse-table-negative",
        "CT-TABLE",
        {"table": [[1, 2], [3, -1]]},
        "negative-count",
        "a cell below zero",
    ),
    ("refuse-table-zero", "CT-TABLE", {"table": [[0, 0], [0, 0]]}, "empty-input", "no object"),
    ("refuse-table-nothing", "CT-TABLE", {"table": []}, "empty-input", "no row"),
    (
        "refuse-table-ragged",
        "CT-TABLE",
        {"table": [[1, 2], [3]]},
        "ragged-rows",
        "rows of different lengths",
    ),
    (
        "refuse-table-inf",
        "CT-TABLE",
        {"table": [[1, "inf"], [3, 4]]},
        "not-finite",
        "an infinite cell",
    ),
    (
        "refuse-table-nan",
        "CT-TABLE",
        {"table": [[1, "nan"], [3, 4]]},
        "not-finite",
        "a cell that is not a number",
    ),
]


def prepared(labels: Sequence[Label], noise: Label | None, policy: str) -> list[object]:
    """Labels with noise turned into singletons where that is asked for."""
    if policy != "singletons":
        return list(labels)
    return [("alone", place) if label == noise else label for place, label in enumerate(labels)]


def table_of(case: Case) -> Table:
    """The table of a case, by going through the objects one by one."""
    _, _, true, pred, weights, noise, policy, _ = case
    exact = [Fraction(weight) for weight in weights] if weights is not None else None
    keep = [
        place
        for place in range(len(true))
        if not (policy == "ignore" and noise in (true[place], pred[place]))
    ]
    left, right = prepared(true, noise, policy), prepared(pred, noise, policy)
    # Objects without weight are dropped first: they must not fix the order of groups.
    keep = [place for place in keep if exact is None or exact[place]]
    return from_labels(
        [_hashable(left[p]) for p in keep],
        [_hashable(right[p]) for p in keep],
        [exact[p] for p in keep] if exact is not None else None,
    )


def _hashable(label: object) -> tuple[str, object]:
    return type(label).__name__, label


def files() -> list[VectorFile]:
    """The file of label sequences."""
    file = VectorFile(
        "40-contingency/labels.json",
        "metrics.contingency",
        "From labels to the table",
        {
            "order": "rows and columns in the order of first appearance",
            "nan": "JSON has no NaN and no infinity; the strings nan and inf stand for them",
        },
    )
    for case in GIVEN:
        slug, clause, true, pred, weights, noise, policy, words = case
        table = table_of(case)
        given: dict[str, Json] = {"labels_true": [*true], "labels_pred": [*pred]}
        if weights is not None:
            given["weights"] = [*weights]
        if noise is not None:
            given |= {"noise": noise, "noise_policy": policy}
        values: dict[str, Value] = {
            "table": tuple(tuple(row) for row in table.cells),
            "row_sums": table.rows,
            "column_sums": table.columns,
            "total": table.total,
        }
        every = all_values(table)
        values |= {key: every[key] for key in METRIC_KEYS if key in every}
        expect: dict[str, Json] = {key: encode(value) for key, value in values.items()}
        formulas = sorted({clause, *clauses(list(expect))})
        file.add(slug, given, expect, words, formulas=formulas)
    for slug, clause, refused, code, words in REFUSED:
        file.add(slug, refused, {"error": code}, words, formulas=[clause])
    return [file]
