"""What fits of clusters say of themselves at a glance (chapters 10 and 20)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from refclust.shown.page import Fact, Summary, counted, number, sized, table

if TYPE_CHECKING:
    from refclust.cluster.results import BisectingFit, KMeansFit
    from refclust.cluster.tree import Tree

MOST_FEATURES: Final = 6
_ENDS: Final = {
    "unchanged": "no label changed any more",
    "objective": "the objective gained no more",
    "tolerance": "the gain was within the tolerance",
    "limit": "not converged: this is the limit",
    "caller": "it was stopped",
}


def of_kmeans(fit: KMeansFit) -> Summary:
    """k-means at a glance."""
    clusters = counted(len(fit.sizes), "cluster")
    ended = f"{counted(fit.iterations, 'iteration')}, {_ENDS[fit.stopped]}"
    cosine = f", total cosine {number(fit.cosine)}" if fit.cosine is not None else ""
    facts: list[Fact] = [
        ("data", sized(fit.n, fit.d)),
        ("clusters", f"{clusters}, metric {fit.metric}"),
        ("RSS", f"{fit.rss!r}{cosine}"),
        ("stopped", f"after {ended}"),
        ("start", _start(fit.start, fit.seed, len(fit.runs), fit.best)),
        ("kernels", ran(fit.provenance)),
    ]
    return Summary(
        "KMeansFit",
        f"{clusters} of {sized(fit.n, fit.d)}; RSS {number(fit.rss)} after {ended}",
        tuple(facts),
        (centre_table(fit.centres, fit.sizes, fit.features, fit.within),),
    )


def of_bisecting(fit: BisectingFit) -> Summary:
    """Bisecting k-means at a glance."""
    clusters = counted(len(fit.sizes), "cluster")
    facts: list[Fact] = [
        ("data", sized(fit.n, fit.d)),
        ("clusters", f"{clusters}, split by {fit.by}, metric {fit.metric}"),
        ("RSS", repr(fit.rss)),
        ("start", _start(fit.start, fit.seed, fit.restarts, None)),
        ("kernels", ran(fit.provenance)),
    ]
    return Summary(
        "BisectingFit",
        f"{clusters} of {sized(fit.n, fit.d)}; RSS {number(fit.rss)}",
        tuple(facts),
        (centre_table(fit.centres, fit.sizes, fit.features, fit.within),),
    )


def of_tree(tree: Tree) -> Summary:
    """A tree of merges at a glance."""
    cut = "not cut" if tree.labels is None else counted(max(tree.labels) + 1, "cluster")
    facts: list[Fact] = [
        ("objects", f"{tree.n:,}"),
        ("linkage", f"{tree.linkage}, metric {tree.metric}"),
        ("labels", cut),
    ]
    last = [
        (len(tree.merges) - place, f"{merge.height!r}", number(merge.size))
        for place, merge in enumerate(reversed(tree.merges[-10:]))
    ]
    return Summary(
        "Tree",
        f"{len(tree.merges):,} merges of {counted(tree.n, 'object')} by {tree.linkage}; {cut}",
        tuple(facts),
        (table(["merge", "height", "objects"], last, "the last merges, the highest first"),),
    )


def ran(provenance: Any) -> str:
    """Who ran the kernels."""
    names = dict.fromkeys(f"{run.backend} {run.version}" for run in provenance.kernels)
    return ", ".join(names) or "none"


def feature_names(features: Sequence[Any] | None, d: int) -> list[str]:
    """The names of the first columns."""
    return [str(j if features is None else features[j]) for j in range(min(d, MOST_FEATURES))]


def centre_table(
    centres: Sequence[Sequence[float]],
    sizes: Sequence[Any],
    features: Sequence[Any] | None,
    within: Sequence[float],
) -> str:
    """A line for each cluster: size, spread, and where its centre is."""
    d = len(centres[0]) if centres else 0
    names = feature_names(features, d)
    rows = [
        [k, number(int(size) if size == int(size) else float(size)), number(within[k])]
        + [number(x) for x in centre[: len(names)]]
        for k, (size, centre) in enumerate(zip(sizes, centres, strict=True))
    ]
    more = f"; {d - len(names)} more columns" if d > len(names) else ""
    return table(["cluster", "size", "RSS", *names], rows, f"centres of the clusters{more}")


def _start(start: str, seed: int, runs: int, best: int | None) -> str:
    if start in ("given", "labels"):
        return f"from the {'centres' if start == 'given' else 'labels'} given"
    kept = "" if best is None or runs == 1 else f", run {best + 1} kept"
    return f"{start}, seed {seed}, {counted(runs, 'run')}{kept}"
