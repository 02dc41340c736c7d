"""Which clauses the golden vectors cite."""

from __future__ import annotations

import pytest

from refclust.errors import BadSpec
from refclust.trace import vectors
from refclust.trace.places import locate
from refclust.trace.vectors import CitingCase, VectorFile
from tests.trace.trees import VECTOR_FILE, Tree


def test_cases_and_their_lines(tree: Tree) -> None:
    assert vectors.scan(locate(tree.root))[1] == [
        CitingCase("purity-half", VECTOR_FILE, 2, ("PUR",)),
        CitingCase("purity-one", VECTOR_FILE, 3, ("PUR",)),
    ]


def test_formulas_of_the_file_and_of_the_case(tree: Tree) -> None:
    cases = [{"id": "a"}, {"id": "b", "formulas": ["Y", "X"]}]
    tree.vectors({"formulas": ["X"], "cases": cases})
    assert [case.ids for case in vectors.scan(locate(tree.root))[1]] == [("X",), ("X", "Y")]


def test_count_per_file(tree: Tree) -> None:
    tree.vectors(
        {"cases": [{"id": "z", "formulas": ["PUR", "X"], "expect": {"a": 1}}]},
        "spec/vectors/a/deep/z.json",
    )
    cases = vectors.scan(locate(tree.root))[1]
    assert vectors.citing(cases, "PUR") == (
        VectorFile(VECTOR_FILE, 2),
        VectorFile("spec/vectors/a/deep/z.json", 1),
    )
    assert vectors.citing(cases, "X") == (VectorFile("spec/vectors/a/deep/z.json", 1),)
    assert vectors.citing(cases, "PU") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"cases": [}', r"purity\.json:1: not JSON"),
        ("[]", r"purity\.json:1: a vector file is an object with a list of cases"),
        ('{"cases": {}}', r"purity\.json:1: a vector file is an object with a list of cases"),
        ('{"cases": ["a"]}', r"purity\.json:1: case number 0 has no id"),
        ('{"cases": [{"id": 1}]}', r"purity\.json:1: case number 0 has no id"),
        ('{"cases": [\n{"id": "a", "formulas": "PUR"}]}', r"purity\.json:2: formulas must be a li"),
        ('{"cases": [], "formulas": "PUR"}', r"purity\.json:1: formulas must be a list"),
    ],
)
def test_bad_files(tree: Tree, text: str, message: str) -> None:
    tree.write(VECTOR_FILE, text)
    with pytest.raises(BadSpec, match=message):
        vectors.scan(locate(tree.root))
