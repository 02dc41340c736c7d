"""Pipes, devices and standard input: every byte counts, whoever looked at it before."""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.data.files import source
from refclust.data.labels import read_labels
from refclust.data.readers import formats
from refclust.data.readers.formats import Options, choose, head
from refclust.data.tables import read_table
from refclust.data.writers.writing import write
from refclust.errors import BadOption, FileNotReadable, RefclustError, TooLarge
from refclust.limits import limits
from tests.data.conftest import piped


@pytest.fixture(autouse=True)
def _nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "1")
    yield
    source.forget()


def table(n: int) -> bytes:
    return b"".join(b"%d,%d.5\n" % (2 * i, i) for i in range(n))


@pytest.mark.spec("DATA-SOURCE")
@pytest.mark.parametrize("n", [1, 2, 5000, 30_000, 150_000])
def test_no_row_of_a_pipe_is_lost(n: int) -> None:
    """Shorter and longer than the bytes that are looked at, the pipe's buffer and our blocks."""
    with piped(table(n)) as path:
        data = refclust.read(path)
    assert (data.n, data.row(0), data.row(n - 1)) == (n, (0.0, 0.5), (2 * n - 2.0, n - 0.5))


@pytest.mark.spec("DATA-SOURCE")
@pytest.mark.parametrize(
    "name", ["x.csv", "x.jsonl", "x.npy", "x.npz", "x.svmlight", "x.mtx", "x.csv.gz", "x.npy.gz"]
)
def test_every_format_comes_through_a_pipe(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    with piped(table(20_000)) as pipe:
        write(path, refclust.read(pipe))
    whole = refclust.read(path)
    assert whole.n == 20_000
    with piped(Path(path).read_bytes()) as pipe:
        plan = formats.plan(pipe)  # which may read far, and then leaves all to be read
        assert refclust.read(pipe).digest() == whole.digest()
    assert plan.format == {"mtx": "matrixmarket"}.get(name.split(".")[1], name.split(".")[1])


@pytest.mark.spec("DATA-SOURCE")
def test_words_folders_of_words_and_counts_come_through_a_pipe() -> None:
    for content, name, n in (
        (b"2\n3\n2\n1 1 1\n2 3 4\n", "docword", 2),
        (b"1 0:2\n2 1:1 4:1\n", "ldac", 2),
        (b"2 3 2\n1 5\n3 1\n", "cluto", 2),
        (b"one word\nand two\n" * 50_000, "lines", 100_000),
    ):
        with piped(content) as path:
            assert choose(path, name).name == name
            assert formats.read(path, format=name).n == n


@pytest.mark.spec("DATA-SOURCE")
def test_guesses_and_openings_all_begin_at_the_first_byte() -> None:
    content = table(40_000)
    with piped(content) as path:
        assert head(path, 7) == content[:7]
        assert head(path) == content[:65536]
        with source.opened(path) as stream:
            assert stream.read(300_000) == content[:300_000]
        with source.opened(path) as first, source.opened(path) as second:
            assert (first.read(), second.read()) == (content, content)


@pytest.mark.spec("DATA-SOURCE")
def test_what_is_kept_is_read_several_times_and_then_dropped() -> None:
    with piped(b"a\nb\n") as path, source.keeping(path):
        assert read_labels(path) == read_labels(path) == ["a", "b"]
    with piped(b"a\nb\n") as path:
        with source.keeping(path):
            assert read_labels(path) == ["a", "b"]
        with pytest.raises(RefclustError, match="is empty") as caught:
            read_labels(path)  # it has ended; nobody pretends otherwise
        assert caught.value.code == "empty-file"


@pytest.mark.spec("DATA-SOURCE")
def test_a_last_reading_keeps_only_the_beginning() -> None:
    content = table(400_000)
    with piped(content) as path, source.passing(path):
        with source.opened(path) as stream:
            assert stream.read() == content
        with pytest.raises(FileNotReadable, match="it was read already, and comes once"):
            source.opened(path)


@pytest.mark.spec("DATA-SOURCE")
def test_a_named_pipe_is_read_anew_for_every_writer(tmp_path: Path) -> None:
    path = str(tmp_path / "x.csv")
    os.mkfifo(path)
    for content in (b"1,2\n", b"3,4\n5,6\n"):
        writer = threading.Thread(target=Path(path).write_bytes, args=(content,))
        writer.start()
        assert refclust.read(path).n == content.count(b"\n")
        writer.join()


@pytest.mark.spec("DATA-SOURCE")
def test_gzip_in_a_pipe_is_recognised_by_its_bytes() -> None:
    with piped(gzip.compress(table(9)) + gzip.compress(table(3))) as path:
        assert ("packed", "gzip") in formats.plan(path).facts
        assert refclust.read(path).n == 12
    told = "looks packed by gzip but cannot be unpacked"
    with piped(gzip.compress(table(9))[:-9]) as path, pytest.raises(RefclustError, match=told):
        refclust.read(path)


@pytest.mark.spec("DATA-SOURCE")
def test_standard_input_of_any_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    np_file = tmp_path / "x.npz"
    write(str(np_file), refclust.dataset([[1.0, 2.0]]))
    for content in (b"1,2\n", np_file.read_bytes()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert refclust.read("-").row(0) == (1.0, 2.0)


@pytest.mark.spec("DATA-SOURCE")
def test_one_pipe_for_two_things_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with piped(b"1\n") as path, piped(b"1\n") as other:
        source.refuse_twice([path, None, other, "a.csv", "a.csv"])
        with pytest.raises(BadOption, match="is no file: it can be read only once"):
            source.refuse_twice([path, other, path.replace("/dev", "/proc/self")])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(BadOption, match=r"^standard input \(-\) can be read only once$"):
        source.refuse_twice(["-", "-"])


@pytest.mark.spec("DATA-SOURCE")
def test_a_copy_for_those_who_open_files_themselves(tmp_path: Path) -> None:
    plain = tmp_path / "x.csv"
    plain.write_bytes(b"1\n")
    with source.as_file(str(plain)) as name:
        assert name == str(plain)
    with piped(b"abcdef") as path:
        with source.as_file(path, 2) as name:
            assert Path(name).read_bytes() == b"ab"
        with source.as_file(path) as name:
            assert Path(name).read_bytes() == b"abcdef"
        assert not os.path.exists(name)


@pytest.mark.spec("DATA-SOURCE")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 300_000), max_size=6), st.integers(0, 200_000))
def test_pieces_of_any_size_add_up(sizes: list[int], length: int) -> None:
    content = bytes(i % 251 for i in range(length))
    with piped(content) as path:
        for size in sizes:
            with source.opened(path) as stream:
                assert stream.read(size) == content[:size]
        with source.passing(path), source.opened(path) as stream:
            assert b"".join(iter(lambda: stream.read(70_000), b"")) == content


