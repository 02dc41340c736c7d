"""Rows drawn from a mixture, seeded (EM-SAMPLE, chapter 30).

Every draw is made of numbers of the one stream of chapter 05, in a fixed order: for each row first
the component, then its numbers, column by column.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, cast

from refclust.data.accepting.spellings import spelled
from refclust.errors import BadOption
from refclust.fitting.checks import plain_number, whole
from refclust.fitting.draws import Draws, chosen
from refclust.fitting.fitted import Predicted
from refclust.fitting.labels import Labels
from refclust.fitting.memory import for_drawn
from refclust.kernels.points import Vector
from refclust.mixture.families.named import record
from refclust.mixture.predict import Parameters, check_mixture
from refclust.mixture.results import MixtureFit
from refclust.shown.page import Summary, number, sized, table


@dataclass(frozen=True, slots=True, repr=False)
class Sample(Predicted):
    """Rows, and the component each was drawn from.

    Spec: EM-SAMPLE
    """

    rows: tuple[Vector, ...]
    labels: array[int]

    def __post_init__(self) -> None:
        """Hand the labels out in the form that data frames take."""
        object.__setattr__(self, "labels", Labels(self.labels))

    def _columns(self) -> dict[str, Any]:
        columns = zip(*self.rows, strict=True)
        return {f"x{j}": column for j, column in enumerate(columns)} | {"cluster": self.labels}

    def _summary(self) -> Summary:
        size = sized(len(self.rows), len(self.rows[0]))
        lines = [(i, label, *map(number, row[:6])) for i, (label, row) in enumerate(self.drawn)]
        head = ["row", "component", *range(min(len(self.rows[0]), 6))]
        return Summary("Sample", f"{size}, drawn", (("drawn", size),), (table(head, lines),))

    @property
    def drawn(self) -> Iterator[tuple[int, Vector]]:
        """The component and the numbers of each row."""
        return zip(self.labels, self.rows, strict=True)


@spelled
def sample(
    parameters: Parameters | MixtureFit[Any],
    n: int,
    *,
    family: str | None = None,
    seed: int = 0,
    length: float | None = None,
) -> Sample:
    """Draw n rows from a mixture; documents of a multinomial one have Poisson lengths.

    The mixture is a fit, or parameters with the name of their family. ``length`` is the mean number
    of words of a document.

    Spec: EM-SAMPLE, GMM-GEN, NB-GEN, NB-POISSON, NB-GENSEQ

    >>> from refclust.mixture.families.counts.parameters import CountParameters
    >>> two = CountParameters((0.5, 0.5), ((1.0, 0.0), (0.0, 1.0)))
    >>> sample(two, 3, family="bernoulli", seed=1).rows
    ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    """
    whole("n", n, 1)
    if isinstance(parameters, MixtureFit):
        if parameters.believed:
            raise BadOption("beliefs about a mixture are drawn from by fit.parameters.expected()")
        family, parameters = parameters.family, cast(Parameters, parameters.parameters)
    elif hasattr(parameters, "centres"):
        raise BadOption("clusters have no densities to draw rows from; mixtures have")
    if family is None:
        raise BadOption("parameters alone do not say which mixture they belong to: family=...")
    check_mixture(parameters, family)
    for_drawn(n, record(family).columns(parameters))
    draws = Draws(plain_number(seed))
    draw = record(family).rows(parameters, draws, length)
    shares = list(accumulate(parameters.weights))
    labels, rows = array("i"), []
    for _ in range(n):
        k = chosen(shares, draws.next())
        labels.append(k)
        rows.append(draw(k))
    return Sample(tuple(rows), labels)
