"""Cases of k-means: how one is made of a problem, and which clauses it evidences."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .kmeans_numbers import Refusal, listed
from .kmeans_problem import ALL, Problem, answers, bisect, rows_of, solve, starts
from .kmeans_traps import below
from .values import Json
from .writer import VectorFile

START_CLAUSES = {
    "k-means++": ["KM-PP", "KM-DRAW"],
    "greedy": ["KM-GREEDY", "KM-DRAW"],
    "random": ["KM-RANDOM", "KM-DRAW"],
    "farthest": ["KM-FARTHEST", "KM-DRAW"],
    "random-centres": ["KM-BOX"],
}
KEY_CLAUSES = {
    "labels": ["KM-ALG"],
    "centres": ["KM-CENTROID", "KM-UPDATE"],
    "rss": ["KM-RSS"],
    "mean_square": ["KM-AVGSQ"],
    "cosine": ["KM-COSOBJ"],
    "sizes": ["KER-SUMS", "KER-MEANS", "KER-RESIDUAL"],
    "within": ["KER-SQUARES"],
    "stopped": ["KM-STOP"],
    "start": ["KM-INIT"],
    "runs.rss": ["KM-RESTART"],
    "trace.labels": ["KER-ASSIGN"],
    "trace.changed": ["KER-STEP"],
}


def clauses(problem: Problem, keys: Sequence[str]) -> list[str]:
    """The clauses behind the keys of a problem."""
    found: list[str] = []
    if problem.centres is None and problem.labels is None:
        found += ["KM-INIT", "NUM-RAND", *START_CLAUSES[problem.start]]
    cosine = problem.metric == "cosine"
    if keys and keys != ["error"]:
        found += ["KM-COSROWS", "KER-DIRECTIONS", "KM-COSASSIGN"] if cosine else ["KM-ASSIGN"]
    for key in keys:
        found += KEY_CLAUSES.get(key, [])
    return found


def unique(ids: Sequence[str]) -> list[str]:
    """The clauses once each, in their order."""
    return list(dict.fromkeys(ids))


def fit(
    file: VectorFile,
    slug: str,
    problem: Problem,
    description: str,
    *ids: str,
    keys: Sequence[str] = ALL,
    more: Sequence[str] = (),
) -> None:
    """Add the case of a fit: all keys unless told, and what else applies."""
    done = solve(problem)
    asked = [*keys, *more]
    if done.run.emptied or (problem.empty and "trace.rss" in keys):
        asked.append("emptied")
    if problem.metric == "cosine":
        asked.append("cosine")
    if (problem.restarts or 1) > 1:
        asked += ["runs.rss", "runs.iterations", "runs.stopped", "best"]
    if problem.centres is None:
        asked.append("start")
    orphans = any(row == -1 for step in done.run.steps for row in step.labels)
    assert not orphans
    found = [*clauses(problem, asked), *(["KM-EMPTY"] if done.run.emptied else []), *ids]
    file.add(
        name_of(slug),
        problem.written(),
        answers(done, list(dict.fromkeys(asked))),
        description,
        formulas=unique(found),
    )


def refused(
    file: VectorFile,
    slug: str,
    problem: Problem,
    code: str,
    description: str,
    *ids: str,
    split: bool = False,
) -> None:
    """Add a case that is refused; the witness must refuse it for the same reason."""
    found = "nothing"
    try:
        bisect(problem) if split else answers(solve(problem), ["rss"])
    except Refusal as refusal:
        found = refusal.code
    assert found == code, f"{slug}: {found}, not {code}"
    file.add(name_of(slug), problem.written(), {"error": code}, description, formulas=list(ids))


def seeds(file: VectorFile, slug: str, problem: Problem, description: str, *ids: str) -> None:
    """Add a case of initial centres, for every run one after another."""
    found = [*clauses(problem, []), "KER-POTENTIAL", *ids]
    if problem.metric == "cosine":
        found.append("KM-COSROWS")
    expect: dict[str, Json] = {"starts": listed([rows_of(one) for one in starts(problem)])}
    file.add(name_of(slug), problem.written(), expect, description, formulas=unique(found))


def split(file: VectorFile, slug: str, problem: Problem, description: str) -> None:
    """Add a case of top-down k-means."""
    found = ["HC-BISECT", *clauses(problem, ["labels", "centres", "rss"])]
    file.add(name_of(slug), problem.written(), bisect(problem), description, formulas=unique(found))


def name_of(slug: str) -> str:
    """The id of a case; the sign of k-means++ has no place in it."""
    return "km-" + slug.replace("k-means++", "plus").replace("random-centres", "box")


def grid(seed: int, n: int, d: int, m: int, low: int = 0) -> list[list[int]]:
    """Rows of random integers from low to low + m - 1."""
    stream = random.Random(seed)
    return [[below(stream, m) + low for _ in range(d)] for _ in range(n)]


def tenths(seed: int, n: int, d: int, heaps: int) -> list[list[float]]:
    """Measurements with one decimal, in heaps, as data files have them."""
    stream = random.Random(seed)
    middles = [[10 + below(stream, 50) for _ in range(d)] for _ in range(heaps)]
    return [
        [(middles[i % heaps][j] + below(stream, 9) + below(stream, 9) - 8) / 10 for j in range(d)]
        for i in range(n)
    ]
