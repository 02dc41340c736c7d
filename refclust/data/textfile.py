"""Text files as blocks of whole lines: UTF-8, maybe packed, with clear errors (no chapter).

A block is read, checked and decoded at once, which is what makes a million lines cheap; a byte
that is not text is still reported with its line and its offset.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Final

from refclust.errors import FileNotReadable, NotText, RefclustError
from refclust.escape import for_terminal

STDIN: Final = "-"
_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_FORMATS: Final = (
    (b"\x1f\x8b", "it looks packed by gzip: give it a name that ends in .gz"),
    (b"PK\x03\x04", "it looks like a spreadsheet or a zip archive: save it as CSV"),
    (b"\xff\xfe", "it looks like UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "it looks like UTF-16: save it as UTF-8"),
    (b"PAR1", "it looks like Parquet: save it as CSV"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a file; ``line`` is the number of the first, counted from 1."""

    line: int
    text: str


def display_name(path: str) -> str:
    """Return what messages call a file.

    >>> display_name("-"), display_name("a.csv")
    ('standard input', 'a.csv')
    """
    return "standard input" if path == STDIN else for_terminal(path)


def suffix(path: str) -> str:
    """Return the ending of a file name in lower case, ``.gz`` left out.

    >>> suffix("a/B.CSV.gz"), suffix("labels")
    ('.csv', '')
    """
    name = PurePath(path)
    return PurePath(name.stem if name.suffix.lower() == ".gz" else name.name).suffix.lower()


def blocks(path: str) -> Iterator[Block]:
    """Yield a text file in blocks of whole lines.

    Raises ``file-not-found`` where it cannot be opened, ``not-text`` where it is no UTF-8 text.

    Spec: none (text)
    """
    name = display_name(path)
    try:
        with _opened(path) as stream:
            yield from _decoded(name, stream)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NotText(f"{name} ends in .gz but cannot be unpacked: {error}") from None
    except RefclustError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileNotReadable(f"cannot read {name}: {reason.lower()}") from None


def read_text(path: str) -> str:
    """Return a whole text file.

    Raises ``file-not-found`` where it cannot be opened, ``not-text`` where it is no UTF-8 text.
    """
    return "".join(block.text for block in blocks(path))


def _opened(path: str) -> AbstractContextManager[IO[bytes] | gzip.GzipFile]:
    if path == STDIN:
        if sys.stdin is None:
            raise FileNotReadable("cannot read standard input: it is closed")
        return nullcontext(sys.stdin.buffer)  # not ours to close
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    return open(path, "rb")


def _decoded(name: str, stream: IO[bytes] | gzip.GzipFile) -> Iterator[Block]:
    line, offset, start = 1, 0, b""
    while raw := stream.read(_BLOCK):
        raw += stream.readline()
        if not offset:
            start = raw[:4]
        skipped = len(_BOM) if not offset and raw.startswith(_BOM) else 0
        try:
            wrong = raw.find(0)  # no text holds this byte, though UTF-8 allows it
            text = raw[skipped:].decode("utf-8")
        except UnicodeDecodeError as error:
            at = skipped + error.start
            wrong = at if wrong < 0 else min(wrong, at)
        if wrong >= 0:
            raise NotText(
                f"{name}:{line + raw.count(10, 0, wrong)}: the byte 0x{raw[wrong]:02x} at offset "
                f"{offset + wrong} is not UTF-8 text{_guess(start)}"
            )
        yield Block(line, text)
        offset += len(raw)
        line += raw.count(10)


def _guess(start: bytes) -> str:
    for magic, advice in _FORMATS:
        if start.startswith(magic):
            return f"; {advice}"
    return ""
