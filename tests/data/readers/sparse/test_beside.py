"""Vocabularies and labels that stand beside a matrix (DATA-BESIDE)."""

from __future__ import annotations

import gzip
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.readers.formats import Options, read
from refclust.errors import RefclustError
from tests.data.conftest import Put, piped

DOCWORD = b"2\n3\n3\n1 1 2\n1 3 1\n2 2 5\n"
WORDS = b"alpha\nbeta gamma\nd\xc3\xa9lta\n"
NAMES = ("alpha", "beta gamma", "délta")


@pytest.mark.parametrize(
    ("data", "beside", "content"),
    [
        ("docword.kos.txt", "vocab.kos.txt", DOCWORD),
        ("docword.kos.txt", "vocab.kos.txt.gz", DOCWORD),
        ("a.docword", "a.vocab", DOCWORD),
        ("a.docword", "a.docword.vocab.txt", DOCWORD),
        ("a.mat", "a.mat.clabel", b"2 3 2\n1 1\n3 2\n"),
        ("a.mat", "a.clabel", b"2 3\n1 1 1\n3 2 2\n"),
        ("a.svm", "a.vocab", b"x 1:2\ny 2:1\n"),
        ("a.ldac", "a.ldac.vocab", b"1 0:2\n1 1:1\n"),
    ],
)
def test_vocabularies_are_found(put: Put, data: str, beside: str, content: bytes) -> None:
    path = put(data, content)
    form = "docword" if "docword" in data else None
    assert read(path, format=form).features is None
    put(beside, gzip.compress(WORDS) if beside.endswith(".gz") else WORDS)
    named = read(path, format=form)
    assert named.features == NAMES
    assert read(path, format=form, options=Options(vocabulary="")).features is None
    other = put("other", b"x\r\ny\r\nz\r\n")
    assert read(path, format=form, options=Options(vocabulary=other)).features == ("x", "y", "z")


@pytest.mark.spec("DATA-BESIDE")
@given(st.lists(st.text(string.ascii_letters, min_size=1), min_size=1, unique=True))
def test_line_j_is_the_name_of_column_j(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("v")
    (folder / "a.vocab").write_text("\n".join(words) + "\n", encoding="utf-8")
    (folder / "a.svm").write_text(f"c 1:1 {len(words)}:1\n" if len(words) > 1 else "c 1:1\n")
    data = read(str(folder / "a.svm"))
    assert (data.d, data.features) == (len(words), tuple(words))


def test_labels_of_rows_beside_cluto(put: Put) -> None:
    path = put("a.mat", b"2 3 2\n1 1\n3 2\n")
    put("a.mat.rlabel", b"doc one\ndoc two\n")
    put("a.mat.rclass", b"sport\nnews\n")
    assert read(path).ids == ("doc one", "doc two")
    assert read(path, options=Options(label_column="rclass")).labels == ("sport", "news")
    put("a.mat.rlabel", b"doc one\n")
    with pytest.raises(RefclustError, match=r"^a\.mat\.rlabel has 1 names, a\.mat has 2 rows$"):
        read(path)


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"a\nb\n", "wrong-count", "vocab.x.txt has 2 names, docword.x.txt has 3 columns; --voc"),
        (b"a\nb\nc\nd\n", "wrong-count", "vocab.x.txt has 4 names, docword.x.txt has 3 columns"),
        (b"a\n\nc\n", "bad-file", "vocab.x.txt:2: the line is empty"),
        (b"a\nb\na\n", "feature-mismatch", "vocab.x.txt:3: 'a' stands in line 1 already; column"),
        (b"", "empty-file", "vocab.x.txt is empty; it should hold a name a line"),
        (b"\xff\n", "not-text", "vocab.x.txt:1: the byte 0xff at offset 0 is not UTF-8 text"),
    ],
)
def test_broken_vocabularies(put: Put, content: bytes, code: str, message: str) -> None:
    path = put("docword.x.txt", DOCWORD)
    put("vocab.x.txt", content)
    with pytest.raises(RefclustError) as caught:
        read(path, format="docword")
    assert (caught.value.code, str(caught.value).startswith(message)) == (code, True), caught.value


def test_nothing_stands_beside_a_pipe() -> None:
    with piped(DOCWORD) as path:
        assert read(path, format="docword").features is None
