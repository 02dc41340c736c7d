"""Gaussian mixtures by variational Bayes: a bound on the evidence (VB-GAUSS, chapter 34).

Shares have a Dirichlet prior, means and precisions a normal-Wishart one, of as many Wishart factors
as the covariance model asks for.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from refclust.errors import BadOption, NotFinite
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians, Moments, Spread
from refclust.kernels.mixtures.scatters import central_scatters
from refclust.kernels.mixtures.shared import Doubles, floats
from refclust.kernels.points import Vector
from refclust.mixture.bayes.beliefs import GaussianBeliefs
from refclust.mixture.bayes.counts import dirichlet_size
from refclust.mixture.bayes.family import Variational, check_positive
from refclust.mixture.bayes.precisions import Precision, precision, squares, trace
from refclust.mixture.families.family import Collapsed, Point
from refclust.mixture.families.gaussian.parameters import (
    GaussianParameters,
    whitening_diagonal,
)
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.options import is_number
from refclust.numbers.argmin import ROUND
from refclust.numbers.linalg import Matrix
from refclust.numbers.special import (
    digamma,
    dirichlet_divergence,
    expected_log_precision,
    log_wishart,
)

Pair = Point[GaussianBeliefs, Gaussians]


@dataclass(frozen=True)
class VariationalGaussian(Variational[GaussianBeliefs, Gaussians, Moments]):
    """Beliefs about Gaussian mixtures on one data set, with a prior of the data's layout scale.

    ``beta`` says how much the prior mean, that of the data, counts; ``nu`` the prior covariance,
    that of the data: more than the columns of a Wishart factor less one.
    """

    family: GaussianFamily
    beta: float = 1.0
    nu: float | None = None

    def __post_init__(self) -> None:
        """Refuse priors that are no distributions."""
        check_positive(alpha=self.alpha, beta=self.beta)
        least = self._layout.size - 1
        if self.nu is not None and not (is_number(self.nu) and self.nu > least):
            columns = ", columns less one," if self._layout.form == "full" else ""
            raise BadOption(f"nu is {self.nu!r}; a number above {least}{columns} is due")
        if self.unit != 1.0:
            raise NotFinite(
                f"the weights add up to {self.family.passes.weight * self.unit:.3g}; beside those "
                "of a prior 8.7e-19 to 1.2e+18 is allowed (2**-60 to 2**60)"
            )

    @property
    def _d(self) -> int:
        return self.family.passes.rows.data.d

    @property
    def settings(self) -> dict[str, Any]:
        """The covariance model, and the prior."""
        return {
            "covariance": self.family.model,
            "alpha": self.alpha,
            "beta": self.beta,
            "nu": self._nu,
        }

    @property
    def _blank(self) -> GaussianBeliefs:
        point = (0.0,) * self._d
        return GaussianBeliefs((1.0,), (1.0,), (1.0,), (point,), (self._scale,), self.family.model)

    @property
    def _nu(self) -> float:
        return float(self._layout.size) if self.nu is None else self.nu

    @cached_property
    def _layout(self) -> Precision:
        return precision(self.family.model, self._d)

    @cached_property
    def _scale(self) -> Vector:
        """The inverse of the prior's scale matrix: the covariance of the data."""
        return self.family.whole

    @cached_property
    def _prior_logs(self) -> list[float]:
        """log |V| of the factors of the prior."""
        whole = GaussianParameters((1.0,), ((0.0,) * self._d,), (self._scale,), self.family.form)
        white = self.family.passes.whitening(whole.spreads, whole.form)
        return self._log_determinants(whole, white, 0)

    def point(self, parameters: GaussianBeliefs) -> Pair:
        """Expected logarithms for a pass, and minus the divergence from the prior.

        Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON, MS-VIE, MS-VIELBO
        """
        d, k, layout = self._d, len(parameters.alpha), self._layout
        passes, expected = self.family.passes, parameters.expected()
        white = passes.whitening(expected.spreads, expected.form)
        flat, length = floats(white), len(white) // k
        whole = digamma(math.fsum(parameters.alpha))
        offsets = array("d")
        divergence = [dirichlet_divergence(parameters.alpha, (self.alpha,) * k)]
        for c, (alpha, beta, nu) in enumerate(
            zip(parameters.alpha, parameters.beta, parameters.nu, strict=True)
        ):
            # log |V| of each factor: that of the expected precision, less its size times log nu.
            logs = [
                log - layout.size * math.log(nu)
                for log in self._log_determinants(expected, white, c)
            ]
            log_precisions = [expected_log_precision(log, nu, layout.size) for log in logs]
            halves = (0.5 * layout.times * log for log in log_precisions)
            offsets.append(math.fsum((digamma(alpha), -whole, *halves, -0.5 * d / beta)))
            factors = layout.factors(flat[c * length : (c + 1) * length])
            away = [a - b for a, b in zip(parameters.means[c], passes.mean, strict=True)]
            divergence.append(self._mean_divergence(beta, factors, away))
            if c == 0 or not layout.common:
                divergence += self._precision_divergences(nu, logs, log_precisions, factors)
        densities = Gaussians(offsets, CentreMatrix.of(parameters.means), white, expected.form)
        rounding = 2**8 * ROUND * math.fsum((*map(abs, divergence), *self._sizes(parameters)))
        return Point(parameters, densities, -math.fsum(divergence), rounding)

    def _sizes(self, parameters: GaussianBeliefs) -> list[float]:
        """How large the terms are whose errors count: where a prior is strong they cancel.

        Spec: EM-CONV
        """
        layout, k = self._layout, len(parameters.alpha)
        sizes = [dirichlet_size(parameters.alpha, (self.alpha,) * k)]
        for nu in parameters.nu[:1] if layout.common else parameters.nu:
            halves = [0.5 * (nu - i) for i in range(layout.size)] * layout.count
            sizes += [max(1.0, abs(math.lgamma(x))) for x in halves]
            sizes += [abs(nu - self._nu) * max(1.0, abs(digamma(x)), 1.0 / x) for x in halves]
            sizes.append(nu * len(halves))
        return sizes

    def maximised(self, moments: Moments, before: GaussianBeliefs | None) -> GaussianBeliefs:  # noqa: ARG002
        """Update the beliefs: the prior, and what the rows of each component add to it.

        Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON, MS-VIM
        """
        d, prior, k = self._d, self.family.passes.mean, len(moments.counts)
        firsts = floats(moments.firsts)
        means, added = [], []
        filled = replace(moments, counts=array("d", (n or 1.0 for n in moments.counts)))
        for c, (n, scatter) in enumerate(
            zip(moments.counts, central_scatters(filled), strict=True)
        ):
            away = [
                (a - m) + (f / n if n else 0.0)
                for a, m, f in zip(
                    moments.around[c], prior, firsts[c * d : (c + 1) * d], strict=True
                )
            ]  # the mean of the component, seen from the prior mean
            means.append(
                tuple(m + n * x / (self.beta + n) for m, x in zip(prior, away, strict=True))
            )
            pull = self._layout.square(away, self.beta * n / (self.beta + n))
            added += [self._layout.scatter(scatter) if n else (0.0,) * len(pull), pull]
        if self._layout.common:
            nu = (self._after(math.fsum(moments.counts)),) * k
            scales = (reduce(_plus, added, self._scale),) * k
        else:
            nu = tuple(map(self._after, moments.counts))
            pairs = zip(added[::2], added[1::2], strict=True)
            scales = tuple(reduce(_plus, pair, self._scale) for pair in pairs)
        return GaussianBeliefs(
            tuple(self.alpha + n for n in moments.counts),
            tuple(self.beta + n for n in moments.counts),
            nu,
            tuple(means),
            scales,
            self.family.model,
        )

    def _after(self, n: float) -> float:
        """The degrees of freedom after rows of weight n; each counts in all places of a factor."""
        return self._nu + self._layout.times * n

    def around(self, rows: Sequence[Sequence[float]]) -> GaussianBeliefs:
        """Beliefs as if an equal share of the rows, as wide as the data, were around each row.

        Spec: EM-INIT
        """
        k, d = len(rows), self._d
        share = self.family.passes.weight / k
        wide = self._scale * d if self.family.form == "spherical" else self._scale
        seconds = array("d", (share * x for _ in rows for x in wide))
        zeros, counts = array("d", bytes(8 * k * d)), array("d", [share] * k)
        spread: Spread = "full" if self.family.form == "full" else "diagonal"
        return self.maximised(Moments(counts, zeros, seconds, CentreMatrix.of(rows), spread), None)

    def replaced(
        self, parameters: GaussianBeliefs, component: int, row: Sequence[float]
    ) -> GaussianBeliefs:
        """The beliefs with those about one component begun anew around a row.

        What all components have in common stays as it is.

        Spec: GMM-COLLAPSE
        """
        changed = super().replaced(parameters, component, row)
        if not self._layout.common:
            return changed
        return replace(changed, nu=parameters.nu, scales=parameters.scales)

    def _mean_divergence(self, beta: float, factors: list[Matrix], away: list[float]) -> float:
        """E[KL(q(mean | precision) || prior)]; the expected precision is W'W.

        Spec: VB-GAUSS
        """
        beta0, layout = self.beta, self._layout
        square = math.fsum(
            x
            for f, white in enumerate(factors)
            for part in layout.columns(away, f)
            for x in squares(white, part)
        )
        return 0.5 * (self._d * (beta0 / beta - 1.0 + math.log(beta / beta0)) + beta0 * square)

    def _precision_divergences(
        self, nu: float, logs: list[float], log_precisions: list[float], factors: list[Matrix]
    ) -> list[float]:
        """The terms of KL(q(precision) || prior), factor by factor; W'W is nu V.

        Spec: VB-GAUSS
        """
        size, nu0 = self._layout.size, self._nu
        terms = []
        for log, log0, log_precision, scale, white in zip(
            logs,
            self._prior_logs,
            log_precisions,
            self._layout.factors(self._scale),
            factors,
            strict=True,
        ):
            terms += [
                log_wishart(log, nu, size),
                -log_wishart(log0, nu0, size),
                0.5 * (nu - nu0) * log_precision,
                -0.5 * nu * size,
                0.5 * trace(scale, white),
            ]
        return terms

    def _log_determinants(
        self, parameters: GaussianParameters, white: Doubles, c: int
    ) -> list[float]:
        """log |W'W| of the factors of a component, in the units of the powers of two.

        A factor in several places has the mean of them; the constant takes the powers away again.
        """
        layout = self._layout
        diagonal = whitening_diagonal(parameters, white, c)
        if not all(diagonal):
            raise Collapsed(None if layout.common else c, "has lost its spread")
        logs = list(map(math.log, map(math.ldexp, diagonal, self.family.exponents)))
        length = layout.size * layout.times
        return [
            2.0 * math.fsum(logs[begin : begin + length]) / layout.times
            for begin in range(0, self._d, length)
        ]


def _plus(sums: Vector, more: Sequence[float]) -> Vector:
    return tuple(a + b for a, b in zip(sums, more, strict=True))
