"""Which tests cite which clauses, and as what kind of evidence."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from refclust.trace import markers
from refclust.trace.code import modules
from refclust.trace.code.graph import Graph
from refclust.trace.markers import Marker
from refclust.trace.places import locate
from tests.trace.trees import TEST_FILE, Tree

MODULE = "tests.metrics.test_matching"


def scan(tree: Tree, text: str, name: str = "tests/metrics/test_more.py") -> list[Marker]:
    tree.write(name, dedent(text))
    return [one for one in scanned(tree) if one.file == name]


def scanned(tree: Tree) -> list[Marker]:
    found = modules.tests(locate(tree.root))
    return markers.scan(found, Graph(found, lambda _, __: True))


def test_the_clean_tree(tree: Tree) -> None:
    assert scanned(tree) == [
        Marker(
            f"{TEST_FILE}::test_bounds",
            TEST_FILE,
            14,
            ("PUR", "PUR-ONE"),
            True,
            True,
            (),
            f"{MODULE}:test_bounds",
        ),
        Marker(
            f"{TEST_FILE}::test_plain",
            TEST_FILE,
            19,
            ("PUR",),
            False,
            True,
            (),
            f"{MODULE}:test_plain",
        ),
    ]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ('@pytest.mark.spec("A", "B")\ndef test_f(): ...', ("A", "B")),
        ('@mark.spec("A")\ndef test_f(): ...', ("A",)),
        (
            '@pytest.mark.spec("A")\n@pytest.mark.spec("B", "A")\nasync def test_f(): ...',
            ("A", "B"),
        ),
        ('pytestmark = pytest.mark.spec("A")\ndef test_f(): ...', ("A",)),
        ('pytestmark = [pytest.mark.spec("A"), x]\n@mark.spec("B")\ndef test_f(): ...', ("A", "B")),
        ('pytestmark = (pytest.mark.spec("A"),)\ndef test_f(): ...', ("A",)),
        ('pytestmark: list[X] = [pytest.mark.spec("A")]\ndef test_f(): ...', ("A",)),
        ('@pytest.mark.spec("A")\nclass TestC:\n    def test_f(self): ...', ("A",)),
        ('class TestC:\n    pytestmark = mark.spec("A")\n    def test_f(self): ...', ("A",)),
        (
            '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.spec("A"))])\n'
            "def test_f(x): ...",
            ("A",),
        ),
    ],
)
def test_where_markers_may_stand(tree: Tree, text: str, ids: tuple[str, ...]) -> None:
    [found] = scan(tree, text)
    assert (found.ids, found.counts, found.faults) == (ids, True, ())


def test_names_of_tests_in_classes(tree: Tree) -> None:
    [found] = scan(tree, 'class TestC:\n    @mark.spec("A")\n    def test_f(self): ...')
    assert found.test == "tests/metrics/test_more.py::TestC::test_f"


def test_marks_of_one_class_stay_there(tree: Tree) -> None:
    text = '@mark.spec("A")\nclass TestC:\n    def test_f(self): ...\ndef test_g(): ...'
    assert [one.test.split("::")[-1] for one in scan(tree, text)] == ["test_f"]


@pytest.mark.parametrize(
    "text",
    [
        "def test_f(): ...",
        '@pytest.mark.other("A")\ndef test_f(): ...',
        '@spec("A")\ndef test_f(): ...',
    ],
)
def test_what_is_no_marker(tree: Tree, text: str) -> None:
    assert scan(tree, text) == []


@pytest.mark.parametrize("argument", ["*IDS", "ID", "1", 'ids="A"', ""])
def test_what_cannot_be_read(tree: Tree, argument: str) -> None:
    [found] = scan(tree, f"@mark.spec({argument})\ndef test_f(): ...")
    assert found.ids == ()
    assert [fault[:10] for fault in found.faults] == ["mark.spec("]


@pytest.mark.parametrize("argument", ['"A", *IDS', '"A", 1', '"A", ids="B"'])
def test_what_can_be_read_in_part(tree: Tree, argument: str) -> None:
    [found] = scan(tree, f"@mark.spec({argument})\ndef test_f(): ...")
    assert (found.ids, len(found.faults)) == (("A",), 1)


@pytest.mark.parametrize(
    ("decorator", "is_property"),
    [
        ("@given(x)", True),
        ("@hypothesis.given(x)", True),
        ("@settings(max_examples=3)\n@given(x)", True),
        ("@pytest.mark.parametrize('x', [given])", False),
        ("@settings(max_examples=3)", False),
    ],
)
def test_given_makes_a_property_test(tree: Tree, decorator: str, is_property: bool) -> None:
    [found] = scan(tree, f'@mark.spec("A")\n{decorator}\ndef test_f(x): ...')
    assert found.is_property is is_property


@pytest.mark.parametrize(
    ("name", "is_property"),
    [
        ("tests/property/test_more.py", True),
        ("tests/property/deep/test_more.py", True),
        ("tests/metrics/property/test_more.py", False),
    ],
)
def test_the_property_folder(tree: Tree, name: str, is_property: bool) -> None:
    [found] = scan(tree, '@mark.spec("A")\ndef test_f(): ...', name)
    assert found.is_property is is_property


@pytest.mark.parametrize(
    "mark", ["skip", 'skip("why")', "skipif(True)", "xfail", "xfail(run=False)"]
)
def test_what_may_not_run_or_may_fail_does_not_count(tree: Tree, mark: str) -> None:
    function = '@pytest.mark.spec("A")\n{}def test_f(): ...'
    whole = f"pytestmark = pytest.mark.{mark}\n" + function.format("")
    listed = f"pytestmark = [x, pytest.mark.{mark}]\n" + function.format("")
    method = f"@pytest.mark.{mark}\nclass TestC:\n" + indent(function.format(""), "    ")
    for text in (function.format(f"@pytest.mark.{mark}\n"), whole, listed, method):
        [found] = scan(tree, text)
        assert (found.ids, found.counts) == (("A",), False)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('@mark.spec("A")\ndef helper(): ...', "test_more.py"),
        ('@mark.spec("A")\nclass Cases:\n    def test_f(self): ...', "test_more.py"),
        ('@mark.spec("A")\ndef test_f(): ...', "helpers.py"),
    ],
)
def test_what_pytest_does_not_collect_does_not_count(tree: Tree, text: str, name: str) -> None:
    [found] = scan(tree, text, f"tests/metrics/{name}")
    assert (found.ids, found.counts) == (("A",), False)


def test_files_named_the_other_way_count(tree: Tree) -> None:
    [found] = scan(tree, '@mark.spec("A")\ndef test_f(): ...', "tests/more_test.py")
    assert found.counts