@pytest.mark.spec("DATA-LIMIT")
def test_a_pipe_and_a_packing_end_somewhere(tmp_path: Path) -> None:
    told = "which is no file, goes on beyond 100,000 bytes"
    with limits(stream=100_000), piped(table(50_000)) as path, pytest.raises(TooLarge, match=told):
        refclust.read(path)
    packed = tmp_path / "x.csv.gz"
    packed.write_bytes(gzip.compress(table(50_000)))
    told = r"x\.csv\.gz, unpacked, goes on beyond 100,000 bytes"
    with limits(stream=100_000), pytest.raises(TooLarge, match=told):
        refclust.read(str(packed))
    plain = tmp_path / "x.csv"
    plain.write_bytes(table(50_000))
    with limits(stream=10, memory=10):
        assert refclust.read(str(plain)).n == 50_000  # its size is its owner's


@pytest.mark.spec("DATA-LIMIT")
def test_a_line_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    packed = tmp_path / "x.txt.gz"
    packed.write_bytes(gzip.compress(b"a" * 8_000_000))
    # Were it read further, the other limit would speak.
    with limits(line=100_000, stream=4_000_000), pytest.raises(TooLarge, match=r":1: the line go"):
        read_labels(str(packed))


@pytest.mark.spec("DATA-LIMIT")
def test_short_lines_without_end_are_held_to_the_memory() -> None:
    told = r"lines and more, takes [0-9,]+ bytes"
    endless = piped(b"1\n" * 3_000_000)
    with limits(memory=6_400_000), endless as path, pytest.raises(TooLarge, match=told):
        refclust.read(path)


@pytest.mark.spec("DATA-LIMIT")
@pytest.mark.parametrize("packed", [False, True])
def test_lines_are_counted_before_they_are_understood(tmp_path: Path, packed: bool) -> None:
    first = b"1,2\n" * 300_000  # more than a block
    for content, code, told in (
        (b"1,2\nx,2\n" + first * 4, "bad-cell", ":2: column 1"),
        (first + b"x,2\n" + first, "bad-cell", ":300001: column 1"),
        (first + b"x,2\n" + first * 4, "too-large", "lines and more, takes"),
        (first + b"\x00\n" + first * 4, "not-text", ":300001: the byte 0x00"),
        (first.replace(b"\n", b"\r\n") * 3, "ok", "900000"),
    ):
        if packed:
            content = gzip.compress(content, 1)
        with limits(memory=256 * 1_000_000), piped(content) as path:
            try:
                ended = "ok", str(refclust.read(path).n)
            except RefclustError as error:
                ended = error.code, str(error)
        assert (ended[0], told in ended[1]) == (code, True), ended
    cut = tmp_path / "x.csv.gz"
    cut.write_bytes(gzip.compress(first * 2, 1)[:-9])
    with pytest.raises(RefclustError, match="cannot be unpacked") as caught:
        refclust.read(str(cut))
    assert caught.value.code == "not-text"


@pytest.mark.spec("DATA-SOURCE")
def test_a_pipe_that_cannot_be_kept_is_refused_and_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(tempfile.SpooledTemporaryFile[bytes]):
        def write(self, content: Any) -> int:
            if self.tell() > 2_000_000:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(content)

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Full)
    with piped(table(300_000)) as path, pytest.raises(FileNotReadable) as caught:
        refclust.read(path)
    assert str(caught.value) == f"cannot read {path}: no space left on device"


