"""The page of one clause, in a checkout and in an installed package."""

from __future__ import annotations

import json

import pytest

from refclust.errors import UnknownClause
from refclust.trace import show
from tests.trace.test_matrix import installed
from tests.trace.trees import CLAUSE_PUR, CODE_FILE, FORMULA_FILE, TEST_FILE, VECTOR_FILE, Tree

PAGE = """\
PUR  Purity
normative clause of chapter 41-matching, as locked

Share of the majority class.

$$ P = \\frac{1}{n} \\sum_i \\max_j n_{ij} $$

- Source: a paper

Definition  refclust/formulas/matching.py:6  refclust.formulas.matching:purity (as locked)

    def purity(table: list[list[int]]) -> Fraction:
        \"""The share of objects in the majority class of their cluster.

        Defines: PUR
        \"""
        return sum(max(row) for row in table) / _size(table)

Golden vectors
    spec/vectors/41/purity.json: 2 cases

Tests
    tests/metrics/test_matching.py::test_bounds (property)
    tests/metrics/test_matching.py::test_plain

Also realised by
    refclust/metrics/matching.py:6  refclust.metrics.matching:purity (as locked)"""

UNDEFINED = """\
Code  refclust/metrics/matching.py:6  refclust.metrics.matching:purity (as locked)

    def purity(table: list[list[int]]) -> Real:
        \"""Share of the majority class.

        Spec: PUR
        \"""
        n = total(table)
        return Real(best(table), n)

Golden vectors
"""


def test_page_as_text(tree: Tree) -> None:
    assert show.clause("PUR", tree.root).text() == PAGE


def test_page_of_a_clause_without_definition_shows_the_code(tree: Tree) -> None:
    (tree.root / FORMULA_FILE).unlink()
    assert UNDEFINED in show.clause("PUR", tree.root).text()


def test_page_of_a_clause_without_code(tree: Tree) -> None:
    assert show.clause("PUR-NOTE", tree.root).text() == (
        "PUR-NOTE  A note\n"
        "informative clause of chapter 41-matching, as locked\n\n"
        "Purity grows with the number of clusters.\n\n"
        "Code  none\n\nGolden vectors  none\n\nTests  none"
    )


@pytest.mark.parametrize("name", ["pur", "Pur", " PUR "])
def test_case_does_not_matter(tree: Tree, name: str) -> None:
    assert show.clause(name, tree.root).clause.id == "PUR"


def test_changed_since_the_lock(tree: Tree) -> None:
    tree.replace(CODE_FILE, "total(table)", "count(table)")
    page = show.clause("PUR", tree.root)
    assert (page.locked, page.code[1].locked) == ("as locked", "changed since the lock")
    assert page.code[0].locked == "as locked"
    tree.replace(CLAUSE_PUR, "majority", "largest")
    assert show.clause("PUR", tree.root).locked == "changed since the lock"


def test_not_locked(tree: Tree) -> None:
    (tree.root / "spec/locks/41-matching.lock").unlink()
    page = show.clause("PUR", tree.root)
    assert (page.locked, page.code[0].locked) == ("not locked", "not locked")


def test_methods_are_shown_without_their_indentation(tree: Tree) -> None:
    body = '"""A.\n\n        Spec: PUR-NOTE\n        """\n        return 1\n'
    tree.write("refclust/data/more.py", f"class A:\n    @cache\n    def f(self):\n        {body}")
    [code] = show.clause("PUR-NOTE", tree.root).code
    assert code.source.splitlines()[:2] == ["@cache", "def f(self):"]
    assert code.source.endswith("\n    return 1")


def test_kernel_is_named(tree: Tree) -> None:
    tree.replace(CODE_FILE, "def purity", '@kernel("m.purity", contract=C)\ndef purity')
    page = show.clause("PUR", tree.root)
    assert [one.defines for one in page.code] == [True, False]
    assert (page.code[1].kernel, page.code[1].contract) == ("m.purity", True)
    assert "matching:purity, kernel m.purity (changed since the lock)" in page.text()


def test_one_case_is_no_plural(tree: Tree) -> None:
    tree.vectors({"cases": [{"id": "a", "formulas": ["PUR"], "expect": {"purity": 1}}]})
    assert f"    {VECTOR_FILE}: 1 case\n" in show.clause("PUR", tree.root).text()


def test_plain_form_survives_json(tree: Tree) -> None:
    plain = show.clause("PUR", tree.root).plain()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["vectors"] == [{"file": VECTOR_FILE, "cases": 2}]
    assert plain["tests"] == [
        {"name": f"{TEST_FILE}::test_bounds", "property": True},
        {"name": f"{TEST_FILE}::test_plain", "property": False},
    ]


def test_installed_package(tree: Tree) -> None:
    installed(tree)
    page = show.clause("PUR", tree.root)
    assert page.tests is None
    assert page.plain()["tests"] is None
    assert page.vectors[0].file == "refclust/_spec/vectors/41/purity.json"
    assert (page.locked, page.code[0].locked) == ("as locked", "as locked")
    assert "\nTests  not part of an installed package\n" in page.text()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("PURR", "no clause 'PURR'; did you mean PUR or"),
        ("km-alg", r"KM-ALG has no clause \(planned for chapter 10\): the algorithm"),
        ("KM-ALGO", "no clause 'KM-ALGO'; did you mean KM-ALG"),
        ("Q", "no clause 'Q'; `refclust trace` lists them all"),
    ],
)
def test_unknown_clause(tree: Tree, name: str, message: str) -> None:
    with pytest.raises(UnknownClause, match=message) as caught:
        show.clause(name, tree.root)
    assert caught.value.code == "unknown-clause"
