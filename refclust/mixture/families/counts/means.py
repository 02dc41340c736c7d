"""Mixtures of counts whose columns are independent, each given by its mean (chapter 35).

The logarithm of such a density is linear in the counts, so the kernels of counts do the passes; a
law says what the mean of a column makes of it, and the M-step is the same for all of them: a mean.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from refclust.errors import BadOption, DimensionMismatch, NotFinite
from refclust.fitting.checks import is_number
from refclust.fitting.memory import for_words
from refclust.kernels.blocks import Doubles, blocks
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.words import log, m_estimate
from refclust.kernels.points import Vector
from refclust.mixture.families.counts.parameters import check_whole
from refclust.mixture.families.counts.words import check_sizes
from refclust.mixture.families.estimates import component_weights
from refclust.mixture.families.family import Following, Point
from refclust.mixture.families.gaussian.parameters import between, check_weights, readable
from refclust.mixture.passes import CountPasses
from refclust.numbers.argmin import ROUND
from refclust.numbers.reading import shown
from refclust.shown.page import brief, counted


@dataclass(frozen=True, slots=True, repr=False)
class MeanParameters:
    """The shares of K components, and of each the mean count of every column.

    Spec: MIX-MODEL
    """

    weights: tuple[float, ...]
    means: Sequence[Vector]

    def __repr__(self) -> str:
        k, d = len(self.weights), len(self.means[0]) if len(self.means) else 0
        fields = {"weights": self.weights, "means": self.means}
        words = f"{counted(k, 'component')}, {counted(d, 'column')}"
        return brief("MeanParameters", fields, k * d, words)


@dataclass(frozen=True, slots=True)
class Law:
    """A distribution of counts, log p(x) = x slope(mu) + base(mu) + what no parameter changes.

    Spec: CM-LL
    """

    name: str
    slope: Callable[[float], float]  # -inf at mu = 0: nothing is ever counted there
    base: Callable[[float], float]
    left_out: Callable[[Sequence[float]], float]  # of the counts of a row
    text: str  # log p of a count, for readers
    latex: str

    def log(self, x: float, mu: float) -> float:
        """log p(x), whole.

        Spec: CM-LL
        """
        return (x * self.slope(mu) if x else 0.0) + self.base(mu) + self.left_out([x])


Pair = Point[MeanParameters, Terms]


def terms_of(parameters: MeanParameters, law: Law) -> Terms:
    """The densities of parameters, ready for a pass.

    Spec: CM-LL, MIX-JOINT
    """
    offsets, slopes = array("d"), array("d")
    for share, means in zip(parameters.weights, parameters.means, strict=True):
        offsets.append(log(share) + math.fsum(map(law.base, means)))
        slopes.extend(map(law.slope, means))
    return Terms(offsets, slopes)


def check_means(parameters: MeanParameters, d: int) -> None:
    """Refuse parameters that are no mixture over d columns of counts."""
    with readable("weights and means"):
        k = len(parameters.weights)
        if not k or len(parameters.means) != k:
            raise DimensionMismatch(
                f"{k} weights and {len(parameters.means)} rows of means were given; one of each is "
                "due for every component"
            )
        check_weights(parameters.weights)
        for c, means in enumerate(parameters.means):
            if len(means) != d:
                raise DimensionMismatch(
                    f"component {c} has {len(means)} means, the rows {d} columns"
                )
            if not all(0.0 <= mu < math.inf for mu in means):
                raise BadOption(f"component {c} has a mean that is negative or no number")


@dataclass(frozen=True)
class MeanFamily:
    """Mixtures of one law on one data set, with m imagined rows of given means."""

    passes: CountPasses
    law: Law
    m: float = 0.0
    p: Vector = ()  # the means of imagined rows; nothing: those of all rows

    def __post_init__(self) -> None:
        """Refuse rows that are no counts, and imagined rows that have no means."""
        if not is_number(self.m) or self.m < 0:
            raise BadOption(f"m is {shown(self.m)}; a number of at least 0 is needed")
        data = self.passes.rows.data
        for_words(self.passes.k, data.d)
        if self.p and len(self.p) != data.d:
            raise DimensionMismatch(f"p has {len(self.p)} numbers, the rows {data.d} columns")
        if not all(0 <= mean < math.inf for mean in self.p):
            raise BadOption("p holds a number that is negative or not finite; means are needed")
        check_whole(data)

    @property
    def name(self) -> str:
        """The word for it."""
        return self.law.name

    @property
    def kernel(self) -> str:
        """The kernel that takes the time."""
        return "multinomial.em_step"

    @property
    def settings(self) -> dict[str, Any]:
        """The options of the family."""
        return {"m": self.m, "p": list(self.p) or None}

    @property
    def unit(self) -> float:
        """Weights count as they are: imagined rows are counted beside them."""
        return 1.0

    @cached_property
    def constant(self) -> float:
        """What no parameter changes, on average over the rows.

        Spec: CM-LL
        """
        data = self.passes.rows.data
        terms: list[float] = []
        for i, row in enumerate(data.rows()):
            weight = 1.0 if data.weights is None else data.weights[i]
            if weight:
                counts = list(row.values() if isinstance(row, dict) else row)
                terms.append(weight * self.law.left_out(counts))
        return math.fsum(terms) / self._everybody.counts[0]

    @cached_property
    def prior(self) -> Vector:
        """The means of imagined rows.

        Spec: CM-MU
        """
        whole = self._everybody
        return self.p or tuple(x / whole.counts[0] for x in whole.sums)

    def point(self, parameters: MeanParameters) -> Pair:
        """Take logarithms; the prior is the likelihood of the imagined rows.

        Its terms err by a few u each, their sum by u for each of them.

        Spec: CM-LL, CM-PRIOR
        """
        terms = terms_of(parameters, self.law)
        if not self.m:
            return Point(parameters, terms, 0.0)
        logs: list[float] = []
        for means, slopes in zip(
            parameters.means, blocks(terms.slopes, len(self.prior)), strict=True
        ):
            logs += [p * s for p, s in zip(self.prior, slopes, strict=True) if p]
            logs += map(self.law.base, means)
        if -math.inf in logs:
            return Point(parameters, terms, -math.inf)
        sizes = math.fsum(map(abs, logs))
        return Point(
            parameters, terms, self.m * math.fsum(logs), ROUND * (len(logs) + 8) * self.m * sizes
        )

    def moments(self, q: Labels | Doubles, k: int) -> Tallies:
        """Add up the rows for given labels or responsibilities."""
        return self.passes.moments(q, k)

    def following(
        self,
        moments: Tallies,
        before: MeanParameters | None,  # noqa: ARG002
    ) -> Following[MeanParameters, Terms]:
        """Make the M-step: shares of components, and the mean of every column.

        Spec: EM-MSTEP, MMIX-PI, CM-MU
        """
        check_sizes(moments)
        return Following(self.point(self._estimated(moments, self.m, self.prior)))

    def started(self, moments: Tallies, *, smooth: bool) -> MeanParameters:
        """The M-step of a start; if smooth, no column that counts begins with a mean of zero.

        Spec: EM-INIT
        """
        check_sizes(moments)
        # With one imagined row like all rows together: EM would keep every zero.
        return self._like(moments) if smooth else self._estimated(moments, self.m, self.prior)

    def sizes(self, moments: Tallies) -> tuple[float, ...]:
        """The weight of each component.

        Spec: MMIX-PI
        """
        return tuple(moments.counts)

    def around(self, rows: Sequence[Sequence[float]]) -> MeanParameters:
        """Equal components, each like one row and one imagined row like all rows together.

        Spec: EM-INIT
        """
        k = len(rows)
        ones, flat = array("d", [1.0] * k), array("d", (x for row in rows for x in row))
        return MeanParameters((1.0 / k,) * k, self._like(Tallies(ones, flat)).means)

    def blended(self, old: MeanParameters, new: MeanParameters, share: float) -> MeanParameters:
        """Parameters on the way from old to new ones.

        Spec: EM-GEM
        """
        return MeanParameters(
            between(old.weights, new.weights, share),
            tuple(between(a, b, share) for a, b in zip(old.means, new.means, strict=True)),
        )

    def without(self, parameters: MeanParameters, component: int) -> MeanParameters:
        """The parameters of the other components.

        Spec: GMM-COLLAPSE
        """
        kept = [k for k in range(len(parameters.weights)) if k != component]
        return MeanParameters(
            component_weights([parameters.weights[k] for k in kept]),
            tuple(parameters.means[k] for k in kept),
        )

    def replaced(
        self, parameters: MeanParameters, component: int, row: Sequence[float]
    ) -> MeanParameters:
        """The parameters with one component anew, like a row and one imagined row.

        Spec: GMM-COLLAPSE
        """
        k = len(parameters.weights)
        others = math.fsum(w for i, w in enumerate(parameters.weights) if i != component)
        fresh = self.around([row]).means[0]
        return MeanParameters(
            tuple(
                1.0 / k if i == component else w / others * (k - 1) / k
                for i, w in enumerate(parameters.weights)
            ),
            tuple(fresh if i == component else old for i, old in enumerate(parameters.means)),
        )

    def content(self, parameters: MeanParameters) -> dict[str, Any]:
        """Parameters as plain values."""
        return {
            "weights": list(parameters.weights),
            "means": [list(row) for row in parameters.means],
        }

    def read(self, content: Any) -> MeanParameters:
        """Parameters from plain values, or given as such, checked.

        Spec: EM-INIT
        """
        if isinstance(content, MeanParameters):
            parameters = content
        else:
            with readable("weights and means"):
                parameters = MeanParameters(
                    tuple(map(float, content["weights"])),
                    tuple(tuple(map(float, row)) for row in content["means"]),
                )
        check_means(parameters, self.passes.rows.data.d)
        return parameters

    def free_parameters(self, k: int) -> int:
        """How many numbers the mixture is free to choose.

        Spec: MS-BIC
        """
        return k - 1 + k * self.passes.rows.data.d

    def _estimated(self, tallies: Tallies, m: float, p: Sequence[float]) -> MeanParameters:
        """(T + m p) / (N + m) for every column.

        Spec: CM-MU
        """
        means = tuple(
            tuple(m_estimate(x, n, m, mean) for x, mean in zip(row, p, strict=True))
            for n, row in zip(tallies.counts, blocks(tallies.sums, len(p)), strict=True)
        )
        if not all(map(math.isfinite, (mu for row in means for mu in row))):
            raise NotFinite("a mean count is beyond the range of doubles; divide the counts")
        return MeanParameters(component_weights(tallies.counts), means)

    def _like(self, tallies: Tallies) -> MeanParameters:
        """Components like their counts and one imagined row like all rows together."""
        whole = self._estimated(self._everybody, self.m, self.prior).means[0]
        return self._estimated(tallies, self.m + 1.0, whole)

    @cached_property
    def _everybody(self) -> Tallies:
        return self.moments(array("i", bytes(4 * self.passes.rows.data.n)), 1)
