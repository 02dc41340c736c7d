"""Whatever bytes a textual reader gets, it returns a data set or refuses with a code."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from math import isfinite
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.dataset import Dataset
from refclust.data.readers import jsonl, texts
from refclust.data.readers.formats import Options, Plan
from refclust.data.readers.tables import csvfile
from refclust.errors import RefclustError

T = TypeVar("T")
Read = Callable[[str, Options], Dataset]
Tell = Callable[[str, Options], Plan]
Sniff = Callable[[str], float]

READERS: dict[str, tuple[Read, Tell, Sniff]] = {
    "csv": (csvfile.read_csv, csvfile.plan_csv, csvfile.sniff_csv),
    "tsv": (csvfile.read_tsv, csvfile.plan_tsv, csvfile.sniff_tsv),
    "jsonl": (jsonl.read, jsonl.plan, jsonl.sniff),
    "lines": (texts.read_lines, texts.plan_lines, texts.sniff_lines),
}
VALID = (
    b'x,y,"a ""b"""\r\n1,2.5,u\r\n-3e2, 4 ,"v\nw"\r\n',
    b"\xef\xbb\xbf1;2\n3;4\n\n",
    b"1\t2\n3\t4\n",
    b" 1  2 \n 3 4\n",
    b"[1, 2.5]\n[-3e2, 4]\n",
    b'{"x": 1, "y": "u"}\n{"y": "v", "z": 2}\n',
    "Größe: it's 3.5 – don’t\n\nनमस्ते\n".encode(),
)
PIECES = st.sampled_from(
    (
        *(b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b" ", b"\t"),
        *(b"nan", b"1e999", b"_", b"[", b"]", b"{", b"}", b":", b"null", b"true", b'"a":1', b"-"),
        *(b"\\ud800", b"9" * 4500, b"[" * 2000, b'"' + b"z" * 140_000, b'"\\n":"", '),
        "\u0664\u2019\u0301\u2028".encode(),
    )
)
OPTIONS = st.builds(
    Options,
    delimiter=st.sampled_from([None, None, ";", " ", ";;"]),
    header=st.sampled_from([None, None, True, False]),
    id_column=st.sampled_from([None, None, "x", "1"]),
    label_column=st.sampled_from([None, None, "y", "3"]),
    weight_column=st.sampled_from([None, None, None, "z", "2"]),
    columns=st.sampled_from([None, None, ("x",), ("1", "2")]),
    text_column=st.sampled_from([None, None, None, "y"]),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A valid file with some bytes cut out, put in or repeated."""
    content = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, len(content)))
        end = draw(st.integers(begin, min(len(content), begin + 6)))
        middle = draw(st.one_of(PIECES, st.binary(max_size=4), st.just(content[begin:end] * 2)))
        content = content[:begin] + middle + content[end:]
    return content


def attempt(call: Callable[[str, Options], T], path: str, options: Options) -> T | RefclustError:
    try:
        return call(path, options)
    except RefclustError as error:
        return error


def check_error(error: RefclustError) -> None:
    assert error.code != "error"
    assert str(error).isprintable()
    assert str(error)


def check(name: str, path: str, options: Options) -> None:
    read, tell, sniff = READERS[name]
    assert 0 <= sniff(path) <= 1
    plan = attempt(tell, path, options)
    if isinstance(plan, RefclustError):
        check_error(plan)
    else:
        assert all(word.isprintable() for fact in plan.facts for word in fact)
        assert all(note.isprintable() for note in plan.notes)
    data = attempt(read, path, options)
    if isinstance(data, RefclustError):
        check_error(data)
    else:
        assert data.n >= 1
        assert all(map(isfinite, data.matrix.values))
        assert data.digest() == read(path, options).digest()


@pytest.mark.spec("DATA-CSV", "DATA-JSONL", "DATA-LINES", "DATA-READ")
@pytest.mark.parametrize("name", READERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(mutated(), st.binary(max_size=60)), options=OPTIONS, packed=st.booleans())
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    content: bytes,
    options: Options,
    packed: bool,
) -> None:
    path = tmp_path_factory.getbasetemp() / ("fuzzed.gz" if packed else "fuzzed")
    path.write_bytes(gzip.compress(content, 1, mtime=0) if packed else content)
    check(name, str(path), options)
    check(name, str(path), Options())


@pytest.mark.parametrize("name", READERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.sampled_from(VALID), place=st.integers(0, 200), byte=st.integers(0, 255))
def test_damaged_gzip_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes, place: int, byte: int
) -> None:
    packed = bytearray(gzip.compress(content, 1))
    packed[place % len(packed)] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.gz"
    path.write_bytes(packed)
    check(name, str(path), Options())
    path.write_bytes(packed[: place % len(packed)])
    check(name, str(path), Options())


@pytest.mark.spec("DATA-FOLDER")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.lists(st.one_of(mutated(), st.binary(max_size=20)), max_size=4))
def test_any_folder_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("fuzzed")
    for i, content in enumerate(contents):
        (folder / str(i)).write_bytes(content)
    data = attempt(texts.read_folder, str(folder), Options())
    if isinstance(data, RefclustError):
        check_error(data)
    else:
        assert data.ids == tuple(map(str, range(len(contents))))
