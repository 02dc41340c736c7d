"""Data given in Python: all forms of the same numbers are one data set, all else is refused."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.accepting.door import aligned, dataset
from refclust.data.dataset import Dataset
from refclust.errors import RefclustError

ROWS = [[0.0, 1.5, -2.0], [3.0, 0.0, 4.25]]
X = np.array(ROWS)
SPARSE = [{1: 1.5, 2: -2.0}, {0: 3.0, 2: 4.25}]


def refused(code: str, message: str, data: Any, **known: Any) -> None:
    with pytest.raises(RefclustError) as caught:
        dataset(data, **known)
    assert (caught.value.code, str(caught.value)) == (code, message)


@dataclass
class Series:
    """The few methods of another library's column that are used."""

    values: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    def to_list(self) -> list[Any]:
        return self.values

    def null_count(self) -> int:
        return self.values.count(None)

    def is_null(self) -> Series:
        return Series([value is None for value in self.values])


@dataclass
class Frame:
    """The few methods of another library's table that are used."""

    content: dict[str, list[Any]]

    @property
    def columns(self) -> list[str]:
        return list(self.content)

    def get_columns(self) -> list[Series]:
        return list(map(Series, self.content.values()))


DENSE_FORMS: dict[str, Callable[[Any], Any]] = {
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x.tolist())),
    "generator": lambda x: (row for row in x.tolist()),
    "fractions": lambda x: [[Fraction(value) for value in row] for row in x.tolist()],
    "scalars": lambda x: [list(row) for row in x],
    "rows": list,
    "array": lambda x: x,
    "fortran": np.asfortranarray,
    "other bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "strided": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1][::-1],
    "longdouble": lambda x: x.astype(np.longdouble),
    "objects": lambda x: x.astype(object),
    "array of rows": lambda x: np.array([*map(list, x.tolist()), None], dtype=object)[:-1],
    "matrix": lambda x: x.view(np.matrix),
    "mask that hides nothing": lambda x: np.ma.masked_array(x, np.zeros(x.shape, dtype=bool)),
    "memoryview": lambda x: memoryview(x),
    "turned memoryview": lambda x: memoryview(x.T.copy().T),
    "pandas": pd.DataFrame,
    "pandas with nulls": lambda x: pd.DataFrame(x, dtype="Float64"),
    "arrow": lambda x: pa.table({str(j): x[:, j] for j in range(x.shape[1])}),
    "batch": lambda x: pa.record_batch({str(j): x[:, j] for j in range(x.shape[1])}),
    "polars": lambda x: Frame({str(j): x[:, j].tolist() for j in range(x.shape[1])}),
}
SPARSE_FORMS: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(sp, name)
        for kind in ("matrix", "array")
        for name in (f"{layout}_{kind}" for layout in ("csr", "csc", "coo", "lil", "dok", "dia"))
    },
    "bsr_array": lambda x: sp.bsr_array(x, blocksize=(1, 1)),
}


@pytest.mark.spec("DATA-ACCEPT")
@given(st.data())
def test_every_form_of_dense_rows_is_the_same_data_set(draw: st.DataObject) -> None:
    n, d = draw.draw(st.integers(1, 4)), draw.draw(st.integers(1, 3))
    cells = st.floats(allow_nan=False, allow_infinity=False)
    x = np.array(draw.draw(st.lists(cells, min_size=n * d, max_size=n * d))).reshape(n, d)
    plain = dataset(x.tolist())
    assert [list(map(repr, row)) for row in plain.rows()] == [
        list(map(repr, r)) for r in x.tolist()
    ]
    for form, made in DENSE_FORMS.items():
        if form == "fractions":  # which know no negative zero
            assert list(dataset(made(x)).rows()) == list(plain.rows())
        else:
            assert dataset(made(x)).digest() == plain.digest(), form


@pytest.mark.spec("DATA-ACCEPT")
@given(st.data())
def test_every_form_of_sparse_rows_is_the_same_data_set(draw: st.DataObject) -> None:
    n, d = draw.draw(st.integers(1, 4)), draw.draw(st.integers(1, 4))
    cells = st.sampled_from([0.0, 0.0, 1.0, -2.5, 5e-324])
    x = np.array(draw.draw(st.lists(cells, min_size=n * d, max_size=n * d))).reshape(n, d)
    keys = tuple(range(d))
    plain = dataset([dict(enumerate(row)) for row in x.tolist()])
    assert plain.features == keys
    for form, made in SPARSE_FORMS.items():
        found = dataset(made(x))
        assert (found.digest(), found.features) == (plain.digest(), None), form


