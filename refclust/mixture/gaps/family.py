"""Gaussian mixtures on rows with missing cells: the family (chapter 36).

All that differs from whole rows: densities know the marginal of every pattern, sums are expected
ones, and what the likelihood leaves out depends on how many cells a row has. The M-step takes
nothing but scatter matrices, so every covariance model does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from refclust.data.dataset import Dataset
from refclust.mixture.families.family import Collapsed
from refclust.mixture.families.gaussian.parameters import (
    LOG_TWO_PI,
    GaussianParameters,
    constant_of,
)
from refclust.mixture.families.gaussian.steps import COMMON, GaussianFamily, Pair
from refclust.mixture.gaps.passes import GappedPasses
from refclust.mixture.gaps.patterns import seen_shares
from refclust.mixture.options import Missing


@dataclass(frozen=True)
class GappedFamily(GaussianFamily):
    """Gaussian mixtures on one data set, some cells of which may be missing."""

    passes: GappedPasses
    missing: Missing = "integrate"

    @cached_property
    def constant(self) -> float:
        """What the densities leave out for each unit of weight: that of the cells that are seen.

        Spec: MISS-LL, GMM-SCALE
        """
        shares = seen_shares(self.passes.gapped)
        powers = math.fsum(s * e for s, e in zip(shares, self.exponents, strict=True))
        return -0.5 * math.fsum(shares) * LOG_TWO_PI - powers * math.log(2.0)

    def point(self, parameters: GaussianParameters) -> Pair:
        """Whiten the covariances, of every pattern of missing cells as well.

        Spec: MISS-PDF, GMM-COLLAPSE
        """
        whole = super().point(parameters)
        try:
            densities = self.passes.conditioned(parameters, whole.densities, self.exponents)
        except Collapsed as collapsed:
            who = None if self.model in COMMON else collapsed.component
            raise Collapsed(who, collapsed.why) from None
        return replace(whole, densities=densities)


def left_out(rows: Dataset, exponents: Sequence[int]) -> list[float]:
    """What a pass leaves out of the log density of every row, for the cells that it has.

    Spec: MISS-LL, GMM-SCALE

    >>> from refclust.data.accepting.door import dataset
    >>> left_out(dataset([[None, 1], [1, 2]], gaps=True), [0, 0]) == [-LOG_TWO_PI / 2, -LOG_TWO_PI]
    True
    """
    seen = [[e for x, e in zip(row, exponents, strict=True) if x == x] for row in rows.rows()]
    return [constant_of(own) for own in seen]
