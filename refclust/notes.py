"""What is worth knowing and no result: told once, to whoever listens.

The command line listens and writes to stderr. Where nobody listens, the logger ``refclust`` gets it
(warnings reach stderr unless the program that uses refclust decides otherwise).
"""

from __future__ import annotations

from collections.abc import Callable

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
