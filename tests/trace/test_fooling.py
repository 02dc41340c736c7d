"""Ways to fool the tracing that went unnoticed once: each is told now, by name."""

from __future__ import annotations

import pytest

from tests.trace.trees import (
    FORMULA_FILE,
    GENERATOR_FILE,
    TEST_FILE,
    VECTOR_FILE,
    VECTORS,
    Tree,
)

BOUNDS = f"{TEST_FILE}::test_bounds"
VECTOR_LOCK = "spec/locks/evidence/vectors.lock"
TEST_LOCK = "spec/locks/evidence/tests.lock"


def test_a_vector_file_removed(tree: Tree) -> None:
    tree.vectors(VECTORS, "spec/vectors/41/more.json")
    assert tree.problems(renew=True) == []
    (tree.root / VECTOR_FILE).unlink()
    assert tree.problems() == [
        f"{VECTOR_LOCK}:1: the vector file {VECTOR_FILE} is in the lock but gone [vector-drift]"
    ]


def test_all_cases_but_one_removed(tree: Tree) -> None:
    tree.vectors({**VECTORS, "cases": VECTORS["cases"][:1]})
    assert tree.problems() == [
        f"{VECTOR_FILE}:1: the vector file {VECTOR_FILE} has 1 case, the lock says 2 [vector-drift]"
    ]


@pytest.mark.parametrize(
    ("emptied", "place"),
    [("{}", ".purity"), ("null", ".purity"), ('{"exact": ""}', ".purity.exact")],
)
def test_an_expected_value_emptied(tree: Tree, emptied: str, place: str) -> None:
    tree.replace(VECTOR_FILE, '{"exact": "1/2"}', emptied)
    empty = (
        f"{VECTOR_FILE}:2: case purity-half leaves expect{place} empty: "
        "it is no evidence [expects-nothing]"
    )
    assert tree.problems() == [
        f"{VECTOR_FILE}:1: the vector file {VECTOR_FILE} changed since its lock [vector-drift]",
        empty,
    ]
    assert tree.problems(renew=True) == [empty]


def test_a_wrong_expected_value(tree: Tree) -> None:
    tree.replace(VECTOR_FILE, '"1/2"', '"1/3"')
    assert tree.problems() == [
        f"{VECTOR_FILE}:1: the vector file {VECTOR_FILE} changed since its lock [vector-drift]"
    ]


def test_an_id_added_to_a_case(tree: Tree) -> None:
    tree.replace(
        VECTOR_FILE,
        '"purity-one", "formulas": ["PUR"]',
        '"purity-one", "formulas": ["PUR", "PUR-ONE"]',
    )
    assert tree.problems() == [
        f"{VECTOR_FILE}:1: the vector file {VECTOR_FILE} cites PUR-ONE in 1 case, "
        "the lock says 0 [vector-drift]"
    ]


@pytest.mark.parametrize("body", ["pass", "assert True", "purity(table)", "unknown(purity(table))"])
def test_the_body_of_a_property_test_replaced(tree: Tree, body: str) -> None:
    tree.replace(TEST_FILE, "    bounded(purity(table))", f"    {body}")
    holes = [
        "spec/41-matching.md:5: normative clause PUR has no property evidence: "
        "no property test that runs cites it [no-property]",
        "spec/41-matching.md:13: identity clause PUR-ONE has no property evidence: "
        "no property test that runs cites it [no-property]",
    ]
    nothing = (
        f"{TEST_FILE}:14: {BOUNDS} asserts nothing: "
        "it is no evidence of PUR, PUR-ONE [asserts-nothing]"
    )
    assert [line for line in tree.problems() if "helpers" not in line] == [
        *holes,
        f"{TEST_LOCK}:1: the property test {BOUNDS} of PUR, PUR-ONE is in the lock "
        "but is no evidence now [test-drift]",
        nothing,
    ]
    assert tree.problems(renew=True) == [*holes, nothing]


@pytest.mark.parametrize(
    ("row", "vanished", "state"),
    [
        ("| KM-ALG | the algorithm | planned for chapter 10 |\n", "KM-ALG", "planned"),
        ("| KM-DIGITS | a lost figure | left out: nothing survives |\n", "KM-DIGITS", "left-out"),
    ],
)
def test_a_row_dropped_from_the_planned_ones(
    tree: Tree, row: str, vanished: str, state: str
) -> None:
    tree.replace("spec/99-planned.md", row, "")
    [told] = tree.problems()
    assert told.endswith(
        f": {vanished} ({state}) is in the inventory but is no clause "
        "and no row of 99-planned.md [id-vanished]"
    )
    assert tree.problems(renew=True) == [told]


def test_a_helper_of_a_definition_changed(tree: Tree) -> None:
    tree.replace(FORMULA_FILE, "sum(sum(row)", "max(sum(row)")
    assert tree.problems() == [
        f"{FORMULA_FILE}:14: refclust.formulas.matching:_size, which PUR's "
        "refclust.formulas.matching:purity calls, changed since the lock [code-drift]"
    ]


def test_a_weaker_test(tree: Tree) -> None:
    tree.replace(TEST_FILE, "    bounded(purity(table))", "    bounded(0)")
    assert tree.problems() == [
        f"{TEST_FILE}:14: the property test {BOUNDS} of PUR, PUR-ONE changed since its lock "
        "[test-drift]"
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "name"),
    [
        ("value <= LIMIT", "value <= 10 * LIMIT", 8, "bounded"),
        ("LIMIT = 1", "LIMIT = 2", 5, "LIMIT"),
    ],
)
def test_a_weaker_helper_of_a_test(tree: Tree, old: str, new: str, line: int, name: str) -> None:
    tree.replace(TEST_FILE, old, new)
    assert tree.problems() == [
        f"{TEST_FILE}:{line}: tests.metrics.test_matching:{name}, which {BOUNDS} of PUR, PUR-ONE "
        "uses, changed since its lock [test-drift]"
    ]


def test_a_generator_changed_or_removed(tree: Tree) -> None:
    tree.write(GENERATOR_FILE, "print(2)\n")
    assert tree.problems() == [
        f"{GENERATOR_FILE}:1: the generator {GENERATOR_FILE} changed since its lock "
        "[generator-drift]"
    ]
    tree.write("spec/generators/more.py", "print(1)\n")
    (tree.root / GENERATOR_FILE).unlink()
    assert tree.problems() == [
        "spec/generators/more.py:1: the generator spec/generators/more.py is not in the lock "
        "[generator-drift]",
        f"spec/locks/evidence/generators.lock:1: the generator {GENERATOR_FILE} is in the lock "
        "but gone [generator-drift]",
    ]


def test_a_new_id_joins_the_inventory_with_the_next_renewal(tree: Tree) -> None:
    before = tree.read("spec/inventory.txt")
    assert before == (
        "KM-ALG planned\nKM-DIGITS left-out\nPUR clause 41-matching\n"
        "PUR-NOTE clause 41-matching\nPUR-ONE clause 41-matching\n"
    )
    row = "| KM-ALG | the algorithm | planned for chapter 10 |\n"
    tree.replace(
        "spec/99-planned.md", row, row.replace("planned", "left out") + "| A | b | planned |\n"
    )
    assert tree.problems() == [
        "spec/inventory.txt:1: A is not in the inventory (planned) [inventory-drift]",
        "spec/inventory.txt:1: KM-ALG is 'planned' in the inventory but is now 'left-out' "
        "[inventory-drift]",
    ]
    assert tree.problems(renew=True) == []
    assert tree.read("spec/inventory.txt").startswith("A planned\nKM-ALG left-out\nKM-DIGITS ")
