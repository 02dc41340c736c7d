"""ARFF files: declared columns, quotes, sparse rows, weights, and what is broken (DATA-ARFF)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.readers.formats import Options, plan, read
from refclust.data.readers.tables.arff import frame
from refclust.errors import RefclustError
from refclust.notes import listen
from tests.data.conftest import Put

WEATHER = rb"""% the weather
@RELATION 'the weather'

@attribute outlook {sunny, overcast, 'very rainy'}
@attribute 'the temp' real
@ATTRIBUTE "humi\"dity" INTEGER
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
sunny,85,85,'it\'s hot',"2020-01-01"
% a comment
overcast, 80.5 ,?,?,'2020-01-02'

'very rainy',1e1,3,"x, {y}",?
{1 3, 2 5, 3 'a b', 4 "2020-01-03"}
"""
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def test_columns_as_they_are_declared(put: Put) -> None:
    table = frame(put("w.arff", WEATHER), Options())
    assert table.names == ("outlook", "the temp", 'humi"dity', "note", "day")
    assert [column.kind for column in table.columns] == [
        *("nominal", "number", "number", "text", "date")
    ]
    assert [column.cells for column in table.columns] == [
        ("sunny", "overcast", "very rainy", "sunny"),
        (85.0, 80.5, 10.0, 3.0),
        (85.0, None, 3.0, 5.0),
        ("it's hot", None, "x, {y}", "a b"),
        ("2020-01-01", "2020-01-02", None, "2020-01-03"),
    ]
    assert table.columns[0].categories == ("sunny", "overcast", "very rainy")
    assert list(table.lines or ()) == [10, 12, 14, 15]
    assert frame("w.arff", Options(), 1).n == 1
    facts = dict(plan("w.arff").facts)
    assert facts["nominal"] == "1: outlook"


@pytest.mark.spec("DATA-ARFF")
@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_sparse_and_dense_rows_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]
) -> None:
    head = "@relation r\n" + "".join(f"@attribute x{j} numeric\n" for j in range(3)) + "@data\n"
    folder = tmp_path_factory.mktemp("a")
    dense, sparse = folder / "d.arff", folder / "s.arff"
    dense.write_text(head + "".join(",".join(map(repr, row)) + "\n" for row in rows), "utf-8")
    entries = [
        [f"{j} {x!r}" for j, x in enumerate(row) if x or math.copysign(1, x) < 0] for row in rows
    ]
    sparse.write_text(head + "".join("{" + ", ".join(row) + "}\n" for row in entries), "utf-8")
    assert [*read(str(dense)).rows()] == [*map(tuple, rows)]
    assert read(str(dense)).digest() == read(str(sparse)).digest()


def test_weights_of_rows(put: Put) -> None:
    path = put("a.arff", b"@relation r\n@attribute x real\n@data\n1,{2.5}\n{0 2},{0}\n3\n")
    heard: list[str] = []
    listen(heard.append)
    assert read(path).weights is None
    listen(None)
    assert heard == ["a.arff: rows have weights, which are not used; --weight-column weight does"]
    data = read(path, options=Options(weight_column="weight"))
    assert list(data.weights or ()) == [2.5, 0.0, 1.0]
    assert [*data.rows()] == [(1.0,), (2.0,), (3.0,)]


def test_cells_between_blanks(put: Put) -> None:
    path = put("a.arff", b"@relation r\n@attribute x real\n@attribute y real\n@data\n1 2\n3\t4\n")
    assert [*read(path).rows()] == [(1.0, 2.0), (3.0, 4.0)]


HEAD = "@relation r\n@attribute x real\n@attribute k {a,b}\n@attribute s string\n@data\n"


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", "empty-file", "a.arff is empty; it should begin with @relation"),
        ("@relation r\n@data\n1\n", "bad-header", "a.arff:2: @data, but no @attribute was declar"),
        ("@relation r\n@attribute x real\n", "bad-header", "a.arff:2: the file ends before @data"),
        ("@relation r\n1,2\n", "bad-header", "a.arff:2: '1,2'; '@attribute name type' or @data"),
        ("@attribute x\n@data\n", "bad-header", "a.arff:1: the type of 'x' is ''; numeric, string"),
        ("@attribute x money\n", "bad-header", "a.arff:1: the type of 'x' is 'money'; numeric"),
        (
            "@attribute x relational\n",
            "bad-header",
            "a.arff:1: 'x' is relational; a table in a cel",
        ),
        ("@attribute x {a,a}\n", "bad-header", "a.arff:1: the categories of 'x' are '{a,a}'"),
        ("@attribute x {a,'b}\n", "bad-header", "a.arff:1: the categories of 'x' are"),
        (
            "@attribute x real\n@attribute x real\n",
            "bad-header",
            "a.arff:2: a second attribute 'x'",
        ),
        (HEAD, "empty-file", "a.arff has no row below @data"),
        (HEAD + "1,a\n", "ragged-rows", "a.arff:6: the row has 2 cells, 3 attributes are declared"),
        (HEAD + "x,a,b\n", "bad-cell", "a.arff:6: column 1 ('x') is 'x', which is not a number"),
        (HEAD + "1e999,a,b\n", "not-finite", "a.arff:6: column 1 ('x') is '1e999', which is bey"),
        (HEAD + "1,c,b\n", "bad-cell", "a.arff:6: column 2 ('k') is 'c', which is not among the"),
        (HEAD + "1,'a,b\n", "bad-file", 'a.arff:6: a quote or a brace in "1,\'a,b" has no coun'),
        (HEAD + "{0 1, 3 x}\n", "index-out-of-range", "a.arff:6: the index 3; 0 to 2 are allowed"),
        (HEAD + "{0 1, 0 2}\n", "index-out-of-range", "a.arff:6: the index 0; 0 to 2 are allowed"),
        (HEAD + "{0 1, 2\n", "bad-file", "a.arff:6: '{0 1, 2'; a sparse row is '{index value, ..."),
        (HEAD + "{zero 1}\n", "bad-file", "a.arff:6: 'zero 1' is no entry 'index value'"),
        (
            HEAD + "{0 1}\n",
            "bad-cell",
            "a.arff:6: column 3 ('s') is left out; a string has no zero",
        ),
    ],
)
def test_broken_files(put: Put, text: str, code: str, message: str) -> None:
    with pytest.raises(RefclustError) as caught:
        frame(put("a.arff", text.encode()), Options())
    assert caught.value.code == code
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_column_that_is_no_feature(put: Put) -> None:
    with pytest.raises(RefclustError) as caught:
        read(put("a.arff", (HEAD + "1,a,b\n").encode()))
    assert str(caught.value).startswith("a.arff:6: column 2 ('k') is 'a', which is not a number")
