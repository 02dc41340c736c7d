"""Classification metrics as calls: evidence, errors, profiles, the ledger of other libraries."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import refclust
from refclust.errors import (
    BadDistribution,
    BadLabel,
    BadNumber,
    BadOption,
    BadTable,
    EmptyInput,
    LabelLengthMismatch,
    NotBinary,
    ProfileLacksMetric,
    RaggedRows,
    RefclustError,
    WrongCount,
    WrongEvidence,
)
from refclust.formulas.confusion import Confusion
from refclust.metrics import catalogue
from refclust.metrics.calls.confusions import score_predictions
from refclust.metrics.calls.probabilities import score_probabilities
from refclust.metrics.score import Score, evaluate, selection

PEERS = Path(__file__).parents[1] / "golden" / "peers" / "classification.json"
OBSERVED = json.loads(PEERS.read_text(encoding="utf-8"))["cases"]
# Every number printed there is made of fewer than 64 sums, products and quotients of numbers below
# 64, and no denominator is below 1/64: so it is off by less than 64 · 64 · 64 units of 2⁻⁵³.
ROUNDING = 2.0**-35


def evidence_of(case: dict[str, Any]) -> Any:
    weights = case.get("weights")
    if "predicted" in case:
        return refclust.confusion(case["truth"], case["predicted"], weights=weights)
    labels = case["labels"] if isinstance(case["scores"][0], list) else None
    return refclust.probabilities(case["truth"], case["scores"], labels=labels, weights=weights)


@pytest.mark.parametrize("case", OBSERVED, ids=range(len(OBSERVED)))
def test_the_profile_prints_what_sklearn_printed(case: dict[str, Any]) -> None:
    evidence = evidence_of(case)
    for key, prints in case["prints"].items():
        entry, options = catalogue.parse_key(key)
        score = evaluate(entry, evidence, dict(options), profile="sklearn")
        if prints is None or isinstance(prints, str):
            assert math.isnan(score), key
        elif math.isinf(prints):
            assert score == prints, key
        else:
            assert abs(score - prints) <= ROUNDING, key


def both(
    metric: Any, truth: Any, predicted: Any, profile: str, **options: Any
) -> tuple[Score, Score]:
    return (
        metric(truth, predicted, **options),
        metric(truth, predicted, profile=profile, **options),
    )


def same(score: Score, value: float) -> bool:
    return bool(score == value) or (math.isnan(score) and math.isnan(value))


NAN = math.nan
LEDGER: list[tuple[Any, Any, Any, str, float, float]] = [
    # metric, truth, prediction, library, our value, theirs
    (refclust.kappa, [1, 1], [1, 1], "sklearn", NAN, NAN),
    (refclust.kappa, [1, 1], [1, 1], "torchmetrics", NAN, NAN),
    (refclust.kappa, [1, 1], [1, 1], "permetrics", NAN, 0.0),
    (refclust.kappa, [1, 1], [1, 1], "pycm", NAN, NAN),
    (refclust.mcc, [1, 1], [1, 1], "sklearn", NAN, 0.0),
    (refclust.mcc, [1, 1], [1, 1], "torchmetrics", NAN, 1.0),
    (refclust.mcc, [1, 1], [1, 1], "permetrics", NAN, 0.0),
    (refclust.mcc, [1, 1], [1, 1], "pycm", NAN, NAN),
    (refclust.mcc, [0, 0], [1, 1], "sklearn", NAN, 0.0),
    (refclust.mcc, [0, 0], [1, 1], "torchmetrics", NAN, -1.0),
    (refclust.mcc, [0, 0, 0, 0], [0, 0, 0, 1], "sklearn", NAN, 0.0),
    (refclust.balanced_accuracy, [0, 0, 1, 1], [0, 0, 1, 2], "sklearn", NAN, 0.75),
    (refclust.balanced_accuracy, [0, 0, 1, 1], [0, 0, 1, 2], "torchmetrics", NAN, 0.5),
    (refclust.positive_likelihood_ratio, [0, 0], [0, 0], "sklearn", NAN, NAN),
    (refclust.positive_likelihood_ratio, [0, 1], [0, 1], "sklearn", math.inf, NAN),
    (refclust.roc_auc, [0, 0], [0.1, 0.2], "sklearn", NAN, NAN),
    (refclust.average_precision, [0, 0], [0.1, 0.2], "sklearn", NAN, 0.0),
    (refclust.macro_f1, [0, 0, 0, 1, 2], [0, 1, 0, 1, 1], "sklearn", 13 / 30, 13 / 30),
    (refclust.macro_f1, [0, 0, 0, 1, 2], [0, 1, 0, 1, 1], "pycm", 13 / 30, 13 / 30),
]


@pytest.mark.parametrize(("metric", "truth", "predicted", "profile", "ours", "theirs"), LEDGER)
def test_the_ledger(
    metric: Any, truth: Any, predicted: Any, profile: str, ours: float, theirs: float
) -> None:
    here, there = both(metric, truth, predicted, profile)
    assert same(here, ours)
    assert same(there, theirs)


def test_adjusted_balanced_accuracy_of_one_class() -> None:
    for predicted, value in (([0, 0], NAN), ([1, 1], -math.inf)):
        _, there = both(refclust.balanced_accuracy, [0, 0], predicted, "sklearn", adjusted="yes")
        assert same(there, value)


def test_two_definitions_of_macro_f1() -> None:
    truth, predicted = [0, 0, 0, 1, 2], [0, 1, 0, 1, 1]  # D22
    assert refclust.macro_f1(truth, predicted).fraction == Fraction(13, 30)
    of_means = refclust.f1_of_means(truth, predicted, zero_division="0")
    assert of_means.fraction == Fraction(40, 81)
    assert math.isnan(refclust.f1_of_means(truth, predicted))  # class 2 is never predicted


def test_an_explanation_quotes_the_accident_of_torchmetrics() -> None:
    text = refclust.mcc([0, 0, 0, 0], [0, 0, 0, 1]).explain().text()  # D27
    assert "0.577 was seen" in text
    assert "scikit-learn 1.9.1" in text
    assert "undefined (0/0: a side has one class only)" in text


def test_the_clause_of_an_average_is_cited() -> None:
    score = refclust.f1([0, 1, 2], [0, 1, 1], average="macro", zero_division="0")
    assert score.name == "f1[average=macro,zero_division=0]"
    assert score.spec == ("CE-AVERAGE", "CE-F1")
    assert refclust.f1([0, 1, 2], [0, 1, 1], average="micro").spec == ("CE-MICROF1", "CE-F1")


def test_the_positive_class() -> None:
    for truth, predicted in (
        ([0, 1, 1], [0, 1, 0]),
        ([False, True, True], [False, True, False]),
        ([-1, 1, 1], [-1, 1, -1]),
        (["0", "1", "1"], ["0", "1", "0"]),
        (["false", "true", "true"], ["false", "true", "false"]),
    ):
        assert refclust.recall(truth, predicted).fraction == Fraction(1, 2)
        first = truth[0]
        assert refclust.recall(truth, predicted, positive=first).fraction == 1
    assert refclust.recall("nyy", "nyn", positive="y").fraction == Fraction(1, 2)
    assert refclust.recall("abc", "aac", positive="b").fraction == 0  # one against the rest
    with pytest.raises(BadOption, match="which of the classes 'n', 'y' is positive"):
        refclust.recall("nyy", "nyn")
    with pytest.raises(BadOption, match="'z' is none of the classes 'n', 'y'"):
        refclust.recall("nyy", "nyn", positive="z")
    table = refclust.confusion([0, 0], [0, 0])  # 1 does not occur, and no average counts it
    assert (table.positive, table.named) == (1, 1)
    assert evaluate(catalogue.find("macro_f1"), table, {}).fraction == 1


def test_classes_that_are_not_named() -> None:
    truth, predicted = "abcab", "abaca"
    kept = refclust.confusion(truth, predicted, labels="ba")
    assert (kept.labels, kept.named, kept.total) == (("b", "a", "c"), 2, 5)
    dropped = refclust.confusion(truth, predicted, labels="ba", others="drop")
    assert (dropped.labels, dropped.rows(), dropped.total) == (("b", "a"), [[1, 1], [0, 1]], 3)
    micro = refclust.precision(truth, predicted, labels="ba", average="micro")
    assert micro.fraction == Fraction(2, 4)
    with pytest.raises(BadOption, match="others="):
        refclust.confusion(truth, predicted, others="forget")


def test_tables_are_taken_with_their_names() -> None:
    table = refclust.confusion([[1, 2], [0, "1/2"]], labels=["no", "yes"], positive="yes")
    assert refclust.precision(table).fraction == Fraction(1, 5)
    assert isinstance(table, Confusion)
    assert refclust.accuracy([[1, 2], [3, 4]]).fraction == Fraction(1, 2)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: refclust.confusion([[1, 2]]), BadTable),
        (lambda: refclust.confusion([[1, 2], [3]]), RaggedRows),
        (lambda: refclust.confusion([[1, 2], [3, 4]], labels="abc"), WrongCount),
        (lambda: refclust.confusion([[1, 2], [3, 4]], weights=[1, 1]), BadOption),
        (lambda: refclust.confusion("ab", "ab", labels="aba"), BadOption),
        (lambda: refclust.confusion("ab", "ab", labels=[]), BadOption),
        (lambda: refclust.confusion("ab", "a"), LabelLengthMismatch),
        (lambda: refclust.confusion("ab", "ab", costs=[[0, 1]]), WrongCount),
        (lambda: refclust.confusion("ab", "ab", costs=[[0, "x"], [1, 0]]), BadNumber),
        (lambda: refclust.confusion("ab", "ab", costs=3), BadNumber),
        (lambda: refclust.accuracy([], []), EmptyInput),
        (lambda: refclust.f_beta([0, 1], [0, 1], beta=-1), BadOption),
        (lambda: refclust.set_f([[1]], [[1]], beta=-1), BadOption),
        (lambda: refclust.label_sets(["ab"], ["ab"]), BadLabel),
        (lambda: refclust.label_sets([["a"]], []), LabelLengthMismatch),
        (lambda: refclust.label_sets([["a"]], [["b"]], labels="a"), BadOption),
        (lambda: refclust.label_sets([[0, 2]], [[0, 1]], indicators=True), NotBinary),
        (lambda: refclust.label_sets([[0, 1]], [[0]], indicators=True, labels="ab"), WrongCount),
        (lambda: refclust.probabilities("ab", [0.5, 0.5]), BadOption),
        (lambda: refclust.probabilities([0, 1], [0.5]), LabelLengthMismatch),
        (lambda: refclust.probabilities([0, 1], [0.5, "x"]), BadNumber),
        (lambda: refclust.probabilities([0, 1], [[0.5, 0.5], [1.0]]), RaggedRows),
        (lambda: refclust.probabilities([0, 1], [[0.2] * 3] * 2), WrongCount),
        (lambda: refclust.probabilities([0, 5], [[0.5] * 2] * 2, labels=[0, 1]), BadOption),
        (lambda: refclust.probabilities([0, 1], [[0.5] * 2] * 2, labels=[0, 0]), BadOption),
        (lambda: refclust.probabilities([0, 1], [[0.5] * 2] * 2, positive=1), BadOption),
        (lambda: refclust.log_loss([0, 1], [0.5, 1.5]), BadDistribution),
        (lambda: refclust.log_loss([0, 1], [0.5, 0.5], clip=0.5), BadOption),
        (lambda: refclust.top_k_accuracy([0, 1], [0.5, 0.5]), WrongEvidence),
        (lambda: refclust.top_k_accuracy([0, 1], [[0.5] * 2] * 2, k="1/2"), BadOption),
        (lambda: refclust.roc_auc([0, 1], [0.5, 0.5], max_fpr=2), BadOption),
        (lambda: refclust.expected_calibration_error([0, 1], [0.5, 0.5], bins=0), BadOption),
        (lambda: refclust.per_class("log_loss", [0, 1], [0.5, 0.5]), BadOption),
        (lambda: refclust.specificity([0, 1], [0, 1], profile="sklearn"), ProfileLacksMetric),
    ],
)
def test_what_is_refused(build: Any, error: type[RefclustError]) -> None:
    with pytest.raises(error):
        build()


def test_each_class_by_itself() -> None:
    recalls = refclust.per_class("recall", "xxyy", "xyyy")
    assert {label: score.fraction for label, score in recalls.items()} == {
        "x": Fraction(1, 2),
        "y": Fraction(1),
    }
    scores = [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]]
    areas = refclust.per_class("roc_auc", "abb", scores)
    assert {label: score.fraction for label, score in areas.items()} == {
        "a": Fraction(1, 2),
        "b": Fraction(1, 2),
    }
    sets = refclust.per_class("set_recall", [["a", "b"], ["b"]], [["a"], ["b"]])
    assert [score.fraction for score in sets.values()] == [1, Fraction(1, 2)]


def test_the_whole_table_of_a_class_and_all_others() -> None:
    truth, predicted = [2, 0, 2, 2, 0, 1, 1, 2, 2, 0, 1, 2], [0, 0, 2, 1, 0, 2, 1, 0, 2, 0, 2, 2]
    accuracies = refclust.per_class("accuracy", truth, predicted)
    assert [score.fraction for score in accuracies.values()] == [
        Fraction(10, 12),
        Fraction(9, 12),
        Fraction(7, 12),
    ]
    for label, score in refclust.per_class("mcc", truth, predicted).items():
        sides = [[y == label for y in side] for side in (truth, predicted)]
        assert score.exact == refclust.mcc(*sides).exact


def test_a_report_is_data() -> None:
    report = refclust.classification_report("aabbc", "abbca")
    assert report.accuracy.fraction == Fraction(2, 5)
    assert [(row.name, row.f1.fraction, row.support) for row in report.classes] == [
        ("a", Fraction(1, 2), 2),
        ("b", Fraction(1, 2), 2),
        ("c", 0, 1),
    ]
    assert [row.name for row in report.averages] == ["micro", "macro", "weighted"]
    assert report.averages[2].precision.fraction == Fraction(2, 5)
    never = refclust.classification_report("ab", "aa")
    assert never.classes[1].precision.undefined is not None
    there = refclust.classification_report("ab", "aa", profile="sklearn")
    assert there.classes[1].precision == 0.0


def test_everything_that_makes_sense_at_once() -> None:
    without = refclust.confusion("abcab", "abaca")
    chosen, left_out = selection(without)
    assert "mcc" in {entry.name for entry in chosen}
    assert left_out["precision"] == "they need a positive class, or average=macro"
    assert "precision" in score_predictions([0, 1], [0, 1])
    scores = score_probabilities([0, 1, 1], [0.5, 2.5, 1.0])
    assert set(scores) == {"roc_auc", "average_precision", "hinge_loss"}
    several = refclust.probabilities([["a"], ["a", "b"]], [[1, 0], [0, 1]], several=True)
    rankings = {"ranking_loss", "coverage_error", "label_ranking_average_precision"}
    areas = {"roc_auc", "average_precision"}
    assert {entry.name for entry in selection(several)[0]} == areas | rankings
    columns = score_probabilities("ab", [[0.5, 0.5], [0.25, 0.75]])
    assert {"top_k_accuracy", "log_loss", "brier_score"} <= set(columns)
