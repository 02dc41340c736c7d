"""Some columns of rows that are numbers already (PREP-COLUMNS)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from refclust.data.dataset import DOUBLES, Dataset, Dense, Sparse, readonly
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.choosing import Resolver, chosen
from refclust.errors import MissingColumn


def with_columns(data: Dataset, places: Sequence[int]) -> Dataset:
    """The same rows with some of their columns, in the order given.

    Spec: PREP-COLUMNS

    >>> from refclust.data.accepting.door import dataset
    >>> with_columns(dataset([[1, 2, 3]], features="abc"), [2, 0]).row(0)
    (3.0, 1.0)
    """
    if [*places] == [*range(data.d)]:
        return data
    features: Any = data.features
    names = None if features is None else tuple(features[j] for j in places)
    return replace(data, matrix=_columns(data.matrix, places), features=names)


def selected(data: Dataset, options: Options, file: str) -> Dataset:
    """The columns of rows that options ask for, by the names of the features or their numbers.

    Spec: PREP-COLUMNS
    """
    return with_columns(data, places(data, options, file))


def places(data: Dataset, options: Options, file: str) -> list[int]:
    """Where the columns stand that options ask for.

    Spec: PREP-COLUMNS
    """
    names = () if data.features is None else tuple(map(str, data.features))
    resolver = Resolver(file, data.d, names)
    stay = [*range(data.d)]
    if options.columns is not None:
        stay, _ = chosen(resolver, options.columns)
    if options.exclude is not None:
        gone = {*chosen(resolver, options.exclude)[0]}
        stay = [j for j in stay if j not in gone]
    if not stay:
        raise MissingColumn(f"{file} has no column left for a feature; it has {data.d} in all")
    return stay


def _columns(matrix: Dense | Sparse, places: Sequence[int]) -> Dense | Sparse:
    d = len(places)
    if isinstance(matrix, Dense):
        values = array(matrix.values.format, bytes(matrix.values.itemsize * matrix.n * d))
        for at, j in enumerate(places):
            values[at::d] = array(matrix.values.format, matrix.values[j :: matrix.d])
        return Dense(readonly(values), matrix.n, d)
    position = {j: at for at, j in enumerate(places)}
    starts, columns, numbers = array("q", [0]), array("q"), array(DOUBLES)
    for i in range(matrix.n):
        begin, end = matrix.starts[i], matrix.starts[i + 1]
        entries = zip(matrix.columns[begin:end], matrix.values[begin:end], strict=True)
        for at, x in sorted((position[j], x) for j, x in entries if j in position):
            columns.append(at)
            numbers.append(x)
        starts.append(len(columns))
    return Sparse(readonly(starts), readonly(columns), readonly(numbers), matrix.n, d)
