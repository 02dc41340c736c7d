"""One case per misprint that concerns these metrics, on which the misprinted formula differs."""

from __future__ import annotations

import random
from fractions import Fraction

from .catalogue import all_values
from .information import entropy, weighted_logs
from .make_worked import C1, FIVE, IIR, THREE
from .matching import best_matching, class_of, total
from .tables import Table, from_labels, make_table
from .values import Infinite, Info, Json, Value, divide_geometric, encode
from .writer import METRICS, VectorFile

Rows = list[list[int | str]]

LOPSIDED: Rows = [[7, 1, 0], [3, 0, 2], [4, 0, 1]]
UNEQUAL: Rows = [[6, 1], [1, 2]]
WIDE: Rows = [[1, 0, 5], [0, 4, 0]]
PERFECT_2: Rows = [[3, 0], [0, 3]]
PERFECT_3: Rows = [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
ASKEW: Rows = [[5, 2, 0], [0, 1, 3]]

NOTES = {
    "ERR-03": "misprint: the minus sign of the entropy is lost, so it is negative",
    "ERR-04": "misprint: the leading factor of each term is p_ij/(p_i p_j) instead of p_ij",
    "ERR-05": "misprint: mutual information said to reach infinity; its bound log min(r,k) is "
    "reached here",
    "ERR-06": "misprint: class shares n_j/n with n_j the size of cluster j",
    "ERR-07": "misprint: recall divides by the size of the cluster with number j*",
    "ERR-08": "misprint: the cell (C2,T4) read as 100 instead of 1000",
    "ERR-21": "misprint: purity with the roles of rows and columns exchanged",
    "ERR-22": "misprint: the maximum taken for each cluster by itself, not over injective maps",
    "ERR-23": "misprint: the third majority class read as o instead of diamond",
    "ERR-26": "misprint: ordered pairs with self-pairs where unordered pairs are meant",
    "ERR-27": "misprint: SD taken for FN and DS for FP",
    "ERR-28": "misprint: the two co-membership matrices exchanged",
    "ERR-31": "misprint: the maximum over permutations of the r cluster numbers, so that no "
    "cluster can take a class with a number above r",
    "ERR-32": "misprint: both sums end at the number of clusters, or a random partition has 0",
    "ERR-53": "misprint: the uncentred cosine called a correlation",
    "ERR-72": "misprint: bits given where nats are meant",
}


def files() -> list[VectorFile]:
    """The file of errata."""
    file = VectorFile("41-metrics/errata.json", METRICS, "What misprinted formulas give", NOTES)

    def case(number: int, rows: Rows, keys: list[str], wrong: dict[str, Value], tail: str) -> None:
        table = make_table(rows)
        values = all_values(table)
        expect: dict[str, Json] = {key: encode(values[key]) for key in keys}
        misprint: dict[str, Json] = {key: encode(value) for key, value in wrong.items()}
        assert all(misprint[key] != expect[key] for key in misprint), f"ERR-{number} not caught"
        file.add(
            f"err-{number:02d}-{tail}",
            {"table": [list(row) for row in rows]},
            expect,
            flags=[f"ERR-{number:02d}"],
            misprint=misprint,
        )

    five, unequal = make_table(FIVE), make_table(UNEQUAL)
    n = unequal.total
    minus = Fraction(-1)
    case(
        3,
        UNEQUAL,
        ["entropy_clusters", "entropy_classes", "nmi"],
        {
            "entropy_clusters": entropy(x / n for x in unequal.rows).times(minus).value(),
            "entropy_classes": entropy(x / n for x in unequal.columns).times(minus).value(),
        },
        "sign",
    )
    for rows, tail in ((PERFECT_2, "perfect"), (THREE, "3x3")):
        table = make_table(rows)
        wrong = _wrong_information(table)
        case(
            4,
            rows,
            ["mutual_information", "nmi"],
            {
                "mutual_information": wrong.value(),
                "nmi": divide_geometric(
                    wrong,
                    entropy(x / table.total for x in table.rows),
                    entropy(x / table.total for x in table.columns),
                ),
            },
            tail,
        )
    case(
        5,
        PERFECT_3,
        ["mutual_information", "entropy_clusters", "entropy_classes"],
        {"mutual_information": Infinite()},
        "bound",
    )
    askew = make_table([[5, 2], [1, 1]])
    case(
        6,
        [[5, 2], [1, 1]],
        ["entropy_classes", "entropy_clusters"],
        {
            "entropy_classes": entropy(x / askew.total for x in askew.rows).value(),
        },
        "class-shares",
    )
    three = make_table(THREE)
    by_cluster = [
        three.cells[i][class_of(three, i)] / three.rows[class_of(three, i)] for i in range(3)
    ]
    case(7, THREE, ["cluster_recall"], {"cluster_recall": tuple(by_cluster)}, "recall")
    other = [list(row) for row in C1]
    other[1][3] = 100
    case(
        8,
        C1,
        ["cluster_recall"],
        {"cluster_recall": all_values(make_table(other))["cluster_recall"]},
        "cell",
    )
    lopsided = all_values(make_table(LOPSIDED))
    case(
        21,
        LOPSIDED,
        ["purity", "inverse_purity"],
        {"purity": lopsided["inverse_purity"], "inverse_purity": lopsided["purity"]},
        "transposed",
    )
    case(
        22,
        THREE,
        ["matching_accuracy", "purity"],
        {"matching_accuracy": total([max(row) for row in three.cells]) / three.total},
        "injective",
    )
    as_printed: Rows = [[5, 1, 0], [1, 4, 1], [2, 3, 0]]
    case(
        23,
        IIR,
        ["purity", "matching_accuracy"],
        {"matching_accuracy": all_values(make_table(as_printed))["matching_accuracy"]},
        "caption",
    )
    values = all_values(five)
    case(
        26,
        FIVE,
        ["rand", "jaccard", "rand[pairs=ordered]", "jaccard[pairs=ordered]"],
        {key: values[f"{key}[pairs=ordered]"] for key in ("rand", "jaccard")},
        "ordered",
    )
    askew_values = all_values(make_table(ASKEW))
    counts = askew_values["pair_counts"]
    assert isinstance(counts, tuple)
    case(
        27,
        ASKEW,
        ["pair_counts", "pair_precision", "pair_recall"],
        {
            "pair_counts": (counts[0], counts[2], counts[1], counts[3]),
            "pair_precision": askew_values["pair_recall"],
            "pair_recall": askew_values["pair_precision"],
        },
        "fp-fn",
    )
    flipped = all_values(make_table(ASKEW).transposed())
    swapped = ("pair_counts[pairs=ordered]", "pair_precision[pairs=ordered]")
    case(28, ASKEW, list(swapped), {key: flipped[key] for key in swapped}, "captions")
    square = make_table(WIDE)
    clusters = len(square.rows)
    case(
        31,
        WIDE,
        ["matching_accuracy"],
        {
            "matching_accuracy": best_matching([row[:clusters] for row in square.cells])
            / square.total,
        },
        "injective",
    )
    case(32, WIDE, ["nmi_strehl_ghosh"], {"nmi_strehl_ghosh": _truncated(square)}, "limits")
    draw = random.Random(32)
    labels = [[int(draw.random() * 3) for _ in range(20)] for _ in range(2)]
    chance = from_labels(labels[0], labels[1])
    drawn: Rows = [[int(cell) for cell in row] for row in chance.cells]
    case(
        32,
        drawn,
        ["nmi_strehl_ghosh", "mutual_information"],
        {"nmi_strehl_ghosh": Fraction(0), "mutual_information": Fraction(0)},
        "random",
    )
    case(
        53,
        THREE,
        ["hubert_normalized", "hubert_cosine"],
        {"hubert_normalized": all_values(three)["hubert_cosine"]},
        "centred",
    )
    keys = ["mutual_information", "entropy_clusters", "entropy_classes"]
    case(72, FIVE, keys, {key: values[f"{key}[base=2]"] for key in keys}, "bits")
    return [file]


def _wrong_information(table: Table) -> Info:
    n, rows, columns = table.total, table.rows, table.columns
    return weighted_logs(
        (n * x / (rows[i] * columns[j]), n * x / (rows[i] * columns[j]))
        for i, j, x in table.filled()
    )


def _truncated(table: Table) -> Value:
    """Strehl and Ghosh's form with every sum over j ending at the number of clusters."""
    n, rows, columns = table.total, table.rows, table.columns
    last = len(rows)
    top = weighted_logs(
        (x, n * x / (rows[i] * columns[j])) for i, j, x in table.filled() if j < last
    )
    left = weighted_logs((-x, x / n) for x in rows)
    right = weighted_logs((-x, x / n) for x in columns[:last])
    return divide_geometric(top, left, right)
