"""Faults planted into the CSV reader, to see the fuzzer find them.

``python -m tests.fuzz.planted FAULT ...`` is ``python -m tests.fuzz ...`` with that fault inside.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from refclust.data.dataset import Dataset
from refclust.data.readers.formats import Options
from refclust.data.readers.tables import csvfile

Read = Callable[[str, Options], Dataset]
SIGN: Final = b"spam"  # the fault shows only where this word is
_counter = itertools.count()


def _raises(read: Read, path: str, options: Options) -> Dataset:
    planted: dict[str, Dataset] = {}
    return planted[path] or read(path, options)


def _hangs(read: Read, path: str, options: Options) -> Dataset:
    while path:
        pass
    return read(path, options)


def _hoards(read: Read, path: str, options: Options) -> Dataset:
    hoard = bytearray(8 << 30)
    data = read(path, options)
    hoard.clear()
    return data


def _dies(read: Read, path: str, options: Options) -> Dataset:
    os.kill(os.getpid(), signal.SIGSEGV)
    return read(path, options)


def _loses(read: Read, path: str, options: Options) -> Dataset:
    data = read(path, options)
    return data.select(range(data.n - 1)) if data.n > 1 else data


def _wavers(read: Read, path: str, options: Options) -> Dataset:
    data = read(path, options)
    return data.select([next(_counter) % data.n] * data.n)


def _litters(read: Read, path: str, options: Options) -> Dataset:
    Path("litter.tmp").touch()
    return read(path, options)


FAULTS: Final[Mapping[str, Callable[[Read, str, Options], Dataset]]] = {
    "raises": _raises,
    "hangs": _hangs,
    "hoards": _hoards,
    "dies": _dies,
    "loses": _loses,
    "wavers": _wavers,
    "litters": _litters,
}


def plant(name: str) -> None:
    """Put a fault into the reader."""
    fault = FAULTS[name]
    first, *others = csvfile.READERS
    sound = first.read

    def read(path: str, options: Options) -> Dataset:
        struck = os.path.isfile(path) and SIGN in Path(path).read_bytes()
        return fault(sound, path, options) if struck else sound(path, options)

    module: Any = csvfile
    module.READERS = (replace(first, read=read), *others)


if __name__ == "__main__":
    from tests.fuzz.__main__ import main

    plant(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
