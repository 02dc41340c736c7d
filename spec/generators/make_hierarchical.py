"""Agglomerative clustering: trees from the definition, and from the float rules replayed.

Two roads. ``replay`` follows HC-LW in rationals and rounds after every single operation, so it
needs no float arithmetic; it searches a whole matrix for every merge. ``by_definition`` works out
the distance of two clusters from their rows (from all pairs, from means, from midpoints) in exact
rationals. Where the trees differ a rounding has decided between equal distances, and only the
first is the rule; cases that are called firm must have one tree, with heights that hardly differ.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import ctx

from .values import Json
from .vectors_common import (
    ball,
    encode_irrational,
    encode_rational,
    mpmath,
    nearest_double,
    sign,
    use_precision,
)
from .vectors_linear import Dense, Exact, Sparse, exact, gap, product, signed_root, written
from .writer import VectorFile

Matrix = dict[tuple[int, int], Fraction]
Merge = tuple[int, int, Fraction, int]
Rows = Sequence[Dense | Sparse]

CLAUSES = {
    "single": "HC-SINGLE",
    "complete": "HC-COMPLETE",
    "average": "HC-AVERAGE",
    "weighted": "HC-WEIGHTED",
    "centroid": "HC-CENTROID",
    "median": "HC-MEDIAN",
    "ward": "HC-WARD",
}
SQUARED = ("centroid", "median", "ward")


# -- rounding -------------------------------------------------------------------------------------


def fl(value: Fraction) -> Fraction:
    """The nearest double of a rational, as a rational."""
    double = nearest_double(float(value), lambda other: sign(value - other))
    assert double is not None
    return Fraction(double)


def fl_root(square: Fraction) -> Fraction:
    """The nearest double of a root, as a rational."""
    # The guess is off by little; the walk to the nearest double compares squares.
    shift = 200
    scaled = (square.numerator << 2 * shift) // square.denominator
    guess = math.isqrt(scaled) / (1 << shift)

    def compare(other: Fraction) -> int:
        return 1 if other < 0 else sign(square - other * other)

    double = nearest_double(guess, compare)
    assert double is not None
    return Fraction(double)


def less_than_one(x: Exact, y: Exact) -> dict[str, Json]:
    """The cosine distance 1 - x.y / (|x| |y|) as a value of the file."""
    top, squares = product(x, y), product(x, x) * product(y, y)
    ratio = top * top / squares
    p, q = math.isqrt(ratio.numerator), math.isqrt(ratio.denominator)
    if Fraction(p, q) ** 2 == ratio:
        return encode_rational(1 - Fraction(p, q) * sign(top))

    def compare(other: Fraction) -> int:
        # 1 - c > other where c < 1 - other, by signs and squares.
        left, right = sign(top) * ratio, sign(1 - other) * (1 - other) ** 2
        return sign(right - left)

    return encode_irrational(1 - ball(ratio).sqrt() * sign(top), compare)


def cosine_distance(x: Exact, y: Exact) -> Fraction:
    """The nearest double of the cosine distance."""
    value = less_than_one(x, y)
    if "binary64" in value:
        return Fraction(float.fromhex(str(value["binary64"])))
    return Fraction(str(value["exact"]))


# -- merging --------------------------------------------------------------------------------------


def update(linkage: str, x: Fraction, y: Fraction, d: Fraction, a: int, b: int, k: int) -> Fraction:
    """HC-LW, one rounding after each operation."""
    mean = fl(fl(fl(a * x) + fl(b * y)) / (a + b))
    half = fl(fl(x + y) / 2)
    match linkage:
        case "single":
            return min(x, y)
        case "complete":
            return max(x, y)
        case "average":
            return max(min(x, y), min(max(x, y), mean))
        case "weighted":
            return half
        case "centroid":
            return fl(mean - fl(fl(a * b * d) / (a + b) ** 2))
        case "median":
            return fl(half - fl(d / 4))
    top = fl(fl(fl((a + k) * x) + fl((b + k) * y)) - fl(k * d))
    return max(min(x, y), fl(top / (a + b + k)))


def replay(n: int, start: Matrix, linkage: str) -> list[Merge]:
    """The merges by HC-TIE and HC-LW; ``start`` holds squares where the linkage wants them."""
    matrix = dict(start)
    members, name = dict.fromkeys(range(n), 1), list(range(n))
    merges: list[Merge] = []
    while len(members) > 1:
        alive = sorted(members)
        d, i, j = min((matrix[i, j], i, j) for i in alive for j in alive if i < j)
        a, b = members[i], members.pop(j)
        for k in alive:
            if k not in (i, j):
                ik, jk = (min(i, k), max(i, k)), (min(j, k), max(j, k))
                matrix[ik] = update(linkage, matrix[ik], matrix[jk], d, a, b, members[k])
        members[i] = a + b
        first, second = sorted((name[i], name[j]))
        name[i] = n + len(merges)
        merges.append((first, second, fl_root(d) if linkage in SQUARED else d, a + b))
    return merges


def by_definition(rows: Rows, start: Matrix, linkage: str) -> list[Merge]:
    """The merges by distances of whole clusters, in exact rationals.

    For single, complete and average the distance of two rows is the one that was rounded already.
    """
    points = [exact(row) for row in rows]
    clusters: dict[int, list[int]] = {i: [i] for i in range(len(rows))}
    middle = dict(enumerate(points))
    halves: Matrix = dict(start)

    def between(i: int, j: int) -> Fraction:
        ours, theirs = clusters[i], clusters[j]
        pairs = [start[min(x, y), max(x, y)] for x in ours for y in theirs]
        match linkage:
            case "single":
                return min(pairs)
            case "complete":
                return max(pairs)
            case "average":
                return sum(pairs, Fraction(0)) / len(pairs)
            case "weighted":
                return halves[i, j]
            case "median":
                return gap(middle[i], middle[j])
        means = gap(mean_of([points[x] for x in ours]), mean_of([points[y] for y in theirs]))
        if linkage == "centroid":
            return means
        return means * Fraction(2 * len(ours) * len(theirs), len(ours) + len(theirs))

    name, merges = list(range(len(rows))), list[Merge]()
    while len(clusters) > 1:
        alive = sorted(clusters)
        d, i, j = min((between(i, j), i, j) for i in alive for j in alive if i < j)
        for k in alive:
            if k not in (i, j):
                ik, jk = (min(i, k), max(i, k)), (min(j, k), max(j, k))
                halves[ik] = (halves[ik] + halves[jk]) / 2
        middle[i] = mean_of([middle[i], middle[j]])
        clusters[i] = clusters[i] + clusters.pop(j)
        first, second = sorted((name[i], name[j]))
        name[i] = len(rows) + len(merges)
        height = fl_root(fl(d)) if linkage in SQUARED else fl(d)
        merges.append((first, second, height, len(clusters[i])))
    return merges


def same_tree(merges: list[Merge], defined: list[Merge]) -> bool:
    """Whether two tables join the same clusters at heights equal to 12 digits."""
    return all(
        (a, b, size) == (c, d, other) and abs(h - height) <= h / 10**12
        for (a, b, h, size), (c, d, height, other) in zip(merges, defined, strict=True)
    )


def mean_of(points: list[Exact]) -> Exact:
    """The mean of points."""
    keys = {key for point in points for key in point}
    return {
        key: sum((point.get(key, Fraction(0)) for point in points), Fraction(0)) / len(points)
        for key in keys
    }


# -- reading a tree -------------------------------------------------------------------------------


def clusters_of(n: int, merges: list[Merge]) -> list[frozenset[int]]:
    """The rows of every cluster by its number."""
    sets = [frozenset((i,)) for i in range(n)]
    for a, b, _, size in merges:
        sets.append(sets[a] | sets[b])
        assert len(sets[-1]) == size
    return sets


def numbered(n: int, parts: list[frozenset[int]]) -> list[Fraction]:
    """Labels of a partition by smallest row."""
    ordered = sorted(parts, key=min)
    return [Fraction(next(c for c, part in enumerate(ordered) if i in part)) for i in range(n)]


def cut(n: int, merges: list[Merge], k: int) -> list[Fraction]:
    """The partition with k clusters: clusters made in time that no other such cluster holds."""
    made = clusters_of(n, merges[: n - k])
    return numbered(n, [part for part in made if not any(part < other for other in made)])


def cut_height(n: int, merges: list[Merge], height: Fraction) -> list[Fraction]:
    """The largest clusters all of whose merges are at most this high."""
    sets = clusters_of(n, merges)
    low = [
        part
        for part in sets
        if all(merges[t][2] <= height for t in range(len(merges)) if sets[n + t] <= part)
    ]
    return numbered(n, [part for part in low if not any(part < other for other in low)])


def cophenetic(n: int, merges: list[Merge]) -> list[Fraction]:
    """For each pair the height of the smallest cluster that holds both."""
    sets = clusters_of(n, merges)
    return [
        min((len(sets[n + t]), merges[t][2]) for t in range(n - 1) if {i, j} <= sets[n + t])[1]
        for i in range(n)
        for j in range(i + 1, n)
    ]


def leaves(n: int, merges: list[Merge]) -> list[Fraction]:
    """The order of the rows in a dendrogram."""
    sets = clusters_of(n, merges)

    def walk(cluster: int) -> Iterator[int]:
        if cluster < n:
            yield cluster
            return
        a, b, _, _ = merges[cluster - n]
        for part in sorted((a, b), key=lambda c: min(sets[c])):
            yield from walk(part)

    return [Fraction(i) for i in walk(len(sets) - 1)]


def inversions(n: int, merges: list[Merge]) -> Fraction:
    """How many merges are lower than a merge just below them."""
    heights = [Fraction(0)] * n + [height for _, _, height, _ in merges]
    return Fraction(sum(h < max(heights[a], heights[b]) for a, b, h, _ in merges))


# -- writing --------------------------------------------------------------------------------------


def double(value: Fraction) -> Json:
    """A double that is one by definition: exactly, and in hexadecimal if it is no integer."""
    result: dict[str, Json] = {"exact": str(value)}
    if value.denominator != 1:
        result["binary64"] = float(value).hex()
    return result


def doubles(values: Sequence[Fraction]) -> Json:
    """Several of them."""
    return {"list": [double(value) for value in values]}


def expectation(n: int, merges: list[Merge], heights: list[str]) -> dict[str, Json]:
    """All that is asked about one tree."""
    table: list[Json] = [
        doubles([Fraction(a), Fraction(b), height, Fraction(size)]) for a, b, height, size in merges
    ]
    expect: dict[str, Json] = {
        "merges": {"list": table},
        "leaf_order": doubles(leaves(n, merges)),
        "inversions": double(inversions(n, merges)),
    }
    for k in sorted({1, 2, 3, n} & set(range(1, n + 1))):
        expect[f"cut[k={k}]"] = doubles(cut(n, merges, k))
    for height in heights:
        expect[f"cut_height[height={height}]"] = doubles(
            cut_height(n, merges, fl(Fraction(height)))
        )
    if n <= 8:
        expect["cophenetic"] = doubles(cophenetic(n, merges))
    return expect


def formulas(linkage: str, expect: dict[str, Json], *more: str) -> list[str]:
    """The clauses behind a tree."""
    named = {"HC-AGG", "HC-TIE", "HC-LW", "HC-CUT", "HC-LEAF", "HC-INV", CLAUSES[linkage], *more}
    named |= {"HC-CUTH"} if any("height" in key for key in expect) else set()
    named |= {"HC-COPH"} if "cophenetic" in expect else set()
    return sorted(named)


def add_rows(
    file: VectorFile,
    slug: str,
    rows: Rows,
    description: str,
    *,
    metric: str = "euclidean",
    heights: Sequence[str] = (),
    firm: bool = False,
) -> None:
    """One case for each linkage that takes the metric."""
    points, n = [exact(row) for row in rows], len(rows)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    if metric == "euclidean":
        squares = {(i, j): fl(gap(points[i], points[j])) for i, j in pairs}
        lengths = {(i, j): fl_root(gap(points[i], points[j])) for i, j in pairs}
    else:
        lengths = {(i, j): cosine_distance(points[i], points[j]) for i, j in pairs}
    for linkage in CLAUSES:
        if metric != "euclidean" and linkage in SQUARED:
            continue
        start = squares if linkage in SQUARED else lengths
        merges = replay(n, start, linkage)
        defined = by_definition(rows, start, linkage)
        assert not firm or same_tree(merges, defined), (slug, linkage)
        expect = expectation(n, merges, list(heights))
        given: dict[str, Json] = {"rows": [written(row) for row in rows], "linkage": linkage}
        if metric != "euclidean":
            given["metric"] = metric
        more = ["DIST-COS"] if metric == "cosine" else []
        file.add(
            f"hc-{slug}-{linkage}",
            given,
            expect,
            description,
            flags=["exact"] if merges == defined else ["rounded"],
            formulas=formulas(linkage, expect, *more),
        )


def add_matrix(
    file: VectorFile,
    slug: str,
    matrix: list[list[float]],
    description: str,
    heights: Sequence[str] = (),
) -> None:
    """One case for each linkage; the centroid, the median and Ward's see squared entries."""
    n = len(matrix)
    entries = {(i, j): Fraction(matrix[i][j]) for i in range(n) for j in range(i + 1, n)}
    assert all(matrix[j][i] == matrix[i][j] for i, j in entries)
    for number, linkage in enumerate(CLAUSES):
        start = {p: fl(d * d) if linkage in SQUARED else d for p, d in entries.items()}
        merges = replay(n, start, linkage)
        expect = expectation(n, merges, list(heights))
        # Square and condensed by turns.
        given: dict[str, Json] = {
            "distances": [written(row) for row in matrix]
            if number % 2 == 0
            else written([float(d) for d in entries.values()]),
            "linkage": linkage,
        }
        file.add(
            f"hc-{slug}-{linkage}",
            given,
            expect,
            description,
            flags=["rounded"],
            formulas=formulas(linkage, expect, "HC-GIVEN"),
        )


