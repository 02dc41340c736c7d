"""The matrix: counts, states, the table and the plain form."""

from __future__ import annotations

import json

from refclust.trace import matrix
from refclust.trace.matrix import Row
from tests.trace.trees import CODE_FILE, FORMULA_FILE, TEST_FILE, Tree

FORMULA = "refclust.formulas.matching:purity"
PURITY = "refclust.metrics.matching:purity"


def installed(tree: Tree) -> None:
    """Turn the checkout into what an installed package looks like."""
    (tree.root / "pyproject.toml").unlink()
    (tree.root / "spec").rename(tree.root / "refclust" / "_spec")


def test_rows_of_the_clean_tree(tree: Tree) -> None:
    chapter = "41-matching"
    assert matrix.build(tree.root).rows() == (
        Row("PUR", "Purity", "normative", chapter, (FORMULA, PURITY), 2, 1, 1, "-", (), FORMULA),
        Row("PUR-ONE", "Purity of singletons", "identity", chapter, (), 0, 1, 0, "-", ()),
        Row("PUR-NOTE", "A note", "informative", chapter, (), 0, 0, 0, "-", ()),
    )


def test_table_of_the_clean_tree(tree: Tree) -> None:
    assert matrix.build(tree.root).text().splitlines() == [
        "ID        clause                kind         defined                   "
        "code                     "
        "golden  property  tests  contract  state",
        "PUR       Purity                normative    formulas.matching:purity  "
        "metrics.matching:purity  "
        "     2         1      1  -         ok",
        "PUR-ONE   Purity of singletons  identity     -                         "
        "-                        "
        "     0         1      0  -         ok",
        "PUR-NOTE  A note                informative  -                         "
        "-                        "
        "     0         0      0  -         ok",
        "",
        "3 clauses, 0 with holes, 2 IDs planned or left out",
    ]


def test_holes(tree: Tree) -> None:
    tree.vectors({"cases": []})
    tree.write(TEST_FILE, "")
    tree.replace(CODE_FILE, "def purity", '@kernel("m.purity")\ndef purity')
    built = matrix.build(tree.root)
    assert [(row.id, row.state) for row in built.holes()] == [
        ("PUR", "HOLE golden, property, contract"),
        ("PUR-ONE", "HOLE property"),
    ]
    assert [row.contract for row in built.rows()] == ["no", "-", "-"]
    assert built.text().endswith("3 clauses, 2 with holes, 2 IDs planned or left out")


def test_missing_code_is_a_hole(tree: Tree) -> None:
    tree.write(CODE_FILE, "")
    tree.write(FORMULA_FILE, "")
    rows = matrix.build(tree.root).rows()
    assert [row.state for row in rows] == ["HOLE definition, code", "ok", "ok"]
    assert [row.defined for row in rows] == ["-", "-", "-"]
    tree.write("spec/undefined.txt", "PUR\n")
    row = matrix.build(tree.root).rows()[0]
    assert (row.state, row.defined) == ("HOLE code", "later")


def test_contract_of_all_kernels(tree: Tree) -> None:
    kernel = '@kernel("m.{0}"{1})\ndef {0}():\n    """A.\n\n    Spec: PUR\n    """\n\n\n'
    good, bad = kernel.format("a", ", contract=C"), kernel.format("b", "")
    tree.write("refclust/kernels/more.py", good)
    assert matrix.build(tree.root).rows()[0].contract == "yes"
    tree.write("refclust/kernels/more.py", good + bad)
    row = matrix.build(tree.root).rows()[0]
    assert (row.contract, row.missing) == ("no", ("contract",))
    assert row.code == (FORMULA, "refclust.kernels.more:a", "refclust.kernels.more:b", PURITY)
    assert "kernels.more:a +2  " in matrix.build(tree.root).text()


def test_plain_form_survives_json(tree: Tree) -> None:
    plain = matrix.build(tree.root).plain()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["planned"] == ["KM-ALG", "KM-DIGITS"]
    assert (plain["holes"], plain["complete"]) == (0, True)
    clauses = plain["clauses"]
    assert isinstance(clauses, list)
    assert clauses[0] == {
        "id": "PUR",
        "title": "Purity",
        "kind": "normative",
        "chapter": "41-matching",
        "defined": FORMULA,
        "code": [FORMULA, PURITY],
        "golden": 2,
        "property": 1,
        "tests": 1,
        "contract": "-",
        "missing": [],
        "state": "ok",
    }


def test_installed_package_counts_no_tests(tree: Tree) -> None:
    installed(tree)
    built = matrix.build(tree.root)
    assert [(row.golden, row.properties, row.tests, row.state) for row in built.rows()] == [
        (2, None, None, "ok"),
        (0, None, None, "ok"),
        (0, None, None, "ok"),
    ]
    assert not built.complete
    assert built.text().endswith(
        "; tests are not part of an installed package and were not counted"
    )
    assert "       2         ?      ?  -         ok" in built.text()
