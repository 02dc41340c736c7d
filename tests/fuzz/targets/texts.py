"""Documents of the textual formats: CSV, TSV, JSON Lines, one text a line, folders of texts."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.fuzz.cases import Draw, Target
from tests.fuzz.mutations import Lines, changed_bytes, changed_lines
from tests.fuzz.numerals import decimal, odd, whole, word
from tests.fuzz.targets.reading import Document, reader_target, text_options
from tests.fuzz.trees import changed, dumped

_ENDS: Final = ("\n", "\n", "\n", "\r\n", "\r")
_SEPARATORS: Final = (" ", " ", " ", ", ", ". ", "-", "\u00a0", "\t", "…", " — ")


def joined(draw: Draw, lines: Lines, sign: str, ends: tuple[str, ...] = _ENDS) -> bytes:
    """A table as text, with one kind of line end, maybe without the last one."""
    end = draw.pick(ends)
    text = end.join(map(sign.join, lines)) + ("" if draw.chance(0.1) else end)
    text = text.removeprefix("\ufeff")  # there it would be a mark of the encoding
    return text.encode("utf-8", "surrogatepass")


def after_changes(draw: Draw, lines: Lines, changes: int) -> Lines:
    """A table after so many changes."""
    for _ in range(changes):
        lines = changed_lines(draw, lines)
    return lines


def _delimited(signs: tuple[str, ...]) -> Any:
    def generate(draw: Draw, changes: int) -> Document:
        n, d = draw.upto(8, 1), draw.upto(4, 1)
        sign = draw.pick(signs)
        rows = [[decimal(draw) for _ in range(d)] for _ in range(n)]
        names = [f"x{j}" for j in range(d)]
        options: dict[str, Any] = {}
        lines = [list(row) for row in rows]
        header = draw.chance(0.6)
        # An empty label would be left of a lone mark of the encoding at the very beginning.
        for role, make in (("id", _identity), ("label", _class), ("weight", whole)):
            if draw.chance(0.25):
                at = draw.upto(len(names))
                names.insert(at, role)
                for i, line in enumerate(lines):
                    line.insert(at, make(draw) if role != "weight" else str(i + 1))
        for role in ("id", "label", "weight"):
            if role in names:
                options[f"{role}_column"] = role if header else str(names.index(role) + 1)
        if header:
            lines.insert(0, names)
        if draw.chance(0.5) or len(names) == 1 or not header or sign != signs[0]:
            options |= {"header": header, "delimiter": sign}
        lines = [[_quoted(draw, cell, sign) for cell in line] for line in lines]
        if sign == " ":  # only bare blanks stand between numbers
            lines = [[cell.replace(" ", "_") or "0" for cell in line] for line in lines]
        content = joined(draw, after_changes(draw, lines, changes), sign)
        return Document(content, options, None if changes else {"rows": rows})

    return generate


def _class(draw: Draw) -> str:
    name = word(draw)
    return "bom" if name == "\ufeff" else name


def _identity(draw: Draw) -> str:
    return f"{word(draw)}{draw.upto(10**6)}"


def _quoted(draw: Draw, cell: str, sign: str) -> str:
    if sign in cell or draw.chance(0.05):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _jsonl(draw: Draw, changes: int) -> Document:
    n, d = draw.upto(8, 1), draw.upto(4, 1)
    if draw.chance(0.4):
        rows: list[Any] = [[float(decimal(draw)) for _ in range(d)] for _ in range(n)]
        options: dict[str, Any] = {}
        expected: Any = {"rows": rows}
    else:
        texts = draw.chance(0.3)
        rows = [_object(draw, i, texts) for i in range(n)]
        roles = ("id", "label", "weight", *(("text",) if texts else ()))
        options = {f"{role}_column": role for role in roles}
        if texts:
            options["text"] = text_options(draw)
            for row in rows:
                row["text"] = _sentence(draw)
        expected = None
    for _ in range(changes):
        found = changed(draw, rows)
        rows = found if isinstance(found, list) else [found]
    lines = [dumped(draw, row).replace(b"\n", b"") for row in rows]
    content = draw.pick((b"\n", b"\n", b"\r\n")).join(lines) + b"\n"
    return Document(content, options, None if changes else expected)


def _object(draw: Draw, i: int, texts: bool) -> dict[str, Any]:
    names = [f"x{draw.upto(6)}" for _ in range(draw.upto(4))]
    numbers = {} if texts else {name: float(decimal(draw)) for name in names}
    return {"id": str(i), "label": word(draw), "weight": draw.upto(5, 1), **numbers, "x": 1}


def _sentence(draw: Draw) -> str:
    words = [word(draw) for _ in range(draw.upto(8))]
    return "".join(piece for one in words for piece in (one, draw.pick(_SEPARATORS)))


def _lines(draw: Draw, changes: int) -> Document:
    texts = [["word", _sentence(draw).strip("\ufeff\r\n")] for _ in range(draw.upto(8, 1))]
    content = joined(draw, after_changes(draw, texts, changes), " ")
    options = text_options(draw) if draw.chance(0.5) else {}
    expected = None if changes or options else {"rows": [0] * len(texts), "only_count": True}
    return Document(content, {"text": options} if options else {}, expected)


def _folder(draw: Draw, changes: int) -> Document:
    deep = draw.chance(0.6)
    files: dict[str, bytes] = {}
    for i in range(draw.upto(5, 1)):
        name = f"{draw.pick(('spam', 'ham'))}/{i}" if deep else f"{i}.txt"
        files[f"data/{name}"] = f"word {_sentence(draw)}\n{_sentence(draw)}".encode()
    options: dict[str, Any] = {"label_column": "folder"} if deep and draw.chance(0.5) else {}
    if draw.chance(0.4):
        options["text"] = text_options(draw)
    expected = None if changes or options else {"rows": [0] * len(files), "only_count": True}
    for _ in range(changes):
        name = draw.pick(tuple(files))
        match draw.upto(3):
            case 0:
                files[name] = changed_bytes(draw, files[name])
            case 1:
                files[f"data/{_file_name(draw)}"] = files[name]
            case 2:
                files[f"data/deep/{_file_name(draw)}/{_file_name(draw)}"] = files.pop(name)
            case _:
                files[f"{name}.gz"] = files[name]
    return Document(b"", options, expected, files)


def _file_name(draw: Draw) -> str:
    name = odd(draw).replace("/", "").replace("\x00", "").strip(".")[:50]
    return (name or "x").encode("utf-8", "ignore").decode()


def json_text(draw: Draw, tree: Any) -> bytes:
    """A tree as JSON text."""
    return dumped(draw, tree) if draw.chance(0.9) else json.dumps(tree).encode("utf-16")


TARGETS: Final[tuple[Target, ...]] = (
    reader_target("csv", ".csv", _delimited((",", ",", ",", ";", "|", "\t", " ")), 120),
    reader_target("tsv", ".tsv", _delimited(("\t",))),
    reader_target("jsonl", ".jsonl", _jsonl),
    reader_target("lines", "", _lines),
    reader_target("folder", "", _folder, 60),
)
