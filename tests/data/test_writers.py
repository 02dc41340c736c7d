"""Writers: what was written reads back to the bit, here and in other libraries."""

# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.data.readers.formats import Options, read
from refclust.data.writers import writing as writers
from refclust.data.writers.writing import WRITERS, label_chunks, write, write_labels
from refclust.errors import RefclustError
from refclust.limits import limits

in_one_folder = settings(
    max_examples=settings().max_examples // 2,  # each writes and reads files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).filter(
    lambda name: name == name.strip() and name not in ("id", "label", "weight")
)
BESIDE = Options(id_column="id", label_column="label", weight_column="weight")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Waiting for the disk has its own tests; a thousand files here would wait for seconds.
    monkeypatch.setattr(os, "fsync", lambda _: None)


def bits(data: Dataset) -> list[Any]:
    """All numbers of all rows, so that -0.0 differs from 0.0."""
    plain = (row if isinstance(row, tuple) else row.items() for row in data.rows())
    return [list(map(repr, row)) for row in plain]


@st.composite
def dense_sets(draw: st.DrawFn) -> Dataset:
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cells = draw(st.lists(NUMBERS, min_size=n * d, max_size=n * d))
    return dataset(np.array(cells).reshape(n, d))


@st.composite
def sparse_sets(draw: st.DrawFn) -> Dataset:
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    cells = st.one_of(st.just(0.0), NUMBERS)
    numbers = draw(st.lists(cells, min_size=n * d, max_size=n * d))
    return dataset(sp.csr_array(np.array(numbers).reshape(n, d)))


@pytest.mark.spec("DATA-WRITE", "DATA-NPY", "DATA-SPARSE-FILES")
@in_one_folder
@given(dense_sets(), st.sampled_from(["", ".gz"]))
def test_dense_rows_read_back_to_the_bit(data: Dataset, packed: str) -> None:
    for ending in (".csv", ".tsv", ".jsonl", ".npy", ".npz", ".mtx"):
        path = f"x{ending}{packed if ending != '.npz' else ''}"
        assert write(path, data) == ()
        assert bits(read(path)) == bits(data), ending
    write(f"x.svm{packed}", data)
    again = read(f"x.svm{packed}")
    rows = [tuple(row.get(j, 0.0) for j in range(data.d)) for row in again.rows()]  # type: ignore[union-attr]
    assert (again.d, rows) == (data.d, list(data.rows()))


@pytest.mark.spec("DATA-WRITE", "DATA-NPY", "DATA-SPARSE-FILES")
@in_one_folder
@given(sparse_sets(), st.sampled_from(["", ".gz"]))
def test_sparse_rows_read_back_to_the_bit(data: Dataset, packed: str) -> None:
    for ending in (".npz", ".svm", ".mtx"):
        path = f"x{ending}{packed if ending != '.npz' else ''}"
        write(path, data)
        again = read(path)
        assert (again.digest(), again.d) == (data.digest(), data.d), ending
    write(f"x.jsonl{packed}", data)
    again = read(f"x.jsonl{packed}")
    assert again.features == tuple(map(str, range(data.d)))
    assert again.digest() == data.digest()


@pytest.mark.spec("DATA-WRITE")
@in_one_folder
@given(
    st.lists(NAMES, min_size=2, max_size=3, unique=True), st.lists(NAMES, min_size=2, max_size=2)
)
def test_names_labels_and_weights_read_back(names: list[str], words: list[str]) -> None:
    rows = [[float(i + j) for j in range(len(names))] for i in range(2)]
    data = dataset(rows, ids=words, features=names, labels=words[::-1], weights=[0.1, 3])
    for ending in (".csv", ".tsv"):
        assert write(f"x{ending}", data) == ()
        again = read(f"x{ending}", options=Options(**{**vars_of(BESIDE), "header": True}))
        assert parts(again) == parts(data)
    words_data = dataset(
        [dict(zip(names, row, strict=True)) for row in rows],
        ids=words, labels=words[::-1], weights=[0.1, 3],
    )  # fmt: skip
    assert write("x.jsonl", words_data) == ()
    assert parts(read("x.jsonl", options=BESIDE)) == parts(words_data)


