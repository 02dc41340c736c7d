"""The command that mutates a backend: its changes are real, its judge is the kit, it resumes."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.mutation import backends
from tests.mutation.backends import EQUIVALENT, equivalents, kept, options, record, recorded
from tests.mutation.changes import mutants
from tests.mutation.judge import Plan, Step, forked
from tests.mutation.lines import Map, Tracer, Watch, lines_of
from tests.mutation.reach import Package, seen_by
from tests.mutation.report import Figures, Reason, Row, report, wilson
from tests.mutation.thrift import FirstFault, Found, affected, alone_first, compiles, reuse

pytestmark = pytest.mark.long  # by `pytest -m long`

SOURCE = '''"""A module."""

LIMIT: int = 1 << 14


def added(rows: list[int], begin: int = 0) -> int:
    """The sum of 1 and more."""
    total = 0
    for i in range(begin, len(rows)):
        if rows[i] > 0 and i < LIMIT:
            total += max(rows[i], 1)
    return total
'''


def test_changes_are_of_what_is_computed() -> None:
    found = list(mutants(SOURCE))
    after = {mutant.after.strip() for mutant in found}
    assert {
        "LIMIT: int = (1 >> 14)",
        "LIMIT: int = 1 << 15",
        "def added(rows: list[int], begin: int = 1) -> int:",
        "total = 1",
        "for i in range(len(rows), begin):",
        "for i in range(begin, len(rows) - 1):",
        "if rows[i] >= 0 and i < LIMIT:",
        "if ((rows[i] > 0) or (i < LIMIT)):",
        "if ((rows[i] > 0)):",
        "if not (rows[i] > 0 and i < LIMIT):",
        "total -= max(rows[i], 1)",
        "total = max(rows[i], 1)",
        "pass",
        "total += min(rows[i], 1)",
        "total += max(rows[i], 0)",
    } <= after
    assert not any('"""' in line for line in after)  # no docstring is changed
    assert len({mutant.key for mutant in found}) == len(found)
    for mutant in found:
        assert compile(mutant.text, "<mutant>", "exec") is not None
        assert mutant.where in ("LIMIT", "added")
        assert mutant.before in SOURCE
        assert mutant.after in mutant.text


def test_a_key_stays_when_lines_move() -> None:
    def keys(source: str) -> list[str]:
        return [mutant.key for mutant in mutants(source)]

    assert keys(SOURCE.replace('"""A module."""\n', '"""A module."""\n\nX = y\nY = x\n')) == (
        keys(SOURCE)
    )


def test_a_sample_is_seeded_and_takes_every_place_once_before_any_twice() -> None:
    def sample(seed: str, count: int) -> list[str]:
        return [m.text for m in islice(mutants(SOURCE, random.Random(seed)), count)]

    assert sample("0 m", 8) == sample("0 m", 12)[:8]
    assert sample("0 m", 8) != sample("1 m", 8)
    assert set(sample("0 m", 999)) == {mutant.text for mutant in mutants(SOURCE)}
    places = [m.before for m in islice(mutants(SOURCE, random.Random("0 m")), 8)]
    assert len(set(places)) >= 4


def test_what_changes_nothing_is_no_mutant() -> None:
    assert list(mutants("x: int\n")) == []
    assert [m.after for m in mutants("if x:\n    pass\n")] == ["if not (x):", "if False:"]


def package_of(folder: Path, **modules: str) -> Package:
    inner = folder / "refclust_small"
    inner.mkdir()
    for name, text in modules.items():
        (inner / f"{name}.py").write_text(text, encoding="utf-8")
    return Package(inner)


def test_kernels_reach_what_their_functions_name(tmp_path: Path) -> None:
    package = package_of(
        tmp_path,
        __init__="",
        entry="from refclust_small import deep\nfrom refclust_small.other import helper as h\n"
        "def one():\n    return h()\ndef two():\n    return deep.SIZE\n",
        other="from refclust_small.deep import Type, inner\n"
        "def helper(x: Type):\n    return inner()\n",
        table="from refclust_small import entry\n"
        'ALL = {"kmeans.assign": entry.one, "kmeans.means": entry.two}\n',
        deep="SIZE = 3\ndef inner():\n    return 1\nclass Type:\n    pass\ndef dead(): pass\n",
    )
    seen = seen_by(package, {"k.one": [("entry", "one")], "k.two": [("entry", "two")]})
    assert seen["deep", "inner"] == {"k.one"}
    assert seen["deep", "SIZE"] == {"k.two"}
    assert package.closure([("table", "ALL")]) == {("table", "ALL")}  # looking up calls nothing
    assert ("deep", "Type") not in seen  # an annotation runs nothing
    assert ("deep", "dead") not in seen


