"""Files are written whole or not at all, where the name leads, with the permissions they had."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from refclust.data.atomic import write_atomically
from refclust.errors import FileNotReadable


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names() -> list[str]:
    return sorted(os.listdir())


def test_a_new_file_and_a_replaced_one() -> None:
    write_atomically("a.txt", b"one")
    assert Path("a.txt").read_bytes() == b"one"
    write_atomically("a.txt", (piece for piece in (b"t", b"", b"wo")))
    assert Path("a.txt").read_bytes() == b"two"
    write_atomically("a.txt", b"")
    assert Path("a.txt").read_bytes() == b""
    assert names() == ["a.txt"]


def test_permissions() -> None:
    before = os.umask(0o027)
    try:
        write_atomically("new", b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("new").st_mode) == 0o640
    os.chmod("new", 0o604)
    write_atomically("new", b"2")
    assert stat.S_IMODE(os.stat("new").st_mode) == 0o604


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_replaced(there: bool) -> None:
    os.mkdir("deep")
    if there:
        Path("deep/file").write_bytes(b"old")
    os.symlink("deep/file", "link")
    write_atomically("link", b"new")
    assert os.readlink("link") == "deep/file"
    assert Path("deep/file").read_bytes() == b"new"
    assert os.listdir("deep") == ["file"]


def broken() -> Iterator[bytes]:
    yield b"half"
    raise KeyboardInterrupt


def test_what_breaks_off_leaves_everything_as_it_was() -> None:
    Path("a").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_atomically("a", broken())
    with pytest.raises(KeyboardInterrupt):
        write_atomically("b", broken())
    assert names() == ["a"]
    assert Path("a").read_bytes() == b"old"


@pytest.mark.parametrize("step", ["replace", "fsync", "chmod"])
def test_trouble_of_the_system(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(FileNotReadable) as caught:
            write_atomically("a", b"new")
    assert str(caught.value) == "cannot write a: no space left on device"
    assert (names(), Path("a").read_bytes()) == (["a"], b"old")


def test_the_file_is_on_the_disk_before_it_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def watched_sync(number: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        sync(number)

    def watched_replace(source: str, target: str) -> None:
        done.append("move")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watched_sync)
    monkeypatch.setattr(os, "replace", watched_replace)
    write_atomically("a", b"new")
    assert done == ["file", "move", "folder"]


def test_long_names_and_odd_ones() -> None:
    for name in ("n" * 255, "é" * 127, "-x", " "):
        write_atomically(name, b"1")
    assert names() == sorted(["n" * 255, "é" * 127, "-x", " "])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".", "cannot write .: is a directory"),
        ("missing/a", "cannot write missing/a: no such file or directory"),
        ("file/a", "cannot write file/a: not a directory"),
        ("a\0b", "cannot write a\\x00b: "),
        ("m" * 300, f"cannot write {'m' * 300}: file name too long"),
    ],
)
def test_places_that_cannot_be_written(path: str, message: str) -> None:
    Path("file").write_bytes(b"1")
    with pytest.raises(FileNotReadable) as caught:
        write_atomically(path, b"2")
    assert str(caught.value).startswith(message)
    assert names() == ["file"]


def test_a_file_that_may_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the tests may run as one who may all
    with pytest.raises(FileNotReadable, match=r"^cannot write a: permission denied$"):
        write_atomically("a", b"new")
    assert (names(), Path("a").read_bytes()) == (["a"], b"old")


def test_a_pipe_is_written_to() -> None:
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    write_atomically("pipe", [b"through", b" it"])
    reader.join(10)
    assert got == [b"through it"]
    assert names() == ["pipe"]
