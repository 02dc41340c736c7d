"""Mutants behind a number: off they change nothing, on they do what the mutant does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.mutation.changes import Mutant, mutants
from tests.mutation.schemata import ONCE, SHARED, TYPING, Schema, schema

pytest.importorskip("numba")

from tests.mutation import switch
from tests.mutation.fitting import Fitting
from tests.mutation.switched import Bench, Seen

pytestmark = pytest.mark.long  # by `pytest -m long`

TOY = '''"""A module."""

from numba import njit

_LIMIT = 3
_TWICE = 2 * _LIMIT
WIDE = int("7", 10)


def plain(rows, begin=0):
    """The sum of some."""
    total = 0
    for i in range(begin, len(rows)):
        if rows[i] > 0 and i < _TWICE:
            total += max(rows[i], 1)
        else:
            total -= WIDE
    return total


@njit
def compiled(rows, scale):
    """The same, compiled; its halves are numbers of another kind."""
    total = 0
    for i in range(1, rows.shape[0]):
        if rows[i] == scale:
            break
        total += min(rows[i], scale) * 2 - i // 2
        rows[i - 1] = total
    return total + rows[0]
'''
GENERATED = '''from typing import Any

from numba import njit, types

from tests.mutation.switch import generated


@generated
def sum_of_three(typingctx: Any, a: Any, b: Any) -> Any:
    """a + b + 3."""
    kinds = [types.int64] * 2

    def generate(context, builder, signature, args):
        total = builder.add(args[0], args[1])
        for _ in range(3):
            total = builder.add(total, context.get_constant(types.int64, 1))
        return total

    return types.int64(*kinds), generate


@njit
def run(a, b):
    """Call it."""
    return sum_of_three(a, b)
'''


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    switch.turn(0)
    switch.reached()
    yield
    switch.turn(0)
    switch.spoiled.clear()


def numbered(source: str) -> dict[int, Mutant]:
    return dict(enumerate(mutants(source), 1))


def module(text: str, name: str = "toy") -> ModuleType:
    made = ModuleType(name)
    code = compile(text, f"<{name}>", "exec")
    exec(code, made.__dict__)
    return made


def outcome(run: Any, *args: Any) -> Any:
    """The answer, or the kind of failure."""
    try:
        return run(*args)
    except Exception as error:
        return type(error).__name__


def test_python_does_what_the_mutant_does() -> None:
    known = numbered(TOY)
    made = schema(TOY, known)
    toy, rows = module(made.text), [[4, -1, 2, 0, 5, 1, 9], [1], []]
    where = {number for numbers in made.functions.values() for number in numbers}
    assert where | set(made.left_out) == set(known)
    assert len(made.functions["plain"]) > 20
    original = module(TOY)
    for values in rows:
        assert outcome(toy.plain, values) == outcome(original.plain, values)
    for number in made.functions["plain"] - switch.spoiled:
        switch.turn(number)
        mutant = module(known[number].text)
        for values in rows:
            assert outcome(toy.plain, values) == outcome(mutant.plain, values), known[number]


def test_what_runs_too_early_is_left_out_with_the_reason() -> None:
    known = numbered(TOY)
    shared = schema(TOY, known, frozenset({"WIDE"})).left_out
    reasons = {known[number].where: reason for number, reason in shared.items()}
    assert reasons == {"_LIMIT": SHARED, "WIDE": SHARED, "plain": ONCE}
    alone = schema(TOY, known)
    assert {known[number].where for number in alone.left_out} == {"_LIMIT", "plain"}
    changed = {number for number in known if known[number].where in ("WIDE", "_TWICE")}
    assert changed <= alone.functions["plain"]
    module(alone.text)
    # What cannot be worked out is told: int(10, "7").
    [impossible] = switch.spoiled
    assert known[impossible].kind == "arguments 0 and 1 swapped"
    early = numbered(GENERATED)
    reasons = {early[n].after.strip(): r for n, r in schema(GENERATED, early).left_out.items()}
    assert reasons["kinds = [types.int64] * 3"] == TYPING


def fitted(source: str, name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Schema, Fitting]:
    known = numbered(source)
    made = schema(source, known)
    toy = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, toy)

    def make(_: str, numbers: frozenset[int]) -> Schema:
        return schema(source, {number: known[number] for number in numbers})

    fitting = Fitting(make, {(name, key): value for key, value in made.functions.items()})
    fitting.install(monkeypatch.setattr)
    exec(compile(made.text, f"<{name}>", "exec"), toy.__dict__)
    return toy, made, fitting


def test_compiled_code_does_what_the_mutant_does(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    known = numbered(TOY)
    toy, made, fitting = fitted(TOY, "toy_compiled", monkeypatch)

    def answer(run: Any) -> Any:
        rows = np.array([5, 3, -2, 8, 4, 1], np.int64)
        return outcome(run, rows, 4), rows.tolist()

    assert answer(toy.compiled) == answer(module(TOY).compiled.py_func)
    assert switch.reached() <= fitting.fits
    assert not fitting.faults
    left = fitting.compiled - fitting.fits
    assert fitting.compiled == made.functions["compiled"]
    assert len(fitting.fits) > 20
    # A quotient of integers is a number of another kind: the original would change with it.
    assert {known[number].kind for number in left} == {"Mult to /"}
    for number in sorted(fitting.fits):
        switch.turn(number)
        expected = answer(module(known[number].text).compiled.py_func)
        if expected[0] != "IndexError":  # compiled code does not look
            assert answer(toy.compiled) == expected, known[number]


def test_generated_code_is_there_once_for_each_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    known = numbered(GENERATED)
    toy, made, _ = fitted(GENERATED, "toy_generated", monkeypatch)
    assert toy.run(4, 5) == 12
    asked = switch.reached()
    functions = made.functions
    assert asked == (functions["sum_of_three"] | functions["run"]) - switch.spoiled
    answers = {}
    for number in asked:
        switch.turn(number)
        answers[known[number].after.strip()] = toy.run(4, 5)
    assert answers["for _ in range(4):"] == 13
    assert answers["for _ in range(2):"] == 11
    assert answers["total = builder.add(total, context.get_constant(types.int64, 2))"] == 15
    assert 12 in answers.values()  # arguments swapped
    # What cannot be written is told: an argument that is not there, a sum of other kinds.
    told = {known[number].after.strip() for number in switch.spoiled}
    assert "total = builder.add(args[0], args[2])" in told
    assert len(answers) > 10


def test_only_checks_and_kernels_that_ask_for_a_mutant_judge_it() -> None:
    class Nothing:
        package = SimpleNamespace(name="nothing")

        def kernels(self) -> frozenset[str]:
            return frozenset()

    bench = Bench(Nothing(), [("make", "use")], None)  # type: ignore[arg-type]
    everyone = frozenset(("make", "use", "other"))
    bench.seen = [
        Seen("slow", True, 9.0, everyone, {"other": frozenset({1, 2})}),
        Seen("quick", True, 1.0, everyone, {"make": frozenset({1})}),
        Seen("long", False, 1.0, everyone, {"": frozenset({1})}),
    ]
    steps = bench.steps(1, full=True)
    assert [(step.check, step.quick, step.kernels) for step in steps] == [
        ("quick", True, frozenset(("make", "use"))),
        ("slow", True, frozenset(("other",))),
        ("long", False, everyone),
    ]
    assert [step.check for step in bench.steps(2, full=True)] == ["slow"]
    assert [step.check for step in bench.steps(1, full=False)] == ["quick", "slow"]
    assert not bench.steps(3, full=True)
    assert bench.judge(3, []).told == "no check runs it"
    assert all(step.first for step in steps)
