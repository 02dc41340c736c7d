"""Scores and probabilities: what must hold for all of them (chapter 52)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refclust
from refclust.errors import BadOption
from refclust.formulas import probabilities as room
from refclust.formulas.judged import Probabilities
from refclust.formulas.undefined import Undefined
from refclust.numbers.real import exp, log, real, sqrt

unit = st.integers(0, 6).map(lambda i: Fraction(i, 6))
two = st.lists(st.tuples(st.booleans(), unit), min_size=1, max_size=10)
row = st.lists(st.integers(1, 4), min_size=3, max_size=3).map(
    lambda parts: [Fraction(part, sum(parts)) for part in parts]
)
many = st.lists(st.tuples(st.integers(0, 2), row), min_size=1, max_size=8)
counts = st.lists(st.integers(1, 3), min_size=10, max_size=10)


def judged(objects: list[tuple[bool, Fraction]], weights: Any = None) -> Probabilities:
    truth, scores = zip(*objects, strict=True)
    return Probabilities.of_two(truth, scores, True, weights)


def columns(objects: list[tuple[int, list[Fraction]]], weights: Any = None) -> Probabilities:
    truth, rows = zip(*objects, strict=True)
    return Probabilities.of_many(truth, rows, range(3), weights)


def value(formula: Any, *args: Any, **options: Any) -> Any:
    try:
        number = formula(*args, **options)
    except Undefined as missing:
        return "undefined" if math.isnan(missing.value) else missing.value
    return number.fraction if number.fraction is not None else number


def mann_whitney(objects: list[tuple[bool, Fraction]]) -> Any:
    """Pairs in the right order, equal scores half, among all pairs."""
    inside = [s for y, s in objects if y]
    outside = [s for y, s in objects if not y]
    if not inside or not outside:
        return "undefined"
    won = sum(Fraction((s > t) + (s >= t), 2) for s in inside for t in outside)
    return won / (len(inside) * len(outside))


def average_precision(objects: list[tuple[bool, Fraction]]) -> Any:
    """The mean precision at the score of each object of the class."""
    inside = [s for y, s in objects if y]
    if not inside:
        return "undefined"
    above = [[y for y, t in objects if t >= s] for s in inside]
    return sum(Fraction(sum(level), len(level)) for level in above) / len(inside)


@pytest.mark.spec("PB-INPUT", "PB-ROC", "PB-PR")
@given(two)
def test_points_at_every_threshold(objects: list[tuple[bool, Fraction]]) -> None:
    evidence = judged(objects)
    steps = room.reached(evidence)
    assert [t for t, _, _ in steps] == sorted({s for _, s in objects}, reverse=True)
    for t, fp, tp in steps:
        assert fp == sum(not y and s >= t for y, s in objects)
        assert tp == sum(y and s >= t for y, s in objects)
    p = sum(y for y, _ in objects)
    n = len(objects) - p
    if p and n:
        points = room.roc_points(evidence)
        assert points == (
            (Fraction(0), Fraction(0)),
            *((Fraction(fp, n), Fraction(tp, p)) for _, fp, tp in steps),
        )
        assert points[-1] == (Fraction(1), Fraction(1))
    else:
        with pytest.raises(Undefined):
            room.roc_points(evidence)
    if p:
        curve = room.precision_recall_points(evidence)
        assert curve == tuple((Fraction(tp, p), Fraction(tp, tp + fp)) for _, fp, tp in steps)


@pytest.mark.spec("PB-AUC", "PB-AP")
@given(two)
def test_areas_by_counting(objects: list[tuple[bool, Fraction]]) -> None:
    evidence = judged(objects)
    assert value(room.roc_area, evidence) == mann_whitney(objects)
    assert value(room.roc_auc, evidence) == mann_whitney(objects)
    assert value(room.precision_steps, evidence) == average_precision(objects)
    assert value(room.average_precision, evidence) == average_precision(objects)
    # Turning scores or classes turns the area; any rising map keeps it.
    turned = value(room.roc_area, judged([(y, -s) for y, s in objects]))
    other = value(room.roc_area, judged([(not y, s) for y, s in objects]))
    bent = value(room.roc_area, judged([(y, s**3) for y, s in objects]))
    area = mann_whitney(objects)
    assert turned == other == (area if area == "undefined" else 1 - area)
    assert bent == area


@pytest.mark.spec("PB-PAUC")
@given(two, st.fractions(Fraction(1, 8), Fraction(7, 8), max_denominator=8))
def test_partial_areas(objects: list[tuple[bool, Fraction]], f: Fraction) -> None:
    evidence = judged(objects)
    if mann_whitney(objects) == "undefined":
        assert value(room.roc_auc, evidence, max_fpr=f) == "undefined"
        return
    points = room.roc_points(evidence)

    def left_of(x: Fraction) -> Fraction:
        """The area left of a rate, by the areas of the triangles and rectangles below it."""
        area = Fraction(0)
        for (a, b), (c, d) in itertools.pairwise(points):
            if c <= x:
                area += (c - a) * b + (c - a) * (d - b) / 2
            elif a < x:
                slope = (d - b) / (c - a)
                area += (x - a) * b + (x - a) ** 2 * slope / 2
        return area

    due = Fraction(1, 2) * (1 + (left_of(f) - f**2 / 2) / (f - f**2 / 2))
    assert room.partial_roc_area(evidence, 0, f).fraction == due
    assert room.roc_auc(evidence, max_fpr=f).fraction == due
    assert left_of(Fraction(1)) == mann_whitney(objects)
    assert room.roc_auc(evidence, max_fpr=1).fraction == mann_whitney(objects)


@pytest.mark.spec("PB-OVR", "PB-OVO")
@given(many)
def test_several_classes(objects: list[tuple[int, list[Fraction]]]) -> None:
    evidence = columns(objects)
    each = [mann_whitney([(y == k, r[k]) for y, r in objects]) for k in range(3)]
    sizes = [sum(y == k for y, _ in objects) for k in range(3)]
    defined = [area for area in each if area != "undefined"]
    plain = sum(defined) / 3 if len(defined) == 3 else "undefined"
    assert value(room.roc_auc, evidence) == plain
    skipped = value(room.roc_auc, evidence, absent="skip")
    assert skipped == (sum(defined) / len(defined) if defined else "undefined")
    if len(defined) == 3:
        weighted = sum(w * area for w, area in zip(sizes, each, strict=True)) / len(objects)
        assert value(room.roc_auc, evidence, average="weighted") == weighted
    zeros = value(room.average_precision, evidence, absent="0")
    precisions = [average_precision([(y == k, r[k]) for y, r in objects]) for k in range(3)]
    assert zeros == Fraction(sum(0 if q == "undefined" else q for q in precisions), 3)
    flat = [(y == k, r[k]) for y, r in objects for k in range(3)]
    assert value(room.roc_auc, evidence, average="micro") == mann_whitney(flat)
    assert value(room.average_precision, evidence, average="micro") == average_precision(flat)
    pairs: list[tuple[Any, int]] = []
    for j, k in itertools.combinations(range(3), 2):
        both = [(y, r) for y, r in objects if y in (j, k)]
        sides = [mann_whitney([(y == m, r[m]) for y, r in both]) for m in (j, k)]
        pairs.append(("undefined" if "undefined" in sides else sum(sides) / 2, len(both)))
    if all(area != "undefined" for area, _ in pairs):
        mean = sum(area for area, _ in pairs) / 3
        assert value(room.roc_auc, evidence, pairing="ovo") == mean
        mass = sum(area * n for area, n in pairs) / sum(n for _, n in pairs)
        assert value(room.roc_auc, evidence, pairing="ovo", average="weighted") == mass
    else:
        assert value(room.roc_auc, evidence, pairing="ovo") == "undefined"


@pytest.mark.spec("PB-TOPK")
@given(many)
def test_the_largest_scores(objects: list[tuple[int, list[Fraction]]]) -> None:
    evidence, n = columns(objects), len(objects)
    for k in (1, 2, 3):
        for ties, sign in (("first", 1), ("last", -1)):
            hits = 0
            for y, r in objects:
                order = sorted(range(3), key=lambda m: (-r[m], sign * m))
                hits += y in order[:k]
            assert room.top_k_accuracy(evidence, k=k, ties=ties).fraction == Fraction(hits, n)
    assert room.top_k_accuracy(evidence, k=3).fraction == 1


@pytest.mark.spec("PB-LOGLOSS")
@given(two)
def test_log_loss(objects: list[tuple[bool, Fraction]]) -> None:
    evidence, n = judged(objects), len(objects)
    chances = [p if y else 1 - p for y, p in objects]
    if 0 in chances:
        assert value(room.log_loss, evidence) == math.inf
    else:
        # The likelihood is the exponential of the loss, and known by multiplication.
        assert exp(-n * room.log_loss(evidence)) == math.prod(chances)
    clipped = [min(max(p, Fraction(1, 8)), Fraction(7, 8)) for p in chances]
    assert exp(-n * room.log_loss(evidence, clip=Fraction(1, 8))) == math.prod(clipped)


@pytest.mark.spec("PB-LOGLOSS")
@given(many)
def test_log_loss_of_several_classes(objects: list[tuple[int, list[Fraction]]]) -> None:
    due = math.prod(r[y] for y, r in objects)
    assert exp(-len(objects) * room.log_loss(columns(objects))) == due


@pytest.mark.spec("PB-BRIER", "PB-BRIERK")
@given(two, many)
def test_brier_scores(
    objects: list[tuple[bool, Fraction]], others: list[tuple[int, list[Fraction]]]
) -> None:
    n = len(objects)
    due = sum(((1 - p) ** 2 if y else p**2) for y, p in objects) / n
    assert room.brier_score(judged(objects)).fraction == due
    assert room.squared_error(judged(objects), 0).fraction == due
    # Two columns count every error twice, and are halved unless told not to be.
    truth = [int(y) for y, _ in objects]
    pairs = Probabilities.of_many(truth, [[1 - p, p] for _, p in objects], range(2))
    assert room.brier_score(pairs).fraction == due
    assert room.brier_score(pairs, half="no").fraction == 2 * due
    errors = [sum((r[k] - (y == k)) ** 2 for k in range(3)) for y, r in others]
    summed = sum(errors) / Fraction(len(errors))
    assert room.brier_score(columns(others)).fraction == summed
    assert room.summed_squared_errors(columns(others)).fraction == summed
    assert room.brier_score(columns(others), half="yes").fraction == summed / 2


@pytest.mark.spec("PB-HINGE")
@given(two, many)
def test_hinge_loss(
    objects: list[tuple[bool, Fraction]], others: list[tuple[int, list[Fraction]]]
) -> None:
    short = [max(Fraction(0), 1 - s if y else 1 + s) for y, s in objects]
    assert room.hinge_loss(judged(objects)).fraction == sum(short) / len(short)
    leads = [r[y] - max(r[:y] + r[y + 1 :]) for y, r in others]
    lacks = [1 - lead if lead < 1 else Fraction(0) for lead in leads]
    assert room.hinge_loss(columns(others)).fraction == sum(lacks) / len(lacks)


@pytest.mark.spec("PB-BINS")
@given(st.fractions(0, 1, max_denominator=30), st.integers(1, 12))
def test_every_confidence_has_one_bin(p: Fraction, bins: int) -> None:
    m = room.bin_of(p, bins, "right")
    assert Fraction(m - 1, bins) < p <= Fraction(m, bins) or (p == 0 and m == 1)
    m = room.bin_of(p, bins, "left")
    assert Fraction(m - 1, bins) <= p < Fraction(m, bins) or (p == 1 and m == bins)


@pytest.mark.spec("PB-ECE", "PB-MCE", "PB-BINS")
@given(two, st.integers(1, 6), st.sampled_from(["right", "left"]))
def test_calibration(objects: list[tuple[bool, Fraction]], bins: int, closed: str) -> None:
    evidence, n = judged(objects), len(objects)
    groups: dict[int, list[tuple[bool, Fraction]]] = {}
    for y, p in objects:
        groups.setdefault(room.bin_of(p, bins, closed), []).append((y, p))
    # The gap of a bin, times its size, is the sum of what its objects are off.
    off = {m: abs(sum((y - p for y, p in group), Fraction())) for m, group in groups.items()}
    options: dict[str, Any] = {"bins": bins, "closed": closed}
    assert room.expected_calibration_error(evidence, **options).fraction == sum(off.values()) / n
    worst = max(gap / len(groups[m]) for m, gap in off.items())
    assert room.maximum_calibration_error(evidence, **options).fraction == worst
    squares = sum(gap**2 / len(groups[m]) for m, gap in off.items()) / n
    assert room.expected_calibration_error(evidence, norm="l2", **options) == sqrt(squares)
    # Several columns: the largest probability is the confidence, of the first class that has it.
    pairs = Probabilities.of_many(
        [int(y) for y, _ in objects], [[1 - p, p] for _, p in objects], [0, 1]
    )
    sure = [(max(p, 1 - p), y == (p > 1 - p)) for y, p in objects]
    assert room.confidences(pairs) == sure


@pytest.mark.spec("PB-AUC", "PB-AP", "PB-LOGLOSS", "PB-BRIER", "PB-ECE", "PB-TOPK", "PB-HINGE")
@given(two, many, counts)
def test_a_whole_weight_is_as_many_copies(
    objects: list[tuple[bool, Fraction]], others: list[tuple[int, list[Fraction]]], w: list[int]
) -> None:
    copies = [part for part, count in zip(objects, w, strict=False) for _ in range(count)]
    heavy, repeated = judged(objects, w[: len(objects)]), judged(copies)
    for formula in (room.roc_auc, room.average_precision, room.brier_score, room.hinge_loss):
        assert value(formula, heavy) == value(formula, repeated)
    for formula in (room.expected_calibration_error, room.maximum_calibration_error):
        assert value(formula, heavy) == value(formula, repeated)
    left, right = value(room.log_loss, heavy), value(room.log_loss, repeated)
    assert left == right
    more = [part for part, count in zip(others, w, strict=False) for _ in range(count)]
    heavy, repeated = columns(others, w[: len(others)]), columns(more)
    assert value(room.top_k_accuracy, heavy) == value(room.top_k_accuracy, repeated)
    for pairing, average in itertools.product(("ovr", "ovo"), ("macro", "weighted")):
        options = {"pairing": pairing, "average": average}
        assert value(room.roc_auc, heavy, **options) == value(room.roc_auc, repeated, **options)


@pytest.mark.spec("PB-LOGLOSS")
def test_nothing_is_clipped_unless_asked() -> None:
    score = refclust.log_loss([1, 0], [0.0, 0.5])
    assert score == math.inf
    assert score.undefined == "a true class has probability 0, and −log 0 is infinite"
    clipped = refclust.log_loss([1, 0], [0.0, 0.5], profile="sklearn")
    assert clipped.exact == (52 * log(2) + log(2)) / 2


@pytest.mark.spec("PB-TOPK", "PB-LOGLOSS", "PB-OVR", "PB-PAUC")
def test_options_at_their_ends() -> None:
    rows = Probabilities.of_many("ab", [[1, 0], [1, 0]], "ab")
    for k in (Fraction(3, 2), Fraction(1, 2), 0, -1):
        with pytest.raises(BadOption, match="whole number"):
            room.top_k_accuracy(rows, k=k)
    assert room.top_k_accuracy(rows, k=1).fraction == Fraction(1, 2)
    single = Probabilities.of_two([1, 0], [Fraction(1, 4), Fraction(1, 2)])
    for clip in (Fraction(1, 2), Fraction(3, 4), 1, -1):
        with pytest.raises(BadOption, match="clip"):
            room.log_loss(single, clip=clip)
    assert room.log_loss(single, clip=Fraction(1, 3)) == (log(3) + log(2)) / 2
    for f in (0, 2, -1):
        with pytest.raises(BadOption, match="max_fpr"):
            room.roc_auc(single, max_fpr=f)
    # One column is looked at, and it is the first.
    assert room.one_vs_rest(single, lambda _, k: real(k + 7), "macro", "undefined") == 7


@pytest.mark.spec("PB-RANKLOSS", "PB-COVERAGE", "PB-LRAP")
@given(
    st.integers(2, 4).flatmap(
        lambda k: st.lists(
            st.tuples(
                st.sets(st.integers(0, k - 1)),
                st.lists(st.integers(0, 3), min_size=k, max_size=k),
                st.integers(1, 3),
            ),
            min_size=1,
            max_size=4,
        )
    )
)
def test_rankings_of_labels(objects: list[tuple[set[int], list[int], int]]) -> None:
    k = len(objects[0][1])
    loss = coverage = precision = Fraction()
    for true, row, weight in objects:
        false = set(range(k)) - true
        wrong = sum(row[z] >= row[y] for y in true for z in false)
        loss += weight * Fraction(wrong, max(1, len(true) * len(false)))
        lowest = min((row[y] for y in true), default=4)
        coverage += weight * sum(s >= lowest for s in row)
        shares = [
            Fraction(sum(row[z] >= row[y] for z in true), sum(s >= row[y] for s in row))
            for y in true
        ]
        precision += weight * (sum(shares, Fraction()) / len(shares) if shares else 1)
    truth, scores, weights = (list(column) for column in zip(*objects, strict=True))
    judged = refclust.probabilities(truth, scores, labels=range(k), weights=weights, several=True)
    whole = sum(weight for _, _, weight in objects)
    assert refclust.ranking_loss(judged).fraction == loss / whole
    assert refclust.coverage_error(judged).fraction == coverage / whole
    assert refclust.label_ranking_average_precision(judged).fraction == precision / whole