@pytest.mark.parametrize("form", ["f8", "f4", "f2", "i1", "u2", "i4", "u8", ">f4", ">i2"])
def test_types_of_numbers(form: str) -> None:
    whole = np.array([[0, 1, 2], [3, 0, 100]], dtype=form)
    found = dataset(whole)
    assert list(found.rows()) == [(0.0, 1.0, 2.0), (3.0, 0.0, 100.0)]
    assert found.matrix.values.format == ("f" if form == "f4" else "d")
    if form not in ("f2", ">f4", ">i2"):
        assert list(dataset(sp.csr_array(whole)).rows()) == [{1: 1.0, 2: 2.0}, {0: 3.0, 2: 100.0}]


@pytest.mark.parametrize("form", ["f4", "f8"])
def test_contiguous_arrays_are_not_copied(form: str) -> None:
    own = X.astype(form)
    found = dataset(own).matrix.values
    assert np.shares_memory(np.frombuffer(found, form), own)
    assert found.readonly
    locked = own.copy()
    locked.flags.writeable = False
    assert dataset(locked).digest() == dataset(own).digest()


def test_ordered_sparse_matrices_are_not_copied() -> None:
    own = sp.csr_array(X)
    found = dataset(own).matrix
    for ours, theirs in (
        (found.values, own.data),
        (found.columns, own.indices),  # type: ignore[union-attr]
        (found.starts, own.indptr),  # type: ignore[union-attr]
    ):
        assert np.shares_memory(np.frombuffer(ours, theirs.dtype), theirs)


def test_sparse_matrices_in_disorder_are_put_in_order() -> None:
    loose = sp.csr_array(([7.0, 0.0, 2.0], [2, 1, 0], [0, 3, 3]), shape=(2, 3))
    loose.has_canonical_format = True  # not true, and not believed
    assert list(dataset(loose).rows()) == [{0: 2.0, 2: 7.0}, {}]
    spare = sp.csr_array(X)
    spare.data = np.concatenate([spare.data, [9.0]])
    assert list(dataset(spare).rows()) == SPARSE


@pytest.mark.parametrize("layout", [sp.coo_array, sp.coo_matrix])
def test_repeated_entries_are_added_exactly(layout: Any) -> None:
    # Added from left to right this is 0.0 in floats.
    given_ = layout(([1e16, 1.0, -1e16, 5.0, -5.0], ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0])), (2, 2))
    assert list(dataset(given_).rows()) == [{1: 1.0}, {}]
    compressed = sp.csr_array(([1e16, 1.0, -1e16], [1, 1, 1], [0, 3, 3]), shape=(2, 2))
    assert list(dataset(compressed).rows()) == [{1: 1.0}, {}]
    refused(
        "not-finite",
        "row 0, column 0: the 2 entries [1e+308, 1e+308]… have no finite sum",
        sp.coo_array(([1e308, 1e308], ([0, 0], [0, 0])), (1, 1)),
    )


def test_sparse_matrices_that_are_broken() -> None:
    outside = sp.csr_array(X)
    outside.indices = np.array([1, 2, 0, 9], dtype=np.int32)
    refused("index-out-of-range", "row 1 has the column 9; there are 3 columns", outside)
    falling = sp.csr_array(X)
    falling.indptr = np.array([0, 4, 2], dtype=np.int32)
    refused("index-out-of-range", "the 3 row positions do not rise from 0 over 2 rows", falling)
    short = sp.csr_array(X)
    short.data = short.data[:2]
    refused(
        "index-out-of-range", "the rows need 4 entries, but there are 4 columns, 2 values", short
    )


