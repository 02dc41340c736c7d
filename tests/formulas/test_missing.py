"""The golden vectors of mixtures with missing cells through the formulas."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from refclust.formulas import gaussian, missing
from refclust.formulas.vectors import scaled
from tests.formulas.golden import cases, judged, meets, names, number, numbers

FILE = "36-missing/steps.json"
SPHERES, DIAGONALS = ("EII", "VII"), ("EEI", "VVI")
SEEN = (
    *("row_log_likelihoods", "log_likelihood", "certified_log_likelihood"),
    *("responsibilities", "counts"),
)
HIDDEN = ("expected_rows", "uncertainties", "hidden_entropies")
NEXT = ("next.weights", "next.means", "next.spreads")
BOUNDS = ("next.lower_bound", "next.log_likelihood")


class Step:
    """The state of a case and what follows from it, by the formulas alone."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.model = given["model"]
        self.x = [[None if x is None else number(x) for x in row] for row in given["rows"]]
        self.d = len(self.x[0])
        self.w = numbers(given.get("weights", ["1"] * len(self.x)))
        state = given["state"]
        spreads = [self.full(spread) for spread in numbers(state["spreads"])]
        parts = numbers(state["weights"]), numbers(state["means"]), spreads
        self.mixture: list[Any] = list(zip(*parts, strict=True))
        self.q = [missing.responsibilities(row, self.mixture) for row in self.x]

    def full(self, spread: Any) -> Any:
        d = self.d
        if self.model in SPHERES:
            return scaled(spread[0], gaussian.identity(d))
        if self.model in DIAGONALS:
            return [[spread[j] if i == j else 0 for j in range(d)] for i in range(d)]
        return [spread[i * d : (i + 1) * d] for i in range(d)]

    def plain(self, sigma: Any) -> list[Any]:
        if self.model in SPHERES + DIAGONALS:
            return [sigma[j][j] for j in range(1 if self.model in SPHERES else self.d)]
        return [x for line in sigma for x in line]

    def following(self) -> list[Any]:
        """The mixture after the M-step."""
        columns = list(zip(*self.q, strict=True))
        n = [gaussian.component_weight(self.w, q) for q in columns]
        means, scatters = [], []
        for q, (_, mu, sigma) in zip(columns, self.mixture, strict=True):
            means.append(missing.expected_mean(self.x, self.w, q, mu, sigma))
            scatters.append(missing.expected_scatter(self.x, self.w, q, mu, sigma, means[-1]))
        sigmas = gaussian.covariances(self.model, n, scatters)
        return list(zip(gaussian.shares(n), means, sigmas, strict=True))

    def of_rows(self, reading: Callable[[Any, Any, Any], Any]) -> list[Any]:
        return [[reading(row, mu, sigma) for _, mu, sigma in self.mixture] for row in self.x]

    def answer(self, key: str) -> Any:
        one_row = [[row] for row in self.x]
        readings: dict[str, Callable[[], Any]] = {
            "row_log_likelihoods": lambda: [
                missing.log_likelihood(row, [1], self.mixture) for row in one_row
            ],
            "log_likelihood": lambda: missing.log_likelihood(self.x, self.w, self.mixture),
            "certified_log_likelihood": lambda: missing.log_likelihood(
                self.x, self.w, self.mixture
            ),
            "responsibilities": lambda: self.q,
            "expected_rows": lambda: self.of_rows(missing.expected_row),
            "uncertainties": lambda: self.of_rows(
                lambda row, _, sigma: [x for line in missing.uncertainty(row, sigma) for x in line]
            ),
            "hidden_entropies": lambda: self.of_rows(
                lambda row, _, sigma: missing.hidden_entropy(row, sigma) if None in row else 0
            ),
            "counts": lambda: [
                gaussian.component_weight(self.w, q) for q in zip(*self.q, strict=True)
            ],
            "next.weights": lambda: [share for share, _, _ in self.following()],
            "next.means": lambda: [mu for _, mu, _ in self.following()],
            "next.spreads": lambda: [self.plain(sigma) for _, _, sigma in self.following()],
            "next.lower_bound": lambda: missing.bound(
                self.x, self.w, self.q, self.mixture, self.following()
            ),
            "next.log_likelihood": lambda: missing.log_likelihood(self.x, self.w, self.following()),
        }
        return readings[key]()


def judge(case: dict[str, Any], keys: tuple[str, ...]) -> None:
    step = Step(case["input"])
    for key in keys:
        if key in case["expect"]:
            assert meets(case["expect"][key], step.answer(key)), key


def asked(*keys: str) -> Any:
    return cases(FILE, where=lambda case: any(key in case["expect"] for key in keys))


@pytest.mark.spec("MISS-PDF", "MISS-LL", "MISS-ESTEP")
@pytest.mark.parametrize("case", cases(FILE))
def test_densities(case: dict[str, Any]) -> None:
    judge(case, SEEN)


@pytest.mark.spec("MISS-FILL", "MISS-COV", "MISS-ENT")
@pytest.mark.parametrize("case", asked(*HIDDEN))
def test_missing_cells(case: dict[str, Any]) -> None:
    judge(case, HIDDEN)


@pytest.mark.spec("MISS-MU", "MISS-SIG")
@pytest.mark.parametrize("case", asked(*NEXT))
def test_estimates(case: dict[str, Any]) -> None:
    judge(case, NEXT)


@pytest.mark.spec("MISS-BOUND", "MISS-LL")
@pytest.mark.parametrize("case", asked(*BOUNDS))
def test_bounds(case: dict[str, Any]) -> None:
    judge(case, BOUNDS)


@pytest.mark.spec("MISS-EM")
@pytest.mark.parametrize("case", cases(FILE, where=lambda case: case["input"]["model"] == "VVV"))
def test_the_loop_makes_these_steps(case: dict[str, Any]) -> None:
    step = Step(case["input"])
    shares, means, sigmas = zip(*next(missing.em(step.x, step.w, step.mixture)), strict=True)
    due = case["expect"]
    assert list(shares) == doubles(due["next.weights"])
    assert list(map(list, means)) == doubles(due["next.means"])
    assert [[x for line in sigma for x in line] for sigma in sigmas] == doubles(due["next.spreads"])


def doubles(expected: dict[str, Any]) -> Any:
    """The nearest doubles of what a vector expects."""
    if "list" in expected:
        return [doubles(part) for part in expected["list"]]
    if "exact" in expected:
        return float(Fraction(expected["exact"]))
    return float.fromhex(expected["binary64"])


def test_every_case_is_judged() -> None:
    assert set(judged([test_densities])) == set(names("36-missing"))
