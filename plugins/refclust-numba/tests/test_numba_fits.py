"""Whole fits: the same result as the reference, for any number of threads; nothing loaded early."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from refclust.cluster.fit import kmeans
from refclust.errors import BadOption

COMPARED = (
    "labels", "centres", "sizes", "within", "exact_within", "rss", "mean_square", "cosine",
    "iterations", "stopped", "best", "runs",
)  # fmt: skip


def rows(offset: float = 0.0) -> Any:
    rng = np.random.default_rng(11)
    middles = 4 * rng.normal(size=(6, 5))
    return middles[rng.integers(0, 6, 700)] + rng.normal(size=(700, 5)) + offset


FITS: dict[str, tuple[Any, dict[str, Any]]] = {
    "k-means++": (rows(), {"k": 6, "trace": "full"}),
    "offset": (rows(1e9), {"k": 6, "start": "greedy", "restarts": 2}),
    "cosine": (rows(), {"k": 4, "metric": "cosine", "start": "random"}),
    "weights": (rows(), {"k": 5, "weights": [0.5 * (i % 4) for i in range(700)]}),
    "empty clusters": (
        np.repeat(rows()[:40], 5, axis=0).round(),
        {"k": 20, "start": "random-centres"},
    ),
    "dropped clusters": (rows().round(), {"k": 30, "start": "random-centres", "empty": "drop"}),
    "split clusters": (rows().round(), {"k": 30, "start": "random-centres", "empty": "split"}),
    "farthest first": (rows().round(), {"k": 7, "start": "farthest", "tolerance": 1e-3}),
    "singles": (rows().astype(np.float32), {"k": 4, "trace": "none"}),
}


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(("data", "options"), FITS.values(), ids=FITS)
def test_fits_are_equal(
    data: Any, options: dict[str, Any], threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFCLUST_THREADS", threads)
    due = kmeans(data, seed=3, backend="reference", **options)
    fit = kmeans(data, seed=3, backend="numba", **options)
    for name in COMPARED:
        assert getattr(fit, name) == getattr(due, name), name
    ran = {run.kernel: run.backend for run in fit.provenance.kernels}
    assert set(ran.values()) == {"numba"}


def test_a_sparse_fit_is_equal() -> None:
    rng = np.random.default_rng(5)
    documents = [
        {int(j): float(v) for j, v in zip(rng.integers(0, 60, 8), rng.random(8), strict=True)}
        for _ in range(200)
    ]
    for metric in ("euclidean", "cosine"):
        due = kmeans(documents, k=5, metric=metric, backend="reference")
        fit = kmeans(documents, k=5, metric=metric, backend="numba")
        for name in COMPARED:
            assert getattr(fit, name) == getattr(due, name), name


def test_directions_that_store_a_zero() -> None:
    """Scaled to length one, the second numbers of these rows are zeros that are stored."""
    tall = [
        {0: 1e300, 1: 1e-300},
        {0: 1e300},
        {0: 1e300, 2: -1e-300},
        {1: 1.0},
        {1: 1.0, 2: 5e-324},
    ]
    documents = [*tall, {2: 1.0}, {0: 1.0, 1: 1.0}, {0: 2.0, 1: 2.0}]
    for seed in range(40):
        due, fit = (
            kmeans(documents, 3, metric="cosine", start="random", seed=seed, backend=backend)
            for backend in ("reference", "numba")
        )
        assert all(getattr(fit, name) == getattr(due, name) for name in COMPARED), seed


def test_registering_imports_nothing_heavy() -> None:
    code = (
        "import sys, refclust_numba; [b] = refclust_numba.refclust_register_backends();"
        "b.kernels(); from refclust.backends.protocol import Problem;"
        "b.supports('kmeans.assign', Problem('dense', 10, 10, 2));"
        "assert not {'numba', 'numpy', 'llvmlite'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("wrong", ["two", "0", "-1", "1.5"])
def test_a_number_of_threads_that_is_none(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_THREADS", wrong)
    with pytest.raises(BadOption, match=f"REFCLUST_THREADS='{wrong}': use a number of threads"):
        kmeans([[0.0], [1.0], [5.0]], 2, backend="numba")


def test_rows_at_odd_addresses_are_rows() -> None:
    rng = np.random.default_rng(3)
    rows = rng.random((150, 3))
    memory = bytearray(8 * rows.size + 1)
    odd = np.frombuffer(memoryview(memory)[1:], np.float64).reshape(rows.shape)
    np.frombuffer(memoryview(memory)[1:], np.float64)[:] = rows.ravel()
    assert not odd.flags.aligned
    for backend in ("reference", "numba"):
        assert kmeans(odd, 3, backend=backend).rss == kmeans(rows, 3, backend="reference").rss
