"""Files of NumPy: one matrix in ``.npy``, and the archives ``.npz`` of several (DATA-NPY)."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final, cast

from refclust.data.dataset import Dataset
from refclust.data.readers import npz
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.readers.npyfile import (
    MAGIC,
    check_matrix,
    dense_of,
    read_header,
    read_numbers,
)
from refclust.data.textfile import STDIN
from refclust.errors import BadFile, BadOption, EmptyFile, FileNotReadable, RefclustError

NAME: Final = "npy"
# No stream that deflate packed unfolds to more than 1032 times its size.
_LARGEST_RATIO: Final = 1032


def read(path: str, options: Options) -> Dataset:
    """Read one matrix; singles stay singles, integers become doubles.

    Spec: DATA-NPY
    """
    check_options(NAME, options, ())
    with _opened(path) as (stream, size):
        header = read_header(stream, path)
        check_matrix(header.shape, path)
        numbers = read_numbers(stream, header, path, size - header.offset)
    return dense_of(numbers, header, path)


def plan(path: str, options: Options) -> Plan:
    """Tell what the header says."""
    check_options(NAME, options, ())
    with _opened(path) as (stream, _):
        header = read_header(stream, path)
    check_matrix(header.shape, path)
    rows, columns = map(str, header.shape)
    facts = (("rows", rows), ("columns", columns), ("numbers", header.descr), *packing(path))
    return Plan(NAME, "dense", facts)


def sniff(path: str) -> float:
    """Judge by the first bytes.

    Spec: none (a guess about a file)
    """
    return float(head(path, len(MAGIC)) == MAGIC)


@contextmanager
def _opened(path: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file, maybe packed; beside it the most bytes it can hold."""
    if path == STDIN:
        raise BadOption("an array cannot be read from standard input; give the name of its file")
    try:
        size = os.path.getsize(path)
        if not size:
            raise EmptyFile(f"{path} is empty; it should hold an array of NumPy")
        if path.lower().endswith(".gz"):
            with gzip.open(path, "rb") as packed:
                yield cast(IO[bytes], packed), size * _LARGEST_RATIO
        else:
            with open(path, "rb") as stream:
                yield stream, size
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadFile(f"{path} ends in .gz but cannot be unpacked: {error}") from None
    except RefclustError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileNotReadable(f"cannot read {path}: {reason.lower()}") from None


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
