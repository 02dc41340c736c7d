"""The index: what was read once is not read again, until a file is another."""

from __future__ import annotations

import pytest

from refclust.trace import matrix, show
from refclust.trace.code import index
from refclust.trace.places import cache_folder
from tests.trace.test_matrix import installed
from tests.trace.trees import CLAUSE_PUR, FORMULA_FILE, TEST_FILE, VECTOR_FILE, Tree


@pytest.fixture
def settled(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Tree:
    """The clean tree, whose files count as old, and a cache folder of its own."""
    monkeypatch.setattr(index, "_YOUNG", -(10**12))
    monkeypatch.setenv("REFCLUST_CACHE_DIR", str(tmp_path_factory.mktemp("cache") / "deep"))
    return tree


def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing can be read from the tree itself."""

    def refuse(_: object) -> None:
        raise AssertionError("the tree was read again")

    monkeypatch.setattr(show, "scan", refuse)
    monkeypatch.setattr(matrix, "scan", refuse)


@pytest.mark.parametrize("shipped", [False, True])
def test_what_was_read_is_not_read_again(
    settled: Tree, monkeypatch: pytest.MonkeyPatch, shipped: bool
) -> None:
    if shipped:
        installed(settled)
    pages = [show.clause(one, settled.root) for one in ("PUR", "PUR-NOTE")]
    built = matrix.build(settled.root)
    unread(monkeypatch)
    assert [show.clause(one, settled.root) for one in ("pur", "PUR-NOTE")] == pages
    assert matrix.build(settled.root) == built


@pytest.mark.parametrize("file", [FORMULA_FILE, CLAUSE_PUR, TEST_FILE, VECTOR_FILE])
def test_a_changed_file_is_read(settled: Tree, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    show.clause("PUR", settled.root)
    matrix.build(settled.root)
    settled.write(file, settled.read(file))  # the same text: only its times tell
    unread(monkeypatch)
    with pytest.raises(AssertionError, match="read again"):
        show.clause("PUR", settled.root)
    with pytest.raises(AssertionError, match="read again"):
        matrix.build(settled.root)


def test_a_new_file_is_seen(settled: Tree) -> None:
    assert len(show.clause("PUR", settled.root).code) == 2
    settled.write("refclust/data/more.py", 'def f():\n    """F.\n\n    Spec: PUR\n    """\n')
    assert len(show.clause("PUR", settled.root).code) == 3


def test_a_young_tree_is_not_kept(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("REFCLUST_CACHE_DIR", str(cache))
    show.clause("PUR", tree.root)
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_done_without(
    settled: Tree, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path_factory.mktemp("cache") / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("REFCLUST_CACHE_DIR", str(blocked))
    assert show.clause("PUR", settled.root) == show.clause("PUR", settled.root)


@pytest.mark.parametrize("rest", ["", "PUR {\n", "PUR"])
def test_a_spoilt_index_is_no_index(settled: Tree, rest: str) -> None:
    page = show.clause("PUR", settled.root)
    folder = cache_folder()
    assert folder is not None
    [path] = folder.glob("trace-pages-*")
    key = path.read_text(encoding="utf-8").partition("\n")[0]
    path.write_text(f"{key}\n{rest}", encoding="utf-8")
    assert show.clause("PUR", settled.root) == page
