"""The first call of a backend is measured where nothing has been imported or compiled yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from refclust.backends.builtin import Reference
from refclust.backends.choosing.firstcall import FirstCall, first_call, main
from refclust.backends.protocol import API_VERSION, Accuracy, Estimate, Problem, Refusal
from refclust.errors import UnknownBackend


@dataclass
class Slow:
    """A backend that says how long it would take, and is never called."""

    seconds: float
    names: tuple[str, ...] = ("kmeans.lloyd_step", "contingency.table")
    name: str = "no-such-backend"
    api_version: int = API_VERSION
    accuracy: Accuracy = "exact"
    asked: list[str] = field(default_factory=list)

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        return dict.fromkeys(self.names, lambda *_: None)

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:
        self.asked.append(f"{kernel} {problem.n}")
        return Estimate(self.seconds)

    def prepare(self, data: Any) -> Any:
        return data

    def export(self, value: Any) -> Any:
        return value


def test_what_would_compile_for_long_is_believed() -> None:
    slow = Slow(9.25)
    found = first_call(slow)
    assert found == FirstCall("kmeans.lloyd_step", 9.25, None)
    assert str(found) == "about 9 s, compiling once"
    assert slow.asked == ["kmeans.lloyd_step 32"]
    assert first_call(Slow(7.0, ("contingency.table",))) == FirstCall("contingency.table", 7, None)


def test_nothing_to_call_and_nothing_that_can_be_found() -> None:
    assert first_call(Slow(9.0, ())) is None
    assert first_call(Slow(0.1)) is None  # its process finds no such backend
    with pytest.raises(UnknownBackend):
        main("no-such-backend", "kmeans.lloyd_step")


def test_the_reference_in_a_process_of_its_own() -> None:
    found = first_call(Reference())
    assert found is not None
    assert found.kernel == "kmeans.lloyd_step"
    assert found.again is not None
    assert min(found.seconds, found.again) > 0


def test_what_the_process_prints(capsys: pytest.CaptureFixture[str]) -> None:
    main("loopback", "contingency.table")
    first, again = json.loads(capsys.readouterr().out)
    assert min(first, again) > 0
    assert str(FirstCall("k", 1.234, 0.00056)) == "1.23 s, then 0.56 ms"