def test_a_process_is_told_apart_by_its_end() -> None:
    def exiting(tell: Any) -> None:
        tell(1)
        os._exit(7)

    def turning(_: Any) -> None:
        while True:
            pass

    assert forked(lambda tell: tell({"x": 1}), 30.0)[:2] == ([{"x": 1}], "")
    assert forked(lambda _: [][1], 30.0)[:2] == ([], "IndexError: list index out of range")
    assert forked(exiting, 30.0)[:2] == ([1], "it ended with 7")
    lines, end, seconds = forked(turning, 1.0)
    assert (lines, end) == ([], "timeout")
    assert 0.5 <= seconds < 5.0
    # One that only waits is ended by the clock.
    assert forked(lambda _: time.sleep(60), 0.2)[:2] == ([], "timeout")


def test_the_interval_is_wilsons() -> None:
    # The classical example of Newcombe (1998): 81 of 263.
    assert [round(end, 4) for end in wilson(81, 263)] == [0.2553, 0.3662]
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(40, 40)[1] == 1.0
    assert wilson(0, 40)[0] == 0.0


ROW = Row("m", "k1", 3, "+ 1", "x = 1", "x = 2", 2, "killed", "quick", "wrong", 1.5)


def test_the_report_counts_what_is_not_equivalent() -> None:
    rows = [
        ROW,
        replace(ROW, key="k2", fate="timeout"),
        replace(ROW, key="k3", fate="survived", kit="full"),
        replace(ROW, key="k4", fate="survived", kit="full", kernels=0, judge="new"),
        replace(ROW, key="k5", fate="survived", kit="full"),
    ]
    reasons = {
        "k3": Reason("the bound has room to spare"),
        "k5": Reason("all is decided exactly", slower=True),
    }
    text, unexplained = report("small", rows, reasons)
    assert unexplained == 1
    # What only makes answers late counts as missed, unless the question is of the answers.
    assert text.splitlines()[1].split()[6:9] == ["1", "1", "1"]
    assert "50% (15% to 85%)" in text.splitlines()[1]
    assert "67% (21% to 94%)" in text.splitlines()[1]
    assert "verdicts of several kits:  (4), new (1)" in text
    assert "k5: slower: all is decided exactly" in text
    assert "refclust_small/m.py:3: + 1\n  - x = 1\n  + x = 2\n  k3: the bound has room" in text
    assert "(no kernel reaches it)\n  - x = 1\n  + x = 2\n  k4: no reason known" in text


