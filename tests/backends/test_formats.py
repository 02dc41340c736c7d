"""Readers of plugins: found, guarded, and never in the way of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from refclust.backends.plugins import formats
from refclust.data.files.source import keeping
from refclust.data.preparing.asked import Asked
from refclust.data.readers.formats import Options, builtin
from refclust.errors import (
    BackendFailure,
    BackendRefused,
    BadFile,
    BadOption,
    NotText,
    UnknownFormat,
)
from tests.backends.plugins import GOOD, command, installed, put
from tests.data.conftest import piped

READER = """
    from array import array

    import pluggy

    from refclust.data.dataset import dense
    from refclust.data.readers.formats import Plan, Reader
    from refclust.data.files.textfile import read_text

    def read(path, options):
        return dense(array("d", [float(len(line)) for line in read_text(path).split()]), 1)

    def sniff(path):
        with open(path) as stream:
            return 0.9 if stream.read(1) == "*" else 0.0

    def plan(path, options):
        return Plan("stars", "dense", (("stars", "many"),))

    NAME, SUFFIXES = "stars", (".stars",)

    @pluggy.HookimplMarker("refclust")
    def refclust_register_readers():
        return [Reader(NAME, SUFFIXES, "rows of stars", read, sniff, plan)]
"""


@contextmanager
def fresh(folder: Path, **modules: str) -> Iterator[None]:
    """Install plugins, and forget the formats found before and after."""
    with installed(folder, **modules):
        yield


def states() -> dict[str, tuple[str, str]]:
    return {one.name: (one.state, one.reason) for one in formats.known()}


def test_our_own_formats_are_always_there() -> None:
    names = [reader.name for reader in builtin()]
    assert [reader.name for reader in formats.readers()][: len(names)] == names
    first = formats.known()[0]
    assert (first.name, first.distribution, first.state) == ("csv", "refclust", "ready")


def test_read_by_name_by_ending_and_by_content(tmp_path: Path) -> None:
    for name in ("one.stars", "two.unknown"):
        (tmp_path / name).write_text("***\n*\n", encoding="utf-8")
    with fresh(tmp_path, goodreader=READER):
        by_ending = formats.read(str(tmp_path / "one.stars"))
        by_content = formats.read(str(tmp_path / "two.unknown"))
        by_name = formats.read(str(tmp_path / "two.unknown"), "stars")
        found = {one.name: one for one in formats.known()}["stars"]
    assert [*by_ending.rows()] == [*by_content.rows()] == [*by_name.rows()] == [(3.0,), (1.0,)]
    assert (found.distribution, found.version, found.state) == ("goodreader", "1.2.3", "ready")


def test_broken_plugins_harm_nobody(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,2\n", encoding="utf-8")
    with fresh(
        tmp_path,
        goodreader=READER,
        importless="import no_such_library",
        raising=READER.replace("return [Reader", "raise RuntimeError('out of order')\n        ["),
        misspelt=READER.replace("register_readers", "register_reader"),
        wrong=READER.replace(
            'return [Reader(NAME, SUFFIXES, "rows of stars", read, sniff, plan)]', "return [17]"
        ),
        thief=READER.replace('"stars", (".stars",)', '"mycsv", (".csv",)'),
        twin=READER,
        backend=GOOD,
    ):
        found = states()
        data = formats.read(str(tmp_path / "t.csv"))
        with pytest.raises(BackendRefused, match="No module named 'no_such_library'"):
            formats.choose("t.csv", "importless")
        with pytest.raises(BackendRefused, match=r"the ending \.csv is taken by csv of refclust"):
            formats.choose("t.csv", "mycsv")
    assert data.row(0) == (1.0, 2.0)
    assert found["importless"] == (
        "failed",
        "ModuleNotFoundError: No module named 'no_such_library'",
    )
    assert found["raising"] == ("failed", "RuntimeError: out of order")
    assert "unknown hook 'refclust_register_reader'" in found["misspelt"][1]
    assert found["wrong"] == ("refused", "it is a int, not a Reader")
    assert found["mycsv"] == ("refused", "the ending .csv is taken by csv of refclust")
    assert found["stars"] == ("refused", "its name is taken by stars of goodreader")  # the twin
    assert "backend" not in found


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("return 17", "it returned a int, not a Dataset"),
        ("raise KeyError('gone')", "KeyError: 'gone'"),
    ],
)
def test_trouble_in_a_reader_is_told_as_its_own(tmp_path: Path, broken: str, told: str) -> None:
    source = READER.replace(
        'return dense(array("d", [float(len(line)) for line in read_text(path).split()]), 1)',
        broken,
    )
    with fresh(tmp_path, badreader=source), pytest.raises(BackendFailure) as caught:
        formats.read("x.stars")
    assert str(caught.value) == (f"the reader 'stars' (badreader 1.2.3) failed on x.stars: {told}")
    assert caught.value.exit_code == 4


def test_errors_of_refclust_pass(tmp_path: Path) -> None:
    source = READER.replace(
        "def read(path, options):",
        "from refclust.errors import BadFile\n\n    def read(path, options):\n"
        "        raise BadFile('x.stars:1: no star')",
    )
    with fresh(tmp_path, strict=source), pytest.raises(BadFile, match=r"^x\.stars:1: no star$"):
        formats.read("x.stars")


@pytest.mark.parametrize("answer", ["1 / 0", "return 'sure'", "return float('nan')", "return 7"])
def test_a_sniff_that_fails_stops_nobody(tmp_path: Path, answer: str) -> None:
    (tmp_path / "t.unknown").write_text("***\n", encoding="utf-8")
    source = READER.replace('return 0.9 if stream.read(1) == "*" else 0.0', answer)
    with fresh(tmp_path, sniffer=source), pytest.raises(UnknownFormat):
        formats.read(str(tmp_path / "t.unknown"))


@pytest.mark.spec("DATA-SOURCE")
def test_a_reader_of_a_plugin_gets_a_copy_of_a_pipe(tmp_path: Path) -> None:
    # It opens what it is given, and more than once.
    greedy = READER.replace("return dense", "open(path).close(); return dense").replace(
        '"many"', "str(len(read_text(path)))"
    )
    content = b"***\n" * 50_000
    with fresh(tmp_path, goodreader=greedy):
        with piped(content) as path:
            assert formats.choose(path).name == "stars"
            assert formats.read(path).n == 50_000
        with piped(content) as path, keeping(path):
            reader = formats.choose(path, "stars")
            assert reader.plan(path, Options()).facts == (("stars", "200000"),)
            assert reader.read(path, Options()).n == 50_000
        with piped(b"\xff") as path, pytest.raises(NotText) as caught:
            formats.read(path, "stars")
        assert str(caught.value).startswith(f"{path}:1: the byte 0xff at offset 0")


def test_plugins_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fresh(tmp_path, goodreader=READER):
        assert "stars" in states()
        monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "1")
        assert "stars" not in states()
        with pytest.raises(UnknownFormat, match="there is no format 'stars'"):
            formats.choose("one.stars", "stars")


def test_a_way_of_reading_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match=r"no way of reading is called 'labels'; allowed are del"):
        formats.read(str(tmp_path / "t.csv"), labels="x")  # type: ignore[call-arg]


def test_options_are_given_by_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n", encoding="utf-8")
    data = formats.read(str(tmp_path / "t.csv"), label_column="c")
    assert data.labels == ("x",)
    assert data.row(0) == (1.0, 2.0)
    known = set(formats.ReadArguments.__annotations__)
    asked = {"weight": "category_weight"}  # of all that is asked for the only weight there
    preparing = {asked.get(name, name) for name in Asked.__dataclass_fields__}
    assert known == set(Options.__dataclass_fields__) | preparing


HOOK = 'return [Reader(NAME, SUFFIXES, "rows of stars", read, sniff, plan)]'
NAMES = 'NAME, SUFFIXES = "stars", (".stars",)'
READ = 'return dense(array("d", [float(len(line)) for line in read_text(path).split()]), 1)'


@pytest.mark.spec("BK-GUARD")
@pytest.mark.parametrize(
    ("old", "new", "asked", "reason"),
    [
        (HOOK, "raise SystemExit(0)", "odd", "it tried to end the program (SystemExit: 0)"),
        (HOOK, "return None", "odd",
         "refclust_register_readers returned None, not a list of readers"),
        (HOOK, "return 42", "odd", "refclust_register_readers returned 42, not a list of readers"),
        (HOOK, "return [17]", "odd", "it is a int, not a Reader"),
        (NAMES, 'NAME, SUFFIXES = 7, (".stars",)', "odd",
         "its name is 7; a name is a word of small letters and digits"),
        (NAMES, 'NAME, SUFFIXES = "St*", (".stars",)', "St*",
         "its name is 'St*'; a name is a word of small letters and digits"),
        (NAMES, 'NAME, SUFFIXES = "stars", ".stars"', "stars",
         "its endings are '.stars', not a tuple of words that begin with a dot"),
        (NAMES, NAMES + "; sniff = 3", "stars", "its sniff is 3, not a function"),
    ],
)  # fmt: skip
def test_ways_to_break_a_reader(
    tmp_path: Path, old: str, new: str, asked: str, reason: str
) -> None:
    assert old in READER
    put(tmp_path, odd=READER.replace(old, new))
    (tmp_path / "t.csv").write_text("1,2\n", encoding="utf-8")
    (tmp_path / "t.stars").write_text("***\n*\n", encoding="utf-8")
    done = command(tmp_path, "convert", "t.csv", "t.npy")
    assert (done.code, [line for line in done.err.splitlines() if "odd" in line]) == (0, [])
    done = command(tmp_path, "convert", "t.stars", "u.npy", "--format", asked)
    assert (done.code, done.err) == (
        4,
        f"refclust: the format {asked!r} of odd 1.2.3 cannot be used: {reason} [backend-refused]\n",
    )
    # Its ending is nobody's: the note tells why.
    done = command(tmp_path, "convert", "t.stars", "u.npy")
    assert done.code == 2
    assert f"refclust: the plugin 'odd' (odd 1.2.3) is left out: {reason}\n" in done.err


@pytest.mark.spec("BK-GUARD")
def test_a_reader_that_ends_the_program_or_prints(tmp_path: Path) -> None:
    (tmp_path / "t.stars").write_text("***\n*\n", encoding="utf-8")
    noisy = READER.replace("return 0.9", "print('sniffing')\n            return 0.9")
    put(tmp_path, noisy=noisy.replace(READ, f"print('reading'); {READ}"))
    done = command(tmp_path, "convert", "t.stars", "-", "--to", "csv")
    assert (done.code, done.out) == (0, "3.0\n1.0\n")
    assert "refclust: the reader 'stars' (noisy 1.2.3) printed: reading\n" in done.err
    (tmp_path / "noisy.py").write_text(
        (tmp_path / "noisy.py").read_text().replace("print('reading')", "raise SystemExit(0)")
    )
    done = command(tmp_path, "convert", "t.stars", "-", "--to", "csv")
    assert (done.code, done.out) == (4, "")
    assert done.err == (
        "refclust: the reader 'stars' (noisy 1.2.3) failed on t.stars: it tried to end the program "
        "(SystemExit: 0) [backend-failure]\n"
    )


def test_our_own_endings_need_no_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refclust.backends.plugins.loading.installed", None)
    formats.forget()
    assert formats.choose("t.csv").name == "csv"
    assert formats.choose(str(tmp_path / "t.unknown"), "csv").name == "csv"
