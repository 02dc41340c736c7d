"""The installed plugins: entry points of the group ``refclust``, each loaded once, under guard.

All hooks ask here, so that a plugin that cannot be loaded is waited for once and told of once.
"""

from __future__ import annotations

import functools
import importlib.metadata
import threading
from dataclasses import dataclass, field
from typing import Any, Final

import pluggy

from refclust.backends.plugins import hookspecs
from refclust.backends.plugins.guard import Attempt, attempt, limit, shown
from refclust.backends.plugins.switch import disabled
from refclust.notes import tell

_UNKNOWN: Final = "unknown"
_loading = threading.RLock()


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin, loaded, or with the reason why it could not be."""

    name: str
    distribution: str
    version: str
    module: str
    trouble: str
    manager: Any = field(repr=False)
    _offers: dict[str, Attempt] = field(default_factory=dict, repr=False)

    @property
    def owner(self) -> str:
        """The distribution and its version."""
        return f"{self.distribution} {self.version}"

    def offered(self, hook: str, what: str) -> Attempt:
        """The list that a hook returns, of which only some kind of thing is expected."""
        if self.trouble:
            return Attempt(None, self.trouble, None, "")
        with _loading:
            if hook not in self._offers:
                self._offers[hook] = self._ask(hook, what)
            return self._offers[hook]

    def tell_printed(self, printed: str, when: str) -> None:
        """Tell what the plugin printed, which went nowhere."""
        if printed:
            tell(f"the plugin {self.name!r} ({self.owner}) printed {when}: {printed}")

    def tell_trouble(self, trouble: str) -> None:
        """Tell that the plugin is left out, and why."""
        tell(f"the plugin {self.name!r} ({self.owner}) is left out: {trouble}")

    def _ask(self, hook: str, what: str) -> Attempt:
        caller = getattr(self.manager.hook, hook)
        if not caller.get_hookimpls():
            return Attempt([], "", None, "")
        done = attempt(caller, seconds=limit(), restore=True)
        self.tell_printed(done.printed, f"in {hook}")
        if done.trouble:
            return Attempt([], done.trouble, done.error, "")
        # pluggy leaves out what is None.
        answer = done.value[0] if isinstance(done.value, list) and done.value else None
        if not isinstance(answer, (list, tuple)):
            return Attempt([], f"{hook} returned {shown(answer)}, not a list of {what}", None, "")
        return Attempt(list(answer), "", None, "")


def installed() -> tuple[Plugin, ...]:
    """Return the plugins in the order of their names; none if they are switched off."""
    if disabled():
        return ()
    with _loading:
        return _installed()


def forget() -> None:
    """Look again when plugins are asked for next."""
    _installed.cache_clear()


@functools.lru_cache(maxsize=1)
def _installed() -> tuple[Plugin, ...]:
    listing = attempt(lambda: list(importlib.metadata.entry_points(group=hookspecs.PROJECT)))
    if listing.trouble:
        tell(f"the installed plugins cannot be listed: {listing.trouble}", warning=True)
        return ()
    entries = sorted(listing.value, key=lambda entry: (entry.name, entry.value))
    return tuple(_loaded(entry) for entry in entries)


def _loaded(entry: importlib.metadata.EntryPoint) -> Plugin:
    """Load one plugin; whatever it does instead of being loaded becomes its trouble."""

    def load() -> Any:
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        manager.register(entry.load(), name=entry.name)
        manager.check_pending()
        return manager

    identity = attempt(lambda: (str(entry.dist.name), str(entry.dist.version)))  # type: ignore[union-attr]
    owner, version = identity.value or (_UNKNOWN, _UNKNOWN)
    done = attempt(load, seconds=limit(), restore=True)
    plugin = Plugin(entry.name, owner, version, entry.value, done.trouble, done.value)
    plugin.tell_printed(done.printed, "while it was loaded")
    return plugin
