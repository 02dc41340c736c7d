"""Encodings of text files: told by a mark at the beginning or by name, and turned into UTF-8.

Realises DATA-ENCODING. Readers know UTF-8 alone; whatever else a file is written in becomes UTF-8
on the way, character by character, and bytes that are none of its characters are refused.
"""

from __future__ import annotations

import codecs
import io
from typing import IO, Final

from refclust.errors import BadOption, NotText
from refclust.numbers.reading import shown

UTF8: Final = "utf-8"
_BLOCK: Final = 1 << 18
_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# UTF-32 begins as UTF-16 does, with two bytes of zeros behind, which no text has.
_OTHERS: Final = ((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"))


def known_encoding(name: str) -> str:
    """What Python calls an encoding of text; a name that it does not know is refused.

    Spec: DATA-ENCODING

    >>> known_encoding("Latin1"), known_encoding("windows-1252")
    ('iso8859-1', 'cp1252')
    """
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        codec = None
    if codec is None or not getattr(codec, "_is_text_encoding", True) or codec.name == "idna":
        raise BadOption(
            f"no encoding is called {shown(name)}; cp1252, latin-1, utf-16 and utf-8 are some"
        )
    return codec.name


def mark_of(start: bytes) -> tuple[bytes, str] | None:
    """The mark that a text begins with, and the encoding that it tells.

    Spec: DATA-ENCODING

    >>> mark_of("ä".encode("utf-16"))[1] in ("utf-16-le", "utf-16-be"), mark_of(b"a,b")
    (True, None)
    """
    if start.startswith(codecs.BOM_UTF8):
        return codecs.BOM_UTF8, UTF8
    if any(start.startswith(mark) for mark, _ in _OTHERS):
        return None
    return next((pair for pair in _MARKS if start.startswith(pair[0])), None)


def as_utf8(stream: IO[bytes], name: str, encoding: str | None = None) -> IO[bytes]:
    """The same text in UTF-8; ``name`` is what messages call the file.

    A mark decides, else the encoding that is named, else it is UTF-8 already.

    Spec: DATA-ENCODING
    """
    assert isinstance(stream, io.BufferedReader)
    mark = mark_of(stream.peek(4)[:4])
    if mark is not None:
        sign, told = mark
        if told == UTF8:
            return stream
        stream.read(len(sign))
        return io.BufferedReader(_Recoded(stream, name, told, len(sign)), _BLOCK)
    if encoding in (None, UTF8, "utf-8-sig"):
        return stream
    return io.BufferedReader(_Recoded(stream, name, encoding or UTF8), _BLOCK)


class _Recoded(io.RawIOBase):
    """A text of another encoding, as UTF-8."""

    def __init__(self, stream: IO[bytes], name: str, encoding: str, offset: int = 0) -> None:
        self._stream, self._name, self._encoding = stream, name, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._offset = offset  # of the bytes that are taken
        self._line = 1
        self._text = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._text and not self._ended:
            raw = self._stream.read(_BLOCK)
            self._ended = not raw
            self._text = self._decoded(raw)
        piece, self._text = self._text[: len(buffer)], self._text[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def _decoded(self, raw: bytes) -> bytes:
        pending = len(self._decoder.getstate()[0])  # bytes of a character that is not complete
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(self._encoding, "ignore").count("\n")
            place = self._offset - pending + error.start
            raise NotText(
                f"{self._name}:{self._line + before}: the byte 0x{error.object[error.start]:02x} "
                f"at offset {place} is no {self._encoding} text"
            ) from None
        self._offset += len(raw)
        self._line += text.count("\n")
        try:
            return text.encode(UTF8)
        except UnicodeEncodeError:
            raise NotText(f"{self._name}: half of a character, which no text holds") from None
