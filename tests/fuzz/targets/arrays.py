"""Documents of NumPy's formats, made of bytes: ``.npy`` and archives of them."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from typing import Any, Final

from tests.fuzz.cases import Draw, Target
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.numerals import hostile, odd
from tests.fuzz.targets.reading import Document, reader_target

_CODES: Final = {
    "f8": "d", "f4": "f", "f2": "e", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i",
    "u4": "I", "i8": "q", "u8": "Q",
}  # fmt: skip
_DESCRS: Final = (
    "<f16",
    "|O",
    "<U3",
    "|S2",
    "<c16",
    "|b1",
    "<M8[s]",
    "<f3",
    "f8",
    "",
    "|V8",
    "<i0",
)
_SHAPES: Final = (
    "()", "(3,)", "(0, 0)", "(1, 0)", "(-1, 2)", "(2, 2, 2)", "(99999999999, 99999999999)",
    "(True, 2)", "(2.0, 2)", "[2, 2]", "(2, 2", "'2'", "(1, 9223372036854775807)", "None",
    "(10**9, 10**9)", "(4294967296, 4294967296)",
)  # fmt: skip


def npy(draw: Draw, rows: list[list[Any]], descr: str, *, flat: bool = False) -> bytes:
    """An array as NumPy writes it; ``flat`` makes it one-dimensional."""
    fortran = draw.chance(0.3)
    n, d = len(rows), len(rows[0]) if rows else 0
    shape = f"({n * d},)" if flat else f"({n}, {d})"
    return _assembled(descr, str(fortran), shape, _data(rows, descr, fortran), 1)


def _data(rows: list[list[Any]], descr: str, fortran: bool) -> bytes:
    columns = list(zip(*rows, strict=True)) if fortran else rows
    values = [value for row in columns for value in row]
    order = ">" if descr[0] == ">" else "<"
    return struct.pack(f"{order}{len(values)}{_CODES[descr[1:]]}", *values)


def _assembled(descr: str, fortran: str, shape: str, data: bytes, version: int) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    width = 2 if version == 1 else 4
    size = -(len(text) + 9 + width) % 64
    head = (text + " " * size + "\n").encode("utf-8", "surrogatepass")
    return b"\x93NUMPY" + bytes([version, 0]) + len(head).to_bytes(width, "little") + head + data


def _numbers(draw: Draw, kind: str) -> list[list[Any]]:
    n, d = draw.upto(6, 1), draw.upto(4, 1)
    if kind[0] == "f":
        return [[float(draw.upto(64, -64)) / 4 for _ in range(d)] for _ in range(n)]
    return [[draw.upto(99) for _ in range(d)] for _ in range(n)]


def _descr(draw: Draw) -> str:
    kind = draw.pick(("f8", "f8", "f8", *_CODES))
    return ("|" if kind[1] == "1" else draw.pick("<<>")) + kind


def _npy(draw: Draw, changes: int) -> Document:
    descr = _descr(draw)
    rows = _numbers(draw, descr[1:])
    if not changes:
        return Document(npy(draw, rows, descr), {}, {"rows": rows})
    fortran, version = str(draw.chance(0.3)), draw.pick((1, 1, 2, 3))
    shape = f"({len(rows)}, {len(rows[0])})"
    data = _data(rows, descr, fortran == "True")
    for _ in range(changes):
        match draw.upto(7):
            case 0:
                descr = draw.pick((*_DESCRS, odd(draw), _descr(draw)))
            case 1:
                shape = draw.pick((*_SHAPES, f"({len(rows[0])}, {len(rows)})"))
            case 2:
                fortran = draw.pick(("True", "False", "1", "None", "'True'", "-False"))
            case 3:
                version = draw.pick((0, 1, 2, 3, 4, 255))
            case 4:
                data = data[: draw.upto(len(data))]
            case 5:
                data += bytes(draw.upto(20, 1))
            case 6:
                data = data[:-8] + struct.pack("<d", draw.pick((float("nan"), float("inf"), -0.0)))
            case _:
                shape = f"({hostile(draw)[:60]}, {len(rows[0])})"
    return Document(_assembled(descr, fortran, shape, data, version), {})


def _npz(draw: Draw, changes: int) -> Document:
    if draw.chance(0.4):
        rows, arrays = _sparse(draw, changes)
        expected: Any = None if changes else {"rows": rows}
        options: dict[str, Any] = {}
    else:
        descr = _descr(draw)
        dense = _numbers(draw, descr[1:])
        arrays = {"X": npy(draw, dense, descr)}
        if draw.chance(0.5):
            arrays["y"] = npy(draw, [[1.0] * len(dense)], "<f8", flat=True)
        options = {"array": "X"} if draw.chance(0.5) else {}
        expected = None if changes else {"rows": dense}
    entries = [(f"{name}.npy", content) for name, content in arrays.items()]
    for _ in range(changes):
        at = draw.upto(len(entries) - 1) if entries else 0
        match draw.upto(4):
            case 0 if entries:
                entries[at] = (entries[at][0], changed_bytes(draw, entries[at][1]))
            case 1 if entries:
                entries[at] = (draw.pick(("", "a/b.npy", odd(draw), "X.txt")), entries[at][1])
            case 2 if entries:
                entries.append(entries[at])
            case 3 if entries:
                del entries[at]
            case _:
                entries.append((f"{odd(draw)}.npy", _npy(draw, draw.upto(1)).content))
    method = draw.pick((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED))
    if expected is None or not draw.chance(0.04):
        method = zipfile.ZIP_BZIP2 if expected is None and draw.chance(0.02) else method
        return Document(_zipped(entries, method), options, expected)
    # A sound archive in a packing that has no bound: it is refused as such, whatever is in it.
    unbound = draw.pick((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    return Document(_zipped(entries, unbound), options, code="bad-file")


def _sparse(draw: Draw, changes: int) -> tuple[list[dict[str, float]], dict[str, bytes]]:
    """The parts of a sparse matrix, by rows or by single entries."""
    n, d = draw.upto(6, 1), draw.upto(5, 1)
    rows = [{j: float(draw.upto(9, 1)) for j in range(d) if draw.chance(0.5)} for _ in range(n)]
    entries = [(i, j, x) for i, row in enumerate(rows) for j, x in row.items()]
    starts = [sum(map(len, rows[:i])) for i in range(n + 1)]
    shape = [n, d]
    numbers: dict[str, list[Any]] = {"data": [x for _, _, x in entries]}
    layout = draw.pick((b"csr", b"coo"))
    if layout == b"csr":
        numbers |= {"indices": [j for _, j, _ in entries], "indptr": starts}
    else:
        numbers |= {"row": [i for i, _, _ in entries], "col": [j for _, j, _ in entries]}
    for _ in range(changes):
        part = draw.pick((*numbers.values(), shape))
        if part:
            odd_one = (-1, 0, 10**6, 2**31 - 1, 2**40, 2**62)
            part[draw.upto(len(part) - 1)] = draw.pick(odd_one)
    kinds = {"data": "<f8"} | dict.fromkeys(("indices", "indptr", "row", "col"), "<i8")
    arrays = {
        name: npy(draw, [values], kinds[name], flat=True) if values else _empty(kinds[name])
        for name, values in numbers.items()
    }
    name = (
        layout if not changes or draw.chance(0.9) else draw.pick((b"csc", b"bsr", b"dia", b"xyz"))
    )
    arrays["format"] = _assembled("|S3", "False", "()", name, 1)
    arrays["shape"] = npy(draw, [shape], "<i8", flat=True)
    return [{str(j): x for j, x in row.items()} for row in rows], arrays


def _empty(descr: str) -> bytes:
    return _assembled(descr, "False", "(0,)", b"", 1)


def _zipped(entries: list[tuple[str, bytes]], method: int) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", method) as archive:
        warnings.simplefilter("ignore", UserWarning)  # the same name twice is meant
        for name, content in entries:
            clean = name.encode("utf-8", "ignore").decode()
            archive.writestr(zipfile.ZipInfo(clean or "x"), content, method)
    return stream.getvalue()


TARGETS: Final[tuple[Target, ...]] = (
    reader_target("npy", ".npy", _npy),
    reader_target("npz", ".npz", _npz, 80),
)
