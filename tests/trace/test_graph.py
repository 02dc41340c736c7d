"""What code reaches: names through imports, modules, classes and their bases; and what drifts."""

from __future__ import annotations

import pytest

from refclust.trace.code import modules
from refclust.trace.code.graph import Graph
from refclust.trace.places import locate
from tests.trace.trees import FORMULA_FILE, Tree

HELPERS = """\
from refclust.numbers import sums as added
from refclust.numbers.more import again

STEP = 2


def cube(x):
    return x**3


class Base:
    LEAST = 1

    def low(self):
        return self.LEAST


class Table(Base):
    def high(self):
        return self.low() + cube(1)
"""


def calls(tree: Tree, text: str, name: str = "f") -> list[str]:
    """What a definition in ``refclust/formulas/more.py`` calls."""
    tree.write("refclust/numbers/sums.py", "def total(x):\n    return x\n")
    tree.write("refclust/numbers/more.py", "from refclust.numbers.sums import total as again\n")
    tree.write("refclust/formulas/helpers.py", HELPERS)
    tree.write("refclust/cli/far.py", "def far():\n    return 1\n")
    tree.write("refclust/formulas/more.py", text)
    graph = Graph(
        modules.package(locate(tree.root)),
        lambda one, other: other.folder in {one.folder, "numbers"},
    )
    found = graph.unit(("refclust.formulas.more", name)).calls
    return [one.removeprefix("refclust.") for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def g(): ...\ndef f():\n    return g()\n", ["formulas.more:g"]),
        ("STEP = 1\ndef f():\n    return STEP\n", ["formulas.more:STEP"]),
        ("def g(h): ...\n@g\ndef f(): ...\n", ["formulas.more:g"]),
        ("def f(x=None):\n    return f(x)\n", []),
        ("def g(): ...\ndef f(g):\n    return g()\n", []),
        ("def g(): ...\ndef f():\n    g = 1\n    return g\n", []),
        ("def g(): ...\ndef f():\n    return [g for g in 'a']\n", []),
        ("def g(): ...\ndef f():\n    return lambda g: g\n", []),
        ("def g(): ...\ndef f():\n    return lambda: g()\n", ["formulas.more:g"]),
        ("def g(): ...\ndef f():\n    def h():\n        return g()\n", ["formulas.more:g"]),
        ("g = 1\ndef f():\n    global g\n    g = 2\n", ["formulas.more:g"]),
        (
            "from refclust.formulas.helpers import cube as c\ndef f():\n    return c(1)\n",
            ["formulas.helpers:cube"],
        ),
        (
            "from refclust.formulas import helpers\ndef f():\n    return helpers.STEP\n",
            ["formulas.helpers:STEP"],
        ),
        (
            "import refclust.formulas.helpers\ndef f():\n    refclust.formulas.helpers.cube(1)\n",
            ["formulas.helpers:cube"],
        ),
        (
            "def f():\n    from .helpers import cube\n    return cube(1)\n",
            ["formulas.helpers:cube"],
        ),
        (
            "from refclust.formulas import helpers\ndef f():\n    helpers.added.total(1)\n",
            ["numbers.sums:total"],
        ),
        (
            "from refclust.formulas.helpers import again\ndef f():\n    return again(1)\n",
            ["numbers.sums:total"],
        ),
        (
            "from refclust.formulas.helpers import Table\ndef f(x: Table) -> int:\n    x.high()\n",
            ["formulas.helpers:Table"],
        ),
        ("from refclust.cli.far import far\ndef f():\n    return far()\n", []),
        ("from refclust.formulas.more import f as g\ndef f():\n    return g()\n", []),
        ("from math import log\ndef f():\n    return log(1)\n", []),
    ],
)
def test_what_a_function_calls(tree: Tree, text: str, expected: list[str]) -> None:
    assert calls(tree, text) == expected


def test_names_that_modules_import_from_each_other_end(tree: Tree) -> None:
    tree.write("refclust/formulas/other.py", "from refclust.formulas.more import g\n")
    text = "from refclust.formulas.other import g\ndef f():\n    return g()\n"
    assert calls(tree, text) == []


def test_methods_reach_members_of_their_class_and_its_bases(tree: Tree) -> None:
    text = (
        "from refclust.formulas import helpers\n"
        "class A(helpers.Base):\n    STEP = 1\n    def f(self):\n"
        "        return self.low() + self.g() + self.STEP + self.none\n"
        "    def g(self): ...\n"
    )
    assert calls(tree, text, "A.f") == [
        "formulas.helpers:Base.low",
        "formulas.more:A.STEP",
        "formulas.more:A.g",
    ]


def reaching(tree: Tree) -> None:
    """Let the formula of the tree reach a helper in another file through an import."""
    tree.write("refclust/formulas/a.py", "def half(x):\n    return x / 2\n")
    tree.write("refclust/formulas/b.py", "def half(x):\n    return x / 3\n")
    tree.replace(FORMULA_FILE, "return Fraction(", "return 2 * half(")
    tree.replace(
        FORMULA_FILE, "import Fraction\n", "import Fraction\nfrom refclust.formulas.a import half\n"
    )
    assert tree.problems(renew=True) == []


def test_a_helper_far_away_drifts(tree: Tree) -> None:
    reaching(tree)
    tree.replace("refclust/formulas/a.py", "x / 2", "x / 4")
    assert tree.problems() == [
        "refclust/formulas/a.py:1: refclust.formulas.a:half, which PUR's "
        "refclust.formulas.matching:purity reaches, changed since the lock [code-drift]"
    ]


def test_an_import_that_changed_drifts(tree: Tree) -> None:
    reaching(tree)
    tree.replace(FORMULA_FILE, "formulas.a import", "formulas.b import")
    assert tree.problems() == [
        f"{FORMULA_FILE}:15: refclust.formulas.matching:_size, which PUR's "
        "refclust.formulas.matching:purity calls, calls refclust.formulas.b:half and no longer "
        "calls refclust.formulas.a:half, by an import that changed since the lock [code-drift]"
    ]


def test_comments_and_docstrings_of_helpers_are_no_drift(tree: Tree) -> None:
    tree.replace(
        FORMULA_FILE,
        "    return Fraction(",
        '    """The number of objects."""\n    # all of them\n    return Fraction(',
    )
    tree.replace(FORMULA_FILE, "/ _size(table)", "/ _size(table)  # their number")
    assert tree.problems() == []


def test_what_nothing_reaches_is_not_locked(tree: Tree) -> None:
    reaching(tree)
    tree.replace("refclust/formulas/b.py", "x / 3", "x / 4")
    assert tree.problems() == []
    lock = "spec/locks/code/formulas.lock"
    line = '{"calls": [], "hash": "0", "name": "refclust.formulas.b:half"}\n'
    tree.write(lock, tree.read(lock) + line)
    assert tree.problems() == [
        f"{lock}:1: refclust.formulas.b:half is in the lock but nothing that cites a clause "
        "reaches it [lock-stale]"
    ]


def test_a_line_missing_in_the_lock(tree: Tree) -> None:
    lock = "spec/locks/code/formulas.lock"
    lines = tree.read(lock).splitlines(keepends=True)
    tree.write(
        lock, "".join(line for line in lines if ':_size", "' not in line and ':_size"}' not in line)
    )
    assert tree.problems() == [
        f"{FORMULA_FILE}:14: refclust.formulas.matching:_size, which PUR's "
        "refclust.formulas.matching:purity calls, is not in the lock [code-drift]"
    ]
