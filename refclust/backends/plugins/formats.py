"""The formats there are: the readers of refclust and those that plugins add, each under guard.

A plugin adds readers with the hook ``refclust_register_readers``. One that cannot be loaded, or
whose reader is malformed or takes a name that is taken, becomes a record with its reason and harms
nobody who did not ask for it by name. No ending of ours can be taken over.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypedDict, Unpack

from refclust.backends.plugins import loading as plugins
from refclust.backends.plugins.guard import attempt, one_line, shown
from refclust.backends.plugins.loading import Plugin
from refclust.backends.plugins.switch import disabled
from refclust.data.accepting.trust import path_of
from refclust.data.dataset import Dataset
from refclust.data.files.source import as_file, comes_once, display_name
from refclust.data.files.textfile import readable
from refclust.data.preparing.asked import Asked, Constants
from refclust.data.preparing.reading import read_prepared
from refclust.data.preparing.record import Missing, Rule, Unseen
from refclust.data.readers import formats
from refclust.data.readers.formats import HEAD, Options, Plan, QuickReader, Reader
from refclust.data.text import TextOptions
from refclust.data.typed import Frame
from refclust.errors import (
    BackendFailure,
    BackendRefused,
    BadFile,
    BadOption,
    RefclustError,
    UnknownFormat,
)
from refclust.notes import reading, tell, watch
from refclust.version import __version__

_LARGE: Final = 1 << 23  # bytes from which on a quick reader is worth its import
_HASTENED: Final = ("csv", "tsv")
_PREPARING: Final = ("category_weight", "unseen", "missing", "scale", "constants")
_NAME: Final = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


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
    decimal: Literal["point", "comma"] | None
    encoding: str | None
    vocabulary: str | None
    exclude: tuple[str, ...] | None
    categorical: tuple[str, ...] | None
    category_weight: float
    unseen: Unseen
    missing: Missing
    scale: Rule | Literal["none"]
    constants: Constants | None


@dataclass(frozen=True, slots=True)
class Format:
    """One format, or one plugin that could not give any."""

    name: str
    distribution: str
    version: str
    state: Literal["ready", "failed", "refused"]
    reason: str
    reader: Reader | None
    plugin: str = ""


def known() -> tuple[Format, ...]:
    """Return the formats of refclust and all that installed plugins offer, broken ones included."""
    return _known(disabled())


def forget() -> None:
    """Look again when formats are asked for next."""
    _known.cache_clear()
    plugins.forget()


def readers() -> tuple[Reader, ...]:
    """Return the readers that can be used, those of refclust first.

    >>> readers()[0].name
    'csv'
    """
    return tuple(entry.reader for entry in known() if entry.reader is not None)


def choose(path: str, name: str | None = None) -> Reader:
    """Return the reader of that name, or else the one that fits the file."""
    own = formats.builtin()
    if any(name == reader.name for reader in own) or (
        name is None and formats.by_ending(path, own)
    ):
        # No plugin can take these over; one may be quicker.
        return _hastened(formats.choose(path, name, own), path)
    wanted: Any = name  # whatever a caller without types gave
    if wanted is not None and not isinstance(wanted, str):
        raise UnknownFormat(f"the format is {shown(wanted)}; it is named by a text")
    if name is not None:
        _check_usable(name)
    try:
        return formats.choose(path, name, readers())
    except UnknownFormat:
        # Maybe one of those that are left out would have known it.
        for entry in known():
            if entry.reader is None:
                who = f"the plugin {entry.plugin!r} ({entry.distribution} {entry.version})"
                tell(f"{who} is left out: {entry.reason}")
        raise


def _hastened(reader: Reader, path: str) -> Reader:
    """A reader of refclust; of a large file quick readers of plugins are asked first.

    Spec: BK-QUICK
    """
    if disabled() or comes_once(path) or not os.path.isfile(path):
        return reader
    if os.path.getsize(path) < _LARGE or reader.name not in _HASTENED:
        return reader

    def read(path: str, options: Options) -> Dataset:
        reading(display_name(path), 0, os.path.getsize(path))
        watcher = watch(None)  # what is written in a plugin is caught
        try:
            for plugin in plugins.installed():
                offered = plugin.offered("refclust_register_quick_readers", "quick readers").value
                for quick in offered or ():
                    data = _quickly(quick, plugin, reader.name, path, options)
                    if data is not None:
                        return data
        finally:
            watch(watcher)
            reading(display_name(path), None)
        return reader.read(path, options)

    return replace(reader, read=read)


def _quickly(quick: Any, plugin: Plugin, name: str, path: str, options: Options) -> Dataset | None:
    """What a quick reader gives; nothing if it passes or fails, which is told."""
    if not isinstance(quick, QuickReader) or quick.format != name:
        return None
    done = attempt(lambda: quick.read(path, options))
    if done.trouble or not isinstance(done.value, Dataset | None):
        reason = done.trouble or f"it returned a {type(done.value).__name__}"
        tell(f"the quick reader of {plugin.owner} is passed over: {reason}")
        return None
    return done.value


def _check_usable(name: str) -> None:
    named = [entry for entry in known() if name == entry.name]
    named = named or [entry for entry in known() if name == entry.plugin and entry.reader is None]
    if named and all(entry.reader is None for entry in named):
        raise BackendRefused(
            f"the format {name!r} of {named[0].distribution} {named[0].version} cannot be used: "
            f"{named[0].reason}"
        )


def read(
    path: str | os.PathLike[str], name: str | None = None, **options: Unpack[ReadArguments]
) -> Dataset:
    """Read a data set from a file, a folder or standard input (``-``); options as ``Options``.

    Further options prepare the columns of a table, as those of ``refclust.prepare`` do.

    Spec: DATA-READ, PREP-DEFAULT
    """
    given: dict[str, Any] = {**options}
    try:
        named: dict[str, Any] = {name: given.pop(name) for name in _PREPARING if name in given}
        chosen = Options(**given)
    except TypeError as error:
        argument = str(error).rpartition("argument ")[2]
        allowed = ", ".join(ReadArguments.__annotations__)
        raise BadOption(f"no way of reading is called {argument}; allowed are {allowed}") from None
    if "category_weight" in named:
        named["weight"] = named.pop("category_weight")
    source = path_of(path, "the file to read")
    prepared = read_prepared(choose(source, name), source, chosen, Asked(**named))
    for note in prepared.notes:
        tell(note, warning=True)
    return prepared.data


@functools.lru_cache(maxsize=2)
def _known(disabled: bool) -> tuple[Format, ...]:
    entries = [
        Format(reader.name, "refclust", __version__, "ready", "", reader)
        for reader in formats.builtin()
    ]
    for plugin in () if disabled else plugins.installed():
        entries += _offered(plugin, entries)
    return tuple(entries)


def _offered(plugin: Plugin, before: Iterable[Format]) -> list[Format]:
    """The readers of one plugin, or one record of what is wrong with it."""
    owner = (plugin.distribution, plugin.version)
    answer = plugin.offered("refclust_register_readers", "readers")
    if answer.trouble:
        return [Format(plugin.name, *owner, "failed", answer.trouble, None, plugin.name)]
    entries: list[Format] = []
    for reader in answer.value:
        taken = [entry for entry in (*before, *entries) if entry.reader is not None]
        looked = attempt(lambda reader=reader, taken=taken: _objection(reader, taken))  # type: ignore[misc]
        reason = looked.trouble or looked.value
        if reason:
            claimed = getattr(reader, "name", None) if isinstance(reader, Reader) else None
            name = claimed if isinstance(claimed, str) and claimed else plugin.name
            entries.append(Format(name, *owner, "refused", reason, None, plugin.name))
        else:
            guarded = _guarded(reader, plugin.owner)
            entries.append(Format(reader.name, *owner, "ready", "", guarded, plugin.name))
    return entries


def _objection(reader: Any, taken: Iterable[Format]) -> str:
    if not isinstance(reader, Reader):
        return f"it is a {type(reader).__name__}, not a Reader"
    name: Any = reader.name
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        return f"its name is {shown(name)}; a name is a word of small letters and digits"
    suffixes: Any = reader.suffixes
    if not isinstance(suffixes, tuple) or not all(
        isinstance(ending, str) and ending.startswith(".") for ending in suffixes
    ):
        return f"its endings are {shown(suffixes)}, not a tuple of words that begin with a dot"
    due = ("read", "sniff", "plan", *(() if reader.frame is None else ("frame",)))
    for member in due:
        if not callable(getattr(reader, member)):
            return f"its {member} is {shown(getattr(reader, member))}, not a function"
    for entry in taken:
        assert entry.reader is not None
        owner = f"{entry.name} of {entry.distribution}"
        if name == entry.name:
            return f"its name is taken by {owner}"
        both = sorted(set(suffixes) & set(entry.reader.suffixes))
        if both:
            return f"the ending {both[0]} is taken by {owner}"
    return ""


def _guarded(reader: Reader, owner: str) -> Reader:
    """The same reader; its surprises are told as its own, its sniffing never stops others."""

    def called(function: Any, path: str, options: Options, kind: type, *more: Any) -> Any:
        with readable(path, BadFile), as_file(path) as file:
            done = attempt(lambda: function(file, options, *more))
        _tell_printed(reader.name, owner, done.printed)
        if isinstance(done.error, RefclustError):
            if file == path:
                raise done.error
            raise type(done.error)(str(done.error).replace(file, display_name(path)))
        trouble = done.trouble
        if not trouble and not isinstance(done.value, kind):
            trouble = f"it returned a {type(done.value).__name__}, not a {kind.__name__}"
        if trouble:
            message = (
                f"the reader {reader.name!r} ({owner}) failed on {display_name(path)}: {trouble}"
            )
            raise BackendFailure(message) from done.error
        return done.value

    def sniff(path: str) -> float:
        try:
            with as_file(path, HEAD) as file:
                done = attempt(lambda: float(reader.sniff(file)))
        except OSError:
            return 0.0  # reading will tell
        _tell_printed(reader.name, owner, done.printed)
        # Nobody asked for it by name, so its trouble is not the user's.
        return done.value if not done.trouble and 0.0 <= done.value <= 1.0 else 0.0

    return replace(
        reader,
        read=lambda path, options: called(reader.read, path, options, Dataset),
        sniff=sniff,
        plan=lambda path, options: called(reader.plan, path, options, Plan),
        frame=None
        if reader.frame is None
        else lambda path, options, rows: called(reader.frame, path, options, Frame, rows),
    )


def _tell_printed(name: str, owner: str, printed: str) -> None:
    if printed:
        tell(f"the reader {name!r} ({owner}) printed: {one_line(printed)}")
