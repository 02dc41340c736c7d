"""One array in NumPy's ``.npy`` layout, read from a stream of bytes (DATA-NPY).

Only headers that are plain literals and only numbers are read: no pickles. What the header
announces is compared with the bytes there are before any room is made for it.
"""

from __future__ import annotations

import ast
import math
import re
import struct
import sys
import warnings
from array import array
from dataclasses import dataclass
from typing import IO, Any, Final

from refclust.data.dataset import DOUBLES, Dataset, Dense, first_not_finite, readonly, with_gaps
from refclust.errors import BadFile, EmptyFile, NotFinite
from refclust.limits import within

MAGIC: Final = b"\x93NUMPY"
ENDLESS: Final = 1 << 62  # bytes of a source of which nobody knows how many it has
LARGEST_RATIO: Final = 1032  # no stream that deflate packed unfolds to more times its size
_LARGEST, _MOST_DIMENSIONS = (1 << 63) - 1, 64  # what NumPy itself can count
_LONGEST_HEADER: Final = 1 << 14
_MOST_SIGNS: Final = 64  # of a header: deep nesting and chains of signs are no header
_CHUNK: Final = 1 << 20
_NUMBERS: Final = re.compile(r"([<>|=])([fiu])([1248])")
_TEXT: Final = re.compile(r"([<>|=])([SU])(\d{1,4})")
_CODES: Final = {
    "f4": "f",
    "f8": "d",
    **{f"i{size}": code for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))},
    **{f"u{size}": code for size, code in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))},
}
_ALLOWED: Final = "allowed are integers and floats of 1 to 8 bytes"


@dataclass(frozen=True, slots=True)
class Header:
    """What the header of an array says, and how many bytes it took."""

    descr: str
    fortran: bool
    shape: tuple[int, ...]
    offset: int

    @property
    def count(self) -> int:
        """How many elements there are.

        Spec: DATA-NPY
        """
        return math.prod(self.shape)


def read_header(stream: IO[bytes], name: str) -> Header:
    """Read the header and leave the stream at the first number; ``name`` is for messages."""
    start = stream.read(8)
    if start[:6] != MAGIC or len(start) != 8:
        raise BadFile(f"{name}: byte 0: {start[:6]!r}; an array begins with {MAGIC!r}")
    version, minor = start[6], start[7]
    if version not in (1, 2, 3) or minor:
        raise BadFile(f"{name}: byte 6: format {version}.{minor}; 1.0, 2.0 and 3.0 can be read")
    width = 2 if version == 1 else 4
    size = stream.read(width)
    length = int.from_bytes(size, "little")
    if len(size) != width or length > _LONGEST_HEADER:
        raise BadFile(
            f"{name}: byte 8: a header of {length} bytes; at most {_LONGEST_HEADER} is due"
        )
    text = stream.read(length)
    if len(text) != length:
        raise BadFile(f"{name}: byte {8 + width + len(text)}: the file ends within its header")
    return _parsed(text, "utf-8" if version == 3 else "latin-1", 8 + width + length, name)


def read_numbers(
    stream: IO[bytes], header: Header, name: str, largest: int, *, there: bool
) -> array[float] | array[int]:
    """Read all numbers in the order of the file; ``largest`` is how many bytes there can be.

    Half-precision numbers become doubles, all others keep their size. If so many bytes are not
    ``there`` but may come, from a pipe or a packing, what they would take is held to the limit.

    Spec: DATA-NPY, DATA-LIMIT
    """
    kind = _NUMBERS.fullmatch(header.descr)
    if kind is None or (kind[2] + kind[3] not in _CODES and kind[2] + kind[3] != "f2"):
        raise BadFile(f"{name}: numbers of the type {header.descr!r} cannot be read; {_ALLOWED}")
    order, size = kind[1], int(kind[3])
    needed = header.count * size
    if needed > largest:
        raise BadFile(
            f"{name}: the shape {header.shape} needs {needed} bytes from byte {header.offset} on; "
            f"there are at most {max(largest, 0)}"
        )
    if not there:
        width = 4 if kind[2] + kind[3] == "f4" else 8
        within("memory", header.count * width, f"{name}: the shape {header.shape}")
    half = kind[2] + kind[3] == "f2"
    values: array[Any] = array(DOUBLES if half else _CODES[kind[2] + kind[3]])
    swapped = order in "<>" and (order == "<") != (sys.byteorder == "little")
    done = 0
    while done < needed:
        chunk = _exactly(stream, min(_CHUNK, needed - done))
        if len(chunk) < min(_CHUNK, needed - done):
            raise BadFile(
                f"{name}: byte {header.offset + done + len(chunk)}: the file ends; the shape "
                f"{header.shape} needs {needed - done - len(chunk)} bytes more"
            )
        if half:
            values.extend(struct.unpack(f"{'>' if order == '>' else '<'}{len(chunk) // 2}e", chunk))
        else:
            values.frombytes(chunk)
        done += len(chunk)
    if swapped and not half:
        values.byteswap()
    if stream.read(1):
        raise BadFile(
            f"{name}: byte {header.offset + needed}: the file goes on; the shape {header.shape} "
            f"needs {needed} bytes"
        )
    return values


