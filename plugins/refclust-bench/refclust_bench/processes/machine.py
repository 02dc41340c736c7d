"""Facts about the machine and the process: names, memory, who uses the processors."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any, Final

from refclust.version import __version__

_STATUS, _CLEAR, _STAT = "/proc/self/status", "/proc/self/clear_refs", "/proc/stat"
_IDLE: Final = (3, 4)  # columns of /proc/stat: idle, and idle while waiting for a disk
_BESIDE: Final = ("numpy", "scipy", "numba", "llvmlite", "threadpoolctl")


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def facts() -> dict[str, Any]:
    """What the machine is, as far as the system tells."""
    return {
        "cpu": _cpu_model(),
        "cores": cores(),
        "memory_mib": _total_memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def versions() -> dict[str, str]:
    """The versions of refclust and of the numerical libraries beneath the contenders."""
    versions_known = {"refclust": __version__}
    for name in _BESIDE:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions_known[name] = importlib.metadata.version(name)
    return versions_known


def busy_seconds() -> float | None:
    """The processor seconds that all processes of the machine have used, where it is told."""
    try:
        with open(_STAT, encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
        return sum(t for i, t in enumerate(ticks) if i not in _IDLE) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None


def own_seconds() -> float:
    """The processor seconds of this process, all its threads, and the processes it has ended."""
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system


def resident() -> int | None:
    """The bytes of memory this process holds now."""
    return _status("VmRSS")


def high_water() -> int | None:
    """The most bytes of memory this process has held since ``reset_high_water``, or ever."""
    peak = _status("VmHWM")
    return _most_ever() if peak is None else peak


def reset_high_water() -> bool:
    """Forget the high-water mark; false where the system cannot."""
    try:
        with open(_CLEAR, "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return False
    return True


def tidy() -> None:
    """Give memory that is no longer used back to the system, as far as possible."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _status(field: str) -> int | None:
    try:
        with open(_STATUS, encoding="ascii") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _most_ever() -> int | None:
    try:
        import resource  # not on every system
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _cpu_model() -> str:
    with contextlib.suppress(OSError, IndexError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        return text.split("model name", 1)[1].split(":", 1)[1].split("\n", 1)[0].strip()
    return platform.processor() or "unknown"


def _total_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    except (AttributeError, OSError, ValueError):
        return None
