"""When an answer of a mixture's kernel is as good as the reference's: KER-POSTERIOR and so on.

Every pass is a formula in the doubles given. What one row may err by is derived in
``mixture_bounds``; u is half a unit in the last place of 1. Beyond that:

- a sum over n rows of terms t, rounded in any order: n u of the sum of |w t|, beside the errors of
  the terms;
- of a sum of w q, w q (x - a) or w q (x - a)(x - a)' the terms err by their q, and by fewer than
  8 u for at most two differences, three products and a weight;
- two answers that keep these bounds are apart by at most twice as much; a tenth is added for terms
  of second order.

Some things hold whatever the errors are, and are asked for strictly: labels are the first of the
greatest log p(x, k) that the answer itself tells; its log p(x) follows from these; the shares of a
row add up to one; second moments are symmetric, and around the points that were given.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from refclust.kernels.contracts.bounds import BOTH, RowBounds, elementary, log_error, row_bounds
from refclust.kernels.contracts.comparing import (
    TINY,
    apart,
    apart_moments,
    coarse,
    malformed_moments,
    not_flat,
    not_numbers,
)
from refclust.kernels.mixtures.shared import (
    SOFT,
    EMStep,
    Posterior,
    Rule,
    posterior,
    weighted_shares,
)
from refclust.kernels.points import Points
from refclust.numbers.argmin import ROUND

Joint: TypeAlias = Callable[[Points, Any], list[tuple[float, ...]]]
# The moments with absolute values in the place of all terms, for given masses of rows.
Absolute: TypeAlias = Callable[[Points, Sequence[Sequence[float]], Sequence[Any]], Any]

_OBJECTIVES: Final = ("log_likelihood", "bound", "entropy")


@dataclass(frozen=True, slots=True)
class LogProb:
    """Labels of the most probable components and log p(x), each within its bound."""

    joint: Joint
    errors: Joint
    name: str = "LogProb"

    def malformed(self, answer: Any) -> str | None:
        """Ask for flat buffers of labels and doubles."""
        if not isinstance(answer, Posterior):
            return f"a {type(answer).__name__} instead of a Posterior"
        return (
            not_flat("labels", answer.labels, "i")
            or not_numbers("log_likelihoods", answer.log_likelihoods)
            or (None if answer.joint is None else not_flat("joint", answer.joint))
        )

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data: enough to tell two data sets apart."""
        wrong = self.malformed(answer)
        if wrong:
            return wrong
        due = reference.log_likelihoods
        return apart("log_likelihoods", due, answer.log_likelihoods, coarse(due))

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number within its bound."""
        wrong = self.malformed(answer)
        if wrong:
            return wrong
        if (due.joint is None) is not (answer.joint is None):
            return "joint: there, but not asked for" if due.joint is None else "joint: missing"
        joint, errors = self.joint(points, args[0]), self.errors(points, args[0])
        if due.joint is not None:
            each = [BOTH * e + TINY for row in errors for e in row]
            return apart("joint", due.joint, answer.joint, each) or _inconsistent(answer, points.n)
        allowed = [BOTH * e for e in map(log_error, joint, errors)]
        wrong = apart("log_likelihoods", due.log_likelihoods, answer.log_likelihoods, allowed)
        return wrong or _wrong_label(due.labels, answer.labels, joint, errors)


def _inconsistent(answer: Posterior, n: int) -> str | None:
    """Whether log p(x) and labels do not follow from the answer's own log p(x, k)."""
    flat = memoryview(answer.joint).tolist()  # type: ignore[arg-type]
    k = len(flat) // n
    rows = [flat[i : i + k] for i in range(0, len(flat), k)]
    allowed = [BOTH * log_error(row, (0.0,) * k) for row in rows]
    own = posterior(rows, full=False)
    wrong = apart("log_likelihoods", own.log_likelihoods, answer.log_likelihoods, allowed)
    if wrong:
        return f"{wrong}, given its own log p(x, k)"
    labels = memoryview(answer.labels).tolist()
    if len(labels) != n:
        return f"labels: {len(labels)} instead of {n}"
    for i, (due, label) in enumerate(zip(own.labels, labels, strict=True)):
        if due != label:
            return f"labels: row {i}: {label}, but its own greatest log p(x, k) is first at {due}"
    return None


def _wrong_label(
    due: Any, answer: Any, joint: Sequence[Sequence[float]], errors: Sequence[Sequence[float]]
) -> str | None:
    labels = memoryview(answer).tolist()
    if len(due) != len(labels):
        return f"labels: {len(labels)} instead of {len(due)}"
    for i, (right, label) in enumerate(zip(due, labels, strict=True)):
        if label == right:
            continue
        if not 0 <= label < len(joint[i]):
            return f"labels: row {i}: there is no component {label}"
        gap = joint[i][right] - joint[i][label]
        if not gap <= BOTH * (errors[i][right] + errors[i][label]):
            return f"labels: row {i}: component {label} instead of {right}"
    return None


