"""Changes of documents: of the cells and lines of a table, and of bytes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Final

from tests.fuzz.cases import Draw
from tests.fuzz.numerals import hostile, odd, word

Lines = list[list[str]]
_PIECES: Final = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06"),
    *(b"\n", b"\r", b"\r\n", b"\t", b" ", b",", b";", b":", b'"', b"'", b"#", b"%", b"-", b"["),
    *(b"nan", b"1e400", b"99999999999999999999", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"),
    *("٣\u2028".encode(), b"\\ud800", b"[" * 3000, b"\x1a", b"\xff\xff\xff\x7f", b"true", b"null"),
)  # fmt: skip


def changed_lines(draw: Draw, lines: Lines) -> Lines:
    """A table after one change of its structure."""
    found = [list(line) for line in lines]
    return draw.pick(_OF_LINES)(draw, found) if found else found


def changed_bytes(draw: Draw, content: bytes, other: bytes = b"") -> bytes:
    """A document after one change of its bytes; ``other`` is spliced in now and then."""
    raw = bytearray(content)
    at = draw.upto(len(raw))
    match draw.upto(7):
        case 0 if raw:
            raw[at - 1] ^= 1 << draw.upto(7)
        case 1 if raw:
            raw[at - 1] = draw.upto(255)
        case 2:
            raw[at:at] = draw.pick(_PIECES)
        case 3:
            del raw[at : at + draw.upto(8, 1)]
        case 4:
            del raw[at:]
        case 5:
            raw[at:at] = raw[at : at + draw.upto(30, 1)]
        case 6:
            raw[at:] = (other or content)[draw.upto(len(other or content)) :]
        case _:
            raw[at : at + 1] = odd(draw).encode("utf-8", "surrogatepass")
    return bytes(raw)


def packed(draw: Draw, content: bytes) -> bytes:
    """A document packed by gzip, now and then in two members, damaged, or of many zeros."""
    if draw.chance(0.002):
        return gzip.compress(
            content + draw.pick((b"0", b" ", b"\n", b"1,")) * (1 << 20), 9, mtime=0
        )
    half = draw.upto(len(content)) if draw.chance(0.1) else len(content)
    whole = gzip.compress(content[:half], 1, mtime=0)
    if half < len(content):
        whole += gzip.compress(content[half:], 1, mtime=0)
    return changed_bytes(draw, whole) if draw.chance(0.25) else whole


def _retype(draw: Draw, lines: Lines) -> Lines:
    line = draw.pick(lines)
    if line:
        make = draw.pick((hostile, hostile, odd, word))
        line[draw.upto(len(line) - 1)] = make(draw)
    return lines


def _drop_cell(draw: Draw, lines: Lines) -> Lines:
    line = draw.pick(lines)
    if line:
        del line[draw.upto(len(line) - 1)]
    return lines


def _add_cell(draw: Draw, lines: Lines) -> Lines:
    line = draw.pick(lines)
    line.insert(draw.upto(len(line)), draw.pick(line) if line and draw.chance(0.7) else odd(draw))
    return lines


def _swap_cells(draw: Draw, lines: Lines) -> Lines:
    one, other = draw.pick(lines), draw.pick(lines)
    if one and other:
        i, j = draw.upto(len(one) - 1), draw.upto(len(other) - 1)
        one[i], other[j] = other[j], one[i]
    return lines


def _drop_line(draw: Draw, lines: Lines) -> Lines:
    del lines[draw.upto(len(lines) - 1)]
    return lines


def _repeat_line(draw: Draw, lines: Lines) -> Lines:
    times = draw.upto(300) if draw.chance(0.02) else 1
    at = draw.upto(len(lines) - 1)
    return lines[:at] + [lines[at]] * times + lines[at:]


def _swap_lines(draw: Draw, lines: Lines) -> Lines:
    i, j = draw.upto(len(lines) - 1), draw.upto(len(lines) - 1)
    lines[i], lines[j] = lines[j], lines[i]
    return lines


def _permute(draw: Draw, lines: Lines) -> Lines:
    draw.shuffle(lines)
    return lines


def _empty_line(draw: Draw, lines: Lines) -> Lines:
    lines.insert(draw.upto(len(lines)), [] if draw.chance(0.5) else [odd(draw)])
    return lines


def _cut(draw: Draw, lines: Lines) -> Lines:
    return lines[: draw.upto(len(lines))]


_OF_LINES: Final[tuple[Callable[[Draw, Lines], Lines], ...]] = (
    *(_retype, _retype, _retype, _drop_cell, _add_cell, _swap_cells, _drop_line, _repeat_line),
    *(_swap_lines, _permute, _empty_line, _cut),
)
