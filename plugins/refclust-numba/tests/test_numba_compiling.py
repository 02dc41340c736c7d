"""Compiled code on the disk is good for the sources it was made of, and can be done without."""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import refclust_numba
from numba.core import config
from refclust_numba.backend import NumbaBackend
from refclust_numba.exact.limbs import span
from refclust_numba.lowlevel import cachefolder, compiling, keeping, scalars
from refclust_numba.lowlevel.build import TAG

from refclust.backends.protocol import Estimate, Problem

FOLDER = Path(refclust_numba.__file__).parent
MODULES = {
    ".".join(("refclust_numba", *path.relative_to(FOLDER).with_suffix("").parts)): path
    for path in sorted(FOLDER.rglob("*.py"))
    if path.stem != "__init__"
}
STEPPING, THREADS = "refclust_numba.dense.stepping", "refclust_numba.lowlevel.threads"
SCALARS = "refclust_numba.lowlevel.scalars"


def imported(module: str) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(MODULES[module].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports by a relative name"
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("refclust_numba") for alias in node.names)
    return names & MODULES.keys()


def below(module: str) -> set[str]:
    reached, waiting = set(), {module}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= imported(name) - reached
    return reached


@pytest.mark.parametrize("module", MODULES)
def test_a_digest_covers_all_that_a_module_imports(module: str) -> None:
    assert keeping.reached(module) == below(module)


@pytest.mark.parametrize("module", sorted(MODULES.keys() - {"refclust_numba.backend"}))
def test_no_function_imports_what_a_digest_would_miss(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inner = [part for function in functions for part in ast.walk(function)]
    assert not any(isinstance(part, ast.Import | ast.ImportFrom) for part in inner)


def test_a_change_anywhere_below_makes_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: keeping.digest.__wrapped__(name) for name in (STEPPING, THREADS)}
    sources = {name: keeping.source(name) for name in MODULES}
    sources[SCALARS] += "# another version\n"
    monkeypatch.setattr(keeping, "source", sources.__getitem__)
    assert keeping.digest.__wrapped__(STEPPING) != before[STEPPING]
    assert keeping.digest.__wrapped__(THREADS) == before[THREADS]


def test_what_is_kept_is_named_for_all_it_was_made_of(tmp_path: Path) -> None:
    names = {
        keeping.Shelf(tmp_path, function, build, sources).path(key).name
        for function in ("limbs.span", "limbs.other")
        for build in ("py311.16", "py311.4-checked")
        for sources in ("0" * 64, "1" * 64)
        for key in (("float64", "znver4"), ("float32", "znver4"), ("float64", "generic"))
    }
    assert len(names) == 24
    made = span._cache._cache_file.path("a key").name
    assert made.startswith("limbs.span.py3")
    assert f".{TAG}.{keeping.digest('refclust_numba.exact.limbs')[:16]}." in made


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Makes the same compiled function as a new process would, with a folder of its own."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    return lambda: compiling.compiled(span.py_func)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def used(function: Any) -> tuple[tuple[int, int], int]:
    """What the function says of some numbers, and how often its code came from the disk."""
    top, low = function(np.array([3.0, 0.25]), 0, 2)
    return (int(top), int(low)), sum(function.stats.cache_hits.values())


def test_code_is_read_back(fresh: Callable[[], Any], tmp_path: Path) -> None:
    assert used(fresh()) == ((2, -2), 0)
    assert [path.suffix for path in files(tmp_path)] == [".nbc"]
    assert used(fresh()) == ((2, -2), 1)


