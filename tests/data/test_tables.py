"""Contingency tables in files: exact cells, names only when asked for, errors with their place."""

from __future__ import annotations

import io
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.tables import read_table
from refclust.errors import (
    BadTable,
    EmptyFile,
    NegativeCount,
    NotFinite,
    NotText,
    RaggedRows,
    RefclustError,
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "5,1\n1,0.1\n"),
        ("t.tsv", "5\t1\n1\t1/10\n"),
        ("t.txt", "5\t1\n1\t0.1"),
        ("t.txt", "5, 1\n1, 0.1\n"),
        ("t.json", "[[5, 1], [1, 0.1]]"),
        ("t.json", '{"table": [[5, 1], ["1", "1/10"]]}'),
        ("t", " [[5, 1], [1, 0.1]]"),
    ],
)
@pytest.mark.spec("CT-TABLE", "CT-WEIGHT")
def test_forms_of_one_table(name: str, content: str) -> None:
    Path(name).write_text(content, encoding="utf-8")
    table = read_table(name)
    assert table.rows == [[5, 1], [1, Fraction(1, 10)]]
    assert table.clusters is None
    assert table.classes is None


def test_names_when_asked_for() -> None:
    Path("t.csv").write_text("size,x,y\na,1,2\n7,3,4\n", encoding="utf-8")
    table = read_table("t.csv", header=True)
    assert (table.rows, table.clusters, table.classes) == ([[1, 2], [3, 4]], ("a", "7"), ("x", "y"))


def test_a_delimiter_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"5 1\n1 4\n")))
    assert read_table("-", delimiter=" ").rows == [[5, 1], [1, 4]]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[[5, 1]]")))
    assert read_table("-").rows == [[5, 1]]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("t.csv", "", EmptyFile, "t.csv is empty; it should hold a row per cluster"),
        ("t.json", " \n", EmptyFile, "t.json is empty"),
        ("t.json", "[]", EmptyFile, "t.json is empty"),
        ("t.csv", "1,2\n3\n", RaggedRows, "t.csv:2: the row has 1 cell, the first one has 2"),
        ("t.json", "[[1, 2], []]", RaggedRows, "t.json, row 2: the row has 0 cells, the first"),
        ("t.csv", "1,2\n3,x\n", BadTable, "t.csv:2, column 2: the cell is 'x', which is not a num"),
        ("t.csv", ",x\na,1\n", BadTable, "if the first row and column are names, ask for a header"),
        ("t.csv", "1,-2\n", NegativeCount, "t.csv:1, column 2: the cell is -2; it must not be neg"),
        ("t.csv", "1,inf\n", NotFinite, "t.csv:1, column 2: the cell is inf; it must be finite"),
        ("t.json", "[[1, NaN]]", NotFinite, "t.json, row 1, column 2: the cell is NaN; it must be"),
        ("t.json", "[[1, null]]", BadTable, "t.json, row 1, column 2: the cell is null, which is"),
        ("t.json", "[[1, true]]", BadTable, "the cell is true, which is not a number"),
        ("t.json", "[1, 2]", BadTable, "t.json: a table in JSON is a list of rows"),
        ("t.json", '{"rows": []}', BadTable, "t.json: a table in JSON is a list of rows"),
        ("t.json", "[[1,\n2", BadTable, "t.json:2: not JSON: expecting"),
        ("t.json", "[" * 100_000, BadTable, "t.json: not a table: JSON nested too deeply"),
        ("t.csv", "1\0", NotText, "t.csv:1: the byte 0x00 at offset 1"),
    ],
)
def test_broken_tables(name: str, content: str, error: type[RefclustError], message: str) -> None:
    Path(name).write_text(content, encoding="utf-8")
    with pytest.raises(error) as caught:
        read_table(name)
    assert message in str(caught.value)


def test_a_header_without_names_is_a_table_without_cells() -> None:
    Path("t.csv").write_text("1,2\n", encoding="utf-8")
    assert read_table("t.csv", header=True).rows == []


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=40)
    | st.text(alphabet='[]{}12,./-e"\n\t atbl:', max_size=30).map(str.encode),
    header=st.booleans(),
)
def test_any_bytes_give_a_table_or_a_clear_error(name: str, content: bytes, header: bool) -> None:
    Path(name).write_bytes(content)
    try:
        table = read_table(name, header=header)
    except RefclustError as error:
        assert name in str(error)  # noqa: PT017  (any of many classes)
    else:
        assert all(
            type(cell) in (int, Fraction) and cell >= 0 for row in table.rows for cell in row
        )
