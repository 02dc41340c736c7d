"""What an answer of a backend can depend on beside its input, as one digest (BK-EARN).

Versions and files of the plugin and of what it needs, refclust's kernels and kit, Python, the
processor, the number of threads, and what the backend itself says of its build.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from refclust.backends.choosing import offer
from refclust.backends.plugins.discovery import OWN, Record
from refclust.version import __version__

_JUDGES: Final = ("backends", "data", "fitting", "kernels", "numbers", "testing")
_LARGE: Final = 4 << 20  # bytes; larger files are known by size and time
_REQUIREMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_THREADS: Final = ("REFCLUST_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def facts(record: Record) -> dict[str, str]:
    """All facts by name, in words or as digests."""
    return {
        "backend": f"{record.name} of {record.owner}",
        "files": _digest(_sources(record)),
        "needs": ", ".join(sorted(_needs(record.distribution))),
        "build": offer.build(record),
        "refclust": f"{__version__} {_judges()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": _machine(),
        "threads": _threads(),
    }


def digest(record: Record) -> str:
    """One digest of all facts; worked out once in a process."""
    if "digest" not in record.seen:
        record.seen["digest"] = digest_of(facts(record))
    known_digest: str = record.seen["digest"]
    return known_digest


def digest_of(facts: Mapping[str, str]) -> str:
    """The digest of some facts, in their order."""
    text = "\n".join(f"{name}: {fact}" for name, fact in facts.items())
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _sources(record: Record) -> Iterator[Path]:
    """The files of the package or the module that the plugin's entry point names."""
    top = record.module.partition(":")[0].partition(".")[0].strip()
    spec = None
    with suppress(Exception):
        spec = importlib.util.find_spec(top)
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        for folder in spec.submodule_search_locations:
            yield from _files(Path(folder))
    elif spec.origin is not None:
        yield Path(spec.origin)


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if not name.endswith((".pyc", ".nbi", ".nbc")):
                yield Path(place, name)


def _digest(paths: Iterator[Path]) -> str:
    sha256 = hashlib.sha256()
    for path in paths:
        with suppress(OSError):
            status = path.stat()
            sha256.update(f"\n{path.name} {status.st_size} ".encode("utf-8", "replace"))
            if status.st_size > _LARGE:
                sha256.update(str(status.st_mtime_ns).encode())
            else:
                sha256.update(path.read_bytes())
    return sha256.hexdigest()


@cache
def _judges() -> str:
    """The digest of refclust's own code that says what is right and checks it."""
    own = Path(__file__).parents[2]
    return _digest(path for folder in _JUDGES for path in _files(own / folder))


def _needs(distribution: str) -> set[str]:
    """What the distribution is installed with, at which versions, one thing bringing the next."""
    versions: dict[str, str] = {}
    waiting = [distribution]
    while waiting:
        name = waiting.pop()
        for line in _requirements(name):
            match = _REQUIREMENT.match(line)
            if match is None or match[0] == OWN or match[0] in versions:
                continue
            with suppress(importlib.metadata.PackageNotFoundError):
                versions[match[0]] = importlib.metadata.version(match[0])
                waiting.append(match[0])
    return {f"{name} {version}" for name, version in versions.items()}


def _requirements(distribution: str) -> list[str]:
    try:
        lines = importlib.metadata.requires(distribution) or []
    except Exception:  # metadata of others, in whatever state
        return []
    return [line for line in lines if "extra ==" not in line]


@cache
def _machine() -> str:
    """The processor and what it can do, as far as the system tells."""
    parts = [sys.platform, platform.machine(), platform.processor()]
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                break  # the first processor speaks for all
            if line.partition(":")[0].strip() in ("model name", "flags", "Features", "CPU part"):
                parts.append(line.partition(":")[2].strip())
    return " ".join(parts)


def _threads() -> str:
    allowed = getattr(os, "sched_getaffinity", None)
    processors = len(allowed(0)) if allowed is not None else os.cpu_count()
    settings = [f"{name}={os.environ[name]}" for name in _THREADS if os.environ.get(name)]
    return " ".join([str(processors), *settings])
