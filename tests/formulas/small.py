"""Small data for the formula room, and the golden cases by their names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from refclust.kernels.points import Points
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.testing.rungs import dense_of
from refclust.vectors import verify
from refclust.vectors.verify import GoldenCase
from tests.formulas import golden_mixtures as golden

U = 2.0**-53
few = settings(max_examples=25, deadline=None)
EIGHTHS = st.integers(0, 8).map(lambda i: i / 8)


@st.composite
def shares(draw: st.DrawFn, k: int, *, least: int = 0) -> tuple[float, ...]:
    """Shares that add up to one, eighths or thirds, some of them zero."""
    parts = draw(st.lists(st.integers(least, 5), min_size=k, max_size=k).filter(any))
    return tuple(part / sum(parts) for part in parts)


@dataclass(frozen=True)
class Problem:
    """Rows of counts, their weights and a mixture; all in doubles."""

    kind: str
    x: list[tuple[float, ...]]
    w: list[float]
    mixture: tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]

    @property
    def k(self) -> int:
        return len(self.mixture[0])

    @property
    def d(self) -> int:
        return len(self.x[0])

    @property
    def parameters(self) -> CountParameters:
        return CountParameters(*self.mixture)

    @property
    def points(self) -> Points:
        return Points(dense_of(self.x, self.w))

    @property
    def p(self) -> Any:
        return golden.Step({"kind": self.kind}).p


@st.composite
def problems(
    draw: st.DrawFn, kind: str | None = None, *, possible: bool = False, most: int = 4
) -> Problem:
    """Documents or presences; with ``possible`` no probability is zero."""
    own = kind or draw(st.sampled_from(["multinomial", "bernoulli"]))
    k, d = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n = draw(st.integers(k, most))
    number = st.sampled_from([0.0, 1.0] if own == "bernoulli" else [0.0, 0.0, 1.0, 2.0, 5.0])
    x = [draw(st.tuples(*[number] * d)) for _ in range(n)]
    w = draw(st.lists(st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.0]), min_size=n, max_size=n))
    w[0] = 1.0
    if own == "multinomial":
        theta = [draw(shares(d, least=int(possible))) for _ in range(k)]
    else:
        one = st.sampled_from([0.25, 0.5, 0.1, 0.7] if possible else [0.0, 0.25, 0.5, 0.7, 1.0])
        theta = [draw(st.tuples(*[one] * d)) for _ in range(k)]
    return Problem(own, x, w, (draw(shares(k, least=int(possible))), tuple(theta)))


@cache
def _cases() -> dict[str, tuple[str, GoldenCase]]:
    names = ("30-mixtures", "31-multinomial", "32-gaussian", "33-classify")
    return {
        case.id: (file.subject, case)
        for name in names
        for file in verify.load(name)
        for case in file.cases
    }


def cases(only: str) -> dict[str, GoldenCase]:
    """The golden cases of a subject that are no refusals."""
    return {
        name: case
        for name, (subject, case) in _cases().items()
        if subject == only and "error" not in case.expect
    }


def missed(name: str) -> list[str]:
    """The keys of a golden case that the room misses: to the nearest double, but for runs."""
    subject, case = _cases()[name]
    given, expect = case.input, case.expect
    if subject == "mixture.run":
        found = golden.Run(given).found
        return [
            key for key, one in expect.items() if not golden.meets(one, found[key], rounded=True)
        ]
    if subject == "mixture.sample":
        found = golden.sample(given)
        return [
            key for key, one in expect.items() if not golden.meets(one, found[key], rounded=False)
        ]
    if subject.startswith("classify."):
        made = golden.Trained(given)
        return [
            key
            for key, one in expect.items()
            if not golden.meets(one, golden.TRAINED[key](made), rounded=False)
        ]
    step = golden.Step(given)
    return [
        key
        for key, one in expect.items()
        if not golden.meets(one, golden.STEP[key](step), rounded=key.startswith("certified"))
    ]


def near(found: float, due: Any, allowed: float) -> bool:
    """Whether a double is within a bound of an exact value, or the same infinity."""
    if isinstance(due, float):
        return found == due
    return math.isfinite(found) and abs(found - float(due)) <= allowed


def exact_only(value: Any) -> bool:
    """Whether there is no float in a value but minus infinity."""
    if isinstance(value, dict):
        return all(map(exact_only, value.values()))
    if isinstance(value, tuple | list):
        return all(map(exact_only, value))
    return not isinstance(value, float) or value == -math.inf
