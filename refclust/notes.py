"""What is worth knowing and no result, told once, and how far a file is read: to whoever listens.

The command line listens and writes to stderr. Where nobody listens, the logger ``refclust`` gets it
(warnings reach stderr unless the program that uses refclust decides otherwise).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

# The name of a file, how many bytes of it are read (None: it is done), how many there are.
Watcher: TypeAlias = Callable[[str, int | None, int | None], None]

_watchers: list[Watcher] = []
_told: set[str] = set()
_listeners: list[Callable[[str], None]] = []


def listen(listener: Callable[[str], None] | None) -> None:
    """From now on tell this listener, or nobody in particular; everything is news again."""
    _told.clear()
    _listeners[:] = [] if listener is None else [listener]


def tell(text: str, *, warning: bool = False) -> None:
    """Tell something, unless it was told before.

    >>> heard = []
    >>> listen(heard.append)
    >>> for _ in range(2):
    ...     tell("a plugin is broken")
    >>> heard
    ['a plugin is broken']
    >>> listen(None)
    """
    if text in _told:
        return
    _told.add(text)
    if _listeners:
        _listeners[0](text)
        return
    import logging  # start-up is quicker without it

    from refclust.escape import for_line

    level = logging.WARNING if warning else logging.INFO
    logging.getLogger("refclust").log(level, "%s", for_line(text))


def watch(watcher: Watcher | None) -> Watcher | None:
    """From now on tell this watcher how far files are read, or nobody; the last one is returned."""
    before = _watchers[0] if _watchers else None
    _watchers[:] = [] if watcher is None else [watcher]
    return before


def reading(name: str, done: int | None, size: int | None = None) -> None:
    """Tell how far a file is read; ``done`` is None when it is read, or given up.

    >>> seen = []
    >>> watch(lambda *facts: seen.append(facts))
    >>> reading("a.csv", 10, 20)
    >>> seen, watch(None) is None
    ([('a.csv', 10, 20)], False)
    """
    for watcher in _watchers:
        watcher(name, done, size)
