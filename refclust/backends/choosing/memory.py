"""What backends have shown on this machine, kept in the cache folder (BK-EARN).

A file for each digest of what can matter (see ``fingerprint``). A file that cannot be read is no
file, and one that cannot be written is done without: then this process remembers alone.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from refclust.backends.choosing import fingerprint
from refclust.backends.plugins.discovery import Record
from refclust.data.files.atomic import write_atomically
from refclust.errors import RefclustError
from refclust.trace.places import CACHE_VARIABLE
from refclust.trace.places import cache_folder as folder

__all__ = ["CACHE_VARIABLE", "Verdict", "folder", "recall", "remember"]

_SCHEMA: Final = "refclust-earned/1"
_MOST: Final = 1 << 20  # bytes of a file; those that are written have a few thousand
_FILES: Final = 8  # kept of one backend: older ones are of versions that are gone


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a kernel of a backend passed the kit here, and when (UTC)."""

    ok: bool
    when: str
    fault: str = ""


_here: dict[str, dict[str, Verdict]] = {}  # by digest and kernel, for this process


def recall(record: Record) -> Mapping[str, Verdict]:
    """The verdicts on this very build of a backend, by kernel."""
    digest = fingerprint.digest(record)
    if digest not in _here:
        _here[digest] = _read(_path(record), record)
    return _here[digest]


def remember(record: Record, verdicts: Mapping[str, Verdict]) -> str:
    """Keep verdicts for later processes; return why that was not possible, if it was not."""
    digest, path = fingerprint.digest(record), _path(record)
    # Another process may have written in the meantime; at worst one of us checks again.
    kept = {**_here.get(digest, {}), **_read(path, record), **verdicts}
    _here[digest] = kept
    content = {
        "schema": _SCHEMA,
        "facts": fingerprint.facts(record),
        "kernels": {name: asdict(verdict) for name, verdict in sorted(kept.items())},
    }
    if path is None:
        return "there is no home folder, and REFCLUST_CACHE_DIR names no other"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(str(path), json.dumps(content, indent=1).encode())
        _prune(path, record.name)
    except (OSError, RefclustError) as error:
        return str(error)
    return ""


def forget() -> None:
    """Forget what this process knows by heart; the files stay."""
    _here.clear()


def _path(record: Record) -> Path | None:
    home = folder()
    if home is None:
        return None
    return home / "earned" / f"{record.name}-{fingerprint.digest(record)[:24]}.json"


def _read(path: Path | None, record: Record) -> dict[str, Verdict]:
    """What a file tells of this very build; nothing if there is no file that can be trusted."""
    try:
        content: Any = json.loads(b"" if path is None else _content(path))
        digest = fingerprint.digest_of(content["facts"])
        if content["schema"] != _SCHEMA or digest != fingerprint.digest(record):
            return {}
        return {str(name): _verdict(entry) for name, entry in content["kernels"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def _content(path: Path) -> bytes:
    """The bytes of a small file of our own; whatever else is in the place is not read."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST:
            raise ValueError("no file of verdicts")
        # In a folder that others can write to, anybody could say that a backend has passed.
        if hasattr(os, "geteuid") and status.st_uid not in (os.geteuid(), 0):
            raise ValueError("a file of somebody else")
        return file.read(_MOST)


def _verdict(entry: Mapping[str, Any]) -> Verdict:
    ok, when, fault = entry["ok"], entry["when"], entry["fault"]
    if not (isinstance(ok, bool) and isinstance(when, str) and isinstance(fault, str)):
        raise ValueError("no verdict")
    return Verdict(ok, when, fault)


def _prune(path: Path, name: str) -> None:
    """Take away what was written about earlier versions of a backend, the oldest first."""
    with suppress(OSError):
        ours = re.compile(rf"{re.escape(name)}-[0-9a-f]{{24}}\.json")
        files = [
            file for file in path.parent.iterdir() if ours.fullmatch(file.name) and file != path
        ]
        ages = sorted((file.stat().st_mtime, file) for file in files)
        for _, file in ages[: -(_FILES - 1)]:
            file.unlink(missing_ok=True)
