"""Saboteurs that keep bounds from step to step, and lose a little of them (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from refclust.kernels.clusters import kmeans
from refclust.kernels.clusters.kmeans import LloydStep
from refclust.kernels.points import Points, Vector
from refclust.testing.saboteurs.saboteur import Functions, Saboteur


def hidden_drifts() -> Iterable[Saboteur]:
    """All of them."""
    return (
        Saboteur("bounds-that-gain-by-rounding", "instead of", _stepping(lambda a, b: a + b, 0.0)),
        Saboteur("bounds-less-the-own-move-only", "instead of", _stepping(lambda a, _: a, 1e-9)),
    )


def _stepping(taken: Callable[[float, float], float], slack: float) -> Functions:
    """Steps that look only at rows whose margin, a single, is used up by the moves of centres."""
    kept: dict[int, tuple[Any, list[Vector], Any, array[float]]] = {}

    def lloyd_step(
        points: Points, centres: Any, before: Any, metric: str = "euclidean"
    ) -> LloydStep:
        right = kmeans.lloyd_step(points, centres, before, metric)
        now = [tuple(centre) for centre in centres]
        if metric == "cosine" or len(now) < 2:
            return right
        _, old, labels, margins = kept.get(id(points), (points, now, None, array("f")))
        fresh = _margins(points, now, right.labels, slack)
        chosen = array("i", right.labels)
        if labels is not None and len(old) == len(now):
            moves = [math.dist(a, b) for a, b in zip(now, old, strict=True)]
            for i, k in enumerate(labels):
                other = max(move for j, move in enumerate(moves) if j != k)
                left = array("f", [margins[i] - taken(moves[k], other)])[0]
                if left > 0.0:
                    chosen[i], fresh[i] = k, left
        kept[id(points)] = points, now, chosen, fresh  # the data stay, so does their address
        return LloydStep(chosen, right.changed, kmeans.accumulate(points, chosen, len(now)))

    return {"kmeans.lloyd_step": lloyd_step}


def _margins(
    points: Points, centres: Sequence[Vector], labels: Sequence[int], slack: float
) -> array[float]:
    """How much nearer a row is to its centre than to any other, at the least."""
    margins = array("f")
    for i, k in enumerate(labels):
        row = points.whole_row(i)
        far = min(math.dist(row, centre) for j, centre in enumerate(centres) if j != k)
        margins.append((far - math.dist(row, centres[k])) * (1.0 - 2.0**-20) - slack)
    return margins