def vars_of(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ("id_column", "label_column", "weight_column")}


def parts(data: Dataset) -> tuple[Any, ...]:
    weights = None if data.weights is None else list(data.weights)
    return data.digest(), data.ids, data.features, data.labels, weights


def test_what_a_format_cannot_hold_is_told() -> None:
    full = dataset([[1, 2]], ids="a", features="xy", labels=["l"], weights=[2])
    sparse = dataset([{"x": 1}], ids="a", labels=["l"], weights=[2])
    everything = ("ids", "features", "labels", "weights")
    assert {name: write("x", full, format=name) for name in WRITERS} == {
        "csv": (),
        "tsv": (),
        "jsonl": everything,
        "npy": everything,
        "npz": everything,
        "svmlight": ("ids", "features", "weights"),
        "matrixmarket": everything,
    }
    assert write("x.jsonl", sparse) == ()
    assert write("x.npz", sparse) == everything


def test_the_text_of_files() -> None:
    dense = dataset([[1, 0.1], [-0.0, 1e300]], labels=["a b", 'q"'])
    write("x.csv", dense)
    assert Path("x.csv").read_text() == 'x1,x2,label\n1.0,0.1,a b\n-0.0,1e+300,"q"""\n'
    write("x.csv", dataset([[1, 2]]))
    assert Path("x.csv").read_text() == "1.0,2.0\n"
    sparse = dataset([{"b": 2}, {"a": 0, "c": 0.5}], labels=[1, 2])
    write("x.svm", sparse)
    assert Path("x.svm").read_text() == "1 2:2 3:0\n2 3:0.5\n"
    write("x.mtx", sparse)
    assert Path("x.mtx").read_text() == (
        "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 2\n2 3 0.5\n"
    )
    write("x.jsonl", sparse)
    assert (
        Path("x.jsonl").read_text()
        == '{"label": "1", "a": 0, "b": 2.0}\n{"label": "2", "c": 0.5}\n'
    )


@pytest.mark.parametrize("form", ["f4", "f8"])
def test_other_libraries_read_what_was_written(form: str) -> None:
    x = np.array([[0.1, 0.0, -2.0], [0.0, 0.0, 1e30]], dtype=form)
    dense, sparse = dataset(x), dataset(sp.csr_array(x))
    write("x.npy", dense)
    assert np.array_equal(np.load("x.npy"), x)
    assert np.load("x.npy").dtype == form
    write("x.npz", dense)
    with np.load("x.npz") as archive:
        assert np.array_equal(archive["X"], x)
    write("s.npz", sparse)
    assert np.array_equal(sp.load_npz("s.npz").toarray(), x)
    write("x.mtx", dense)
    assert np.array_equal(scipy.io.mmread("x.mtx"), x)
    write("s.mtx", sparse)
    assert np.array_equal(scipy.io.mmread("s.mtx").toarray(), x)
    write("s.svm", sparse)
    assert np.array_equal(load_svmlight_file("s.svm")[0].toarray(), x)
    write("x.csv", dense)
    assert np.array_equal(np.loadtxt("x.csv", delimiter=","), x)


def test_the_same_data_give_the_same_bytes() -> None:
    data = dataset([[1, 2], [3, 4]])
    for path in ("a.npz", "a.csv.gz", "a.npy.gz"):
        write(path, data)
        first = Path(path).read_bytes()
        os.utime(path, (0, 0))
        write(path, data)
        assert Path(path).read_bytes() == first


def test_many_rows_come_in_pieces() -> None:
    data = dataset(np.arange(60_000.0).reshape(-1, 3))
    assert len(list(WRITERS["csv"].chunks(data))) > 3
    for ending in (".csv", ".npy", ".npz"):
        write(f"x{ending}", data)
        assert read(f"x{ending}").digest() == data.digest()


