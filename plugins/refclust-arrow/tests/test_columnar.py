"""Parquet, Feather and Arrow files: typed columns, exact numbers, broken files (DATA-ARROW)."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from refclust.data.readers.formats import Options
from refclust.errors import RefclustError
from refclust_arrow.columnar import frame, plan, read, sniff

DAY = datetime.date(2020, 1, 2)
TABLE = pa.table(
    {
        "whole": pa.array([1, 2**53 + 1, None], pa.int64()),
        "small": pa.array([1, 255, 0], pa.uint8()),
        "single": pa.array([0.1, 2.5, -1.0], pa.float32()),
        "money": pa.array([decimal.Decimal("0.10"), None, decimal.Decimal("12345.67")]),
        "flag": pa.array([True, None, False]),
        "kind": pa.array(["b", None, "a"]).dictionary_encode(),
        "text": pa.array(["NA", "x", None]),
        "day": pa.array([DAY, None, DAY]),
        "none": pa.nulls(3),
    }
)
FORMS = ("parquet", "feather", "arrow")


def put(path: Path, table: Any, form: str) -> str:
    if form == "parquet":
        parquet.write_table(table, path)
    elif form == "feather":
        feather.write_feather(table, str(path))
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return str(path)


@pytest.mark.parametrize("form", FORMS)
def test_columns_keep_their_types(tmp_path: Path, form: str) -> None:
    path = put(tmp_path / f"a.{form}", TABLE, form)
    typed = frame(form, path, Options())
    assert {column.name: column.cells for column in typed.columns} == {
        "whole": (1.0, 2.0**53, None),
        "small": (1.0, 255.0, 0.0),
        "single": (0.10000000149011612, 2.5, -1.0),
        "money": (0.1, None, 12345.67),
        "flag": ("true", None, "false"),
        "kind": ("b", None, "a"),
        "text": ("NA", "x", None),
        "day": ("2020-01-02", None, "2020-01-02"),
        "none": (None, None, None),
    }
    kinds = {column.name: column.kind for column in typed.columns}
    assert kinds["flag"] == kinds["kind"] == "nominal"
    assert (kinds["day"], kinds["none"]) == ("date", "missing-only")
    assert typed.columns[5].categories == ("b", "a")
    assert frame(form, path, Options(), 1).n == 1
    assert dict(plan(form, path, Options()).facts)["columns"] == "9"


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_numbers(tmp_path: Path, form: str) -> None:
    table = pa.table({"x": [1, 2], "y": [0.5, -0.0], "k": ["a", "b"], "w": [1.0, 3.0]})
    path = put(tmp_path / f"a.{form}", table, form)
    data = read(form, path, Options(label_column="k", weight_column="w"))
    assert [*data.rows()] == [(1.0, 0.5), (2.0, -0.0)]
    assert (data.features, data.labels) == (("x", "y"), ("a", "b"))
    assert list(data.weights or ()) == [1.0, 3.0]
    with pytest.raises(RefclustError, match=r"row 0, column 'k' is 'a', which is not a number"):
        read(form, path, Options())
    chosen = read(form, path, Options(columns=("y",)))
    assert [*chosen.rows()] == [(0.5,), (-0.0,)]


def test_a_stream_of_arrow(tmp_path: Path) -> None:
    path = tmp_path / "a.arrows"
    table = pa.table({"x": [1.0, 2.0]})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert [*read("arrow", str(path), Options()).rows()] == [(1.0,), (2.0,)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cut", [0, 4, 40, -1])
def test_broken_files(tmp_path: Path, form: str, cut: int) -> None:
    path = tmp_path / f"a.{form}"
    put(path, pa.table({"x": [1.0, 2.0, 3.0]}), form)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(RefclustError) as caught:
        read(form, str(path), Options())
    assert caught.value.code == "bad-file"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "code", "words"),
    [
        (pa.table({"x": pa.array([], pa.float64())}), "empty-file", "has 0 rows and 1 columns"),
        (pa.table({"x": [[1, 2]]}), "bad-file", "the column 'x' holds list<"),
        (pa.table({"x": [1.0, None]}), "missing-value", "row 1, column 'x' is missing"),
        (pa.table({"x": [1.0, float("inf")]}), "not-finite", "row 1, column 'x' is inf"),
    ],
)
def test_what_cannot_be_used(tmp_path: Path, table: Any, code: str, words: str) -> None:
    path = put(tmp_path / "a.parquet", table, "parquet")
    with pytest.raises(RefclustError) as caught:
        read("parquet", path, Options())
    assert (caught.value.code, words in str(caught.value)) == (code, True), caught.value


def test_recognised_by_their_bytes(tmp_path: Path) -> None:
    table = pa.table({"x": [1.0]})
    assert sniff("parquet", put(tmp_path / "a", table, "parquet")) > 0.5
    assert sniff("arrow", put(tmp_path / "b", table, "arrow")) > 0.5
    (tmp_path / "c").write_bytes(b"x,y\n")
    assert [sniff(form, str(tmp_path / "c")) for form in FORMS] == [0.0] * 3
