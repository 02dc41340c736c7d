"""How a case of a step is made of a problem: both witnesses, bounds, fractions, checks."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .mixture_bounds import Matrix, allowed
from .mixture_numbers import (
    NEVER,
    WITNESSES,
    Field,
    encode,
    encode_wrong,
    floats_of,
    use_precision,
)
from .values import Json
from .vectors_common import middle
from .writer import VectorFile

Keys = tuple[str, ...]

ESTEP: Keys = ("row_log_likelihoods", "log_likelihood", "responsibilities")
THEORY: Keys = (
    "entropy",
    "expected_complete",
    "next.expected_complete",
    "next.lower_bound",
    "next.log_likelihood",
)
AFTER: Keys = (*THEORY[2:], "next.log_prior")
CERTIFIED = Fraction(1, 10**26)  # thirty digits of a sum below ten thousand
Found = dict[str, Any]
Wrong = Callable[[Any, Found], Found]


@dataclass(frozen=True, slots=True)
class Family:
    """What differs between steps of Gaussian mixtures and steps on counts."""

    evaluated: Callable[[Field, Any], Found]
    followed: Callable[[Field, Any, Found], Found]
    bounds: Callable[[Any, Found], Found]
    errors: Callable[[Any], Matrix]  # of each log p(x, k), at the state given
    rationals: Callable[[Any, Found], Found]
    told: Callable[[Any], dict[str, Json]]
    cited: Callable[[Any, Sequence[str]], set[str]]
    state: tuple[str, ...]  # the keys of the next state

    def step(
        self,
        file: VectorFile,
        slug: str,
        problem: Any,
        description: str,
        keys: Sequence[str],
        *,
        more: Sequence[str] = (),
        flags: list[str] | None = None,
        wrong: Wrong | None = None,
    ) -> list[Any]:
        """Append a case, and return the new state in nearest doubles."""
        use_precision()
        found = [self.evaluated(field, problem) for field in WITNESSES]
        if any(key in AFTER for key in keys):
            pairs = zip(WITNESSES, found, strict=True)
            found = [self.followed(field, problem, one) for field, one in pairs]
        first, second = found
        _certify(first)
        bounds = {key: allowed(value) for key, value in self.bounds(problem, first).items()}
        exact = self.rationals(problem, first)
        expect: dict[str, Json] = {
            key: labels(first["joint"], self.errors(problem))
            if key == "labels"
            else encode(first["log_likelihood"], second["log_likelihood"], CERTIFIED)
            if key == "certified_log_likelihood"
            else encode(first[key], second[key], bounds[key], exact.get(key))
            for key in keys
        }
        misprint: dict[str, Json] | None = None
        if wrong is not None:
            misprint = {
                key: encode_wrong(value, first[key], bounds[key])
                for key, value in wrong(problem, first).items()
            }
        file.add(
            slug,
            self.told(problem),
            expect,
            description,
            flags=flags,
            formulas=sorted(self.cited(problem, keys) | set(more)),
            misprint=misprint,
        )
        return [_doubles(first[key]) for key in self.state]


def _doubles(values: Any) -> Any:
    return [_doubles(one) for one in values] if isinstance(values, list) else float(middle(values))


def _certify(found: Found) -> None:
    """EM-CONV holds of the balls, and EM-DECOMP where there is a divergence."""
    slack = Fraction(1, 2**300)
    if "next.log_prior" in found and found["log_prior"] is not NEVER:
        prior, new_prior = found["log_prior"], found["next.log_prior"]
        chain = [
            found["lower_bound"] + prior,
            found["next.lower_bound"] + new_prior,
            found["next.log_likelihood"] + new_prior,
        ]
        assert all(middle(b - a) > -slack for a, b in pairwise(chain))
    if "kl" in found:
        gap = found["log_likelihood"] - found["lower_bound"] - found["kl"]
        assert abs(middle(gap)) < slack


def labels(logs: Any, errors: Matrix) -> dict[str, Json]:
    """Labels that every careful program finds: gaps above the errors, or exact ties."""
    found = [row.index(max(row)) for row in floats_of(logs)]
    for row, label, slack in zip(logs, found, errors, strict=True):
        for other, x in enumerate(row):
            if other != label and x is not NEVER:
                gap = middle(row[label] - x)
                tie = other > label and gap == 0
                assert tie or gap > 4 * (slack[label] + slack[other]), "not decided in doubles"
    return {"list": [{"exact": str(label)} for label in found]}


def cloud(seed: int, n: int, centres: Matrix, spread: float) -> Matrix:
    """Rows in eighths around centres in turn."""
    draw = random.Random(seed)
    rows = []
    for i in range(n):
        centre = centres[i % len(centres)]
        noise = [draw.random() + draw.random() + draw.random() - 1.5 for _ in centre]
        rows.append([round(8 * (c + spread * e)) / 8 for c, e in zip(centre, noise, strict=True)])
    return rows


def tenths(rows: Matrix) -> Matrix:
    """The same rows in tenths, which no double holds."""
    return [[round(10 * x) / 10 for x in row] for row in rows]