def test_a_writer_that_fails_leaves_the_old_file() -> None:
    Path("x.svm").write_text("old")
    with pytest.raises(RefclustError):
        write("x.svm", dataset([[1], [2]], labels=["fine", "not fine"]))
    assert (os.listdir(), Path("x.svm").read_text()) == (["x.svm"], "old")


def failing(code: str, message: str, path: str, data: Dataset, **more: Any) -> None:
    with pytest.raises(RefclustError) as caught:
        write(path, data, **more)
    assert (caught.value.code, str(caught.value)) == (code, message)


def test_refusals() -> None:
    dense, sparse = dataset([[1, 2]]), dataset([{"a": 1}])
    failing("bad-option", "csv does not hold sparse rows; formats that do: jsonl, npz, svmlight, matrixmarket", "x.csv", sparse)  # fmt: skip
    failing("unknown-format", "there is no writer for the format 'xls'; there are: csv, tsv, jsonl, npy, npz, svmlight, matrixmarket", "x", dense, format="xls")  # fmt: skip
    failing("unknown-format", "there is no writer for files that end in '.xls'; there are: csv, tsv, jsonl, npy, npz, svmlight, matrixmarket", "x.xls", dense)  # fmt: skip
    failing("bad-label", "the label of row 0 is 'a:b'; svmlight takes one word without : and #", "x.svm", dataset([[1]], labels=["a:b"]))  # fmt: skip
    failing("bad-label", "the label of row 0 is ''; svmlight takes one word without : and #", "x.svm", dataset([[1]], labels=[""]))  # fmt: skip
    failing("bad-option", "x.npz.gz: npz is packed already; leave .gz out", "x.npz.gz", dense)
    for path, data in (
        ("x.csv", dataset([[1]], features=["label"], labels=["p"])),
        ("x.jsonl", dataset([{"label": 1}], labels=["p"])),
    ):
        failing("feature-mismatch", "two columns would be called 'label'; id, label and weight are names of their own", path, data)  # fmt: skip
    assert os.listdir() == []


# -- labels ---------------------------------------------------------------------------------------


def test_labels_beside_ids() -> None:
    data = dataset([[1], [2]], ids=["a", "b\tc"])
    write_labels("l.csv", data, [1, "x,y"])
    assert Path("l.csv").read_text() == 'id,cluster\na,1\nb\tc,"x,y"\n'
    write_labels("l.tsv", data, [1, 0], extra={"distance": [0.1, 2.0]})
    assert Path("l.tsv").read_text() == 'id\tcluster\tdistance\na\t1\t0.1\n"b\tc"\t0\t2.0\n'
    write_labels("l.jsonl.gz", data, [1, ("p", 2)], names=("name", "group"))
    lines = gzip.decompress(Path("l.jsonl.gz").read_bytes()).splitlines()
    assert list(map(json.loads, lines)) == [
        {"name": "a", "group": 1},
        {"name": "b\tc", "group": "('p', 2)"},
    ]
    stream = io.StringIO()
    write_labels(stream, dataset([[1], [2]]), np.array([5, 6]).tolist())
    assert stream.getvalue() == "id,cluster\n0,5\n1,6\n"