def test_names_of_features() -> None:
    assert dataset(pd.DataFrame({"b": [1], "a": [2]})).features == ("b", "a")
    assert dataset(pa.table({"b": [1], "a": [2]})).features == ("b", "a")
    assert dataset(pd.DataFrame([[1, 2]])).features is None
    assert dataset(pd.DataFrame([[1, 2]], columns=[5, 3])).features == (5, 3)
    assert dataset(pd.DataFrame([[1, 2]], columns=["a", 3])).features == ("a", "3")
    assert dataset(X, features=np.array(["a", "b", "c"])).features == ("a", "b", "c")
    assert dataset([{"é": 1, "z": 0, "a": 2}]).features == ("a", "z", "é")
    assert dataset([{10: 1, np.int64(-2): 2}]).features == (-2, 10)
    chosen = dataset([{"a": 1}, {}], features=["b", "a"])
    assert (chosen.features, list(chosen.rows())) == (("b", "a"), [{1: 1.0}, {}])


def test_what_is_known_about_rows() -> None:
    found = dataset(
        X, ids=pd.Index([7, 8]), labels=pd.Series(["p", "q"]), weights=[1, Fraction(1, 3)]
    )
    assert (found.ids, found.labels) == (("7", "8"), ("p", "q"))
    assert found.weights is not None
    assert list(found.weights) == [1.0, 1 / 3]
    assert dataset(X, labels=[None, (1, 2)]).labels == (None, (1, 2))


def test_a_data_set_is_returned_as_it_is_or_with_parts_replaced() -> None:
    first = dataset(X, ids="ab", labels=[0, 1])
    assert dataset(first) is first
    second = dataset(first, labels=["x", "y"], features=["a", "b", "c"])
    assert second.matrix is first.matrix
    assert (second.ids, second.labels, second.features) == (("a", "b"), ("x", "y"), ("a", "b", "c"))