@pytest.mark.parametrize(
    "read",
    [
        lambda path: formats.read(path, format="csv"),
        lambda path: formats.read(path, format="jsonl"),
        lambda path: formats.read(path, format="svmlight"),
        lambda path: formats.read(path, format="matrixmarket"),
        lambda path: formats.read(path, format="docword"),
        lambda path: formats.read(path, format="ldac"),
        lambda path: formats.read(path, format="cluto"),
        lambda path: formats.read(path, format="lines"),
        lambda path: read_labels(path),
        lambda path: read_table(path),
        lambda path: refclust.load_model(path),
    ],
)
@pytest.mark.spec("DATA-LIMIT")
def test_a_line_without_end_is_refused(tmp_path: Path, read: Callable[[str], object]) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"1" * 200_000)
    with limits(line=150_000, document=150_000), pytest.raises(TooLarge) as caught:
        read(str(path))
    assert "x.txt:1: the line goes on beyond 150,000 bytes, the limit" in str(caught.value)


@pytest.mark.spec("DATA-LIMIT")
def test_a_line_is_told_by_its_number_and_may_be_as_long_as_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    for size in (10, 1000, (1 << 20) + 7):
        line = b"a" * (size - 1) + b"\n"
        path.write_bytes(line * 3)
        with limits(line=size):
            assert len(read_labels(str(path))) == 3
        with limits(line=size - 1), pytest.raises(TooLarge, match=r"x\.txt:1: the line goes on"):
            read_labels(str(path))
        path.write_bytes(b"b\nc\n" + line)
        with limits(line=size - 1), pytest.raises(TooLarge, match=r"x\.txt:3: the line goes on"):
            read_labels(str(path))
    path.write_bytes(b"a\r" * 100)
    with limits(line=50), pytest.raises(TooLarge, match="may end them with CR"):
        read_labels(str(path))


@pytest.mark.spec("DATA-LIMIT")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(1, 42))
def test_a_limit_refuses_or_changes_nothing(lengths: list[int], most: int) -> None:
    labels = ["a" * length for length in lengths]
    content = "".join(f"{label}\n" for label in labels).encode()
    too_long = [i for i, length in enumerate(lengths, start=1) if length + 1 > most]
    with limits(line=most), piped(content) as path:
        if not too_long:
            assert read_labels(path) == labels
            return
        with pytest.raises(TooLarge) as caught:
            read_labels(path)
    assert str(caught.value).startswith(f"{path}:{too_long[0]}: the line goes on beyond {most} by")


@pytest.mark.spec("DATA-LIMIT")
def test_documents_are_held_to_their_size_and_to_what_they_become(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"[" + b"\n".join([b"[1,2],"] * 1000) + b"[1,2]]")
    assert len(read_table(str(path)).rows) == 1001
    with limits(document=5000), pytest.raises(TooLarge, match=r"t\.json goes on beyond 5,000"):
        read_table(str(path))
    # 2,001 commas and 1,002 lists.
    with limits(memory=60 * 2001 + 72 * 1002):
        assert len(read_table(str(path)).rows) == 1001
    with limits(memory=60 * 2001 + 72 * 1002 - 1), pytest.raises(TooLarge, match="brackets"):
        read_table(str(path))


@pytest.mark.spec("DATA-LIMIT")
def test_zeros_without_end_are_no_text_and_no_archive() -> None:
    with pytest.raises(RefclustError) as caught:
        refclust.read("/dev/zero")
    assert caught.value.code == "not-text"
    for name in ("npy", "npz"):
        with pytest.raises(RefclustError) as caught:
            formats.read("/dev/zero", format=name)
        assert caught.value.code == "bad-file"


@pytest.mark.spec("DATA-SOURCE")
def test_what_cannot_be_read_is_told() -> None:
    with pytest.raises(FileNotReadable, match=r"^cannot read /proc/self/mem: input/output error$"):
        refclust.read("/proc/self/mem")
    with pytest.raises(FileNotReadable, match="is a directory"):
        read_labels("/")
    with pytest.raises(RefclustError, match=r"^/dev/null is empty; it should hold a row"):
        choose("/dev/null").read("/dev/null", Options())


@pytest.mark.spec("DATA-SOURCE")
def test_a_kept_pipe_is_sought_through_like_a_file(tmp_path: Path) -> None:
    plain = tmp_path / "x"
    plain.write_bytes(b"abcdef")
    with piped(b"abcdef") as path:
        for name in (str(plain), path):
            with source.opened(name, seekable=True) as stream:
                assert (stream.seek(-2, os.SEEK_END), stream.read()) == (4, b"ef")
                assert (stream.seek(9), stream.read(), stream.tell()) == (9, b"", 9)
                for offset, whence in ((-1, os.SEEK_SET), (-7, os.SEEK_END)):
                    with pytest.raises(OSError, match="Invalid argument") as caught:
                        stream.seek(offset, whence)
                    assert caught.value.errno == errno.EINVAL
                assert (stream.seek(1), stream.read(2)) == (1, b"bc")
