"""Cases of k-means: offsets and magnitudes, the cosine, ends of runs, restarts, sparse rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from .kmeans_cases import fit, grid, tenths
from .kmeans_problem import FINAL, Given, Problem, solve
from .kmeans_traps import blobs, border_traps, by_differences, expanded, plain_labels, plain_run
from .kmeans_witness import LIMIT, OBJECTIVE, TOLERANCE, UNCHANGED
from .writer import VectorFile

SUBJECT = "cluster.kmeans"
# Offset, unit and bits of the coordinates, seed of rows where the expanded form ends elsewhere.
LADDER = (
    ("0", 0.0, -45, 46, 0),
    ("1e3", 1e3, -43, 42, 0),
    ("1e6", 1e6, -33, 33, 46),
    ("1e8", 1e8, -26, 30, 0),
    ("1e9", 1e9, -23, 30, 0),
    ("2p40", 2.0**40, -12, 30, 0),
)
TINY = math.ulp(0.0)


def ladder() -> VectorFile:
    """Rows on an offset, and numbers at the ends of the range of doubles."""
    file = VectorFile("10-kmeans/ladder.json", SUBJECT, "Offsets and magnitudes that mislead")
    for name, offset, power, bits, seed in LADDER:
        for turn, trap in enumerate(border_traps(offset, 2.0**power, bits, 2)):
            told = (
                f"rows beside the border of two centres; in doubles the expanded form sends "
                f"{trap.wrong_expanded} of {len(trap.rows)} rows to the wrong one, the sum of "
                f"squared differences {trap.wrong_differences}"
            )
            fit(file, f"border-{name}-{turn}", Problem(trap.rows, centres=trap.centres), told)
        rows = blobs(offset, 24, 2, 3, seed)
        problem = Problem(rows, centres=rows[:3])
        right = solve(problem).run.labels
        plain = plain_run(rows, rows[:3], expanded)
        assert (plain != right) == (offset >= 1e6)
        told = "overlapping heaps"
        if plain != right:
            told += "; with the expanded form in doubles the run ends with other labels"
        fit(file, f"heaps-{name}", problem, told)
    _magnitudes(file)
    return file


def _magnitudes(file: VectorFile) -> None:
    big = math.nextafter(math.inf, 0)
    rows: list[list[float]]
    rows = [[1e300, -1e300], [-1e300, 1e300], [1e300, -1e300], [big, big], [big, big]]
    told = "squares beyond the doubles; every row on its centre"
    fit(file, "huge", Problem(rows, centres=[rows[1], rows[3], rows[0]]), told)
    light = [1, 1, 2.0**-1000, 2.0**-1001, 1]
    rows = [[0.0], [0.0], [1e200], [-3e200], [5.0]]
    told = "squares beyond the doubles; tiny weights bring the sum back"
    problem = Problem(rows, centres=[[0.0], [5.0]], weights=light)
    keys = ("labels", "centres", "rss", "within", "iterations", "stopped", "trace.labels")
    fit(file, "huge-light", problem, told, keys=keys)
    rows = [[x * 1e150 + 1e152] for x in (0.0, 1.0, 2.5, 7.0, 8.0, 9.5)]
    fit(file, "large", Problem(rows, centres=rows[:2]), "squares near the largest double")
    rows = [[x * 1e-300] for x in (0.0, 1.0, 2.5, 7.0, 8.0, 9.5)]
    assert plain_labels(rows, rows[:2], by_differences) == [0] * 6
    told = "squares below the doubles: a plain program sees distances 0 everywhere; RSS rounds to 0"
    fit(file, "small", Problem(rows, centres=rows[:2]), told)
    rows = [[x * 1e-160, 1.0] for x in (0.0, 1.0, 2.5, 7.0, 8.0, 9.5)]
    told = "squares among the subnormal doubles"
    fit(file, "subnormal-squares", Problem(rows, centres=rows[:2]), told)
    rows = [[TINY * x, -TINY * x] for x in (0, 1, 2, 3, 5, 8, 13, 21, 34)]
    told = "multiples of the least double: means are rounded to its multiples, halves to even"
    fit(file, "least", Problem(rows, centres=[rows[0], rows[8]]), told)
    rows = [[1e200, x * 1e-200] for x in (1.0, 2.0, 2.5, 7.0, 8.0, 9.5)]
    told = "a huge common component beside tiny ones that decide"
    fit(file, "mixed", Problem(rows, centres=rows[:2]), told)
    rows = [[1.0, 2.0**-30 * x] for x in (0, 1, 2, 5, 6, 7)]
    told = "1 + x^2 is rounded to 1 in squared lengths"
    fit(file, "near-one", Problem(rows, centres=[rows[0], rows[5]]), told)


def cosine() -> VectorFile:
    """Spherical k-means."""
    file = VectorFile("10-kmeans/cosine.json", SUBJECT, "Assignment by the cosine")
    counts = [[2, 1, 0, 0], [1, 2, 0, 0], [4, 2, 0, 0], [0, 1, 3, 0], [0, 0, 2, 1], [0, 0, 1, 5]]
    counts += [[0, 1, 1, 9], [3, 3, 0, 1]]
    base = Problem(counts, metric="cosine")
    keys = tuple(key for key in (*FINAL, "trace.labels", "trace.changed", "trace.rss"))
    keys += ("trace.centres",)

    def add(slug: str, problem: Problem, told: str) -> None:
        fit(file, f"cosine-{slug}", problem, told, keys=keys)

    add("counts", replace(base, centres=counts[:3]), "small counts from their first rows")
    add("counts-two", replace(base, centres=[counts[0], counts[5]]), "small counts, K = 2")
    add("counts-one", replace(base, centres=[[1, 1, 1, 1]]), "K = 1")
    add("labels", replace(base, labels=[0, 1, 2, 0, 1, 2, 0, 1]), "means of labelled groups")
    for start in ("k-means++", "greedy", "random", "random-centres", "farthest"):
        add(start, replace(base, k=3, start=start, seed=5), "drawn among the scaled rows")
    weighted = replace(base, centres=counts[:3], weights=[1, 2, 0.5, 3, 1, 0, 2, 1])
    add("weights", weighted, "weighted directions")
    add("restarts", replace(base, k=3, restarts=6, seed=1), "the largest total cosine of six runs")
    # Rows of the plane; a centre counts by its direction alone.
    plane = [[3, 4], [4, 3], [5, 12], [12, 5], [8, 15], [1, 0], [0, 1]]
    told = "rational lengths; centres of any length"
    add("plane", Problem(plane, centres=[[100, 1], [0.25, 1]], metric="cosine"), told)
    told = "a row between two centres: equal cosines go to the lower index"
    even = Problem([[1, 1], [1, 0], [0, 1], [2, 2]], centres=[[0, 3], [1, 0]], metric="cosine")
    add("tie", even, told)
    near = [[2.0**27, 2.0**27 + 1], [1.0, 1.0]]
    close = [[1.0, 1.0], [3.0, 3.0], [1.0, 2.0], [2.0, 1.0]]
    assert _plain_cosine(close[0], near[0]) >= _plain_cosine(close[0], near[1])
    told = "two cosines equal in doubles; the second centre is nearer in truth"
    problem = Problem(close, centres=near, metric="cosine")
    assert solve(problem).run.steps[0].labels[0] == 1
    add("near", problem, told)
    told = "no positive cosine: the least negative one wins"
    negative = Problem([[-1, -2], [-2, -1], [-3, -4]], centres=[[1, 0], [0, 1]], metric="cosine")
    add("negative", negative, told)
    sizes = [[1e300, 1e300], [1e300, -1e300], [TINY, 2 * TINY], [3e-310, 0.0], [1.0, 1e-320]]
    told = "rows of all lengths are scaled exactly"
    add("sizes", Problem(sizes, centres=[[1, 1], [1, 2]], metric="cosine"), told)
    documents: list[Given] = [
        {"cat": 2, "dog": 1},
        {"dog": 3, "cat": 1, "cow": 1},
        {"sun": 1},
        {"sun": 4, "moon": 3},
        {"moon": 2, "cat": 1},
        {"cow": 7},
    ]
    told = "sparse rows over the sorted words"
    words = Problem(documents, centres=[documents[0], documents[3]], metric="cosine")
    add("sparse", words, told)
    add("sparse-drawn", replace(words, centres=None, k=3, seed=2), told)
    _opposite(file, keys)
    _cosine_ends(file, keys)
    return file


def _plain_cosine(x: Sequence[float], c: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(x, c, strict=True))
    return product / math.sqrt(sum(b * b for b in c))


def _opposite(file: VectorFile, keys: Sequence[str]) -> None:
    """Clusters whose directions cancel are empty."""
    cross = [[1, 0], [-1, 0], [0, 1], [0, 2], [1, 5]]
    cancel = [[0, 1], [0, -1], [3, 4], [4, 3], [1, 1]]
    alone = [[1, 0], [-1, 0]]
    rounded: list[Given] = [[1, 0], [-1, TINY], [0, -1]]
    scenes: list[tuple[str, Problem, str]] = [
        ("cross", Problem(cross, centres=[[0, 1], [0, -3]]), "no row at first"),
        (
            "cancel",
            Problem(cancel, centres=[[-1, 0], [5, 0]]),
            "two opposite rows and no others: a sum of zero; dropped, they join the other cluster",
        ),
        ("rounded", Problem(rounded, centres=[[0, 1], [0, -1]]), "a mean that is rounded to zero"),
        ("alone", Problem(alone, centres=[[0, 1]]), "the only cluster cancels: nothing to measure"),
    ]
    for name, problem, told in scenes:
        for policy in ("farthest", "split", "keep", "drop"):
            # Left open by the clause: whether a cluster that cancels may give a row itself.
            if policy == "split" and name in ("alone", "rounded"):
                continue
            if policy == "drop" and name == "alone":
                continue  # refused
            chosen = replace(problem, empty=policy, metric="cosine")
            fit(file, f"opposite-{name}-{policy}", chosen, f"{told}; {policy}", keys=keys)
    axes = [[1, 0], [0, 1], [0, 1]]
    twins = [[2, 0], [1, 0], [0, 1], [1, 0], [0, 2]]
    spread = [[3, 1], [-3, 4], [-1, 4], [-4, 3]]
    far = [[-4, 1], [-4, 2], [4, -1], [3, 2]]
    donors = [
        ("axes", Problem(axes, centres=[[1, 1], [1, 1], [0, 2]])),
        ("twins", Problem(twins, centres=[[1, 1], [1, 1], [2, 2], [0, 2]])),
        ("spread", Problem(spread, centres=far, weights=[1, 1, 1, 0])),
    ]
    for name, problem in donors:
        chosen = replace(problem, empty="split", metric="cosine")
        told = "rows belong to the donor by their cosine, even where another centre is nearer"
        fit(file, f"cosine-donor-{name}", chosen, told, keys=keys)


def _cosine_ends(file: VectorFile, keys: Sequence[str]) -> None:
    rows = [row for row in grid(35, 20, 3, 6) if any(row)]
    problem = Problem(rows, centres=rows[:3], metric="cosine")
    length = len(solve(problem).run.steps)
    assert length > 3
    for limit in (1, 2, length):
        told = f"at most {limit} iterations"
        fit(file, f"cosine-limit-{limit}", replace(problem, limit=limit), told, keys=keys)
    for tolerance in (0.5, 2.0**-5, 2.0**-20):
        chosen = replace(problem, tolerance=tolerance)
        told = "the gain of the total cosine, relative to its value"
        fit(file, f"cosine-tolerance-{tolerance:.0e}", chosen, told, keys=keys)
    for seed in (36, 132, 1276):
        rows = [row for row in grid(seed, 7, 2, 3, -1) if any(row)]
        start = [row for row in grid(seed + 10**6, 3, 2, 3, -1) if any(row)]
        problem = Problem(rows, centres=start, metric="cosine")
        assert solve(problem).run.stopped == OBJECTIVE
        told = "labels change, the total cosine does not rise"
        fit(file, f"cosine-objective-{seed}", problem, told, keys=keys)
    both = replace(problem, tolerance=0)
    assert solve(both).run.stopped == TOLERANCE
    told = "the total cosine does not rise, and a tolerance is given: the reason listed first"
    fit(file, "cosine-both-reasons", both, told, keys=keys)


def ends() -> VectorFile:
    """Limits, tolerances, restarts, sparse rows, and one larger case."""
    file = VectorFile("10-kmeans/runs.json", SUBJECT, "Ends of runs, restarts, sparse rows")
    rows = grid(77, 30, 1, 200)
    problem = Problem(rows, centres=sorted(rows)[:3])
    full = len(solve(problem).run.steps)
    for limit, reason in ((1, LIMIT), (2, LIMIT), (5, LIMIT), (full - 1, LIMIT), (full, UNCHANGED)):
        chosen = replace(problem, limit=limit)
        assert solve(chosen).run.stopped == reason
        told = f"at most {limit} iterations; the labels belong to the centres returned"
        fit(file, f"limit-{limit}", chosen, told)
    for tolerance in (0, 2.0**-10, 0.01, 0.125, 0.5, 1):
        chosen = replace(problem, tolerance=tolerance)
        told = "stops when RSS falls by too small a share"
        fit(file, f"tolerance-{str(float(tolerance)).replace('.', 'p')}", chosen, told)
    rows = grid(513, 6, 1, 12)
    border = Problem(rows, centres=rows[:2], tolerance=39 / 64)
    assert solve(border).run.stopped == TOLERANCE
    told = "RSS falls by exactly the share 39/64: that stops"
    fit(file, "tolerance-border", border, told)
    below = replace(border, tolerance=math.nextafter(39 / 64, 0))
    assert solve(below).run.stopped == UNCHANGED
    told = "RSS falls by the share 39/64, one step above the tolerance: that goes on"
    fit(file, "tolerance-border-below", below, told)
    measured = tenths(21, 20, 2, 4)
    for start in ("k-means++", "greedy", "random", "random-centres", "farthest"):
        for seed in (0, 1):
            problem = Problem(measured, k=4, start=start, seed=seed, restarts=4)
            told = "four runs on one stream of random numbers"
            fit(file, f"restarts-{start}-{seed}", problem, told, keys=FINAL)
    twin = Problem([[0, 0], [0, 1], [4, 0], [4, 1]], k=2, seed=0, restarts=8, start="random")
    fit(file, "restarts-tie", twin, "several runs end equally well: the earliest", keys=FINAL)
    short = Problem(measured, k=4, restarts=3, limit=2, seed=9)
    fit(file, "restarts-limit", short, "runs cut short", keys=FINAL)
    trials = Problem(measured, k=4, start="greedy", trials=5, seed=3)
    fit(file, "trials", trials, "five candidates for each centre", keys=FINAL)
    documents: list[Given] = [
        {"b": 2.5, "a": 1},
        {"a": 1.5, "b": 2},
        {"c": 4},
        {},
        {"c": 3.5, "d": -1},
        {"d": -2, "a": 0.5},
    ]
    words = Problem(documents, centres=[documents[0], documents[2], {"d": -1}])
    fit(file, "sparse-words", words, "sparse rows; columns are the sorted words")
    numbered = Problem(
        [{0: 1, 2: 3}, {1: 2.5}, {2: 3.5}, {0: 2, 1: 2}, {2: 1e-3}], centres=[{2: 3}, {1: 1, 0: 1}]
    )
    fit(file, "sparse-numbers", numbered, "sparse rows with integer keys")
    for start in ("k-means++", "greedy", "random", "random-centres", "farthest"):
        drawn = Problem(documents, k=3, start=start, seed=4)
        fit(file, f"sparse-{start}", drawn, "sparse rows, drawn start", keys=FINAL)
    medium = Problem(tenths(150, 150, 4, 3), k=3, restarts=3)
    told = "150 rows of four measurements"
    fit(file, "medium", medium, told, more=["trace.changed", "trace.rss"], keys=FINAL)
    return file