ONE = (
    "rows are needed: for one feature reshape to (n, 1) or give [[x] for x in data], "
    "for one row reshape to (1, d) or give [data]"
)
NEEDED = "a sequence of rows, an array of two dimensions, a sparse matrix or a table is needed"
ROW = "a row is a sequence of numbers, or a mapping from keys to numbers"
NUMBER = "an int, float or Fraction is needed (a truth value is not a number)"


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (X.ravel(), "dimension-mismatch", f"the data have one dimension of 6; {ONE}"),
        (array("d", [1]), "dimension-mismatch", f"the data have one dimension of 1; {ONE}"),
        (pd.Series([1, 2]), "dimension-mismatch", f"the data have one dimension of 2; {ONE}"),
        ([1, 2], "dimension-mismatch", f"row 0 is the number 1; {ONE}"),
        (
            X.reshape(1, 2, 3),
            "dimension-mismatch",
            "the data have 3 dimensions; rows and columns are two",
        ),
        (
            np.array(1.0),
            "dimension-mismatch",
            "the data have 0 dimensions; rows and columns are two",
        ),
        (
            sp.coo_array(X[0]),
            "dimension-mismatch",
            "the sparse data have the shape (3,); rows and columns are two",
        ),
        (
            [[1], {"a": 1}],
            "dimension-mismatch",
            "row 0 is dense and row 1 is sparse; give all in one form",
        ),
        (
            [{"a": 1}, [1]],
            "dimension-mismatch",
            "row 0 is sparse and row 1 is not; give all in one form",
        ),
        (
            [[1], [1, 2]],
            "ragged-rows",
            "row 0 has 1 numbers and row 1 has 2; all rows need the same number",
        ),
        ([], "empty-input", "there are no rows; a data set needs at least one"),
        (
            [[], []],
            "empty-input",
            "there are 2 rows without a number; at least one column is needed",
        ),
        (
            np.zeros((0, 3)),
            "empty-input",
            "the array has the shape (0, 3); at least one row and column is needed",
        ),
        (
            pd.DataFrame({"a": []}),
            "empty-input",
            "the table has 0 rows and 1 columns; one each is due",
        ),
        (pd.DataFrame(), "empty-input", "the table has 0 rows and 0 columns; one each is due"),
        (sp.csr_array((0, 3)), "empty-input", "there are no rows; a data set needs at least one"),
        (X > 0, "bad-number", f"row 0, column 0 is False (bool); {NUMBER}"),
        (sp.csr_array(X > 0), "bad-number", f"stored entry 0 is True (bool); {NUMBER}"),
        ([[1, True]], "bad-number", f"row 0, column 1 is True (bool); {NUMBER}"),
        (X.astype(complex), "bad-number", f"row 0, column 0 is 0j (complex); {NUMBER}"),
        ([["1"]], "bad-number", f"row 0, column 0 is '1' (str); {NUMBER}"),
        ([[Decimal(1)]], "bad-number", f"row 0, column 0 is Decimal('1') (Decimal); {NUMBER}"),
        ([{"a": "1"}], "bad-number", f"row 0, key 'a' is '1' (str); {NUMBER}"),
        (
            pd.DataFrame({"a": [1], "b{}": ["x"]}),
            "bad-number",
            f"row 0, column 'b{{}}' is 'x' (str); {NUMBER}",
        ),
        (pa.table({"a": ["x"]}), "bad-number", f"row 0, column 'a' is 'x' (str); {NUMBER}"),
        (
            "iris.csv",
            "bad-number",
            "the data are 'iris.csv' (str); rows of numbers are needed, not a file name: "
            "refclust.read(path) reads a file",
        ),
        (
            {"a": [1]},
            "bad-number",
            "the data are one mapping; give a sequence of rows: [mapping] for one sparse row, "
            "list(zip(*columns.values())) for columns of equal length",
        ),
        ({1, 2}, "bad-number", f"the data are {{1, 2}} (set); {NEEDED}"),
        (None, "bad-number", f"the data are None (NoneType); {NEEDED}"),
        ([None], "bad-number", f"row 0 is None (NoneType); {ROW}"),
        (["ab"], "bad-number", f"row 0 is 'ab' (str); {ROW}"),
        ([[1], [None]], "missing-value", "row 1, column 0 is missing (None); a number is needed"),
        (
            np.ma.masked_array(X, X == 3),
            "missing-value",
            "row 1, column 0 is missing (None); a number is needed",
        ),
        (
            pd.DataFrame({"a": [1, None]}),
            "missing-value",
            "row 1, column 'a' is missing; fill or drop it",
        ),
        (
            pd.DataFrame({"a": [1, None]}, dtype="Int64"),
            "missing-value",
            "row 1, column 'a' is missing; fill or drop it",
        ),
        (
            pa.table({"a": [None, 1]}),
            "missing-value",
            "row 0, column 'a' is missing; fill or drop it",
        ),
        (Frame({"a": [1, None]}), "missing-value", "row 1, column 'a' is missing; fill or drop it"),
        (
            [[1, float("nan")]],
            "not-finite",
            "row 0, column 1 is nan; only finite numbers are allowed; a Gaussian mixture can do "
            "without a cell (missing='integrate', --missing integrate)",
        ),
        (
            np.array([[1.0, np.inf]]),
            "not-finite",
            "row 0, column 1 is inf; only finite numbers are allowed",
        ),
        (
            pa.table({"a": [1, float("nan")]}),
            "not-finite",
            "row 1, column 'a' is nan; only finite numbers are allowed",
        ),
        (
            [[10**400]],
            "not-finite",
            "row 0, column 0 is beyond the range of doubles, about 1.8e308",
        ),
        (
            [{"a": 1}, {1: 1}],
            "mixed-keys",
            "row 1 has the key 1 and others are str; keys are all strings or all integers",
        ),
        (
            [{True: 1}],
            "mixed-keys",
            "row 0 has the key True (bool); keys are all strings or all integers",
        ),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            "feature-mismatch",
            "the feature 'a' occurs twice",
        ),
    ],
)
@pytest.mark.spec("DATA-ACCEPT")
def test_refusals(data: Any, code: str, message: str) -> None:
    refused(code, message, data)