def files() -> list[VectorFile]:
    """The file of trees."""
    before = ctx.prec, mpmath.iv.prec
    use_precision()
    try:
        return [_trees(), _distances(), _refused()]
    finally:
        ctx.prec, mpmath.iv.prec = before


def _trees() -> VectorFile:
    file = VectorFile(
        "20-hierarchical/trees.json",
        "cluster.hierarchical",
        "Trees of agglomerative clustering",
        {
            "merges": "one line [a, b, height, size] per merge; a height is a double by definition",
            "exact": "the float rules and the exact definition give the same tree and heights",
            "rounded": "they do not, or only the rules apply; the rules decide",
        },
    )
    add_rows(file, "one", [[3, 1]], "a single row: nothing to merge", firm=True)
    add_rows(file, "two", [[0, 0], [3, 4]], "two rows", heights=["4", "5"], firm=True)
    add_rows(file, "same", [[2]] * 4, "four equal rows: only ties", heights=["0"], firm=True)
    add_rows(
        file,
        "line",
        [[0], [1], [3], [7], [15], [31]],
        "no ties on a line",
        heights=["2", "7/2", "16"],
        firm=True,
    )
    add_rows(
        file,
        "square",
        [[0, 0], [0, 2], [2, 0], [2, 2]],
        "the corners of a square: four equal sides",
        heights=["2", "5/2"],
        firm=True,
    )
    add_rows(
        file,
        "steps",
        [[0], [1], [2], [3], [4]],
        "equal steps: the first pair (0, 1), and then the rule decides whether 2 joins it or 3",
        heights=["1", "3/2"],
    )
    add_rows(
        file,
        "scattered",
        [[4], [0], [5], [1], [2], [6]],
        "equal steps out of order: pairs are compared by smallest rows, not by size or by age",
        heights=["1"],
    )
    add_rows(
        file,
        "triangle",
        [[0, 0], [8, 0], [4, 7]],
        "nearly equilateral: the centroid and the median fall below the first merge",
        heights=["7", "8"],
        firm=True,
    )
    add_rows(
        file,
        "grid",
        [[x, y] for y in range(3) for x in range(3)],
        "a grid of three by three",
        heights=["1", "3/2"],
    )
    add_rows(
        file,
        "offset",
        [[1e8], [1e8 + 0.125], [1e8 + 0.375], [1e8 + 0.875]],
        "far from the origin: distances from expanded squares in floats would be lost",
        firm=True,
    )
    add_rows(
        file,
        "sparse",
        [{"a": 1, "b": 2}, {"b": 2}, {}, {"c": 4}, {"a": 1, "c": 4}],
        "sparse rows, one of them zero",
        heights=["2"],
    )
    add_rows(
        file,
        "tenths",
        [[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]],
        "steps of a tenth, which are no equal steps in doubles",
    )
    add_rows(
        file,
        "angles",
        [[1, 0], [3, 4], [0, 2], [4, 3], [-1, 0], [6, 8]],
        "cosine distances, two rows of one direction",
        metric="cosine",
        heights=["1/5", "1"],
    )
    for seed, n, d in ((1, 10, 2), (2, 16, 3)):
        draw = random.Random(seed)
        rows = [[draw.random() for _ in range(d)] for _ in range(n)]
        add_rows(file, f"random-{seed}", rows, "random rows, no ties", heights=["1/2"], firm=True)
    draw = random.Random(3)
    rows = [[int(6 * draw.random()), int(6 * draw.random())] for _ in range(20)]
    add_rows(file, "crowd", rows, "twenty rows on a small grid: many ties, some equal rows")
    _given(file)
    return file


