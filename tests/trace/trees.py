"""A small made-up project that tracing finds nothing wrong with, and means to spoil it."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

from refclust.trace import check
from refclust.trace.locks import lock

CHAPTER = """\
# 41 Matching

Prose before the first clause.

## PUR Purity {normative}

Share of the majority class.

$$ P = \\frac{1}{n} \\sum_i \\max_j n_{ij} $$

- Source: a paper

### PUR-ONE Purity of singletons {identity}

Singletons have purity one.

- Source: this specification

## PUR-NOTE A note {informative}

Purity grows with the number of clusters.
"""

PLANNED = """\
# Planned

| ID | what | state |
|---|---|---|
| KM-ALG | the algorithm | planned for chapter 10 |
| KM-DIGITS | a lost figure | left out: nothing survives |
"""

CODE = '''\
"""Purity, chapter 41."""

from refclust.numbers.real import Real


def purity(table: list[list[int]]) -> Real:
    """Share of the majority class.

    Spec: PUR
    """
    n = total(table)
    return Real(best(table), n)


def _helper() -> float:
    return 1.0
'''

FORMULA = '''\
"""Chapter 41: matching."""

from fractions import Fraction


def purity(table: list[list[int]]) -> Fraction:
    """The share of objects in the majority class of their cluster.

    Defines: PUR
    """
    return sum(max(row) for row in table) / _size(table)


def _size(table: list[list[int]]) -> Fraction:
    return Fraction(sum(sum(row) for row in table))
'''

TESTS = """\
import pytest
from hypothesis import given


LIMIT = 1


def bounded(value):
    assert value <= LIMIT


@pytest.mark.spec("PUR", "PUR-ONE")
@given(tables())
def test_bounds(table):
    bounded(purity(table))


@pytest.mark.spec("PUR")
def test_plain():
    assert purity([[1]]) == 1
"""

VECTORS = {
    "format": "refclust-vectors/1",
    "cases": [
        {"id": "purity-half", "formulas": ["PUR"], "expect": {"purity": {"exact": "1/2"}}},
        {"id": "purity-one", "formulas": ["PUR"], "expect": {"purity": {"exact": "1"}}},
    ],
}


class Tree:
    """A project tree in a folder of its own."""

    def __init__(self, root: Path) -> None:
        """Write the clean project into ``root`` and lock it."""
        self.root = root
        self.write("pyproject.toml", "")
        self.write(CLAUSE_PUR, CHAPTER)
        self.write("spec/99-planned.md", PLANNED)
        self.vectors(VECTORS)
        self.write(FORMULA_FILE, FORMULA)
        self.write(CODE_FILE, CODE)
        self.write(GENERATOR_FILE, "print(1)\n")
        self.write(TEST_FILE, TESTS)
        lock.update(root)

    def write(self, name: str, text: str) -> None:
        """Write one file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def add(self, name: str, text: str) -> None:
        """Write one file from an indented block."""
        self.write(name, dedent(text))

    def read(self, name: str) -> str:
        """Read one file of the project."""
        return (self.root / name).read_text(encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace the one occurrence of ``old`` in a file."""
        text = self.read(name)
        assert text.count(old) == 1
        self.write(name, text.replace(old, new))

    def vectors(self, content: object, name: str = "spec/vectors/41/purity.json") -> None:
        """Write a vector file, one case a line."""
        self.write(name, json.dumps(content).replace('{"id"', '\n{"id"'))

    def problems(self, *, renew: bool = False) -> list[str]:
        """All problems as ``file:line: message [code]``, with the locks renewed if asked."""
        if renew:
            lock.update(self.root)
        return [one.text() for one in check.problems(self.root)]


CLAUSE_PUR = "spec/41-matching.md"
FORMULA_FILE = "refclust/formulas/matching.py"
CODE_FILE = "refclust/metrics/matching.py"
TEST_FILE = "tests/metrics/test_matching.py"
VECTOR_FILE = "spec/vectors/41/purity.json"
GENERATOR_FILE = "spec/generators/make.py"
LOCK_FILE = "spec/locks/41-matching.lock"