def test_verdicts_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    assert list(kept(file, lambda _: True)) == []
    lines = [
        json.dumps({"package digest": "old", **asdict(ROW)}),
        json.dumps({"package digest": "new", **asdict(replace(ROW, key="k2"))}),
        '{"package digest": "new", "mod',  # it was stopped while it wrote
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert [row.key for row in kept(file, lambda one: one["package digest"] == "new")] == ["k2"]


def watched_of(package: Package) -> Map:
    """What runs: line 4 for one kernel in one check, line 6 outside of any in another."""
    ran = {"kmeans.assign": {"entry": [2, 4]}}
    first = Watch("plain", True, 0.5, frozenset(["kmeans.assign", "kmeans.means"]), ran)
    second = Watch("late", False, 0.1, frozenset(["kmeans.means"]), {"": {"entry": [6]}})
    return Map(package, [second, first], {("kmeans.assign", "kmeans.means")}, 1.0)


def test_only_checks_that_run_a_line_are_tried(tmp_path: Path) -> None:
    source = "SIZE = 3\ndef one(x):\n    if x:\n        return x + 1\n    y = 2\n    return y\n"
    package = package_of(tmp_path, __init__="", entry=source)
    found = watched_of(package)
    plans = {
        (mutant.line, mutant.kind): found.plan("entry", mutant, full=True, wide=False)
        for mutant in mutants(source)
    }
    inner = plans[4, "+ 1"]
    # With the kernel that is given what this one makes; the longer check does not run the line.
    assert [(step.check, sorted(step.kernels)) for step in inner.steps] == [
        ("plain", ["kmeans.assign", "kmeans.means"])
    ]
    assert inner.steps[0].limit == 1.0 + 4 * 0.5
    assert inner.called == {"kmeans.assign"}  # the other one is called elsewhere, too
    assert plans[5, "+ 1"].steps == ()  # nothing runs it
    assert plans[1, "+ 1"].steps == ()  # nobody names it


def test_lines_are_those_of_the_statement_or_of_who_names_a_constant(tmp_path: Path) -> None:
    package = package_of(
        tmp_path,
        __init__="",
        deep="SIZE = 3\nTABLE = [SIZE]\nLIMIT = 4\n",
        entry="from refclust_small.deep import LIMIT as most\n"
        "def one(x=1):\n    if x < (\n        most\n    ):\n        return 2\n    return x\n"
        "@compiled\ndef two():\n    return 3\n",
    )
    assert lines_of(package, "entry", 4, "one") == {"entry": {3, 4, 5}}
    assert lines_of(package, "entry", 6, "one") == {"entry": {6}}
    assert lines_of(package, "deep", 3, "LIMIT") == {"entry": {3, 4, 5}}
    # Nobody can say where a default, a compiled function or a table of constants runs.
    assert lines_of(package, "entry", 2, "one") is None
    assert lines_of(package, "entry", 10, "two") is None
    assert lines_of(package, "deep", 1, "SIZE") is None


def test_a_tracer_tells_kernels_apart(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("def f(x):\n    if x:\n        return 1\n    return 2\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("m", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tracer = Tracer(tmp_path)
    tracer.during(lambda: (tracer.inside("a.b", module.f)(1), module.f(0)))
    assert tracer.lines() == {"a.b": {"m": [1, 2, 3]}, "": {"m": [1, 2, 4]}}


def test_what_names_a_change_is_affected_by_it(tmp_path: Path) -> None:
    package = package_of(
        tmp_path,
        __init__="",
        deep="SIZE = 3\ndef inner():\n    return SIZE\ndef other():\n    return 1\n",
        entry="from refclust_small.deep import inner, other\n"
        "def one():\n    return inner()\ndef two():\n    return other()\n",
    )
    due = {("deep", "SIZE"), ("deep", "inner"), ("entry", "one")}
    assert affected(package, [("deep", "SIZE")]) == due
    assert not compiles(package)


def test_kernels_are_tried_alone_before_all_of_them() -> None:
    both = frozenset(["kmeans.assign", "kmeans.means"])
    plan = Plan((Step("plain", True, both, 2.0), Step("late", False, both, 9.0)), both)
    weights = {"kmeans.assign": 3, "kmeans.means": 1}
    found = alone_first(plan, {"", *both}, weights.__getitem__)
    assert [(step.check, sorted(step.kernels), step.first) for step in found.steps] == [
        ("plain", ["kmeans.means"], True),
        ("plain", ["kmeans.assign"], True),
        ("plain", sorted(both), False),
        ("late", sorted(both), False),
    ]
    assert found.called == both


def test_the_first_fault_ends_a_check() -> None:
    faults = FirstFault()
    with pytest.raises(Found, match=r"kmeans\.means: wrong"):
        faults["kmeans.means"] = "wrong"
    with pytest.raises(Found, match=r"kmeans\.means: late"):
        faults.setdefault("kmeans.means", "late")
    assert faults.get("kmeans.means") is None


def test_only_what_a_change_reaches_is_compiled(tmp_path: Path) -> None:
    """In a process of its own: what is imported first decides what is kept."""
    original, changed = tmp_path / "original", tmp_path / "changed"
    for folder, size in ((original, 3), (changed, 4)):
        inner = folder / "refclust_kept" / "lowlevel"
        inner.mkdir(parents=True)
        (inner.parent / "__init__.py").write_text("")
        (inner / "__init__.py").write_text("")
        (inner.parent / "deep.py").write_text(f"SIZE = {size}\n", encoding="utf-8")
        (inner / "keeping.py").write_text(
            "def source(module):\n    return 'own'\n"
            "class Kept:\n    def __init__(self, function):\n"
            "        self.text = source('refclust_kept.deep')\n",
            encoding="utf-8",
        )

    def trial(tell: Any) -> None:
        sys.path.insert(0, str(changed))
        reuse(changed / "refclust_kept", original / "refclust_kept", {("deep", "one")})
        keeping: Any = importlib.import_module("refclust_kept.lowlevel.keeping")

        def one() -> None: ...
        def two() -> None: ...

        for function in (one, two):
            function.__module__, function.__qualname__ = "refclust_kept.deep", function.__name__
        tell(keeping.Kept(two).text)
        keeping.Kept(one)

    end = "RuntimeError: it is compiled here and not kept"
    assert forked(trial, 30.0)[:2] == (["SIZE = 3\n"], end)


@pytest.mark.timeout(200)
def test_the_template_is_mutated_and_judged(tmp_path: Path) -> None:
    """In a process of its own, since the plugin must not be loaded before it is changed."""
    command = [sys.executable, "-m", "tests.mutation.backends", "template", "--quick"]
    command += ["--module", "kernels", "--sample", "4", "--work", str(tmp_path)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=False) for _ in (1, 2)]
    assert runs[0].stdout == runs[1].stdout, runs[0].stderr
    first = runs[0].stdout.splitlines()[1].split()
    assert first[:2] == ["kernels", "4"]
    assert runs[0].stderr.count(" s\n") == 4  # the second time nothing is judged
    assert runs[1].stderr == ""


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_what_is_called_equivalent_is_still_a_change_of_some_module(backend: str) -> None:
    known = equivalents(backend)
    assert all(len(reason.text) > 20 for reason in known.values())
    spec = importlib.util.find_spec(f"refclust_{backend}")
    assert spec is not None
    assert spec.origin is not None
    package = Package(Path(spec.origin).parent)
    entries = json.loads(Path(EQUIVALENT).read_text(encoding="utf-8"))
    for module in {one["module"] for one in entries if one["backend"] == backend}:
        named = {
            one["key"] for one in entries if (one["backend"], one["module"]) == (backend, module)
        }
        source = package.sources[module].read_text(encoding="utf-8")
        assert named <= {mutant.key for mutant in mutants(source)}, module


def test_what_is_recorded_adds_up() -> None:
    every = recorded()
    assert every
    assert every == sorted(every, key=lambda one: (one.backend, one.module))
    for one in every:
        parts = (one.short, one.long, one.equivalent, one.slower, one.left)
        assert sum(parts) == one.mutants, one
        low, high = one.share()[1:]
        assert low <= one.share()[0] <= high
        spec = importlib.util.find_spec(f"refclust_{one.backend}")
        assert spec is not None
        assert spec.origin is not None
        assert one.module in Package(Path(spec.origin).parent).sources, one


def test_a_record_replaces_what_was_known_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = asdict(Figures("numba", "m", 3, 1, 0, 0, 0, 2))
    file = tmp_path / "figures.json"
    file.write_text(json.dumps([known | {"module": "other"}, known]), encoding="utf-8")
    monkeypatch.setattr(backends, "FIGURES", file)
    rows = [ROW, replace(ROW, key="k2", fate="crashed", kit="full"), replace(ROW, fate="survived")]
    record("numba", rows)
    assert [one.module for one in recorded()] == ["m", "other"]
    assert recorded()[0] == Figures("numba", "m", 3, 1, 1, 0, 0, 1)


def test_the_command_line() -> None:
    asked = options(["numpy", "--module", "sums", "--seed", "3", "--sample", "5", "--quick"])
    assert (asked.backend, asked.modules, asked.seed, asked.sample) == ("numpy", ("sums",), 3, 5)
    assert not asked.full
    assert options(["numba"]).sample == 40
    assert (asked.again, asked.trust, asked.wide) == ("all", False, False)
    assert options(["numba", "--again", "survivors"]).again == "survivors"
