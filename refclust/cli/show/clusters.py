"""What a fit tells: a summary for people, one object for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import columns, counted

if TYPE_CHECKING:
    from refclust.backends.session import Provenance
    from refclust.cluster.results import BisectingFit, Emptied, KMeansFit
    from refclust.cluster.tree import Tree
    from refclust.data.dataset import Dataset

SCHEMA: Final = "refclust-fit/1"
SHOWN: Final = ("nmi", "adjusted_rand", "purity")
_MOST_ROWS = 50  # of a table of sizes
_MOST_TOLD = 5
_REASONS: Final = {
    "unchanged": "no row changed its cluster any more",
    "tolerance": "the last gain was within the tolerance",
    "objective": "the total cosine did not rise any more",
    "limit": "not converged, this is the limit; --limit N allows more",
    "caller": "it was stopped",
}


def number(value: float) -> str:
    """A number for people: nine digits.

    >>> number(78.8556658259773), number(150.0)
    ('78.8556658', '150')
    """
    return f"{value:.9g}"


def weight(value: Fraction | int) -> str:
    """A size: whole, or rounded to three places.

    >>> weight(Fraction(1200)), weight(Fraction(1, 3))
    ('1,200', '0.333')
    """
    return f"{int(value):,}" if value == int(value) else f"{float(value):,.3f}"


def plain_weight(value: Fraction | int) -> int | str:
    """A size as JSON can hold it: an integer, or a fraction as text."""
    return int(value) if value == int(value) else str(value)


# -- text -----------------------------------------------------------------------------------------


def kmeans_lines(fit: KMeansFit, data: Dataset) -> Iterator[str]:
    """Tell about a k-means fit."""
    count = len(fit.sizes)  # the policy drop makes it smaller than k
    asked = f" of {fit.k} asked for" if fit.k != count else ""
    yield f"{data_text(data)}; {counted(count, 'cluster')}{asked} by k-means ({fit.metric})"
    yield ""
    yield from fact_lines(_objective(fit) + _kmeans_facts(fit) + backend_facts(fit.provenance))
    yield ""
    yield from size_lines(fit.sizes, fit.within)


def bisecting_lines(fit: BisectingFit, data: Dataset) -> Iterator[str]:
    """Tell about a bisecting fit."""
    yield f"{data_text(data)}; {counted(fit.k, 'cluster')} by bisecting k-means ({fit.metric})"
    yield ""
    largest = "the largest RSS" if fit.by == "rss" else "the most rows"
    yield from fact_lines(
        [
            ("RSS", number(fit.rss)),
            ("mean square", number(fit.mean_square)),
            ("splits", f"{fit.k - 1}, each of the cluster with {largest}"),
            *_unconverged(fit),
            ("start", f"{fit.start}, seed {fit.seed}, {counted(fit.restarts, 'run')} a split"),
            *backend_facts(fit.provenance),
        ]
    )
    yield ""
    yield from size_lines(fit.sizes, fit.within)


def _unconverged(fit: BisectingFit) -> Iterator[tuple[str, str]]:
    if fit.unconverged:
        most = counted(fit.limit, "iteration")
        splits = f"{fit.unconverged} of {counted(fit.k - 1, 'split')}"
        yield "not converged", f"{splits}: {most} is the limit, --limit N allows more"


def tree_lines(
    tree: Tree, sizes: Sequence[int] | None, data: Dataset | None = None
) -> Iterator[str]:
    """Tell about a tree of merges, and about its clusters if it was cut."""
    metric = "given" if tree.metric == "given" else tree.metric
    rows = counted(tree.n, "row") if data is None or data.preparation is None else data_text(data)
    yield f"{rows}; {counted(len(tree.merges), 'merge')}, {tree.linkage} linkage"
    yield ""
    last = [number(merge.height) for merge in tree.merges[: -_MOST_TOLD - 1 : -1]]
    facts = [("distances", metric)]
    if last:
        facts.append(("last heights", f"{', '.join(last)}{' …' if len(tree.merges) > 5 else ''}"))
    if tree.inversions:
        facts.append(("inversions", f"{tree.inversions} merges lie below one they contain"))
    yield from fact_lines(
        facts + ([] if tree.provenance is None else backend_facts(tree.provenance))
    )
    yield ""
    if sizes is None:
        yield "not cut; -k K or --height H cuts the tree into clusters"
    else:
        yield from size_lines([Fraction(size) for size in sizes], None)


def size_lines(sizes: Sequence[Fraction], within: Sequence[float] | None) -> list[str]:
    """A table of the clusters: how large each is, and how wide."""
    total = sum(sizes)
    rows = [["cluster", "size", "share", *(["RSS", "mean square"] if within else [])]]
    for k, size in enumerate(sizes[:_MOST_ROWS]):
        row = [str(k), weight(size), f"{float(100 * size / total):.1f}%"]
        if within:
            mean = number(within[k] / float(size)) if size else "-"
            row += [number(within[k]), mean]
        rows.append(row)
    left = len(sizes) - _MOST_ROWS
    more = [f"… and {counted(left, 'cluster')} more; --json tells all"] if left > 0 else []
    return columns(rows, right=frozenset(range(5))) + more


def data_text(data: Dataset) -> str:
    """How much data there are."""
    rows, features = counted(data.n, "row"), counted(data.d, "feature")
    done = "" if data.preparation is None else data.preparation.said()
    said = f" ({done})" if done else ""
    return f"{rows}, {features}{', weighted' if data.weights is not None else ''}{said}"


def fact_lines(facts: Sequence[tuple[str, str]]) -> list[str]:
    """Names and what belongs to them, one a line."""
    return columns([[name, text] for name, text in facts])


def _objective(fit: KMeansFit) -> list[tuple[str, str]]:
    facts = [("RSS", number(fit.rss)), ("mean square", number(fit.mean_square))]
    if fit.cosine is not None:
        mean = fit.cosine / float(sum(fit.sizes))
        facts.insert(0, ("total cosine", f"{number(fit.cosine)} (mean {number(mean)})"))
    return facts


def _kmeans_facts(fit: KMeansFit) -> list[tuple[str, str]]:
    facts = [("stopped", f"after {counted(fit.iterations, 'iteration')}: {_REASONS[fit.stopped]}")]
    if len(fit.runs) > 1:
        best = f"{len(fit.runs)}, the best is number {fit.best + 1}"
        facts.append(("runs", f"{best}; {_spread(fit)}{unfinished(fit.runs)}"))
    if fit.emptied:
        facts.append(("empty clusters", _emptied(fit.emptied)))
    start = {"given": "the centres given", "labels": "the labels given"}.get(fit.start)
    candidates = "" if fit.trials is None else f", {counted(fit.trials, 'candidate')} a centre"
    facts.append(("start", start or f"{fit.start}{candidates}, seed {fit.seed}"))
    return facts


def unfinished(runs: Sequence[Any]) -> str:
    """How many of several runs came to the limit, if any."""
    count = sum(run.stopped == "limit" for run in runs)
    return f"; {count} did not converge" if count else ""


def _spread(fit: KMeansFit) -> str:
    """How far apart the runs ended."""
    cosines = [run.cosine for run in fit.runs if run.cosine is not None]
    name, (low, high) = "RSS", fit.spread
    if cosines:
        name, (low, high) = "total cosine", (min(cosines), max(cosines))
    return f"{name} {number(low)} to {number(high)}" if low != high else f"all of equal {name}"


def _emptied(emptied: Sequence[Emptied]) -> str:
    moves = []
    for event in emptied[:_MOST_TOLD]:
        act = {"keep": "stayed", "drop": "was dropped"}.get(event.policy, "stayed")
        if event.row is not None:
            act = f"moved to row {event.row}"
        moves.append(f"{event.cluster} {act} in iteration {event.iteration}")
    more = f" and {len(emptied) - _MOST_TOLD} more" if len(emptied) > _MOST_TOLD else ""
    return f"{', '.join(moves)}{more} (policy {emptied[0].policy})"


def backend_facts(provenance: Provenance) -> list[tuple[str, str]]:
    """Who ran the kernels: one name if it was one backend, else each with its kernels."""
    ran: dict[str, list[str]] = {}
    for kernel in provenance.kernels:
        ran.setdefault(kernel.backend, []).append(kernel.kernel)
    names = next(iter(ran), "none")
    if len(ran) > 1:
        names = "; ".join(f"{name}: {', '.join(all_)}" for name, all_ in ran.items())
    return [("backend", names), *_decided(provenance)]


def _decided(provenance: Provenance) -> list[tuple[str, str]]:
    """On which rungs of their ladders backends decided the rows, in shares."""
    whole = sum(rung.rows for rung in provenance.decided)
    most_first = sorted(provenance.decided, key=lambda rung: -rung.rows)
    shares = [f"{rung.rung} {rung.rows / whole:.4%}" for rung in most_first if rung.rows]
    return [("decided by", ", ".join(shares))] if shares else []


# -- JSON -----------------------------------------------------------------------------------------


def kmeans_json(fit: KMeansFit) -> dict[str, Any]:
    """Everything a program may want to know about a k-means fit, but the labels."""
    return {
        "algorithm": "kmeans",
        "rows": fit.n,
        "features": fit.d,
        "k": fit.k,
        "metric": fit.metric,
        "start": fit.start,
        "seed": fit.seed,
        "restarts": len(fit.runs),
        "trials": fit.trials,
        "empty": fit.empty,
        "tolerance": fit.tolerance,
        "limit": fit.limit,
        "rss": fit.rss,
        "mean_square": fit.mean_square,
        "cosine": fit.cosine,
        "iterations": fit.iterations,
        "stopped": fit.stopped,
        "converged": fit.converged,
        "best": fit.best,
        "runs": [
            {
                "rss": run.rss,
                "cosine": run.cosine,
                "iterations": run.iterations,
                "stopped": run.stopped,
            }
            for run in fit.runs
        ],
        "clusters": clusters_json(fit.sizes, fit.within),
        "emptied": [
            {
                "iteration": event.iteration,
                "cluster": event.cluster,
                "policy": event.policy,
                "row": event.row,
            }
            for event in fit.emptied
        ],
        "data": fit.digest,
        "provenance": provenance_told(fit.provenance),
    }


def bisecting_json(fit: BisectingFit) -> dict[str, Any]:
    """Everything a program may want to know about a bisecting fit, but the labels."""
    return {
        "algorithm": "bisecting",
        "rows": fit.n,
        "features": fit.d,
        "k": fit.k,
        "metric": fit.metric,
        "by": fit.by,
        "start": fit.start,
        "seed": fit.seed,
        "restarts": fit.restarts,
        "limit": fit.limit,
        "converged": fit.converged,
        "unconverged": fit.unconverged,
        "rss": fit.rss,
        "mean_square": fit.mean_square,
        "clusters": clusters_json(fit.sizes, fit.within),
        "data": fit.digest,
        "provenance": provenance_told(fit.provenance),
    }


def tree_json(tree: Tree, data: Dataset, sizes: Sequence[int] | None) -> dict[str, Any]:
    """Everything a program may want to know about a tree of merges, but the labels."""
    return {
        "algorithm": "agglomerative",
        "rows": tree.n,
        "features": None if tree.metric == "given" else data.d,
        "k": None if sizes is None else len(sizes),
        "linkage": tree.linkage,
        "metric": tree.metric,
        "merges": [[merge.a, merge.b, merge.height, merge.size] for merge in tree.merges],
        "inversions": tree.inversions,
        "clusters": None if sizes is None else clusters_json([*map(Fraction, sizes)], None),
        "data": data.digest(),
        "provenance": None if tree.provenance is None else provenance_told(tree.provenance),
    }


def clusters_json(
    sizes: Sequence[Fraction], within: Sequence[float] | None
) -> list[dict[str, Any]]:
    """The clusters, one object each."""
    clusters: list[dict[str, Any]] = []
    for k, size in enumerate(sizes):
        clusters.append({"cluster": k, "size": plain_weight(size)})
        if within is not None:
            clusters[-1]["rss"] = within[k]
    return clusters


def provenance_told(provenance: Provenance) -> dict[str, Any]:
    """Who ran the kernels."""
    from refclust.cli.show.scores import provenance_json  # with all metrics, which take a while

    return provenance_json(provenance)
