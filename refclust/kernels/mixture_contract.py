"""When an answer of a mixture's kernel is as good as the reference's (KER-POSTERIOR, KER-EMSTEP).

Every pass is a formula in the doubles given. u is half a unit in the last place of one; each family
of densities tells, for every row and component, by how much log p(x, k) may err if every operation
is rounded once, in whatever order sums are taken. From that follow the bounds below, to first order
with a tenth added; two answers that both keep them differ by at most twice as much.

- q_k errs by at most r_k = e_k + (sum of q_j e_j) + 16 u of itself: 16 u is what exp, the sum and
  the quotient may cost;
- log p(x) by (sum of q_j e_j) + (16 + 2 log K) u + u |log p(x)|;
- -q log q summed over k by the sum of q (|log q| + 1) (r + 4 u);
- a sum over n rows by n u of the sum of the absolute terms, beside the errors of its terms.

Where a rule has to choose (the m most probable, a draw) and the errors leave open which component
it is, both choices are right, so the whole row is inside the bound.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Any, Final, TypeAlias

from refclust.kernels.mixture import SOFT, EMStep, Posterior, Rule, Shared, shares, weighted_shares
from refclust.kernels.points import Points
from refclust.numbers.argmin import ROUND

Joint: TypeAlias = Callable[[Points, Any], list[tuple[float, ...]]]
# The moments with absolute values in the place of all terms, for given masses of rows.
Absolute: TypeAlias = Callable[[Points, Sequence[Sequence[float]], Sequence[Any]], Any]

_TENTH: Final = 2.2  # two answers, and a tenth for terms of second order
_ELEMENTARY: Final = 16 * ROUND
_TINY: Final = 2.0**-1000  # far above all underflow
_COARSE: Final = 2.0**-20


def _not_doubles(name: str, value: Any, formats: str = "d") -> str | None:
    try:
        view = memoryview(value)
    except TypeError:
        return f"{name}: a {type(value).__name__} instead of a buffer"
    if view.ndim != 1 or not view.contiguous or view.format not in tuple(formats):
        return f"{name}: a buffer of format {view.format!r}, {view.ndim}-dimensional"
    if view.format == "d" and any(map(math.isnan, view.tolist() if len(view) < 4096 else ())):
        return f"{name}: a NaN"
    return None


def _apart(name: str, due: Any, given: Any, allowed: Sequence[float]) -> str | None:
    """Where two buffers are further apart than allowed."""
    one, other = memoryview(due), memoryview(given)
    if len(one) != len(other):
        return f"{name}: {len(other)} numbers instead of {len(one)}"
    for place, (x, y, most) in enumerate(zip(one, other, allowed, strict=True)):
        if x != y and not abs(x - y) <= most:
            return f"{name}[{place}]: {y!r} instead of {x!r}, {abs(x - y):.2g} apart, " + (
                f"{most:.2g} allowed"
            )
    return None


def _coarse(values: Any) -> list[float]:
    numbers = [abs(x) for x in memoryview(values).tolist() if math.isfinite(x)]
    return [_COARSE * (1.0 + max(numbers, default=0.0))] * len(memoryview(values))


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
            _not_doubles("labels", answer.labels, "i")
            or _not_doubles("log_likelihoods", answer.log_likelihoods)
            or (None if answer.joint is None else _not_doubles("joint", answer.joint))
        )

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data: enough to tell two data sets apart."""
        due = reference.log_likelihoods
        return self.malformed(answer) or _apart(
            "log_likelihoods", due, answer.log_likelihoods, _coarse(due)
        )

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number within its bound."""
        joint, errors = self.joint(points, args[0]), self.errors(points, args[0])
        allowed = array("d", map(_row_error, joint, errors))
        wrong = _apart("log_likelihoods", due.log_likelihoods, answer.log_likelihoods, allowed)
        if (due.joint is None) is not (answer.joint is None):
            return "joint: there, but not asked for" if due.joint is None else "joint: missing"
        if not wrong and due.joint is not None:
            each = [_TENTH * e for row in errors for e in row]
            wrong = _apart("joint", due.joint, answer.joint, each)
        return wrong or _wrong_label(due.labels, answer.labels, joint, errors)


def _row_error(joint: Sequence[float], errors: Sequence[float]) -> float:
    one = shares(joint, SOFT)
    if one.log_likelihood == -math.inf:
        return 0.0
    mixed = math.fsum(q * e for q, e in zip(one.q, errors, strict=True) if q)
    own = _ELEMENTARY + 2 * math.log(len(joint)) * ROUND + ROUND * abs(one.log_likelihood)
    return _TENTH * (mixed + own)


def _wrong_label(
    due: Any, given: Any, joint: Sequence[Sequence[float]], errors: Sequence[Sequence[float]]
) -> str | None:
    one, other = memoryview(due).tolist(), memoryview(given).tolist()
    if len(one) != len(other):
        return f"labels: {len(other)} instead of {len(one)}"
    for i, (right, label) in enumerate(zip(one, other, strict=True)):
        if label == right:
            continue
        if not 0 <= label < len(joint[i]):
            return f"row {i}: there is no component {label}"
        gap = joint[i][right] - joint[i][label]
        # Equal estimates go to the lowest index wherever they are computed the same way.
        if not gap <= _TENTH * (errors[i][right] + errors[i][label]):
            return f"row {i}: component {label} instead of {right}"
    return None


@dataclass(frozen=True, slots=True)
class Sums:
    """Weighted sums over rows for given responsibilities, each within its bound."""

    absolute: Absolute
    kind: type
    name: str = "Sums of a component"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a record of flat buffers of doubles."""
        return _malformed_moments(self.kind, answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data."""
        return self.malformed(answer) or _apart_moments(reference, answer, None)

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every sum within its bound."""
        weights = points.data.weights
        columns = weighted_shares(args[0], args[1], None if weights is None else weights.tolist())
        share = _TENTH * (points.n + 8) * ROUND
        masses = [[share * abs(mass) + _TINY for mass in column] for column in columns]
        return _apart_moments(due, answer, self.absolute(points, masses, args))


@dataclass(frozen=True, slots=True)
class Step:
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
        for name in ("log_likelihood", "bound", "entropy"):
            value = getattr(answer, name)
            if type(value) is not float or math.isnan(value):
                return f"{name}: {value!r}, a {type(value).__name__}, instead of a float"
        return _malformed_moments(self.kind, answer.moments)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data."""
        wrong = self.malformed(answer)
        due = array("d", [reference.log_likelihood])
        given = array("d", [answer.log_likelihood])
        wrong = wrong or _apart("log_likelihood", due, given, _coarse(due))
        return wrong or _apart_moments(reference.moments, answer.moments, None)

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number within its bound."""
        rule = args[1] if len(args) > 1 else SOFT
        joint, errors = self.joint(points, args[0]), self.errors(points, args[0])
        weights = [1.0] * points.n if points.data.weights is None else points.data.weights.tolist()
        rows = [
            _row_bounds(one, slack, rule, _draws(rule, i))
            for i, (one, slack) in enumerate(zip(joint, errors, strict=True))
        ]
        n = points.n
        for name, least in (("log_likelihood", 0), ("bound", 1), ("entropy", 2)):
            allowed = _TENTH * math.fsum(
                w * (row.allowed[least] + n * ROUND * abs(row.terms[least]))
                for w, row in zip(weights, rows, strict=True)
                if w and math.isfinite(row.terms[least])
            )
            one, other = getattr(due, name), getattr(answer, name)
            if one != other and not abs(one - other) <= allowed + _TINY:
                return f"{name}: {other!r} instead of {one!r}, {allowed:.2g} allowed"
        masses = [
            [
                w * _TENTH * (q * (r + (n + 8) * ROUND) + open_) + _TINY
                for w, q, r, open_ in zip(weights, *map(list, parts), strict=True)
            ]
            for parts in zip(
                zip(*(row.q for row in rows), strict=True),
                zip(*(row.relative for row in rows), strict=True),
                zip(*(row.open for row in rows), strict=True),
                strict=True,
            )
        ]
        return _apart_moments(due.moments, answer.moments, self.absolute(points, masses, args))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Of one row: its terms, what they may err by, and its responsibilities with theirs."""

    terms: tuple[float, float, float]  # log p(x), the bound, the entropy
    allowed: tuple[float, float, float]
    q: tuple[float, ...]
    relative: tuple[float, ...]
    open: tuple[float, ...]  # one where the rule could have chosen otherwise


def _draws(rule: Rule, i: int) -> Sequence[float]:
    if rule.draws is None:
        return ()
    return rule.draws[i * rule.samples : (i + 1) * rule.samples].tolist()


def _row_bounds(
    joint: Sequence[float], errors: Sequence[float], rule: Rule, draws: Sequence[float]
) -> _Bounds:
    one: Shared = shares(joint, rule, draws)
    k = len(joint)
    if one.log_likelihood == -math.inf:
        return _Bounds((-math.inf, -math.inf, 0.0), (0.0,) * 3, one.q, (0.0,) * k, (0.0,) * k)
    soft = shares(joint, SOFT)
    mixed = math.fsum(q * e for q, e in zip(soft.q, errors, strict=True) if q)
    chosen = math.fsum(q * e for q, e in zip(one.q, errors, strict=True) if q)
    relative = tuple(
        0.0 if draws else e + chosen + _ELEMENTARY if math.isfinite(e) else 0.0 for e in errors
    )
    logs = _ELEMENTARY + 2 * math.log(k) * ROUND
    entropy = math.fsum(
        q * (abs(math.log(q)) + 1) * (r + 4 * ROUND)
        for q, r in zip(one.q, relative, strict=True)
        if q
    )
    either = _undecided(joint, soft.q, errors, mixed, rule, draws)
    gap = sum(either) * (1.0 + abs(one.bound) + one.entropy) if draws else 0.0
    allowed = (
        mixed + logs + ROUND * abs(one.log_likelihood),
        chosen + logs + ROUND * (abs(one.bound) + one.entropy) + gap,
        entropy + logs + gap,
    )
    terms = (one.log_likelihood, one.bound, one.entropy)
    return _Bounds(terms, allowed, one.q, relative, either)


def _undecided(
    joint: Sequence[float],
    q: Sequence[float],
    errors: Sequence[float],
    mixed: float,
    rule: Rule,
    draws: Sequence[float],
) -> tuple[float, ...]:
    """Which components a rule could have chosen as well, within the errors."""
    k = len(joint)
    if draws:
        reached = list(accumulate(q))
        slack = _TENTH * (2 * max((e for e, s in zip(errors, q, strict=True) if s), default=0.0))
        slack += _TENTH * (mixed + (k + 16) * ROUND)
        near = sum(any(abs(u - edge) <= slack for edge in reached[:-1]) for u in draws)
        return (near / len(draws),) * k
    if not 0 < rule.top < k:
        return (0.0,) * k
    order = sorted(range(k), key=joint.__getitem__, reverse=True)
    last, first = order[rule.top - 1], order[rule.top]
    gap = joint[last] - joint[first]
    if gap <= _TENTH * (errors[last] + errors[first]):
        return (1.0,) * k
    return (0.0,) * k


def _malformed_moments(kind: type, answer: Any) -> str | None:
    if not isinstance(answer, kind):
        return f"a {type(answer).__name__} instead of {kind.__name__}"
    for name in _buffers(kind):
        wrong = _not_doubles(name, getattr(answer, name))
        if wrong:
            return wrong
    return None


def _apart_moments(due: Any, answer: Any, allowed: Any) -> str | None:
    for name in _buffers(type(due)):
        one, other = getattr(due, name), getattr(answer, name)
        most = _coarse(one) if allowed is None else memoryview(getattr(allowed, name)).tolist()
        wrong = _apart(name, one, other, most)
        if wrong:
            return wrong
    return None


def _buffers(kind: type) -> list[str]:
    """The names of the fields that hold sums."""
    return [one.name for one in fields(kind) if one.name not in ("around", "spread")]
