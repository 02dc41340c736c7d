"""The labels of a fit: a compact buffer of integers that data frames take for a list."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

_MOST: Final = 1000  # labels that a ``repr`` shows; of more it shows the ends
_ENDS: Final = 3


class Labels(array):  # type: ignore[type-arg]  # an array takes no types at run time
    """Labels of rows as an array of integers.

    pandas groups by lists and by arrays of NumPy, not by other buffers; so labels say that they
    are a list when somebody asks for their class. They are an array all the same.

    >>> labels = Labels([0, 1, 1])
    >>> labels, isinstance(labels, array), isinstance(labels, list), memoryview(labels).format
    (array('i', [0, 1, 1]), True, True, 'i')
    """

    __slots__ = ()

    def __new__(cls, values: Iterable[int] = ()) -> Labels:
        """Take the labels of an array at once, of anything else one by one."""
        if isinstance(values, array) and values.typecode == "i":
            made: Labels = super().__new__(cls, "i")  # type: ignore[assignment]
            made.frombytes(memoryview(values).cast("B"))
            return made
        return super().__new__(cls, "i", values)  # type: ignore[return-value]

    @property
    def __class__(self) -> type:
        return list

    @__class__.setter
    def __class__(self, _kind: type) -> None:
        raise TypeError("labels stay what they are")

    def __reduce_ex__(self, _protocol: object) -> tuple[type[Labels], tuple[array[int]]]:
        return Labels, (array("i", self.tobytes()),)

    def __copy__(self) -> Labels:
        return Labels(self)

    def __deepcopy__(self, _memo: object) -> Labels:
        return Labels(self)

    def __repr__(self) -> str:
        if len(self) <= _MOST:
            return f"array('i', {self.tolist()})"
        first, last = (", ".join(map(str, part)) for part in (self[:_ENDS], self[-_ENDS:]))
        return f"array('i', [{first}, ..., {last}])  # {len(self):,} labels"
