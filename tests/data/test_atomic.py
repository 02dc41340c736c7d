"""Files are written whole or not at all, where the name leads, with the permissions they had."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from refclust.data.files import atomic, unfinished
from refclust.data.files.atomic import check_place, remove, write_atomically
from refclust.errors import FileExists, FileNotReadable


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names() -> list[str]:
    return sorted(os.listdir())


def umask() -> int:
    before = os.umask(0)
    os.umask(before)
    return before


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


# -- names that are taken -------------------------------------------------------------------------


def meanwhile(name: str, content: bytes) -> Iterator[bytes]:
    """Content in the making, while somebody else writes a file."""
    yield b"long "
    Path(name).write_bytes(content)
    yield b"work"


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("m.json", "m.1.json"),
        ("m", "m.1"),
        ("m.csv.gz", "m.1.csv.gz"),
        ("n" * 251 + ".csv", "n" * 249 + ".1.csv"),
    ],
)
def test_a_file_that_appears_meanwhile_is_not_replaced(name: str, kept: str) -> None:
    with pytest.raises(FileExists) as caught:
        write_atomically(name, meanwhile(name, b"theirs"), replace=False)
    assert str(caught.value) == (
        f"{name} has come to exist meanwhile and was not replaced; what was to be written there "
        f"is kept in {kept}"
    )
    assert (Path(name).read_bytes(), Path(kept).read_bytes()) == (b"theirs", b"long work")
    assert names() == sorted([name, kept])


@pytest.mark.spec("DATA-FILE")
def test_what_is_kept_takes_no_name_either() -> None:
    os.mkdir("in")
    Path("in/m.1.csv").write_bytes(b"old")
    with pytest.raises(FileExists, match=r" is kept in in/m\.2\.csv$"):
        write_atomically("in/m.csv", meanwhile("in/m.csv", b"theirs"), replace=False)
    assert Path("in/m.1.csv").read_bytes() == b"old"
    assert Path("in/m.2.csv").read_bytes() == b"long work"


@pytest.mark.spec("DATA-FILE")
def test_a_link_that_appears_meanwhile_is_not_followed() -> None:
    def linked() -> Iterator[bytes]:
        yield b"1"
        os.symlink("elsewhere", "m")

    with pytest.raises(FileExists):
        write_atomically("m", linked(), replace=False)
    assert (names(), os.readlink("m")) == (["m", "m.1"], "elsewhere")


@pytest.mark.spec("DATA-FILE")
def test_a_name_that_is_taken_from_the_start() -> None:
    Path("a").write_bytes(b"old")
    os.symlink("nowhere", "link")
    for name in ("a", "link"):
        with pytest.raises(FileExists, match=rf"^{name} exists already$"):
            write_atomically(name, b"new", replace=False)
    assert names() == ["a", "link"]
    write_atomically("b", b"new", replace=False)
    assert stat.S_IMODE(os.stat("b").st_mode) == 0o666 & ~umask()
    assert os.stat("b").st_nlink == 1


@pytest.mark.spec("DATA-FILE")
def test_with_replace_the_last_one_wins() -> None:
    write_atomically("m", meanwhile("m", b"theirs"))
    assert (names(), Path("m").read_bytes()) == (["m"], b"long work")


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_where_there_are_no_hard_links(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    write_atomically("a", b"new", replace=False)
    assert (names(), Path("a").read_bytes()) == (["a"], b"new")
    assert stat.S_IMODE(os.stat("a").st_mode) == 0o666 & ~umask()
    with pytest.raises(FileExists):
        write_atomically("b", meanwhile("b", b"theirs"), replace=False)
    assert names() == ["a", "b", "b.1"]
    assert (Path("b").read_bytes(), Path("b.1").read_bytes()) == (b"theirs", b"long work")


RACER = """
import sys
from refclust.data.files.atomic import write_atomically
from refclust.errors import FileExists
sys.stdin.readline()
try:
    write_atomically("m", [sys.argv[1].encode()] * 1000, replace=False)
    print("won")
except FileExists as error:
    print(str(error).rpartition(" ")[2])