def _given(file: VectorFile) -> None:
    tenth = [[0.0 if i == j else 0.1 for j in range(7)] for i in range(7)]
    add_matrix(
        file,
        "simplex",
        tenth,
        "all distances 0.1: an average that rounds to another double would lose the ties",
    )
    add_matrix(
        file,
        "tetrahedron",
        [[0.0 if i == j else 1.7 for j in range(4)] for i in range(4)],
        "all distances 1.7: Ward's value of equal squares must not round below them",
    )
    add_matrix(
        file,
        "no-metric",
        [[0, 1, 9, 2], [1, 0, 1, 7], [9, 1, 0, 3], [2, 7, 3, 0]],
        "the triangle inequality fails; nothing asks for it",
        heights=["1", "3"],
    )
    add_matrix(
        file,
        "zeros",
        [[0, 0, 1, 1], [0, 0, 1, 2], [1, 1, 0, 0], [1, 2, 0, 0]],
        "different objects at distance 0",
        heights=["0", "1"],
    )
    draw = random.Random(4)
    n = 9
    matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            matrix[i][j] = matrix[j][i] = float(int(4 * draw.random()))
    add_matrix(file, "four-values", matrix, "a matrix of four values: the order of ties decides")


def _distances() -> VectorFile:
    file = VectorFile(
        "20-hierarchical/distances.json",
        "cluster.hierarchical",
        "Distances of all pairs of rows",
        {"distances": "the pairs (0, 1), (0, 2), ..., (1, 2), ... of rows, under the metric"},
    )
    cases: list[tuple[str, Rows, str]] = [
        ("plain", [[3, 4], [4, 3], [-3, -4], [1, 0]], "rational cosines"),
        ("roots", [[1, 1], [1, 2], [0.1, 0.3]], "roots"),
        ("parallel", [[1, 2], [2, 4], [1e8, 2e8], [1e8, 2e8 + 1]], "nearly parallel directions"),
        ("offset", [[1e9 + 0.5, 1], [1e9, 1], [1e9 + 0.25, 0]], "far from the origin"),
        ("far", [[1e200, 1], [1e-200, -1], [-1e100, 3]], "sizes far apart"),
        ("small", [[5e-324, 0.0], [0.0, 1e-323], [3e-310, 4e-310]], "below the normal range"),
        ("sparse", [{"a": 1, "b": 1}, {"b": 3}, {"c": 2, "a": -1}], "sparse rows"),
    ]
    for slug, rows, description in cases:
        points = [exact(row) for row in rows]
        pairs = [(x, y) for i, x in enumerate(points) for y in points[i + 1 :]]
        for metric, clause, value in (
            ("euclidean", "DIST-L2", lambda x, y: signed_root(gap(x, y))),
            ("sqeuclidean", "VEC-SQDIST", lambda x, y: encode_rational(gap(x, y))),
            ("cosine", "DIST-COS", less_than_one),
        ):
            values: list[Json] = [value(x, y) for x, y in pairs]
            refused = [entry for entry in values if isinstance(entry, dict) and "error" in entry]
            given: dict[str, Json] = {"rows": [written(row) for row in rows], "metric": metric}
            file.add(
                f"hc-pairs-{slug}-{metric}",
                given,
                {"distances": refused[0] if refused else {"list": values}},
                description,
                formulas=sorted([clause, "KER-PAIR"]),
            )
    return file


