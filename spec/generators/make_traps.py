"""Inputs that catch particular mistakes: orientation, bases, ties, overflow, cancellation."""

from __future__ import annotations

import random

from .catalogue import all_encoded
from .tables import from_labels, make_table
from .values import Json
from .writer import METRICS, VectorFile

Rows = list[list[int | str]]

ASYMMETRIC = [
    "purity",
    "inverse_purity",
    "cluster_purity",
    "cluster_recall",
    "cluster_f",
    "f_macro",
    "f_measure",
    "nca",
    "bcubed_precision",
    "bcubed_recall",
    "adjusted_purity",
    "adjusted_bcubed_precision",
    "adjusted_bcubed_recall",
    "pair_counts",
    "pair_counts[pairs=ordered]",
    "pair_precision",
    "pair_recall",
    "pair_precision[pairs=ordered]",
    "pair_recall[pairs=ordered]",
    "pair_f[beta=2]",
    "pair_f[beta=1/2]",
    "pair_f[beta=2,pairs=ordered]",
    "pair_f[beta=1/2,pairs=ordered]",
    "wallace",
    "wallace[given=classes]",
    "wallace[pairs=ordered]",
    "wallace[given=classes,pairs=ordered]",
    "adjusted_wallace",
    "adjusted_wallace[given=classes]",
    "entropy_clusters",
    "entropy_classes",
    "conditional_entropy",
    "conditional_entropy[of=clusters]",
    "information_ratio",
    "information_ratio[of=classes]",
    "homogeneity",
    "completeness",
    "v_measure[beta=2]",
    "v_measure[beta=1/2]",
    "goodman_kruskal_lambda",
    "goodman_kruskal_lambda[predict=clusters]",
    "goodman_kruskal_tau",
    "goodman_kruskal_tau[predict=clusters]",
    "theils_u",
    "theils_u[predict=clusters]",
]

TURNED: Rows = [[6, 1, 0, 2], [0, 4, 1, 0], [5, 0, 1, 0]]
TIED: Rows = [[3, 3, 0], [0, 2, 2], [1, 4, 1]]
BIG = 10**12

