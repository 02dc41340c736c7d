"""Passes over the rows as the EM loop sees them: which kernel, around which points (chapter 30).

A family of densities is one of two kinds, Gaussian or linear in counts; everything that depends on
the kind and not on how parameters are estimated is here: the steps, the expected log-likelihood
that follows from the sums of a step, and how far rounding can reach.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from operator import mul
from typing import Any

from refclust.backends.protocol import Problem
from refclust.data.dataset import Dataset, Dense
from refclust.errors import BackendFailure, NotFinite
from refclust.fitting.rows import Rows
from refclust.kernels.blocks import blocks
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.gaussian import Gaussians, Moments, Spread
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.scatters import moved_part
from refclust.kernels.mixtures.shared import Doubles, EMStep, Posterior, Rule, floats
from refclust.kernels.mixtures.words import CountModel, WordLogs, WordStep
from refclust.kernels.points import Vector
from refclust.mixture.families.counts.parameters import (
    CountParameters,
    estimated,
    probability_buffer,
    terms_of,
)
from refclust.mixture.families.gaussian.ranges import (
    check_columns,
    in_units,
    total_weight,
    weight_unit,
)
from refclust.mixture.families.gaussian.recentre import beyond_range, centres_of, settled
from refclust.numbers.argmin import ROUND


@dataclass(frozen=True)
class GaussianPasses:
    """Passes over dense rows (or sparse ones, filled up) under normal densities."""

    rows: Rows
    k: int

    def step(self, densities: Gaussians, rule: Rule) -> EMStep[Moments]:
        """Share out the rows; sums are taken again around the new means if those are far away.

        Spec: GMM-ESTEP, GMM-RECENTRE
        """

        step = self.em_step(densities, rule, None)

        def again(points: CentreMatrix) -> Moments:
            return self.em_step(densities, rule, points).moments

        return replace(step, moments=settled(step.moments, again, self.resolution, first=True))

    def em_step(
        self, densities: Gaussians, rule: Rule, around: CentreMatrix | None
    ) -> EMStep[Moments]:
        """Share out the rows and add them up, around given points or the means of the densities.

        Spec: GMM-ESTEP, KER-EMSTEP
        """
        step: EMStep[Moments] = self._call("gaussian.em_step", densities, rule, around)
        return step

    def moments(self, q: Labels | Doubles, k: int, spread: Spread) -> Moments:
        """The sums for given labels or responsibilities, around the means that they give.

        Spec: GMM-NK, GMM-RECENTRE
        """

        def again(points: CentreMatrix) -> Moments:
            repeated: Moments = self._call("gaussian.moments", q, k, points, spread)
            return repeated

        around = CentreMatrix.of([self.mean] * k)
        rough: Moments = self._call("gaussian.moments", q, k, around, "diagonal")
        return settled(again(centres_of(rough)), again, self.resolution, first=False)

    def posterior(self, densities: Gaussians, *, full: bool) -> Posterior:
        """Labels and log p(x) of all rows; with ``full`` also log p(x, k).

        Spec: GMM-ESTEP
        """
        posterior: Posterior = self._call("gaussian.posterior", densities, full)
        return posterior

    def scatters(self, moments: Moments, prior: Sequence[float]) -> tuple[Vector, ...]:
        """The scatter of each component around its mean, with a floor on the diagonal.

        Spec: GMM-SIG, GMM-FLOOR
        """
        flat: Doubles = self._call("gaussian.scatters", moments, prior)
        return tuple(map(tuple, blocks(flat, len(flat) // len(moments.counts))))

    def whitening(self, spreads: Iterable[Iterable[float]], form: str) -> Doubles:
        """The matrices W of some covariances; zeros for one that is not positive definite.

        Spec: GAU-PDF
        """
        whitening: Doubles = self._call(
            "gaussian.whitening", array("d", chain.from_iterable(spreads)), form
        )
        return whitening

    def expected(self, moments: Moments, densities: Gaussians) -> float:
        """E_q[log p(X, Z)] at any densities, from the sums alone, up to the common constant.

        Spec: EM-EXPCDLL, GMM-EXPCDLL
        """
        counts, white = moments.counts, densities.whitening
        means, points = densities.means.rows(), moments.around.rows()
        squares = self._call("gaussian.traces", moments.seconds, white, densities.form)
        terms = [n * offset for n, offset in zip(counts, densities.offsets, strict=True) if n]
        if means != points:
            # |W (x - m)|^2 summed over rows has 2 Wb.Wf + n |Wb|^2 beside |W (x - a)|^2, where
            # b = a - m is the way from the means to the points of the sums, f the sum of x - a.
            firsts, parts = blocks(moments.firsts, self.d), blocks(white, len(white) // len(means))
            for n, point, mean, first, part in zip(
                counts, points, means, firsts, parts, strict=True
            ):
                b = _whitened(part, [a - m for a, m in zip(point, mean, strict=True)])
                f = _whitened(part, first)
                ways = (x * (2.0 * y + n * x) for x, y in zip(b, f, strict=True))
                terms.append(-0.5 * math.fsum(ways))
        return math.fsum((*terms, *(-0.5 * square for square in squares)))

    def rounding(self, moments: Moments, densities: Gaussians, expected: float) -> float:  # noqa: ARG002
        """How far J, F or Q at these densities can be from their exact values.

        By Minkowski's inequality the sum over rows of q a_i^2, where a_i is the sum of
        |W_ij| |x_j - m_j|, is at most the square of the sum of |W_ij| times the root of the second
        moment of column j. So the sizes S of all terms together are known without the rows, and by
        KER-POSTERIOR and KER-EMSTEP every sum over n rows is within (n + 2 d + 2 K + 32) u S. A
        mean is rounded by u |m_j|, which with a large offset costs the bound N |W u m|^2.

        Spec: EM-CONV
        """
        counts, k, size = moments.counts, densities.means.k, len(densities.whitening)
        sizes = [
            n * (abs(offset) + 1.0)
            for n, offset in zip(counts, densities.offsets, strict=True)
            if n
        ]
        moved: list[float] = []
        for n, point, mean, first, second, white in zip(
            counts,
            moments.around.rows(),
            densities.means.rows(),
            blocks(moments.firsts, self.d),
            moments.squares(),
            blocks(densities.whitening, size // k),
            strict=True,
        ):
            # The second moment of a column around the mean: s + b (2 f + n b), b the way there.
            roots = [
                math.sqrt(max(s + (a - m) * (2.0 * f + n * (a - m)), 0.0))
                for s, f, a, m in zip(second, first, point, mean, strict=True)
            ]
            absolute = list(map(abs, white))
            sizes.extend(x * x for x in _whitened(absolute, roots))
            moved.extend(n * x * x for x in _whitened(absolute, [ROUND * abs(m) for m in mean]))
        terms = self.n + 2 * self.d + 2 * k + 32
        return terms * ROUND * math.fsum(sizes) + math.fsum(moved)

    @cached_property
    def n(self) -> int:
        """The number of rows."""
        return self.rows.data.n

    @cached_property
    def d(self) -> int:
        """The number of columns."""
        return self.rows.data.d

    @cached_property
    def unit(self) -> float:
        """The weight that counts as one in every sum and objective of the passes.

        Spec: GMM-RANGE
        """
        return weight_unit(self.rows.data)

    @cached_property
    def weight(self) -> float:
        """The weight of all rows together, in units."""
        return total_weight(self._seen.data)

    @cached_property
    def _seen(self) -> Rows:
        """The rows as kernels see them, weights in units."""
        return replace(self.rows, data=in_units(self.rows.data, self.unit))

    def check_columns(self, *, spherical: bool) -> None:
        """Refuse columns whose squares overflow or vanish.

        Spec: GMM-RANGE
        """
        check_columns(self._seen.data, self.variances, spherical=spherical)

    @cached_property
    def mean(self) -> tuple[float, ...]:
        """The weighted mean of all rows.

        Spec: GAU-MLEMU
        """
        return self._facts[0]

    @cached_property
    def variances(self) -> tuple[float, ...]:
        """The weighted variance of every column, divided by the whole weight.

        Spec: GAU-MLESIG, GMM-FLOOR
        """
        return self._facts[1]

    @cached_property
    def resolution(self) -> tuple[float, ...]:
        """Below these deviations the differences within a column are nothing but rounding.

        Spec: GMM-COLLAPSE
        """
        return tuple(
            4.0 * ROUND * (abs(mean) + math.sqrt(variance))
            for mean, variance in zip(self.mean, self.variances, strict=True)
        )

    @cached_property
    def _facts(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        try:
            return self._mean_and_variances()
        except NotFinite:
            # All columns are in doubt: the one that is to blame is named, if it is a column.
            data = self._seen.data
            check_columns(data, (math.inf,) * data.d, spherical=True)
            raise

    def _mean_and_variances(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        data = self._seen.data
        everybody = array("i", bytes(4 * data.n))
        # A row of weight 0 may be anywhere, even so far away that differences overflow.
        first = 0 if data.weights is None else next(i for i, w in enumerate(data.weights) if w)
        around = CentreMatrix.of([self.rows.row(first)])
        for _ in range(2):  # the second time around the mean, so that nothing cancels
            moments: Moments = self._call("gaussian.moments", everybody, 1, around, "diagonal")
            weight = moments.counts[0]
            mean = tuple(
                a + first / weight for a, first in zip(around[0], moments.firsts, strict=True)
            )
            if not all(map(math.isfinite, (*mean, *moments.seconds))):
                raise beyond_range()
            around = CentreMatrix.of([mean])
        sums = zip(moments.seconds, moments.firsts, strict=True)
        return mean, tuple(
            max(second - moved_part(first, first, weight), 0.0) / weight for second, first in sums
        )

    @cached_property
    def _problem(self) -> Problem:
        return self._seen.problem(self.k)

    def _call(self, kernel: str, *args: Any) -> Any:
        return self._called(kernel, self._seen.data, *args)

    def _called(self, kernel: str, data: Dataset, *args: Any) -> Any:
        try:
            return self._seen.session.run(kernel, self._problem, data, *args)
        except (OverflowError, ValueError, BackendFailure) as error:
            # Exact sums beyond the range are an error of Python, in whichever backend they are
            # taken; elsewhere they are infinite, which those who look at the sums refuse.
            cause = error.__cause__ if isinstance(error, BackendFailure) else error
            if isinstance(cause, OverflowError | ValueError) and "fsum" in str(cause):
                raise beyond_range() from None
            raise


@dataclass(frozen=True)
class CountPasses:
    """Passes over rows of counts under densities that are linear in them."""

    rows: Rows
    k: int

    def step(self, densities: Terms, rule: Rule) -> EMStep[Tallies]:
        """Share out the rows and add up their counts.

        Spec: MMIX-ESTEP
        """
        step: EMStep[Tallies] = self._call("multinomial.em_step", densities, rule)
        return step

    def moments(self, q: Labels | Doubles, k: int) -> Tallies:
        """The sums for given labels or responsibilities.

        Spec: MMIX-THETA, NB-COUNT
        """
        tallies: Tallies = self._call("multinomial.moments", q, k)
        return tallies

    def posterior(self, densities: Terms, *, full: bool) -> Posterior:
        """Labels and log p(x) of all rows; with ``full`` also log p(x, k).

        Spec: MMIX-ESTEP
        """
        posterior: Posterior = self._call("multinomial.posterior", densities, full)
        return posterior

    def expected(self, moments: Tallies, densities: Terms) -> float:
        """E_q[log p(X, Z)] at any densities, from the sums alone.

        Spec: EM-EXPCDLL, MMIX-Q
        """
        d = densities.d
        for k, columns in enumerate(densities.certain or ()):
            if any(moments.sums[k * d + j] < moments.counts[k] for j in columns):
                return -math.inf
        terms = [
            n * offset for n, offset in zip(moments.counts, densities.offsets, strict=True) if n
        ]
        pairs = zip(floats(moments.sums), floats(densities.slopes), strict=True)
        terms += [x * slope for x, slope in pairs if x]
        return -math.inf if -math.inf in terms else math.fsum(terms)

    def rounding(self, moments: Tallies, densities: Terms, expected: float) -> float:
        """How far J, F or Q at these densities can be from their exact values.

        With S the sum of N |offset| + N and of |T_j slope_j|, and m the length of the longest row,
        KER-POSTERIOR and KER-EMSTEP put every sum over n rows within (n + m + 2 K + 32) u S.
        Where no slope is positive and no count negative, the second sum is what ``expected``,
        E_q[log p(X, Z)], has beside the offsets.

        Spec: EM-CONV
        """
        known = [
            (n, offset)
            for n, offset in zip(moments.counts, densities.offsets, strict=True)
            if n and math.isfinite(offset)
        ]
        own = math.fsum(n * (abs(offset) + 1.0) for n, offset in known)
        if densities.falling:
            words = abs(expected - math.fsum(n * offset for n, offset in known))
        else:
            pairs = zip(floats(moments.sums), floats(densities.slopes), strict=True)
            words = math.fsum(abs(x * slope) for x, slope in pairs if x and math.isfinite(slope))
        terms = self.rows.data.n + self.longest + 2 * densities.k + 32
        # Estimated probabilities are off by at most 5 u each, so those of a component need not add
        # up to exactly one: what would be a maximum is short of it by as much for every word.
        return terms * ROUND * (own + words) + 8 * ROUND * self.tokens

    def terms(self, parameters: CountParameters, kind: CountModel) -> Terms:
        """The densities of parameters, ready for a pass.

        Spec: NB-LIK, BMIX-LL
        """
        logs: WordLogs = self._call("multinomial.logs", probability_buffer(parameters), kind)
        return terms_of(parameters, logs, kind)

    def estimated(
        self, tallies: Tallies, m: float, p: Sequence[float], kind: CountModel
    ) -> WordStep:
        """The probabilities of words of each component, with m imagined observations.

        Spec: MMIX-THETA, BMIX-THETA
        """
        step: WordStep = self._call("multinomial.m_step", tallies, m, p, kind)
        return step

    def parameters(
        self, tallies: Tallies, m: float, p: Sequence[float], kind: CountModel
    ) -> CountParameters:
        """The parameters that maximise the likelihood of weighted counts, with m imagined ones.

        Spec: MMIX-PI, MMIX-THETA, BMIX-THETA
        """
        return estimated(tallies, self.estimated(tallies, m, p, kind))

    @cached_property
    def tokens(self) -> float:
        """The weighted number of all words."""
        everybody = array("i", bytes(4 * self.rows.data.n))
        return math.fsum(self.moments(everybody, 1).sums)

    @cached_property
    def longest(self) -> int:
        """The largest number of counts stored in a row."""
        matrix = self.rows.data.matrix
        if isinstance(matrix, Dense):
            return matrix.d
        starts = matrix.starts.tolist()
        return max(end - begin for begin, end in pairwise(starts))

    def _call(self, kernel: str, *args: Any) -> Any:
        return self.rows.call(kernel, *args, k=self.k)


def _whitened(white: Sequence[float], x: Sequence[float]) -> list[float]:
    """W x for a triangular matrix, a diagonal or a number W."""
    d = len(x)
    if len(white) == d * d and d > 1:
        # Built-in sum on floats: its error is inside the bound of ``rounding``.
        return [sum(map(mul, white[i * d : i * d + i + 1], x)) for i in range(d)]
    return list(map(mul, list(white) * (d if len(white) < d else 1), x))
