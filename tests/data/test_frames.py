"""Tables of pandas and Arrow: numbers where they lie, when kind and layout allow it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from refclust.cluster.fit import kmeans
from refclust.data.accepting.door import dataset
from refclust.errors import BadWeight, MissingValue, NegativeCount, NotFinite

X: Any = np.array([[0.5, 1.0, -2.0], [3.0, 0.25, 1e300]])


def shared(found: Any, own: Any) -> bool:
    values = found.matrix.values
    return np.shares_memory(np.frombuffer(values, values.format), own)


@pytest.mark.parametrize("form", ["f8", "f4"])
def test_a_table_made_of_one_array_is_not_copied(form: str) -> None:
    with np.errstate(over="ignore"):
        own = np.where(np.isfinite(X.astype(form)), X.astype(form), 7).astype(form)
    frame = pd.DataFrame(own, columns=["a", "b", "c"], copy=False)
    found = dataset(frame)
    assert shared(found, own)
    assert found.features == ("a", "b", "c")
    assert found.digest() == dataset(own.tolist()).digest()
    assert found.matrix.values.format == ("d" if form == "f8" else "f")


@pytest.mark.parametrize("form", [np.float64, np.float32])
def test_columns_of_one_kind_keep_it(form: Any) -> None:
    columns = {"a": np.array([1, 2], form), "b": np.array([0.5, -1], form)}
    made = [pd.DataFrame(columns), pa.table(columns)]
    # Two chunks in a column are put together by the library that has them.
    made.append(pa.concat_tables([pa.table(columns).slice(0, 1), pa.table(columns).slice(1)]))
    for table in made:
        found = dataset(table)
        assert list(found.rows()) == [(1.0, 0.5), (2.0, -1.0)]
        assert found.matrix.values.format == np.dtype(form).char
        assert found.features == ("a", "b")


def test_a_single_arrow_column_is_not_copied() -> None:
    own = np.array([1.0, 4.0, 9.0])
    assert shared(dataset(pa.table({"x": own})), own)
    assert shared(dataset(pa.table({"x": own}).slice(1)), own)
    assert list(dataset(pa.table({"x": own}).slice(1)).rows()) == [(4.0,), (9.0,)]


def test_kinds_that_differ_and_integers_become_doubles() -> None:
    mixed = {"a": np.array([1, 2], np.float32), "b": np.array([2**53 + 1, 3]), "c": [0.5, 1.0]}
    for table in (pd.DataFrame(mixed), pa.table(mixed)):
        found = dataset(table)
        assert list(found.rows()) == [(1.0, 2.0**53, 0.5), (2.0, 3.0, 1.0)]
        assert found.matrix.values.format == "d"


def test_what_is_missing_or_not_finite_has_its_place() -> None:
    for table in (pd.DataFrame({"a": [1.0, None]}), pa.table({"a": [1.0, None]})):
        with pytest.raises(MissingValue, match="row 1, column 'a' is missing"):
            dataset(table)
    whole = pd.DataFrame(np.array([[1.0, 2.0], [3.0, np.inf]]), columns=["a", "b"])
    for table in (whole, pa.table({"a": [1.0, 3.0], "b": [2.0, np.inf]})):
        with pytest.raises(NotFinite, match="row 1, column 'b' is inf"):
            dataset(table)


def test_weights_are_used_where_they_lie() -> None:
    weights = np.array([1.0, 0.0, 2.5])
    for given in (weights, memoryview(weights)):  # type: ignore[arg-type]
        found = dataset([[1], [2], [3]], weights=given).weights
        assert found is not None
        assert np.shares_memory(np.frombuffer(found), weights)
    for given in (pd.Series(weights), pa.array(weights), weights.astype("f4"), weights.tolist()):
        again = dataset([[1], [2], [3]], weights=given).weights
        assert again is not None
        assert list(again) == [1.0, 0.0, 2.5]
    with pytest.raises(BadWeight):
        dataset([[1], [2], [3]], weights=weights.reshape(3, 1))
    with pytest.raises(NegativeCount, match=r"the weight of row 1 is -1\.0"):
        dataset([[1], [2]], weights=np.array([1.0, -1.0]))
    with pytest.raises(NotFinite, match="the weight of row 0 is nan"):
        dataset([[1], [2]], weights=np.array([np.nan, 1.0]))


def test_a_fit_of_a_table_is_the_fit_of_its_rows() -> None:
    rows = [[0.0, 0.0], [0.5, 1.0], [9.0, 9.0], [8.0, 9.5]]
    due = kmeans(rows, 2)
    for table in (
        pd.DataFrame(rows),
        pa.table({"a": [r[0] for r in rows], "b": [r[1] for r in rows]}),
    ):
        found = kmeans(table, 2)
        assert (found.labels, found.centres, found.digest) == (due.labels, due.centres, due.digest)