def _refused() -> VectorFile:
    file = VectorFile(
        "20-hierarchical/refused.json",
        "cluster.hierarchical",
        "What agglomerative clustering refuses",
        {"pass": "the input is refused with this code"},
    )
    rows: Json = [["0"], ["1"], ["5"]]
    cases: list[tuple[str, dict[str, Json], str, str]] = [
        ("not-square", {"distances": [["0", "1"], ["1", "0"], ["2", "2"]]}, "bad-distances", ""),
        ("not-symmetric", {"distances": [["0", "1"], ["2", "0"]]}, "bad-distances", ""),
        ("negative", {"distances": [["0", "-1"], ["-1", "0"]]}, "bad-distances", ""),
        ("diagonal", {"distances": [["0", "1"], ["1", "1"]]}, "bad-distances", ""),
        ("condensed", {"distances": ["1", "2"]}, "bad-distances", "two are no n(n - 1)/2"),
        ("nan", {"distances": ["nan"]}, "not-finite", ""),
        ("infinite", {"distances": [["0", "inf"], ["inf", "0"]]}, "not-finite", ""),
        ("no-distances", {"distances": []}, "empty-input", ""),
        ("no-rows", {"rows": []}, "empty-input", ""),
        ("too-many", {"rows": rows, "k": "4"}, "k-out-of-range", ""),
        ("none", {"rows": rows, "k": "0"}, "k-out-of-range", ""),
        ("unknown-metric", {"rows": rows, "metric": "hamming"}, "bad-option", ""),
        ("unknown-linkage", {"rows": rows, "linkage": "wards"}, "bad-option", ""),
        ("both", {"rows": rows, "k": "2", "height": "1"}, "bad-option", "two ways to cut"),
        ("huge", {"rows": [["0"], [(1e150).hex()]], "linkage": "ward"}, "not-finite", "squares"),
        ("far", {"distances": [(1e300).hex()], "linkage": "average"}, "not-finite", ""),
        (
            "square-overflow",
            {"distances": [(1e200).hex()], "linkage": "centroid"},
            "not-finite",
            "a square beyond the doubles",
        ),
    ]
    for linkage in SQUARED:
        cases.append(
            (
                f"{linkage}-cosine",
                {"rows": rows, "linkage": linkage, "metric": "cosine"},
                "bad-option",
                "no mean under angles",
            )
        )
    cases.append(
        ("zero-row", {"rows": [["0"], ["1"]], "metric": "cosine"}, "zero-vector", "no direction")
    )
    clauses = {
        "bad-distances": "HC-GIVEN",
        "k-out-of-range": "HC-CUT",
        "zero-vector": "DIST-COS",
    }
    for slug, given, code, description in cases:
        file.add(
            f"hc-refuse-{slug}",
            {"linkage": "single", **given},
            {"error": code},
            description,
            formulas=[clauses.get(code, "HC-GIVEN" if "distances" in given else "HC-AGG")],
        )
    return file
