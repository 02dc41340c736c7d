"""Tables of other places: decimal commas and encodings, ARFF, columns of texts, vocabularies."""

from __future__ import annotations

from typing import Any, Final

from tests.fuzz.cases import Draw, Target
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.numerals import decimal, odd, whole, word
from tests.fuzz.targets.reading import Document, reader_target
from tests.fuzz.targets.texts import after_changes, joined

_ENCODINGS: Final = ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1252", "utf-8")
_QUOTES: Final = ("'", '"')


def _commas(draw: Draw, changes: int) -> Document:
    """Semicolons and decimal commas, in any encoding, maybe with a line that names the sign."""
    n, d = draw.upto(6, 1), draw.upto(4, 2)
    rows = [[decimal(draw) for _ in range(d)] for _ in range(n)]
    # A cell that can be nothing else settles what a comma is.
    rows[0][0] = f"{draw.upto(99)}.{draw.upto(9)}"
    lines = [[cell.replace(".", ",") for cell in row] for row in rows]
    header = draw.chance(0.7)
    if header:
        lines.insert(0, [f"größe {j}" for j in range(d)])
    encoding = draw.pick(_ENCODINGS)
    text = joined(draw, after_changes(draw, lines, changes), ";", ("\n", "\r\n")).decode(
        "utf-8", "replace"
    )
    if draw.chance(0.15):
        text = f"sep=;\n{text}"
    options: dict[str, Any] = {"header": header} if draw.chance(0.5) else {}
    if encoding not in ("utf-16", "utf-8-sig", "utf-8"):
        options["encoding"] = encoding
    content = text.encode(encoding, "replace" if encoding == "cp1252" else "surrogatepass")
    return Document(content, options, None if changes else {"rows": rows})


def _arff(draw: Draw, changes: int) -> Document:
    n, d = draw.upto(6, 1), draw.upto(4, 1)
    rows = [[decimal(draw) for _ in range(d)] for _ in range(n)]
    head = [["@relation", _name(draw)]]
    head += [["@attribute", f"x{j}", draw.pick(("numeric", "REAL", "Integer"))] for j in range(d)]
    labelled = draw.chance(0.4)
    lines: list[list[str]] = []
    for row in rows:
        sparse = draw.chance(0.3)
        cells = [f"{j} {cell}" if sparse else cell for j, cell in enumerate(row)]
        if labelled:
            cells.append(f"{d} 'b c'" if sparse else draw.pick(("a", "'b c'", '"b c"')))
        lines.append(["{" + ", ".join(cells) + "}" if sparse else ",".join(cells)])
    if labelled:
        head.append(["@attribute", "kind", "{a, 'b c'}"])
    table = after_changes(
        draw, [*head, ["% odd", odd(draw).replace("\0", "")], ["@DATA"], *lines], changes
    )
    content = joined(draw, table, " ")
    options = {"label_column": "kind"} if labelled else {}
    # A comment may hold what ends a line.
    clean = not changes and content.count(b"% odd") == 1 and b"\r" not in content
    return Document(content, options, {"rows": rows} if clean and _one_line(table) else None)


def _one_line(table: list[list[str]]) -> bool:
    return all(len(" ".join(line).splitlines()) <= 1 for line in table)


def _name(draw: Draw) -> str:
    sign = draw.pick(_QUOTES)
    return sign + word(draw).replace("\\", "").replace(sign, "").replace("\n", "") + sign


def _documents(draw: Draw, changes: int) -> Document:
    """A column of texts beside ids and classes."""
    n = draw.upto(6, 1)
    lines = [["id", "text", "kind"]]
    for i in range(n):
        text = " ".join(["word", *(word(draw) for _ in range(draw.upto(5)))]).replace('"', "")
        lines.append([str(i), f'"{text}"', draw.pick(("spam", "ham"))])
    content = joined(draw, after_changes(draw, lines, changes), ",")
    options: dict[str, Any] = {"text_column": "text", "id_column": "id", "label_column": "kind"}
    expected = None if changes else {"rows": [0] * n, "only_count": True}
    return Document(content, options, expected)


def _beside(draw: Draw, changes: int) -> Document:
    """Counts with a vocabulary beside them, which may be damaged."""
    n, d = draw.upto(5, 1), draw.upto(5, 1)
    entries = sorted({(draw.upto(n, 1), draw.upto(d, 1)) for _ in range(draw.upto(8, 1))})
    lines = [[str(n)], [str(d)], [str(len(entries))]]
    lines += [[str(i), str(j), whole(draw)] for i, j in entries]
    words = [[f"{word(draw)}{j}".replace("\n", "").replace("\r", "") or "x"] for j in range(d)]
    data = joined(draw, lines, " ", ("\n",))
    names = joined(draw, after_changes(draw, words, changes), " ", ("\n",))
    if changes and draw.chance(0.4):
        names = changed_bytes(draw, names)
    return Document(data, {}, None, {"data.docword": data, "data.vocab": names})


TARGETS: Final[tuple[Target, ...]] = (
    reader_target("commas", ".csv", _commas, form="csv"),
    reader_target("arff", ".arff", _arff),
    reader_target("texts-of-tables", ".csv", _documents, 60, form="csv"),
    reader_target("vocabularies", ".docword", _beside, 60, form="docword"),
)