"""


@pytest.mark.spec("DATA-FILE")
def test_of_several_writers_one_wins() -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = [racer.communicate(timeout=60)[0].strip() for racer in racers]
    assert told.count("won") == 1
    for number, one in enumerate(told):
        # Who came late enough found the name taken before anything was written.
        if one != "already":
            content = Path("m" if one == "won" else one).read_bytes()
            assert content == str(number).encode() * 1000


# -- permissions, and what killed processes leave -------------------------------------------------


def waiting(done: list[tuple[int, int]]) -> Iterator[bytes]:
    yield b"1"
    [hidden] = [name for name in os.listdir() if name.startswith(".")]
    status = os.stat(hidden)
    done.append((stat.S_IMODE(status.st_mode), status.st_uid))
    yield b"2"


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_nobody_else_reads_the_unfinished_file_of_another(mode: int) -> None:
    Path("a").write_bytes(b"secret")
    os.chmod("a", mode)
    found: list[tuple[int, int]] = []
    write_atomically("a", waiting(found))
    assert found == [(0o600, os.geteuid())]
    assert stat.S_IMODE(os.stat("a").st_mode) == mode


@pytest.mark.spec("DATA-FILE")
def test_owner_and_group_stay_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").write_bytes(b"old")
    os.chmod("a", 0o664)
    asked: list[tuple[int, int]] = []
    own = os.stat("a")

    def other(_: str) -> os.stat_result:
        return os.stat_result((*own[:4], 4321, 4322, *own[6:]))

    def refuse(_: int, owner: int, group: int) -> None:
        asked.append((owner, group))
        raise PermissionError(errno.EPERM, "not permitted")

    with monkeypatch.context() as patched:
        patched.setattr(atomic, "_status", other)
        patched.setattr(os, "fchown", refuse)
        write_atomically("a", b"new")
    assert asked == [(-1, 4322), (4321, -1)]
    # A group that is not the old one may do no more than everybody.
    assert stat.S_IMODE(os.stat("a").st_mode) == 0o644


DYING = """
import os, signal, sys
from refclust.data.files.atomic import write_atomically
def dying():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)
write_atomically(sys.argv[1], dying())
"""


def left_behind(name: str) -> str:
    """Let a process be killed while it writes, and return the name of what it left."""
    before = set(os.listdir())
    done = subprocess.run([sys.executable, "-c", DYING, name], check=False)
    assert done.returncode == -signal.SIGKILL
    [found] = set(os.listdir()) - before
    return found


@pytest.mark.spec("DATA-FILE")
def test_the_next_writer_tidies_up_after_a_killed_one() -> None:
    first, other = left_behind("a"), left_behind("b")
    assert first.startswith(".a.")
    atomic._swept.clear()
    write_atomically("a", b"new")
    assert names() == sorted(["a", other])
    remove("b")  # there is none, but what is left of it goes
    assert names() == ["a"]


@pytest.mark.spec("DATA-FILE")
def test_nothing_that_may_be_alive_is_taken_away() -> None:
    start, sign = unfinished.boot(), "0123456789ab"
    others = [
        f".a.{'0' * 12}.{sign}.new",  # of another machine, or of an earlier start of this one
        f".a.{sign}.new",  # of a system without locks
        f".a.{start}.{sign}.old",
        f".a.{start}.{sign}.new.txt",
        f".b.{start}.{sign}.new",
        f"a.{start}.{sign}.new",
    ]
    for name in others:
        Path(name).write_bytes(b"1")
    os.mkdir(f".a.{start}.{sign}.new")
    with open(f".a.{start}.ba9876543210.new", "wb") as living:
        fcntl.flock(living, fcntl.LOCK_EX)
        atomic._swept.clear()
        write_atomically("a", b"new")
        remove("a")
        assert os.path.exists(living.name)
    assert set(others) < set(names())
    remove("a")
    assert not os.path.exists(living.name)


@pytest.mark.spec("DATA-FILE")
def test_a_file_of_somebody_else_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = left_behind("a")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    remove("a")
    assert names() == [found]


@pytest.mark.spec("DATA-FILE")
def test_one_who_tidies_up_too_early_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the making of the hidden file and its lock, somebody takes it for a dead one."""
    plain, calls = unfinished._locked, 0

    def late(number: int) -> bool:
        nonlocal calls
        calls += 1
        if calls == 1:
            [hidden] = [name for name in os.listdir() if name.startswith(".")]
            os.unlink(hidden)
        return plain(number)

    monkeypatch.setattr(unfinished, "_locked", late)
    write_atomically("a", b"new")
    assert calls == 2
    assert (names(), Path("a").read_bytes()) == (["a"], b"new")


@pytest.mark.spec("DATA-FILE")
def test_without_locks_nothing_is_ever_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "_locked", lambda _: False)
    found: list[str] = []

    def look() -> Iterator[bytes]:
        yield b"1"
        found.extend(os.listdir())

    write_atomically("a", look())
    assert names() == ["a"]
    assert [unfinished.boot() in name for name in found] == [False]


# -- places and full disks ------------------------------------------------------------------------


@pytest.mark.spec("DATA-FILE")
def test_a_full_disk_leaves_the_old_file() -> None:
    Path("a").write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        for name, replace in (("a", True), ("b", False)):
            with pytest.raises(FileNotReadable, match=rf"^cannot write {name}: file too large$"):
                write_atomically(name, [b"x" * 5000] * 100, replace=replace)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (names(), Path("a").read_bytes()) == (["a"], b"old")


@pytest.mark.spec("DATA-FILE")
def test_a_device_that_is_full() -> None:
    with pytest.raises(FileNotReadable, match=r"^cannot write /dev/full: no space left on device$"):
        write_atomically("/dev/full", b"x")


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "cannot write : the name is empty"),
        ("new/", "cannot write new/: is a directory"),
        (".", "cannot write .: is a directory"),
        ("no/a", "cannot write no/a: there is no folder no"),
        ("loop", "cannot write loop: too many levels of symbolic links"),
        ("file/a", "cannot write file/a: not a directory"),
        ("m" * 300, f"cannot write {'m' * 300}: file name too long"),
    ],
)
def test_places_are_checked_before_any_work(path: str, message: str) -> None:
    Path("file").write_bytes(b"1")
    os.symlink("loop", "loop")
    for check in (check_place, lambda place: write_atomically(place, b"2")):
        with pytest.raises(FileNotReadable) as caught:
            check(path)
        assert str(caught.value) == message or "no/a" in path
    assert names() == ["file", "loop"]


@pytest.mark.spec("DATA-FILE")
def test_names_with_odd_signs_are_names() -> None:
    for name in ("two\nlines", "~", "*.csv", "a b"):
        check_place(name)
        write_atomically(name, b"1", replace=False)
    assert names() == sorted(["two\nlines", "~", "*.csv", "a b"])


@pytest.mark.spec("DATA-FILE")
def test_a_folder_that_may_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkdir("in")
    monkeypatch.setattr(os, "access", lambda path, _: path != "in")
    with pytest.raises(FileNotReadable) as caught:
        check_place("in/a")
    assert str(caught.value) == "cannot write in/a: the folder in cannot be written to"
