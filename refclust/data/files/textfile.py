"""Text files as blocks of whole lines: UTF-8 or turned into it, maybe packed, with clear errors.

A block is read, checked and decoded at once, which is what makes a million lines cheap; a byte
that is not text is still reported with its line and its offset.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Final

from refclust.data.files.encoding import as_utf8, known_encoding
from refclust.data.files.packing import MAGIC, by_ending, by_magic, without_ending
from refclust.data.files.source import (
    STDIN,
    comes_once,
    display_name,
    finish,
    is_packed,
    keeping,
    packing_of,
    size_of,
    unpacked,
)
from refclust.errors import FileNotReadable, NotText, RefclustError
from refclust.limits import beyond, limit, within
from refclust.notes import reading

__all__ = [
    "STDIN",
    "Block",
    "blocks",
    "check_json",
    "display_name",
    "line_lists",
    "read_text",
    "suffix",
]

_BLOCK = 1 << 20
_LINE = 256  # bytes that a row or a document takes with its id and its label, at the least
# Bytes that a short value, a list and an object of JSON take, with the pointer to them.
_VALUE, _LIST, _OBJECT = 60, 72, 240
_BOM = b"\xef\xbb\xbf"
_ENCODINGS: Final[ContextVar[Mapping[str, str] | None]] = ContextVar("encodings", default=None)
_FORMATS: Final = (
    (
        b"PK\x03\x04",
        "it looks like a spreadsheet or a zip archive: save it as CSV, or give it "
        "its own ending, such as .xlsx, which the distribution refclust-arrow reads",
    ),
    (b"\xff\xfe\x00\x00", "it looks like UTF-32: save it as UTF-8"),
    (b"\xff\xfe", "it looks like UTF-16 and is damaged"),
    (
        b"PAR1",
        "it looks like Parquet: give it the ending .parquet, which the distribution "
        "refclust-arrow reads",
    ),
)


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a file; ``line`` is the number of the first, counted from 1."""

    line: int
    text: str


def suffix(path: str) -> str:
    """Return the ending of a file name in lower case, that of a packing left out.

    >>> suffix("a/B.CSV.gz"), suffix("labels")
    ('.csv', '')
    """
    return PurePath(without_ending(PurePath(path).name)).suffix.lower()


@contextmanager
def written_in(encoding: str | None, paths: Iterable[str]) -> Iterator[None]:
    """Take some files for texts of an encoding as long as this lasts, unless a mark says other.

    Spec: DATA-ENCODING
    """
    if encoding is None:
        yield
        return
    known = dict.fromkeys(paths, known_encoding(encoding))
    token = _ENCODINGS.set({**(_ENCODINGS.get() or {}), **known})
    try:
        yield
    finally:
        _ENCODINGS.reset(token)


def encoding_of(path: str) -> str | None:
    """The encoding that a file was said to be written in, if it was.

    Spec: DATA-ENCODING
    """
    return (_ENCODINGS.get() or {}).get(path)


def blocks(path: str, longest: str = "line") -> Iterator[Block]:
    """Yield a text file in blocks of whole lines; ``longest`` names the limit of a line.

    Raises ``file-not-found`` where it cannot be opened, ``not-text`` where it is no text of its
    encoding, ``too-large`` where a line has no end.

    Spec: DATA-LIMIT, DATA-ENCODING
    """
    encoding = encoding_of(path)
    name = display_name(path)
    # A document is read as fast as it is counted, and held to a limit of its own.
    endless = longest == "line" and (comes_once(path) or is_packed(path))  # or may be
    with readable(path, NotText), ExitStack() as kept, unpacked(path) as stream:
        if endless:
            kept.enter_context(keeping(path, afterwards=True))
        kept.callback(reading, name, None)
        size = None if is_packed(path) else size_of(path)
        done = 0
        for block in _decoded(name, as_utf8(stream, name, encoding), longest):
            # What is wrong in the first block is told at once; short sources are never counted.
            if endless and block.line > 1:
                _count_lines(path, name, encoding)
                endless = False
            done += len(block.text)  # near enough to the bytes that they were
            reading(name, done if size is None else min(stream.tell(), size), size)
            yield block
    finish(path)


