"""Cases of k-means: worked examples, ties, empty clusters, weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from .kmeans_cases import fit, grid, tenths
from .kmeans_problem import FINAL, Given, Problem, solve
from .kmeans_traps import by_differences, plain_labels
from .kmeans_witness import mean, rss, weight_and_sum
from .writer import VectorFile

SUBJECT = "cluster.kmeans"
RECTANGLE = [[0, 0], [0, 1], [4, 0], [4, 1]]


def worked() -> VectorFile:
    """Small examples that can be followed by hand."""
    file = VectorFile("10-kmeans/worked.json", SUBJECT, "Small examples, every iteration")
    exact = ["exact_rss"]
    far, near = [[0, 0], [4, 0]], [[0, 0], [0, 1]]
    ids = ("PROP-KM-3", "PROP-KM-8", "PROP-KM-1", "PROP-KM-2")
    for name, start, told in (("good", far, "RSS 1"), ("bad", near, "RSS 16")):
        fit(file, f"rectangle-{name}", Problem(RECTANGLE, centres=start), told, *ids, more=exact)
    for k, start in ((1, [[0, 0]]), (3, [[0, 0], [0, 1], [4, 0]]), (4, RECTANGLE)):
        told = f"the same points with K = {k}"
        problem = Problem(RECTANGLE, centres=start)
        fit(file, f"rectangle-k{k}", problem, told, "PROP-KM-8", more=exact)
    line = [[0], [1], [3], [7], [8], [15]]
    fit(file, "line", Problem(line, centres=[[0], [1]]), "six points on a line", more=exact)
    told = "a start outside the data"
    fit(file, "outside", Problem(line, centres=[[-100], [100]]), told, more=exact)
    turned = Problem(line, centres=[[8], [1], [0]])
    fit(file, "order-of-centres", turned, "centres keep the order of their start", more=exact)
    labels = Problem(line, labels=[1, 0, 1, 0, 1, 0])
    fit(file, "labels-numbers", labels, "the start are means of groups 0 and 1", more=exact)
    words: list[int | str] = ["b", "a", "b", "c", "a", "B"]
    told = "groups in the order of the sorted labels: B, a, b, c"
    fit(file, "labels-words", Problem(line, labels=words), told)
    fit(file, "labels-negative", Problem(line, labels=[-1, 10, 2, 10, -1, 2]), "-1, 2, 10")
    for seed, n, d, k in ((1, 12, 2, 3), (2, 15, 3, 4), (3, 20, 1, 5), (4, 30, 2, 4)):
        rows = grid(seed, n, d, 30, -10)
        told = "random integers from their first rows"
        fit(file, f"integers-{n}-{d}-{k}", Problem(rows, centres=rows[:k]), told, more=exact)
    for seed, n, d, k in ((5, 12, 2, 3), (6, 24, 4, 3), (7, 40, 2, 5)):
        measured = tenths(seed, n, d, k)
        told = "measurements with one decimal"
        fit(file, f"tenths-{n}-{d}-{k}", Problem(measured, centres=measured[:k]), told)
    slow = grid(77, 30, 1, 200)
    told = "many iterations"
    fit(file, "slow", Problem(slow, centres=sorted(slow)[:3]), told, "PROP-KM-2", "PROP-KM-1")
    single = Problem([[3, 4]], centres=[[0, 0]])
    fit(file, "one-row", single, "one row, one cluster", more=exact)
    _means(file)
    _optimal(file)
    return file


def _means(file: VectorFile) -> None:
    """K = 1 and K = n, and a mean that a float sum divided by n misses."""
    rows = tenths(14, 10, 3, 2)
    column = [row[0] for row in rows]
    exact = sum(map(Fraction, column), Fraction(0)) / len(column)
    assert math.fsum(column) / len(column) != float(exact)
    told = "one cluster: fsum(x)/n is not the nearest double of the mean of the first column"
    fit(file, "mean", Problem(rows, centres=[rows[0]]), told)
    fit(file, "k-is-n", Problem(rows, centres=rows), "every row a cluster", "PROP-KM-4")
    back = Problem(rows, centres=rows[::-1])
    fit(file, "k-is-n-reversed", back, "every row a cluster, in reverse")


def partitions(n: int) -> Iterator[list[int]]:
    """All partitions of n objects, as labels in order of appearance."""
    if n == 0:
        yield []
        return
    for head in partitions(n - 1):
        for label in range(max(head, default=-1) + 2):
            yield [*head, label]


def _optimal(file: VectorFile) -> None:
    """The best partition for every K: its RSS falls to 0, and k-means stays there."""
    rows = [[0, 1], [1, 0], [3, 3], [4, 7], [9, 8], [9, 1]]
    exact = [tuple(map(Fraction, row)) for row in rows]
    ones = [Fraction(1)] * len(rows)
    best: dict[int, tuple[Fraction, list[int]]] = {}
    for labels in partitions(len(rows)):
        k = max(labels) + 1
        centres = [mean(*weight_and_sum(exact, ones, labels, j)) for j in range(k)]
        value = rss(exact, ones, labels, centres)
        if k not in best or value < best[k][0]:
            best[k] = (value, labels)
    sums = [best[k][0] for k in sorted(best)]
    assert sums == sorted(sums, reverse=True)
    assert sums[-1] == 0
    for k, (value, labels) in sorted(best.items()):
        problem = Problem(rows, labels=labels)
        done = solve(problem)
        assert rss(exact, ones, done.run.labels, done.run.centres) == value
        told = f"the best of all partitions into {k}, found by trying all 203"
        fit(file, f"optimum-{k}", problem, told, "PROP-KM-4", keys=FINAL, more=["exact_rss"])


def ties() -> VectorFile:
    """Rows equally near to several centres, and rows that only seem to be."""
    file = VectorFile("10-kmeans/ties.json", SUBJECT, "Ties, true and apparent")
    ids = ("KM-VORONOI", "PROP-KM-5")
    square = [[x, y] for x in range(3) for y in range(3)]
    corners = [[0, 0], [0, 2], [2, 0], [2, 2]]
    told = "a 3x3 grid from its corners: the middle is equally near to all four"
    fit(file, "grid-corners", Problem(square, centres=corners), told, *ids)
    told = "the same corners in reverse: lower indices are elsewhere"
    fit(file, "grid-corners-reversed", Problem(square, centres=corners[::-1]), told, *ids)
    told = "the same rows in reverse: nothing but their order changes"
    fit(file, "grid-rows-reversed", Problem(square[::-1], centres=corners), told, *ids)
    big = [[x, y] for x in range(4) for y in range(4)]
    starts: dict[str, list[Given]] = {
        "columns": [[0, 1.5], [3, 1.5]],
        "diagonal": [[0, 0], [3, 3]],
        "middle": [[1.5, 1.5], [0, 0], [3, 0]],
    }
    for name, start in starts.items():
        fit(file, f"grid-{name}", Problem(big, centres=start), "a 4x4 grid", *ids)
    wheel = [[5, 0], [3, 4], [0, 5], [-4, 3], [0, -5]]
    told = "the origin is equally near to five centres on a circle of radius 5"
    fit(file, "circle", Problem([*wheel, [0, 0]], centres=wheel), told, *ids)
    fit(file, "circle-reversed", Problem([*wheel, [0, 0]], centres=wheel[::-1]), told, *ids)
    three = [[5, 0], [3, 4], [0, 5]]
    fit(file, "circle-three", Problem([[0, 0], [0, 1], [1, 0]], centres=three), "three", *ids)
    line = [[0], [1], [2], [2], [3], [4]]
    told = "twin rows on the border go to the lower index together"
    fit(file, "twins", Problem(line, centres=[[0], [4]]), told, *ids)
    fit(file, "twins-reversed", Problem(line, centres=[[4], [0]]), told, *ids)
    equal = Problem(line, centres=[[1], [1], [3]], empty="keep")
    fit(file, "twin-centres", equal, "two centres at one place: the second gets no row", *ids)
    tenth = [[0.1], [0.2], [0.3], [0.4], [0.5], [0.6], [0.7]]
    told = "decimals in the middle, doubles are not: 0.2 is nearer to 0.1 than to 0.3"
    fit(file, "tenths-apparent", Problem(tenth, centres=[[0.3], [0.1]]), told, *ids)
    fit(file, "tenths-apparent-wide", Problem(tenth, centres=[[0.7], [0.1]]), told, *ids)
    zero = [[-0.0, 1.0], [0.0, -1.0], [0.0, 1.0]]
    told = "0 and -0 are one number"
    fit(file, "zeros", Problem(zero, centres=[[0.0, -1.0], [-0.0, 1.0]]), told)
    _hidden_tie(file, ids)
    return file


def _hidden_tie(file: VectorFile, ids: Sequence[str]) -> None:
    """Equal sums of squares in another order, which doubles take for different."""
    x = [2.0**30 + 1, 2.0**29 + 3, 2.0**31 + 7]
    a, b, c = 1527272696.0, 2010990847.0, 906467880.0
    first = [x[0] + a, x[1] + b, x[2] + c]
    second = [x[0] + c, x[1] + a, x[2] - b]
    rows = [x, first, second]
    assert plain_labels(rows, [first, second], by_differences)[0] == 1
    problem = Problem(rows, centres=[first, second])
    assert solve(problem).run.steps[0].labels[0] == 0
    told = "exactly equal distances; by differences in doubles the second centre seems nearer"
    fit(file, "hidden", problem, told, *ids)


def empty() -> VectorFile:
    """Empty clusters under every policy."""
    file = VectorFile("10-kmeans/empty.json", SUBJECT, "Empty clusters and the policies")
    line = [[0], [1], [2], [10], [11], [20]]
    square = [[0, 0], [0, 2], [2, 0], [2, 2], [9, 9]]
    equal = [[3, 3]] * 4
    scenes: list[tuple[str, Problem, str]] = [
        ("far", Problem(line, centres=[[1], [11], [1000]]), "one centre too far away"),
        ("first", Problem(line, centres=[[1000], [1], [11]]), "the empty one comes first"),
        ("two", Problem(line, centres=[[1000], [1], [2000]]), "two at once"),
        ("three", Problem(square, centres=[[1, 1], [50, 0], [60, 0], [70, 0]]), "three at once"),
        ("twins", Problem(line, centres=[[1], [1], [1], [11]]), "three centres at one place"),
        ("equal", Problem(equal, centres=[[3, 3], [5, 5]]), "all rows equal, on a centre"),
        ("equal-off", Problem(equal, centres=[[3, 2], [5, 5], [6, 6]]), "all equal, off"),
        ("tie", Problem(square[:4], centres=[[1, 1], [40, 40]]), "four rows equally far"),
        (
            "donors",
            Problem([[0], [2], [10], [12], [30]], centres=[[1], [11], [30], [99], [98], [97]][:5]),
            "two donors with equal sums, one with none",
        ),
        (
            "weightless",
            Problem(
                [[0], [1], [10], [50], [60]],
                centres=[[0], [10], [55]],
                weights=[1, 2, 1, 0, 0],
            ),
            "the rows of the third cluster have no weight, and the farthest rows do not count",
        ),
    ]
    again = Problem([[0, 0], [0, 0], [1, 1], [1, 0]], centres=[[-1, 0], [-1, -1], [1, 1]])
    told = "no label changes, but the empty cluster moves once more"
    scenes.append(("again", again, told))
    low = 0.1
    rows = [[0, low], [0, low], [low, 0], [low, low], [0, low]]
    again = Problem(rows, centres=[[1, 0], [0, 1], [1, 0]])
    scenes.append(("again-split", again, told))
    for seed in (444, 743, 1528):
        whole, start = grid(seed, 9, 2, 9), grid(seed + 10**6, 4, 2, 9)
        done = solve(Problem(whole, centres=start, empty="keep"))
        assert min(event[0] for event in done.run.emptied) == 2
        told = "a cluster loses its last row in the second iteration"
        scenes.append((f"later-{seed}", Problem(whole, centres=start), told))
    for name, problem, told in scenes:
        for policy in ("farthest", "split", "keep", "drop"):
            chosen = replace(problem, empty=policy)
            fit(file, f"empty-{name}-{policy}", chosen, f"{told}; policy {policy}")
    return file


def copied(problem: Problem) -> Problem:
    """The same with copies of rows instead of integer weights."""
    assert problem.weights is not None
    rows = [
        row
        for row, weight in zip(problem.rows, problem.weights, strict=True)
        for _ in range(int(weight))
    ]
    return replace(problem, rows=rows, weights=None)


def weights() -> VectorFile:
    """Weights: integers and copies agree; fractions and zeros count as they should."""
    file = VectorFile("10-kmeans/weights.json", SUBJECT, "Weights, and copies instead of them")
    rows = tenths(9, 9, 2, 3)
    counts = [3, 1, 2, 1, 4, 1, 1, 2, 5]
    base = Problem(rows, k=3, weights=counts)
    problems = [
        (f"{start}-{seed}", replace(base, start=start, seed=seed))
        for start in ("k-means++", "greedy", "random", "random-centres", "farthest")
        for seed in (0, 7)
    ]
    problems.append(("given", replace(base, k=None, centres=rows[:3])))
    for policy in ("farthest", "split", "keep", "drop"):
        start = [[5.0, 5.0], [100.0, 0.0], [0.0, 100.0]]
        problems.append((policy, replace(base, k=None, centres=start, empty=policy)))
    for name, problem in problems:
        one, two = solve(problem), solve(copied(problem))
        assert one.run.centres == two.run.centres
        assert [s.rss for s in one.run.steps] == [s.rss for s in two.run.steps]
        keys = ("centres", "rss", "sizes", "labels", "iterations", "stopped")
        more = ["trace.rss", "trace.rss_updated"]
        for kind, which in (("weights", problem), ("copies", copied(problem))):
            fit(file, f"{kind}-{name}", which, kind, "PROP-KM-W", keys=keys, more=more)
    halves = [0.5, 0.25, 1, 2, 0.75, 3, 1.5, 0.125, 1]
    centres = rows[2:5]
    fit(file, "weights-halves", Problem(rows, centres=centres, weights=halves), "dyadic weights")
    odd = [0.1, 0.2, 0.3, 0.7, 1.1, 0.9, 0.6, 0.4, 0.3]
    fit(file, "weights-tenths", Problem(rows, centres=centres, weights=odd), "0.1, 0.2, …")
    zeros = [0, 1, 2, 0, 1, 0, 1, 1, 3]
    told = "rows without weight get labels and move nothing"
    fit(file, "weights-zeros", Problem(rows, centres=centres, weights=zeros), told)
    wide = [2.0**-40, 1, 2.0**40, 1, 2.0**-40, 2.0**20, 1, 3, 1]
    fit(file, "weights-wide", Problem(rows, centres=centres, weights=wide), "weights far apart")
    scaled = [c * 2.0**-30 for c in counts]
    told = "all weights divided by 2^30: the same centres"
    fit(file, "weights-scaled", Problem(rows, centres=centres, weights=scaled), told)
    one_row = [1] + [0] * 8
    told = "only the first row counts; two clusters are empty"
    fit(file, "weights-one", Problem(rows, centres=centres, weights=one_row), told)
    grouped = Problem(rows, labels=[0, 1, 2] * 3, weights=counts)
    fit(file, "weights-labels", grouped, "weighted means of labelled groups as a start")
    for name in ("k-means++", "greedy", "random", "farthest"):
        problem = Problem(rows, k=3, weights=zeros, start=name, seed=3)
        fit(file, f"weights-zeros-{name}", problem, "rows without weight are never drawn")
    return file
