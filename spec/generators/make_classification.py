"""Golden vectors of chapters 50 and 52: predicted classes, sets of labels, scores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from . import classification_witness as witness
from .values import Json, Undefined, Value, divide, encode
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"
QUOTIENTS = [
    "CE-PREC", "CE-REC", "CE-SPEC", "CE-NPV", "CE-FPR", "CE-FNR", "CE-FDR", "CE-FOR", "CE-F1",
    "CE-FBETA", "CE-JACC", "CE-LRPOS", "CE-LRNEG", "CE-DOR", "CE-YOUDEN", "CE-MARK",
]  # fmt: skip
WHOLE = [
    "CE-CMK", "CE-COUNTS", "CE-ACC", "CE-ERR", "CE-MAJ", "CE-COST", "CE-VAR", "CE-AVERAGE",
    "CE-ZERO", "CE-MICROP", "CE-MICROR", "CE-MICROF1", "CE-CLASSPR", "CE-MACROF1", "CE-F1MEANS",
    "CE-BACC", "CE-BACCADJ", "CE-GMEAN", "CE-KAPPA", "CE-KAPPAW", "CE-MCC",
]  # fmt: skip


def files() -> list[VectorFile]:
    """The files of chapters 50 and 52."""
    return [_tables(), _sets(), _scores()]


# -- chapter 50 -------------------------------------------------------------------------------


def _tables() -> VectorFile:
    file = VectorFile(
        "50-classification/tables.json",
        SUBJECT,
        "Predicted classes against the truth",
        {
            "ERR-25": "misprint: recalls over the nominal total of a row, 10",
            "ERR-52": "misprint: the table turned, rows predicted",
        },
    )
    draw = random.Random(50)
    for i in range(14):
        n, classes = 1 + int(draw.random() * 12), 2 + i % 3
        objects = []
        for _ in range(n):
            y = int(draw.random() * classes)
            z = y if draw.random() < 0.5 else int(draw.random() * classes)
            weight = F(1 + int(draw.random() * 5), 2) if i % 4 == 3 else F(1)
            objects.append((y, z, weight))
        _add_table(file, f"confusion-random-{i:02d}", objects, classes)
    for slug, pairs in {
        "right": [(0, 0), (1, 1)],
        "one-class": [(1, 1), (1, 1)],
        "one-class-wrong": [(0, 1), (0, 1)],
        "turned": [(0, 1), (1, 0), (1, 0)],
        "never-predicted": [(0, 0), (0, 0), (1, 0)],
    }.items():
        _add_table(file, f"confusion-{slug}", [(y, z, F(1)) for y, z in pairs], 2)
    _add_table(file, "confusion-absent", [(0, 0, F(1)), (0, 1, F(1)), (1, 1, F(2))], 3)
    for slug, table, _ in PRINTED:
        _add_printed(file, slug, table)
    _add_costs(file)
    _add_law(file)
    return file


def _rows(objects: Sequence[witness.Triple], classes: int) -> list[list[Fraction]]:
    return [
        [witness.mass(objects, lambda y, z: (y, z) == (k, m)) for m in range(classes)]  # noqa: B023
        for k in range(classes)
    ]


def _add_table(
    file: VectorFile, slug: str, objects: Sequence[witness.Triple], classes: int
) -> None:
    singles = [witness.of_class(objects, k) for k in range(classes)]
    sizes = [witness.mass(objects, witness.is_class(k)) for k in range(classes)]
    plain = [F(1)] * classes
    expect: dict[str, Json] = _whole(objects, classes, singles)
    for name in ("precision", "recall", "f1", "class_jaccard", "youden"):
        values = [single[name] for single in singles]
        expect[f"{name}[average=macro]"] = encode(witness.average(values, plain))
        expect[f"{name}[average=weighted]"] = encode(witness.average(values, sizes))
        for rule in ("0", "1", "skip"):
            key = f"{name}[average=macro,zero_division={rule}]"
            if any(isinstance(value, Undefined) for value in values):
                expect[key] = encode(witness.average(values, plain, rule))
    formulas = [*WHOLE, "CE-PREC", "CE-REC", "CE-F1", "CE-JACC", "CE-YOUDEN"]
    if classes == 2:  # the classes are 0 and 1: the second is positive
        expect |= {key: encode(value) for key, value in singles[1].items()}
        table = _rows(objects, 2)
        turned = ((table[1][1], table[1][0]), (table[0][1], table[0][0]))
        expect["two_by_two"] = encode(turned)
        formulas = [*WHOLE, *QUOTIENTS, "CE-CM2"]
    given: dict[str, Json] = {
        "confusion": [[_plain(n) for n in row] for row in _rows(objects, classes)]
    }
    misprint: dict[str, Json] = {}
    if classes == 2 and singles[1]["precision"] != singles[1]["recall"]:
        misprint = {"precision": encode(singles[1]["recall"])}
    flags = ["ERR-52"] if misprint else []
    file.add(slug, given, expect, formulas=formulas, misprint=misprint, flags=flags)


def _plain(count: Fraction) -> int | str:
    return int(count) if count.denominator == 1 else str(count)


def _whole(
    objects: Sequence[witness.Triple], classes: int, singles: Sequence[dict[str, Value]]
) -> dict[str, Json]:
    n = witness.mass(objects, witness.everything)
    right = witness.mass(objects, lambda y, z: y == z) / n
    recalls = [single["recall"] for single in singles]
    b = witness.average(recalls, [F(1)] * classes)
    largest = max(witness.mass(objects, witness.is_class(k)) for k in range(classes))
    counts = [_tally(objects, k) for k in range(classes)]
    expect: dict[str, Value] = {
        "accuracy": right,
        "error_rate": witness.mass(objects, lambda y, z: y != z) / n,
        "majority_share": largest / n,
        "expected_cost": witness.mass(objects, lambda y, z: y != z) / n,
        "accuracy_variance": (right - right**2) / n,
        "balanced_accuracy": b,
        "kappa": witness.kappa(objects, 0),
        "kappa[weighting=linear]": witness.kappa(objects, 1),
        "kappa[weighting=quadratic]": witness.kappa(objects, 2),
        "mcc": witness.mcc(objects, classes),
        "macro_f1": witness.average([s["f1"] for s in singles], [F(1)] * classes),
        "f1_of_means": _of_means(singles, "undefined"),
        "f1_of_means[zero_division=0]": _of_means(singles, "0"),
        "micro_precision": right,
        "micro_recall": right,
        "micro_f1": right,
        "precision[average=micro]": right,
        "tallies": tuple(counts),
        "rows": tuple(tuple(row) for row in _rows(objects, classes)),
    }
    if isinstance(b, Fraction) and classes > 1:
        expect["balanced_accuracy[adjusted=yes]"] = (classes * b - 1) / (classes - 1)
    if not any(isinstance(s[key], Undefined) for s in singles for key in ("precision", "recall")):
        expect["class_scores"] = tuple((s["precision"], s["recall"]) for s in singles)
    encoded = {key: encode(value) for key, value in expect.items()}
    product: Value = F(1)
    for recall in recalls:
        both = isinstance(product, Fraction) and isinstance(recall, Fraction)
        product = product * recall if both else Undefined()  # type: ignore[operator]
    encoded["g_mean"] = witness.root(product, classes)
    return {**encoded}


def _tally(objects: Sequence[witness.Triple], k: int) -> tuple[Fraction, ...]:
    order = ((True, True), (False, True), (True, False), (False, False))
    return tuple(witness.mass(objects, lambda y, z: (y == k, z == k) == cell) for cell in order)  # noqa: B023


def _of_means(singles: Sequence[dict[str, Value]], rule: str) -> Value:
    ones = [F(1)] * len(singles)
    p = witness.average([single["precision"] for single in singles], ones, rule)
    r = witness.average([single["recall"] for single in singles], ones, rule)
    if isinstance(p, Fraction) and isinstance(r, Fraction):
        return divide(2 * p * r, p + r)
    return Undefined()


# The tables that two of the sources print, rows true, with what the inventory found in them.
PRINTED: list[tuple[str, str, dict[str, str]]] = [
    (
        "g-cm-a",
        "9.06 0 0.07 0.05 0.01 0.03 0.06 0.59 0.01 0.14|0 8.2 0 0 0.52 0.04 0.3 0 0.53 0.42|"
        "0.03 0 9.52 0.03 0.01 0.02 0.01 0.15 0.02 0.22|"
        "0.01 0.01 0.01 9.01 0.13 0.12 0.52 0.1 0.05 0.06|"
        "0 0.48 0.01 0.05 2.67 1.87 1.4 0 2.63 0.9|"
        "0 0.11 0 0 0.86 7.75 0.56 0 0.1 0.62|0.02 0.18 0 0.32 1.47 1.5 3.66 0.11 2.08 0.67|"
        "0.2 0 0.05 0.01 0 0 0.02 9.7 0 0.03|0 0.39 0.01 0 1.21 0.11 0.42 0 6.84 1.02|"
        "0 0.24 0.13 0.01 0.95 1.01 0.43 0.01 1.85 5.37",
        {
            "accuracy": "7178/10009",
            "precision[average=macro]": "697035436141752517/972207935120593080",
            "recall[average=macro]": "224767156/313438125",
            "macro_f1": "21527661600683397766725110003/30206383831004393492162163000",
            "kappa": "61827314/90162793",
        },
    ),
    (
        "g-cm-b",
        "98 2 0 0 0 0 0 0 0 0|0 100 0 0 0 0 0 0 0 0|0 0 100 0 0 0 0 0 0 0|0 0 0 96 4 0 0 0 0 0|"
        "0 0 0 4 95 0 0 0 0 2|0 0 2 0 0 96 0 2 0 0|0 0 0 0 0 0 100 0 0 0|0 0 0 0 0 0 0 100 0 0|"
        "0 0 0 0 2 0 0 0 96 2|0 2 0 0 0 0 0 0 0 98",
        {
            "accuracy": "89/91",
            "precision[average=macro]": "32757299/33481500",
            "recall[average=macro]": "12348/12625",
            "macro_f1": "1018299379/1041145875",
            "kappa": "439889/450900",
        },
    ),
]


def _add_printed(file: VectorFile, slug: str, text: str) -> None:
    table = [[F(cell) for cell in row.split()] for row in text.split("|")]
    objects = [(k, m, n) for k, row in enumerate(table) for m, n in enumerate(row) if n]
    singles = [witness.of_class(objects, k) for k in range(10)]
    ones = [F(1)] * 10
    values: dict[str, Value] = {
        "accuracy": witness.share(objects, lambda y, z: y == z, witness.everything),
        "kappa": witness.kappa(objects, 0),
        "class_scores": tuple((s["precision"], s["recall"]) for s in singles),
        "macro_f1": witness.average([s["f1"] for s in singles], ones),
    }
    for name in ("precision", "recall"):
        values[f"{name}[average=macro]"] = witness.average([s[name] for s in singles], ones)
    checked = next(known for name, _, known in PRINTED if name == slug)
    for key, known in checked.items():
        assert values[key] == F(known), (slug, key)  # another computation found the same
    misprint: dict[str, Json] = {}
    if slug == "g-cm-a":  # the printed recalls divide by the nominal total of a row
        recalls = [witness.mass(objects, lambda y, z: y == z == k) / 10 for k in range(10)]  # noqa: B023
        misprint = {"recall[average=macro]": encode(witness.average(recalls, ones))}
    file.add(
        slug,
        {"confusion": [[_plain(n) for n in row] for row in table]},
        {key: encode(value) for key, value in values.items()},
        flags=["ERR-25"] if misprint else ["ERR-64"],
        formulas=["CE-CMK", "CE-ACC", "CE-CLASSPR", "CE-MACROF1", "CE-KAPPA", "CE-AVERAGE"],
        misprint=misprint,
    )


def _add_costs(file: VectorFile) -> None:
    tables = [("1 2|3 4", "0 5|1 0"), ("2 0 1|1 1 1|0 0 4", "-1 2 3|1/2 0 7|4 4 -1/3")]
    for i, (text, prices) in enumerate(tables):
        table = [[F(cell) for cell in row.split()] for row in text.split("|")]
        costs = [[F(cell) for cell in row.split()] for row in prices.split("|")]
        cells = [(n, costs[k][m]) for k, row in enumerate(table) for m, n in enumerate(row)]
        value = sum((n * c for n, c in cells), F(0)) / sum(n for n, _ in cells)
        given: dict[str, Json] = {
            "confusion": [[_plain(n) for n in row] for row in table],
            "costs": [[str(c) for c in row] for row in costs],
        }
        expect: dict[str, Json] = {"expected_cost": encode(value)}
        file.add(f"confusion-costs-{i}", given, expect, formulas=["CE-COST"])


def _add_law(file: VectorFile) -> None:
    laws = [
        ([(0, 0, "1/2"), (0, 1, "1/6"), (1, 1, "1/3")], [0, 1], "5/6"),
        ([(0, 0, "1/4"), (1, 0, "1/4"), (1, 1, "1/4"), (2, 2, "1/4")], [1, 0, 2], "1/2"),
    ]
    for i, (law, decisions, value) in enumerate(laws):
        given: dict[str, Json] = {
            "law": [[x, y, p] for x, y, p in law],
            "decisions": [*decisions],
        }
        expect: dict[str, Json] = {"true_accuracy": encode(F(value))}
        file.add(f"confusion-law-{i}", given, expect, formulas=["CE-ACCTRUE"])


def _sets() -> VectorFile:
    file = VectorFile("50-classification/label-sets.json", SUBJECT, "Objects with several labels")
    draw = random.Random(51)
    for i in range(8):
        n, labels = 1 + int(draw.random() * 5), 1 + i % 4
        sides = [
            [[k for k in range(labels) if draw.random() < 0.5] for _ in range(n)] for _ in range(2)
        ]
        weights = [F(1 + int(draw.random() * 3)) if i % 3 == 2 else F(1) for _ in range(n)]
        _add_sets(file, f"sets-random-{i}", sides[0], sides[1], weights, labels)
    return file


def _add_sets(
    file: VectorFile,
    slug: str,
    truth: list[list[int]],
    said: list[list[int]],
    weights: list[Fraction],
    labels: int,
) -> None:
    n = sum(weights, F(0))
    objects = list(zip(truth, said, weights, strict=True))
    wrong = sum((w for ys, zs, w in objects for k in range(labels) if (k in ys) != (k in zs)), F(0))
    equal = sum((w for ys, zs, w in objects if ys == zs), F(0))
    expect: dict[str, Json] = {
        "hamming_loss": encode(wrong / (n * labels)),
        "subset_accuracy": encode(equal / n),
        "object_tallies": encode(
            tuple(
                tuple(
                    F(sum((k in ys, k in zs) == cell for k in range(labels)))
                    for cell in ((True, True), (False, True), (True, False), (False, False))
                )
                for ys, zs, _ in objects
            )
        ),
    }
    # Every label of an object is an object of its own with the class 1 or 0.
    by_object = [[(int(k in y), int(k in z), F(1)) for k in range(labels)] for y, z, _ in objects]
    by_label = [[(int(k in y), int(k in z), w) for y, z, w in objects] for k in range(labels)]
    sizes = [witness.mass(group, witness.is_class(1)) for group in by_label]
    names = {"set_precision": "precision", "set_recall": "recall", "set_jaccard": "class_jaccard"}
    names |= {"set_f": "f1", "set_f[beta=2]": "f_beta[beta=2]"}
    for key, name in names.items():
        over_objects = [witness.of_class(group, 1)[name] for group in by_object]
        over_labels = [witness.of_class(group, 1)[name] for group in by_label]
        expect[key] = encode(witness.average(over_objects, weights))
        if "[" in key:
            continue
        expect[f"{key}[zero_division=0]"] = encode(witness.average(over_objects, weights, "0"))
        expect[f"{key}[average=macro]"] = encode(witness.average(over_labels, [F(1)] * labels))
        expect[f"{key}[average=weighted]"] = encode(witness.average(over_labels, sizes))
        everything = [triple for group in by_label for triple in group]
        expect[f"{key}[average=micro]"] = encode(witness.of_class(everything, 1)[name])
    given: dict[str, Json] = {
        "sets_true": [list(ys) for ys in truth],
        "sets_pred": [list(zs) for zs in said],
        "labels": list(range(labels)),
        "weights": [str(w) for w in weights],
    }
    formulas = ["CE-SETS", "CE-HAMMING", "CE-SUBSET", "CE-SAMPLES", "CE-AVERAGE", "CE-ZERO"]
    file.add(slug, given, expect, formulas=formulas)


# -- chapter 52 -------------------------------------------------------------------------------


def _scores() -> VectorFile:
    file = VectorFile(
        "52-probabilities/scores.json", SUBJECT, "Scores and probabilities against the truth"
    )
    draw = random.Random(52)
    for i in range(14):
        n = 1 + int(draw.random() * 8)
        truth = [int(draw.random() * 2) for _ in range(n)]
        scores = [F(int(draw.random() * 9), 8) for _ in range(n)]
        weights = [F(1 + int(draw.random() * 3), 2) if i % 3 == 2 else F(1) for _ in range(n)]
        _add_binary(file, f"scores-two-{i:02d}", truth, scores, weights)
    for i in range(10):
        n, classes = 2 + int(draw.random() * 7), 2 + i % 3
        truth = [int(draw.random() * classes) for _ in range(n)]
        rows = []
        for _ in range(n):
            parts = [1 + int(draw.random() * 4) for _ in range(classes)]
            rows.append([F(part, sum(parts)) for part in parts])
        weights = [F(1 + int(draw.random() * 3)) if i % 3 == 2 else F(1) for _ in range(n)]
        _add_columns(file, f"scores-many-{i:02d}", truth, rows, weights)
    confidences = ["0", "1/10", "1/4", "3/10", "1/2", "7/10", "99/100", "1"]
    for bins, right, left in (
        (2, "1 1 1 1 1 2 2 2", "1 1 1 1 2 2 2 2"),
        (10, "1 1 3 3 5 7 10 10", "1 2 3 4 6 8 10 10"),
    ):
        expect: dict[str, Json] = {
            "bins_right": encode(tuple(F(m) for m in right.split())),
            "bins_left": encode(tuple(F(m) for m in left.split())),
        }
        given: dict[str, Json] = {"confidences": [*confidences], "bins": bins}
        file.add(f"scores-bins-{bins}", given, expect, formulas=["PB-BINS"])
    return file


CALIBRATION = ["PB-BINS", "PB-ECE", "PB-MCE"]


def _calibration(sure: list[tuple[Fraction, bool, Fraction]], n: Fraction) -> dict[str, Json]:
    expect: dict[str, Json] = {}
    for bins, left in ((15, False), (4, False), (4, True)):
        gaps = witness.calibration(sure, bins, left=left)
        options = [f"bins={bins}"] if bins != 15 else []
        options += ["closed=left"] if left else []
        chosen = f"[{','.join(options)}]" if options else ""
        error = sum((w * gap for w, gap in gaps), F(0)) / n
        expect[f"expected_calibration_error{chosen}"] = encode(error)
        expect[f"maximum_calibration_error{chosen}"] = encode(max(gap for _, gap in gaps))
    gaps = witness.calibration(sure, 15)
    squares = sum((w * gap * gap for w, gap in gaps), F(0)) / n
    expect["expected_calibration_error[norm=l2]"] = witness.root(squares, 2)
    return expect


def _add_binary(
    file: VectorFile,
    slug: str,
    truth: list[int],
    scores: list[Fraction],
    weights: list[Fraction],
) -> None:
    objects = [(y == 1, s, w) for y, s, w in zip(truth, scores, weights, strict=True)]
    n = sum(weights, F(0))
    terms = [(s if inside else 1 - s, w) for inside, s, w in objects]
    thresholds = [
        (
            t,
            sum((w for inside, s, w in objects if not inside and s >= t), F(0)),
            sum((w for inside, s, w in objects if inside and s >= t), F(0)),
        )
        for t in sorted(set(scores), reverse=True)
    ]
    brier = sum((w * (inside - s) ** 2 for inside, s, w in objects), F(0)) / n
    hinge = sum((w * max(F(0), 1 - (s if inside else -s)) for inside, s, w in objects), F(0)) / n
    roc, curve = witness.roc(objects), witness.precision_recall(objects)
    clipped = [(min(max(p, F(1, 16)), F(15, 16)), w) for p, w in terms]
    expect: dict[str, Json] = {
        "roc_auc": encode(witness.auc(objects)),
        "roc_auc[max_fpr=1/3]": encode(witness.partial_auc(objects, F(1, 3))),
        "average_precision": encode(witness.average_precision(objects)),
        "log_loss": witness.logs(terms, n),
        "log_loss[clip=1/16]": witness.logs(clipped, n),
        "brier_score": encode(brier),
        "hinge_loss": encode(hinge),
        **_calibration([(s, inside, w) for inside, s, w in objects], n),
    }
    if all(w == 1 for w in weights):
        expect["reached"] = encode(tuple(thresholds))
        expect["roc_points"] = encode(roc if isinstance(roc, Undefined) else tuple(roc))
        points = curve if isinstance(curve, Undefined) else tuple(curve)
        expect["precision_recall_points"] = encode(points)
    given: dict[str, Json] = {
        "truth": [*truth],
        "scores": [str(s) for s in scores],
        "weights": [str(w) for w in weights],
    }
    formulas = ["PB-INPUT", "PB-ROC", "PB-AUC", "PB-PAUC", "PB-PR", "PB-AP", "PB-LOGLOSS"]
    formulas += ["PB-BRIER", "PB-HINGE", *CALIBRATION]
    file.add(slug, given, expect, formulas=formulas)


def _add_columns(
    file: VectorFile,
    slug: str,
    truth: list[int],
    rows: list[list[Fraction]],
    weights: list[Fraction],
) -> None:
    classes, n = len(rows[0]), sum(weights, F(0))
    listed = list(zip(truth, rows, weights, strict=True))
    columns = [[(y == k, row[k], w) for y, row, w in listed] for k in range(classes)]
    sizes = [sum((w for y, _, w in listed if y == k), F(0)) for k in range(classes)]
    ones = [F(1)] * classes
    everything = [part for column in columns for part in column]
    expect: dict[str, Json] = {}
    for key, metric in (("roc_auc", witness.auc), ("average_precision", witness.average_precision)):
        values = [metric(column) for column in columns]
        expect[key] = encode(witness.average(values, ones))
        expect[f"{key}[absent=skip]"] = encode(witness.average(values, ones, "skip"))
        expect[f"{key}[average=weighted]"] = encode(witness.average(values, sizes))
        expect[f"{key}[average=micro]"] = encode(metric(everything))
    pairs, masses = [], []
    for j in range(classes):
        for k in range(j + 1, classes):
            two = [(y, row, w) for y, row, w in listed if y in (j, k)]
            sides = [witness.auc([(y == m, row[m], w) for y, row, w in two]) for m in (j, k)]
            pairs.append(witness.average(sides, [F(1), F(1)]))
            masses.append(sizes[j] + sizes[k])
    expect["roc_auc[pairing=ovo]"] = encode(witness.average(pairs, [F(1)] * len(pairs)))
    expect["roc_auc[average=weighted,pairing=ovo]"] = encode(witness.average(pairs, masses))
    for k in range(1, classes + 1):
        for last in (False, True):
            hits = F(0)
            for y, row, w in listed:
                order = sorted(range(classes), key=lambda m: (-row[m], -m if last else m))
                hits += w * (y in order[:k])
            options = ([f"k={k}"] if k != 2 else []) + (["ties=last"] if last else [])
            key = "top_k_accuracy" + (f"[{','.join(options)}]" if options else "")
            expect[key] = encode(hits / n)
    summed = (w * sum((row[k] - (y == k)) ** 2 for k in range(classes)) for y, row, w in listed)
    brier = sum(summed, F(0)) / n
    expect["brier_score"] = encode(brier / 2 if classes == 2 else brier)
    expect["brier_score[half=no]"] = encode(brier)
    expect["brier_score[half=yes]"] = encode(brier / 2)
    expect["log_loss"] = witness.logs([(row[y], w) for y, row, w in listed], n)
    short = F(0)
    for y, row, w in listed:
        others = max(s for k, s in enumerate(row) if k != y)
        short += w * max(F(0), 1 - row[y] + others)
    expect["hinge_loss"] = encode(short / n)
    sure = [(max(row), row.index(max(row)) == y, w) for y, row, w in listed]
    expect |= _calibration(sure, n)
    given: dict[str, Json] = {
        "truth": [*truth],
        "scores": [[str(s) for s in row] for row in rows],
        "labels": list(range(classes)),
        "weights": [str(w) for w in weights],
    }
    formulas = ["PB-AUC", "PB-OVR", "PB-OVO", "PB-AP", "PB-TOPK", "PB-LOGLOSS", "PB-BRIERK"]
    formulas += ["PB-BRIER", "PB-HINGE", *CALIBRATION]
    file.add(slug, given, expect, formulas=formulas)
