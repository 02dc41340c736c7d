"""Write what scikit-learn prints for classifications to ``classification.json``.

``python -m tests.golden.peers.observe_classification``: seeded tables, degenerate ones among them.
``null`` is NaN, a text is the name of the exception.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import warnings
from pathlib import Path
from typing import Any

AVERAGES = ("macro", "micro", "weighted")
ZEROS = {"0": 0, "1": 1, "skip": math.nan}


def printed(function: Any, *args: Any, **options: Any) -> float | str | None:
    """What a call prints: a number, null for NaN, or the name of an exception."""
    try:
        number = float(function(*args, **options))
    except (ValueError, IndexError, ZeroDivisionError) as error:
        return type(error).__name__
    return None if math.isnan(number) else number


def of_labels(truth: list[int], predicted: list[int], weights: list[float] | None) -> Any:
    """Everything about predicted classes."""
    from sklearn import metrics as sk

    sides, by = (truth, predicted), {"sample_weight": weights}
    values = {
        "accuracy": printed(sk.accuracy_score, *sides, **by),
        "error_rate": printed(sk.zero_one_loss, *sides, **by),
        "balanced_accuracy": printed(sk.balanced_accuracy_score, *sides, **by),
        "balanced_accuracy[adjusted=yes]": printed(
            sk.balanced_accuracy_score, *sides, adjusted=True, **by
        ),
        "mcc": printed(sk.matthews_corrcoef, *sides, **by),
        "kappa": printed(sk.cohen_kappa_score, *sides, **by),
        "kappa[weighting=linear]": printed(sk.cohen_kappa_score, *sides, weights="linear", **by),
        "kappa[weighting=quadratic]": printed(
            sk.cohen_kappa_score, *sides, weights="quadratic", **by
        ),
    }
    functions = {
        "precision": sk.precision_score,
        "recall": sk.recall_score,
        "f1": sk.f1_score,
        "class_jaccard": sk.jaccard_score,
    }
    for (name, function), average, zero in itertools.product(functions.items(), AVERAGES, ZEROS):
        if name == "class_jaccard" and zero == "skip":
            continue
        key = f"{name}[average={average},zero_division={zero}]"
        options = {"average": average, "zero_division": ZEROS[zero], **by}
        values[key] = printed(function, *sides, **options)
    if max(*truth, *predicted) <= 1:
        for name, function in functions.items():
            values[name] = printed(function, *sides, **by)
        for i, name in enumerate(("positive_likelihood_ratio", "negative_likelihood_ratio")):
            values[name] = printed(
                lambda *a, i=i, **k: sk.class_likelihood_ratios(*a, **k)[i], *sides, **by
            )
    return values


def of_scores(truth: list[int], scores: Any, weights: list[float] | None) -> Any:
    """Everything about scores of one class, or of several."""
    import numpy as np
    from sklearn import metrics as sk

    by = {"sample_weight": weights}
    if not isinstance(scores[0], list):
        return {
            "roc_auc": printed(sk.roc_auc_score, truth, scores, **by),
            "roc_auc[max_fpr=1/4]": printed(sk.roc_auc_score, truth, scores, max_fpr=0.25, **by),
            "average_precision": printed(sk.average_precision_score, truth, scores, **by),
            "log_loss": printed(sk.log_loss, truth, scores, labels=[0, 1], **by),
            "brier_score": printed(sk.brier_score_loss, truth, scores, labels=[0, 1], **by),
        }
    columns = list(range(len(scores[0])))
    values = {
        "log_loss": printed(sk.log_loss, truth, scores, labels=columns, **by),
        "brier_score": printed(sk.brier_score_loss, truth, scores, labels=columns, **by),
        "top_k_accuracy": printed(
            sk.top_k_accuracy_score, truth, scores, labels=columns, k=2, **by
        ),
    }
    if set(truth) == set(columns):
        for average in ("macro", "weighted"):
            values[f"roc_auc[average={average}]"] = printed(
                sk.roc_auc_score, truth, scores, multi_class="ovr", average=average, **by
            )
            if weights is None:
                values[f"roc_auc[average={average},pairing=ovo]"] = printed(
                    sk.roc_auc_score, truth, scores, multi_class="ovo", average=average
                )
                values[f"average_precision[average={average}]"] = printed(
                    sk.average_precision_score, truth, np.array(scores), average=average
                )
    return values


def cases() -> list[dict[str, Any]]:
    """All tables of three objects and two classes, and seeded ones."""
    listed: list[dict[str, Any]] = []
    cells = list(itertools.product(range(2), repeat=2))
    for objects in itertools.combinations_with_replacement(cells, 3):
        truth, predicted = map(list, zip(*objects, strict=True))
        prints = of_labels(truth, predicted, None)
        listed.append({"truth": truth, "predicted": predicted, "prints": prints})
    draw = random.Random(2026)
    for i in range(42):
        n, classes = 1 + int(draw.random() * 12), 2 + i % 3
        sides = [[int(draw.random() * classes) for _ in range(n)] for _ in range(2)]
        weights = [(1 + int(draw.random() * 6)) / 4 for _ in range(n)] if i % 3 == 1 else None
        case: dict[str, Any] = {"truth": sides[0], "predicted": sides[1]}
        if weights:
            case["weights"] = weights
        listed.append({**case, "prints": of_labels(sides[0], sides[1], weights)})
        scores: Any = [int(draw.random() * 9) / 8 for _ in range(n)]
        if classes > 2:
            parts = [[1 + int(draw.random() * 4) for _ in range(classes)] for _ in range(n)]
            scores = [[part / sum(row) for part in row] for row in parts]
        case = {"truth": sides[0], "scores": scores, "labels": list(range(classes))}
        if weights:
            case["weights"] = weights
        listed.append({**case, "prints": of_scores(sides[0], scores, weights)})
    return listed


def main() -> None:
    """Write the file."""
    import sklearn

    warnings.simplefilter("ignore")
    lines = ",\n".join(json.dumps(case) for case in cases())
    head = f'"library": "scikit-learn", "version": "{sklearn.__version__}"'
    text = f'{{{head}, "cases": [\n{lines}\n]}}\n'
    Path(__file__).with_name("classification.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
