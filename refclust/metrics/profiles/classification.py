"""How other libraries score classifications (chapters 50 and 52)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from refclust.formulas.confusion import Confusion
from refclust.formulas.judged import Probabilities
from refclust.metrics.profiles.rules import Case, Options, Quirk, Rule

_ANY: Final[tuple[Any, ...]] = ()  # every value of the option
_EPSILON: Final = Fraction(1, 2**52)  # of doubles

# -- conditions -----------------------------------------------------------------------------


def _many_classes(table: Confusion, options: Options) -> bool:
    return options["average"] == "binary" and len(table.labels) > 2


def _one_class(table: Confusion, _: Options) -> bool:
    return len({label for cell, _ in table.cells() for label in cell}) == 1


def _more_than_two(table: Confusion, _: Options) -> bool:
    return len(table.labels) > 2


def _no_false_positives(table: Confusion, _: Options) -> bool:
    return table.tally(table.positive_class).fp == 0


def _no_true_negatives(table: Confusion, _: Options) -> bool:
    return table.tally(table.positive_class).tn == 0


def _all_right(table: Confusion, _: Options) -> bool:
    return len(table.labels) <= 2 and table.right == table.total


def _all_wrong(table: Confusion, _: Options) -> bool:
    return len(table.labels) <= 2 and table.right == 0


def _mixed_sides(table: Confusion, options: Options) -> bool:
    one_sided = table.total in (*table.row, *table.col)
    decided = _all_right(table, options) or _all_wrong(table, options)
    return len(table.labels) <= 2 and one_sided and not decided


def _weighted_pairs(judged: Probabilities, options: Options) -> bool:
    ones = all(judged.weight(i) == 1 for i in range(len(judged.scores)))
    return options["pairing"] == "ovo" and not judged.is_binary and not ones


def _nothing_to_weight(judged: Probabilities, options: Options) -> bool:
    several = not judged.exclusive and options["average"] == "weighted"
    return several and not any(judged.truth)


def _one_sided(judged: Probabilities, _: Options) -> bool:
    return judged.is_binary and judged.support(0) in (0, judged.total)


# -- the libraries --------------------------------------------------------------------------

_ZERO: Final = {"zero_division": "0"}
_ZEROS: Final = ("0", "1", "skip")  # zero_division=0, 1 and nan
_NOT_TWO: Final = Case(_many_classes, math.nan, "ValueError")
_LR_REFUSES: Final = (
    Case(_one_class, math.nan, "ValueError"),
    Case(_more_than_two, math.nan, "ValueError"),
)


def _averaged(call: str, zeros: tuple[str, ...] = _ZEROS, **offers: tuple[Any, ...]) -> Rule:
    return Rule(
        call,
        cases=(_NOT_TWO,),
        defaults=_ZERO,
        offers={"average": _ANY, "zero_division": zeros, **offers},
    )


def _over_sets(call: str, zeros: tuple[str, ...] = _ZEROS, **offers: tuple[Any, ...]) -> Rule:
    return Rule(call, defaults=_ZERO, offers={"average": _ANY, "zero_division": zeros, **offers})


_SKLEARN: Final[Mapping[str, Rule]] = {
    "accuracy": Rule("accuracy_score(true, pred)"),
    "error_rate": Rule("zero_one_loss(true, pred)"),
    "precision": _averaged("precision_score(true, pred, average=…)"),
    "recall": _averaged("recall_score(true, pred, average=…)"),
    "f1": _averaged("f1_score(true, pred, average=…)"),
    "f_beta": _averaged("fbeta_score(true, pred, beta=…, average=…)", beta=_ANY),
    "class_jaccard": _averaged("jaccard_score(true, pred, average=…)", ("0", "1")),
    "macro_f1": Rule(
        "f1_score(true, pred, average='macro')", defaults=_ZERO, offers={"zero_division": _ZEROS}
    ),
    "positive_likelihood_ratio": Rule(
        "class_likelihood_ratios(true, pred)[0]",
        cases=(*_LR_REFUSES, Case(_no_false_positives, math.nan)),
    ),
    "negative_likelihood_ratio": Rule(
        "class_likelihood_ratios(true, pred)[1]",
        cases=(*_LR_REFUSES, Case(_no_true_negatives, math.nan)),
    ),
    "balanced_accuracy": Rule(
        "balanced_accuracy_score(true, pred, adjusted=…)",
        defaults={"zero_division": "skip"},
        offers={"adjusted": _ANY},
    ),
    "kappa": Rule(
        "cohen_kappa_score(true, pred, weights=…)",
        defaults={"order": "any"},
        offers={"weighting": _ANY},
    ),
    "mcc": Rule("matthews_corrcoef(true, pred)", undefined=0),
    "hamming_loss": Rule("hamming_loss(true, pred)"),
    "subset_accuracy": Rule("accuracy_score(true, pred)"),
    "set_precision": _over_sets("precision_score(true, pred, average=…)"),
    "set_recall": _over_sets("recall_score(true, pred, average=…)"),
    "set_f": _over_sets("fbeta_score(true, pred, beta=…, average=…)", beta=_ANY),
    "set_jaccard": _over_sets("jaccard_score(true, pred, average=…)", ("0", "1")),
    "roc_auc": Rule(
        "roc_auc_score(true, scores, average=…, multi_class=…, max_fpr=…)",
        cases=(
            Case(_weighted_pairs, math.nan, "ValueError"),
            Case(_nothing_to_weight, 0),
        ),
        offers={"average": _ANY, "pairing": _ANY, "max_fpr": _ANY},
    ),
    "average_precision": Rule(
        "average_precision_score(true, scores, average=…)",
        undefined=0,
        defaults={"absent": "0"},
        offers={"average": _ANY},
    ),
    "log_loss": Rule("log_loss(true, proba)", defaults={"clip": _EPSILON}),
    "brier_score": Rule("brier_score_loss(true, proba, scale_by_half=…)", offers={"half": _ANY}),
    "top_k_accuracy": Rule(
        "top_k_accuracy_score(true, scores, k=…)",
        defaults={"ties": "last"},
        offers={"k": _ANY},
    ),
    "hinge_loss": Rule("hinge_loss(true, decision)"),
    "ranking_loss": Rule("label_ranking_loss(true, scores)"),
    "coverage_error": Rule("coverage_error(true, scores)"),
    "label_ranking_average_precision": Rule("label_ranking_average_precision_score(true, scores)"),
}

_PRESENT: Final = {"zero_division": "present"}  # 0, and classes that never occur are left out


def _by_torch(call: str, **offers: tuple[Any, ...]) -> Rule:
    return Rule(call, undefined=0, defaults=_PRESENT, offers={"average": _ANY, **offers})


_TORCHMETRICS: Final[Mapping[str, Rule]] = {
    "accuracy": Rule("accuracy(pred, true, task=…, average='micro')"),
    "precision": _by_torch("precision(pred, true, task=…, average=…)"),
    "recall": _by_torch("recall(pred, true, task=…, average=…)"),
    "f1": _by_torch("f1_score(pred, true, task=…, average=…)"),
    "f_beta": _by_torch("fbeta_score(pred, true, task=…, beta=…, average=…)", beta=_ANY),
    "macro_f1": Rule("multiclass_f1_score(pred, true, average='macro')", defaults=_PRESENT),
    "balanced_accuracy": Rule(
        "multiclass_accuracy(pred, true, average='macro')", defaults=_PRESENT
    ),
    "kappa": Rule(
        "cohen_kappa(pred, true, task=…, weights=…)",
        defaults={"order": "any"},
        offers={"weighting": _ANY},
    ),
    "mcc": Rule(
        "matthews_corrcoef(pred, true, task=…)",
        undefined=0,
        cases=(Case(_all_right, 1), Case(_all_wrong, -1)),
    ),
}

_PYCM: Final[Mapping[str, Rule]] = {
    "accuracy": Rule("ConfusionMatrix(true, pred).Overall_ACC"),
    "macro_f1": Rule("ConfusionMatrix(true, pred).F1_Macro"),
    "kappa": Rule("ConfusionMatrix(true, pred).Kappa"),
    "mcc": Rule("ConfusionMatrix(true, pred).Overall_MCC"),
}

_PERMETRICS: Final[Mapping[str, Rule]] = {
    "kappa": Rule("ClassificationMetric(true, pred).cohen_kappa_score()", undefined=0),
    "mcc": Rule("ClassificationMetric(true, pred).matthews_correlation_coefficient()", undefined=0),
}

RULES: Final[Mapping[str, Mapping[str, Rule]]] = {
    "sklearn": _SKLEARN,
    "torchmetrics": _TORCHMETRICS,
    "pycm": _PYCM,
    "permetrics": _PERMETRICS,
}


def _subset(table: Confusion, _: Options) -> bool:
    return table.named < len(table.labels) and any(
        max(cell) >= table.named for cell, _ in table.cells()
    )


def _class_is_absent(judged: Probabilities, options: Options) -> bool:
    absent = not all(judged.support(k) for k in range(len(judged.classes)))
    return options["pairing"] == "ovo" and not judged.is_binary and absent


QUIRKS: Final[tuple[Quirk, ...]] = (
    Quirk(
        "sklearn",
        "kappa",
        _subset,
        "with labels=…, drops the objects of all other classes (here: others='drop')",
    ),
    Quirk(
        "sklearn",
        "kappa",
        lambda table, options: options["weighting"] != "none" and not table.in_order,
        "sorts the classes by their names, so near misses are those of the alphabet (D21)",
    ),
    Quirk(
        "sklearn",
        "roc_auc",
        _class_is_absent,
        "leaves out the pairs of a class that does not occur",
    ),
    Quirk(
        "sklearn",
        "hinge_loss",
        _one_sided,
        "takes the only class that occurs for the negative one, even with labels=[0, 1]",
    ),
    *(
        Quirk(
            "permetrics",
            metric,
            _more_than_two,
            "prints the mean of what each class has against all others (average='macro')",
        )
        for metric in ("kappa", "mcc")
    ),
    Quirk(
        "torchmetrics",
        "mcc",
        _mixed_sides,
        "prints what is left where a small number is added to each margin: 0.577 was seen for "
        "one true class with 3 of 4 right (D27)",
    ),
)
