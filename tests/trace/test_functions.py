"""What the package defines and cites, and which functions owe a citation."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from refclust.errors import BadSpec
from refclust.trace import citations
from refclust.trace.citations import Citations
from refclust.trace.code import functions, modules, numeric
from refclust.trace.code.functions import Definition
from refclust.trace.places import locate
from tests.trace.trees import Tree


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Nothing.", Citations()),
        ("A.\n\nSpec: PUR", Citations(ids=("PUR",))),
        ("A.\n\nSpec: PUR, PUR-F,  X2", Citations(ids=("PUR", "PUR-F", "X2"))),
        ("A.\n\nSpec: PUR,\n    PUR-F\n\nMore.", Citations(ids=("PUR", "PUR-F"))),
        ("A.\n\nSpec: PUR\nSpec: PUR-F, PUR", Citations(ids=("PUR", "PUR-F"))),
        ("A.\n\nDefines: PUR", Citations(ids=("PUR",), defines=("PUR",))),
        ("Defines: PUR", Citations(ids=("PUR",), defines=("PUR",))),
        (
            "A.\n\nSpec: PUR-F\nDefines: PUR,\n    PUR-G",
            Citations(ids=("PUR-F", "PUR", "PUR-G"), defines=("PUR", "PUR-G")),
        ),
        ("A.\n\nDefines: none (a reader)", Citations(faults=("Defines: none (a reader)",))),
        ("A.\n\nDefines:", Citations(faults=("Defines:",))),
        ("A.\n\nSpec: none (a reader)", Citations(exempt="a reader")),
        ("A.\n\nSpec: none (long\nreason)", Citations(exempt="long")),
        ("See the line Spec: PUR", Citations()),
        ("A.\n\nSpec:", Citations(faults=("Spec:",))),
        ("A.\n\nSpec: none", Citations(faults=("Spec: none",))),
        ("A.\n\nSpec: pur", Citations(faults=("Spec: pur",))),
        ("A.\n\nSpec: PUR PUR-F", Citations(faults=("Spec: PUR PUR-F",))),
        ("A.\n\nSpec: PUR,", Citations(faults=("Spec: PUR,",))),
    ],
)
def test_citations(docstring: str, expected: Citations) -> None:
    assert citations.read(docstring) == expected


def scan(tree: Tree, text: str, name: str = "refclust/metrics/more.py") -> list[Definition]:
    tree.write(name, dedent(text))
    return [one for one in functions.scan(modules.package(locate(tree.root))) if one.file == name]


@pytest.mark.parametrize(
    ("returns", "owes"),
    [
        ("float", True),
        ("int", True),
        ("Real", True),
        ("Score", True),
        ("fractions.Fraction", True),
        ("Fraction | None", True),
        ("tuple[float, ...]", True),
        ("dict[str, list[int]]", True),
        ("'Real'", True),
        ("list['Real']", True),
        ("Vector", True),
        ("Matrix", True),
        ("Pair", True),
        ("Length", True),
        ("Declared", True),
        ("str", False),
        ("bool", False),
        ("None", False),
        ("'not python at all'", False),
        ("Named", False),
        ("Empty", False),
        ("LIMIT", False),
        ("WORDS", False),
        ("Kinds", False),
        ("Chosen", False),
    ],
)
def test_which_functions_owe_a_citation(tree: Tree, returns: str, owes: bool) -> None:
    # The types stand in another module, and aliases come before what they stand for.
    tree.add(
        "refclust/data/types.py",
        """\
        Matrix = list[Vector]
        Vector = tuple[float, ...]
        Declared: TypeAlias = "float | str"
        Kinds: TypeAlias = "list[str]"
        Chosen: type = float
        LIMIT = int(3)
        WORDS = list[str]
        class Pair(NamedTuple):
            a: int
            b: "Vector"
        class Length(float):
            def f(self): ...
        class Named:
            a: int
            name: str
        class Empty:
            pass
        """,
    )
    found = scan(tree, f"def f() -> {returns}: ...\n")
    assert [one.qualname for one in found] == (["f"] if owes else [])


@pytest.mark.parametrize(
    ("name", "owes"),
    [
        *((f"refclust/{folder}/more.py", True) for folder in sorted(functions.NUMERIC_FOLDERS)),
        ("refclust/metrics/__init__.py", True),
        ("refclust/metrics/deep/more.py", True),
        ("refclust/metrics/_more.py", False),
        ("refclust/metrics/_deep/more.py", False),
        ("refclust/cli/more.py", False),
        ("refclust/metrics.py", True),
    ],
)
def test_where_functions_owe_a_citation(tree: Tree, name: str, owes: bool) -> None:
    found = scan(tree, "def f() -> int: ...\n", name)
    assert [one.owes for one in found] == ([True] if owes else [])


def test_the_shipped_specification_is_no_code(tree: Tree) -> None:
    cited = 'def f() -> int:\n    """F.\n\n    Spec: PUR\n    """\n'
    assert scan(tree, cited, "refclust/_spec/generators/more.py") == []


def test_the_numeric_folders() -> None:
    assert sorted(functions.NUMERIC_FOLDERS) == [
        "classify",
        "cluster",
        "data",
        "formulas",
        "kernels",
        "metrics",
        "mixture",
        "numbers",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "def _f() -> int: ...",
        "class A:\n    def f(self) -> int: ...",
        "def g():\n    def f() -> int: ...",
        "@overload\ndef f() -> int: ...",
        "@typing.overload\ndef f() -> int: ...",
        "def f(x: int): ...",
    ],
)
def test_what_owes_nothing(tree: Tree, text: str) -> None:
    assert scan(tree, text) == []


@pytest.mark.parametrize("text", ["async def f() -> int: ...", "if X:\n    def f() -> int: ..."])
def test_what_owes_as_well(tree: Tree, text: str) -> None:
    assert [one.qualname for one in scan(tree, text)] == ["f"]


def test_names_of_definitions(tree: Tree) -> None:
    cited = '"""A.\n\nSpec: PUR\n"""\n'
    text = f"""\
{cited}
class A:
{indent(cited, "    ")}
    def f(self):
{indent(cited, "        ")}
        def g():
{indent(cited, "            ")}
try:
    pass
