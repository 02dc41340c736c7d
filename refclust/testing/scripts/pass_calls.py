"""The calls of passes over rows and pairs of rows in a script (chapter 81)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from refclust.data.dataset import Dataset
from refclust.kernels.clusters.kmeans import accumulate
from refclust.kernels.pairs.fine import split_means
from refclust.kernels.points import Points
from refclust.testing.rungs import Rung

if TYPE_CHECKING:
    from refclust.testing.scripts.lockstep import Script

PASSES: Final = frozenset(
    (
        *("silhouette.distance_sums", "silhouette.fine_sums"),
        *("scatter.centre_distances", "pairs.extremes"),
    )
)
_MOST_CLUSTERS: Final = 70
_MOST_FINE: Final = 320  # rows whose pairs the reference measures in integers
_FEW_ROWS: Final = 24  # which are also clusters of one row each


def pass_calls(made: Script, rung: Rung) -> None:
    """Sums and extremes for clusters that lie mixed, in lumps, of one row each, and all in one."""
    points, n = Points(rung.data), rung.data.n
    for labels, k, note in _labelings(rung.data, rung.k):
        made.call("silhouette.distance_sums", labels, k, k=n, note=note)
        if n <= _MOST_FINE:
            made.call("silhouette.fine_sums", labels, k, k=n, note=note)
        made.call("pairs.extremes", labels, k, k=n, note=note)
        means = split_means(accumulate(points, labels, k))
        made.call("scatter.centre_distances", labels, *means, k=k, note=note)


def _labelings(data: Dataset, k: int) -> Iterator[tuple[array[int], int, str]]:
    n, k = data.n, min(k, _MOST_CLUSTERS)
    yield array("i", (i % k for i in range(n))), k, "clusters mixed"
    yield array("i", (i * k // n for i in range(n))), k + 1, "clusters in lumps, the last is empty"
    yield array("i", [0]) * n, 1, "one cluster"
    if n <= _FEW_ROWS:
        own = array("i", (n - i for i in range(n)))
        yield own, n + 1, "clusters of one row, the first is empty"
