"""Locks: what counts as drift, what does not, and how a lock is renewed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import BadSpec, NeedsCheckout
from refclust.trace.clauses import Clause
from refclust.trace.locks import lock
from tests.trace.trees import CLAUSE_PUR, CODE_FILE, LOCK_FILE, Tree

FORMULA = "refclust.formulas.matching:purity"
PURITY = "refclust.metrics.matching:purity"


def test_lock_is_json_lines_sorted_by_id(tree: Tree) -> None:
    lines = [json.loads(line) for line in tree.read(LOCK_FILE).splitlines()]
    assert [line["id"] for line in lines] == ["PUR", "PUR-NOTE", "PUR-ONE"]
    assert [line["code"] for line in lines] == [[FORMULA, PURITY], [], []]
    assert all(len(line["clause"]) == 16 for line in lines)


def test_lock_pins_known_hashes(tree: Tree) -> None:
    # Made with sha256sum from the texts themselves: a lock must not depend on the Python version.
    first = json.loads(tree.read(LOCK_FILE).splitlines()[0])
    [code] = [json.loads(line) for line in tree.read("spec/locks/code/metrics.lock").splitlines()]
    text = "def purity(table: list[list[int]]) -> Real:\n    n = total(table)\n"
    text += "    return Real(best(table), n)"
    clause = "Purity normative Share of the majority class. "
    clause += r"$$ P = \frac{1}{n} \sum_i \max_j n_{ij} $$ - Source: a paper"
    assert code["name"] == PURITY
    assert code["hash"] == lock.short_hash(text) == "8cc8d02f43c9d84b"
    assert first["clause"] == lock.short_hash(clause) == "9a8a19c25c78b56e"


@pytest.mark.parametrize(
    ("old", "new"),
    [("majority class", "minority class"), ("Purity {n", "Pureness {n"), ("\\max_j", "\\min_j")],
)
def test_changed_clause_is_drift(tree: Tree, old: str, new: str) -> None:
    tree.replace(CLAUSE_PUR, old, new)
    assert tree.problems() == [f"{CLAUSE_PUR}:5: clause PUR changed since its lock [clause-drift]"]
    assert tree.problems(renew=True) == []


def test_changed_kind_is_drift(tree: Tree) -> None:
    tree.replace(CLAUSE_PUR, "{informative}", "{identity}")
    assert f"{CLAUSE_PUR}:19: clause PUR-NOTE changed since its lock [clause-drift]" in (
        tree.problems()
    )


def test_whitespace_in_a_clause_is_no_drift(tree: Tree) -> None:
    tree.replace(
        CLAUSE_PUR, "Share of the majority class.\n", "Share of\nthe  majority class. \n\n"
    )
    assert tree.problems() == []


def test_changed_code_is_drift(tree: Tree) -> None:
    tree.replace(CODE_FILE, "Real(best(table), n)", "Real(n, best(table))")
    assert tree.problems() == [
        f"{CODE_FILE}:6: {PURITY} changed since the lock of PUR [code-drift]"
    ]
    assert tree.problems(renew=True) == []


def test_changed_decorator_is_drift(tree: Tree) -> None:
    tree.replace(CODE_FILE, "def purity", "@cache\ndef purity")
    assert tree.problems() == [
        f"{CODE_FILE}:7: {PURITY} changed since the lock of PUR [code-drift]"
    ]


def test_changed_docstring_is_no_drift(tree: Tree) -> None:
    tree.replace(CODE_FILE, "Share of the majority class.\n", "Says it\n\n    in other words.\n")
    assert tree.problems() == []


def test_blanks_at_line_ends_are_no_drift(tree: Tree) -> None:
    tree.replace(CODE_FILE, "total(table)\n", "total(table)  \n")
    assert tree.problems() == []


def test_code_elsewhere_in_the_file_is_no_drift(tree: Tree) -> None:
    tree.replace(CODE_FILE, "return 1.0", "return 2.0")
    assert tree.problems() == []


def test_new_clause_is_drift(tree: Tree) -> None:
    tree.write(CLAUSE_PUR, tree.read(CLAUSE_PUR) + "\n## PUR-NEW New {informative}\n\nText.\n")
    assert tree.problems() == [
        f"{CLAUSE_PUR}:23: clause PUR-NEW is not in the lock of its chapter [clause-drift]",
        "spec/inventory.txt:1: PUR-NEW is not in the inventory (clause 41-matching) "
        "[inventory-drift]",
    ]
    assert tree.problems(renew=True) == []


def test_removed_clause_is_drift(tree: Tree) -> None:
    text = tree.read(CLAUSE_PUR)
    tree.write(CLAUSE_PUR, text[: text.index("## PUR-NOTE")])
    vanished = (
        "spec/inventory.txt:4: PUR-NOTE (clause 41-matching) is in the inventory but is no clause "
        "and no row of 99-planned.md [id-vanished]"
    )
    assert tree.problems() == [
        vanished,
        f"{LOCK_FILE}:1: clause PUR-NOTE is in the lock but no longer in chapter "
        "41-matching [clause-drift]",
    ]
    assert tree.problems(renew=True) == [vanished]


def test_new_implementation_is_drift(tree: Tree) -> None:
    tree.add("refclust/data/more.py", 'class Purity:\n    """P.\n\n    Spec: PUR\n    """\n')
    assert tree.problems() == [
        "refclust/data/more.py:1: refclust.data.more:Purity realises PUR, "
        "but not in the lock [code-drift]",
        "spec/locks/code/data.lock:1: the lock code/data.lock is missing [lock-missing]",
    ]
    assert tree.problems(renew=True) == []


def test_removed_implementation_is_drift(tree: Tree) -> None:
    tree.add("refclust/data/more.py", 'class Purity:\n    """P.\n\n    Spec: PUR\n    """\n')
    lock.update(tree.root)
    (tree.root / "refclust/data/more.py").unlink()
    assert tree.problems() == [
        f"{CLAUSE_PUR}:5: refclust.data.more:Purity no longer realises PUR, "
        "as the lock says it does [code-drift]",
        "spec/locks/code/data.lock:1: the lock code/data.lock pins nothing [lock-stale]",
    ]


def test_a_name_defined_twice_is_locked_with_both_texts(tree: Tree) -> None:
    docstring = '"""F.\n\n        Spec: PUR\n        """'
    code = f"if FAST:\n    def f():\n        {docstring}\n        return 1\n"
    both = code + code.replace("if FAST", "else").replace("return 1", "return 2")
    tree.write("refclust/data/more.py", both)
    lock.update(tree.root)
    tree.replace("refclust/data/more.py", "return 1", "return 3")
    assert [line.split()[-1] for line in tree.problems()] == ["[code-drift]"]


def test_chapter_without_lock(tree: Tree) -> None:
    (tree.root / LOCK_FILE).unlink()
    assert tree.problems() == [f"{CLAUSE_PUR}:1: chapter 41-matching has no lock [lock-missing]"]


def test_lock_without_chapter(tree: Tree) -> None:
    tree.write("spec/locks/50-gone.lock", "")
    assert tree.problems() == [
        "spec/locks/50-gone.lock:1: the lock 50-gone.lock belongs to no chapter "
        "with clauses [lock-stale]"
    ]
    assert tree.problems(renew=True) == []
    assert not (tree.root / "spec/locks/50-gone.lock").exists()


def test_update_names_what_it_changed(tree: Tree) -> None:
    assert lock.update(tree.root) == []
    tree.write("spec/locks/50-gone.lock", "")
    tree.replace(CLAUSE_PUR, "majority", "largest")
    assert lock.update(tree.root) == [
        tree.root / LOCK_FILE,
        tree.root / "spec/locks/50-gone.lock",
    ]
    locks = tree.root / "spec/locks"
    assert sorted(path.relative_to(locks).as_posix() for path in locks.rglob("*.*")) == [
        "41-matching.lock",
        "code/formulas.lock",
        "code/metrics.lock",
        "evidence/generators.lock",
        "evidence/helpers.lock",
        "evidence/tests.lock",
        "evidence/vectors.lock",
    ]


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", "[]", '{"id": "PUR"}', '{"id": "A", "code": 1}'])
def test_unreadable_lock(tree: Tree, line: str) -> None:
    tree.write(LOCK_FILE, tree.read(LOCK_FILE) + line + "\n")
    with pytest.raises(BadSpec, match=r"locks/41-matching.lock:4: not a line of a lock"):
        tree.problems()
    assert tree.problems(renew=True) == []


def test_update_needs_a_checkout(tree: Tree) -> None:
    (tree.root / "tests").rename(tree.root / "elsewhere")
    with pytest.raises(NeedsCheckout):
        lock.update(tree.root)


@given(st.lists(st.text("ab$\\", min_size=1), min_size=1), st.sampled_from([" ", "\n", " \n\n\t"]))
def test_clause_hash_ignores_layout_only(words: list[str], gap: str) -> None:
    def hashed(text: str) -> str:
        return lock.clause_hash(Clause("A", "T", "normative", "c", 1, text, ()))

    assert hashed(gap.join(words)) == hashed(" ".join(words))
    assert hashed(gap.join([*words, "c"])) != hashed(" ".join(words))
