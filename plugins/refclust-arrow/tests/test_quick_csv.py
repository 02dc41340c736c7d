"""Large CSV files by Arrow: the same data sets as refclust's own reader, or none (BK-QUICK)."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.backends.plugins import formats as plugin_formats
from refclust.data.dataset import Dataset
from refclust.data.readers.formats import Options, read
from refclust.errors import RefclustError
from refclust.limits import limits
from refclust_arrow.quick import read_csv

NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr)
_NUMERAL = r"[+-]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?"
NUMERALS = st.one_of(
    NUMBERS,
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(_NUMERAL, fullmatch=True),
    st.sampled_from([" 1.5", "2 ", "\t3", "1e400", "-0", "5e-324", "2.4703282292062328e-324"]),
)
STRANGE = st.sampled_from(
    [
        *("", "nan", "inf", "-Infinity", "NA", "1_000", "1,5", "x", "٣", "0x10", "1e", "--1"),
        *("+1", "1 2", "\xa01", "1\x00", '"1"', '"', "\r", "\n", "é", "1;2", "#N/A", "true", "1f"),
    ]
)
SETTINGS = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def outcome(path: str, options: Options) -> object:
    """All that can be told of a data set, or the error there is."""
    try:
        return told(read(path, options=options))
    except RefclustError as error:
        return error.code, str(error)


def told(data: Dataset) -> object:
    weights = None if data.weights is None else [*data.weights]
    return data.digest(), data.features, data.ids, data.labels, weights


@SETTINGS
@given(
    st.lists(st.lists(st.one_of(NUMERALS, NUMERALS, STRANGE), min_size=1, max_size=4), max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.booleans(),
)
def test_the_same_or_nothing(
    tmp_path: Path, rows: list[list[str]], sign: str, end: str, header: bool
) -> None:
    path = tmp_path / "a.csv"
    width = max(map(len, rows), default=1)
    lines = [sign.join(f"x{j}" for j in range(width))] if header else []
    lines += [sign.join(row) for row in rows]
    path.write_text(end.join(lines), encoding="utf-8", newline="")
    options = Options(delimiter=sign)
    quick = read_csv("csv", str(path), options)
    if quick is not None:
        assert told(quick) == outcome(str(path), options)


@SETTINGS
@given(st.binary(max_size=60))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    quick = read_csv("csv", str(path), Options())
    if quick is not None:
        assert told(quick) == outcome(str(path), Options())


@SETTINGS
@given(
    st.lists(
        st.tuples(st.text('aé,ß "', max_size=3), NUMBERS, st.sampled_from(["k", "K", ""]), NUMBERS),
        min_size=1,
        max_size=5,
    )
)
def test_ids_labels_and_weights(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    path = tmp_path / "a.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("n", "x", "k", "w"), *rows])
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    options = Options(id_column="n", label_column="k", weight_column="w")
    quick = read_csv("csv", str(path), options)
    if quick is not None:
        assert told(quick) == outcome(str(path), options)


def test_plain_files_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for text, options in (
        ("x,y\n1,2\n3,4\n", Options()),
        ("1,2\r\n3,4", Options()),
        ('"x","y, z"\n1,2\n', Options()),
        ("x;y;k\n1;2;a\n3;4;ä\n", Options(label_column="k")),
        ("k,x\na,1\nb,2\n", Options(columns=("x",))),
    ):
        path.write_text(text, encoding="utf-8", newline="")
        quick = read_csv("csv", str(path), options)
        assert quick is not None, text
        assert told(quick) == outcome(str(path), options)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfx,y\n1,2\n",
        b'x,y\n"1",2\n',
        b"x,y\n1,2\n\n",
        b"x,y\n1,\n",
        b"x,y\r1,2\r",
        b"x,y\n1,2\n3\n",
        b"x,y\n1,nan\n",
        b"x,y\n1,\xff\n",
        b"sep=,\nx,y\n1,2\n",
        b"x;y\n1,5;2\n",
        b"x,y\n",
    ],
)
def test_others_are_left_to_the_core(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    assert read_csv("csv", str(path), Options()) is None


def test_options_that_only_the_core_has(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n", encoding="utf-8")
    for options in (Options(encoding="cp1252"), Options(decimal="comma"), Options(text_column="x")):
        assert read_csv("csv", str(path), options) is None
    with limits(line=1 << 20):
        assert read_csv("csv", str(path), Options()) is None


def test_large_files_go_this_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFCLUST_DISABLE_PLUGINS", raising=False)
    plugin_formats.forget()
    monkeypatch.setattr(plugin_formats, "_LARGE", 100)
    seen: list[str] = []
    import refclust_arrow.quick as quick

    def watched(name: str, path: str, options: Options) -> Dataset | None:
        seen.append(name)
        return read_csv(name, path, options)

    monkeypatch.setattr(quick, "read_csv", watched)
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,2\n" * 100, encoding="utf-8")
    assert plugin_formats.read(str(path)).n == 100
    path.write_text("x,y\n" + "1,2\n" * 100 + "3,z\n", encoding="utf-8")
    with pytest.raises(RefclustError, match=r"a\.csv:102: column 2 \('y'\) is 'z'"):
        plugin_formats.read(str(path))
    assert seen == ["csv", "csv"]
