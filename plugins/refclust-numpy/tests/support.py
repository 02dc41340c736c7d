"""Data on which plain floats fail, and the reference and the NumPy backend side by side."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from refclust_numpy.backend import NumpyBackend
from refclust_numpy.rows import Rows

from refclust.backends import builtin  # noqa: F401  (registers all kernels)
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset, sparse
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

REFERENCE: dict[str, Callable[..., Any]] = {n: one.reference for n, one in KERNELS.items()}
NUMPY = NumpyBackend().kernels()


def both(data: Dataset) -> tuple[Points, Rows]:
    """The same rows as each side takes them."""
    return Points(data), Rows(data)


def equal(kernel: str, reference: Any, answer: Any) -> None:
    """Ask the kernel's own contract."""
    assert KERNELS[kernel].contract.fault(reference, answer) is None


def sparse_data(
    seed: int, n: int = 90, d: int = 12, scale: float = 1.0, whole: bool = False, **known: Any
) -> Dataset:
    """Sparse rows as mappings from column to value, some of them empty unless whole numbers."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        columns = np.flatnonzero(random.random(d) < 0.25).tolist()
        columns = columns or [0]
        values = random.integers(1, 4, len(columns)) if whole else random.random(len(columns))
        rows.append({j: float(v) * scale for j, v in zip(columns, values, strict=True)})
    return dataset(rows, features=tuple(range(d)), **known)


def zeros_stored(seed: int, negative: bool = False) -> Dataset:
    """Sparse rows of which every other one stores its zeros, as directions may; each comes twice.

    Kernels meet such rows: a component that underflows when its row is scaled stays where it was.
    """
    random = np.random.default_rng(seed)
    starts, columns, values = array("q", [0]), array("q"), array("d")
    for i in range(60):
        if i % 2 == 0:
            row = random.integers(-1, 2, 5) / 3.0
            row[i % 5] = 1 / 3  # no row is the zero vector
            row[row == 0.0] = -0.0 if negative else 0.0
        kept = range(5) if i % 2 else np.flatnonzero(row).tolist()
        columns.extend(kept)
        values.extend(row[j] for j in kept)
        starts.append(len(values))
    return sparse(starts, columns, values, 5)


def ladder() -> Iterator[tuple[str, Dataset]]:
    """Rows with offsets, ties, duplicates, weights and sizes far apart."""
    random = np.random.default_rng(7)
    cloud = random.standard_normal((120, 3))
    whole = random.integers(-2, 3, (120, 3)).astype(float)
    for offset in (0.0, 1e3, 1e6, 1e9):
        yield f"cloud+{offset:g}", dataset(cloud + offset)
        yield f"whole+{offset:g}", dataset(whole + offset)
        yield f"thirds+{offset:g}", dataset((whole + offset) / 3)
    yield "singles", dataset(cloud.astype(np.float32))
    yield "single thirds", dataset((whole / 3).astype(np.float32))
    yield "weights", dataset(cloud, weights=random.random(120) * random.integers(0, 2, 120))
    yield "whole weights", dataset(whole / 3, weights=random.integers(0, 5, 120).astype(float))
    yield (
        "few rows again and again",
        dataset(np.tile([[1.0, 2.0], [3.0, 4.0], [2.0, 3.0]], (40, 1))),
    )
    yield "two places", dataset(np.concatenate([cloud, cloud + 1e9]))
    yield "sizes far apart", dataset(cloud * 10.0 ** random.integers(-300, 300, (120, 1)))
    yield "huge", dataset(cloud * 1e300)
    yield "largest", dataset(random.uniform(-1.79, 1.79, (120, 2)) * 1e308)
    yield "squares overflow", dataset(cloud * 1e160, weights=random.random(120))
    yield "subnormal", dataset(cloud * 1e-310)
    yield "squares underflow", dataset(cloud * 1e-170, weights=random.random(120) * 1e-100)
    yield "many columns", dataset(random.standard_normal((60, 600)) + 1e3)
    yield "sparse", sparse_data(1)
    yield "sparse whole", sparse_data(2, whole=True)
    yield "sparse weights", sparse_data(3, weights=random.random(90).tolist())
    yield "sparse huge", sparse_data(4, scale=1e200)
    yield "sparse tiny", sparse_data(5, scale=1e-200)
    yield "zeros stored", zeros_stored(6)
    yield "negative zeros stored", zeros_stored(7, negative=True)
    yield "negative zeros", dataset(np.where(whole == 0.0, -0.0, whole) / 3)
    signs = np.where(random.random((120, 3)) < 0.5, -0.0, 0.0)
    yield "zeros of both signs", dataset(np.where(whole == 0.0, signs, whole))


LADDER = dict(ladder())
