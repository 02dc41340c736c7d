"""Gaussian mixtures: densities, floor, collapse and the M-step (chapter 32)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from refclust.errors import BadOption, DegenerateCovariance, NotFinite
from refclust.fitting.memory import for_covariances, for_filled
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.gaussian import Form, Gaussians, Moments
from refclust.kernels.mixtures.shared import Doubles, floats
from refclust.kernels.points import Vector
from refclust.mixture.covariance.models import MODELS, maximised, mixture_parameters
from refclust.mixture.covariance.parts import Degenerate
from refclust.mixture.families.estimates import component_weights
from refclust.mixture.families.family import Collapsed, Following, Point
from refclust.mixture.families.gaussian.parameters import (
    GaussianParameters,
    between,
    check_parameters,
    constant_of,
    densities,
    readable,
    spread_of,
    whitening_diagonal,
)
from refclust.mixture.families.gaussian.ranges import check_means
from refclust.mixture.families.gaussian.recentre import centres_of
from refclust.mixture.options import Missing
from refclust.mixture.passes import GaussianPasses
from refclust.numbers.argmin import ROUND
from refclust.numbers.linalg import NotPositive, cholesky

Pair = Point[GaussianParameters, Gaussians]
_LOST: Final = 2.0**-1000  # below this, for each row, sums of squares lose digits to underflow
COMMON: Final = ("EII", "EEI", "EEE")  # one covariance for all
_FREE: Final = ("VII", "VVI", "VVV")  # nothing in common


@dataclass(frozen=True)
class GaussianFamily:
    """Gaussian mixtures on one data set, with one model of covariances and one floor."""

    passes: GaussianPasses
    model: str = "VVV"
    floor: float = 0.0
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        """Refuse rows on which no such mixture has a likelihood."""
        data = self.passes.rows.data
        for_covariances(self.passes.k, data.d, self.form, common=self.model in COMMON)
        if data.kind == "sparse":
            for_filled(data.n, data.d)
        self.passes.check_columns(spherical=self.form == "spherical")
        if not all(map(math.isfinite, self.prior)):
            raise NotFinite(
                f"the floor is {self.floor!r}, which the weights are too small for; multiply them "
                "by a power of ten"
            )
        flat = [
            variance <= least
            for variance, least in zip(self.passes.variances, self._least, strict=True)
        ]
        if all(flat):
            raise DegenerateCovariance(
                "all rows are the same, within rounding: no covariance can be estimated from them; "
                "give rows that differ"
            )
        if self.form == "spherical":
            return
        for j, constant in enumerate(flat):
            if constant:
                raise DegenerateCovariance(
                    f"column {data.feature_name(j)} has the same value in all rows, within "
                    "rounding; leave it out, or choose a spherical covariance (EII, VII)"
                )

    @property
    def name(self) -> str:
        """The word for it."""
        return "gaussian"

    @property
    def kernel(self) -> str:
        """The kernel that takes the time."""
        return "gaussian.em_step"

    @property
    def settings(self) -> dict[str, Any]:
        """The options of the family."""
        gaps = {} if self.missing == "refuse" else {"missing": self.missing}
        return {"covariance": self.model, "floor": self.floor, **gaps}

    @cached_property
    def form(self) -> Form:
        """How covariances are written."""
        return MODELS[self.model].form

    @cached_property
    def prior(self) -> tuple[float, ...]:
        """The diagonal of the matrix that the floor adds to every scatter matrix.

        Spec: GMM-FLOOR
        """
        return tuple(self.floor * variance / self.unit for variance in self.passes.variances)

    @cached_property
    def exponents(self) -> tuple[int, ...]:
        """The power of two next to the standard deviation of each column.

        Spec: GMM-SCALE
        """
        return tuple(math.frexp(math.sqrt(variance))[1] for variance in self.passes.variances)

    @cached_property
    def unit(self) -> float:
        """The weight that counts as one.

        Spec: GMM-RANGE
        """
        return self.passes.unit

    @cached_property
    def constant(self) -> float:
        """What the densities leave out: -d/2 log(2 pi), and the powers of two.

        Spec: GAU-PDF, GMM-SCALE
        """
        return constant_of(self.exponents)

    def point(self, parameters: GaussianParameters) -> Pair:
        """Whiten the covariances; one whose spread is below rounding has collapsed.

        Spec: GAU-PDF, GMM-COLLAPSE, GMM-SCALE
        """
        white = self.passes.whitening(parameters.spreads, parameters.form)
        size = len(white) // len(parameters.weights)
        penalty: list[float] = []
        for k in range(len(parameters.weights)):
            self._check_spread(k, whitening_diagonal(parameters, white, k), parameters)
            if self.floor:
                block = floats(memoryview(white)[k * size : (k + 1) * size])
                penalty += self._penalties(block, parameters.form)
        made = densities(parameters, white, self.exponents)
        log_prior = -0.5 * math.fsum(penalty) if penalty else 0.0
        # Terms of one sign: three roundings in each, one of their sum.
        return Point(parameters, made, log_prior, 4 * ROUND * abs(log_prior))

    def moments(self, q: Labels | Doubles, k: int) -> Moments:
        """Add up the rows for given labels or responsibilities."""
        return self.passes.moments(q, k, "full" if self.form == "full" else "diagonal")

    def following(
        self, moments: Moments, before: GaussianParameters | None
    ) -> Following[GaussianParameters, Gaussians]:
        """Make the M-step, ready for the next pass.

        Spec: EM-MSTEP
        """
        return Following(self.point(self.maximised(moments, before)))

    def sizes(self, moments: Moments) -> tuple[float, ...]:
        """The weight of each component.

        Spec: GMM-NK, CEM-NK
        """
        return tuple(count * self.unit for count in moments.counts)

    def maximised(self, moments: Moments, before: GaussianParameters | None) -> GaussianParameters:
        """Make the M-step: shares, means, and covariances under the model, floor included.

        Spec: EM-MSTEP, GMM-PI, GMM-MU, GMM-SIG, GMM-COVM, GMM-FLOOR
        """
        for k, count in enumerate(moments.counts):
            if not count > 0:
                raise Collapsed(k, "has no rows any more")
        scatters = self.passes.scatters(moments, self.prior if self.floor else ())
        self._check_scatters(scatters)
        known = None if before is None else before.spreads
        try:
            best = maximised(self.model, tuple(moments.counts), scatters, before=known)
        except Degenerate as degenerate:
            raise Collapsed(degenerate.component, self._lost(degenerate.column)) from None
        except (OverflowError, ValueError):
            raise NotFinite(
                f"the scales of the columns are so different that {self.model}, which mixes them, "
                "is beyond the range of doubles; bring the columns to one scale"
            ) from None
        return GaussianParameters(
            component_weights(moments.counts),
            centres_of(moments).rows(),
            best.covariances,
            self.form,
        )

    def started(self, moments: Moments, *, smooth: bool) -> GaussianParameters:  # noqa: ARG002
        """The M-step of a start; if a component lacks spread, all begin with the common one.

        Spec: EM-INIT, KM-INITMIX
        """
        try:
            parameters = self.maximised(moments, None)
            self.point(parameters)
        except Collapsed as collapsed:
            if not min(moments.counts) > 0:
                raise
            common = (self._common(moments),) * len(moments.counts)
            shares = component_weights(moments.counts)
            parameters = GaussianParameters(shares, centres_of(moments).rows(), common, self.form)
            try:
                self.point(parameters)
            except Collapsed:
                raise collapsed from None
        return parameters

    def around(self, rows: Sequence[Sequence[float]]) -> GaussianParameters:
        """Equal components as wide as the data, around some rows.

        Spec: EM-INIT
        """
        k = len(rows)
        return GaussianParameters(
            (1.0 / k,) * k, tuple(map(tuple, rows)), (self.whole,) * k, self.form
        )

    def blended(
        self, old: GaussianParameters, new: GaussianParameters, share: float
    ) -> GaussianParameters:
        """Parameters on the way from one to another.

        Spec: EM-GEM
        """
        return GaussianParameters(
            between(old.weights, new.weights, share),
            tuple(between(a, b, share) for a, b in zip(old.means, new.means, strict=True)),
            tuple(between(a, b, share) for a, b in zip(old.spreads, new.spreads, strict=True)),
            old.form,
        )

    def without(self, parameters: GaussianParameters, component: int) -> GaussianParameters:
        """The parameters of the other components.

        Spec: GMM-COLLAPSE
        """
        kept = [k for k in range(len(parameters.weights)) if k != component]
        return GaussianParameters(
            component_weights([parameters.weights[k] for k in kept]),
            tuple(parameters.means[k] for k in kept),
            tuple(parameters.spreads[k] for k in kept),
            parameters.form,
        )

    def replaced(
        self, parameters: GaussianParameters, component: int, row: Sequence[float]
    ) -> GaussianParameters:
        """The parameters with one component as wide as the data, around a row.

        Where covariances have something in common it takes that of another component: parameters
        outside of the model would let the next M-step fall.

        Spec: GMM-COLLAPSE
        """
        k = len(parameters.weights)
        other = 1 if component == 0 else 0
        wide = self.whole if self.model in _FREE else parameters.spreads[other]
        others = math.fsum(w for i, w in enumerate(parameters.weights) if i != component)
        return GaussianParameters(
            tuple(
                1.0 / k if i == component else w / others * (k - 1) / k
                for i, w in enumerate(parameters.weights)
            ),
            tuple(tuple(row) if i == component else m for i, m in enumerate(parameters.means)),
            tuple(wide if i == component else s for i, s in enumerate(parameters.spreads)),
            parameters.form,
        )

    def content(self, parameters: GaussianParameters) -> dict[str, Any]:
        """Parameters as plain values."""
        return {
            "weights": list(parameters.weights),
            "means": [list(mean) for mean in parameters.means],
            "spreads": [list(spread) for spread in parameters.spreads],
        }

    def read(self, content: Any) -> GaussianParameters:
        """Parameters from plain values, or given as such, checked.

        Spec: EM-INIT
        """
        if isinstance(content, GaussianParameters):
            parameters = content
        else:
            with readable("weights, means, and covariances (matrices) or spreads"):
                named = "covariances" if "covariances" in content else "spreads"
                parameters = GaussianParameters(
                    tuple(map(float, content["weights"])),
                    tuple(tuple(map(float, mean)) for mean in content["means"]),
                    tuple(
                        spread_of(spread, self.form, k) for k, spread in enumerate(content[named])
                    ),
                    self.form,
                )
        check_parameters(parameters, self.passes.rows.data.d)
        check_means(parameters.means, self.passes.mean, self.passes.weight)
        if parameters.form != self.form:
            raise BadOption(
                f"the parameters given have {parameters.form} covariances; the model {self.model} "
                f"has {self.form} ones"
            )
        return parameters

    def free_parameters(self, k: int) -> int:
        """How many numbers the mixture is free to choose.

        Spec: GMM-COVDF
        """
        return mixture_parameters(self.model, k, self.passes.rows.data.d)

    @cached_property
    def _least(self) -> tuple[float, ...]:
        """Below these variances the differences within a column are nothing but rounding."""
        return tuple(deviation**2 for deviation in self.passes.resolution)

    def _check_scatters(self, scatters: Sequence[Vector]) -> None:
        """Refuse squares so small that underflow has taken their digits.

        Spec: GMM-COLLAPSE
        """
        if self.model in COMMON:
            return  # what one component has lost is nothing beside the others
        d, least = self.passes.d, self.passes.n * _LOST
        for k, scatter in enumerate(scatters):
            squares = scatter[:: d + 1] if self.form == "full" else scatter
            if self.form == "spherical":
                squares = (math.fsum(squares),)
            for j, square in enumerate(squares):
                if 0.0 < square < least:
                    raise Collapsed(k, self._lost(j if len(squares) > 1 else None))

    def _check_spread(
        self, k: int, whitening: Sequence[float], parameters: GaussianParameters
    ) -> None:
        d = len(whitening)
        spread = parameters.spreads[k]
        variances = spread[:: d + 1] if parameters.form == "full" else spread * (d // len(spread))
        for j, (w, variance, least) in enumerate(
            zip(whitening, variances, self._least, strict=True)
        ):
            # 1 / w^2 is the variance of column j that the columns before it do not explain.
            if w <= 0.0 or 1.0 / w <= math.sqrt(max(least, 2.0**-46 * d * variance)):
                # A matrix that could not be whitened at all has zeros in every column.
                whole = w <= 0.0 and parameters.form == "full"
                column = self._singular_column(parameters, k) if whole else j
                raise Collapsed(
                    None if self.model in COMMON else k, self._lost(column if d > 1 else None)
                )

    def _singular_column(self, parameters: GaussianParameters, k: int) -> int:
        """The first column that those before it explain."""
        try:
            cholesky(parameters.covariances[k])
        except NotPositive as wrong:
            return wrong.column
        return 0

    def _lost(self, column: int | None) -> str:
        if column is None:
            return "has lost its spread"
        return f"has lost its spread in column {self.passes.rows.data.feature_name(column)}"

    def _penalties(self, block: Sequence[float], form: Form) -> list[float]:
        """The terms of tr(Psi C^-1), C^-1 = W'W."""
        d = len(self.prior)
        if form == "full":
            return [
                psi * block[i * d + j] ** 2 for j, psi in enumerate(self.prior) for i in range(j, d)
            ]
        white = list(block) * (d if len(block) == 1 else 1)
        return [psi * w * w for psi, w in zip(self.prior, white, strict=True)]

    def _common(self, moments: Moments) -> Vector:
        """The covariance within all components together, each of them with the floor."""
        weight = math.fsum(moments.counts)
        scatters = self.passes.scatters(moments, self.prior if self.floor else ())
        pooled = tuple(math.fsum(column) / weight for column in zip(*scatters, strict=True))
        return (math.fsum(pooled) / len(pooled),) if self.form == "spherical" else pooled

    @cached_property
    def whole(self) -> Vector:
        """The covariance of all rows together.

        Spec: GAU-MLESIG
        """
        return self._common(self.moments(array("i", bytes(4 * self.passes.rows.data.n)), 1))
