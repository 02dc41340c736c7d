"""New data brought to the features of a model, by name or by number (DATA-ALIGN, chapter 09)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from refclust.data.dataset import DOUBLES, Dataset, Dense, Features, Sparse, readonly
from refclust.errors import FeatureMismatch, MixedKeys

_SHOWN = 5


def aligned(data: Dataset, features: Features | None, d: int) -> tuple[Dataset, int]:
    """The same rows over ``d`` given features, and how many other features were left out.

    Spec: DATA-ALIGN

    >>> from refclust.data.accepting.door import dataset
    >>> flowers = dataset([[1.0, 2.0, 3.0]], features=["width", "length", "colour"])
    >>> changed, left_out = aligned(flowers, ("length", "width"), 2)
    >>> changed.row(0), left_out
    ((2.0, 1.0), 1)
    """
    if data.features == features and data.d == d:
        return data, 0
    if isinstance(data.matrix, Sparse):
        return _aligned_sparse(data, data.matrix, features, d)
    if data.features is None or features is None:
        if data.d != d:
            raise FeatureMismatch(f"the data have {data.d} features and the model has {d}")
        return replace(data, features=features), 0
    return _aligned_dense(data, data.matrix, features)


def _aligned_dense(data: Dataset, matrix: Dense, features: Features) -> tuple[Dataset, int]:
    assert data.features is not None
    place = {name: j for j, name in enumerate(data.features)}
    missing = [name for name in features if name not in place]
    if missing:
        listed = ", ".join(map(repr, missing[:_SHOWN]))
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise FeatureMismatch(f"the data lack features of the model: {listed}{more}")
    d = len(features)
    values = array(matrix.values.format, bytes(matrix.values.itemsize * matrix.n * d))
    for j, name in enumerate(features):
        values[j::d] = array(matrix.values.format, matrix.values[place[name] :: matrix.d])
    fitted = replace(data, matrix=Dense(readonly(values), matrix.n, d), features=features)
    return fitted, data.d - d


def _aligned_sparse(
    data: Dataset, matrix: Sparse, features: Features | None, d: int
) -> tuple[Dataset, int]:
    """Keys meet keys; where there are no names the numbers of the columns are the keys."""
    ours: Sequence[Any] = range(d) if features is None else features
    keys: Sequence[Any] = range(data.d) if data.features is None else data.features
    if ours and keys and type(ours[0]) is not type(keys[0]):
        raise MixedKeys(
            f"the model knows its features by {_known_by(ours[0])} ({ours[0]!r}), "
            f"the data by {_known_by(keys[0])} ({keys[0]!r})"
        )
    place = {key: j for j, key in enumerate(ours)} if features is not None else None
    starts, columns, values = array("q", [0]), array("q"), array(DOUBLES)
    unseen: set[int] = set()
    for i in range(matrix.n):
        entries: list[tuple[int, float]] = []
        begin, end = matrix.starts[i], matrix.starts[i + 1]
        for column, value in zip(matrix.columns[begin:end], matrix.values[begin:end], strict=True):
            key = keys[column]
            new = place.get(key, -1) if place is not None else key if 0 <= key < d else -1
            if new < 0:
                unseen.add(column)
            else:
                entries.append((new, value))
        entries.sort()
        columns.extend([column for column, _ in entries])
        values.extend([value for _, value in entries])
        starts.append(len(columns))
    kept = Sparse(readonly(starts), readonly(columns), readonly(values), matrix.n, d)
    return replace(data, matrix=kept, features=features), len(unseen)


def _known_by(key: str | int) -> str:
    return "name" if isinstance(key, str) else "number"
