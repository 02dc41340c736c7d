"""Passes over pairs: the reference's extremes, sums within their bound, the same bits always."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pairs_grid
import pytest
from refclust_numba.blocks import tiny
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.backends import builtin  # noqa: F401  (registers all kernels)
from refclust.data.dataset import Dataset, dense, readonly
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

KERNEL_NAMES = (
    *("silhouette.distance_sums", "silhouette.fine_sums"),
    *("pairs.extremes", "scatter.centre_distances"),
)


@pytest.fixture(scope="module")
def digests() -> list[str]:
    return list(pairs_grid.lines())


@pytest.mark.spec("KER-DISTSUM", "KER-CENTREDIST", "KER-EXTREMES", "KER-FINESUM")
def test_every_answer_keeps_its_contract() -> None:
    assert list(pairs_grid.faults()) == []


def test_neither_threads_nor_pieces_change_a_bit(digests: list[str]) -> None:
    names = {line.partition(":")[0] for line in digests}
    assert len(set(digests)) == len(names) < len(digests)
    with tiny():
        assert list(pairs_grid.lines()) == digests


def rows_of(values: Any, weights: Any = None) -> Dataset:
    values = np.asarray(values, float)
    known = None if weights is None else readonly(array("d", weights))
    return dense(array("d", values.ravel().tolist()), values.shape[1], weights=known)


UNUSUAL = {
    "huge": rows_of([[1e300, 1.0], [-1e300, 2.0], [0.0, 3.0]]),
    "tiny": rows_of([[1e-300, 0.0], [3e-300, 0.0], [0.0, 1e-200]]),
    "least": rows_of([[5e-324], [0.0], [1.5e-323]]),
    "heavy": rows_of([[0.0], [1.0], [3.0]], [1e300, 1e-300, 2.0]),
    "heavy squares": rows_of([[1e110], [0.0], [3e110]], [1e100, 1.0, 2.0]),
    "zeros": rows_of([[0.0, 0.0]] * 3),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_numbers(name: str) -> None:
    data = UNUSUAL[name]
    labels = array("i", [0, 1, 0])
    points, rows = Points(data), Rows(data)
    middles = ((0.0,) * data.d, (1.0,) * data.d)
    rests = ((0.0,) * data.d, (2.0**-600,) * data.d)
    for kernel in KERNEL_NAMES:
        args: tuple[Any, ...] = (labels, 2)
        if kernel == "scatter.centre_distances":
            args = (labels, middles, rests)
        due = KERNELS[kernel].reference(points, *args)
        contract: Any = KERNELS[kernel].contract
        judged = getattr(contract, "judged", None)
        answer = FUNCTIONS[kernel](rows, *args)
        fault = judged(points, args, due, answer) if judged else contract.fault(due, answer)
        assert fault is None


def test_few_numbers_are_kept_at_a_time() -> None:
    """Four million distances fit into a few megabytes."""
    import tracemalloc

    rng = np.random.default_rng(3)
    rows, labels = Rows(rows_of(rng.normal(size=(2000, 4)))), array("i", [0, 1] * 1000)
    FUNCTIONS["silhouette.distance_sums"](rows, labels, 2)
    tracemalloc.start()
    FUNCTIONS["silhouette.distance_sums"](rows, labels, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
