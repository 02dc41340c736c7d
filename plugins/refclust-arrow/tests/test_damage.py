"""Damaged files: one line that says so, never a crash, never an exception of another library."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from test_columnar import FORMS
from test_columnar import put as put_table
from test_workbook import ROWS
from test_workbook import put as put_book

from refclust.data.readers.formats import Options
from refclust.errors import RefclustError
from refclust_arrow import columnar, workbook

TABLE = pa.table({"x": [1.0, 2.5, None] * 20, "k": ["a", "b", "c"] * 20, "i": [*range(60)]})
MANY = 150


def damaged(content: bytes, draw: random.Random) -> bytes:
    broken = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        place = draw.randrange(len(broken))
        broken[place] = draw.choice((draw.randrange(256), broken[place] ^ 1 << draw.randrange(8)))
    return bytes(broken[: draw.randrange(len(broken))] if draw.random() < 0.1 else broken)


def outcome(form: str, path: str) -> str:
    try:
        table = (
            workbook.frame(path, Options())
            if form == "excel"
            else columnar.frame(form, path, Options())
        )
    except RefclustError as error:
        return "several lines" if "\n" in str(error) else error.code
    return "ok" if table.n else "nothing"


@pytest.mark.parametrize("form", FORMS)
def test_bytes_of_tables(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.{form}"
    content = Path(put_table(path, TABLE, form)).read_bytes()
    draw = random.Random(form)
    seen: set[str] = set()
    for _ in range(MANY):
        path.write_bytes(damaged(content, draw))
        seen.add(outcome(form, str(path)))
    assert seen <= {"ok", "bad-file", "empty-file", "too-large"}
    assert {"ok", "bad-file"} <= seen


def test_bytes_of_workbooks(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    content = Path(put_book(path, s=ROWS)).read_bytes()
    draw = random.Random("excel")
    seen = set()
    for _ in range(MANY):
        path.write_bytes(damaged(content, draw))
        seen.add(outcome("excel", str(path)))
    assert "bad-file" in seen
    assert "several lines" not in seen


def test_parts_of_workbooks(tmp_path: Path) -> None:
    """The archive is sound, what is in it is not."""
    path = tmp_path / "a.xlsx"
    put_book(path, s=ROWS)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    draw = random.Random("parts")
    for _ in range(MANY):
        name = draw.choice(sorted(parts))
        with zipfile.ZipFile(path, "w") as archive:
            for each, content in parts.items():
                archive.writestr(each, damaged(content, draw) if each == name else content)
        assert outcome("excel", str(path)) != "several lines"
