"""The monotone certificate of a fit: every iteration's J(t+1) >= Q >= J(t) (EM-CONV, chapter 30).

Q is the bound with the old responsibilities and the new parameters, worked out from the sums of
the pass. Each gap stands beside a derived bound on its rounding error; one that rounding alone can
explain reads ``within rounding``, whatever its sign. A certificate that nobody looked for, or of a
fit that may fall by design, does not say that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from refclust.data.files.parts import real, whole

Real: TypeAlias = Annotated[float, real()]  # in a checkpoint
Verdict: TypeAlias = Literal["rises", "within rounding", "falls"]
Standing: TypeAlias = Literal["holds", "falls", "not promised", "not watched"]


@dataclass(frozen=True, slots=True)
class Ascent:
    """One iteration: the objective before, the bound between, the objective after.

    Spec: EM-CONV

    >>> ascent(1, -3.0, -2.5, -2.0, 1e-12).verdict
    'rises'
    >>> ascent(1, -3.0, -3.0, -3.0, 1e-12).verdict
    'within rounding'
    """

    iteration: Annotated[int, whole(0, "limit")]  # the M-step that was made between
    before: Real  # J(t), or F(q, theta) where q is restricted; with the logarithm of the prior
    bound: Real  # Q(t, t+1)
    after: Real
    rounding: Real  # what each of the two gaps may err by
    verdict: Verdict

    @property
    def maximisation(self) -> float:
        """What the M-step gained: Q - J(t).

        Spec: EM-CONV
        """
        return self.bound - self.before

    @property
    def expectation(self) -> float:
        """What the next E-step gained: J(t+1) - Q, the divergence of old from new posteriors.

        Spec: EM-CONV, EM-DECOMP
        """
        return self.after - self.bound


def ascent(iteration: int, before: float, bound: float, after: float, rounding: float) -> Ascent:
    """Judge one iteration.

    Spec: EM-CONV
    """
    least = min(bound - before, after - bound)
    verdict: Verdict = "rises"
    if least < -rounding:
        verdict = "falls"
    elif after - before <= rounding:
        verdict = "within rounding"
    return Ascent(iteration, before, bound, after, rounding, verdict)


@dataclass(frozen=True, slots=True)
class Certificate:
    """All iterations of a run with their verdicts.

    Spec: EM-CONV
    """

    ascents: tuple[Ascent, ...]
    guaranteed: bool  # whether theory promises that what is reported never falls

    @property
    def standing(self) -> Standing:
        """What is known: whether it holds, or why nobody can say so.

        A fall is told in any case: each iteration that was judged had something to keep, the bound
        if not the log-likelihood.

        Spec: EM-CONV

        >>> Certificate((), True).standing, Certificate((), False).standing
        ('not watched', 'not promised')
        """
        if any(ascent.verdict == "falls" for ascent in self.ascents):
            return "falls"
        if not self.guaranteed:
            return "not promised"
        return "holds" if self.ascents else "not watched"

    @property
    def holds(self) -> bool | None:
        """Whether nothing fell by more than rounding can explain; none if nobody can say so.

        Spec: EM-CONV
        """
        known: dict[Standing, bool] = {"holds": True, "falls": False}
        return known.get(self.standing)
