"""Rows as directions: every row scaled to length one (KM-COSROWS of chapter 10)."""

from __future__ import annotations

from dataclasses import replace

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.dataset import Dataset, Dense
from refclust.errors import ZeroVector


def unit_rows(data: Dataset, session: Session | None = None, k: int = 1, calls: int = 1) -> Dataset:
    """Every row divided by its length, each component the nearest double of its exact value.

    Spec: KM-COSROWS

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> unit_rows(dense(array("d", [3, -4, 0, 2]), 2)).row(0)
    (0.6, -0.8)
    """
    zero = _zero_row(data)
    if zero is not None:
        raise ZeroVector(
            f"row {data.row_name(zero)} is the zero vector, which has no direction; "
            "leave it out or use the Euclidean distance"
        )
    session = Session("reference") if session is None else session
    problem = Problem(data.kind, data.n, len(data.matrix.values), k, calls)
    scaled = memoryview(session.run("kmeans.directions", problem, data)).toreadonly()
    session.release(data)
    return replace(data, matrix=replace(data.matrix, values=scaled))


def _zero_row(data: Dataset) -> int | None:
    """The first row without a number that is not zero."""
    matrix = data.matrix
    if isinstance(matrix, Dense):
        values, d = matrix.values, matrix.d
        # Most rows begin with a number: a look at the first column spares a look at the rest.
        first = values.tolist() if d == 1 else values[::d].tolist()
        maybe = (i for i, x in enumerate(first) if not x)
        return next((i for i in maybe if not any(values[i * d : (i + 1) * d])), None)
    starts = matrix.starts.tolist()
    return next((i for i in range(data.n) if starts[i] == starts[i + 1]), None)
