"""Evidence that bites and evidence that does not, on a small package of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from refclust.testing.evidence.changes import mutants

pytestmark = pytest.mark.long  # by `pytest -m long`

FORMULAS = '''\
"""Two formulas."""

from functools import cache


def mean(values):
    """The mean.

    >>> mean((1, 2))
    1.5
    """
    return sum(values) / len(values)


def span(values):
    """From the least to the greatest.

    >>> span((1, 1))
    0
    """
    return max(values) - min(values)


@cache
def lost(n):
    """What no evidence reaches."""
    return n + 1


def endless(n):
    """Counts down."""
    while n > 0:
        n -= 1
    return n


class Steps:
    """Counts up."""

    def __init__(self, n):
        self.n = n

    def next(self):
        return self.n + 1
'''

TESTS = """\
import os
import pytest
from toy.formulas import Steps, endless, mean, span


@pytest.mark.spec("TOY-MEAN")
@pytest.mark.parametrize("scale", [1, 3])
def test_mean(scale):
    assert mean([0, scale, 2 * scale, 5 * scale]) == 2 * scale


@pytest.mark.spec("TOY-SPAN")
def test_span():
    assert isinstance(span([1, 3]), int)


@pytest.mark.spec("TOY-LOST")
def test_lost():
    assert True is not None


@pytest.mark.spec("TOY-MEAN")
def test_broken():
    assert mean([1]) == 2


@pytest.mark.spec("TOY-END")
def test_endless():
    assert endless(3) == 0


@pytest.mark.spec("TOY-END", "TOY-MEAN")
def test_dying():
    assert endless(3) == 0
    if "dying" in os.environ:
        os._exit(7)


@pytest.mark.spec("TOY-STEPS")
def test_steps():
    assert Steps(3).next() == 4
"""

SCRIPT = """\
import json, sys
from dataclasses import asdict
from pathlib import Path
from refclust.testing.evidence.judges import Judge
from refclust.testing.evidence.live import Place
from refclust.testing.evidence import run

root = Path(sys.argv[1])
sys.path.insert(0, str(root))
run._LEAST = 1.0
from toy import formulas

def golden(clause):
    if clause != "TOY-SPAN" or "golden" not in sys.argv:
        return []
    return [Judge("golden", "span of 2 and 7", lambda: formulas.span([2, 7, 4]) != 5)]

