"""Passes over rows with missing cells: the kernels for whole rows, pattern by pattern (chapter 36).

What goes through the kernels has no gaps: the cells that the rows of a pattern have in common. The
rows themselves are also kept filled up, for starts and for whoever only asks how many columns there
are.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from refclust.data.dataset import Dataset
from refclust.fitting.rows import Rows
from refclust.kernels.blocks import blocks
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.shared import (
    EMStep,
    Posterior,
    Rule,
    floats,
    passed,
    total,
)
from refclust.kernels.mixtures.shared import posterior as posterior_of
from refclust.kernels.points import Vector
from refclust.mixture.families.family import Collapsed
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.gaussian.ranges import in_units
from refclust.mixture.families.gaussian.recentre import beyond_range
from refclust.mixture.gaps.densities import GappedGaussians, Part, part_of, stiffness
from refclust.mixture.gaps.lifting import ExpectedMoments, Lifted, lifted, together
from refclust.mixture.gaps.patterns import Pattern, column_of, filled, patterns_of
from refclust.mixture.passes import GaussianPasses
from refclust.numbers.argmin import ROUND


@dataclass(frozen=True)
class GappedPasses(GaussianPasses):
    """Passes over dense rows with missing cells; ``rows`` are filled up, ``gapped`` are not."""

    gapped: Dataset
    columns: tuple[Vector, Vector] | None = None  # mean and variance of each, if known

    @classmethod
    def on(cls, rows: Rows, k: int) -> GappedPasses:
        """The passes over rows; for starts, cells are filled with the means of their columns.

        Spec: MISS-INIT
        """
        columns = _facts_of(rows)
        return cls(replace(rows, data=filled(rows.data, columns[0])), k, rows.data, columns)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The rows by which cells they lack, weights in units."""
        return patterns_of(in_units(self.gapped, self.unit))

    @cached_property
    def _facts(self) -> tuple[Vector, Vector]:
        return self.columns or _facts_of(replace(self.rows, data=self.gapped))

    def conditioned(
        self, parameters: GaussianParameters, whole: Gaussians, exponents: Sequence[int]
    ) -> GappedGaussians:
        """Densities with the marginal of every pattern, and what that tells of missing cells.

        Spec: MISS-PDF, MISS-FILL, MISS-COV
        """
        k, d = whole.k, self.d
        logs = [math.log(w) if w else -math.inf for w in parameters.weights]
        own = blocks(whole.whitening, len(whole.whitening) // k)
        full = whole.form == "full"
        stiff, parts = 1.0, []
        turned = self._turned(parameters) if full else iter(())
        for pattern in self.patterns:
            white = own
            if full:
                white = list(islice(turned, k)) if pattern.missing else own
                order = (*pattern.seen, *pattern.missing)
                for c, (block, spread) in enumerate(zip(white, parameters.spreads, strict=True)):
                    if not all(block[:: d + 1]):
                        raise Collapsed(c, "has lost its spread")
                    roots = [math.sqrt(spread[j * d + j]) for j in order]
                    stiff = max(stiff, stiffness(block, roots))
            parts.append(part_of(pattern, whole, logs, white, exponents))
        return GappedGaussians(
            whole.offsets, whole.means, whole.whitening, whole.form, tuple(parts), stiff
        )

    def _turned(self, parameters: GaussianParameters) -> Iterator[list[float]]:
        """The whitening of every component with the columns in the order of each pattern.

        One call for all patterns and components, and one buffer: there may be many.
        """
        d = self.d
        orders = [(*each.seen, *each.missing) for each in self.patterns if each.missing]
        if not orders:
            return iter(())
        spreads = (
            (spread[i * d + j] for i in order for j in order)
            for order in orders
            for spread in parameters.spreads
        )
        flat = memoryview(self.whitening(spreads, "full"))
        size = d * d
        return (floats(flat[place : place + size]) for place in range(0, len(flat), size))

    def em_step(
        self, densities: Gaussians, rule: Rule, around: CentreMatrix | None
    ) -> EMStep[Moments]:
        """Share out the rows of every pattern, and expect what is missing.

        Spec: MISS-ESTEP, MISS-MU, MISS-SIG
        """
        assert isinstance(densities, GappedGaussians)
        points = densities.means if around is None else around
        steps: list[EMStep[Any]] = []
        sums: list[Lifted] = []
        for pattern, part in zip(self.patterns, densities.parts, strict=True):
            if pattern.idle:
                continue
            step = self._pattern_step(pattern, part, _rule_for(pattern, rule), around)
            steps.append(step)
            try:
                sums.append(
                    lifted(
                        step.moments,
                        pattern,
                        part,
                        densities.means.rows(),
                        points.rows(),
                        densities.spread,
                    )
                )
            except (OverflowError, ValueError):
                raise beyond_range() from None
        return EMStep(
            total([step.log_likelihood for step in steps]),
            total([step.bound for step in steps]),
            total([step.entropy for step in steps]),
            together(sums, points, densities.spread),
        )

    def _pattern_step(
        self, pattern: Pattern, part: Part, rule: Rule, around: CentreMatrix | None
    ) -> EMStep[Any]:
        if part.marginal is None or pattern.data is None:
            # Nothing is seen: the shares of the components are all that is known of a row.
            everybody = [tuple(floats(part.offsets))] * len(pattern.rows)
            made = passed(everybody, pattern.weights, rule)
            counts = [math.fsum(column) for column in made.columns]
            return EMStep(made.log_likelihood, made.bound, made.entropy, counts)
        own = None
        if around is not None:
            own = CentreMatrix.of([[point[j] for j in pattern.seen] for point in around.rows()])
        step: EMStep[Moments] = self._called(
            "gaussian.em_step", pattern.data, part.marginal, rule, own
        )
        return step

    def posterior(self, densities: Gaussians, *, full: bool) -> Posterior:
        """Labels and log p of the seen cells of all rows; with ``full`` also of each component.

        Spec: MISS-ESTEP
        """
        assert isinstance(densities, GappedGaussians)
        n, k = self.n, densities.k
        labels, each = array("i", bytes(4 * n)), array("d", bytes(8 * n))
        joint = array("d", bytes(8 * n * k)) if full else None
        for pattern, part in zip(self.patterns, densities.parts, strict=True):
            if part.marginal is None or pattern.data is None:
                everybody = [tuple(floats(part.offsets))] * len(pattern.rows)
                posterior = posterior_of(everybody, full=full)
            else:
                posterior = self._called("gaussian.posterior", pattern.data, part.marginal, full)
            known = zip(
                pattern.rows, posterior.labels, floats(posterior.log_likelihoods), strict=True
            )
            for i, label, likelihood in known:
                labels[i], each[i] = label, likelihood
            if joint is not None and posterior.joint is not None:
                for i, row in zip(pattern.rows, blocks(posterior.joint, k), strict=True):
                    joint[i * k : (i + 1) * k] = array("d", row)
        return Posterior(labels, each, joint)

    def expected(self, moments: Moments, densities: Gaussians) -> float:
        """E_q[log p(X, Z)] and the entropy of the missing cells, from the sums alone.

        Spec: MISS-BOUND
        """
        hidden = moments.hidden if isinstance(moments, ExpectedMoments) else 0.0
        return super().expected(moments, densities) + hidden

    def rounding(self, moments: Moments, densities: Gaussians, expected: float) -> float:
        """How far J, F or Q at these densities can be from their exact values.

        As for whole rows, with the sizes of the terms that expected moments were added up from,
        each of which was multiplied and added at most 4 d + 16 times more. Two things join: J is
        worked out by the marginals, Q by the whole covariances, and both are whitened within what
        KER-WHITEN allows, an error of ``_whitening_error`` of all squares and of 1 for each column;
        and the entropies that belong to the missing cells are rounded. That these cells are
        expected with rounded slopes and covariances costs nothing: F is a bound of J for any.

        Spec: EM-CONV, MISS-BOUND
        """
        if not isinstance(moments, ExpectedMoments):
            return super().rounding(moments, densities, expected)
        plain = Moments(moments.counts, moments.firsts, moments.sizes, moments.around, "diagonal")
        usual = super().rounding(plain, densities, expected)
        if not any(pattern.missing for pattern in self.patterns):
            return usual
        terms = self.n + 2 * self.d + 2 * densities.k + 32
        sizes = usual / (terms * ROUND)  # those of all terms, and a little more
        columns = math.fsum(moments.counts) * self.d
        twice = 2.0 * self._whitening_error(densities) * (sizes + columns)
        more = (4 * self.d + 16) * ROUND * (sizes + columns + abs(moments.hidden))
        return usual + twice + more

    def _whitening_error(self, densities: Gaussians) -> float:
        """How far W C W' can be from the identity, by the bound of KER-WHITEN, in norm."""
        d = self.d
        if densities.form != "full":
            return 16 * ROUND
        assert isinstance(densities, GappedGaussians)
        return 24 * (d + 2) * ROUND * d * densities.stiffness


def _rule_for(pattern: Pattern, rule: Rule) -> Rule:
    """The rule with the random numbers of the rows of a pattern."""
    if rule.draws is None:
        return rule
    drawn = rule.draws.tolist()
    own = array("d")
    for i in pattern.rows:
        own.extend(drawn[i * rule.samples : (i + 1) * rule.samples])
    return replace(rule, draws=own)


def _facts_of(rows: Rows) -> tuple[Vector, Vector]:
    """Mean and variance of the seen cells of every column.

    Spec: MISS-INIT
    """
    means: list[float] = []
    variances: list[float] = []
    for j in range(rows.data.d):
        column = column_of(rows.data, j)
        passes = GaussianPasses(replace(rows, data=column), 1)
        means += passes.mean
        variances += passes.variances
        rows.session.release(column)
    return tuple(means), tuple(variances)
