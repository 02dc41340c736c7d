"""K-means, its initial centres and its top-down form: all files of chapter 10."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from . import kmeans_plain, kmeans_special
from .kmeans_cases import fit, grid, refused, seeds, split, tenths
from .kmeans_problem import Problem
from .kmeans_seeding import draw
from .kmeans_traps import draw_trap
from .make_sampling import Twister
from .writer import VectorFile

NOTES = {
    "numbers": "strings: an integer or a double in C99 hexadecimal",
    "stopped": "0 unchanged, 1 tolerance, 2 objective, 3 limit",
    "emptied": "[iteration from 1, cluster, row taken or -1]",
    "trace": "one entry per iteration of the best run; centres and rss_updated one per update",
    "binary64": "a value with binary64 alone is that very double",
}
STARTS = ("k-means++", "greedy", "random", "random-centres", "farthest")


def seeding() -> VectorFile:
    """Initial centres for every start."""
    file = VectorFile("10-kmeans/seeding.json", "cluster.seeding", "Initial centres")
    plain = grid(50, 12, 2, 12)
    told = "three runs on one stream"
    for start in STARTS:
        for seed in (0, 1, 2, 42, 2**40 + 1):
            problem = Problem(plain, k=4, start=start, seed=seed, restarts=3)
            seeds(file, f"seed-integers-{start}-{seed}", problem, told)
        measured = tenths(51, 20, 3, 3)
        weights = [(i * 7 % 5) / 4 for i in range(20)]
        offset = [[1e9 + x for x in row] for row in measured]
        twins = [[i % 3, i % 2] for i in range(12)]
        for seed in (3, 8):
            sets = {
                "tenths": Problem(measured, k=5),
                "weights": Problem(measured, k=4, weights=weights),
                "offset": Problem(offset, k=4),
                "twins": Problem(twins, k=6),
                "cosine": Problem(measured, k=3, metric="cosine"),
                "one": Problem(measured, k=1),
            }
            for name, data in sets.items():
                problem = replace(data, start=start, seed=seed, restarts=2)
                if start == "random-centres" and name == "weights":
                    continue
                seeds(file, f"seed-{name}-{start}-{seed}", problem, "two runs on one stream")
    for trials in (1, 2, 7):
        problem = Problem(plain, k=4, start="greedy", trials=trials, seed=6, restarts=2)
        seeds(file, f"seed-trials-{trials}", problem, f"{trials} candidates for each centre")
    many = Problem(tenths(52, 30, 2, 5), k=21, start="greedy", seed=1)
    seeds(file, "seed-greedy-21", many, "ln 21 is above 3: five candidates")
    few = replace(many, k=20)
    seeds(file, "seed-greedy-20", few, "ln 20 is below 3: four candidates")
    _borders(file)
    return file


def _borders(file: VectorFile) -> None:
    """Draws that fall on a border, or beside it where doubles see it on the other side."""
    first = int(Twister(0).number() * 2**53)
    rows = [[10], [20], [30]]
    for shift, row in ((0, 1), (1, 0)):
        weights = [first + shift, 2**53 - first - shift, 0]
        problem = Problem(rows, k=1, start="random", seed=0, weights=weights)
        told = f"the share is {'exactly' if not shift else 'one unit below'} the border"
        seeds(file, f"seed-border-{row}", problem, f"{told}: row {row}")
    for seed in (4, 5, 16):
        pair = draw_trap(seed)
        assert pair is not None
        share = Twister(seed).number()
        assert draw([*map(Fraction, pair)], share) == 0
        assert not pair[0] > float(share) * (pair[0] + pair[1])
        problem = Problem(rows[:2], k=1, seed=seed, weights=pair)
        told = "the product of share and total rounds up onto the border: row 0, not row 1"
        seeds(file, f"seed-rounded-{seed}", problem, told)
    zero = Problem([[1], [2], [3]], k=1, start="random", seed=12, weights=[0, 0, 5])
    seeds(file, "seed-weightless", zero, "only the last row has a mass")


def bisecting() -> VectorFile:
    """Top-down k-means."""
    file = VectorFile("10-kmeans/bisecting.json", "cluster.bisecting", "Bisecting k-means")
    plain, measured = grid(60, 14, 2, 15), tenths(61, 24, 3, 5)
    for name, rows in (("integers", plain), ("tenths", measured)):
        for k in (1, 2, 3, 5, 8):
            split(file, f"bisect-{name}-{k}", Problem(rows, k=k, seed=1), f"{k} leaves by RSS")
        for by in ("rss", "size"):
            problem = Problem(rows, k=4, by=by, seed=2, restarts=4)
            split(file, f"bisect-{name}-{by}", problem, f"four runs each, by {by}")
        for start in STARTS[1:]:
            problem = Problem(rows, k=4, start=start, seed=3)
            split(file, f"bisect-{name}-{start}", problem, f"start {start}")
    everything = Problem(plain[:8], k=8, seed=0)
    split(file, "bisect-all", everything, "every row its own leaf")
    twins = [[0], [0], [0], [5], [5], [9]]
    split(file, "bisect-twins", Problem(twins, k=3, seed=0), "leaves of equal rows are not split")
    heavy = [[i % 2] for i in range(9)] + [[100]]
    problem = Problem(heavy, k=3, by="size", seed=0)
    split(file, "bisect-size", problem, "the largest leaf is split, not the widest")
    even = [[0], [1], [100], [101]]
    split(file, "bisect-tie", Problem(even, k=3, seed=0), "equal sums: the lowest first row")
    weights = [1 + i % 3 for i in range(len(plain))]
    for by in ("rss", "size"):
        problem = Problem(plain, k=4, by=by, weights=weights, seed=5)
        split(file, f"bisect-weights-{by}", problem, f"integer weights, by {by}")
    counts = [[i % 4 + 1, i % 3, i * i % 5] for i in range(12)]
    problem = Problem(counts, k=4, metric="cosine", seed=1, restarts=2)
    split(file, "bisect-cosine", problem, "by the cosine")
    words = [{"a": 1}, {"a": 2, "b": 1}, {"c": 1}, {"c": 5, "b": 2}, {"d": 1}]
    split(file, "bisect-sparse", Problem(words, k=3, seed=2), "sparse rows")
    return file


def refusals() -> list[VectorFile]:
    """What is refused, for all three subjects."""
    file = VectorFile("10-kmeans/refused.json", "cluster.kmeans", "Refused input")
    rows = [[0, 0], [1, 0], [1, 0], [5, 5]]
    base = Problem(rows, k=2)
    range_ids = ("KM-INIT",)
    for k in (0, -1, 5):
        refused(
            file,
            f"refused-k-{k}".replace("--", "-minus-"),
            replace(base, k=k),
            "k-out-of-range",
            f"K = {k} of four rows",
            *range_ids,
        )
    clause = {"k-means++": "KM-PP", "greedy": "KM-GREEDY", "random": "KM-RANDOM"}
    clause["farthest"] = "KM-FARTHEST"
    for start, own in clause.items():
        problem = replace(base, k=4, start=start)
        told = "four clusters of three different rows"
        refused(file, f"refused-twins-{start}", problem, "k-out-of-range", told, *range_ids, own)
        problem = replace(base, k=3, start=start, weights=[1, 1, 1, 0])
        told = "the third different row has no weight"
        refused(file, f"refused-light-{start}", problem, "k-out-of-range", told, *range_ids, own)
    problem = Problem(rows, k=4, start="random-centres", seed=0, empty="keep")
    fit(file, "allowed-box", problem, "random centres do not need different rows", "KM-BOX")
    parallel = Problem([[1, 1], [2, 2], [0, 1]], k=3, metric="cosine")
    told = "two of three rows have one direction"
    refused(file, "refused-parallel", parallel, "k-out-of-range", told, "KM-INIT", "KM-COSROWS")
    many = Problem(rows[:2], centres=[[0, 0], [1, 1], [2, 2]])
    refused(file, "refused-centres", many, "k-out-of-range", "more centres than rows", "KM-INIT")
    short = Problem(rows, centres=[[0], [1]])
    told = "centres of one component, rows of two"
    refused(file, "refused-dimension", short, "dimension-mismatch", told, "KM-INIT")
    for name, bad in (("nan", math.nan), ("inf", math.inf), ("minus-inf", -math.inf)):
        problem = Problem([[0, 0], [1, bad]], k=1)
        refused(file, f"refused-{name}", problem, "not-finite", "not a finite number", "KM-ALG")
    centre = Problem(rows, centres=[[0, math.nan], [1, 1]])
    refused(file, "refused-centre-nan", centre, "not-finite", "a centre is no number", "KM-INIT")
    ragged = Problem([[1, 2], [3]], k=1)
    refused(file, "refused-ragged", ragged, "ragged-rows", "rows of different lengths", "KM-ALG")
    refused(file, "refused-none", Problem([], k=1), "empty-input", "no rows", "KM-ALG")
    weights = {"negative-count": [1, -1, 1, 1], "bad-weight": [0, 0, 0, 0]}
    for code, some in weights.items():
        problem = replace(base, weights=some)
        refused(file, f"refused-{code}", problem, code, "weights", "KM-CENTROID")
    odd = replace(base, weights=[1, 2])
    told = "two weights for four rows"
    refused(file, "refused-weights", odd, "label-length-mismatch", told, "KM-CENTROID")
    zero = Problem(rows, k=2, metric="cosine")
    told = "a zero row has no direction"
    refused(file, "refused-zero-row", zero, "zero-vector", told, "KM-COSROWS")
    centre = Problem(rows[1:], centres=[[1, 1], [0, 0]], metric="cosine")
    told = "a zero centre has no direction"
    refused(file, "refused-zero-centre", centre, "zero-vector", told, "KM-COSASSIGN")
    lost = Problem(rows, centres=[[0, 0], [50, 50], [60, 60]], empty="error")
    refused(file, "refused-empty", lost, "empty-cluster", "policy error", "KM-EMPTY")
    later = Problem(grid(444, 9, 2, 9), centres=grid(444 + 10**6, 4, 2, 9), empty="error")
    told = "policy error, in the second iteration"
    refused(file, "refused-empty-later", later, "empty-cluster", told, "KM-EMPTY")
    opposite = Problem([[1, 0], [-1, 0]], centres=[[0, 1]], metric="cosine", empty="error")
    told = "opposite directions cancel"
    refused(file, "refused-opposite", opposite, "empty-cluster", told, "KM-EMPTY")
    alone = replace(opposite, empty="drop")
    told = "the last cluster is dropped"
    refused(file, "refused-drop-all", alone, "empty-cluster", told, "KM-EMPTY")
    groups = Problem([[1, 0], [-1, 0], [0, 1]], labels=[0, 0, 1], metric="cosine")
    told = "the mean of a labelled group is the zero vector"
    refused(file, "refused-zero-group", groups, "zero-vector", told, "KM-COSASSIGN", "KM-INIT")
    huge = Problem([[0.0], [1e200], [1.0]], centres=[[0.0]])
    told = "a sum of squares beyond the doubles"
    refused(file, "refused-overflow", huge, "not-finite", told, "KM-RSS")
    down = VectorFile("10-kmeans/refused-bisecting.json", "cluster.bisecting", "Refused input")
    for k in (0, 4, 5):
        told = f"{k} leaves of four rows, three of them different"
        refused(
            down,
            f"refused-bisect-{k}",
            replace(base, k=k),
            "k-out-of-range",
            told,
            "HC-BISECT",
            split=True,
        )
    refused(
        down,
        "refused-bisect-nan",
        Problem([[math.nan]], k=1),
        "not-finite",
        "not a number",
        "HC-BISECT",
        split=True,
    )
    return [file, down]


MAKERS: dict[str, Callable[[], list[VectorFile]]] = {
    "worked": lambda: [kmeans_plain.worked()],
    "ties": lambda: [kmeans_plain.ties()],
    "empty": lambda: [kmeans_plain.empty()],
    "weights": lambda: [kmeans_plain.weights()],
    "ladder": lambda: [kmeans_special.ladder()],
    "cosine": lambda: [kmeans_special.cosine()],
    "runs": lambda: [kmeans_special.ends()],
    "seeding": lambda: [seeding()],
    "bisecting": lambda: [bisecting()],
    "refused": refusals,
}


def some(*names: str) -> list[VectorFile]:
    """The files of some makers."""
    made = [file for name in names for file in MAKERS[name]()]
    for file in made:
        file.notes.update(NOTES)
    return made


def files() -> list[VectorFile]:
    """The files of chapter 10."""
    return some(*MAKERS)
