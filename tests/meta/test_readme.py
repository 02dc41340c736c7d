"""The README's Python examples are true, and the commands it names exist."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

from refclust.formulas import information
from refclust.metrics import catalogue
from refclust.vectors import verify

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_python_examples() -> None:
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted >= 8
    assert result.failed == 0


def test_the_quoted_formula_is_the_code() -> None:
    source = inspect.getsource(information.mutual_information)
    code = source[source.index("def ") :]
    start = TEXT.index("def mutual_information")
    quoted = TEXT[start : TEXT.index("```", start)]
    shorter = re.sub(r"\n    >>> .*?\n    True\n", "", code, flags=re.DOTALL)
    assert quoted == shorter


def test_every_metric_is_listed() -> None:
    listed = set(re.findall(r"\w+", TEXT[TEXT.index("## The metrics") :]))
    assert set(catalogue.ENTRIES) <= listed
    assert f"{len(catalogue.entries_for('labelings'))} external metrics" in TEXT


def test_the_number_of_golden_values_is_not_overstated() -> None:
    values = sum(len(case.expect) for file in verify.load() for case in file.cases)
    assert values >= 60_000
