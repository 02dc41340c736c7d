"""Golden vectors of chapter 45: rows and one labelling, and shares of objects in clusters."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from . import scatter_indices as indices
from .values import ZERO, Json, Value, divide, encode, log
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"
POINTS = "0,0 0,1 1,0 10,10 10,11 11,10 20,0"  # the example of the survey of libraries
PARTS: dict[str, list[str]] = {
    "parts": [
        "INT-SIZE", "INT-MEAN", "INT-TMEAN", "INT-SI", "INT-SW", "INT-SB", "INT-ST", "INT-TRACE",
        "INT-TSS",
    ],
    "sums": [
        "INT-SSE", "INT-BSS", "INT-R2", "INT-TRRATIO", "INT-LOGSS", "INT-CH", "INT-RMSSTD",
        "INT-BALL", "INT-BR", "INT-RL",
    ],
    "determinants": [
        "INT-WIB", "INT-TIW", "INT-DETRATIO", "INT-LOGDET", "INT-KDET", "INT-SCOTT",
    ],
    "means": ["INT-DB", "INT-RT", "INT-XB", "INT-PBM", "INT-SDDIS"],
    "rows": ["INT-WG", "INT-SSIL", "INT-HSIZE"],
    "scattering": ["INT-SDSCAT", "INT-SD", "INT-SDBW"],
}  # fmt: skip


def files() -> list[VectorFile]:
    """The files of chapter 45."""
    return [_rows(), _shares()]


def _rows() -> VectorFile:
    file = VectorFile("45-scatter/rows.json", SUBJECT, "Internal metrics of rows and clusters")
    for slug, points, clusters in [
        ("two", " ".join(POINTS.split()[:6]), "000111"),
        ("single", POINTS, "0001112"),
        ("one-cluster", " ".join(POINTS.split()[:4]), "0000"),
        ("all-apart", " ".join(POINTS.split()[:4]), "0123"),
        ("same", "1,1 1,1 1,1 1,1", "0011"),
        ("coincident", "0,1 0,-1 1,0 -1,0", "0011"),
        ("no-scatter", "0,0 0,0 5,5 5,5", "0011"),
        ("two-means-equal", "0,1 0,-1 1,0 -1,0 9,9 9,10", "001122"),
        ("points-equal", "3,4 3,4 3,4 0,0 0,2", "00122"),
        ("on-another-mean", "0 4 2 2 2 9", "001112"),
        ("misplaced", "0 1 9 10 2 3", "000111"),
        ("line", "0,0 1,1 2,2 7,7 9,9", "00011"),
        ("ball-is-closed", "0 2 3 5", "0011"),
        ("no-row-near", "0 8 100 108", "0011"),
        ("between-only", "-9 9 -6 12", "0011"),
        ("lonely", "7", "0"),
    ]:
        rows = [tuple(map(F, point.split(","))) for point in points.split()]
        _add(file, f"scatter-{slug}", rows, [int(y) for y in clusters])
    draw = random.Random(45)
    for i in range(10):
        p, n, k = 1 + i % 3, 5 + int(draw.random() * 4), 2 + i % 2
        labels = [j % k if j < k else int(draw.random() * k) for j in range(n)]
        rows = [
            tuple(F(int(draw.random() * 9) + 4 * y, 1 + i % 2) for _ in range(p)) for y in labels
        ]
        weights = [1 + int(draw.random() * 3) for _ in range(n)] if i % 5 == 3 else None
        offset = F(10**15) if i % 10 == 9 else F(0)
        moved = [tuple(x + offset for x in row) for row in rows]
        _add(file, f"scatter-random-{i:02d}", moved, labels, weights)
    return file


def _add(
    file: VectorFile,
    slug: str,
    rows: Sequence[indices.Row],
    labels: Sequence[int],
    weights: Sequence[int] | None = None,
) -> None:
    inputs: dict[str, Json] = {
        "rows": [[str(x) for x in row] for row in rows],
        "labels": list(labels),
    }
    if weights is not None:
        inputs["weights"] = list(weights)
    c = indices.Clusters(rows, labels, weights or [1] * len(rows))
    groups: dict[str, dict[str, Value]] = {
        "parts": _parts(c),
        "sums": indices.sums_of_squares(c),
        "determinants": indices.determinants(c),
        "means": indices.of_means(c),
        "rows": {**indices.of_rows(c), "size_entropy": indices.size_entropy(c)},
        "scattering": indices.of_scattering(c),
    }
    for name, values in groups.items():
        if c.n < 2 and name != "sums":
            continue
        expect: dict[str, Json] = {key: encode(value) for key, value in values.items()}
        file.add(f"{slug}-{name}", dict(inputs), expect, formulas=PARTS[name])


def _parts(c: indices.Clusters) -> dict[str, Value]:
    return {
        "cluster_sizes": tuple(F(len(rows)) for rows in c.own),
        "cluster_means": tuple(c.means),
        "overall_mean": tuple(indices.mean(c.rows)),
        "cluster_scatters": tuple(_listed(indices.scatter(rows)) for rows in c.own),
        "within_scatter": _listed(c.within),
        "between_scatter": _listed(c.between),
        "total_scatter": _listed(c.whole),
        "traces": (c.w, c.b),
        "tss": c.t,
    }


def _listed(matrix: indices.Matrix) -> Value:
    return tuple(tuple(line) for line in matrix)


def _shares() -> VectorFile:
    file = VectorFile(
        "45-scatter/shares.json",
        SUBJECT,
        "Fuzzy clusters: partition coefficient and entropy",
        formulas=["INT-PC", "INT-PE", "INT-MPC"],
    )
    draw = random.Random(450)
    tables = ["1,0 1/2,1/2", "1 1", "1/3,1/3,1/3 1/3,1/3,1/3", "1,0 0,1 1,0", "1/5,1/5 0,0"]
    cases = [[[F(x) for x in row.split(",")] for row in table.split()] for table in tables]
    for i in range(6):
        parts = [[1 + int(draw.random() * 6) for _ in range(2 + i % 3)] for _ in range(3 + i)]
        cases.append([[F(x, sum(row)) for x in row] for row in parts])
    for i, shares in enumerate(cases):
        weights = [1 + j % 3 for j in range(len(shares))] if i % 3 == 2 else None
        copies = [
            row for row, w in zip(shares, weights or [1] * len(shares), strict=True)
            for _ in range(w)
        ]  # fmt: skip
        n, k = len(copies), len(shares[0])
        coefficient = sum((u * u for row in copies for u in row), F(0)) / n
        entropy = ZERO
        for u in (u for row in copies for u in row if u):
            entropy = entropy + log(u).times(-u / n)
        expect: dict[str, Json] = {
            "partition_coefficient": encode(coefficient),
            "partition_entropy": encode(entropy.value()),
            "modified_partition_coefficient": encode(divide(k * coefficient - 1, F(k - 1))),
        }
        inputs: dict[str, Json] = {"shares": [[str(u) for u in row] for row in shares]}
        if weights is not None:
            inputs["weights"] = list(weights)
        file.add(f"shares-{i:02d}", inputs, expect)
    return file
