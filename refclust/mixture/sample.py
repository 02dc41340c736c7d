"""Rows drawn from a mixture, seeded (EM-SAMPLE, chapter 30).

Every draw is made of numbers of the one stream of chapter 05, in a fixed order: for each row first
the component, then its numbers, column by column.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import accumulate

from refclust.fitting.checks import whole
from refclust.fitting.draws import Draws, chosen
from refclust.fitting.memory import for_drawn
from refclust.kernels.points import Vector
from refclust.mixture.families.named import record
from refclust.mixture.predict import Parameters, check_mixture


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows, and the component each was drawn from.

    Spec: EM-SAMPLE
    """

    rows: tuple[Vector, ...]
    labels: array[int]


def sample(
    parameters: Parameters, n: int, *, family: str, seed: int = 0, length: float | None = None
) -> Sample:
    """Draw n rows from a mixture; documents of a multinomial one have Poisson lengths.

    ``length`` is the mean number of words of a document.

    Spec: EM-SAMPLE, GMM-GEN, NB-GEN, NB-POISSON, NB-GENSEQ

    >>> from refclust.mixture.families.counts.parameters import CountParameters
    >>> two = CountParameters((0.5, 0.5), ((1.0, 0.0), (0.0, 1.0)))
    >>> sample(two, 3, family="bernoulli", seed=1).rows
    ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    """
    whole("n", n, 1)
    check_mixture(parameters, family)
    for_drawn(n, record(family).columns(parameters))
    draws = Draws(seed)
    draw = record(family).rows(parameters, draws, length)
    shares = list(accumulate(parameters.weights))
    labels, rows = array("i"), []
    for _ in range(n):
        k = chosen(shares, draws.next())
        labels.append(k)
        rows.append(draw(k))
    return Sample(tuple(rows), labels)
