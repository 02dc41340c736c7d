"""Cases of chapter 34 about curves over K: elbow, gap statistic, cross-validated likelihood."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from .make_sampling import Twister
from .mixture_bounds import Matrix, U, allowed, total
from .mixture_cases import cloud
from .mixture_classify import Labelled, both, bounds
from .mixture_count_cases import TOPICS, documents
from .mixture_numbers import WITNESSES, Field, encode, floats_of, told_rows, use_precision
from .values import Json
from .values import encode as encode_value
from .vectors_common import mpmath
from .writer import VectorFile

NOTES = {
    "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction",
    "rss": "residual sums of squares for K = first, first + 1, ...; chosen values of K",
    "pass": "an answer passes when it is within bound of the true value",
}


def curves() -> VectorFile:
    """Elbows and gaps of given sums of squares."""
    file = VectorFile(
        "34-selection/curves.json", "selection.curve", "Curves of sums of squares", dict(NOTES)
    )
    use_precision()
    sets: list[tuple[str, int, str, str]] = [
        ("plain", 1, "100 40 10 9 8", "the bend is at K = 3"),
        ("early", 2, "64 8 4 2 1", "from K = 2 on"),
        ("tie", 1, "9 5 3 0", "two values of K equally far below the line: the smaller"),
        ("straight", 1, "4 3 2 1", "a straight line: all heights are zero, the first K"),
        ("halves", 1, "17/2 7/3 1/3 1/7", "fractions"),
    ]
    for name, first, text, words in sets:
        curve = [Fraction(x) for x in text.split()]
        span, steps = curve[0] - curve[-1], len(curve) - 1
        heights = [(curve[0] - x) / span - Fraction(i, steps) for i, x in enumerate(curve)]
        expect: dict[str, Json] = {
            "elbow": {"exact": str(first + heights.index(max(heights)))},
            "heights": {"list": [encode_value(x) for x in heights]},
        }
        given: dict[str, Json] = {"first": str(first), "rss": [str(x) for x in curve]}
        file.add(f"elbow-{name}", given, expect, words, formulas=["MS-ELBOW"])
    own = [Fraction(x) for x in ["100", "30", "9", "8"]]
    others = [
        [Fraction(x) for x in text.split()]
        for text in ("90 60 40 30", "95 55 42 28", "88 61 41 31")
    ]
    _gap(file, "gap-plain", own, others, "three reference sets; K = 3")
    _gap(file, "gap-none", own[:3], [x[:3] for x in others], "no K of the range will do")
    _gap(file, "gap-one", own, others[:1], "one reference set: no deviation")
    return file


def _gap(
    file: VectorFile, slug: str, own: list[Fraction], others: list[list[Fraction]], words: str
) -> None:
    first, second = (_gaps(field, own, others) for field in WITNESSES)
    value, width = floats_of(first["gaps"]), floats_of(first["gap_errors"])
    flat = [[abs(floats_of(x)) for x in line] for line in first["logs"]]
    b = len(others)
    lost = [(b + 10) * U * (max(column) + 1) for column in zip(*flat, strict=True)]
    exact = [Fraction(0)] * len(own) if b == 1 else None
    expect: dict[str, Json] = {
        "gaps": encode(first["gaps"], second["gaps"], allowed([2 * x for x in lost])),
        "gap_errors": encode(
            first["gap_errors"], second["gap_errors"], allowed([4 * x for x in lost]), exact
        ),
    }
    chosen = -1
    for i, (one, following) in enumerate(pairwise(zip(value, width, strict=True))):
        edge = one[0] - (following[0] - following[1])
        assert abs(edge) > 1e-6
        if edge >= 0:
            chosen = i
            break
    expect["gap_choice"] = {"exact": str(chosen + 1)} if chosen >= 0 else {"undefined": True}
    given: dict[str, Json] = {
        "first": "1",
        "rss": [str(x) for x in own],
        "references": [[str(x) for x in line] for line in others],
    }
    file.add(slug, given, expect, words, formulas=["MS-GAP"])


def _gaps(field: Field, own: list[Fraction], others: list[list[Fraction]]) -> dict[str, Any]:
    logs = [[field.log(field.of(x)) for x in line] for line in (own, *others)]
    b = len(others)
    gaps, errors = [], []
    for column in zip(*logs, strict=True):
        mean = field.total(list(column[1:])) / b
        gaps.append(mean - column[0])
        square = field.total([(x - mean) * (x - mean) for x in column[1:]]) / b
        square = square * field.of(1 + Fraction(1, b))
        root = field.of(Fraction(0))
        if b > 1:
            root = square.sqrt() if hasattr(square, "sqrt") else mpmath.iv.sqrt(square)
        errors.append(root)
    return {"logs": logs, "gaps": gaps, "gap_errors": errors}


def dealt(n: int, count: int, seed: int) -> list[list[int]]:
    """Rows shuffled once and dealt out in turn."""
    stream, order = Twister(seed), list(range(n))
    for last in range(n - 1, 0, -1):
        chosen = stream.below(last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return [sorted(order[fold::count]) for fold in range(count)]


def held_out() -> VectorFile:
    """Cross-validated log-likelihood of one component."""
    notes = {**NOTES, "folds": "the rows of each fold; the fit without them is in closed form"}
    file = VectorFile(
        "34-selection/held-out.json", "selection.held_out", "Cross-validated likelihood", notes
    )
    use_precision()
    plane = cloud(395, 11, [[0.0, 1.0]], 2.0)
    _held(file, "cv-plane", plane, "VVV", 3, 0, "eleven rows, three folds")
    _held(file, "cv-plane-seed", plane, "VVV", 3, 9, "another seed")
    _held(file, "cv-diagonal", plane, "VVI", 4, 1, "diagonal covariances")
    _held(file, "cv-each", plane[:7], "EII", 7, 2, "every row a fold")
    words = [[float(x) for x in row] for row in documents(396, 9, TOPICS, 12)]
    _held(file, "cv-words", words, "multinomial", 3, 5, "documents, one imagined word")
    return file


def _held(
    file: VectorFile, slug: str, rows: Matrix, model: str, count: int, seed: int, words: str
) -> None:
    folds = dealt(len(rows), count, seed)
    values: list[list[Any]] = [[], []]
    lost: list[float] = []
    for fold in folds:
        train = [row for i, row in enumerate(rows) if i not in fold]
        queries = [rows[i] for i in fold]
        m = Fraction(int(model == "multinomial"))
        exact: Any = [[int(x) for x in row] for row in train] if m else train
        asked: Any = [[int(x) for x in row] for row in queries] if m else queries
        problem = Labelled(exact, [0] * len(train), asked, model, m=m)
        first, second, _ = both(problem)
        for into, found in zip(values, (first, second), strict=True):
            into.extend(line[0] for line in found["joint"])
        lost += [line[0] for line in bounds(problem, first)["scores"]]
    n = len(rows)
    first_sum, second_sum = (
        field.total(each) / n for field, each in zip(WITNESSES, values, strict=True)
    )
    size = total([abs(floats_of(x)) for x in values[0]])
    bound = (total(lost) + (n + 6) * U * size) / n
    expect: dict[str, Json] = {
        "cv": encode(first_sum, second_sum, allowed(bound)),
        "folds": {"list": [{"list": [{"exact": str(i)} for i in fold]} for fold in folds]},
    }
    given: dict[str, Json] = {
        "rows": told_rows(rows),
        "kind" if model == "multinomial" else "model": model,
        "folds": str(count),
        "seed": str(seed),
    }
    if model == "multinomial":
        given["m"] = "1"
    file.add(slug, given, expect, words, formulas=["MS-CVLL"])