@dataclass(frozen=True, slots=True)
class Sums:
    """Weighted sums over rows for given responsibilities, each within its bound."""

    absolute: Absolute
    kind: type
    name: str = "Moments"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a record of flat buffers of doubles."""
        return malformed_moments(self.kind, answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data."""
        return self.malformed(answer) or apart_moments(reference, answer, None)

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every sum within its bound."""
        wrong = self.malformed(answer)
        if wrong:
            return wrong
        row_weights = points.data.weights
        weights = [1.0] * points.n if row_weights is None else row_weights.tolist()
        share = BOTH * (points.n + 8) * ROUND
        # A weight times a share may vanish, where exact sums keep it: what counts are the factors.
        masses = [
            [
                share * abs(w * q) + TINY if w and q else 0.0
                for w, q in zip(weights, column, strict=True)
            ]
            for column in weighted_shares(args[0], args[1], None)
        ]
        return apart_moments(due, answer, self.absolute(points, masses, args))


@dataclass(frozen=True, slots=True)
class EMStepContract:
    """Log-likelihood, bound and entropy, and the sums of the M-step, each within its bound."""

    joint: Joint
    errors: Joint
    absolute: Absolute
    kind: type
    name: str = "EMStep"

    def malformed(self, answer: Any) -> str | None:
        """Ask for three plain floats and a record of flat buffers of doubles."""
        if not isinstance(answer, EMStep):
            return f"a {type(answer).__name__} instead of an EMStep"
        for name in _OBJECTIVES:
            value = getattr(answer, name)
            if type(value) is not float or math.isnan(value):
                return f"{name}: {value!r}, a {type(value).__name__}, instead of a float"
        return malformed_moments(self.kind, answer.moments)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data."""
        wrong = self.malformed(answer)
        if wrong:
            return wrong
        due, actual = (array("d", [step.log_likelihood]) for step in (reference, answer))
        wrong = apart("log_likelihood", due, actual, coarse(due))
        return wrong or apart_moments(reference.moments, answer.moments, None)

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number within its bound."""
        wrong = self.malformed(answer)
        if wrong:
            return wrong
        rule = args[1] if len(args) > 1 else SOFT
        joint, errors = self.joint(points, args[0]), self.errors(points, args[0])
        rows = [
            row_bounds(logs, slack, rule, _draws(rule, i))
            for i, (logs, slack) in enumerate(zip(joint, errors, strict=True))
        ]
        weights = [1.0] * points.n if points.data.weights is None else points.data.weights.tolist()
        masses = [
            [
                BOTH * w * (row.slack[c] + row.q[c] * (points.n + 8) * ROUND) + (1.0 + w) * TINY
                if w
                else 0.0
                for w, row in zip(weights, rows, strict=True)
            ]
            for c in range(len(joint[0]))
        ]
        return (
            _apart_objectives(due, answer, weights, rows)
            or apart_moments(due.moments, answer.moments, self.absolute(points, masses, args))
            or _unshared(answer.moments, weights, rows)
        )


def _draws(rule: Rule, i: int) -> Sequence[float]:
    if rule.draws is None:
        return ()
    return rule.draws[i * rule.samples : (i + 1) * rule.samples].tolist()


def _apart_objectives(
    due: Any, answer: Any, weights: Sequence[float], rows: Sequence[RowBounds]
) -> str | None:
    for place, name in enumerate(_OBJECTIVES):
        allowed = BOTH * math.fsum(
            w * (row.allowed[place] + (len(rows) + 1) * ROUND * abs(row.terms[place]))
            for w, row in zip(weights, rows, strict=True)
            if w and math.isfinite(row.terms[place])
        )
        right, actual = getattr(due, name), getattr(answer, name)
        if right != actual and not abs(right - actual) <= allowed + TINY:
            return f"{name}: {actual!r} instead of {right!r}, {abs(right - actual):.2g} apart, " + (
                f"{allowed:.2g} allowed"
            )
    return None


def _unshared(moments: Any, weights: Sequence[float], rows: Sequence[RowBounds]) -> str | None:
    """Whether the shares of some row do not add up to one."""
    due = math.fsum(w for w, row in zip(weights, rows, strict=True) if any(row.q))
    actual = math.fsum(memoryview(moments.counts).tolist())
    allowed = BOTH * (len(rows) * ROUND + elementary(len(rows[0].q))) * due
    if abs(actual - due) <= allowed:
        return None
    return f"counts: all shares together are {actual!r}, not the weight {due!r} of the rows, " + (
        f"{allowed:.2g} apart allowed: those of some row do not add up to one"
    )
