"""Packed files: which packings there are, what they begin and end with, and how they are undone.

Realises a part of DATA-SOURCE. gzip, bzip2 and xz come with Python; zstd does in newer ones. What
is unpacked is bounded elsewhere: a packed file may unfold without end.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, Final

from refclust.errors import UnknownFormat
from refclust.escape import for_terminal
from refclust.limits import limit

_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Packing:
    """One packing: its name, how names of its files end, and how its content begins."""

    name: str
    ending: str
    magic: bytes
    module: str

    def usable(self) -> bool:
        """Whether this Python has it."""
        try:
            import_module(self.module)
        except ImportError:
            return False
        return True


PACKINGS: Final = (
    Packing("gzip", ".gz", b"\x1f\x8b\x08", "zlib"),
    Packing("bzip2", ".bz2", b"BZh", "bz2"),
    Packing("xz", ".xz", b"\xfd7zXZ\x00", "lzma"),
    Packing("zstd", ".zst", b"\x28\xb5\x2f\xfd", "compression.zstd"),
)
MAGIC: Final = max(len(packing.magic) for packing in PACKINGS)


def by_ending(path: str) -> Packing | None:
    """The packing that the name of a file tells.

    >>> by_ending("a.csv.GZ").name, by_ending("a.csv")
    ('gzip', None)
    """
    name = path.lower()
    return next((each for each in PACKINGS if name.endswith(each.ending)), None)


def by_magic(start: bytes) -> Packing | None:
    """The packing that the first bytes tell.

    >>> by_magic(b"BZh91AY").name, by_magic(b"x,y")
    ('bzip2', None)
    """
    return next((each for each in PACKINGS if start.startswith(each.magic)), None)


def without_ending(name: str) -> str:
    """The name of a file without the ending of its packing.

    >>> without_ending("a.csv.xz"), without_ending("a.csv")
    ('a.csv', 'a.csv')
    """
    packing = by_ending(name)
    return name if packing is None else name[: -len(packing.ending)]


def opened(stream: IO[bytes], packing: Packing) -> io.RawIOBase | gzip.GzipFile:
    """The content of a packed stream; what cannot be unpacked is an ``EOFError``."""
    if packing.name == "gzip":
        return gzip.GzipFile(fileobj=stream, mode="rb")
    try:
        module = import_module(packing.module)
    except ImportError:
        raise EOFError(f"{packing.name} is not part of this Python") from None
    if packing.name == "bzip2":
        return _Content(stream, module.BZ2Decompressor)
    if packing.name == "xz":
        # The file says how much memory unpacking takes; it is held to the limit before.
        most = limit("memory")
        return _Content(stream, lambda: module.LZMADecompressor(module.FORMAT_XZ, memlimit=most))
    return _Content(stream, module.ZstdDecompressor)


def check_packing(path: str) -> None:
    """Refuse a packing that this Python does not have."""
    packing = by_ending(path)
    if packing is not None and not packing.usable():
        raise UnknownFormat(f"{for_terminal(path)}: {packing.name} is not part of this Python")


def packed(path: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks as the name of their file wants them: packed, or as they are.

    Spec: DATA-WRITE
    """
    packing = by_ending(path)
    if packing is None:
        yield from chunks
        return
    module = import_module(packing.module)
    # Without name and time, so that equal content gives equal files.
    packer: Any = {
        "gzip": lambda: module.compressobj(wbits=31),
        "bzip2": lambda: module.BZ2Compressor(),
        "xz": lambda: module.LZMACompressor(),
        "zstd": lambda: module.ZstdCompressor(),
    }[packing.name]()
    for chunk in chunks:
        yield packer.compress(chunk)
    yield packer.flush()


class _Content(io.RawIOBase):
    """What comes out of a packed stream, which may be several packed pieces one after another."""

    def __init__(self, stream: IO[bytes], unpacker: Callable[[], Any]) -> None:
        self._stream, self._unpacker = stream, unpacker
        self._piece = unpacker()
        self._rest = b""
        self._begun = False  # whether the piece under way got any bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            chunk = self._next(len(buffer))
        except (EOFError, MemoryError):
            raise
        except Exception as error:  # each module has an exception of its own
            raise EOFError(str(error)[:1].lower() + str(error)[1:]) from None
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def _next(self, size: int) -> bytes:
        while True:
            if self._piece.eof:
                rest = self._piece.unused_data or self._stream.read(_CHUNK)
                if not rest:
                    return b""
                self._piece, self._rest, self._begun = self._unpacker(), rest, False
            hungry = not self._begun or self._piece.needs_input
            if hungry and not self._rest:
                self._rest = self._stream.read(_CHUNK)
                if not self._rest:
                    raise EOFError("it ends before its content does")
            chunk: bytes = self._piece.decompress(self._rest if hungry else b"", size)
            if hungry:
                self._rest, self._begun = b"", True
            if chunk:
                return chunk
