"""Finding backends: entry points of the group ``refclust``, each loaded under guard.

A broken plugin becomes a record with its reason and harms nobody who did not ask for it by name.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
from dataclasses import dataclass
from typing import Literal

import pluggy

from refclust.backends import hookspecs
from refclust.backends.builtin import Loopback, Reference
from refclust.backends.protocol import API_VERSION, Backend
from refclust.errors import BackendRefused, BadOption, UnknownBackend
from refclust.version import __version__

DISABLE_VARIABLE = "REFCLUST_DISABLE_PLUGINS"
_TRUE, _FALSE = {"1", "true", "yes"}, {"0", "false", "no", ""}


@dataclass(frozen=True, slots=True)
class Record:
    """One backend or one plugin that could not give any."""

    name: str
    distribution: str
    version: str
    state: Literal["ready", "failed", "refused"]
    reason: str
    backend: Backend | None


def discover() -> tuple[Record, ...]:
    """Return the built-in backends and all that installed plugins offer, broken ones included."""
    return _discover(os.environ.get(DISABLE_VARIABLE, ""))


def find(name: str) -> Record:
    """Return the backend with this name, or say why there is none."""
    records = discover()
    found = [record for record in records if record.name == name]
    if not found:
        ready = ", ".join(record.name for record in records if record.state == "ready")
        raise UnknownBackend(f"no backend is called {name!r}; installed: auto, {ready}")
    if len(found) > 1:
        owners = " and ".join(f"{record.distribution} {record.version}" for record in found)
        raise BackendRefused(f"the backend {name!r} is offered twice, by {owners}")
    if found[0].state != "ready":
        raise BackendRefused(
            f"the backend {name!r} of {found[0].distribution} {found[0].version} "
            f"cannot be used: {found[0].reason}"
        )
    return found[0]


@functools.lru_cache(maxsize=4)
def _discover(disabled: str) -> tuple[Record, ...]:
    own = [
        Record(backend.name, "refclust", __version__, "ready", "", backend)
        for backend in (Reference(), Loopback())
    ]
    if disabled.lower() in _TRUE:
        return tuple(own)
    if disabled.lower() not in _FALSE:
        raise BadOption(f"{DISABLE_VARIABLE}={disabled!r}: use 1 or 0, true or false, yes or no")
    return (*own, *(record for entry in _entry_points() for record in _load(entry)))


def _entry_points() -> list[importlib.metadata.EntryPoint]:
    found = importlib.metadata.entry_points(group=hookspecs.PROJECT)
    return sorted(found, key=lambda entry: (entry.name, entry.value))


def _load(entry: importlib.metadata.EntryPoint) -> list[Record]:
    """Load one plugin; whatever it raises becomes its record."""
    owner = entry.dist.name if entry.dist else "unknown"
    version = entry.dist.version if entry.dist else "unknown"

    def record(name: str, state: Literal["failed", "refused"], reason: str) -> Record:
        return Record(name, owner, version, state, reason, None)

    try:
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        manager.register(entry.load(), name=entry.name)
        manager.check_pending()
        offered = [b for group in manager.hook.refclust_register_backends() for b in group]
    except Exception as error:
        # Guarded on purpose: a plugin may fail in any way, and only those who ask for it may know.
        return [record(entry.name, "failed", f"{type(error).__name__}: {error}")]
    return [
        Record(backend.name, owner, version, "ready", "", backend)
        if backend.api_version == API_VERSION
        else record(
            backend.name,
            "refused",
            f"it speaks version {backend.api_version} of the kernel protocol, "
            f"this refclust speaks {API_VERSION}",
        )
        for backend in offered
    ]