def read_word(stream: IO[bytes], header: Header, name: str) -> str:
    """Read a single short text, as archives of sparse matrices hold one."""
    kind = _TEXT.fullmatch(header.descr)
    if kind is None or header.shape not in ((), (1,)):
        raise BadFile(f"{name}: {header.descr!r} of shape {header.shape}; one short text is due")
    size = int(kind[3]) * (4 if kind[2] == "U" else 1)
    raw = stream.read(size)
    encoding = "ascii" if kind[2] == "S" else "utf-32-be" if kind[1] == ">" else "utf-32-le"
    return raw.decode(encoding, "replace").rstrip("\0")


def as_doubles(values: array[Any]) -> array[float]:
    """The numbers as doubles, singles as they are.

    Spec: DATA-NPY

    >>> as_doubles(array("b", [1, -2]))
    array('d', [1.0, -2.0])
    """
    return values if values.typecode in "df" else array(DOUBLES, values)


def row_after_row(values: array[Any], shape: tuple[int, ...], fortran: bool) -> array[Any]:
    """The numbers of a matrix row after row, whichever way they were written.

    >>> row_after_row(array("d", [1, 2, 3, 4, 5, 6]), (2, 3), True)
    array('d', [1.0, 3.0, 5.0, 2.0, 4.0, 6.0])
    """
    n, d = shape
    if not fortran or n == 1 or d == 1:
        return values
    turned = array(values.typecode, bytes(len(values) * values.itemsize))
    if d <= n:
        for j in range(d):
            turned[j::d] = values[j * n : (j + 1) * n]
    else:
        for i in range(n):
            turned[i * d : (i + 1) * d] = values[i::n]
    return turned


def check_matrix(shape: tuple[int, ...], name: str) -> None:
    """Refuse what has no rows and columns."""
    if len(shape) != 2:
        raise BadFile(
            f"{name}: the array has the shape {shape}; rows and columns are two dimensions: "
            "reshape it to (n, 1) for one feature, to (1, d) for one row"
        )
    if 0 in shape:
        raise EmptyFile(f"{name}: the array has the shape {shape}; a row and a column are needed")


def dense_of(numbers: array[Any], header: Header, name: str, *, gaps: bool = False) -> Dataset:
    """The data set of a matrix in the order of its file; with ``gaps`` NaN is a missing cell.

    Spec: DATA-NPY, MISS-CELL
    """
    n, d = header.shape
    values = row_after_row(as_doubles(numbers), header.shape, header.fortran)
    wrong = first_not_finite(memoryview(values))
    if wrong is not None and gaps:
        matrix, some = with_gaps(Dense(readonly(values), n, d))
        return Dataset(matrix, gaps=some)
    if wrong is not None:
        row, column = divmod(wrong, d)
        place = column * n + row if header.fortran else wrong
        size = int(header.descr[2:])
        raise NotFinite(
            f"{name}: byte {header.offset + place * size}: row {row}, column {column} (counted "
            f"from 0) is {values[wrong]!r}; only finite numbers are allowed"
        )
    return Dataset(Dense(readonly(values), n, d))


def _parsed(text: bytes, encoding: str, offset: int, name: str) -> Header:
    said = None
    try:
        if sum(text.count(sign) for sign in (b"(", b"[", b"{", b"-", b"+", b"~")) > _MOST_SIGNS:
            raise ValueError
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser warns of literals run into words
            said = ast.literal_eval(text.decode(encoding).strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    if not isinstance(said, dict) or set(said) != {"descr", "fortran_order", "shape"}:
        raise BadFile(
            f"{name}: byte 10: the header {text[:40]!r}… is no mapping with just descr, "
            "fortran_order and shape"
        )
    descr, fortran, shape = said["descr"], said["fortran_order"], said["shape"]
    if not isinstance(descr, str):
        raise BadFile(f"{name}: an array of records cannot be read; {_ALLOWED}")
    if "O" in descr:
        raise BadFile(f"{name}: an array of Python objects (pickles) is never read; {_ALLOWED}")
    whole = isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape)
    if not whole or not isinstance(fortran, bool):
        raise BadFile(
            f"{name}: the shape {str(shape)[:40]} and fortran_order {str(fortran)[:40]}; "
            "whole numbers and a truth value are due"
        )
    if len(shape) > _MOST_DIMENSIONS or max(shape, default=0) > _LARGEST:
        raise BadFile(
            f"{name}: a shape of {len(shape)} dimensions, the largest above 2**"
            f"{max(shape).bit_length() - 1}; at most {_MOST_DIMENSIONS} below 2**63 are due"
        )
    return Header(descr, fortran, shape, offset)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """Read so many bytes, or what there is; unpacking streams may give less at once."""
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