def test_refusals_of_what_is_known() -> None:
    refused(
        "nan-label",
        "the label of row 1 is NaN, which equals no label, not even itself",
        X,
        labels=[1, float("nan")],
    )
    refused(
        "nan-label",
        "the label of row 0 is NaN, which equals no label, not even itself",
        X,
        labels=[pd.NA, 1],
    )
    refused("bad-label", "the label of row 1 is [1] (list), not hashable", X, labels=[1, [1]])
    refused("bad-label", "labels are a sequence, one for each, not 5 (int)", X, labels=5)
    refused("bad-label", "ids are a sequence, one for each, not {1} (set)", X, ids={1})
    refused("label-length-mismatch", "1 labels for 2 rows; one for each is due", X, labels=[1])
    refused("label-length-mismatch", "3 ids for 2 rows; one for each is due", X, ids="abc")
    refused("bad-weight", f"the weight of row 1 is 'x' (str); {NUMBER}", X, weights=[1, "x"])
    refused(
        "negative-count", "the weight of row 0 is -1.0; at least 0 is needed", X, weights=[-1, 1]
    )
    refused("feature-mismatch", "2 feature names for 3 features", X, features="ab")
    refused(
        "feature-mismatch",
        "row 0 has the key 'a', which is no feature given",
        [{"a": 1}],
        features="b",
    )


# -- new data for a model -------------------------------------------------------------------------


def misaligned(code: str, message: str, data: Dataset, features: Any, d: int) -> None:
    with pytest.raises(RefclustError) as caught:
        aligned(data, features, d)
    assert (caught.value.code, str(caught.value)) == (code, message)


@pytest.mark.spec("DATA-ALIGN")
@given(st.permutations(["a", "b", "c", "d"]), st.integers(1, 4), st.sampled_from(["f4", "f8"]))
def test_dense_features_are_found_by_name(order: list[str], kept: int, form: str) -> None:
    x = np.arange(8, dtype=form).reshape(2, 4)
    found, left_out = aligned(
        dataset(x, features="abcd", ids="pq", labels=[1, 2], weights=[1, 2]),
        tuple(order[:kept]),
        kept,
    )
    assert [list(row) for row in found.rows()] == x[
        :, ["abcd".index(n) for n in order[:kept]]
    ].tolist()
    assert (found.features, left_out) == (tuple(order[:kept]), 4 - kept)
    assert (found.ids, found.labels, found.weights is None) == (("p", "q"), (1, 2), False)


@pytest.mark.spec("DATA-ALIGN")
@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3)), min_size=1),
    st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1),
)
def test_sparse_entries_move_to_their_key(rows: list[dict[str, int]], model: list[str]) -> None:
    found, left_out = aligned(dataset(rows), tuple(model), len(model))
    assert found.d == len(model)
    for row, given_row in zip(found.rows(), rows, strict=True):
        assert list(row) == sorted(row)
        assert {model[column]: value for column, value in row.items()} == {  # type: ignore[union-attr]
            key: value for key, value in given_row.items() if value and key in model
        }
    assert left_out == len({key for row in rows for key in row if row[key]} - set(model))


def test_alignment_without_names() -> None:
    plain = dataset(X)
    assert aligned(plain, None, 3) == (plain, 0)
    named, left_out = aligned(plain, ("a", "b", "c"), 3)
    assert (named.features, named.matrix is plain.matrix, left_out) == (("a", "b", "c"), True, 0)
    sparse = dataset(sp.csr_array([[0, 1, 0, 2.0], [3, 0, 0, 0]]))
    assert [list(aligned(sparse, None, d)[0].rows()) for d in (2, 6)] == [
        [{1: 1.0}, {0: 3.0}],
        [{1: 1.0, 3: 2.0}, {0: 3.0}],
    ]
    assert [aligned(sparse, None, d)[1] for d in (2, 6)] == [1, 0]
    assert list(aligned(sparse, (3, 7, 0), 3)[0].rows()) == [{0: 2.0}, {2: 3.0}]
    assert list(aligned(dataset([{-1: 5, 1: 2}]), None, 2)[0].rows()) == [{1: 2.0}]


def test_alignment_that_fails() -> None:
    named = dataset(X, features="abc")
    misaligned("feature-mismatch", "the data have 3 features and the model has 2", named, None, 2)
    misaligned("feature-mismatch", "the data lack features of the model: 'd'", named, ("a", "d"), 2)
    misaligned(
        "feature-mismatch",
        "the data lack features of the model: 'p', 'q', 'r', 's', 't' and 1 more",
        named,
        tuple("pqrstu"),
        6,
    )
    misaligned(
        "mixed-keys",
        "the model knows its features by name ('a'), the data by number (0)",
        dataset(sp.csr_array(X)),
        ("a",),
        1,
    )
