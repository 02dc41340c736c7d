"""NumPy's files in the making: ``.npy``, and ``.npz`` with SciPy's sparse layout (DATA-NPY)."""

from __future__ import annotations

import sys
import zipfile
from array import array
from collections.abc import Iterable, Iterator

from refclust.data.dataset import Dataset, Dense

_MAGIC = b"\x93NUMPY\x01\x00"
_CHUNK = 1 << 16
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same data give the same bytes, whenever they are written
_TYPES = {"d": "<f8", "f": "<f4", "q": "<i8"}


def matrix_chunks(data: Dataset) -> Iterator[bytes]:
    """A dense matrix as an ``.npy`` file; singles stay singles."""
    assert isinstance(data.matrix, Dense)
    return _array(data.matrix.values, data.matrix.values.format, (data.n, data.d))


def archive_chunks(data: Dataset) -> Iterator[bytes]:
    """A matrix as an ``.npz`` file: as the array ``X``, or as compressed sparse rows."""
    matrix = data.matrix
    if isinstance(matrix, Dense):
        return _archive({"X": matrix_chunks(data)})
    shape = memoryview(array("q", [matrix.n, matrix.d]))
    return _archive(
        {
            "indices": _array(matrix.columns, "q", (len(matrix.columns),)),
            "indptr": _array(matrix.starts, "q", (matrix.n + 1,)),
            "format": iter((_header("|S3", ()), b"csr")),
            "shape": _array(shape, "q", (2,)),
            "data": _array(matrix.values, matrix.values.format, (len(matrix.values),)),
        }
    )


def _array(values: memoryview, code: str, shape: tuple[int, ...]) -> Iterator[bytes]:
    yield _header(_TYPES[code], shape)
    for begin in range(0, len(values), _CHUNK):
        words: array[float] = array(code, values[begin : begin + _CHUNK])
        if sys.byteorder == "big":
            words.byteswap()
        yield words.tobytes()


def _header(descr: str, shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    # The numbers begin at a multiple of 64 bytes; the header ends in a line end.
    padding = -(len(_MAGIC) + 2 + len(text) + 1) % 64
    head = (text + " " * padding + "\n").encode("ascii")
    return _MAGIC + len(head).to_bytes(2, "little") + head


class _Sink:
    """A stream that only collects what is written, for an archive made piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing waits anywhere."""

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _archive(arrays: dict[str, Iterable[bytes]]) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for name, chunks in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                for chunk in chunks:
                    member.write(chunk)
                    yield sink.taken()
    yield sink.taken()
