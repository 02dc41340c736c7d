"""Cells that are missing: who takes them, who refuses them, and what a data set keeps of them."""

from __future__ import annotations

import math
import struct
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import refclust
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dense, dense, with_gaps
from refclust.data.readers.formats import Options, read
from refclust.errors import BadOption, MissingValue, NotFinite, RefclustError

pytestmark = pytest.mark.spec("MISS-CELL")

HOLED: list[list[Any]] = [[1.0, None], [2.0, 3.0], [math.nan, 4.5]]


def _texts(data: refclust.Dataset) -> list[list[str]]:
    return [[repr(x) for x in row] for row in data.rows()]


def test_missing_cells_come_in_by_every_door() -> None:
    due = [["1.0", "nan"], ["2.0", "3.0"], ["nan", "4.5"]]
    masked = np.ma.masked_array(
        [[1.0, 9.0], [2.0, 3.0], [9.0, 4.5]], mask=[[False, True], [False, False], [True, False]]
    )
    doors = [
        HOLED,
        np.array(HOLED, dtype=float),
        np.array(HOLED, dtype=object),
        masked,
        pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64"), "b": [math.nan, 3.0, 4.5]}),
        pd.DataFrame({"a": [1.0, 2.0, math.nan], "b": [math.nan, 3.0, 4.5]}),
        pa.table({"a": [1, 2, None], "b": [None, 3.0, 4.5]}),
    ]
    digests = set()
    for door in doors:
        data = dataset(door, gaps=True)
        assert data.gaps
        assert _texts(data) == due
        digests.add(data.digest())
    assert len(digests) == 1


def test_which_nan_it_was_means_nothing() -> None:
    odd = array("d", struct.unpack("<2d", struct.pack("<2Q", 0xFFF8000000000123, 0x3FF0 << 48)))
    matrix, some = with_gaps(Dense(memoryview(odd), 1, 2))
    assert some
    assert matrix.values.tobytes() == array("d", [math.nan, 1.0]).tobytes()


def test_data_without_a_gap_are_the_same_as_ever() -> None:
    told, usual = dataset([[1, 2], [3, 4]], gaps=True), dataset([[1, 2], [3, 4]])
    assert not told.gaps
    assert told.digest() == usual.digest()
    buffer = np.array([[1.0, 2.0]])
    assert dataset(buffer, gaps=True).matrix.values.obj is dataset(buffer).matrix.values.obj


def test_a_choice_of_rows_knows_whether_a_gap_is_left() -> None:
    data = dataset(HOLED, gaps=True)
    assert data.select([0, 1]).gaps
    assert not data.select([1]).gaps


def test_infinities_are_refused_even_where_cells_may_be_missing() -> None:
    with pytest.raises(NotFinite, match=r"row 1, column 0 is inf; only finite numbers are allowed"):
        dataset([[None, 1.0], [math.inf, 2.0]], gaps=True)


def test_who_needs_every_cell_says_what_to_do() -> None:
    data = dataset(HOLED, gaps=True)
    with pytest.raises(MissingValue, match="row 0, column 1 is missing; a Gaussian mixture can do"):
        refclust.kmeans(data, 2)
    with pytest.raises(NotFinite, match=r"row 0, column 1 is nan.*missing='integrate'"):
        refclust.kmeans(np.array(HOLED, dtype=float), 2)
    with pytest.raises(NotFinite, match="missing='integrate'"):
        dense(array("d", [math.nan, 1.0]), 2)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,\n2,3\nNA,4.5\n", [["1.0", "nan"], ["2.0", "3.0"], ["nan", "4.5"]]),
        ("1,NA\n2,3\n?,-nan\n", [["1.0", "nan"], ["2.0", "3.0"], ["nan", "nan"]]),
        ("a,b\n , null\n-,.\n1,N/A\n", [["nan", "nan"], ["nan", "nan"], ["1.0", "nan"]]),
    ],
)
def test_tables_with_marks(tmp_path: Path, text: str, rows: list[list[str]]) -> None:
    path = tmp_path / "holes.csv"
    path.write_text(text)
    data = read(str(path), options=Options(missing="integrate"))
    assert data.gaps
    assert _texts(data) == rows
    with pytest.raises(RefclustError):
        read(str(path))


def test_a_cell_that_is_no_number_is_still_refused(tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("a,b\n1,NA\n2,x\n")
    with pytest.raises(RefclustError, match=r"column 2 \('b'\) is 'x', which is not a number"):
        read(str(path), options=Options(missing="integrate"))


def test_arrays_of_numpy(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array(HOLED, dtype=float))
    np.savez(tmp_path / "x.npz", x=np.array(HOLED, dtype=np.float32))
    for name in ("x.npy", "x.npz"):
        data = read(str(tmp_path / name), options=Options(missing="integrate"))
        assert _texts(data) == [["1.0", "nan"], ["2.0", "3.0"], ["nan", "4.5"]]


def test_other_policies_are_not_the_readers() -> None:
    with pytest.raises(BadOption, match="missing is 'drop'; 'integrate' is allowed"):
        Options(missing="drop")  # type: ignore[arg-type]
