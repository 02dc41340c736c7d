"""Bags of words in three old formats: sizes kept, empty documents kept, counts checked."""

# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.readers.formats import Options, choose, plan, read
from refclust.data.readers.sparse import docword, svmlight
from refclust.errors import RefclustError

in_one_folder = settings(
    max_examples=settings().max_examples // 2,  # each writes and reads files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(raw: bytes | str, form: str) -> tuple[int, list[Any]]:
    Path("x.txt").write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    data = read("x.txt", format=form)
    return data.d, list(data.rows())


@pytest.mark.spec("DATA-SPARSE-FILES")
@in_one_folder
@given(
    st.lists(
        st.dictionaries(st.integers(0, 5), st.integers(1, 9), max_size=4), min_size=1, max_size=5
    ),
    st.randoms(use_true_random=False),
)
def test_the_three_formats_hold_the_same_documents(
    documents: list[dict[int, int]], random: Any
) -> None:
    entries = [(i, word, count) for i, row in enumerate(documents) for word, count in row.items()]
    random.shuffle(entries)
    lines = [f"{i + 1} {word + 1} {count}" for i, word, count in entries]
    assert found("\n".join([str(len(documents)), "6", str(len(entries)), *lines]), "docword") == (
        6,
        documents,
    )
    cluto = [" ".join(f"{w + 1} {c}" for w, c in row.items()) for row in documents]
    head = f"{len(documents)} 6 {len(entries)}"
    assert found("\n".join([head, *cluto, ""]), "cluto") == (6, documents)
    if entries:
        ldac = [" ".join([str(len(r)), *(f"{w}:{c}" for w, c in r.items())]) for r in documents]
        width = max(word for _, word, _ in entries) + 1
        assert found("\n".join(ldac), "ldac") == (width, documents)


def test_dense_cluto_and_zero_counts() -> None:
    assert found("2 3\n1 2 3\n4 5.5 -6\n\n", "cluto") == (3, [(1.0, 2.0, 3.0), (4.0, 5.5, -6.0)])
    assert found("2\n3\n2\n1 1 0\n1 2 5\n", "docword") == (3, [{1: 5.0}, {}])
    assert found("1 3 2\n1 0 2 5\n", "cluto") == (3, [{1: 5.0}])


def test_recognition_and_plans() -> None:
    texts = {
        "docword": b"2\n3\n2\n1 1 4\n2 3 1\n",
        "ldac": b"2 0:1 4:2\n0\n1 3:1\n",
        "cluto": b"2 5 3\n1 2 3 4\n\n",
        "svmlight": b"1 0:1 4:2\n0 1:1\n",
    }
    for name, text in texts.items():
        Path("x.gz").write_bytes(gzip.compress(text))
        scores = {
            "docword": docword.sniff_docword("x.gz"),
            "ldac": docword.sniff_ldac("x.gz"),
            "cluto": docword.sniff_cluto("x.gz"),
            "svmlight": svmlight.sniff("x.gz"),
        }
        assert max(scores, key=scores.__getitem__) == name
        assert scores[name] > 0.5
    Path("x.gz").write_bytes(gzip.compress(texts["docword"]))
    assert plan("x.gz", format="docword").facts == (
        ("documents", "2"),
        ("words", "3"),
        ("entries", "2"),
        ("packed", "gzip"),
    )
    Path("x").write_bytes(texts["ldac"])
    assert plan("x", format="ldac").facts == (
        ("first index", "0"),
        ("largest index", "4 in the first lines"),
    )
    Path("x.mat").write_bytes(texts["cluto"])
    assert choose("x.mat").name == "cluto"
    assert plan("x.mat").facts == (("rows", "2"), ("columns", "5"), ("entries", "3"))
    for other in (b"", b"1\n", b"a b\n", b"\x00", b"1\n2\n3\n", b"1 2 3\n"):
        Path("x").write_bytes(other)
        assert (
            docword.sniff_docword("x") == docword.sniff_ldac("x") == docword.sniff_cluto("x") == 0
        )


@pytest.mark.parametrize(
    ("form", "raw", "code", "message"),
    [
        ("docword", b"", "empty-file", "x is empty; it should begin with three lines of sizes"),
        ("docword", b"2\n3\n", "bad-header", "x:2: the file ends before the number of entries"),
        ("docword", b"2 3\n", "bad-header", "x:1: '2 3'; the number of documents is due, alone on its line"),
        ("docword", b"2\nx\n", "bad-cell", "x:2: the number of words is 'x'; a whole number of at least 0 is due"),
        ("docword", b"0\n3\n0\n", "empty-file", "x:3: 0 rows and 3 columns; one each is needed"),
        ("docword", b"1\n2147483647\n0\n", "too-large", "x:3: a row takes 2,147,483,647 columns, and the limit is 67,108,864; refclust --limit columns=2147483647 (or REFCLUST_LIMITS) raises it"),
        ("ldac", b"1 67108864:1\n", "too-large", "x: a row, by its largest index, takes 67,108,865 columns, and the limit is 67,108,864; refclust --limit columns=67108865 (or REFCLUST_LIMITS) raises it"),
        ("cluto", b"1 67108865 0\n\n", "too-large", "x:1: a row takes 67,108,865 columns, and the limit is 67,108,864; refclust --limit columns=67108865 (or REFCLUST_LIMITS) raises it"),
        ("docword", b"99999999999\n3\n0\n", "bad-header", "x:3: 99999999999 rows and 3 columns for 0 entries; allowed are 4194304 rows more than entries and 2147483647 columns"),
        ("docword", b"2\n3\n2\n1 1 1\n", "wrong-count", "x:4: 1 entries; 2 were announced"),
        ("docword", b"2\n3\n1\n1 1 1\n1 2 1\n", "wrong-count", "x:5: more than the 1 entries announced"),
        ("docword", b"2\n3\n1\n3 1 1\n", "index-out-of-range", "x:4: document 3, word 1; allowed are 1 to 2 and 1 to 3"),
        ("docword", b"2\n3\n1\n1 0 1\n", "index-out-of-range", "x:4: document 1, word 0; allowed are 1 to 2 and 1 to 3"),
        ("docword", b"2\n3\n3\n2 1 1\n1 1 1\n2 1 1\n", "index-out-of-range", "x:6: row 2, column 1 (counted from 1) comes twice; once is allowed"),
        ("docword", b"2\n3\n1\n1 1\n", "bad-cell", "x:4: '1 1'; an entry is 'document word count'"),
        ("docword", b"2\n3\n1\n1 1 nan\n", "not-finite", "x:4: 'nan'; only finite numbers are allowed"),
        ("ldac", b"\n", "empty-file", "x is empty; it should hold a line 'number word:count ...' a document"),
        ("ldac", b"0\n0\n", "bad-file", "x: no document holds a word"),
        ("ldac", b"1 1:1\n2 1:1\n", "wrong-count", "x:2: 1 entries; 2 were announced"),
        ("ldac", b"x 1:1\n", "bad-cell", "x:1: the number of words is 'x'; a whole number of at least 0 is due"),
        ("ldac", b"1 1\n", "bad-cell", "x:1: '1' is no entry 'word:count'"),
        ("ldac", b"2 1:1 1:2\n", "index-out-of-range", "x:1: the index 1 comes twice; once is allowed"),
        ("cluto", b"", "empty-file", "x is empty; it should begin with 'rows columns entries'"),
        ("cluto", b"MATLAB 5.0 MAT-file, Platform\n", "bad-header", "x:1: 'MATLAB 5.0 MAT-file, Platform'; 'rows columns entries' (sparse) or 'rows columns' is due"),
        ("cluto", b"0 2\n", "empty-file", "x:1: 0 rows, 2 columns; one each is needed"),
        ("cluto", b"2 2 1\n1 1\n", "wrong-count", "x:2: 1 rows; 2 were announced"),
        ("cluto", b"1 2 1\n1 1\n1 1\n", "wrong-count", "x:3: more than the 1 rows announced"),
        ("cluto", b"1 2 2\n1 1\n", "wrong-count", "x:2: 1 entries; 2 were announced"),
        ("cluto", b"1 2\n1\n", "wrong-count", "x:2: 1 numbers; 2 columns announced"),
        ("cluto", b"1 2 1\n1\n", "bad-cell", "x:2: 1 numbers; pairs 'column value' are due"),
        ("cluto", b"1 2 1\n3 1\n", "index-out-of-range", "x:2: column 3; allowed are 1 to 2"),
        ("cluto", b"1 2 2\n1 1 1 2\n", "index-out-of-range", "x:2: the index 1 comes twice; once is allowed"),
        ("cluto", b"1 2\n1 z\n", "bad-cell", "x:2: 'z' is no number"),
    ],
)  # fmt: skip
@pytest.mark.spec("DATA-SPARSE-FILES")
def test_broken_files(form: str, raw: bytes, code: str, message: str) -> None:
    Path("x").write_bytes(raw)
    with pytest.raises(RefclustError) as caught:
        read("x", format=form)
    assert (caught.value.code, str(caught.value)) == (code, message)


@pytest.mark.parametrize("form", ["docword", "ldac", "cluto"])
def test_options_that_are_of_no_use(form: str) -> None:
    Path("x").write_bytes(b"1\n")
    with pytest.raises(RefclustError) as caught:
        read("x", format=form, options=Options(base=1))
    taken = "label_column, vocabulary" if form == "cluto" else "vocabulary"
    assert str(caught.value) == f"the format {form} cannot use the option base; it takes {taken}"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    ("format", "raw"),
    [
        ("docword", b"2\n3\n2\n1 2 5\n\n2 3 1\n"),
        ("ldac", b"1 1:5\n\n1 2:1\n"),
        ("cluto", b"2 3 2\n2 5\n3 1\n"),
    ],
)
def test_line_ends(format: str, raw: bytes, end: bytes) -> None:  # noqa: A002
    Path("x").write_bytes(raw.replace(b"\n", end))
    assert list(read("x", format=format).rows()) == [{1: 5.0}, {2: 1.0}]
