"""Centres as kernels take them: a sequence of tuples over one flat buffer of doubles.

Reading code sees K tuples; a backend takes the buffer as it is, without a copy.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

from refclust.kernels.points import Vector


class CentreMatrix(Sequence[Vector]):
    """K rows of d doubles, never changed.

    >>> centres = CentreMatrix.of([(0.0, 1.0), (2.0, 3.0)])
    >>> centres[1], len(centres), centres == ((0.0, 1.0), (2.0, 3.0))
    ((2.0, 3.0), 2, True)
    """

    __slots__ = ("_rows", "d", "k", "values")

    def __init__(self, values: memoryview, k: int, d: int) -> None:
        self.values, self.k, self.d = values, k, d
        self._rows: tuple[Vector, ...] | None = None

    @staticmethod
    def of(rows: Iterable[Sequence[float]]) -> CentreMatrix:
        """The matrix of some rows of one length; a matrix is returned as it is."""
        if isinstance(rows, CentreMatrix):
            return rows
        if not isinstance(rows, tuple | list):
            whole = _whole(rows)
            if whole is not None:
                return whole
        tuples = [tuple(row) for row in rows]
        flat = array("d", chain.from_iterable(tuples))
        return CentreMatrix(memoryview(flat).toreadonly(), len(tuples), len(tuples[0]))

    @staticmethod
    def flat(values: memoryview | array[float], d: int) -> CentreMatrix:
        """The matrix whose rows of d numbers stand one after another in a buffer of doubles."""
        view = memoryview(values).toreadonly()
        return CentreMatrix(view, len(view) // d, d)

    def row(self, k: int) -> memoryview:
        """One centre as it lies in the buffer."""
        return self.values[k * self.d : (k + 1) * self.d]

    def rows(self) -> tuple[Vector, ...]:
        """The centres as tuples.

        Spec: KM-ALG
        """
        if self._rows is None:
            numbers = iter(self.values.tolist())
            self._rows = tuple(zip(*[numbers] * self.d, strict=True))
        return self._rows

    @overload
    def __getitem__(self, index: int) -> Vector: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Vector, ...]: ...
    def __getitem__(self, index: int | slice) -> Vector | tuple[Vector, ...]:
        return self.rows()[index]

    def __iter__(self) -> Iterator[Vector]:
        return iter(self.rows())

    def __len__(self) -> int:
        return self.k

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CentreMatrix):
            return self.d == other.d and self.values == other.values
        return self.rows() == other

    def __hash__(self) -> int:
        return hash(self.rows())

    def __repr__(self) -> str:
        return f"CentreMatrix.of({list(self.rows())!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return CentreMatrix.flat, (array("d", self.values.tobytes()), self.d)


def _whole(rows: object) -> CentreMatrix | None:
    """The matrix over a two-dimensional buffer of doubles of any library, without a copy."""
    try:
        view = memoryview(rows)  # type: ignore[arg-type]
    except TypeError:
        return None
    if view.ndim != 2 or view.format != "d" or not view.c_contiguous or not view.nbytes:
        return None
    values: memoryview = view.cast("B").cast("d")  # type: ignore[assignment]
    return CentreMatrix.flat(values, view.shape[1])  # type: ignore[index]
