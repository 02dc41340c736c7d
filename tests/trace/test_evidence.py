"""What trying the evidence found: kept beside the locks, told in the matrix, stale when it is."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from refclust.errors import BadSpec
from refclust.trace import matrix
from refclust.trace.locks import mutants
from refclust.trace.scan import scan
from tests.trace.trees import (
    CLAUSE_PUR,
    FORMULA_FILE,
    TEST_FILE,
    VECTOR_FILE,
    VECTORS,
    Tree,
)

MUTANTS = "spec/locks/evidence/mutants.lock"
NAME = "refclust.formulas.matching:purity"


EQUIVALENT = "spec/locks/evidence/equivalent.jsonl"
SURVIVOR = ["+ 1", "sum(a)", "sum(a, 1)"]


def kept(tree: Tree, *, survived: Sequence[list[str]] = (), **killed: int) -> None:
    """Keep a result for the clause of the tree."""
    line = {
        "id": "PUR",
        "key": mutants.key(scan(tree.root), "PUR"),
        "definition": NAME,
        "mutants": 10,
        "of": 12,
        "killed": killed,
        "survived": list(survived),
    }
    mutants.record(tree.root / "spec", [line])


def bites(tree: Tree) -> list[str]:
    return [row.bites for row in matrix.build(tree.root).rows()]


def test_the_matrix_tells_the_share(tree: Tree) -> None:
    assert bites(tree) == ["-", "-", "-"]
    kept(tree, golden=6, property=2, timeout=1, doctest=1)
    assert bites(tree) == ["90% +10%", "-", "-"]
    assert tree.problems(renew=True) == []  # and renewing the locks leaves it alone
    assert bites(tree) == ["90% +10%", "-", "-"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (FORMULA_FILE, "/ _size", "* _size"),
        (FORMULA_FILE, "sum(sum(row)", "max(sum(row)"),
        (FORMULA_FILE, "The share of objects", "Share"),  # a doctest may have changed
        (VECTOR_FILE, '"1/2"', '"1/3"'),
        (TEST_FILE, "LIMIT = 1", "LIMIT = 2"),
        (TEST_FILE, "bounded(purity(table))", "bounded(1)"),
    ],
)
def test_other_code_or_other_evidence_makes_it_stale(
    tree: Tree, file: str, old: str, new: str
) -> None:
    kept(tree, golden=10)
    tree.replace(file, old, new)
    assert tree.problems(renew=True) == [
        f"{MUTANTS}:1: the evidence of PUR was tried on another {NAME}, or is another since; "
        "run `refclust trace --evidence --clause PUR` [evidence-stale]"
    ]
    assert bites(tree)[0] == "stale"


def test_more_vectors_make_it_stale(tree: Tree) -> None:
    kept(tree, golden=10)
    tree.vectors(VECTORS, "spec/vectors/41/more.json")
    assert [line.split()[-1] for line in tree.problems(renew=True)] == ["[evidence-stale]"]


def test_code_beside_it_does_not(tree: Tree) -> None:
    kept(tree, golden=10)
    tree.write(FORMULA_FILE, tree.read(FORMULA_FILE) + "\n\ndef other():\n    return 1\n")
    assert tree.problems() == []


def test_evidence_that_never_bites_is_a_problem(tree: Tree) -> None:
    kept(tree)
    assert tree.problems() == [
        f"{FORMULA_FILE}:6: no evidence of PUR fails, however {NAME} is changed "
        "(10 changes tried) [no-bite]"
    ]


@pytest.mark.parametrize(("noticed", "enough"), [(9, True), (8, False)])
def test_nine_in_ten_changes_are_noticed(tree: Tree, noticed: int, enough: bool) -> None:
    kept(tree, golden=noticed - 1, crash=1, doctest=10 - noticed)
    told = [
        f"{FORMULA_FILE}:6: the evidence of PUR notices {noticed} of 10 changes of {NAME}, less "
        "than nine in ten; add evidence, or list changes that change nothing in "
        "locks/evidence/equivalent.jsonl [weak-evidence]"
    ]
    assert tree.problems() == ([] if enough else told)


def listed(tree: Tree, *changes: list[str]) -> None:
    """List changes as equivalent."""
    lines = [json.dumps({"id": "PUR", "change": one, "why": "nothing"}) for one in changes]
    tree.write(EQUIVALENT, "".join(f"{line}\n" for line in lines))


def whole(tree: Tree, survived: Sequence[list[str]], **killed: int) -> None:
    """Keep a result of all changes, none of them left out."""
    kept(tree, survived=survived, **killed)
    tree.replace(MUTANTS, '"of": 12', '"of": 10')


def test_changes_that_change_nothing_do_not_count(tree: Tree) -> None:
    whole(tree, [SURVIVOR, SURVIVOR], golden=8)
    assert [line.split()[-1] for line in tree.problems()] == ["[weak-evidence]"]
    listed(tree, SURVIVOR)
    assert tree.problems() == []
    assert bites(tree)[0] == "100%"


def test_an_equivalent_change_that_is_noticed(tree: Tree) -> None:
    whole(tree, [], golden=10)
    listed(tree, SURVIVOR)
    told = "a change of PUR is listed as equivalent, but is none that survived: + 1: sum(a, 1)"
    assert tree.problems() == [f"{EQUIVALENT}:1: {told} [equivalent-noticed]"]
    kept(tree, golden=10)  # a sample, which need not hold it
    assert tree.problems() == []


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"id": "PUR", "change": ["a", "b"], "why": "nothing"}',
        '{"id": "PUR", "change": ["a", "b", "c"], "why": ""}',
        '{"id": "PUR", "change": ["a", "b", 3], "why": "nothing"}',
        "nothing",
    ],
)
def test_an_equivalent_change_without_its_reason(tree: Tree, line: str) -> None:
    tree.write(EQUIVALENT, f"{line}\n")
    with pytest.raises(BadSpec, match=r'equivalent.jsonl:1: allowed are "id", "change" and "why"'):
        tree.problems()


def test_a_definition_that_is_gone(tree: Tree) -> None:
    kept(tree, golden=10)
    (tree.root / FORMULA_FILE).unlink()
    tree.write("spec/undefined.txt", "PUR\n")
    assert tree.problems(renew=True) == [
        f"{MUTANTS}:1: evidence was tried for PUR, which has no definition now [evidence-stale]"
    ]
    mutants.forget(tree.root / "spec", scan(tree.root))
    assert tree.problems() == []


def test_an_unreadable_line(tree: Tree) -> None:
    tree.write(MUTANTS, '{"id": "PUR", "key": 1}\n')
    with pytest.raises(BadSpec, match=r"locks/evidence/mutants.lock:1: not a line of a lock"):
        tree.problems()


def test_tests_of_formulas_are_golden_evidence_and_pinned(tree: Tree) -> None:
    name = "tests/formulas/test_matching.py"
    head = 'import pytest\n\n\n@pytest.mark.spec("PUR")\n'
    text = f"{head}def test_golden():\n    assert purity() == 1\n"
    tree.write(name, text)
    told = f"the test {name}::test_golden of PUR is not in the lock [test-drift]"
    assert tree.problems() == [f"{name}:5: {told}"]
    assert tree.problems(renew=True) == []
    tree.write(name, text.replace("assert purity() == 1", "pass"))
    assert f"{name}:5: {name}::test_golden asserts nothing: it is no evidence of PUR " in (
        "\n".join(tree.problems())
    )
    assert CLAUSE_PUR not in "\n".join(tree.problems())  # the property test is still there
