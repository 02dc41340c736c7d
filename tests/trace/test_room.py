"""The formula room: one definition of each normative clause, in its place."""

from __future__ import annotations

import pytest

from refclust.errors import BadSpec
from refclust.trace import room
from tests.trace.trees import CLAUSE_PUR, CODE_FILE, FORMULA, FORMULA_FILE, Tree

NAME = "refclust.formulas.matching:purity"
UNDEFINED = "spec/undefined.txt"


def test_no_definition(tree: Tree) -> None:
    tree.replace(FORMULA_FILE, "Defines: PUR", "Spec: PUR")
    assert tree.problems(renew=True) == [
        f"{CLAUSE_PUR}:5: normative clause PUR has no definition: "
        f"no docstring in {FORMULA_FILE} says 'Defines: PUR' [no-definition]"
    ]
    tree.write(UNDEFINED, "# still to come\n\nPUR  # soon\n")
    assert tree.problems(renew=True) == []


def test_two_definitions(tree: Tree) -> None:
    tree.write(FORMULA_FILE, f"{FORMULA}\n\n{FORMULA.replace('def purity', 'def other')}")
    assert tree.problems(renew=True) == [
        f"{FORMULA_FILE}:23: refclust.formulas.matching:other defines PUR, "
        f"which {NAME} defines already [defined-twice]"
    ]


@pytest.mark.parametrize(
    "file", ["refclust/formulas/pairs.py", "refclust/numbers/matching.py", CODE_FILE]
)
def test_a_definition_elsewhere(tree: Tree, file: str) -> None:
    (tree.root / FORMULA_FILE).unlink()
    tree.write(file, FORMULA)
    name = file.removesuffix(".py").replace("/", ".")
    assert tree.problems(renew=True) == [
        f"{file}:6: {name}:purity defines PUR, which only {FORMULA_FILE} may define [wrong-room]"
    ]


def test_the_chapter_of_numbers_is_defined_in_numbers() -> None:
    assert room.at_home("refclust/numbers/deep/sums.py", "05-numbers")
    assert not room.at_home("refclust/formulas/numbers.py", "05-numbers")
    assert not room.at_home("refclust/formulas/matching/purity.py", "41-matching")


def test_an_identity_needs_no_definition_but_may_have_one(tree: Tree) -> None:
    tree.replace(FORMULA_FILE, "Defines: PUR", "Defines: PUR, PUR-ONE")
    assert tree.problems(renew=True) == []


def test_the_list_of_undefined_clauses_can_only_shrink(tree: Tree) -> None:
    tree.write(UNDEFINED, "PUR\nPUR-ONE\nPURR\n")
    assert tree.problems() == [
        f"{UNDEFINED}:1: PUR is listed as undefined but {NAME} defines it [undefined-defined]",
        f"{UNDEFINED}:2: PUR-ONE is listed as undefined but is no normative clause "
        "[undefined-unknown]",
        f"{UNDEFINED}:3: PURR is listed as undefined but is no normative clause "
        "[undefined-unknown]",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PUR\nPUR\n", r"undefined\.txt:2: PUR is listed twice, first in line 1"),
        ("PUR, PUR-ONE\n", r"undefined\.txt:1: 'PUR, PUR-ONE' is no ID; allowed is one a line"),
    ],
)
def test_an_unreadable_list(tree: Tree, text: str, message: str) -> None:
    tree.write(UNDEFINED, text)
    with pytest.raises(BadSpec, match=message):
        tree.problems()


def test_defining_an_unknown_clause(tree: Tree) -> None:
    tree.replace(FORMULA_FILE, "Defines: PUR", "Defines: PUR, PURR")
    assert tree.problems() == [
        f"{FORMULA_FILE}:6: {NAME} cites PURR, which is no clause [unknown-id]"
    ]
