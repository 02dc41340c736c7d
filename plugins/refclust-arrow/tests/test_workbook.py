"""Workbooks: which sheet, which header, which types; what is broken (DATA-EXCEL)."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from refclust.data.readers.formats import Options
from refclust.errors import RefclustError
from refclust.limits import limits
from refclust_arrow.workbook import frame, plan, read, sniff

Cell = str | float | bool | None
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def _cell(cell: Cell, row: int, column: int) -> str:
    name = f"{chr(65 + column)}{row}"
    match cell:
        case None:
            return ""
        case bool():
            return f'<c r="{name}" t="b"><v>{int(cell)}</v></c>'
        case str() if cell.startswith("date:"):
            return f'<c r="{name}" s="1"><v>{cell[5:]}</v></c>'
        case str() if cell.startswith("#"):
            return f'<c r="{name}" t="e"><v>{cell}</v></c>'
        case str():
            return f'<c r="{name}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
        case _:
            return f'<c r="{name}"><v>{cell!r}</v></c>'


def put(path: Path, **sheets: list[list[Cell]]) -> str:
    """Write the smallest workbook with these sheets."""
    with zipfile.ZipFile(path, "w") as archive:
        kinds = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="application/vnd.'
            'openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            for i in range(len(sheets))
        )
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
            f'officedocument.spreadsheetml.sheet.main+xml"/>{kinds}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" Type='
            f'"{_LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(
            f'<sheet name="{name}" sheetId="{i + 1}" r:id="r{i}"/>' for i, name in enumerate(sheets)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{listed}</sheets></workbook>',
        )
        links = "".join(
            f'<Relationship Id="r{i}" Type="{_LINKS}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(len(sheets))
        )
        styles = f'<Relationship Id="s" Type="{_LINKS}/styles" Target="styles.xml"/>'
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">{links}{styles}</Relationships>',
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/>'
            '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>',
        )
        for i, rows in enumerate(sheets.values()):
            body = "".join(
                f'<row r="{r}">{"".join(_cell(x, r, c) for c, x in enumerate(row))}</row>'
                for r, row in enumerate(rows, 1)
            )
            archive.writestr(
                f"xl/worksheets/sheet{i}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>',
            )
    return str(path)


ROWS: list[list[Cell]] = [
    ["name", "size", "umsatz", "neu", "seit"],
    ["Müller", 1.5, 3, True, "date:43832"],
    ["Łoś", 0.1, None, False, "date:43833"],
    ["x", -2, 7, True, None],
]


def test_columns_keep_their_types(tmp_path: Path) -> None:
    path = put(tmp_path / "a.xlsx", Tabelle1=ROWS, Leer=[])
    table = frame(path, Options())
    assert {column.name: column.cells for column in table.columns} == {
        "name": ("Müller", "Łoś", "x"),
        "size": (1.5, 0.1, -2.0),
        "umsatz": (3.0, None, 7.0),
        "neu": ("true", "false", "true"),
        "seit": ("2020-01-02", "2020-01-03", None),
    }
    assert [column.kind for column in table.columns][1:] == ["number", "number", "nominal", "date"]
    assert table.place(1, 2) == f"{path}[Tabelle1]:3: column 3 ('umsatz')"
    data = read(path, Options(columns=("size",), id_column="name"))
    assert ([*data.rows()], data.ids) == ([(1.5,), (0.1,), (-2.0,)], ("Müller", "Łoś", "x"))
    assert dict(plan(path, Options()).facts)["columns"] == "5"
    assert sniff(path) > 0.5


def test_a_sheet_without_a_header(tmp_path: Path) -> None:
    path = put(tmp_path / "a.xlsx", s=[[1, 2.5], [3, 4]])
    assert [*read(path, Options()).rows()] == [(1.0, 2.5), (3.0, 4.0)]
    assert read(path, Options()).features is None


def test_which_sheet(tmp_path: Path) -> None:
    path = put(tmp_path / "a.xlsx", one=[["x"], [1]], two=[["x"], [2]])
    with pytest.raises(RefclustError, match=r"2 sheets with cells; name one"):
        frame(path, Options())
    assert [*read(path, Options(array="two")).rows()] == [(2.0,)]
    with pytest.raises(RefclustError, match=r"has no sheet 'three'; it has: one, two$"):
        frame(path, Options(array="three"))


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        ([], "empty-file", "has no cell in s"),
        ([["x", "y"]], "empty-file", "[s] has a header but no row below it"),
        ([["x"], [1], [None], [2]], "ragged-rows", "[s]: row 3 is empty, though rows follow"),
        ([["x", "y"], [1, "oops"]], "bad-cell", "[s]:2: column 2 ('y') is 'oops', which is not a"),
        ([["x", "y"], [1, 2], [3, None]], "missing-value", "[s]:3: column 2 ('y') is missing"),
        ([["x", None], [1, 2]], "bad-header", "column 2 has no name"),
    ],
)
def test_what_cannot_be_used(tmp_path: Path, rows: list[list[Cell]], code: str, words: str) -> None:
    path = put(tmp_path / "a.xlsx", s=rows)
    with pytest.raises(RefclustError) as caught:
        read(path, Options())
    assert (caught.value.code, words in str(caught.value)) == (code, True), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n", b"PK\x03\x04broken", b"\xd0\xcf\x11\xe0"])
def test_no_workbook(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    with pytest.raises(RefclustError) as caught:
        read(str(path), Options())
    assert caught.value.code == "bad-file"
    assert "\n" not in str(caught.value)


def test_an_archive_that_unfolds_too_far(tmp_path: Path) -> None:
    path = put(tmp_path / "a.xlsx", s=ROWS)
    with limits(stream=100), pytest.raises(RefclustError) as caught:
        read(path, Options())
    assert caught.value.code == "too-large"
