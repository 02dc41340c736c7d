"""Gaussian mixtures by variational Bayes: a bound on the evidence (VB-GAUSS, chapter 34).

Shares have a Dirichlet prior, means and precisions a normal-Wishart one. The variational E-step is
a pass of the same kernel with expected logarithms in the place of logarithms, the M-step updates
the distributions; so the one EM loop runs it, with minus the divergence from the prior for a prior.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from refclust.errors import BadOption, NotFinite
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.scatters import central_scatters
from refclust.kernels.mixtures.shared import Doubles, plain
from refclust.kernels.points import Vector
from refclust.mixture.bayes.counts import dirichlet_size
from refclust.mixture.bayes.gaussian_beliefs import GaussianBeliefs
from refclust.mixture.families.family import Collapsed, Following, Point
from refclust.mixture.families.gaussian import GaussianFamily
from refclust.mixture.families.gaussian_parameters import (
    GaussianParameters,
    between,
    readable,
    whitening_diagonal,
)
from refclust.mixture.options import is_number
from refclust.mixture.passes import GaussianPasses
from refclust.numbers.argmin import ROUND
from refclust.numbers.reading import shown
from refclust.numbers.special import (
    digamma,
    dirichlet_divergence,
    expected_log_precision,
    log_wishart,
)

Pair = Point[GaussianBeliefs, Gaussians]


@dataclass(frozen=True)
class VariationalGaussian:
    """Beliefs about Gaussian mixtures on one data set, with a prior of the data's own scale.

    ``alpha`` is the prior weight of each share: small ones empty components that are not needed.
    ``beta`` says how much the prior mean, that of the data, counts; ``nu`` (at least d) the prior
    covariance, that of the data.
    """

    plain: GaussianFamily
    alpha: float
    beta: float = 1.0
    nu: float | None = None

    def __post_init__(self) -> None:
        """Refuse priors that are no distributions."""
        d = self._d
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not is_number(value) or value <= 0:
                raise BadOption(f"{name} is {shown(value)}; a number above 0 is needed")
        if self.nu is not None and not (is_number(self.nu) and self.nu > d - 1):
            raise BadOption(f"nu is {self.nu!r}; a number above {d - 1}, columns less one, is due")
        if self.unit != 1.0:
            raise NotFinite(
                f"the weights add up to {self.plain.passes.weight * self.unit:.3g}; beside those "
                "of a prior 8.7e-19 to 1.2e+18 is allowed (2**-60 to 2**60)"
            )

    @property
    def _d(self) -> int:
        return self.plain.passes.rows.data.d

    @property
    def name(self) -> str:
        """The word for it."""
        return "variational-gaussian"

    @property
    def kernel(self) -> str:
        """The kernel that takes the time."""
        return self.plain.kernel

    @property
    def settings(self) -> dict[str, Any]:
        """The prior."""
        return {"alpha": self.alpha, "beta": self.beta, "nu": self._nu}

    @property
    def unit(self) -> float:
        """Weights count as they are, beside those of the prior."""
        return self.plain.unit

    @property
    def constant(self) -> float:
        """What the densities leave out.

        Spec: GAU-PDF
        """
        return self.plain.constant

    @property
    def _nu(self) -> float:
        return float(self._d) if self.nu is None else self.nu

    @cached_property
    def _scale(self) -> Vector:
        """The inverse of the prior's scale matrix: the covariance of the data."""
        return self.plain.whole

    @cached_property
    def _log_scale(self) -> float:
        return self._log_determinants((self._scale,))[0]

    @property
    def passes(self) -> GaussianPasses:
        """The passes over its rows."""
        return self.plain.passes

    def point(self, parameters: GaussianBeliefs) -> Pair:
        """Expected logarithms for a pass, and minus the divergence from the prior.

        Spec: VB-GAUSS, MS-VIE, MS-VIELBO
        """
        d, k = self._d, len(parameters.alpha)
        passes, expected = self.plain.passes, parameters.expected()
        white = passes.whitening(expected.spreads, "full")
        whole = digamma(math.fsum(parameters.alpha))
        offsets, divergence = (
            array("d"),
            [dirichlet_divergence(parameters.alpha, (self.alpha,) * k)],
        )
        blocks = plain(white)
        for c, (alpha, beta, nu) in enumerate(
            zip(parameters.alpha, parameters.beta, parameters.nu, strict=True)
        ):
            diagonal = whitening_diagonal(expected, white, c)
            if not all(diagonal):
                raise Collapsed(c, "has lost its spread")
            # log |W| of the Wishart scale: that of the expected precision, less d log nu, in the
            # units of the powers of two, which the constant takes away again.
            scaled = map(math.ldexp, diagonal, self.plain.exponents)
            log_w = 2.0 * math.fsum(map(math.log, scaled)) - d * math.log(nu)
            log_precision = expected_log_precision(log_w, nu, d)
            offsets.append(
                math.fsum((digamma(alpha), -whole, 0.5 * log_precision, -0.5 * d / beta))
            )
            block = blocks[c * d * d : (c + 1) * d * d]
            away = [a - b for a, b in zip(parameters.means[c], passes.mean, strict=True)]
            divergence += self._divergences(beta, nu, log_w, log_precision, block, away)
        means = CentreMatrix.of(parameters.means)
        # Terms cancel where a prior is strong: what counts is how large they are, not their sum.
        sizes = [dirichlet_size(parameters.alpha, (self.alpha,) * k), *map(abs, divergence)]
        for nu in parameters.nu:
            halves = [0.5 * (nu - i) for i in range(d)]
            sizes += [max(1.0, abs(math.lgamma(x))) for x in halves]
            sizes += [abs(nu - self._nu) * max(1.0, abs(digamma(x)), 1.0 / x) for x in halves]
            sizes.append(nu * d)
        made = Gaussians(offsets, means, white, "full")
        rounding = 2**8 * ROUND * math.fsum(sizes)
        return Point(parameters, made, -math.fsum(divergence), rounding)

    def maximised(self, moments: Moments, before: GaussianBeliefs | None) -> GaussianBeliefs:  # noqa: ARG002
        """Update the beliefs: the prior, and what the rows of each component add to it.

        Spec: VB-GAUSS, MS-VIM
        """
        d, prior = self._d, self.plain.passes.mean
        firsts = plain(moments.firsts)
        alpha, beta, nu, means, scales = [], [], [], [], []
        filled = replace(moments, counts=array("d", (n or 1.0 for n in moments.counts)))
        for c, (n, scatter) in enumerate(
            zip(moments.counts, central_scatters(filled), strict=True)
        ):
            alpha.append(self.alpha + n)
            beta.append(self.beta + n)
            nu.append(self._nu + n)
            centre = moments.around[c]
            own = [
                (a - m) + (f / n if n else 0.0)
                for a, m, f in zip(centre, prior, firsts[c * d : (c + 1) * d], strict=True)
            ]  # the mean of the component, seen from the prior mean
            means.append(
                tuple(m + n * x / (self.beta + n) for m, x in zip(prior, own, strict=True))
            )
            pull = self.beta * n / (self.beta + n)
            scales.append(
                tuple(
                    base + (s if n else 0.0) + pull * own[i // d] * own[i % d]
                    for i, (base, s) in enumerate(zip(self._scale, scatter, strict=True))
                )
            )
        return GaussianBeliefs(tuple(alpha), tuple(beta), tuple(nu), tuple(means), tuple(scales))

    def moments(self, q: Labels | Doubles, k: int) -> Moments:
        """Add up the rows for given labels or responsibilities."""
        return self.plain.passes.moments(q, k, "full")

    def started(self, moments: Moments, *, smooth: bool) -> GaussianBeliefs:  # noqa: ARG002
        """The first update: the prior leaves no component without spread.

        Spec: EM-INIT
        """
        return self.maximised(moments, None)

    def following(
        self, moments: Moments, before: GaussianBeliefs | None
    ) -> Following[GaussianBeliefs, Gaussians]:
        """Make the variational M-step, ready for the next pass.

        Spec: MS-VIM
        """
        return Following(self.point(self.maximised(moments, before)))

    def sizes(self, moments: Moments) -> tuple[float, ...]:
        """The weight of each component.

        Spec: GMM-NK
        """
        return tuple(moments.counts)

    def around(self, rows: Sequence[Sequence[float]]) -> GaussianBeliefs:
        """Beliefs as if an equal share of the rows, as wide as the data, were around each row.

        Spec: EM-INIT
        """
        k, passes = len(rows), self.plain.passes
        share = passes.weight / k
        seconds = array("d", (share * x for _ in rows for x in self._scale))
        zeros = array("d", bytes(8 * k * self._d))
        counts = array("d", [share] * k)
        return self.maximised(Moments(counts, zeros, seconds, CentreMatrix.of(rows), "full"), None)

    def blended(
        self, one: GaussianBeliefs, other: GaussianBeliefs, share: float
    ) -> GaussianBeliefs:
        """Beliefs on the way from one to another.

        Spec: EM-GEM
        """
        return GaussianBeliefs(
            between(one.alpha, other.alpha, share),
            between(one.beta, other.beta, share),
            between(one.nu, other.nu, share),
            tuple(between(a, b, share) for a, b in zip(one.means, other.means, strict=True)),
            tuple(between(a, b, share) for a, b in zip(one.scales, other.scales, strict=True)),
        )

    def without(self, parameters: GaussianBeliefs, component: int) -> GaussianBeliefs:
        """The beliefs about the other components.

        Spec: GMM-COLLAPSE
        """
        return GaussianBeliefs(
            *(
                tuple(x for c, x in enumerate(part) if c != component)
                for part in (
                    parameters.alpha,
                    parameters.beta,
                    parameters.nu,
                    parameters.means,
                    parameters.scales,
                )
            )  # type: ignore[arg-type]
        )

    def replaced(
        self, parameters: GaussianBeliefs, component: int, row: Sequence[float]
    ) -> GaussianBeliefs:
        """The beliefs with those about one component begun anew around a row.

        Spec: GMM-COLLAPSE
        """
        fresh = self.around([row] * len(parameters.alpha))

        def put(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(new[c] if c == component else x for c, x in enumerate(old))

        return GaussianBeliefs(
            put(parameters.alpha, fresh.alpha),
            put(parameters.beta, fresh.beta),
            put(parameters.nu, fresh.nu),
            put(parameters.means, fresh.means),
            put(parameters.scales, fresh.scales),
        )

    def told(self, parameters: GaussianBeliefs) -> dict[str, Any]:
        """Beliefs as plain values."""
        return {
            "alpha": list(parameters.alpha),
            "beta": list(parameters.beta),
            "nu": list(parameters.nu),
            "means": [list(mean) for mean in parameters.means],
            "scales": [list(scale) for scale in parameters.scales],
        }

    def read(self, told: Any) -> GaussianBeliefs:
        """Beliefs from plain values, or given as such."""
        if isinstance(told, GaussianBeliefs):
            return told
        with readable("alpha, beta, nu, means and scales"):
            return GaussianBeliefs(
                tuple(map(float, told["alpha"])),
                tuple(map(float, told["beta"])),
                tuple(map(float, told["nu"])),
                tuple(tuple(map(float, mean)) for mean in told["means"]),
                tuple(tuple(map(float, scale)) for scale in told["scales"]),
            )

    def free_parameters(self, k: int) -> int:
        """How many numbers the mixture behind the beliefs is free to choose.

        Spec: GMM-COVDF
        """
        return self.plain.free_parameters(k)

    def _divergences(
        self,
        beta: float,
        nu: float,
        log_w: float,
        log_precision: float,
        white: Sequence[float],
        away: Sequence[float],
    ) -> list[float]:
        """The terms of KL(q(mean, precision) || prior) of one component.

        Spec: VB-GAUSS
        """
        d, nu0, beta0 = self._d, self._nu, self.beta
        lines = [white[i * d : i * d + i + 1] for i in range(d)]
        # white' white = nu W, so these are nu tr(W0^-1 W) and nu (m - m0)' W (m - m0).
        trace = math.fsum(
            a * b * self._scale[i * d + j]
            for line in lines
            for i, a in enumerate(line)
            for j, b in enumerate(line)
        )
        square = math.fsum(
            math.fsum(a * x for a, x in zip(line, away, strict=False)) ** 2 for line in lines
        )
        normal = 0.5 * (d * (beta0 / beta - 1.0 + math.log(beta / beta0)) + beta0 * square)
        return [
            normal,
            log_wishart(log_w, nu, d),
            -log_wishart(-self._log_scale, nu0, d),
            0.5 * (nu - nu0) * log_precision,
            -0.5 * nu * d,
            0.5 * trace,
        ]

    def _log_determinants(self, scales: tuple[Vector, ...]) -> list[float]:
        """log |C| of some matrices, in the units of the powers of two."""
        parameters = GaussianParameters(
            (1.0,) * len(scales), ((0.0,) * self._d,) * len(scales), scales, "full"
        )
        white = self.plain.passes.whitening(parameters.spreads, "full")
        found = []
        for c in range(len(scales)):
            diagonal = whitening_diagonal(parameters, white, c)
            scaled = map(math.ldexp, diagonal, self.plain.exponents)
            found.append(-2.0 * math.fsum(map(math.log, scaled)))
        return found
