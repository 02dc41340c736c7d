"""SVMlight and LIBSVM files: labels as text, sparse rows, the first index decided in the open."""

# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from refclust.data.accepting.door import dataset
from refclust.data.readers.formats import Options, choose, plan, read
from refclust.data.readers.sparse import svmlight
from refclust.errors import RefclustError

in_one_folder = settings(
    max_examples=settings().max_examples // 2,  # each writes and reads files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(raw: bytes, code: str, message: str, **options: Any) -> None:
    Path("x.svm").write_bytes(raw)
    with pytest.raises(RefclustError) as caught:
        read("x.svm", options=Options(**options))
    assert (caught.value.code, str(caught.value)) == (code, message)


def rows(text: str, **options: Any) -> list[Any]:
    Path("x.svm").write_text(text, encoding="utf-8")
    return list(read("x.svm", options=Options(**options)).rows())


@pytest.mark.spec("DATA-SPARSE-FILES")
@in_one_folder
@given(st.data(), st.booleans())
def test_files_of_another_library(draw: st.DataObject, zero_based: bool) -> None:
    n, d = draw.draw(st.integers(1, 5)), draw.draw(st.integers(1, 5))
    cells = st.sampled_from([0.0, 0.0, 1.0, -2.5, 0.1])
    x = np.array(draw.draw(st.lists(cells, min_size=n * d, max_size=n * d))).reshape(n, d)
    x[0, 0] = x[0, -1] = 7  # so that the file shows all columns
    dump_svmlight_file(x, np.arange(n), "x.svm", zero_based=zero_based)
    found = read("x.svm")
    assert found.digest() == dataset(sp.csr_matrix(x)).digest()
    assert found.labels == tuple(map(str, range(n)))


def test_the_first_index() -> None:
    text = "a 2:5\nb 3:1 1:2\n"
    assert rows(text) == rows(text, base=1) == [{1: 5.0}, {0: 2.0, 2: 1.0}]
    assert rows(text, base=0) == [{2: 5.0}, {1: 2.0, 3: 1.0}]
    assert plan("x.svm").notes == (
        "no index 0 in the first lines: indices are taken to count from 1; "
        "give base=0 if they count from 0",
    )
    assert plan("x.svm", options=Options(base=0)).notes == ()
    assert rows("a 2:5\nb 0:1\n") == [{2: 5.0}, {0: 1.0}]
    assert dict(plan("x.svm").facts)["first index"] == "0"
    assert read("x.svm").d == 3
    refused(b"a 0:1\n", "index-out-of-range", "x.svm: the index 0 occurs, but indices were said to count from 1", base=1)  # fmt: skip
    refused(b"a 1:1\n", "bad-option", "the first index (base) is 2; 0 or 1 is allowed", base=2)


def test_zeros_are_dropped_and_count_for_the_columns() -> None:
    assert rows("a 1:0 4:0 2:7\n") == [{1: 7.0}]
    assert read("x.svm").d == 4


def test_labels_groups_comments_and_blank_lines() -> None:
    text = "# made by hand\n+1 qid:3 1:1 # first\n\n1,7 2:1e-3\r\n-1\n"
    assert rows(text) == [{0: 1.0}, {1: 0.001}, {}]
    assert read("x.svm").labels == ("+1", "1,7", "-1")
    assert "groups (qid:) are left out" in plan("x.svm").notes
    assert rows("1:1\n2:1") == [{0: 1.0}, {1: 1.0}]
    assert read("x.svm").labels is None
    assert dict(plan("x.svm").facts)["labels"] == "no"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    assert rows(end.join(("1:2", "2:3", "3:1", ""))) == [{0: 2.0}, {1: 3.0}, {2: 1.0}]
    assert rows(end.join(("1 1:33 # first", "2 1:19e-1 2:5"))) == [{0: 33.0}, {0: 1.9, 1: 5.0}]
    assert svmlight.sniff("x.svm") == 0.8
    with pytest.raises(RefclustError, match=r"^x\.svm:4: 'b' is no entry 'index:value'$"):
        rows(end.join(("a 1:1", "", "a 1:1", "a b", "a 1:1")))


def test_numbers_of_lines_stay_right_after_a_block_with_other_line_ends() -> None:
    with pytest.raises(RefclustError, match=r"^x\.svm:300001: 'b' is no entry 'index:value'$"):
        rows("1 1:1\r" * 300_000 + "\n" + "a b\n")


def test_a_plan_shows_labels_that_nobody_sees() -> None:
    Path("x.svm").write_bytes("\uffff 1:1\n".encode())
    assert dict(plan("x.svm").facts)["labels"] == "1 in the first lines: '\\uffff'"


def test_packing_and_recognition() -> None:
    Path("counts.txt.gz").write_bytes(gzip.compress(b"0 99:3 257:1\n1 0:2\n"))
    Path("named.libsvm").write_bytes(b"0 1:1\n")
    assert choose("named.libsvm").name == "svmlight"
    assert svmlight.sniff("counts.txt.gz") == 0.8
    assert read("counts.txt.gz", format="svmlight").d == 258
    facts = dict(plan("counts.txt.gz", format="svmlight").facts)
    assert facts == {
        "labels": "2 in the first lines: 0, 1",
        "first index": "0",
        "largest index": "257 in the first lines",
        "packed": "gzip",
    }
    for other in (b"", b"1,2\n", b"hello world\n", b"%%MatrixMarket\n", b"\x00\x01", b"\xff\n"):
        Path("other").write_bytes(other)
        assert svmlight.sniff("other") == 0.0


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (b"", "empty-file", "x.svm is empty; it should hold a line 'label index:value ...' a row"),
        (b"# only\n\n", "empty-file", "x.svm is empty; it should hold a line 'label index:value ...' a row"),
        (b"a\nb\n", "bad-file", "x.svm: no line holds an entry 'index:value'"),
        (b"a 1:1\nb 5\n", "bad-cell", "x.svm:2: '5' is no entry 'index:value'"),
        (b"a 1:x\n", "bad-cell", "x.svm:1: 'x' is no number"),
        (b"a 1:\n", "bad-cell", "x.svm:1: '' is no number"),
        (b"a 1:1_0\n", "bad-cell", "x.svm:1: '1_0' is no number"),
        ("a 1:١\n".encode(), "bad-cell", "x.svm:1: '١' is no number"),
        (b"a -1:1\n", "bad-cell", "x.svm:1: an index is '-1'; a whole number of at least 0 is due"),
        (b"a x:1\n", "bad-cell", "x.svm:1: an index is 'x'; a whole number of at least 0 is due"),
        ("a ²:1\n".encode(), "bad-cell", "x.svm:1: an index is '²'; a whole number of at least 0 is due"),
        (b"a qid:x 1:1\n", "bad-cell", "x.svm:1: the group after qid: is 'x'; a whole number of at least 0 is due"),
        (b"a 1:1\n\nb 1:nan\n", "not-finite", "x.svm:3: 'nan'; only finite numbers are allowed"),
        (b"a 1:1e999\n", "not-finite", "x.svm:1: '1e999'; only finite numbers are allowed"),
        (b"a 3:1 1:2 3:4\n", "index-out-of-range", "x.svm:1: the index 3 comes twice; once is allowed"),
        (b"a 2147483647:1\n", "too-large", "x.svm: a row, by its largest index, takes 2,147,483,647 columns, and the limit is 67,108,864; refclust --limit columns=2147483647 (or REFCLUST_LIMITS) raises it"),
        (b"a 2147483648:1\n", "index-out-of-range", "x.svm:1: the index 2147483648 is too large; at most 2147483647 is allowed"),
        (b"a " + b"9" * 50 + b":1\n", "index-out-of-range", f"x.svm:1: an index is '{'9' * 37}...'; that is too large"),
        (b"a 1:1\n2:1\n", "empty-label", "x.svm:2: the row has no label, unlike the line before; label all rows or none"),
        (b"1:1\na 2:1\n", "empty-label", "x.svm:2: the row has a label, unlike the line before; label all rows or none"),
        (b"a 1:1\n\x93NUMPY\n", "not-text", "x.svm:2: the byte 0x93 at offset 6 is not UTF-8 text; a table from Windows or Excel is often cp1252: --encoding cp1252"),
    ],
)  # fmt: skip
@pytest.mark.spec("DATA-SPARSE-FILES")
def test_broken_files(raw: bytes, code: str, message: str) -> None:
    refused(raw, code, message)


def test_options_that_are_of_no_use() -> None:
    refused(b"a 1:1\n", "bad-option", "the format svmlight cannot use the option array; it takes base, vocabulary", array="X")  # fmt: skip
    Path("x.svm.gz").write_bytes(gzip.compress(b"a 1:1\n" * 1000)[:-12])
    with pytest.raises(RefclustError, match=r"^x\.svm\.gz ends in \.gz but cannot be unpacked"):
        read("x.svm.gz")
