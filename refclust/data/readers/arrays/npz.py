"""Archives of NumPy arrays: one matrix among them, or the parts of a sparse matrix (DATA-NPY)."""

from __future__ import annotations

import struct
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from refclust.data.accepting.matrices import check_starts, compressed, loose
from refclust.data.dataset import Dataset, Sparse, readonly
from refclust.data.files.source import display_name, finish, is_packed, opened
from refclust.data.readers.arrays.npyfile import (
    LARGEST_RATIO,
    Header,
    as_doubles,
    check_matrix,
    dense_of,
    read_header,
    read_numbers,
    read_word,
)
from refclust.data.readers.cells import listed
from refclust.data.readers.formats import Options, Plan, check_options, head
from refclust.data.readers.sparse.entries import check_shape, naming
from refclust.errors import (
    BadFile,
    BadOption,
    FileNotReadable,
    MissingColumn,
    RefclustError,
    WrongCount,
)
from refclust.escape import for_terminal

NAME: Final = "npz"
_ENDING: Final = ".npy"
_MAGIC: Final = b"PK"
_MOST_ARRAYS: Final = 1000
# What the archive of a sparse matrix holds beside format, shape and data.
_LAYOUTS: Final = {
    "csr": ("indptr", "indices"),
    "csc": ("indptr", "indices"),
    "coo": ("row", "col"),
}


def read(path: str, options: Options) -> Dataset:
    """Read the matrix named, or the only one there is, or the sparse matrix the archive is.

    Spec: DATA-NPY
    """
    check_options(NAME, options, ("array", "missing"))
    name = display_name(path)
    with _opened(path) as archive:
        arrays = _arrays(archive, name)
        if options.array is None and _is_sparse(arrays):
            data = _sparse(archive, arrays, name)
        else:
            chosen = _chosen(archive, arrays, options.array, name)
            place = f"{name}[{for_terminal(chosen)}]"
            header, numbers = _numbers(archive, arrays[chosen], place, matrix=True)
            data = dense_of(numbers, header, place, gaps=options.missing == "integrate")
    finish(path)
    return data


def plan(path: str, options: Options) -> Plan:
    """Tell which arrays there are and which one would be read."""
    check_options(NAME, options, ("array", "missing"))
    name = display_name(path)
    with _opened(path) as archive:
        arrays = _arrays(archive, name)
        there = ("arrays", listed(list(arrays)))
        if options.array is None and _is_sparse(arrays):
            layout = _layout(archive, arrays, name)
            rows, columns = _shape(archive, arrays, name)
            sizes = (("rows", str(rows)), ("columns", str(columns)))
            return Plan(NAME, "sparse", (there, ("layout", layout), *sizes))
        chosen = _chosen(archive, arrays, options.array, name)
        header = _header(archive, arrays[chosen], f"{name}[{for_terminal(chosen)}]")
    check_matrix(header.shape, f"{name}[{for_terminal(chosen)}]")
    n, d = map(str, header.shape)
    facts = (("array", listed([chosen])), ("rows", n), ("columns", d))
    return Plan(NAME, "dense", (there, *facts, ("numbers", listed([header.descr]))))


def sniff(path: str) -> float:
    """Judge by the archive's list.

    Spec: none (a guess about a file)
    """
    if head(path, len(_MAGIC)) != _MAGIC:
        return 0.0
    try:
        with _opened(path) as archive:
            return 1.0 if _arrays(archive, path) else 0.0
    except RefclustError:
        return 0.0


@contextmanager
def _opened(path: str) -> Iterator[zipfile.ZipFile]:
    name = display_name(path)
    try:
        if is_packed(path):
            raise BadFile(f"{name}: an archive inside another packing is not read; unpack it first")
        # All of a pipe is needed for its list, which stands at the end: so look first. Files are
        # held to the same: what stands before an archive is no part of it.
        with opened(path) as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise zipfile.BadZipFile("File is not a zip file")
        with opened(path, seekable=True) as stream, zipfile.ZipFile(stream) as archive:
            yield archive
    except RefclustError:
        raise
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            reason = (error.strerror or str(error)).lower()
            raise FileNotReadable(f"cannot read {name}: {reason}") from None
        raise BadFile(f"{name}: the archive is damaged: {error}") from None
    except (
        zipfile.BadZipFile, EOFError, zlib.error, struct.error, NotImplementedError,
        RuntimeError, ValueError, IndexError, OverflowError,
    ) as error:  # fmt: skip
        # The archive module lets all of these out of a damaged or an encrypted file.
        raise BadFile(f"{name}: the archive is damaged or not readable: {error}") from None


