"""Refclust's own answers to the golden vectors of mixtures (chapters 31, 32 and 35).

A case is one step: the state given, the shares of the rows, the state after the M-step. All of it
goes through the families that the EM loop uses, on any backend.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadVectorFile
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import HARD, SOFT, EMStep, Posterior, floats, shares
from refclust.mixture.certified import certified_log_likelihood
from refclust.mixture.families.counts.coefficients import log_coefficient
from refclust.mixture.families.family import Following, Point
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.families.named import record
from refclust.mixture.families.record import LeftOut
from refclust.mixture.gaps.family import left_out
from refclust.mixture.gaps.filling import Filled, filled_rows
from refclust.mixture.options import Missing
from refclust.mixture.passes import GaussianPasses
from refclust.mixture.predict import with_left_out
from refclust.mixture.theory import Decomposition, decomposition
from refclust.vectors.answers import Answer, Input


def gaussian(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``mixture.gaussian``."""
    return _answer(_gaussian_step(json.dumps(inputs), session.requested), key)


def missing(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``mixture.missing``."""
    return _answer(_gapped_step(json.dumps(inputs), session.requested), key)


def counts(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``mixture.counts``."""
    return _answer(_count_step(json.dumps(inputs), session.requested), key)


def _answer(step: _Step, key: str) -> Answer:
    if key not in _OF_A_STEP:
        raise BadVectorFile(f"no reading of a step is called {key!r}")
    return _OF_A_STEP[key](step)


# A case asks for a dozen keys of one step; the last one is kept.
@lru_cache(maxsize=1)
def _gaussian_step(text: str, backend: str) -> _Step:
    inputs = json.loads(text)
    rows = rows_of(inputs, backend)
    k = len(inputs["state"]["weights"])
    family = GaussianFamily(
        GaussianPasses(rows, k), inputs["model"], number(inputs.get("floor", "0"))
    )
    parameters = family.read(numbers(inputs["state"]))
    return _Step(inputs, rows, family, parameters, family.constant)


@lru_cache(maxsize=1)
def _gapped_step(text: str, backend: str) -> _Step:
    inputs = json.loads(text)
    rows = rows_of(inputs, backend, gaps=True)
    k, kind = len(inputs["state"]["weights"]), record("gaussian")
    settings = {"covariance": inputs["model"], "floor": 0.0, "missing": "integrate"}
    family = kind.on(rows, k, settings)
    assert isinstance(family, GaussianFamily)
    parameters = family.read(numbers(inputs["state"]))
    return _Step(inputs, rows, family, parameters, left_out(rows.data, family.exponents))


@lru_cache(maxsize=1)
def _count_step(text: str, backend: str) -> _Step:
    inputs = json.loads(text)
    rows = rows_of(inputs, backend)
    k = len(inputs["state"]["weights"])
    settings = {"m": number(inputs.get("m", "0")), "p": numbers(inputs.get("p", [])) or None}
    kind = record(inputs["kind"])
    family = kind.on(rows, k, settings)
    parameters = family.read(numbers(inputs["state"]))
    return _Step(inputs, rows, family, parameters, kind.left_out(parameters, rows.data))


@dataclass(frozen=True)
class _Step:
    """The state given, and what follows from it, each thing when it is asked for."""

    inputs: dict[str, Any]
    rows: Rows
    family: Any  # of either kind
    parameters: Any
    left_out: LeftOut  # what the kernels leave out of log p(x)

    @property
    def k(self) -> int:
        return len(self.parameters.weights)

    @cached_property
    def weights(self) -> list[float]:
        weights = self.rows.data.weights
        return [1.0] * self.rows.data.n if weights is None else [*map(float, weights)]

    @cached_property
    def constant(self) -> float:
        """What the kernels leave out, for all rows together."""
        return math.fsum(self.weights) * float(self.family.constant)

    @cached_property
    def point(self) -> Point[Any, Any]:
        point: Point[Any, Any] = self.family.point(self.parameters)
        return point

    @cached_property
    def posterior(self) -> Posterior:
        posterior: Posterior = self.family.passes.posterior(self.point.densities, full=True)
        return posterior

    @cached_property
    def joint(self) -> list[list[float]]:
        assert self.posterior.joint is not None
        flat = floats(self.posterior.joint)
        return [flat[begin : begin + self.k] for begin in range(0, len(flat), self.k)]

    @cached_property
    def passed(self) -> EMStep[Any]:
        rule = HARD if self.inputs.get("assign") == "hard" else SOFT
        step: EMStep[Any] = self.family.passes.step(self.point.densities, rule)
        return step

    @cached_property
    def moments(self) -> Any:
        if "q" not in self.inputs:
            return self.passed.moments
        flat = array("d", (x for row in numbers(self.inputs["q"]) for x in row))
        return self.family.moments(flat, self.k)

    @cached_property
    def following(self) -> Following[Any, Any]:
        following: Following[Any, Any] = self.family.following(self.moments, self.parameters)
        return following

    @property
    def next(self) -> Any:
        return self.following.point.parameters

    def expected(self, point: Point[Any, Any]) -> float:
        return float(self.family.passes.expected(self.moments, point.densities)) + self.constant

    @property
    def next_expected(self) -> float:
        return self.expected(self.following.point)

    @cached_property
    def taken_apart(self) -> Decomposition:
        """The theory, for shares that are given."""
        return decomposition(
            numbers(self.inputs["q"]),
            self.parameters,
            self.rows.data,
            family=self.family.name,
            backend=self.rows.session.requested,
        )

    def certified(self) -> Fraction:
        """The middle of the interval that holds J."""
        family = self.family.name
        missing: Missing = "integrate" if self.rows.data.gaps else "refuse"
        enclosed = certified_log_likelihood(
            self.parameters, self.rows.data, family=family, missing=missing
        )
        return (Fraction(enclosed.low) + Fraction(enclosed.high)) / 2

    @cached_property
    def filled(self) -> list[list[Filled]]:
        """What the densities tell of every row in every component."""
        return filled_rows(self.family, self.point, self.rows.data)

    @property
    def entropy(self) -> float:
        return self.taken_apart.entropy if "q" in self.inputs else self.passed.entropy

    @property
    def row_log_likelihoods(self) -> list[float]:
        return list(with_left_out(self.posterior.log_likelihoods, self.left_out))


def rows_of(inputs: dict[str, Any], backend: str, *, gaps: bool = False) -> Rows:
    """The rows of a case with their weights, as a backend sees them."""
    weights = numbers(inputs["weights"]) if "weights" in inputs else None
    return Rows(dataset(numbers(inputs["rows"]), weights=weights, gaps=gaps), Session(backend))


def numbers(value: Any) -> Any:
    """Read the numbers of a case, list by list.

    >>> numbers([["0x1.8p+0", "1/4"]])
    [[1.5, 0.25]]
    """
    if isinstance(value, dict):
        return {name: numbers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [numbers(part) for part in value]
    return None if value is None else number(value)


def number(text: str) -> float:
    """Read a double of a case: in hexadecimal, or the nearest to a fraction.

    >>> number("1/3") == 1 / 3
    True
    """
    return float.fromhex(text) if "0x" in text else float(Fraction(text))


_OF_A_STEP: Final[Mapping[str, Callable[[_Step], Answer]]] = {
    "row_log_likelihoods": lambda step: step.row_log_likelihoods,
    "densities": lambda step: [math.exp(x) for x in step.row_log_likelihoods],
    "log_likelihood": lambda step: step.passed.log_likelihood + step.constant,
    "log_likelihood[coefficient=multinomial]": lambda step: (
        step.passed.log_likelihood + log_coefficient(step.rows.data)
    ),
    "certified_log_likelihood": lambda step: step.certified(),
    "responsibilities": lambda step: [shares(row, SOFT).q for row in step.joint],
    "labels": lambda step: [Fraction(x) for x in step.posterior.labels],
    "entropy": lambda step: step.entropy,
    "expected_complete": lambda step: step.expected(step.point),
    "lower_bound": lambda step: step.taken_apart.lower_bound,
    "kl": lambda step: step.taken_apart.divergence,
    "counts": lambda step: floats(step.moments.counts),
    "next.weights": lambda step: step.next.weights,
    "next.means": lambda step: step.next.means,
    "next.spreads": lambda step: step.next.spreads,
    "next.probabilities": lambda step: [tuple(row) for row in step.next.probabilities],
    "next.expected_complete": lambda step: step.next_expected,
    "next.lower_bound": lambda step: step.next_expected + step.entropy,
    "next.log_likelihood": lambda step: (
        step.family.passes.step(step.following.point.densities, SOFT).log_likelihood + step.constant
    ),
    "expected_rows": lambda step: [[each.row for each in line] for line in step.filled],
    "uncertainties": lambda step: [[each.left for each in line] for line in step.filled],
    "hidden_entropies": lambda step: [[each.entropy for each in line] for line in step.filled],
    "log_prior": lambda step: step.point.log_prior,
    "next.log_prior": lambda step: step.following.point.log_prior,
}