def test_labels_that_are_no_plain_numbers() -> None:
    data = dataset([[1]], ids=["a"])
    for label, written in ((np.int64(3), "3"), (None, "None"), (True, "True"), (1.5, "1.5")):
        assert "".join(label_chunks(data, [label])) == f"id,cluster\na,{written}\n"
    assert (
        "".join(label_chunks(data, list(np.array([3])), format="jsonl"))
        == '{"id": "a", "cluster": 3}\n'
    )
    with pytest.raises(RefclustError) as caught:
        write_labels("l.jsonl", data, [0], extra={"distance": [float("inf")]})
    assert str(caught.value) == "row 'a' has a number that is not finite; JSON has none"
    with pytest.raises(RefclustError) as caught:
        write_labels("l.csv", data, ["a\udc80"])
    assert str(caught.value) == (
        "'id,cluster\\na,a\\udc80' ends in half of a character, which no text file holds"
    )
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ({"format": "xls"}, "unknown-format", "labels cannot be written as 'xls'; allowed: csv, tsv, jsonl"),
        ({"names": ("id", "id")}, "bad-option", "two columns have one name: id, id"),
        ({"extra": {"distance": [1.0]}}, "label-length-mismatch", "1 values of distance for 2 rows"),
    ],
)  # fmt: skip
def test_refusals_of_labels(more: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(RefclustError) as caught:
        label_chunks(dataset([[1], [2]]), [0, 1], **more)
    assert (caught.value.code, str(caught.value)) == (code, message)


def test_a_label_file_needs_an_ending_or_a_format() -> None:
    data = dataset([[1]])
    with pytest.raises(RefclustError) as caught:
        write_labels("labels", data, [0])
    assert str(caught.value) == (
        "labels cannot be written to labels: name a format (csv, tsv, jsonl), or end the name in "
        "one of .csv, .tsv, .tab, .jsonl, .ndjson"
    )
    write_labels("labels", data, [0], format="tsv")
    assert Path("labels").read_text() == "id\tcluster\n0\t0\n"
    with pytest.raises(RefclustError, match=r"^2 values of cluster for 1 rows$"):
        write_labels("labels", data, [0, 1], format="csv")


def test_the_registry_is_closed() -> None:
    with pytest.raises(TypeError):
        writers.WRITERS["x"] = WRITERS["csv"]  # type: ignore[index]


def test_carriage_returns_in_names_come_back(tmp_path: Path) -> None:
    data = dataset(
        [[1.0, 2.0], [3.0, 4.0]], ids=["a\rb", "c"], features=["x\r1", "y"], labels=["l\r1", "m"]
    )
    path = str(tmp_path / "r.csv")
    write(path, data)
    back = read(path, options=Options(id_column="id", label_column="label"))
    assert (back.ids, back.features, back.labels) == (data.ids, data.features, data.labels)


def test_a_mark_of_the_encoding_as_first_label_comes_back_from_svmlight() -> None:
    write("x.svm", dataset([[1.0], [2.0]], labels=["\ufeff", "b"]))
    assert Path("x.svm").read_bytes() == b"\xef\xbb\xbf\xef\xbb\xbf 1:1\nb 1:2\n"
    assert read("x.svm").labels == ("\ufeff", "b")


def test_lines_of_objects_name_the_columns_of_zeros_in_the_first_row_only() -> None:
    matrix = sp.csr_array(np.array([[0, 0, 5.0, 0], [1.5, 0, 0, 0]]))
    write("x.jsonl", dataset(matrix, labels=["é", "b"]))
    assert Path("x.jsonl").read_text("utf-8") == (
        '{"label": "é", "1": 0, "3": 0, "2": 5.0}\n{"label": "b", "0": 1.5}\n'
    )
    write("x.jsonl", dataset(sp.csr_array((1, 1))))
    assert Path("x.jsonl").read_text("utf-8") == '{"0": 0}\n'


def test_a_first_row_that_would_name_too_many_columns_is_refused() -> None:
    wide = dataset(sp.csr_array(([1.0], [101], [0, 1]), shape=(1, 102)))
    size = 10 * 8 + 90 * 9 + 1 * 10  # of 101 names, with quotes and zeros
    with limits(line=size):
        write("x.jsonl", wide)
    with limits(line=size - 1), pytest.raises(RefclustError) as refused:
        write("y.jsonl", wide)
    assert refused.value.code == "too-large"
    assert str(refused.value).startswith(
        "the first row, which names the columns of zeros, takes 900 bytes, and the limit is 899;"
    )
    assert not Path("y.jsonl").exists()
    named = dataset(sp.csr_array(([1.0], [0], [0, 1]), shape=(1, 3)), features=["a", "é", "bb"])
    with limits(line=17), pytest.raises(RefclustError, match="takes 18 bytes"):
        write("y.jsonl", named)
