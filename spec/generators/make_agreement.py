"""Golden vectors of chapter 51: published tables, random judgements, cases without a value."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from . import agreement_measures as measures
from .values import Failure, Json, Value, encode
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"
Row = Sequence[int | None]

# Krippendorff 2011: four observers (rows), twelve units, a point where nothing was said.
RELIABILITY = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
# Fleiss 1971: 30 patients, 6 psychiatrists each; depression, personality disorder,
# schizophrenia, neurosis, other.
PSYCHIATRIC = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)
# Ten subjects, 14 raters, five categories: the example known from encyclopedias (0.210).
FOURTEEN = (
    "0 0 0 0 14,0 2 6 4 2,0 0 3 5 6,0 3 9 2 0,2 2 8 1 1,7 7 0 0 0,3 2 6 3 0,2 5 3 2 2,6 5 2 1 0,"
    "0 2 2 3 7"
)

ALL = [
    "AG-SHARES",
    "AG-PERCENT",
    "AG-CHANCE",
    "AG-FLEISS",
    "AG-AC1",
    "AG-AC2",
    "AG-WEIGHTS",
    "AG-COINC",
    "AG-DELTA",
    "AG-ALPHA",
]


def files() -> list[VectorFile]:
    """The files of chapter 51."""
    file = VectorFile(
        "51-agreement/raters.json", SUBJECT, "Several raters: agreement beyond chance"
    )
    columns = [[None if c == "." else int(c) - 1 for c in line] for line in RELIABILITY]
    _add(file, "ag-krippendorff-2011", list(zip(*columns, strict=True)), list(range(1, 6)))
    _add_counts(file, "ag-fleiss-1971", [[int(c) for c in row] for row in PSYCHIATRIC.split()])
    fourteen = [[int(c) for c in row.split()] for row in FOURTEEN.split(",")]
    _add_counts(file, "ag-fourteen-raters", fourteen)
    _published(file)
    draw = random.Random(51)
    for i in range(36):
        n, raters, q = 1 + int(draw.random() * 7), 2 + i % 3, 1 + int(draw.random() * 4)
        holes = (i % 4) / 8
        rows = [
            [None if draw.random() < holes else int(draw.random() * q) for _ in range(raters)]
            for _ in range(n)
        ]
        q = 1 + max((x for row in rows for x in row if x is not None), default=0)
        _add(file, f"ag-random-{i:02d}", rows, [3 * k + (k == 2) for k in range(q)])
    _add(file, "ag-one-category", [[0, 0], [0, 0]], [1])
    _add(file, "ag-never-said", [[0, 0], [0, 0]], [1, 2])
    _add(file, "ag-no-pairs", [[0, None], [None, 1]], [1, 2])
    _refused(file)
    return [file]


def _expected(rows: Sequence[Row], values: Sequence[int]) -> dict[str, Value]:
    q = len(values)
    expect = {
        "percent_agreement": measures.mean_agreement(rows, measures.same),
        "fleiss_kappa": measures.fleiss(rows, q),
        "gwet_ac1": measures.gwet(rows, q, measures.same),
        "gwet_ac2": measures.gwet(rows, q, measures.near(q, 1)),
        "gwet_ac2[weighting=quadratic]": measures.gwet(rows, q, measures.near(q, 2)),
        "gwet_ac2[weighting=identity]": measures.gwet(rows, q, measures.same),
    }
    for scale, delta in measures.deltas(rows, [F(v) for v in values]).items():
        key = "krippendorff_alpha" + (f"[scale={scale}]" if scale != "nominal" else "")
        expect[key] = measures.alpha(rows, delta)
    return expect


def _add(file: VectorFile, slug: str, rows: Sequence[Row], values: Sequence[int]) -> None:
    """Judgements by raters; a judgement is given as the value of its category."""
    expect = _expected(rows, values)
    expect["mean_pairwise_kappa"] = measures.light(rows, len(values))
    formulas = [*ALL, "AG-LIGHT", "AG-SCOTT"]
    two = max(len(measures.said(row)) for row in rows) <= 2
    expect["scott_pi"] = measures.scott(rows, len(values)) if two else Failure("wrong-count")
    shown: Json = [[None if x is None else values[x] for x in row] for row in rows]  # type: ignore[misc]
    encoded: dict[str, Json] = {key: encode(value) for key, value in expect.items()}
    file.add(slug, {"judgements": shown, "categories": list(values)}, encoded, formulas=formulas)


def _add_counts(file: VectorFile, slug: str, counts: list[list[int]]) -> None:
    """How often each category was said; categories are 1, 2, and so on."""
    q = len(counts[0])
    rows = [[k for k in range(q) for _ in range(row[k])] for row in counts]
    expect = _expected(rows, list(range(1, q + 1)))
    encoded: dict[str, Json] = {key: encode(value) for key, value in expect.items()}
    encoded["mean_pairwise_kappa"] = encode(Failure("wrong-evidence"))
    encoded["category_shares"] = encode(tuple(measures.shares(rows, q)))
    pairs = [
        [
            sum(
                (F(row.count(c) * (row.count(k) - (c == k)), len(row) - 1) for row in rows),
                F(0),
            )
            for k in range(q)
        ]
        for c in range(q)
    ]
    encoded["coincidences"] = encode(tuple(tuple(line) for line in pairs))
    file.add(slug, {"rated": [list(row) for row in counts]}, encoded, formulas=[*ALL, "AG-LIGHT"])


def _published(file: VectorFile) -> None:
    """What the sources print, to as many digits, is what these tables give."""
    due = {
        "ag-krippendorff-2011": {
            "krippendorff_alpha": "0.743",
            "krippendorff_alpha[scale=ordinal]": "0.815",
            "krippendorff_alpha[scale=interval]": "0.849",
            "krippendorff_alpha[scale=ratio]": "0.797",
        },
        "ag-fleiss-1971": {"fleiss_kappa": "0.430"},
        "ag-fourteen-raters": {"fleiss_kappa": "0.210"},
    }
    for case in file.cases:
        for key, printed in due[str(case["id"])].items():
            value = case["expect"][key]["exact"]  # type: ignore[index, call-overload]
            assert f"{float(F(str(value))):.3f}" == printed, (case["id"], key)


def _refused(file: VectorFile) -> None:
    letters: Json = [["x", "y"], ["x", "x"]]
    expect: dict[str, Json] = {
        "krippendorff_alpha[scale=interval]": encode(Failure("bad-number")),
        "krippendorff_alpha[scale=ratio]": encode(Failure("bad-number")),
        "krippendorff_alpha": encode(measures.alpha([[0, 1], [0, 0]], lambda a, b: F(int(a != b)))),
    }
    given: dict[str, Json] = {"judgements": letters, "categories": ["x", "y"]}
    file.add("ag-letters", given, expect, formulas=["AG-ALPHA", "AG-DELTA"])
    expect = {"krippendorff_alpha[scale=ratio]": encode(Failure("bad-number"))}
    given = {"judgements": [[-1, 1], [1, 1]], "categories": [-1, 1]}
    file.add("ag-negative", given, expect, formulas=["AG-DELTA"])