def line_lists(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a text file many at a time, without their ends: LF, CRLF or CR.

    The number of the first of them, counted from 1, stands beside them.

    Spec: DATA-SPARSE-FILES, DATA-LINES
    """
    bare = 0
    for block in blocks(path):
        text, first = block.text, block.line + bare
        if "\r" in text:
            bare += _bare(text)
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()  # the end of the last line, not a line
        yield first, lines


@contextmanager
def readable(path: str, damaged: type[RefclustError]) -> Iterator[None]:
    """Tell what goes wrong while a source is read; ``damaged`` is the error of bad packing."""
    name = display_name(path)
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        packing = packing_of(path)
        named = by_ending(path) is not None
        how = "looks packed"
        if packing is not None:
            how = f"ends in {packing.ending}" if named else f"looks packed by {packing.name}"
        raise damaged(f"{name} {how} but cannot be unpacked: {error}") from None
    except RefclustError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileNotReadable(f"cannot read {name}: {reason.lower()}") from None


def read_text(path: str) -> str:
    """Return a whole text file.

    Raises ``file-not-found`` where it cannot be opened, ``not-text`` where it is no UTF-8 text,
    ``too-large`` where it has no end.

    Spec: DATA-LIMIT
    """
    parts: list[str] = []
    left = limit("document")
    for block in blocks(path, "document"):
        left -= len(block.text)
        if left < 0:
            raise beyond("document", f"{display_name(path)} goes on")
        parts.append(block.text)
    return "".join(parts)


def check_json(text: str, name: str) -> None:
    """Refuse a JSON text whose values would take more memory than is allowed.

    Spec: DATA-LIMIT
    """
    needed = _VALUE * text.count(",") + _LIST * text.count("[") + _OBJECT * text.count("{")
    within("memory", needed, f"{name}: what its brackets and commas announce")


def _decoded(name: str, stream: IO[bytes], longest: str) -> Iterator[Block]:
    line, offset, start = 1, 0, b""
    most = limit(longest)
    size = min(_BLOCK, most)  # so only the last line of a block may be too long
    while raw := stream.read(size):
        wrong = raw.find(0)  # no text holds this byte, though UTF-8 allows it
        if wrong < 0:
            raw += stream.readline(most + 1)
            if len(raw) > most and len(raw) - raw.rfind(b"\n", 0, size) - 1 > most:
                last = line + raw.count(10, 0, size)
                hint = " (lines end with LF; this file may end them with CR)" * (b"\r" in raw)
                raise beyond(longest, f"{name}:{last}: the line goes on{hint}")
            wrong = raw.find(0, size)
        if not offset:
            start = raw[:MAGIC]
        skipped = len(_BOM) if not offset and raw.startswith(_BOM) else 0
        try:
            text = raw[skipped:].decode("utf-8")
        except UnicodeDecodeError as error:
            at = skipped + error.start
            wrong = at if wrong < 0 else min(wrong, at)
        if wrong >= 0:
            raise NotText(
                f"{name}:{line + raw.count(10, 0, wrong)}: the byte 0x{raw[wrong]:02x} at offset "
                f"{offset + wrong} is not UTF-8 text{_guess(start, raw[wrong])}"
            )
        yield Block(line, text)
        offset += len(raw)
        line += raw.count(10)


def _bare(text: str) -> int:
    """How many lines end with CR alone."""
    return text.count("\r") - text.count("\r\n") if "\r" in text else 0


def _count_lines(path: str, name: str, encoding: str | None) -> None:
    """Refuse lines without end before they are understood, which takes far longer than to count.

    Bad packing ends the count: whoever reads so far tells it.

    Spec: DATA-LIMIT
    """
    most, count, before = limit("memory") // _LINE, 0, b""
    ends = (gzip.BadGzipFile, EOFError, zlib.error, NotText)
    with unpacked(path) as stream, suppress(*ends):
        text = as_utf8(stream, name, encoding)
        while chunk := text.read(_BLOCK):
            # CRLF is one end of a line, also where a chunk ends between both.
            count += chunk.count(b"\n") + chunk.count(b"\r") - (before + chunk).count(b"\r\n")
            before = chunk[-1:]
            if count >= most:
                within("memory", _LINE * (count + 1), f"{name}, of {count + 1:,} lines and more,")
            if 0 in chunk:
                return  # no text


def _guess(start: bytes, wrong: int) -> str:
    packing = by_magic(start)
    if packing is not None:
        return f"; it looks packed by {packing.name}: give it a name that ends in {packing.ending}"
    for magic, advice in _FORMATS:
        if start.startswith(magic):
            return f"; {advice}"
    if wrong >= 0x80:
        return "; a table from Windows or Excel is often cp1252: --encoding cp1252"
    return ""
