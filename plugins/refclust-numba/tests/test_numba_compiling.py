"""Compiled code on the disk is good for the sources it was made of, and can be done without."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from refclust_numba.lowlevel import compiling, scalars

FOLDER = Path(compiling.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def imported(module: str) -> set[str]:
    found = set()
    for node in ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("refclust_numba"):
            name = (node.module or "").partition(".")[2]
            found |= {name} if name else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("module", MODULES)
def test_a_digest_covers_all_that_a_module_imports(module: str) -> None:
    reached, waiting = set(), {module}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= imported(name) - reached
    assert compiling._reached(module) == reached


def test_a_change_anywhere_below_makes_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: compiling.digest.__wrapped__(name) for name in ("stepping", "threads")}
    sources = {name: compiling._source(name) for name in MODULES}
    sources["scalars"] += "# another version\n"
    monkeypatch.setattr(compiling, "_source", sources.__getitem__)
    assert compiling.digest.__wrapped__("stepping") != before["stepping"]
    assert compiling.digest.__wrapped__("threads") == before["threads"]


def test_what_is_kept_is_found_by_the_digest() -> None:
    from refclust_numba.dense.stepping import step_blocks

    seen: list[Any] = []

    class Codegen:
        def magic_tuple(self) -> tuple[str]:
            seen.append(self)
            return ("a machine",)

    key = step_blocks._cache._index_key(("signature",), Codegen())
    assert key[-1] == compiling.digest("stepping")
    assert key[0] == ("signature",)
    assert len(seen) == 1


def test_without_a_folder_to_write_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: Any, function: Any) -> None:
        raise RuntimeError(f"cannot cache function {function!r}: no locator available")

    monkeypatch.setattr(compiling._Kept, "__init__", nowhere)

    @compiling.compiled
    def whole(x):  # type: ignore[no-untyped-def]
        return scalars.bits(x)

    assert whole(1.0) == 0x3FF0000000000000
    assert type(whole._cache).__name__ == "NullCache"