names = {"TOY-MEAN": "mean", "TOY-SPAN": "span", "TOY-LOST": "lost", "TOY-END": "endless"}
names["TOY-STEPS"] = "Steps"
tests = {"TOY-MEAN": ("mean", "broken"), "TOY-END": ("endless", "dying"), "TOY-STEPS": ("steps",)}
trials = [
    run.Trial(
        clause,
        Place("toy.formulas", names[clause]),
        tuple(f"tests/test_toy.py::test_{name}" for name in tests.get(clause, (names[clause],))),
    )
    for clause in sys.argv[2].split(",")
]
results = run.tried(
    trials, root=root, golden=golden, jobs=2 if "jobs" in sys.argv else 1,
    sample=2 if "sample" in sys.argv else None,
)
print(json.dumps([asdict(one) for one in results]))
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    for name, text in (
        ("toy/__init__.py", ""),
        ("toy/formulas.py", FORMULAS),
        ("tests/test_toy.py", TESTS),
        ("pyproject.toml", '[tool.pytest.ini_options]\nmarkers = ["spec(*ids): cited"]\n'),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def tried(toy: Path, *arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-c", SCRIPT, str(toy), *arguments]
    around = {**os.environ, **({"dying": "1"} if "dying" in arguments else {})}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=toy, check=True, env=around
    )
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def test_evidence_that_bites_and_evidence_that_does_not(toy: Path) -> None:
    mean, span, lost = tried(toy, "TOY-MEAN,TOY-SPAN,TOY-LOST")
    assert (mean["clause"], mean["definition"]) == ("TOY-MEAN", "toy.formulas:mean")
    assert mean["killed"] == {"property": mean["mutants"]}
    assert mean["mutants"] == mean["of"] == 2
    assert mean["reaching"] == {"doctest": 1, "property": 2}
    assert mean["broken"] == ["tests/test_toy.py::test_broken"]
    assert mean["survivors"] == []
    # The test of the span sees nothing, its doctest only some of the changes.
    assert set(span["killed"]) == {"doctest"}
    fates = [one["fate"] for one in span["survivors"]]
    assert sorted(set(fates)) == ["doctest", "survived"]
    assert len(fates) == span["mutants"]
    assert {
        "line": 21,
        "kind": "right side left out",
        "before": "    return max(values) - min(values)",
        "after": "    return (max(values))",
        "fate": "doctest",
    } in span["survivors"]
    # What nothing reaches is changed unnoticed, however many tests cite the clause.
    assert (lost["killed"], lost["reaching"]) == ({}, {})
    assert len(lost["survivors"]) == lost["mutants"] == 5


def test_methods_of_a_class_are_watched_and_changed(toy: Path) -> None:
    [steps] = tried(toy, "TOY-STEPS")
    assert (steps["broken"], steps["reaching"]) == ([], {"property": 1})
    assert steps["killed"] == {"property": steps["mutants"]}
    assert steps["mutants"] == 6


def test_golden_cases_judge_before_property_tests(toy: Path) -> None:
    [span] = tried(toy, "TOY-SPAN", "golden")
    assert span["killed"] == {"golden": span["mutants"]}
    assert span["reaching"] == {"doctest": 1, "golden": 1, "property": 1}


def test_a_change_that_never_ends_is_noticed(toy: Path) -> None:
    [end] = tried(toy, "TOY-END")
    assert end["killed"]["timeout"] >= 1
    assert end["killed"]["property"] >= 1


def test_evidence_that_takes_its_process_along_is_named(toy: Path) -> None:
    [end] = tried(toy, "TOY-END", "dying")
    assert "tests/test_toy.py::test_dying" in end["broken"]
    [end] = tried(toy, "TOY-END")
    assert end["broken"] == []
    assert end["reaching"] == {"property": 2}


def test_processes_side_by_side_find_the_same(toy: Path) -> None:
    def plain(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in results:
            del one["seconds"]
        return sorted(results, key=lambda one: str(one["clause"]))

    clauses = "TOY-MEAN,TOY-SPAN,TOY-LOST"
    assert plain(tried(toy, clauses, "jobs")) == plain(tried(toy, clauses))


def test_a_sample(toy: Path) -> None:
    [span] = tried(toy, "TOY-SPAN", "sample")
    assert (span["mutants"], span["of"]) == (2, 4)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("return a + b", "return (a)"),
        ("return a + b", "return (b)"),
        ("return a * b", "return (a)"),
        ("return a / b", "return (a)"),
        ("return a[i]", "return a[(i + 1)]"),
        ("return a[i - 1]", "return a[((i - 1) - 1)]"),
        ("return total(x for x in a)", "return total(list((x for x in a))[1:])"),
        ("return [x for x in a if x]", "return [x for x in a if True]"),
    ],
)
def test_changes_of_formulas(line: str, changed: str) -> None:
    source = f"def f(a, b, i):\n    {line}\n"
    found = [one.after.strip() for one in mutants(source, terms=True)]
    assert changed in found
    assert changed not in [one.after.strip() for one in mutants(source)]


def test_changes_of_some_lines() -> None:
    source = "def f(a):\n    b = a + 1\n    return b - 1\n"
    assert {one.line for one in mutants(source, lines=[3])} == {3}


def test_texts_of_derivations_are_left_alone() -> None:
    source = 'def f(a):\n    return a.named("S", "T") + g("S", "T")\n'
    swapped = [one.after.strip() for one in mutants(source) if "swapped" in one.kind]
    assert swapped == ["return a.named(\"S\", \"T\") + g('T', 'S')"]