def damaged(content: bytes) -> list[bytes]:
    size = len(content)
    flipped = bytearray(content)
    flipped[2 * size // 3] ^= 1
    cuts = (0, 1, 31, 32, 33, size // 2, size - 1)
    return [*(content[:cut] for cut in cuts), bytes(flipped), content + b"\0", b"\0" * size]


def test_damaged_code_is_compiled_anew(fresh: Callable[[], Any], tmp_path: Path) -> None:
    used(fresh())
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    for content in damaged(whole):
        path.write_bytes(content)
        assert used(fresh()) == ((2, -2), 0)
        assert files(tmp_path) == [path]
        assert used(fresh()) == ((2, -2), 1)


def test_code_that_is_whole_but_of_something_else_is_compiled_anew(
    fresh: Callable[[], Any], tmp_path: Path
) -> None:
    function = fresh()
    used(function)
    (path,) = files(tmp_path)
    function(np.array([3.0, 0.25], np.float32), 0, 2)
    (other,) = set(files(tmp_path)) - {path}
    path.write_bytes(other.read_bytes())
    assert used(fresh()) == ((2, -2), 0)


def test_code_of_older_sources_is_neither_used_nor_kept(
    fresh: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(keeping, "digest", lambda _: "0" * 64)
        assert used(fresh()) == ((2, -2), 0)
        assert used(fresh()) == ((2, -2), 1)
    (old,) = files(tmp_path)
    other_build = old.with_name(old.name.replace(f".{TAG}.", ".4-other."))
    other_build.write_bytes(b"")
    assert used(fresh()) == ((2, -2), 0)
    assert not old.exists()
    assert other_build.exists()
    assert len(files(tmp_path)) == 2


def test_no_space_for_compiled_code(
    fresh: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keeping.os, "replace", full)
    assert used(fresh()) == ((2, -2), 0)
    assert files(tmp_path) == []


def test_without_a_folder_to_write_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: Any, function: Any) -> None:
        raise RuntimeError(f"cannot cache function {function!r}: no locator available")

    monkeypatch.setattr(compiling.Kept, "__init__", nowhere)
    assert type(compiling.compiled(span.py_func)._cache).__name__ == "NullCache"

    @compiling.compiled
    def whole(x):  # type: ignore[no-untyped-def]
        return scalars.bits(x)

    assert whole(1.0) == 0x3FF0000000000000


@pytest.mark.parametrize("compiled", [False, True])
def test_steady_estimates_do_not_know_what_is_compiled(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refclust_numba.lowlevel.cachefolder.cached", lambda _: compiled)
    new, used = NumbaBackend(), NumbaBackend()
    used._ready.update(used.kernels())
    for kernel in new.kernels():
        problem = Problem("dense", 1000, 4000, 3, 20)
        answers = [
            backend.supports(kernel, replace(problem, steady=True)) for backend in (new, used)
        ]
        assert answers[0] == answers[1]
        assert isinstance(answers[0], Estimate)
        hurried = used.supports(kernel, problem)
        assert isinstance(hurried, Estimate)
        # As a new process on a machine that has compiled before: importing, and a share of that.
        assert answers[0].seconds == hurried.seconds + 1.3 + 4.0


def test_the_build_names_the_variables_that_change_compiled_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if "NUMBA" in name]:
        monkeypatch.delenv(name)
    assert NumbaBackend().build() == ""
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")  # the same code at another place
    monkeypatch.setenv("REFCLUST_NUMBA_ANYTHING", "4")
    assert NumbaBackend().build() == "NUMBA_CPU_NAME=generic REFCLUST_NUMBA_ANYTHING=4"


PLACES: dict[str, Callable[[Path], Path]] = {
    "a file": lambda folder: folder / "file",
    "under a file": lambda folder: folder / "file" / "below",
    "not for us": lambda _: Path("/proc/nothing"),
    "too long": lambda folder: folder / ("n" * 300),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_cache_folder_that_cannot_be(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(config, "CACHE_DIR", str(PLACES[name](tmp_path)))
    # Code is kept elsewhere then, or in this process only.
    assert used(compiling.compiled(span.py_func))[0] == (2, -2)


def test_a_cache_folder_that_goes_while_it_is_used(
    fresh: Callable[[], Any], tmp_path: Path
) -> None:
    used(fresh())
    function = fresh()
    (path,) = files(tmp_path)
    shutil.rmtree(path.parent)
    assert used(function) == ((2, -2), 0)
    assert files(tmp_path) == [path]
    function = fresh()
    shutil.rmtree(path.parent)
    path.parent.write_bytes(b"a file in the place of the folder")
    assert used(function) == ((2, -2), 0)
    assert files(tmp_path) == [path.parent]


@pytest.mark.parametrize("what", ["folder", "closed"])
def test_a_cache_file_that_cannot_be_read(
    what: str, fresh: Callable[[], Any], tmp_path: Path
) -> None:
    used(fresh())
    (path,) = files(tmp_path)
    if what == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.chmod(0)  # whoever may all reads it all the same
    assert used(fresh())[0] == (2, -2)


@pytest.mark.parametrize(
    "environment",
    [
        {},  # nobody's home is known
        {"XDG_CACHE_HOME": "relative"},
        {"XDG_CACHE_HOME": "/proc/nothing"},
        {"NUMBA_CACHE_DIR": "/dev/null"},
    ],
    ids=repr,
)
def test_looking_for_compiled_code_needs_no_home(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    folders = cachefolder.folders("dense")
    assert folders == (
        [] if "NUMBA_CACHE_DIR" in environment else [FOLDER / "dense" / "__pycache__"]
    )


def test_every_kernel_is_looked_for_in_a_module_that_is_there() -> None:
    kernels = set(NumbaBackend().kernels())
    assert set(cachefolder._MODULES) <= kernels
    for name in cachefolder._MODULES.values():
        assert (cachefolder._PACKAGE / f"{name}.py").is_file(), name
