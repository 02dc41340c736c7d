"""A column of a table as documents (DATA-CSV, DATA-TEXT)."""

from __future__ import annotations

import pytest

from refclust.data.readers.formats import Options, plan, read
from refclust.data.text import TextOptions
from refclust.errors import RefclustError
from tests.data.conftest import Put

MAILS = b'nr;mail;kind;w\n7;"Buy now; buy\ncheap";spam;2\n8;;ham;1\n9;hello you;ham;1\n'


def test_words_of_a_column(put: Put) -> None:
    path = put("a.csv", MAILS)
    roles = {"id_column": "nr", "label_column": "kind", "weight_column": "w"}
    data = read(path, options=Options(text_column="mail", **roles))  # type: ignore[arg-type]
    assert data.features == ("buy", "cheap", "hello", "now", "you")
    assert [*data.rows()] == [{0: 2.0, 1: 1.0, 3: 1.0}, {}, {2: 1.0, 4: 1.0}]
    assert (data.ids, data.labels) == (("7", "8", "9"), ("spam", "ham", "ham"))
    assert list(data.weights or ()) == [2.0, 1.0, 1.0]
    text = TextOptions(stop_words=frozenset(["buy"]), min_length=4)
    few = read(path, options=Options(text_column="2", header=True, text=text))
    assert few.features == ("cheap", "hello")
    assert plan(path, options=Options(text_column="mail")).kind == "text"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            Options(text_column="2"),
            "bad-header",
            "a.csv:1: the column of texts is given by its num",
        ),
        (Options(text_column="body"), "missing-column", "a.csv has no column 'body'; it has: nr"),
        (
            Options(text_column="mail", columns=("w",)),
            "bad-option",
            "features come from the text_c",
        ),
        (Options(text=TextOptions()), "bad-option", "options for texts need a text_column: the co"),
    ],
)
def test_what_is_refused(put: Put, options: Options, code: str, message: str) -> None:
    with pytest.raises(RefclustError) as caught:
        read(put("a.csv", MAILS), options=options)
    assert (caught.value.code, str(caught.value).startswith(message)) == (code, True), caught.value
