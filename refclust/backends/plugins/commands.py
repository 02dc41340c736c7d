"""The commands that plugins add: entry points of the group ``refclust.commands``, read as text.

To list commands nothing of a plugin is imported, so none can raise, print or hang meanwhile. Nor is
``importlib.metadata``, whose import takes many times as long as everything that happens here
(chapter 80, BK-COMMAND).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from refclust.backends.plugins.switch import disabled

GROUP: Final = "refclust.commands"
_PLUGINS: Final = ("[refclust]", f"[{GROUP}]")  # what plugins are found by
# Commands that are part of refclust and come in a distribution of their own.
APART: Final = {"bench": "refclust-bench"}
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PLACE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class PluginCommand:
    """A command that an installed distribution offers; ``trouble`` says why it is left out.

    It is ``foreign`` if its name is refclust's, so that whoever calls it means another one.
    """

    name: str
    place: str  # "module:attribute"
    distribution: str
    version: str
    summary: str
    trouble: str = ""
    foreign: bool = False

    @property
    def owner(self) -> str:
        """The distribution and its version."""
        return f"{self.distribution} {self.version}"


def offered(ours: Collection[str]) -> tuple[PluginCommand, ...]:
    """Return the commands of plugins in the order of their names, those left out included.

    ``ours`` are the names that are taken. None is offered where plugins are switched off.

    Spec: BK-COMMAND
    """
    if disabled():
        return ()
    commands = [_judged(command, ours) for command in _read()]
    commands.sort(key=lambda command: (command.name, command.owner))
    owners: dict[str, list[str]] = {}
    for command in commands:
        if not command.trouble:
            owners.setdefault(command.name, []).append(command.owner)
    return tuple(
        replace(command, trouble=f"its name is offered twice, by {' and '.join(twice)}")
        if not command.trouble and len(twice := owners[command.name]) > 1
        else command
        for command in commands
    )


def _judged(command: PluginCommand, ours: Collection[str]) -> PluginCommand:
    """The command with what is wrong with it, seen by itself."""
    keeper = APART.get(command.name, command.distribution)
    if command.name in ours:
        return replace(command, trouble="refclust has a command of that name", foreign=True)
    if keeper != command.distribution:
        return replace(command, trouble=f"the name belongs to {keeper}", foreign=True)
    trouble = ""
    if not _NAME.fullmatch(command.name):
        trouble = "a name is made of words of small letters and digits, joined by '-'"
    elif not _PLACE.fullmatch(command.place):
        trouble = f"its entry point is {command.place!r}, not 'module:attribute'"
    return replace(command, trouble=trouble)


def distributions() -> list[str]:
    """The distributions that have plugins, with their versions; none of them is imported."""
    return sorted(
        f"{headers.get('name', _UNKNOWN)} {headers.get('version', _UNKNOWN)}"
        for folder in _installed()
        if any(line in _PLUGINS for line in _lines(os.path.join(folder, "entry_points.txt")))
        for headers in [_headers(os.path.join(folder, "METADATA"))]
    )


def _read() -> Iterator[PluginCommand]:
    """Every command in the metadata that installers leave on the path, as it stands there."""
    for folder in _installed():
        yield from _commands(folder)


def _installed() -> Iterator[str]:
    """Where installers leave what they know of each distribution on the path."""
    seen: set[str] = set()
    for folder in dict.fromkeys(path or "." for path in sys.path):
        for name in _listed(folder):
            stem, dot, ending = name.rpartition(".")
            key = re.sub(r"[-_.]+", "-", stem.partition("-")[0]).lower()
            if dot and ending == "dist-info" and key not in seen:
                # The first of a name is the one that Python would import.
                seen.add(key)
                yield os.path.join(folder, name)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # the path may name what is not there, or no folder


def _commands(folder: str) -> Iterator[PluginCommand]:
    """The commands of one distribution, with what its metadata say of it."""
    heading = ""
    headers: dict[str, str] = {}
    for line in _lines(os.path.join(folder, "entry_points.txt")):
        if line.startswith("["):
            heading = line
        elif heading == f"[{GROUP}]" and line and not line.startswith("#"):
            headers = headers or _headers(os.path.join(folder, "METADATA"))
            name, _, place = (part.strip() for part in line.partition("="))
            owner = headers.get("name", _UNKNOWN), headers.get("version", _UNKNOWN)
            yield PluginCommand(name, place, *owner, headers.get("summary", ""))


def _headers(path: str) -> dict[str, str]:
    """The headers of a file of metadata, by their names in small letters; the first of each."""
    headers: dict[str, str] = {}
    for line in _lines(path):
        if not line:
            break  # the description follows
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.lower(), value.strip())
    return headers


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            return [line.strip() for line in file]
    except OSError:
        return []
