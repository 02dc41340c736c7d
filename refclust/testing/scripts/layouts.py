"""Arguments and data in other clothes: copies, buffers of others, and what tells that one changed.

A backend is given nothing to rely on but the protocol (chapter 81).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from refclust.data.dataset import DOUBLES, SINGLES, Dataset, Dense, Sparse, readonly
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.clusters.seeding import Potential
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import Rule

_SOMEBODY: Final = object()
_LINE: Final = 64  # bytes of a line of the cache, and of the widest vectors
_MARGIN: Final = 2 * _LINE  # numbers around a copy, of one byte or more


@dataclass(frozen=True, slots=True)
class ForeignSums:
    """The sums of another backend: nothing but what the protocol promises.

    Spec: none (the reference's sums, disguised)
    """

    weights: tuple[int, ...]
    weight_shift: int
    _exact: ClusterSums

    def exact(self) -> ClusterSums:
        """The same as plain integers.

        Spec: none (the reference's sums)
        """
        return self._exact


def fingerprint(value: Any) -> Any:
    """What tells whether a value has changed: copies of all it holds.

    >>> fingerprint(array("i", [1])) == fingerprint(memoryview(array("i", [1])))
    True
    """
    match value:
        case Dataset():
            return value.digest()
        case LabelPairs():
            return list(value.clusters), list(value.classes), list(value.weights or [])
        case CentreMatrix():
            return bytes(value.values)
        case LloydStep():
            return fingerprint(value.labels), value.changed, fingerprint(value.sums)
        case Potential():
            return value.centres, fingerprint(value.nearest)
        case tuple():
            return tuple(map(fingerprint, value))
        case dict():
            return dict(value)
        case None | int() | float() | str() | Fraction() | Decimal():
            return value
    if hasattr(value, "exact"):
        return value.exact()
    if is_dataclass(value):
        return tuple(fingerprint(getattr(value, field.name)) for field in fields(value))
    try:
        return bytes(memoryview(value))
    except (TypeError, ValueError):
        return None


def copied(data: Any) -> Any:
    """The same data in buffers of their own."""
    match data:
        case Dataset(matrix=Dense()):
            matrix: Dense | Sparse = replace(data.matrix, values=_buffer(data.matrix.values))
        case Dataset(matrix=Sparse(starts=starts, columns=columns, values=values)):
            matrix = Sparse(_buffer(starts), _buffer(columns), _buffer(values), data.n, data.d)
        case LabelPairs(clusters=clusters, classes=classes, weights=weights):
            return LabelPairs(
                _labels(clusters), _labels(classes), list(weights) if weights else weights
            )
        case array():
            return data[:]
        case _:
            return data
    return Dataset(matrix, weights=None if data.weights is None else _buffer(data.weights))


def _labels(labels: Any) -> Any:
    # A buffer stays one: a list would hide from a backend what the drivers hand over.
    return _buffer(labels) if isinstance(labels, memoryview) else list(labels)


def _buffer(view: memoryview) -> memoryview:
    """A copy in the middle of a longer buffer, where no vector of more than one number is aligned.

    What stands before and behind is no number: whoever reads it, gets wrong answers for it.
    """
    assert view.format is not None
    whole = array(view.format, [_poison(view.format)] * (len(view) + 2 * _MARGIN))
    # Rows of a user begin anywhere: here one number behind the beginning of a line of the cache.
    begin = (_LINE - whole.buffer_info()[0] % _LINE) // whole.itemsize + 1
    whole[begin : begin + len(view)] = array(view.format, view)
    return readonly(whole)[begin : begin + len(view)]


def _poison(code: str) -> float | int:
    return math.nan if code in (DOUBLES, SINGLES) else 0


def surroundings(data: Any) -> list[bytes]:
    """What stands around the numbers of copied data, which nobody may write to."""
    margins = []
    for view in _views(data):
        if isinstance(view.obj, array) and len(view.obj) == len(view) + 2 * _MARGIN:
            whole, inside = memoryview(view.obj).cast("B"), view.nbytes
            begin = (_LINE - view.obj.buffer_info()[0] % _LINE) // view.itemsize + 1
            first = begin * view.itemsize
            margins.append(bytes(whole[:first]) + bytes(whole[first + inside :]))
    return margins


def _views(data: Any) -> Iterator[memoryview]:
    match data:
        case Dataset(matrix=matrix, weights=weights):
            parts = [getattr(matrix, field.name) for field in fields(matrix)] + [weights]
        case LabelPairs(clusters=clusters, classes=classes):
            parts = [clusters, classes]
        case _:
            parts = []
    return (part for part in parts if isinstance(part, memoryview))


def foreign(arg: Any) -> Any:
    """An argument as another backend would hand it over: nothing to rely on but the protocol."""
    match arg:
        case array():
            return arg[:]
        case ClusterSums():
            return ForeignSums(arg.weights, arg.weight_shift, arg)
        case LloydStep():
            return replace(arg, labels=arg.labels[:], sums=foreign(arg.sums))
        case Potential():
            # Estimates are for the backend that made them: these would lead anybody else astray.
            wrong = array("d", bytes(8 * len(arg.squares)))
            return replace(arg, nearest=arg.nearest[:], squares=wrong, made_by=_SOMEBODY)
        case Gaussians() | Terms() | Rule() | Tallies():
            return _changed(arg, foreign)
    return arg


def guarded(arg: Any) -> Any:
    """The same argument in other clothes: buffers that cannot be written to, centres as tuples."""
    match arg:
        case array():
            return _buffer(memoryview(arg))
        case CentreMatrix():
            return arg.rows()
        case LloydStep():
            return replace(arg, labels=guarded(arg.labels))
        case Potential():
            return replace(arg, nearest=guarded(arg.nearest))
        case Gaussians() | Terms() | Rule() | Tallies():
            return _changed(arg, guarded)
    return arg


def _changed(record: Any, change: Callable[[Any], Any]) -> Any:
    """A record of which every field is changed."""
    return replace(record, **{f.name: change(getattr(record, f.name)) for f in fields(record)})
