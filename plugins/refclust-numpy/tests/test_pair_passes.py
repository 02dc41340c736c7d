"""Passes over pairs in tiles: sums within their bound, the reference's own extremes."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from refclust_numpy.tiny import tiny
from support import LADDER, NUMPY, REFERENCE, both

from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset, dense, readonly
from refclust.kernels.clusters.kmeans import accumulate
from refclust.kernels.pairs.fine import split_means
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

SUMS, CENTRES, EXTREMES, FINE = (
    *("silhouette.distance_sums", "scatter.centre_distances", "pairs.extremes"),
    "silhouette.fine_sums",
)


def fault(kernel: str, data: Dataset, *args: Any) -> str | None:
    points, rows = both(data)
    contract: Any = KERNELS[kernel].contract
    due, answer = REFERENCE[kernel](points, *args), NUMPY[kernel](rows, *args)
    judged = getattr(contract, "judged", None)
    fault_text: str | None = (
        judged(points, args, due, answer) if judged else contract.fault(due, answer)
    )
    return fault_text


def faults(data: Dataset, k: int) -> list[str | None]:
    labels = array("i", ((i * i + i // 3) % k for i in range(data.n)))
    means = split_means(accumulate(Points(data), labels, k))
    return [
        fault(SUMS, data, labels, k),
        fault(EXTREMES, data, labels, k),
        fault(CENTRES, data, labels, *means),
        fault(FINE, data, labels, k),
    ]


@pytest.mark.spec("KER-DISTSUM", "KER-CENTREDIST", "KER-EXTREMES", "KER-FINESUM")
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", LADDER)
def test_the_ladder(name: str, k: int) -> None:
    assert faults(LADDER[name], k) == [None] * 4


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 65, 300])
def test_sizes_around_chains_and_tiles(n: int, small: bool) -> None:
    random = np.random.default_rng(n)
    weights = readonly(array("d", [1.0, *random.integers(0, 5, n - 1).tolist()]))
    rows = array("d", (random.integers(-40, 40, n * 2) / 7 + 1e9).tolist())
    for data in (dense(rows, 2), dense(rows, 2, weights=weights)):
        if small:
            with tiny():
                assert faults(data, 2) == [None] * 4
        else:
            assert faults(data, 2) == [None] * 4


def test_more_rows_of_a_cluster_than_fit_a_tile() -> None:
    random = np.random.default_rng(5)
    data = dataset(random.normal(size=(2300, 1)))
    labels = array("i", [0] * 2200 + [1] * 100)
    assert fault(SUMS, data, labels, 2) is None
    assert fault(FINE, dataset(random.normal(size=(1100, 1))), labels[:1100], 2) is None
    assert fault(EXTREMES, data, labels, 2) is None
