"""Predicted classes: what must hold for every confusion table (chapter 50)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refclust
from refclust.errors import BadOption
from refclust.formulas import classification as room
from refclust.formulas.confusion import Confusion, LabelSets, Tally
from refclust.formulas.undefined import Undefined
from refclust.numbers.real import sqrt

small = st.integers(0, 6)
tallies = st.builds(Tally, small, small, small, small)
pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)
subsets = st.sets(st.integers(0, 3))
set_pairs = st.lists(st.tuples(subsets, subsets), min_size=1, max_size=6)
weights = st.lists(st.integers(1, 4), min_size=12, max_size=12)


def table_of(objects: list[tuple[int, int]], **keywords: Any) -> Confusion:
    truth, predicted = zip(*objects, strict=True)
    return Confusion.of(truth, predicted, **keywords)


def value(formula: Any, *args: Any, **options: Any) -> Fraction | float | str:
    """A rational value, an infinity, or the word undefined."""
    try:
        number = formula(*args, **options)
    except Undefined as missing:
        return "undefined" if math.isnan(missing.value) else missing.value
    fraction: Fraction | None = number.fraction
    return float(number) if fraction is None else fraction


def quotient(top: int, bottom: int) -> Fraction | float | str:
    if bottom:
        return Fraction(top, bottom)
    return math.inf if top else "undefined"


@pytest.mark.spec("CE-CMK", "CE-COUNTS", "CE-CM2")
@given(pairs)
def test_the_table_counts_objects(objects: list[tuple[int, int]]) -> None:
    table = table_of(objects)
    cells = Counter(objects)
    for k, y in enumerate(table.labels):
        for j, z in enumerate(table.labels):
            assert table.rows()[k][j] == cells[y, z]  # type: ignore[index]
        tp, fp, fn, tn = room.counts(table, k)
        assert (tp + fn, tp + fp) == (table.row[k], table.col[k])
        assert tp == sum(a == b == y for a, b in objects)
        assert tn == sum(y not in (a, b) for a, b in objects)
        assert room.two_by_two(table.against_rest(k)) == ((tp, fn), (fp, tn))
        assert table.tally(k) == room.counts(table, k)


@pytest.mark.spec("CE-CMK")
@given(pairs, weights)
def test_a_whole_weight_is_as_many_copies(objects: list[tuple[int, int]], w: list[int]) -> None:
    copies = [cell for cell, count in zip(objects, w, strict=False) for _ in range(count)]
    weighted = table_of(objects, weights=w[: len(objects)])
    built = room.confusion_table(*zip(*copies, strict=True))
    assert weighted.rows() == built.rows()
    assert weighted.labels == built.labels


@pytest.mark.spec("CE-CMK")
def test_rows_are_true_and_an_order_may_name_more() -> None:
    table = refclust.confusion("aab", "abb", labels="cba")
    assert table.labels == ("c", "b", "a")
    assert table.rows() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]  # ERR-52: the truth is in the rows


@pytest.mark.spec("CE-ACC", "CE-ERR", "CE-MAJ", "CE-VAR", "CE-COST", "CE-ACCTRUE")
@given(pairs)
def test_right_and_wrong(objects: list[tuple[int, int]]) -> None:
    table, n = table_of(objects), len(objects)
    right = sum(y == z for y, z in objects)
    assert room.accuracy(table).fraction == Fraction(right, n)
    assert room.error_rate(table).fraction == room.expected_cost(table).fraction
    assert room.error_rate(table).fraction == Fraction(n - right, n)
    assert room.accuracy_variance(table).fraction == Fraction(right * (n - right), n**3)
    law: Any = {
        cell: Fraction(count, n) for cell, count in Counter((z, y) for y, z in objects).items()
    }
    assert room.true_accuracy(law, lambda z: z).fraction == Fraction(right, n)
    # PROP-CE-2: guessing the majority reaches the share of the majority.
    majority = Counter(y for y, _ in objects).most_common(1)[0][0]
    guessed = room.accuracy(table_of([(y, majority) for y, _ in objects]))
    assert guessed.fraction == room.majority_share(table).fraction


@pytest.mark.spec("CE-COST")
@given(pairs)
def test_costs_are_added_up(objects: list[tuple[int, int]]) -> None:
    truth, predicted = zip(*objects, strict=True)
    costs = [[Fraction(3 * k - 2 * j, 7) for j in range(4)] for k in range(4)]
    cost = refclust.expected_cost(truth, predicted, labels=range(4), costs=costs)
    assert cost.fraction == sum(costs[y][z] for y, z in objects) / Fraction(len(objects))
    assert room.cost(table_of([(0, 1)]), 0, 0) == 0


SIMPLE: dict[str, Any] = {
    "CE-PREC": (room.class_precision, lambda t: quotient(t.tp, t.tp + t.fp)),
    "CE-REC": (room.class_recall, lambda t: quotient(t.tp, t.tp + t.fn)),
    "CE-SPEC": (room.class_specificity, lambda t: quotient(t.tn, t.tn + t.fp)),
    "CE-NPV": (room.class_npv, lambda t: quotient(t.tn, t.tn + t.fn)),
    "CE-FPR": (room.class_fpr, lambda t: quotient(t.fp, t.tn + t.fp)),
    "CE-FNR": (room.class_fnr, lambda t: quotient(t.fn, t.tp + t.fn)),
    "CE-FDR": (room.class_fdr, lambda t: quotient(t.fp, t.tp + t.fp)),
    "CE-FOR": (room.class_for, lambda t: quotient(t.fn, t.tn + t.fn)),
    "CE-F1": (room.class_f1, lambda t: quotient(2 * t.tp, 2 * t.tp + t.fp + t.fn)),
    "CE-JACC": (room.class_overlap, lambda t: quotient(t.tp, t.tp + t.fp + t.fn)),
    "CE-DOR": (room.class_odds_ratio, lambda t: quotient(t.tp * t.tn, t.fp * t.fn)),
}


@pytest.mark.spec(
    "CE-PREC", "CE-REC", "CE-SPEC", "CE-NPV", "CE-FPR", "CE-FNR", "CE-FDR", "CE-FOR", "CE-F1",
    "CE-JACC", "CE-DOR",
)  # fmt: skip
@given(tallies)
def test_quotients_of_counts(t: Tally) -> None:
    for formula, due in SIMPLE.values():
        assert value(formula, t) == due(t)


@pytest.mark.spec("CE-LRPOS", "CE-LRNEG", "CE-YOUDEN", "CE-MARK", "CE-FBETA")
@given(tallies, st.fractions(0, 4, max_denominator=4))
def test_what_follows_from_the_rates(t: Tally, beta: Fraction) -> None:
    tpr, fpr = value(room.class_recall, t), value(room.class_fpr, t)
    fnr, tnr = value(room.class_fnr, t), value(room.class_specificity, t)
    for formula, top, bottom in (
        (room.class_lr_positive, tpr, fpr),
        (room.class_lr_negative, fnr, tnr),
    ):
        ratio = value(formula, t)
        if "undefined" in (top, bottom) or top == bottom == 0:
            assert ratio == "undefined"
        else:
            assert ratio == (Fraction(top) / Fraction(bottom) if bottom else math.inf)
    for formula, first, second in (
        (room.class_youden, tpr, tnr),
        (room.class_markedness, value(room.class_precision, t), value(room.class_npv, t)),
    ):
        if "undefined" in (first, second):
            assert value(formula, t) == "undefined"
        else:
            assert value(formula, t) == Fraction(first) + Fraction(second) - 1
    p, r = value(room.class_precision, t), value(room.class_recall, t)
    f = value(room.class_f_beta, t, beta)
    if isinstance(p, Fraction) and isinstance(r, Fraction) and beta**2 * p + r:
        assert f == (1 + beta**2) * p * r / (beta**2 * p + r)
    assert value(room.class_f_beta, t, 1) == value(room.class_f1, t)
    if beta == 0:
        assert f == p


@pytest.mark.spec("CE-MICROP", "CE-MICROR", "CE-MICROF1", "CE-AVERAGE")
@given(pairs)
def test_micro_averages_of_all_classes_are_the_accuracy(objects: list[tuple[int, int]]) -> None:
    # PROP-CE-1
    table = table_of(objects)
    due = room.accuracy(table).fraction
    for micro in (room.micro_precision, room.micro_recall, room.micro_f1):
        assert micro(table.tallies()).fraction == due
    averages: list[Any] = [room.precision, room.recall, room.f1]
    for formula in averages:
        assert formula(table, average="micro").fraction == due
    # Over some classes the three part company (ERR-20 needs its parentheses).
    two = table_of(objects, labels=[0, 1])
    hits = sum(y == z for y, z in objects if y in (0, 1))
    said = sum(z in (0, 1) for _, z in objects)
    true = sum(y in (0, 1) for y, _ in objects)
    assert value(room.micro_precision, two.tallies()) == quotient(hits, said)
    assert value(room.micro_recall, two.tallies()) == quotient(hits, true)
    assert value(room.micro_f1, two.tallies()) == quotient(2 * hits, said + true)


@pytest.mark.spec("CE-CLASSPR", "CE-AVERAGE", "CE-ZERO", "CE-MACROF1")
@given(pairs)
def test_means_over_classes(objects: list[tuple[int, int]]) -> None:
    table = table_of(objects)
    alone = [value(room.class_precision, t) for t in table.tallies()]
    sizes = [table.row[k] for k in range(table.named)]
    defined = [q for q in alone if isinstance(q, Fraction)]
    rules: dict[str, list[Any]] = {
        "0": [Fraction(0) if q == "undefined" else q for q in alone],
        "1": [Fraction(1) if q == "undefined" else q for q in alone],
        "skip": defined,
        "present": [Fraction(0) if q == "undefined" else q for q in alone],
    }
    for rule, values in rules.items():
        mean = value(room.precision, table, average="macro", zero_division=rule)
        assert mean == sum(map(Fraction, values)) / len(values)
    plain = value(room.precision, table, average="macro")
    assert plain == (sum(defined) / Fraction(len(alone)) if defined == alone else "undefined")
    counting = [(w, q) for w, q in zip(sizes, alone, strict=True) if w]
    weighted = value(room.precision, table, average="weighted")
    if any(q == "undefined" for _, q in counting):
        assert weighted == "undefined"
    else:
        assert weighted == sum(w * Fraction(q) for w, q in counting) / Fraction(table.total)
    if defined == alone and all(sizes):
        scores = [(p.fraction, r.fraction) for p, r in room.class_scores(table)]
        assert [p for p, _ in scores] == alone
        assert [r for _, r in scores] == [
            Fraction(table.diagonal(k), n) for k, n in enumerate(sizes)
        ]
    f1s = [room.class_f1(t).fraction for t in table.tallies()]
    assert room.macro_f1(table).fraction == sum(map(Fraction, f1s)) / len(f1s)  # type: ignore[arg-type]


@pytest.mark.spec("CE-ZERO", "CE-AVERAGE")
def test_a_class_that_never_occurs() -> None:
    objects = {"labels_true": [0, 0, 1], "labels_pred": [0, 1, 1], "labels": [0, 1, 2]}
    score = refclust.recall(**objects, average="macro")
    assert math.isnan(score)
    assert score.undefined == "0/0: no object is of the class (2)"
    means = {"0": "1/2", "1": "5/6", "skip": "3/4", "present": "3/4"}
    for rule, due in means.items():
        score = refclust.recall(**objects, average="macro", zero_division=rule)
        assert score.fraction == Fraction(due)
    # Infinite is not undefined, and no rule hides it.
    infinite = refclust.positive_likelihood_ratio([1, 0], [1, 0], zero_division="0")
    assert infinite == math.inf
    # Where nothing weighs anything, the default is undefined and other rules take a plain mean.
    away = {"labels_true": [0], "labels_pred": [1], "labels": [1, 2], "average": "weighted"}
    assert math.isnan(refclust.precision(**away))
    assert refclust.precision(**away, zero_division="1").fraction == Fraction(1, 2)
    # A class is absent where nothing is or was said to be of it, not where counts cancel.
    assert room.value_of(Tally(2, 2, 0, 0), room.class_npv, "present") == 0
    assert room.value_of(Tally(0, 0, 0, 2), room.class_recall, "present") is None
    # A quotient that stands alone cannot be left out.
    assert math.isnan(refclust.precision([0, 0], [0, 0], zero_division="skip"))


@pytest.mark.spec("CE-F1MEANS", "CE-MACROF1")
@given(pairs)
def test_the_f1_of_means_is_never_below_the_mean_f1(objects: list[tuple[int, int]]) -> None:
    table = table_of(objects)
    of_means = value(room.f1_of_means, table, zero_division="0")
    if of_means == "undefined":
        assert table.right == 0
        return
    p = value(room.precision, table, average="macro", zero_division="0")
    r = value(room.recall, table, average="macro", zero_division="0")
    assert of_means == 2 * Fraction(p) * Fraction(r) / (Fraction(p) + Fraction(r))
    assert Fraction(of_means) >= Fraction(value(room.macro_f1, table))


@pytest.mark.spec("CE-BACC", "CE-BACCADJ", "CE-GMEAN")
@given(pairs)
def test_recalls_together(objects: list[tuple[int, int]]) -> None:
    table = table_of(objects)
    if not all(table.row[: table.named]):
        for formula in (room.mean_recall, room.g_mean):
            assert value(formula, table) == "undefined"
        return
    recalls = [Fraction(table.diagonal(k), n) for k, n in enumerate(table.row) if n]
    k = len(recalls)
    b = value(room.mean_recall, table)
    assert isinstance(b, Fraction)
    assert b == room.balanced_accuracy(table).fraction == sum(recalls) / k
    adjusted = value(room.balanced_accuracy, table, adjusted="yes")
    if k > 1:
        assert adjusted == (k * b - 1) / (k - 1)
    else:
        assert adjusted == "undefined"
    g = room.g_mean(table)
    assert float(g**k) == float(math.prod(recalls))
    assert g <= b  # the geometric mean is at most the arithmetic one
    if k == 2:
        assert g == sqrt(recalls[0] * recalls[1])
        assert adjusted == value(room.youden, table.against_rest(0))


@pytest.mark.spec("CE-BACCADJ")
def test_one_class_has_no_chance_to_be_beaten() -> None:
    assert value(room.above_chance, 1, 1) == "undefined"
    assert value(room.above_chance, Fraction(1, 2), 1) == -math.inf
    assert value(room.above_chance, Fraction(1, 4), 4) == 0


@pytest.mark.spec("CE-KAPPA", "CE-KAPPAW", "CE-MCC")
@given(pairs)
def test_agreement_beyond_chance(objects: list[tuple[int, int]]) -> None:
    table, n = table_of(objects), len(objects)
    places = {label: k for k, label in enumerate(table.labels)}
    crossed = [(y, z) for y, _ in objects for _, z in objects]
    distances: dict[str, Callable[[int, int], int]] = {
        "none": lambda y, z: int(y != z),
        "linear": lambda y, z: abs(places[y] - places[z]),
        "quadratic": lambda y, z: (places[y] - places[z]) ** 2,
    }
    for weighting, distance in distances.items():
        seen = Fraction(sum(distance(y, z) for y, z in objects), n)
        chance = Fraction(sum(distance(y, z) for y, z in crossed), n * n)
        due = 1 - seen / chance if chance else "undefined"
        assert value(room.kappa, table, weighting=weighting) == due
        turned = value(room.kappa, table.transposed(), weighting=weighting)
        assert turned == due
        assert due == "undefined" or -1 <= Fraction(due) <= 1
    correlation = value(room.mcc, table)
    assert correlation == value(room.mcc, table.transposed())
    if len(set(table.row) - {0}) and 0 in (
        len({y for y, _ in objects}) - 1,
        len({z for _, z in objects}) - 1,
    ):
        assert correlation == "undefined"
    else:
        assert -1 <= float(correlation) <= 1
        if len(table.labels) == 2:
            (tp, fn), (fp, tn) = map(tuple, table.rows())
            square = Fraction(
                (tp * tn - fp * fn) ** 2, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
            )
            assert room.mcc(table) ** 2 == square


@pytest.mark.spec("CE-KAPPAW")
def test_near_misses_need_an_order_that_means_something() -> None:
    truth, predicted = ["low", "mid", "high"], ["low", "mid", "mid"]
    with pytest.raises(BadOption, match="labels="):
        refclust.kappa(truth, predicted, weighting="linear")
    ordered = refclust.kappa(truth, predicted, weighting="linear", labels=["low", "mid", "high"])
    anyhow = refclust.kappa(truth, predicted, weighting="linear", order="any")
    assert ordered.fraction == Fraction(4, 7)
    assert anyhow.fraction == Fraction(1, 4)  # D21: the alphabet is another order
    assert refclust.kappa(truth, predicted, weighting="linear", profile="sklearn") == 0.25


@pytest.mark.spec("CE-AVERAGE", "CE-KAPPA", "CE-MCC")
@given(pairs, st.permutations(range(4)))
def test_names_and_order_of_classes_change_nothing(
    objects: list[tuple[int, int]], renamed: list[int]
) -> None:
    table, other = table_of(objects), table_of([(renamed[y], renamed[z]) for y, z in objects])
    averages: list[Any] = [room.precision, room.recall, room.f1, room.class_jaccard]
    for formula in averages:
        for average, rule in itertools.product(("macro", "micro", "weighted"), ("0", "skip")):
            options = {"average": average, "zero_division": rule}
            assert value(formula, table, **options) == value(formula, other, **options)
    for formula in (room.kappa, room.mcc, room.accuracy, room.majority_share):
        assert value(formula, table) == value(formula, other)
    # Turning the table exchanges precision and recall, and keeps F1.
    for average in ("macro", "micro"):
        options = {"average": average, "zero_division": "0"}
        turned = table.transposed()
        assert value(room.precision, table, **options) == value(room.recall, turned, **options)
        assert value(room.f1, table, **options) == value(room.f1, turned, **options)


@pytest.mark.spec("CE-SETS", "CE-HAMMING", "CE-SUBSET", "CE-SAMPLES")
@given(set_pairs)
def test_sets_of_labels(objects: list[tuple[set[int], set[int]]]) -> None:
    truth, predicted = zip(*objects, strict=True)
    sets = LabelSets.of(truth, predicted, labels=range(4))
    n = len(objects)
    hamming = sum(len(y ^ z) for y, z in objects)
    assert room.hamming_loss(sets).fraction == Fraction(hamming, 4 * n)
    assert room.subset_accuracy(sets).fraction == Fraction(sum(y == z for y, z in objects), n)
    overlaps = []
    for i, (y, z) in enumerate(objects):
        assert room.object_tally(sets, i) == (len(y & z), len(z - y), len(y - z), 4 - len(y | z))
        overlaps.append(Fraction(len(y & z), len(y | z)) if y | z else None)
    kept = [q for q in overlaps if q is not None]
    zeros = value(room.over_sets, sets, room.class_overlap, "samples", "0")
    assert zeros == sum(kept, Fraction(0)) / n
    plain = value(room.set_jaccard, sets)
    assert plain == (sum(kept, Fraction(0)) / n if len(kept) == n else "undefined")
    # One label each: sets are classes.
    single = [(min(y, default=0), min(z, default=0)) for y, z in objects]
    table = table_of(single, labels=range(4))
    lone = LabelSets.of([{y} for y, _ in single], [{z} for _, z in single], labels=range(4))
    for average, rule in itertools.product(("macro", "micro", "weighted"), ("undefined", "0")):
        options = {"average": average, "zero_division": rule}
        assert value(room.set_f, lone, **options) == value(room.f1, table, **options)
        assert value(room.set_precision, lone, **options) == value(room.precision, table, **options)
        assert value(room.set_recall, lone, **options) == value(room.recall, table, **options)
    assert value(room.set_f, lone) == room.accuracy(table).fraction


@pytest.mark.spec("CE-HAMMING", "CE-SUBSET", "CE-SAMPLES")
@given(set_pairs, weights)
def test_weights_of_sets_are_copies(objects: list[tuple[set[int], set[int]]], w: list[int]) -> None:
    copies = [pair for pair, count in zip(objects, w, strict=False) for _ in range(count)]
    truth, predicted = zip(*objects, strict=True)
    heavy = LabelSets.of(truth, predicted, range(4), w[: len(objects)])
    copied_truth, copied_predicted = zip(*copies, strict=True)
    many = LabelSets.of(copied_truth, copied_predicted, range(4))
    assert value(room.hamming_loss, heavy) == value(room.hamming_loss, many)
    assert value(room.subset_accuracy, heavy) == value(room.subset_accuracy, many)
    for average in room.SET_AVERAGES:
        options = {"average": average, "zero_division": "0"}
        assert value(room.set_precision, heavy, **options) == value(
            room.set_precision, many, **options
        )
