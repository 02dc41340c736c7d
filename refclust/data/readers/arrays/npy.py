"""Files of NumPy: one matrix in ``.npy``, and the archives ``.npz`` of several (DATA-NPY)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final

from refclust.data.dataset import Dataset
from refclust.data.files.source import display_name, finish, opened, packing_of, size_of, unpacked
from refclust.data.files.textfile import readable
from refclust.data.readers.arrays import npz
from refclust.data.readers.arrays.npyfile import (
    ENDLESS,
    LARGEST_RATIO,
    MAGIC,
    check_matrix,
    dense_of,
    read_header,
    read_numbers,
)
from refclust.data.readers.cells import listed
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.errors import BadFile, EmptyFile

NAME: Final = "npy"


def read(path: str, options: Options) -> Dataset:
    """Read one matrix; singles stay singles, integers become doubles.

    Spec: DATA-NPY
    """
    check_options(NAME, options, ("missing",))
    name = display_name(path)
    with _opened(path) as (stream, size):
        header = read_header(stream, name)
        check_matrix(header.shape, name)
        there = size == size_of(path)
        numbers = read_numbers(stream, header, name, size - header.offset, there=there)
        finish(path)
    return dense_of(numbers, header, name, gaps=options.missing == "integrate")


def plan(path: str, options: Options) -> Plan:
    """Tell what the header says."""
    check_options(NAME, options, ("missing",))
    with _opened(path) as (stream, _):
        header = read_header(stream, display_name(path))
    check_matrix(header.shape, display_name(path))
    rows, columns = map(str, header.shape)
    facts = (
        ("rows", rows),
        ("columns", columns),
        ("numbers", listed([header.descr])),
        *packing(path),
    )
    return Plan(NAME, "dense", facts)


def sniff(path: str) -> float:
    """Judge by the first bytes.

    Spec: none (a guess about a file)
    """
    return float(head(path, len(MAGIC)) == MAGIC)


@contextmanager
def _opened(path: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open a source, maybe packed; beside it the most bytes it can hold."""
    with readable(path, BadFile):
        with opened(path) as stream:  # the size of a pipe is not known, that it is empty is
            if not stream.read(1):
                raise EmptyFile(f"{display_name(path)} is empty; it should hold an array of NumPy")
        size = size_of(path)
        packing = packing_of(path)
        with unpacked(path) as stream:
            if size is None or (packing is not None and packing.name != "gzip"):
                yield stream, ENDLESS  # only reading can tell
            else:
                yield stream, size if packing is None else size * LARGEST_RATIO


READERS: Final = (
    Reader(NAME, (".npy",), "one matrix of NumPy", read, sniff, plan),
    Reader(
        npz.NAME,
        (".npz",),
        "an archive of NumPy: one of its matrices, or a sparse matrix of SciPy",
        npz.read,
        npz.sniff,
        npz.plan,
    ),
)