except Exception:
    def h():
{indent(cited, "        ")}
"""
    found = scan(tree, text, "refclust/cli/__init__.py")
    assert [one.name for one in found] == [
        "refclust.cli:A",
        "refclust.cli:A.f",
        "refclust.cli:A.f.<locals>.g",
        "refclust.cli:h",
    ]


@pytest.mark.parametrize(
    ("decorator", "kernel", "contract"),
    [
        ('@kernel("a.b", contract=Exact())', "a.b", True),
        ('@registry.kernel("a.b", contract=C)', "a.b", True),
        ('@kernel("a.b", contract="exact")', "a.b", True),
        ('@kernel("a.b")', "a.b", False),
        ('@kernel("a.b", fused=True)', "a.b", False),
        ('@kernel("a.b", contract=None)', "a.b", False),
        ('@cache\n@kernel("a.b", contract=C)', "a.b", True),
        ('@other("a.b", contract=C)', None, False),
        ("@kernel", None, False),
    ],
)
def test_kernels(tree: Tree, decorator: str, kernel: str | None, contract: bool) -> None:
    [found] = scan(tree, f'{decorator}\ndef f():\n    """A.\n\n    Spec: PUR\n    """\n')
    assert (found.kernel, found.contract, found.owes) == (kernel, contract, kernel is not None)


def test_broken_source(tree: Tree) -> None:
    with pytest.raises(BadSpec, match=r"refclust/metrics/more\.py:2: not Python"):
        scan(tree, "\ndef f(:\n")


def test_nothing_is_imported(tree: Tree) -> None:
    assert scan(tree, "raise SystemExit\n") == []


def test_numeric_names_go_on_until_nothing_is_new() -> None:
    tree = ast.parse("A = list[B]\nB = list[C]\nC = list[int]\nD = list[E]\nE = list[D]\n")
    assert numeric.numeric_names([tree]) - numeric.NUMBERS == {"A", "B", "C"}
