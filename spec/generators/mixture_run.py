"""Whole runs of EM and its variations (chapter 30), by two witnesses, errors carried along.

Nothing is rounded between the steps: both witnesses go from the start to the end in their own
arithmetic. What parameters are off by moves every log p(x, k) of the next pass
(``mixture_bounds``), and so the shares and the next parameters: the bounds follow the run. What a
run decides (labels, components kept or drawn, when to stop) is decided far from every border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from . import mixture_count_bounds as count_bounds
from . import mixture_counts as counted
from . import mixture_gaussian as normal
from . import mixture_gaussian_bounds as normal_bounds
from .make_sampling import Twister
from .mixture_bounds import Matrix, Shares, U, added, exp, total
from .mixture_counts import Counts, CountState
from .mixture_gaussian import MODELS, Problem, State, square
from .mixture_numbers import NEVER, Field, floats_of, log_sum

Theta = list[Any]


@dataclass(frozen=True, slots=True)
class Run:
    """Rows, a model, a start and how it goes on."""

    rows: Any
    model: str  # of covariances, or the kind of counts
    start: State | CountState | list[int] | str  # parameters, labels, or the name of a start
    k: int
    variation: str = "em"
    option: Fraction = Fraction(0)  # components kept, share of the way, or draws for each row
    seed: int = 0
    limit: int = 3
    tolerance: Fraction = Fraction(0)
    weights: list[float] | None = None
    m: Fraction = Fraction(0)
    restarts: int = 1

    @property
    def normal(self) -> bool:
        """Whether the densities are normal."""
        return self.model in MODELS

    @property
    def masses(self) -> list[float]:
        """The weights of the rows."""
        return [1.0] * len(self.rows) if self.weights is None else self.weights

    def problem(self, theta: Theta) -> Any:
        """A step from parameters in doubles."""
        if self.normal:
            state = State(theta[0], theta[1], [[1.0]] * self.k)
            return Problem(self.rows, state, self.model, self.weights)
        empty = CountState(theta[0], theta[1])
        return Counts(self.rows, empty, self.model, self.m, (), self.weights)


def joint(arithmetic: Field, run: Run, theta: Theta) -> Any:
    """log p(x, k) of every row."""
    if run.normal:
        rows = normal.lifted(arithmetic, run.rows)
        return normal.joint(arithmetic, rows, (theta[0], theta[1], theta[2]))
    return counted.joint(arithmetic, run.model, run.rows, theta[0], theta[1])


def maximised(arithmetic: Field, run: Run, q: Any) -> Theta:
    """The M-step; covariances are whole matrices."""
    blank = [[0.0] * len(run.rows[0])] * run.k
    problem = run.problem([[1.0] * run.k, blank])
    if run.normal:
        found = normal.maximised(arithmetic, problem, q)
        zero, d = arithmetic.of(Fraction(0)), len(run.rows[0])
        whole = [square(one, d, zero) for one in found["next.spreads"]]
        return [found["next.weights"], found["next.means"], whole]
    found = counted.maximised(arithmetic, problem, q)
    return [found["next.weights"], found["next.probabilities"]]


def log_prior(arithmetic: Field, run: Run, theta: Theta) -> Any:
    """The logarithm of the prior, nothing without imagined words."""
    if not run.m:
        return arithmetic.of(Fraction(0))
    return counted.log_prior(arithmetic, run.problem(floats(theta)), theta[1])


def prior_error(run: Run, theta: Theta, off: Theta) -> float:
    """Its error at parameters that are off."""
    return count_bounds.prior_errors(run.problem(theta), theta[1], off[1]) if run.m else 0.0


def raised(arithmetic: Field, run: Run, state: State | CountState) -> Theta:
    """Given parameters in an arithmetic."""
    if isinstance(state, CountState):
        return [normal.lifted(arithmetic, x) for x in (state.weights, state.probabilities)]
    zero, d = arithmetic.of(Fraction(0)), len(run.rows[0])
    whole = [square(one, d, zero) for one in normal.lifted(arithmetic, state.spreads)]
    return [*(normal.lifted(arithmetic, x) for x in (state.weights, state.means)), whole]


def blended(old: Any, new: Any, share: Any) -> Any:
    """Part of the way from one to another."""
    if isinstance(old, list):
        return [blended(a, b, share) for a, b in zip(old, new, strict=True)]
    return old + share * (new - old)


@dataclass(slots=True)
class Pass:
    """One pass: log-likelihood and objective by both witnesses, bounds, and the parameters."""

    theta: tuple[Theta, Theta]
    off: Theta
    log_likelihood: tuple[Any, Any]
    objective: tuple[Any, Any]
    errors: tuple[float, float] = (0.0, 0.0)
    logs: Any = None
    joint_errors: Matrix = field(default_factory=list)
    prior: tuple[Any, float] = (0, 0.0)  # its logarithm by the first witness, and the error

    def likelihood_and_prior(self) -> tuple[float, float]:
        """What chooses among states that are drawn, and its error."""
        value, error = self.prior
        return floats_of(self.log_likelihood[0] + value), self.errors[0] + error


def errors_of(run: Run, theta: Theta, off: Theta) -> Matrix:
    """The errors of log p(x, k) at parameters that are off."""
    if run.normal:
        own, _ = normal_bounds.joint_errors(run.rows, theta[0], theta[1], theta[2])
        found = {"next.weights": theta[0], "next.means": theta[1]}
        moved = normal_bounds.Moved(off[0], off[1], off[2])
        more = normal_bounds.shifted(run.rows, found, theta[2], moved)
    else:
        own, _ = count_bounds.joint_errors(run.model, run.rows, theta[0], theta[1])
        moved_words = count_bounds.Moved(off[0], off[1])
        more = count_bounds.shifted(run.model, run.rows, theta[0], theta[1], moved_words)
    return added(own, more)


def moved(run: Run, shares: Shares, old: Theta, new: Theta) -> Theta:
    """What the new parameters are off by."""
    if run.normal:
        names = ("next.weights", "next.means", "next.matrices")
        found = dict(zip(names, new, strict=True))
        one = normal_bounds.moved(run.problem(old), shares, found)
        return [one.weights, one.means, one.matrices]
    words = count_bounds.moved(run.problem(old), shares, new[1])
    return [words.weights, words.probabilities]


def nothing(theta: Any) -> Any:
    """Zeros in the place of all numbers."""
    return [nothing(x) for x in theta] if isinstance(theta, list) else 0.0


def rounded(off: Any, theta: Any) -> Any:
    """The errors with those of a blend: three roundings."""
    if isinstance(off, list):
        return [rounded(a, b) for a, b in zip(off, theta, strict=True)]
    return off + 4 * U * abs(theta)


class Chooser:
    """The shares of a variation: which components, decided far from the borders."""

    def __init__(self, run: Run, stream: Twister) -> None:
        self.run, self.stream = run, stream

    def kept(self, logs: Matrix, errors: Matrix) -> list[list[Fraction | None]]:
        """Of each row given shares, or None where the posterior among those kept counts."""
        run, found = self.run, list[list[Fraction | None]]()
        for row, slack in zip(logs, errors, strict=True):
            if run.variation in ("stochastic", "monte-carlo"):
                found.append(self._drawn(row, slack))
                continue
            m = {"hard": 1, "top": int(run.option)}.get(run.variation, run.k)
            order = sorted(range(run.k), key=row.__getitem__, reverse=True)
            if m < run.k:
                last, first = order[m - 1], order[m]
                assert row[last] - row[first] > 8 * (slack[last] + slack[first])
            kept = order[:m]
            line: list[Fraction | None] = [None if k in kept else Fraction(0) for k in range(run.k)]
            found.append([Fraction(int(k in kept)) for k in range(run.k)] if m == 1 else line)
        return found

    def _drawn(self, row: Sequence[float], slack: Sequence[float]) -> list[Fraction | None]:
        peak = max(row)
        weights = [exp(x - peak) for x in row]
        mass = total(weights)
        samples = max(int(self.run.option), 1)
        counts = [0] * len(row)
        for _ in range(samples):
            u, reached = float(self.stream.number()), 0.0
            for k, weight in enumerate(weights):
                reached += weight / mass
                near = abs(reached - u) <= 1e-6 + 16 * max(slack)
                assert not near or k == len(row) - 1, "a draw on a border"
                if reached > u:
                    counts[k] += 1
                    break
        return [Fraction(count, samples) for count in counts]


def shares_of(arithmetic: Field, logs: Any, kept: Any) -> tuple[Any, Any, Any]:
    """Shares, their logarithms, and the logarithm of the sum over those kept, of every row."""
    q, log_q, sums = [], [], []
    zero = arithmetic.of(Fraction(0))
    for row, line in zip(logs, kept, strict=True):
        if None in line:
            whole = log_sum(arithmetic, [x for x, s in zip(row, line, strict=True) if s is None])
            own = [x - whole if s is None else NEVER for x, s in zip(row, line, strict=True)]
            q.append([zero if x is NEVER else arithmetic.exp(x) for x in own])
            log_q.append(own)
            sums.append(whole)
            continue
        q.append([arithmetic.of(s) for s in line])
        log_q.append([arithmetic.log(arithmetic.of(s)) if s else NEVER for s in line])
        terms = [
            arithmetic.of(s) * (x - y) for x, s, y in zip(row, line, log_q[-1], strict=True) if s
        ]
        sums.append(arithmetic.total(terms))
    return q, log_q, sums


def floats(theta: Theta) -> Theta:
    """Parameters in doubles."""
    found: Theta = floats_of(theta)
    return found
