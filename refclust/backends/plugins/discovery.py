"""Finding backends: what plugins offer, looked at before anybody uses it.

A broken plugin, and a backend that is not what the protocol says, become records with a reason and
harm nobody who did not ask for them by name.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from refclust.backends.builtin import Loopback, Reference
from refclust.backends.plugins import loading as plugins
from refclust.backends.plugins.guard import attempt, limit, one_line, shown
from refclust.backends.plugins.loading import Plugin
from refclust.backends.plugins.switch import disabled
from refclust.backends.protocol import API_VERSION, Backend
from refclust.errors import BackendRefused, UnknownBackend
from refclust.notes import tell
from refclust.version import __version__

__all__ = ["Record", "discover", "find", "forget", "tell_troubles"]

OWN: Final = "refclust"
_HOOK: Final = "refclust_register_backends"
_NAME: Final = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_RESERVED: Final = frozenset(("auto", "reference", "loopback"))
_METHODS: Final = ("kernels", "supports", "prepare", "export")


@dataclass(frozen=True, slots=True)
class Record:
    """One backend or one plugin that could not give any."""

    name: str
    distribution: str
    version: str
    state: Literal["ready", "failed", "refused"]
    reason: str
    backend: Backend | None
    accuracy: str = ""
    plugin: str = ""
    module: str = ""
    seen: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def owner(self) -> str:
        """The distribution and its version."""
        return f"{self.distribution} {self.version}"

    @property
    def own(self) -> bool:
        """Whether it comes with refclust and needs no guard."""
        return self.distribution == OWN and not self.plugin


def discover() -> tuple[Record, ...]:
    """Return the built-in backends and all that installed plugins offer, broken ones included."""
    return _discover(disabled())


def forget() -> None:
    """Look again when backends are asked for next."""
    _discover.cache_clear()
    plugins.forget()


def find(name: str) -> Record:
    """Return the backend with this name, or say why there is none."""
    records = discover()
    candidates = [record for record in records if record.name == name]
    # What a plugin could not offer has no name; then its own name must do.
    candidates += [
        record
        for record in records
        if record.state != "ready" and name == record.plugin != record.name
    ]
    for record in candidates:
        if record.state == "ready":
            return record
    if not candidates:
        ready = ", ".join(record.name for record in records if record.state == "ready")
        raise UnknownBackend(f"no backend is called {name!r}; installed: auto, {ready}")
    raise BackendRefused(
        f"the backend {name!r} of {candidates[0].owner} cannot be used: {candidates[0].reason}"
    )


def tell_troubles() -> None:
    """Tell of every plugin and backend that is left out; for those who asked for none by name."""
    for record in discover():
        if record.state != "ready":
            who = (
                f"the plugin {record.plugin!r}"
                if record.name == record.plugin
                else (f"the backend {record.name!r} of the plugin {record.plugin!r}")
            )
            tell(f"{who} ({record.owner}) is left out: {record.reason}")


@functools.lru_cache(maxsize=2)
def _discover(disabled: bool) -> tuple[Record, ...]:
    own = [
        Record(backend.name, OWN, __version__, "ready", "", backend, backend.accuracy)
        for backend in (Reference(), Loopback())
    ]
    offered = (
        []
        if disabled
        else [record for plugin in plugins.installed() for record in _offered(plugin)]
    )
    return (*own, *_told_apart(offered))


def _offered(plugin: Plugin) -> list[Record]:
    """The backends of one plugin, or one record of what is wrong with it."""
    answer = plugin.offered(_HOOK, "backends")
    if answer.trouble:
        return [_record(plugin, plugin.name, "failed", answer.trouble)]
    return [_looked_at(backend, plugin) for backend in answer.value]


def _looked_at(backend: Any, plugin: Plugin) -> Record:
    """One backend, looked at from outside: none of its functions is called."""
    looked = attempt(lambda: _objection(backend), seconds=limit(), restore=True)
    plugin.tell_printed(looked.printed, "while its backend was looked at")
    name, reason = looked.value or (None, looked.trouble)
    if name is None or reason:
        return _record(plugin, name or plugin.name, "refused", reason)
    ready = _record(plugin, name, "ready", "")
    return replace(ready, backend=backend, accuracy=str(backend.accuracy))


def _record(
    plugin: Plugin, name: str, state: Literal["ready", "failed", "refused"], reason: str
) -> Record:
    known = (one_line(name, 60), plugin.distribution, plugin.version)
    return Record(*known, state, reason, None, plugin=plugin.name, module=plugin.module)


def _objection(backend: Any) -> tuple[str | None, str]:
    """Return the name, if there is one, and what forbids to use such a backend."""
    members = ("name", "api_version", "accuracy", *_METHODS)
    missing = [member for member in members if not hasattr(backend, member)]
    if "name" in missing:
        return None, f"it offers {shown(backend)}, which has no name"
    name = backend.name
    if not isinstance(name, str) or not name:
        return None, f"it offers a backend whose name is {shown(name)}, not a word"
    if missing:
        return name, f"it has no {missing[0]}"
    if not _NAME.fullmatch(name):
        return name, f"its name is {shown(name)}; a name is a word of small letters and digits"
    if name in _RESERVED:
        return name, f"the name {name!r} belongs to refclust itself"
    version, accuracy = backend.api_version, backend.accuracy
    if type(version) is not int or version != API_VERSION:
        return name, (
            f"it speaks version {shown(version)} of the kernel protocol, "
            f"this refclust speaks {API_VERSION}"
        )
    if not isinstance(accuracy, str) or accuracy not in ("exact", "bounded"):
        return name, f"its accuracy is {shown(accuracy)}, neither 'exact' nor 'bounded'"
    for method in _METHODS:
        if not callable(getattr(backend, method)):
            return name, f"its {method} is {shown(getattr(backend, method))}, not a function"
    return name, ""


def _told_apart(records: list[Record]) -> list[Record]:
    """Take none of several backends of one name: which it is must not depend on their order."""
    ready = Counter(record.name for record in records if record.state == "ready")
    return [
        record
        if record.state != "ready" or ready[record.name] == 1
        else replace(record, state="refused", backend=None, reason=_twice(record.name, records))
        for record in records
    ]


def _twice(name: str, records: list[Record]) -> str:
    owners = [record.owner for record in records if record.name == name and record.state == "ready"]
    return f"the name is offered twice, by {' and '.join(owners)}"
