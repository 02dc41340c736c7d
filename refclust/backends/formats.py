"""The formats there are: the readers of refclust and those that plugins add, each under guard.

A plugin adds readers with the hook ``refclust_register_readers``. One that cannot be loaded, or
whose reader is malformed or takes a name that is taken, becomes a record with its reason and harms
nobody who did not ask for it by name. No ending of ours can be taken over.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack

import pluggy

from refclust.backends import hookspecs
from refclust.backends.discovery import DISABLE_VARIABLE, discover
from refclust.data.dataset import Dataset
from refclust.data.readers import formats
from refclust.data.readers.formats import Options, Plan, Reader
from refclust.data.text import TextOptions
from refclust.data.textfile import display_name
from refclust.errors import BackendFailure, BackendRefused, BadOption, RefclustError
from refclust.version import __version__


class ReadArguments(TypedDict, total=False):
    """What a reader may be told, for type checkers; ``Options`` explains it."""

    delimiter: str | None
    header: bool | None
    id_column: str | None
    label_column: str | None
    weight_column: str | None
    columns: tuple[str, ...] | None
    base: int | None
    array: str | None
    text: TextOptions | None
    text_column: str | None


@dataclass(frozen=True, slots=True)
class Format:
    """One format, or one plugin that could not give any."""

    name: str
    distribution: str
    version: str
    state: Literal["ready", "failed", "refused"]
    reason: str
    reader: Reader | None


def known() -> tuple[Format, ...]:
    """Return the formats of refclust and all that installed plugins offer, broken ones included."""
    discover()  # refuses a switch that is neither on nor off
    return _known(os.environ.get(DISABLE_VARIABLE, "").lower() in ("1", "true", "yes"))


def readers() -> tuple[Reader, ...]:
    """Return the readers that can be used, those of refclust first.

    >>> readers()[0].name
    'csv'
    """
    return tuple(one.reader for one in known() if one.reader is not None)


def choose(path: str, name: str | None = None) -> Reader:
    """Return the reader of that name, or else the one that fits the file."""
    for one in known() if name is not None else ():
        if one.name == name and one.reader is None:
            raise BackendRefused(
                f"the format {name!r} of {one.distribution} {one.version} cannot be used: "
                f"{one.reason}"
            )
    return formats.choose(path, name, readers())


def read(path: str, name: str | None = None, **options: Unpack[ReadArguments]) -> Dataset:
    """Read a data set from a file, a folder or standard input (``-``); options as ``Options``.

    Spec: DATA-READ
    """
    try:
        given = Options(**options)
    except TypeError as error:
        told = str(error).rpartition("argument ")[2]
        allowed = ", ".join(ReadArguments.__annotations__)
        raise BadOption(f"no way of reading is called {told}; allowed are {allowed}") from None
    return choose(path, name).read(path, given)


@functools.lru_cache(maxsize=4)
def _known(disabled: bool) -> tuple[Format, ...]:
    found = [
        Format(reader.name, "refclust", __version__, "ready", "", reader)
        for reader in formats.builtin()
    ]
    if not disabled:
        entries = importlib.metadata.entry_points(group=hookspecs.PROJECT)
        for entry in sorted(entries, key=lambda one: (one.name, one.value)):
            found += _load(entry, found)
    return tuple(found)


def _load(entry: importlib.metadata.EntryPoint, before: Iterable[Format]) -> list[Format]:
    """Load the readers of one plugin; whatever it raises becomes its record."""
    owner = entry.dist.name if entry.dist else "unknown"
    version = entry.dist.version if entry.dist else "unknown"
    try:
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        manager.register(entry.load(), name=entry.name)
        manager.check_pending()
        offered = [one for group in manager.hook.refclust_register_readers() for one in group]
    except Exception as error:
        # Guarded on purpose: a plugin may fail in any way, and only those who ask for it may know.
        reason = f"{type(error).__name__}: {error}"
        return [Format(entry.name, owner, version, "failed", reason, None)]
    found: list[Format] = []
    for reader in offered:
        taken = [one for one in (*before, *found) if one.reader is not None]
        reason = _objection(reader, taken)
        if reason:
            name = str(getattr(reader, "name", entry.name))
            found.append(Format(name, owner, version, "refused", reason, None))
        else:
            guarded = _guarded(reader, f"{owner} {version}")
            found.append(Format(reader.name, owner, version, "ready", "", guarded))
    return found


def _objection(reader: Any, taken: Iterable[Format]) -> str:
    if not isinstance(reader, Reader):
        return f"it is a {type(reader).__name__}, not a Reader"
    for one in taken:
        assert one.reader is not None
        owner = f"{one.name} of {one.distribution}"
        if reader.name == one.name:
            return f"its name is taken by {owner}"
        both = sorted(set(reader.suffixes) & set(one.reader.suffixes))
        if both:
            return f"the ending {both[0]} is taken by {owner}"
    return ""


def _guarded(reader: Reader, owner: str) -> Reader:
    """The same reader; its surprises are told as its own, its sniffing never stops others."""

    def trouble(path: str, error: object) -> BackendFailure:
        return BackendFailure(
            f"the reader {reader.name!r} ({owner}) failed on {display_name(path)}: {error}"
        )

    def called(function: Any, path: str, options: Options, kind: type) -> Any:
        try:
            answer = function(path, options)
        except RefclustError:
            raise
        except Exception as error:
            raise trouble(path, f"{type(error).__name__}: {error}") from error
        if not isinstance(answer, kind):
            raise trouble(path, f"it returned a {type(answer).__name__}, not a {kind.__name__}")
        return answer

    def sniff(path: str) -> float:
        try:
            score = float(reader.sniff(path))
        except Exception:
            return 0.0  # nobody asked for it by name, so its trouble is not the user's
        return score if 0.0 <= score <= 1.0 else 0.0

    return replace(
        reader,
        read=lambda path, options: called(reader.read, path, options, Dataset),
        sniff=sniff,
        plan=lambda path, options: called(reader.plan, path, options, Plan),
    )
