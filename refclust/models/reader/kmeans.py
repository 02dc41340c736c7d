"""The parts of a model file that belong to k-means, and centres (chapter 11, MODEL-LOAD)."""

from __future__ import annotations

import math
from typing import Any, Final, get_args

from refclust.cluster.results import Centre, Centres, Emptied, Metric, Policy, Reason, Start
from refclust.data.files.document import Node
from refclust.models.records.clusters import DataFacts, KMeansFitted, KMeansParams, RunFacts, Step

METRICS: Final[tuple[Metric, ...]] = get_args(Metric)
STARTS: Final[tuple[Start, ...]] = get_args(Start)
_POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
_REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

MOST_CLUSTERS: Final = 2**31 - 1  # labels are 32-bit integers
# A sparse centre is kept with all its zeros, so a short file could ask for a huge table.
MOST_NUMBERS: Final = 10**8


def read_kmeans_params(node: Node) -> KMeansParams:
    """Read what a k-means fit was asked for."""
    k, metric, start, seed, restarts, trials, empty, tolerance, limit = node.members(
        "k", "metric", "start", "seed", "restarts", "trials", "empty", "tolerance", "limit"
    )
    return KMeansParams(
        k.whole(1, MOST_CLUSTERS),
        metric.one_of(METRICS),
        start.one_of(STARTS),
        seed.whole(0, None),
        restarts.whole(1, None),
        trials.maybe(lambda given: given.whole(1, None)),
        empty.one_of(_POLICIES),
        tolerance.maybe(lambda given: given.double(0)),
        limit.whole(1, None),
    )


def read_kmeans(node: Node, params: KMeansParams, data: DataFacts) -> KMeansFitted:
    """Read what a k-means fit found.

    Spec: MODEL-LOAD
    """
    rss, mean_square, cosine, iterations, stopped, best, sizes, within, centres, runs, trace = (
        node.members(
            "rss",
            "mean_square",
            "cosine",
            "iterations",
            "stopped",
            "best",
            "sizes",
            "within",
            "centres",
            "runs",
            "trace",
        )
    )
    found = read_centres(centres, data, directed=params.metric == "cosine")
    k = len(found)
    if not 1 <= k <= params.k or (k < params.k and params.empty != "drop"):
        centres.fail(f"{k} centres; params.k is {params.k}")
    ends = tuple(_run(run, params, data) for run in runs.items())
    if not 1 <= len(ends) <= params.restarts:
        runs.fail(f"{len(ends)} runs; params.restarts is {params.restarts}")
    chosen = best.whole(0, len(ends) - 1)
    fitted = KMeansFitted(
        rss.double(0),
        mean_square.double(0),
        _total_cosine(cosine, params.metric),
        iterations.whole(0),
        stopped.one_of(_REASONS),
        chosen,
        tuple(size.rational() for size in sizes.items(k)),
        within.doubles(k, 0),
        found,
        ends,
        tuple(
            _step(step, place, params, data) for place, step in enumerate(trace.items(), start=1)
        ),
    )
    for name in ("rss", "cosine", "iterations", "stopped"):
        own, of_run = getattr(fitted, name), getattr(ends[chosen], name)
        if own != of_run:
            node.entry(name).fail(f"{own!r}; the best run, runs[{chosen}], has {of_run!r}")
    return fitted


def _run(node: Node, params: KMeansParams, data: DataFacts) -> RunFacts:
    rss, cosine, iterations, stopped, emptied = node.members(
        "rss", "cosine", "iterations", "stopped", "emptied"
    )
    return RunFacts(
        rss.double(0),
        _total_cosine(cosine, params.metric),
        iterations.whole(0),
        stopped.one_of(_REASONS),
        tuple(_emptied(item, data) for item in emptied.items()),
    )


def _emptied(node: Node, data: DataFacts) -> Emptied:
    iteration, cluster, policy, row = node.members("iteration", "cluster", "policy", "row")
    return Emptied(
        iteration.whole(0),
        cluster.whole(0, data.n - 1),  # params.k is less after a drop
        policy.one_of(_POLICIES),
        row.maybe(lambda given: given.whole(0, data.n - 1)),
    )


def _step(node: Node, due: int, params: KMeansParams, data: DataFacts) -> Step:
    iteration, changed, rss, rss_updated, cosine = node.members(
        "iteration", "changed", "rss", "rss_updated", "cosine"
    )
    if iteration.whole(1) != due:
        iteration.fail(f"iteration {iteration.value}; {due} comes next")
    return Step(
        due,
        changed.whole(0, data.n),
        rss.double(0),
        rss_updated.maybe(lambda given: given.double(0)),
        _total_cosine(cosine, params.metric),
    )


def _total_cosine(node: Node, metric: Metric) -> float | None:
    if metric == "cosine":
        return node.double()
    if node.value is not None:
        node.fail("a total cosine is known under the metric cosine only; null is due")
    return None


def read_centres(node: Node, data: DataFacts, *, directed: bool) -> Centres:
    """Read centres, dense or sparse as the data were, each with a direction if one is due.

    Spec: MODEL-LOAD
    """
    found = node.items()
    check_room(node, len(found), data)
    centres = tuple(_centre(item, data) for item in found)
    for item, centre in zip(found, centres, strict=True):
        if directed and not any(centre):
            item.fail("the zero vector, which has no direction and no cosine")
    return centres


def check_room(node: Node, count: int, data: DataFacts) -> None:
    """Refuse more numbers than a model may hold."""
    if count * data.d > MOST_NUMBERS:
        node.fail(f"{count} centres of {data.d} numbers; {MOST_NUMBERS} numbers are allowed")


def _centre(node: Node, data: DataFacts) -> Centre:
    if data.kind == "dense":
        return node.doubles(data.d)
    if type(node.value) is not list:
        node.wrong("an array of pairs")
    centre = [0.0] * data.d
    least = 0
    for place, given in enumerate(node.value):
        # Only a suspect gets nodes of its own: a model may hold millions of pairs.
        if not _is_plain_pair(given, least, data.d):
            given = _pair(node.item(place), least, data.d)
        column, number = given
        centre[column], least = number, column + 1
    return tuple(centre)


def _is_plain_pair(given: Any, least: int, d: int) -> bool:
    return (
        type(given) is list
        and len(given) == 2
        and type(given[0]) is int
        and least <= given[0] < d
        and type(given[1]) is float
        and given[1] != 0
        and math.isfinite(given[1])
    )


def _pair(node: Node, least: int, d: int) -> tuple[int, float]:
    column, number = node.items(2)
    place = column.whole(0, d - 1)
    if place < least:
        column.fail(f"column {place} after column {least - 1}; columns ascend")
    value = number.double()
    if not value and math.copysign(1, value) > 0:
        number.fail("a zero; zeros are left out")
    return place, value