TABLES: list[tuple[str, str, Rows, str]] = [
    ("tie-argmax", "ties", TIED, "two classes tie in a cluster; the smaller class is taken"),
    (
        "tie-argmax-columns",
        "ties",
        [[row[j] for j in (2, 1, 0)] for row in TIED],
        "the same with the columns in another order: the same values",
    ),
    ("tie-matching", "ties", [[2, 2], [2, 2]], "every matching is optimal"),
    ("tie-entropy", "ties", [[2, 1, 0], [0, 1, 2]], "smaller and larger entropy differ"),
    (
        "drop-empty",
        "empty",
        [[2, 0, 1], [0, 0, 0], [1, 0, 3]],
        "an empty row and an empty column do not count",
    ),
    ("base", "base", [[4, 1], [2, 5]], "entropies to the bases e, 2 and 10"),
    (
        "bits-whole",
        "base",
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "two bits exactly",
    ),
    (
        "greedy-matching",
        "matching",
        [[10, 9], [9, 1]],
        "taking the largest cell first gives 11, the best matching 18",
    ),
    ("pair-share", "pairs", [[3, 1, 1], [0, 2, 2]], "ordered and unordered indices differ"),
    ("huge-2x2", "overflow", [[BIG, 3], [5, BIG - 7]], "products beyond 64 bits"),
    (
        "huge-3x3",
        "overflow",
        [[BIG, 12345, 0], [678, BIG // 3, 9], [1, 98765432, BIG // 7]],
        "products beyond 64 bits",
    ),
    (
        "huge-even",
        "overflow",
        [[3 * 10**9, 10**9], [10**9, 3 * 10**9]],
        "margins whose product with n overflows 64 bits; entropies as those of 3, 1, 1, 3",
    ),
    ("small-even", "overflow", [[3, 1], [1, 3]], "the small sister of huge-even"),
    (
        "thin-2x40",
        "shape",
        [[1 + j % 3 for j in range(40)], [2 - j % 2 for j in range(40)]],
        "two clusters, forty classes",
    ),
    ("thin-30x1", "shape", [[1 + i % 4] for i in range(30)], "thirty clusters, one class"),
    ("thin-1x30", "shape", [[1 + i % 4 for i in range(30)]], "one cluster, thirty classes"),
    (
        "independent-3x2",
        "zero",
        [[14, 22], [21, 33], [35, 55]],
        "independent: mutual information and all that hangs on it exactly zero",
    ),
    (
        "independent-large",
        "zero",
        [[a * b for b in (999983, 1000003, 7)] for a in (999979, 30, 1000033)],
        "independent with large primes",
    ),
    (
        "nearly-independent",
        "cancellation",
        [[10**10 + 1, 10**10], [10**10, 10**10]],
        "mutual information about 1e-21, not zero",
    ),
    (
        "nearly-independent-2",
        "cancellation",
        [[6 * 10**10 + 1, 4 * 10**10], [3 * 10**10, 2 * 10**10]],
        "mutual information about 1e-22",
    ),
    (
        "nearly-perfect",
        "cancellation",
        [[2 * 10**18, 1], [0, 2 * 10**18]],
        "NMI about 1 - 1e-17: its nearest double is 1, its value is not",
    ),
    ("nearly-perfect-2", "cancellation", [[10**15, 1], [1, 10**15]], "NMI about 1 - 1e-13"),
    (
        "rational-halves",
        "weights",
        [["1/2", "3/2"], ["5/2", "0"]],
        "fractional weights: counting pairs or permutations is refused",
    ),
    (
        "rational-3x3",
        "weights",
        [["1/3", "2/7", "0"], ["0", "5/6", "1/9"], ["3/4", "0", "11/5"]],
        "fractional weights with many denominators",
    ),
    ("rational-perfect", "weights", [["1/3", "0"], ["0", "2/5"]], "fractional and perfect"),
]


def files() -> list[VectorFile]:
    """The file of traps."""
    file = VectorFile(
        "41-metrics/traps.json",
        METRICS,
        "Traps",
        {
            "transposed": "every asymmetric metric differs between the table and its transpose",
            "swapped": "clusters given as truth and truth as clusters",
            "ties": "several maxima",
            "empty": "empty groups",
            "base": "the base of the logarithm",
            "matching": "greedy is not optimal",
            "pairs": "ordered or unordered",
            "overflow": "integers beyond 64 bits",
            "shape": "long and thin",
            "zero": "exact zeros",
            "cancellation": "most digits cancel",
            "weights": "rational cells",
            "large": "many objects; no key that needs enumeration",
        },
    )
    turned = [list(column) for column in zip(*TURNED, strict=True)]
    file.add_table("turned", TURNED, "a table on which turning it matters", flags=["transposed"])
    file.add_table("turned-over", turned, "the same transposed", flags=["transposed"])
    one, two = all_encoded(make_table(TURNED)), all_encoded(make_table(turned))
    assert all(one[key] != two[key] for key in ASYMMETRIC)
    assert {key for key in one if one[key] != two[key]} <= set(ASYMMETRIC) | {
        f"{name}[base=2{rest}]"
        for name, rest in (
            ("entropy_clusters", ""),
            ("entropy_classes", ""),
            ("conditional_entropy", ""),
            ("conditional_entropy", ",of=clusters"),
        )
    }
    true, pred = list("aaabbbbbc"), list("xxyyyyzzz")
    for slug, first, second in (("swap-given", true, pred), ("swap-swapped", pred, true)):
        expect = all_encoded(from_labels(first, second))
        given: dict[str, Json] = {"labels_true": [*first], "labels_pred": [*second]}
        file.add(slug, given, expect, "truth first", flags=["swapped"])
    for slug, flag, rows, words in TABLES:
        file.add_table(slug, rows, words, flags=[flag], bases=(2, 10) if flag == "base" else (2,))
    _large(file)
    return [file]


def _large(file: VectorFile) -> None:
    draw = random.Random(7)
    rows = [[int(draw.random() * draw.random() * 12_000) for _ in range(7)] for _ in range(5)]
    file.add_table("large-5x7", [[*row] for row in rows], "about 1e5 objects", flags=["large"])
    diagonal: Rows = [[24_000 + i if i == j else 1_333 + i - j for j in range(3)] for i in range(3)]
    file.add_table("large-agree", diagonal, "80,000 objects, nine in ten agree", flags=["large"])
