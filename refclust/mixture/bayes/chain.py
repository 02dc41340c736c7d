"""A chain through the ways of sharing out the rows of a mixture (MS-CHAIN, chapter 34).

Parameters given the assignments, assignments given the parameters, in turn. The random numbers of a
step are those of the parameters, then one for each copy of each row.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from refclust.fitting.draws import Draws
from refclust.kernels.mixtures.shared import floats
from refclust.numbers.logspace import normalise

MOST_COPIES: Final = 100


def copies(weight: float) -> int | None:
    """How many copies of a row a weight stands for; ``None`` where that is no small whole number.

    Spec: MS-CHAIN, MIX-JOINT

    >>> copies(3.0), copies(0.0), copies(0.5)
    (3, 0, None)
    """
    return int(weight) if weight == int(weight) and weight <= MOST_COPIES else None


@dataclass(frozen=True, slots=True)
class State:
    """Parameters drawn, and the shares of all rows drawn under them."""

    drawn: Any
    shares: array[float]


@dataclass(slots=True)
class AssignmentChain:
    """A Markov chain whose stationary distribution is the posterior of parameters and components.

    Spec: MS-CHAIN
    """

    family: Any  # VariationalGaussian or VariationalCounts
    passes: Any
    maker: Callable[[Any], Any]  # draws from beliefs
    k: int
    draws: Draws
    beliefs: Any  # where it stands

    def step(self) -> State:
        """Draw parameters, then a component for every copy of every row.

        Spec: MS-CHAIN, EM-STOCH
        """
        drawn = self.maker(self.beliefs).draw(self.draws)
        joint = floats(self.passes.posterior(drawn.densities(), full=True).joint)
        shares = self._shares(joint)
        self.beliefs = self.after(shares)
        return State(drawn, shares)

    def after(self, shares: array[float], part: float = 1.0) -> Any:
        """The beliefs that follow from the rows, or from a part of each row, shared out like this.

        Spec: MS-CHAIN, VB-GAUSS, VB-MULT
        """
        if part != 1.0:
            shares = array("d", (part * share for share in shares))
        return self.family.maximised(self.family.moments(shares, self.k), None)

    def _shares(self, joint: list[float]) -> array[float]:
        weights, shares = self.passes.rows.data.weights, array("d")
        for i in range(len(joint) // self.k):
            number = 1 if weights is None else copies(weights[i]) or 1
            posterior = list(map(math.exp, normalise(joint[i * self.k : (i + 1) * self.k])[0]))
            counts = [0] * self.k
            for _ in range(number):
                counts[self._component(posterior)] += 1
            shares.extend(count / number for count in counts)
        return shares

    def _component(self, posterior: list[float]) -> int:
        goal, reached = self.draws.next() * math.fsum(posterior), 0.0
        for c, share in enumerate(posterior):
            reached += share
            if reached > goal:
                return c
        return max(range(self.k), key=posterior.__getitem__)
