"""MatrixMarket files: the same matrices as SciPy reads, and counts that must be right."""

# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.accepting.door import dataset
from refclust.data.readers.formats import Options, choose, plan, read
from refclust.data.readers.sparse import matrixmarket
from refclust.errors import RefclustError

in_one_folder = settings(
    max_examples=settings().max_examples // 2,  # each writes and reads files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
SPARSE = b"%%MatrixMarket matrix coordinate real general\n"
DENSE = b"%%MatrixMarket matrix array real general\n"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(raw: bytes) -> list[Any]:
    Path("x.mtx").write_bytes(raw)
    return list(read("x.mtx").rows())


@pytest.mark.spec("DATA-SPARSE-FILES")
@in_one_folder
@given(
    st.data(),
    st.sampled_from(["real", "integer", "pattern"]),
    st.sampled_from(["general", "symmetric", "skew-symmetric"]),
    st.booleans(),
)
def test_files_of_another_library(
    draw: st.DataObject, field: str, symmetry: str, dense: bool
) -> None:
    n = draw.draw(st.integers(1, 4))
    d = draw.draw(st.integers(1, 4)) if symmetry == "general" else n
    numbers: dict[str, list[Any]] = {
        "real": [0.0, 0.0, -2.5, 0.1],
        "integer": [0, 0, 3, -4],
        "pattern": [0, 1],
    }
    cells = st.sampled_from(numbers[field])
    x = np.array(draw.draw(st.lists(cells, min_size=n * d, max_size=n * d))).reshape(n, d)
    if symmetry != "general":
        lower = np.tril(x, -1)
        x = lower + lower.T + np.diag(np.diag(x)) if symmetry == "symmetric" else lower - lower.T
    if field == "pattern":
        x, dense = np.abs(x), False
        symmetry = "general" if symmetry == "skew-symmetric" else symmetry
    given_ = x if dense else sp.coo_array(x)
    scipy.io.mmwrite("x.mtx", given_, field=field, symmetry=symmetry)
    expected = dataset(x) if dense else dataset(sp.csr_array(x.astype("f8")))
    found = read("x.mtx")
    assert (found.kind, list(found.rows())) == (expected.kind, list(expected.rows()))
    assert dict(plan("x.mtx").facts)["symmetry"] == symmetry


def test_entries_in_any_order_comments_and_blank_lines() -> None:
    body = b"% made by hand\n\n3 4 4\n3 1 1.5\n\n1 4 2\r\n3 4 -1\n 1 2 0 \n"
    assert rows(SPARSE + body) == [{3: 2.0}, {}, {0: 1.5, 3: -1.0}]
    assert rows(SPARSE.replace(b"real", b"PATTERN").lower() + b"1 2 1\n1 2\n") == [{1: 1.0}]
    assert rows(SPARSE.replace(b"general", b"symmetric") + b"2 2 1\n1 2 5\n") == [
        {1: 5.0},
        {0: 5.0},
    ]
    assert rows(SPARSE.replace(b"real", b"double") + b"1 1 0\n") == [{}]
    assert rows(DENSE.replace(b"general", b"symmetric") + b"2 2\n1\n2\n3\n") == [(1, 2), (2, 3)]
    assert rows(DENSE.replace(b"general", b"skew-symmetric") + b"2 2\n2\n") == [(0, -2), (2, 0)]


def test_line_ends() -> None:
    expected = [{3: 2.0}, {}, {0: 1.5}]
    body = SPARSE + b"% made by hand\n\n3 4 2\n3 1 1.5\n1 4 2\n"
    for end in (b"\n", b"\r\n", b"\r"):
        assert rows(body.replace(b"\n", end)) == expected
    with pytest.raises(RefclustError, match=r"^x\.mtx:1: ''; a matrix begins with"):
        rows(b"\n" + body)


def test_packing_plan_and_recognition() -> None:
    Path("x.mtx.gz").write_bytes(gzip.compress(DENSE + b"2 1\n1\n-0.0\n"))
    assert [list(map(repr, row)) for row in read("x.mtx.gz").rows()] == [["1.0"], ["-0.0"]]
    assert choose("x.mtx.gz").name == "matrixmarket"
    assert matrixmarket.sniff("x.mtx.gz") == 1.0
    assert plan("x.mtx.gz").kind == "dense"
    assert plan("x.mtx.gz").facts == (
        ("layout", "array"),
        ("numbers", "real"),
        ("symmetry", "general"),
        ("rows", "2"),
        ("columns", "1"),
        ("entries", "2"),
        ("packed", "gzip"),
    )
    Path("other").write_bytes(b"1,2\n")
    assert matrixmarket.sniff("other") == 0.0
    with pytest.raises(RefclustError, match="cannot use the option header"):
        read("x.mtx.gz", options=Options(header=True))


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (b"", "empty-file", "x.mtx is empty; it should begin with %%MatrixMarket"),
        (b"1 2 3\n", "bad-header", "x.mtx:1: '1 2 3'; a matrix begins with '%%MatrixMarket matrix coordinate real general' or the like"),
        (SPARSE.replace(b"matrix ", b"vector "), "bad-header", "x.mtx:1: '%%MatrixMarket vector coordinate real...'; a matrix begins with '%%MatrixMarket matrix coordinate real general' or the like"),
        (SPARSE.replace(b"real", b"complex"), "bad-header", "x.mtx:1: 'complex' cannot be read; allowed: real, double, integer, pattern"),
        (SPARSE.replace(b"general", b"hermitian"), "bad-header", "x.mtx:1: 'hermitian' cannot be read; allowed: general, symmetric, skew-symmetric"),
        (DENSE.replace(b"real", b"pattern"), "bad-header", "x.mtx:1: an array has numbers; 'pattern' goes with 'coordinate'"),
        (SPARSE, "bad-header", "x.mtx: the file ends before the line of sizes"),
        (SPARSE + b"2 2\n", "bad-header", "x.mtx:2: '2 2'; the sizes 'rows columns entries' are due here"),
        (DENSE + b"2 2 4\n", "bad-header", "x.mtx:2: '2 2 4'; the sizes 'rows columns' are due here"),
        (SPARSE + b"2 x 1\n", "bad-cell", "x.mtx:2: a size is 'x'; a whole number of at least 0 is due"),
        (SPARSE + b"0 2 0\n", "empty-file", "x.mtx:2: 0 rows and 2 columns; one each is needed"),
        (DENSE + b"2 0\n", "empty-file", "x.mtx:2: 2 rows and 0 columns; one each is needed"),
        (SPARSE.replace(b"general", b"symmetric") + b"2 3 1\n", "bad-header", "x.mtx:2: 2 rows and 3 columns; symmetric needs a square"),
        (SPARSE + b"1 67108865 0\n", "too-large", "x.mtx:2: a row takes 67,108,865 columns, and the limit is 67,108,864; refclust --limit columns=67108865 (or REFCLUST_LIMITS) raises it"),
        (SPARSE + b"999999999999 1 0\n", "bad-header", "x.mtx:2: 999999999999 rows and 1 columns for 0 entries; allowed are 4194304 rows more than entries and 2147483647 columns"),
        (SPARSE + b"2 2 2\n1 1 1\n", "wrong-count", "x.mtx:3: 1 entries; 2 were announced"),
        (SPARSE + b"2 2 1\n1 1 1\n2 2 1\n", "wrong-count", "x.mtx:4: more than the 1 entries announced"),
        (DENSE + b"2 2\n1\n2\n3\n", "wrong-count", "x.mtx:5: 3 numbers; 4 were announced"),
        (DENSE + b"1 1\n1\n2\n", "wrong-count", "x.mtx:4: more than the 1 numbers announced"),
        (SPARSE + b"2 2 1\n3 1 1\n", "index-out-of-range", "x.mtx:3: row 3, column 1; allowed are 1 to 2 and 1 to 2"),
        (SPARSE + b"2 2 1\n1 0 1\n", "index-out-of-range", "x.mtx:3: row 1, column 0; allowed are 1 to 2 and 1 to 2"),
        (SPARSE + b"2 2 3\n1 2 1\n\n2 2 1\n1 2 5\n", "index-out-of-range", "x.mtx:6: row 1, column 2 (counted from 1) comes twice; once is allowed"),
        (SPARSE.replace(b"general", b"symmetric") + b"2 2 2\n1 2 1\n2 1 1\n", "index-out-of-range", "x.mtx:4: row 1, column 2 (counted from 1) comes twice; once is allowed"),
        (SPARSE.replace(b"general", b"skew-symmetric") + b"2 2 1\n1 1 1\n", "index-out-of-range", "x.mtx:3: a skew-symmetric matrix has no diagonal"),
        (SPARSE + b"2 2 1\n1 1\n", "bad-cell", "x.mtx:3: '1 1'; an entry is 'row column value'"),
        (SPARSE.replace(b"real", b"pattern") + b"2 2 1\n1 1 1\n", "bad-cell", "x.mtx:3: '1 1 1'; an entry is 'row column'"),
        (DENSE + b"1 2\n1 2\n", "bad-cell", "x.mtx:3: '1 2'; one number a line is due"),
        (SPARSE + b"1 1 1\n1 1 1.0D+00\n", "bad-cell", "x.mtx:3: '1.0D+00' is no number"),
        (SPARSE.replace(b"real", b"integer") + b"1 1 1\n1 1 1.5\n", "bad-cell", "x.mtx:3: '1.5' is no whole number; the banner says integer"),
        (SPARSE + b"1 1 1\n1 1 inf\n", "not-finite", "x.mtx:3: 'inf'; only finite numbers are allowed"),
        (SPARSE + b"1 1 1\n1 1 \x00\n", "not-text", "x.mtx:3: the byte 0x00 at offset 56 is not UTF-8 text"),
    ],
)  # fmt: skip
@pytest.mark.spec("DATA-SPARSE-FILES")
def test_broken_files(raw: bytes, code: str, message: str) -> None:
    Path("x.mtx").write_bytes(raw)
    with pytest.raises(RefclustError) as caught:
        read("x.mtx")
    assert (caught.value.code, str(caught.value)) == (code, message)
