"""Files that commands write: none is replaced unasked, none is lost, and no place ends in a fault.

For every option of every command that names a file to write.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from refclust.cli.app import run
from refclust.data.files import atomic, unfinished
from tests.cli.conftest import Cli

SCALES = (  # one of two columns has nearly all variance
    "refclust: x has 98.4% of all variance, so it decides almost alone; --scale standard lets all "
    "features count"
)
KMEANS = ("fit", "kmeans", "points.csv", "-k", "2")
GAUSSIAN = ("fit", "gaussian", "points.csv", "-k", "2", "--floor", "0.1", "--limit", "3")
TREE = ("fit", "agglomerative", "points.csv", "-k", "2")
# The command, the option that names the file, and an ending that it takes.
OUTPUTS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "kmeans model": (KMEANS, "--model", ".json"),
    "kmeans labels": (KMEANS, "--labels", ".csv"),
    "kmeans trace": (KMEANS, "--trace", ".csv"),
    "bisecting model": (("fit", "bisecting", "points.csv", "-k", "2"), "--model", ".json"),
    "tree merges": (TREE, "--merges", ".csv"),
    "tree labels": (TREE, "--labels", ".csv.gz"),
    "gaussian model": (GAUSSIAN, "--model", ".json.gz"),
    "gaussian labels": (GAUSSIAN, "--labels", ".jsonl"),
    "gaussian trace": (GAUSSIAN, "--trace", ".csv"),
    "classifier model": (("fit", "lda", "known.csv", "--labels", "kind"), "--model", ".json"),
    "select model": (
        ("select", "points.csv", "-k", "1", "--covariance", "EII", "--floor", "0.1"),
        "--out",
        ".json",
    ),
    "predict labels": (("predict", "m.json", "points.csv"), "--labels", ".tsv"),
    "convert": (("convert", "points.csv"), "", ".npy"),
    "sample": (("sample", "g.json", "-n", "3"), "--out", ".csv"),
    "explain": (("explain", "nmi", "true.txt", "pred.txt"), "--out", ".md"),
    "template": (("vectors", "template"), "--out", ".json"),
}
CHECKPOINT = ((*KMEANS, "--checkpoint-every", "0"), "--checkpoint", "")


def call(name: str, path: str) -> tuple[str, ...]:
    command, option, _ = CHECKPOINT if name == "checkpoint" else OUTPUTS[name]
    return (*command, *([option] if option else []), path)


def ending(name: str) -> str:
    return "" if name == "checkpoint" else OUTPUTS[name][2]


@pytest.fixture(autouse=True)
def _inputs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "_swept", set())
    rows = [f"{i * i * 37 % 101},{i * 11 % 13}" for i in range(30)]
    Path("points.csv").write_text("x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    known = [f"{row},{'ab'[i % 2]}" for i, row in enumerate(rows)]
    Path("known.csv").write_text("x,y,kind\n" + "\n".join(known) + "\n", encoding="utf-8")
    assert cli(*KMEANS, "--model", "m.json").code == 0
    assert cli(*GAUSSIAN, "--model", "g.json").code == 0


def names() -> set[str]:
    return set(os.listdir())


def told(err: str) -> str:
    """The one line that a refusal is; what plugins and notes say stands before it."""
    assert "Traceback" not in err
    return err.rstrip("\n").rpartition("\n")[2]


@contextmanager
def appearing(path: str) -> Iterator[None]:
    """While anything is written to this place, somebody else makes a file there."""
    plain = unfinished.Unfinished.settle

    def late(self: unfinished.Unfinished, like: os.stat_result | None) -> None:
        plain(self, like)
        own = os.path.basename(self._place).startswith(f".{path}.{unfinished.boot()}.")
        if own and not os.path.exists(path):
            Path(path).write_bytes(b"theirs")

    unfinished.Unfinished.settle = late  # type: ignore[method-assign]
    try:
        yield
    finally:
        unfinished.Unfinished.settle = plain  # type: ignore[method-assign]


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_file_that_appears_during_the_work_stays(name: str, cli: Cli) -> None:
    path = f"out{ending(name)}"
    assert cli(*call(name, path)).code == 0
    due = Path(path).read_bytes()
    os.unlink(path)
    before = names()
    with appearing(path):
        done = cli(*call(name, path))
    kept = f"out.1{ending(name)}"
    assert done.code == 3
    assert told(done.err) == (
        f"refclust: {path} has come to exist meanwhile and was not replaced; what was to be "
        f"written there is kept in {kept} [exists]"
    )
    assert Path(path).read_bytes() == b"theirs"
    assert Path(kept).read_bytes() == due
    # The model of a fit has its checkpoint beside it, which stays, too.
    assert names() - before - {f"{path}.checkpoint"} == {path, kept}
    done = cli(*call(name, path), "--force")
    assert (done.code, Path(path).read_bytes()) == (0, due)


@pytest.mark.spec("DATA-FILE")
def test_the_other_files_of_a_fit_are_written(cli: Cli) -> None:
    with appearing("o.json"):
        done = cli(*KMEANS, "--model", "o.json", "--labels", "l.csv", "--trace", "t.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err.splitlines()[:3] == [SCALES, "refclust: wrote l.csv", "refclust: wrote t.csv"]
    assert Path("o.1.json").read_bytes() == Path("m.json").read_bytes()
    assert Path("o.json.checkpoint").exists()
    assert cli(*KMEANS, "--model", "p.json", "--labels", "k.csv", "--trace", "s.csv").code == 0
    assert Path("l.csv").read_bytes() == Path("k.csv").read_bytes()
    assert Path("t.csv").read_bytes() == Path("s.csv").read_bytes()


@pytest.mark.spec("DATA-FILE")
def test_a_model_that_cannot_be_written_costs_no_labels(cli: Cli) -> None:
    done = cli(*KMEANS, "--model", "/dev/full", "--labels", "l.csv", "--checkpoint", "c", "--force")
    assert done.code == 3
    assert done.err == (
        f"{SCALES}\n"
        "refclust: wrote l.csv\n"
        "refclust: cannot write /dev/full: no space left on device [file-not-found]\n"
    )
    assert Path("c").exists()
    with appearing("k.csv"):
        more = ("--labels", "k.csv", "--checkpoint", "d", "--force")
        assert cli(*KMEANS, *more).code == 0
    assert Path("k.csv").read_bytes() == Path("l.csv").read_bytes()


@pytest.mark.spec("DATA-FILE")
def test_of_two_fits_at_the_same_time_one_wins() -> None:
    script = "import sys; from refclust.cli.app import main; sys.stdin.readline(); main()"
    fits = [
        subprocess.Popen(
            [sys.executable, "-c", script, *KMEANS, "--seed", seed, "--labels", "one.csv"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "REFCLUST_DISABLE_PLUGINS": "1"},
        )
        for seed in ("1", "1", "1")
    ]
    for fit in fits:
        assert fit.stdin is not None
        fit.stdin.write("go\n")
        fit.stdin.flush()
    ends = [(fit.communicate(timeout=60)[1], fit.returncode) for fit in fits]
    assert sorted(code for _, code in ends) == [0, 3, 3]
    assert sum("refclust: wrote one.csv\n" in err for err, _ in ends) == 1
    assert all("[exists]\n" in err for err, code in ends if code)


def folder() -> str:
    os.mkdir("dir")
    return "dir"


def loop() -> str:
    os.symlink("loop", "loop")
    return "loop"


# Places that cannot be written, what becomes of them, and the code.
PLACES: dict[str, tuple[Callable[[], str], str]] = {
    "folder": (folder, "[file-not-found]"),
    "missing folder": (lambda: "no/such", "[file-not-found]"),
    "under a file": (lambda: "points.csv/out", "[file-not-found]"),
    "empty": (lambda: "", "[file-not-found]"),
    "long": (lambda: "m" * 300, "[file-not-found]"),
    "loop": (loop, "[file-not-found]"),
    "read-only": (lambda: "/proc/self/out", "[file-not-found]"),
    "stdout": (lambda: "/dev/stdout", "[bad-option]"),
}


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize("name", [*OUTPUTS, "checkpoint"])
def test_places_where_no_file_can_be(name: str, cli: Cli) -> None:
    for place, (make, code) in PLACES.items():
        path = make()
        # The format may hang on the ending, which is in the way of what is there already.
        path += "" if place in ("empty", "stdout", "folder", "loop") else ending(name)
        before = names()
        done = cli(*call(name, path), "--force")
        assert done.code in (2, 3)
        assert told(done.err).endswith((code, "[unknown-format]"))
        assert "wrote" not in done.err
        assert names() == before


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_full_disk_costs_no_old_file(name: str, cli: Cli) -> None:
    path = f"out{ending(name)}"
    Path(path).write_bytes(b"old")
    before = names()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        code = run([*call(name, path), "--force"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    err = cli("--version").err  # what was printed so far
    assert code == 3
    assert f"refclust: cannot write {path}: file too large [file-not-found]\n" in err
    assert Path(path).read_bytes() == b"old"
    assert names() == before


@pytest.mark.spec("DATA-FILE", "KM-CKPT")
def test_a_full_disk_costs_no_old_checkpoint(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{i * i * 37 % 101},{i * i * i * 11 % 103}" for i in range(90)]
    Path("points.csv").write_text("x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    slow = (*KMEANS[:4], "7", "--restarts", "3", "--checkpoint-every", "0", "--checkpoint", "c")
    due = cli(*slow)
    write, left = atomic.write_atomically, 5

    def full(path: str, content: list[bytes], *, replace: bool = True) -> None:
        nonlocal left
        left -= 1
        write("/dev/full" if left < 0 else path, content, replace=replace)

    with monkeypatch.context() as patched:
        patched.setattr("refclust.fitting.checkpoint.write_atomically", full)
        done = cli(*slow)
    assert done.code == 3
    assert told(done.err).endswith("no space left on device [file-not-found]")
    resumed = cli(*slow, "--resume")
    assert (resumed.code, resumed.out) == (0, due.out)
    assert not Path("c").exists()


@pytest.mark.spec("DATA-FILE")
def test_a_finished_fit_outlives_a_checkpoint_that_cannot_be_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = atomic.write_atomically

    def full(_: str, content: list[bytes]) -> None:
        write("/dev/full", content)

    monkeypatch.setattr("refclust.fitting.checkpoint.write_atomically", full)
    done = cli(*KMEANS, "--model", "o.json")
    assert done.code == 0
    assert done.err.splitlines() == [
        "refclust: the checkpoint is not up to date: cannot write /dev/full: no space left on "
        "device",
        SCALES,
        "refclust: wrote o.json",
    ]
    assert Path("o.json").read_bytes() == Path("m.json").read_bytes()


@pytest.mark.spec("DATA-FILE")
@pytest.mark.parametrize("name", OUTPUTS)
def test_pipes_and_links(name: str, cli: Cli) -> None:
    path = f"out{ending(name)}"
    assert cli(*call(name, path)).code == 0
    due = Path(path).read_bytes()
    os.unlink(path)
    os.mkfifo(path)
    refused = cli(*call(name, path))
    assert (refused.code, told(refused.err)[-8:]) == (3, "[exists]")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path(path).read_bytes()))
    reader.start()
    assert cli(*call(name, path), "--force").code == 0
    reader.join(20)
    assert got == [due]
    os.unlink(path)
    os.symlink("behind", path)  # to nothing yet
    refused = cli(*call(name, path))
    assert (refused.code, told(refused.err)[-8:]) == (3, "[exists]")
    assert cli(*call(name, path), "--force").code == 0
    assert (os.readlink(path), Path("behind").read_bytes()) == ("behind", due)
    os.unlink(path)
    full = (*call(name, "/dev/full"), "--force")
    done = cli(*full)
    assert done.code in (2, 3)
    assert told(done.err).endswith(("no space left on device [file-not-found]", "[unknown-format]"))


@pytest.mark.parametrize("place", ["fifo", "/dev/full"])
def test_a_checkpoint_is_a_file(place: str, cli: Cli) -> None:
    os.mkfifo("fifo")
    for more in ("--force", "--resume"):
        done = cli(*KMEANS, "--checkpoint", place, more)
        assert done.code == 2
        assert done.err == (
            f"refclust: --checkpoint {place}: this is a device or a pipe; a file is needed "
            "[bad-option]\n"
        )


@pytest.mark.spec("DATA-FILE")
def test_a_name_with_a_line_break_is_a_name(cli: Cli) -> None:
    done = cli(*KMEANS, "--model", "two\nlines.json")
    assert done.code == 0
    assert Path("two\nlines.json").read_bytes() == Path("m.json").read_bytes()
    done = cli(*KMEANS, "--model", "two\nlines.json")
    assert done.err == "refclust: two\\x0alines.json exists already; --force replaces it [exists]\n"


@pytest.mark.spec("DATA-FILE")
def test_an_export_to_a_full_disk(cli: Cli) -> None:
    before = names()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        code = run(["vectors", "export", "vectors"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    err = cli("--version").err
    assert code == 3
    assert told(err) == "refclust: cannot write vectors: file too large [file-not-found]"
    assert names() == before


@pytest.mark.spec("DATA-FILE")
def test_an_export_into_a_folder_that_fills_meanwhile(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refclust.cli.commands.proof import export

    fill = export._fill

    def late(folder: Path) -> int:
        os.mkdir("vectors")
        Path("vectors/mine").write_bytes(b"1")
        return fill(folder)

    monkeypatch.setattr(export, "_fill", late)
    before = names()
    done = cli("vectors", "export", "vectors")
    assert (done.code, done.out) == (3, "")
    assert told(done.err).startswith("refclust: vectors is not empty and no export of refclust")
    assert told(done.err).endswith("[exists]")
    assert names() - before == {"vectors"}
    assert os.listdir("vectors") == ["mine"]
