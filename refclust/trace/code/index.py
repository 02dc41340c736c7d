"""What was read from a tree once, kept in the cache folder until a file of the tree is another.

The index belongs to the names, sizes and times (of content and of inode) of all sources, chapters,
vectors, locks and tests. As Git does, it is not kept where a file is younger than two seconds: such
a file could change once more without its times telling. What cannot be kept is read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from refclust.trace.places import cache_folder, locate
from refclust.version import __version__

_YOUNG = 2_000_000_000  # nanoseconds
_SUFFIXES = (".py", ".md", ".json", ".lock", ".txt", ".toml")


class Index:
    """Plain values by their names, of one tree as it is now."""

    def __init__(self, root: Path | None = None, kind: str = "pages") -> None:
        places = locate(root)
        now = time.time_ns()
        whole = hashlib.sha256(f"{__version__} {sys.version} {places}".encode())
        newest = 0
        folders = [places.package, places.spec, *filter(None, [places.tests])]
        for folder in folders:
            for entry in _files(str(folder)):
                status = entry.stat()
                newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
                times = (
                    f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
                )
                whole.update(f"{entry.path} {times}\n".encode(errors="surrogateescape"))
        self._settled = newest < now - _YOUNG
        self._key = whole.hexdigest()
        name = hashlib.sha256(str(places.root).encode(errors="surrogateescape")).hexdigest()[:16]
        # Without a folder for it nothing is kept: every call reads the sources.
        folder_of_all = cache_folder()
        self._path = (folder_of_all or Path(os.devnull)) / f"trace-{kind}-{name}.txt"

    def get(self, name: str) -> Any:
        """The value of a name, or None where it is not known of this very tree."""
        begin = f"{name} "
        with suppress(OSError, ValueError), self._path.open(encoding="utf-8") as lines:
            if next(lines, "").strip() == self._key:
                for line in lines:
                    if line.startswith(begin):
                        return json.loads(line[len(begin) :])
        return None

    def put(self, values: Mapping[str, object]) -> None:
        """Keep the values, if the tree is settled and the cache folder can be written."""
        if not self._settled:
            return
        lines = [self._key, *(f"{name} {json.dumps(value)}" for name, value in values.items())]
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            number, beside = tempfile.mkstemp(dir=self._path.parent, prefix=self._path.name)
            try:
                with os.fdopen(number, "w", encoding="utf-8") as out:
                    out.write("\n".join(lines) + "\n")
                os.replace(beside, self._path)
            except OSError:
                os.unlink(beside)


def _files(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        listing = sorted(entries, key=lambda entry: entry.name)
    for entry in listing:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        elif entry.name.endswith(_SUFFIXES):
            yield entry