def _arrays(archive: zipfile.ZipFile, path: str) -> dict[str, zipfile.ZipInfo]:
    arrays = {
        info.filename.removesuffix(_ENDING): info
        for info in archive.infolist()
        if info.filename.endswith(_ENDING)
    }
    if not arrays:
        raise BadFile(f"{path}: the archive holds no array (no name ends in {_ENDING})")
    if len(arrays) > _MOST_ARRAYS:
        raise BadFile(f"{path}: {len(arrays)} arrays; at most {_MOST_ARRAYS} are allowed")
    for name, info in arrays.items():
        # What bzip2 and LZMA unpack cannot be bounded while it is unpacked; NumPy uses neither.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadFile(
                f"{path}[{for_terminal(name)}]: packed by method {info.compress_type}; "
                "allowed are stored (0) and deflate (8), which NumPy writes"
            )
    return arrays


def _chosen(
    archive: zipfile.ZipFile, arrays: dict[str, zipfile.ZipInfo], wanted: str | None, path: str
) -> str:
    there = listed(list(arrays))
    if wanted is not None:
        if wanted not in arrays:
            raise MissingColumn(f"{path}: there is no array {wanted!r}; there are: {there}")
        return wanted
    matrices = [
        name
        for name, info in arrays.items()
        if len(_header(archive, info, f"{path}[{for_terminal(name)}]").shape) == 2
    ]
    if len(matrices) != 1:
        raise BadOption(
            f"{path}: {len(matrices)} arrays have two dimensions, so one must be named (array); "
            f"there are: {there}"
        )
    return matrices[0]


def _header(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Header:
    with archive.open(info) as stream:
        return read_header(stream, name)


def _numbers(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, *, matrix: bool = False
) -> tuple[Header, array[Any]]:
    with archive.open(info) as stream:
        header = read_header(stream, name)
        if matrix:
            check_matrix(header.shape, name)
        elif len(header.shape) != 1:
            raise BadFile(f"{name}: the array has the shape {header.shape}; one dimension is due")
        stored = info.compress_type == zipfile.ZIP_STORED
        room = info.compress_size if stored else info.compress_size * LARGEST_RATIO
        largest = min(info.file_size, room) - header.offset
        return header, read_numbers(stream, header, name, largest, there=stored)


# -- sparse matrices ------------------------------------------------------------------------------


def _is_sparse(arrays: dict[str, zipfile.ZipInfo]) -> bool:
    return {"format", "shape", "data"} <= set(arrays)


def _sparse(archive: zipfile.ZipFile, arrays: dict[str, zipfile.ZipInfo], path: str) -> Dataset:
    layout = _layout(archive, arrays, path)
    n, d = _shape(archive, arrays, path)
    first, second = (_whole(archive, arrays, name, path) for name in _LAYOUTS[layout])
    _, numbers = _numbers(archive, arrays["data"], f"{path}[data]")
    values = as_doubles(numbers)
    if layout == "coo" and not len(first) == len(second) == len(values):
        raise WrongCount(
            f"{path}: {len(first)} rows, {len(second)} columns and {len(values)} values; "
            "as many of each are due"
        )
    check_shape(n, d, len(first) if layout == "csr" else len(values), path)
    with naming(path):
        return Dataset(_compressed(layout, first, second, values, n, d))


def _compressed(
    layout: str, first: array[int], second: array[int], values: array[float], n: int, d: int
) -> Sparse:
    if layout == "csr":
        return compressed(readonly(first), readonly(second), readonly(values), n, d)
    if layout == "csc":
        check_starts(memoryview(first), len(second), len(values), d)
        rows, columns = second[: first[d]], array("q")
        values = values[: first[d]]
        for j in range(d):
            columns.extend([j] * (first[j + 1] - first[j]))
    else:
        rows, columns = first, second
    return loose(readonly(rows), readonly(columns), readonly(values), n, d)


def _layout(archive: zipfile.ZipFile, arrays: dict[str, zipfile.ZipInfo], path: str) -> str:
    with archive.open(arrays["format"]) as stream:
        name = f"{path}[format]"
        layout = read_word(stream, read_header(stream, name), name)
    if layout not in _LAYOUTS:
        raise BadFile(
            f"{path}: a sparse matrix in the layout {layout[:20]!r} cannot be read; allowed: "
            f"{', '.join(_LAYOUTS)} (convert it with tocsr)"
        )
    missing = [name for name in _LAYOUTS[layout] if name not in arrays]
    if missing:
        raise BadFile(f"{path}: the layout {layout} needs the array {missing[0]}, which is missing")
    return layout


def _shape(
    archive: zipfile.ZipFile, arrays: dict[str, zipfile.ZipInfo], path: str
) -> tuple[int, int]:
    shape = _whole(archive, arrays, "shape", path)
    if len(shape) != 2 or min(shape) < 0:
        raise BadFile(f"{path}[shape]: {list(shape)[:5]}; the numbers of rows and columns are due")
    return shape[0], shape[1]


def _whole(
    archive: zipfile.ZipFile, arrays: dict[str, zipfile.ZipInfo], name: str, path: str
) -> array[int]:
    _, numbers = _numbers(archive, arrays[name], f"{path}[{for_terminal(name)}]")
    if numbers.typecode in "df":
        raise BadFile(f"{path}[{for_terminal(name)}]: floats; whole numbers are due")
    return numbers
