"""Golden vectors of chapters 46 and 48: rows, matrices and graphs with a clustering each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from . import density
from .proximity import Objects, cuts, dunn, hubert, ranks, silhouettes
from .values import Json, Value, encode
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"
Rows = Sequence[Sequence[Fraction | int]]

CUTS = ["INT-WSR", "INT-WII", "INT-WIN", "INT-WOUT", "INT-VOL", "INT-NC", "INT-RCUT", "INT-MODUL"]
SILHOUETTES = ["INT-SIL", "INT-SILK", "INT-SILAVG", "INT-MEDOID", "INT-MSIL"]
DUNN = ["INT-DELTA", "INT-DIAM", "INT-DUNN"]
RANKS = [
    "INT-PAIRS",
    "INT-CINDEX",
    "INT-BETACV",
    "INT-ORDERS",
    "INT-GAMMA",
    "INT-TAU",
    "INT-GPLUS",
    "INT-PBRAW",
    "INT-PB",
]
HUBERT = ["INT-HUBERT", "INT-HUBERTN"]
DENSITY = ["INT-CORE", "INT-MREACH", "INT-TREE", "INT-DSC", "INT-DSPC", "INT-DBCV"]

SEVEN = [[0, 0], [0, 1], [1, 0], [10, 10], [10, 11], [11, 10], [20, 0]]


def files() -> list[VectorFile]:
    """The files of both chapters."""
    return [_rows(), _matrices(), _densities(), _tendencies()]


def _rows() -> VectorFile:
    file = VectorFile(
        "46-proximity/rows.json",
        SUBJECT,
        "Clusterings of rows, judged by pairs of objects",
        formulas=CUTS + SILHOUETTES + DUNN + RANKS + HUBERT,
    )
    _add(file, "pairs-six", SEVEN[:6], [0, 0, 0, 1, 1, 1])
    _add(file, "pairs-single", SEVEN, [0, 0, 0, 1, 1, 1, 2])
    _add(file, "pairs-one-cluster", SEVEN[:4], [0] * 4)
    _add(file, "pairs-all-single", SEVEN[:4], [0, 1, 2, 3])
    _add(file, "pairs-same", [[1, 2]] * 4, [0, 0, 1, 1])
    _add(file, "pairs-coincident", [[0, 1], [0, -1], [1, 0], [-1, 0]], [0, 0, 1, 1])
    _add(file, "pairs-zero", [[0, 0], [0, 0], [3, 4], [3, 4]], [0, 0, 1, 1])
    _add(file, "pairs-one-object", [[5, 5]], [0])
    _add(file, "pairs-line", [[0], [1], [10], [11]], [0, 0, 1, 1])
    _add(file, "pairs-line-crossed", [[0], [1], [10], [11]], [0, 1, 0, 1])
    _add(file, "pairs-square", [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 1, 1])
    _add(file, "pairs-weights", [[0, 0], [1, 1], [4, 0]], [0, 0, 1], [2, 1, 3])
    _add(file, "pairs-weight-alone", [[0, 0], [1, 1], [4, 0]], [0, 1, 1], [2, 1, 1])
    far = 2**50
    moved = [[a + far, b - far] for a, b in SEVEN[:6]]
    _add(file, "pairs-six-moved", moved, [0, 0, 0, 1, 1, 1], description="the six, shifted by 2^50")
    draw = random.Random(46)
    for i in range(10):
        n, d, k = 4 + i % 3, 1 + i % 3, 2 + i % 2
        rows = [[F(int(draw.random() * 9), 2) for _ in range(d)] for _ in range(n)]
        labels = [j if j < k else int(draw.random() * k) for j in range(n)]
        weights = [1 + int(draw.random() * 2) for _ in range(n)] if i % 5 == 4 else None
        _add(file, f"pairs-random-{i:02d}", rows, labels, weights)
    return file


def _add(
    file: VectorFile,
    slug: str,
    rows: Rows,
    labels: Sequence[int],
    weights: Sequence[int] | None = None,
    description: str = "",
) -> None:
    exact = [[F(x) for x in row] for row in rows]
    objects = Objects.of_rows(exact, labels, weights or [1] * len(rows))
    values = cuts(objects) | silhouettes(objects) | dunn(objects) | ranks(objects) | hubert(objects)
    given: dict[str, Json] = {
        "rows": [[str(x) for x in row] for row in exact],
        "labels": list(labels),
    }
    if weights is not None:
        given["weights"] = list(weights)
    file.add(slug, given, _encoded(values), description)


def _encoded(values: dict[str, Value]) -> dict[str, Json]:
    return {key: encode(value) for key, value in values.items()}


def _matrices() -> VectorFile:
    file = VectorFile(
        "46-proximity/matrices.json",
        SUBJECT,
        "Clusterings of objects with given proximities; shortest paths",
        {"ERR-48": "misprint: divided by n instead of the volume"},
    )
    draw = random.Random(460)
    for i in range(12):
        n, k, similar = 4 + i % 4, 2 + i % 2, i % 3 == 2
        table = [[F(int(draw.random() * 12), 1 + i % 4) for _ in range(n)] for _ in range(n)]
        matrix = [
            [table[min(a, b)][max(a, b)] if a != b or similar else F(0) for b in range(n)]
            for a in range(n)
        ]
        labels = [j if j < k else int(draw.random() * k) for j in range(n)]
        _add_matrix(file, f"matrix-random-{i:02d}", matrix, labels, similar=similar)
    blocks = [[F(int(a // 2 == b // 2)) for b in range(4)] for a in range(4)]
    _add_matrix(file, "matrix-blocks", blocks, [0, 0, 1, 1], similar=True)
    for i, (n, edges) in enumerate(
        [
            (4, [(0, 1, F(1)), (1, 2, F(2)), (0, 2, F(5))]),
            (3, [(0, 1, F(1, 2)), (1, 0, F(1, 3)), (1, 2, F(0))]),
            (1, []),
            (5, [(0, 1, F(7)), (1, 2, F(1)), (2, 3, F(1)), (3, 0, F(1)), (3, 4, F(5, 2))]),
        ]
    ):
        expect: dict[str, Json] = {"shortest_paths": encode(_paths(n, edges))}
        given: dict[str, Json] = {
            "nodes": n,
            "edges": [[str(a), str(b), str(length)] for a, b, length in edges],
        }
        file.add(f"paths-{i}", given, expect, formulas=["DIST-SP"])
    return file


def _add_matrix(
    file: VectorFile,
    slug: str,
    matrix: Sequence[Sequence[Fraction]],
    labels: Sequence[int],
    *,
    similar: bool,
) -> None:
    objects = Objects.of_matrix(matrix, labels)
    values = cuts(objects)
    formulas = CUTS
    if not similar:
        values |= silhouettes(objects) | dunn(objects) | ranks(objects)
        formulas = CUTS + SILHOUETTES + DUNN + RANKS
    expect = _encoded(values)
    misprint: dict[str, Json] = {}
    if expect["normalized_cut"] != expect["ratio_cut[per=all]"]:
        misprint = {"normalized_cut": expect["ratio_cut[per=all]"]}
    given: dict[str, Json] = {
        "proximity": [[str(x) for x in row] for row in matrix],
        "labels": list(labels),
        "similarities": similar,
    }
    flags = ["ERR-48"] if misprint else []
    file.add(slug, given, expect, flags=flags, formulas=formulas, misprint=misprint)


def _paths(n: int, edges: Sequence[tuple[int, int, Fraction]]) -> Value:
    """Shortest paths by trying every simple path."""
    steps: dict[int, list[tuple[int, Fraction]]] = {i: [] for i in range(n)}
    for a, b, length in edges:
        steps[a].append((b, length))
        steps[b].append((a, length))

    def lengths(node: int, goal: int, seen: frozenset[int]) -> list[Fraction]:
        if node == goal:
            return [F(0)]
        return [
            length + rest
            for onward, length in steps[node]
            if onward not in seen
            for rest in lengths(onward, goal, seen | {onward})
        ]

    # Where no path leads, -1 stands in the list: lengths are never negative.
    return tuple(
        tuple(min(lengths(i, j, frozenset({i})), default=F(-1)) for j in range(n)) for i in range(n)
    )


def _densities() -> VectorFile:
    file = VectorFile(
        "48-density/rows.json",
        SUBJECT,
        "Density-based validation of clusterings of rows",
        formulas=DENSITY,
    )
    cases: list[tuple[str, Rows, list[int]]] = [
        ("dense-line", [[0], [1], [2], [10], [11], [12]], [0, 0, 0, 1, 1, 1]),
        ("dense-line-long", [[0], [1], [3], [4], [20], [21], [24], [26]], [0] * 4 + [1] * 4),
        ("dense-seven", SEVEN, [0, 0, 0, 1, 1, 1, 2]),
        ("dense-copies", [[0, 0], [0, 0], [1, 0], [5, 5], [6, 5], [5, 6]], [0, 0, 0, 1, 1, 1]),
        ("dense-crossed", [[0, 0], [5, 5], [1, 0], [6, 5], [0, 1], [5, 6]], [0, 0, 0, 1, 1, 1]),
        ("dense-one-place", [[1], [1], [1], [1]], [0, 0, 1, 1]),
        ("dense-one-cluster", SEVEN[:3], [0, 0, 0]),
        ("dense-singles", SEVEN[:3], [0, 0, 1]),
    ]
    draw = random.Random(48)
    for i in range(9):
        n, d, k = 6 + i % 3, 1 + i % 3, 2 + (i == 8)
        rows = [[F(int(draw.random() * 12)) for _ in range(d)] for _ in range(n)]
        labels = [j % k for j in range(n)]
        rows = [[x + 7 * y for x in row] for row, y in zip(rows, labels, strict=True)]
        cases.append((f"dense-random-{i}", rows, labels))
    for slug, points, labels in cases:
        exact = [[F(x) for x in row] for row in points]
        given: dict[str, Json] = {
            "rows": [[str(x) for x in row] for row in exact],
            "labels": list(labels),
        }
        expect = _encoded(density.dbcv(exact, labels))
        file.add(slug, given, expect)
    return file


def _tendencies() -> VectorFile:
    file = VectorFile(
        "48-density/tendency.json",
        SUBJECT,
        "Whether rows tend to cluster: seeded draws",
        formulas=["TEND-HOPKINS", "TEND-SPATIAL", "TEND-DISTANCES", "TEND-KL"],
    )
    cases: list[tuple[str, Rows]] = [
        ("line", [[0], [1], [2], [10], [11], [12]]),
        ("plane", SEVEN),
        ("space", [[0, 0, 1], [2, 1, 0], [5, 5, 5], [5, 6, 5]]),
        ("same", [[1, 1]] * 3),
    ]
    for name, points in cases:
        exact = [[F(x) for x in row] for row in points]
        d = len(exact[0])
        expect: dict[str, Json] = {
            "hopkins": encode(density.hopkins(exact, 1, d, 0)),
            "hopkins[objects=3]": encode(density.hopkins(exact, 3, d, 0)),
            "hopkins[exponent=2,objects=2,seed=7]": encode(density.hopkins(exact, 2, 2, 7)),
        }
        for metric, by_pairs in (("spatial_histogram", False), ("distance_distribution", True)):
            for key, bins, samples, added, seed in (
                ("bins=3,samples=2", 3, 2, F(1), 0),
                ("added=1/2,bins=2,samples=3,seed=4", 2, 3, F(1, 2), 4),
                ("added=0,bins=2,samples=1", 2, 1, F(0), 0),
            ):
                value = density.histograms(exact, bins, samples, added, seed, by_pairs=by_pairs)
                expect[f"{metric}[{key}]"] = encode(value)
        given: dict[str, Json] = {
            "rows": [[str(x) for x in row] for row in exact],
            "labels": [0] * len(exact),
        }
        file.add(f"tendency-{name}", given, expect)
    return file
