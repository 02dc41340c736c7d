"""Gaussian mixtures: parameters, densities and the M-step (chapter 32)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final

from refclust.errors import BadOption, DegenerateCovariance, DimensionMismatch, NotFinite
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.gaussian import Form, Gaussians, Moments
from refclust.kernels.kmeans import Labels
from refclust.kernels.mixture import Doubles, EMStep, Posterior, Rule, plain
from refclust.kernels.points import Vector
from refclust.mixture.estimates import component_weights
from refclust.mixture.families import Collapsed, Point
from refclust.mixture.passes import GaussianPasses
from refclust.mixture.shapes import MODELS, maximised, mixture_parameters
from refclust.mixture.shapes_closed import Blocks, Degenerate
from refclust.numbers.argmin import ROUND

_LOG_TWO_PI: Final = math.log(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class GaussianParameters:
    """K normal densities and their shares.

    ``spreads`` holds of each component d*d covariances row after row (form full), d variances
    (diagonal), or one variance for all columns (spherical).

    Spec: GMM-DENS

    >>> GaussianParameters((1.0,), ((0.0, 0.0),), ((4.0,),), "spherical").covariances
    (((4.0, 0.0), (0.0, 4.0)),)
    """

    weights: tuple[float, ...]
    means: tuple[Vector, ...]
    spreads: tuple[Vector, ...]
    form: Form

    @property
    def covariances(self) -> tuple[tuple[Vector, ...], ...]:
        """The covariance matrix of each component.

        Spec: GMM-SIG
        """
        d = len(self.means[0])
        if self.form == "full":
            return tuple(
                tuple(tuple(spread[i * d : (i + 1) * d]) for i in range(d))
                for spread in self.spreads
            )
        rows = [spread * d if len(spread) == 1 else spread for spread in self.spreads]
        return tuple(
            tuple(tuple(row[i] if i == j else 0.0 for j in range(d)) for i in range(d))
            for row in rows
        )


Pair = Point[GaussianParameters, Gaussians]


@dataclass(frozen=True)
class GaussianFamily:
    """Gaussian mixtures on one data set, with one model of covariances and one floor."""

    passes: GaussianPasses
    model: str = "VVV"
    floor: float = 0.0

    def __post_init__(self) -> None:
        """Refuse rows on which no such mixture has a likelihood."""
        data = self.passes.rows.data
        if not all(map(math.isfinite, self.passes.variances)):
            raise NotFinite(
                "the variance of a column is beyond the range of doubles; divide the data by a "
                "power of ten"
            )
        if self.form == "spherical":
            return
        for j, (variance, least) in enumerate(zip(self.passes.variances, self._least, strict=True)):
            if variance <= least:
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
        return {"covariance": self.model, "floor": self.floor}

    @property
    def form(self) -> Form:
        """How covariances are written."""
        return MODELS[self.model].form

    @cached_property
    def prior(self) -> tuple[float, ...]:
        """The diagonal of the matrix that the floor adds to every scatter matrix.

        Spec: GMM-FLOOR
        """
        return tuple(self.floor * variance for variance in self.passes.variances)

    @cached_property
    def exponents(self) -> tuple[int, ...]:
        """The power of two next to the standard deviation of each column.

        Spec: GMM-SCALE
        """
        return tuple(math.frexp(math.sqrt(variance))[1] for variance in self.passes.variances)

    @property
    def constant(self) -> float:
        """What the densities leave out: -d/2 log(2 pi), and the powers of two.

        Spec: GAU-PDF, GMM-SCALE
        """
        d, powers = len(self.exponents), sum(self.exponents)
        return -0.5 * d * _LOG_TWO_PI - powers * math.log(2.0)

    def point(self, parameters: GaussianParameters) -> Pair:
        """Whiten the covariances; one whose spread is below rounding has collapsed.

        Spec: GAU-PDF, GMM-COLLAPSE, GMM-SCALE
        """
        flat = array("d", chain.from_iterable(parameters.spreads))
        white = self.passes.whitening(flat, parameters.form)
        offsets, blocks = array("d"), plain(white)
        d, size = len(self.exponents), len(blocks) // len(parameters.weights)
        penalty: list[float] = []
        for k, weight in enumerate(parameters.weights):
            block = blocks[k * size : (k + 1) * size]
            diagonal = (
                block[:: d + 1] if parameters.form == "full" else block * (d if size == 1 else 1)
            )
            self._check_spread(k, diagonal, parameters)
            scaled = map(math.ldexp, diagonal, self.exponents)
            share = math.log(weight) if weight else -math.inf
            offsets.append(share + math.fsum(map(math.log, scaled)))
            if self.floor:
                penalty += self._penalties(block, parameters.form)
        densities = Gaussians(offsets, CentreMatrix.of(parameters.means), white, parameters.form)
        return Point(parameters, densities, -0.5 * math.fsum(penalty))

    def step(self, point: Pair, rule: Rule) -> EMStep[Moments]:
        """Make one pass over the rows."""
        return self.passes.step(point.densities, rule)

    def moments(self, q: Labels | Doubles, k: int) -> Moments:
        """Add up the rows for given labels or responsibilities."""
        return self.passes.moments(q, k, "full" if self.form == "full" else "diagonal")

    def posterior(self, point: Pair, *, full: bool) -> Posterior:
        """Find labels and log p(x)."""
        return self.passes.posterior(point.densities, full=full)

    def expected(self, moments: Moments, densities: Gaussians) -> float:
        """E_q[log p(X, Z)] from the sums of a pass.

        Spec: GMM-EXPCDLL
        """
        return self.passes.expected(moments, densities)

    def rounding(self, moments: Moments, densities: Gaussians) -> float:
        """A bound on the rounding error of an objective.

        Spec: EM-CONV
        """
        return self.passes.rounding(moments, densities)

    def sizes(self, moments: Moments) -> tuple[float, ...]:
        """The weight of each component.

        Spec: GMM-NK
        """
        return tuple(moments.counts)

    def maximised(self, moments: Moments, before: GaussianParameters | None) -> GaussianParameters:
        """Make the M-step: shares, means, and covariances under the model, floor included.

        Spec: EM-MSTEP, GMM-PI, GMM-MU, GMM-SIG, GMM-COVM, GMM-FLOOR
        """
        for k, count in enumerate(moments.counts):
            if not count > 0:
                raise Collapsed(k, "has no rows any more")
        scatters = tuple(map(self._with_floor, central_scatters(moments)))
        known = None if before is None else before.spreads
        try:
            found = maximised(self.model, tuple(moments.counts), scatters, before=known)
        except Degenerate as degenerate:
            raise Collapsed(degenerate.component, self._lost(degenerate.column)) from None
        return self._parameters(moments, found.covariances)

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
            parameters = self._parameters(moments, common)
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
            (1.0 / k,) * k, tuple(map(tuple, rows)), (self._whole,) * k, self.form
        )

    def blended(
        self, one: GaussianParameters, other: GaussianParameters, share: float
    ) -> GaussianParameters:
        """Parameters on the way from one to another.

        Spec: EM-GEM
        """
        return GaussianParameters(
            _between(one.weights, other.weights, share),
            tuple(_between(a, b, share) for a, b in zip(one.means, other.means, strict=True)),
            tuple(_between(a, b, share) for a, b in zip(one.spreads, other.spreads, strict=True)),
            one.form,
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

        Spec: GMM-COLLAPSE
        """
        k = len(parameters.weights)
        others = math.fsum(w for i, w in enumerate(parameters.weights) if i != component)
        return GaussianParameters(
            tuple(
                1.0 / k if i == component else w / others * (k - 1) / k
                for i, w in enumerate(parameters.weights)
            ),
            tuple(tuple(row) if i == component else m for i, m in enumerate(parameters.means)),
            tuple(self._whole if i == component else s for i, s in enumerate(parameters.spreads)),
            parameters.form,
        )

    def told(self, parameters: GaussianParameters) -> dict[str, Any]:
        """Parameters as plain values."""
        return {
            "weights": list(parameters.weights),
            "means": [list(mean) for mean in parameters.means],
            "spreads": [list(spread) for spread in parameters.spreads],
        }

    def read(self, told: Any) -> GaussianParameters:
        """Parameters from plain values, or given as such, checked.

        Spec: EM-INIT
        """
        if isinstance(told, GaussianParameters):
            given = told
        else:
            given = GaussianParameters(
                tuple(map(float, told["weights"])),
                tuple(tuple(map(float, mean)) for mean in told["means"]),
                tuple(tuple(map(float, spread)) for spread in told["spreads"]),
                self.form,
            )
        check_parameters(given, self.passes.rows.data.d)
        if given.form != self.form:
            raise BadOption(
                f"the parameters given have {given.form} covariances; the model {self.model} has "
                f"{self.form} ones"
            )
        return given

    def free_parameters(self, k: int) -> int:
        """How many numbers the mixture is free to choose.

        Spec: GMM-COVDF
        """
        return mixture_parameters(self.model, k, self.passes.rows.data.d)

    @cached_property
    def _least(self) -> tuple[float, ...]:
        """Below these variances the differences within a column are nothing but rounding."""
        return tuple(
            (4.0 * ROUND * (abs(mean) + math.sqrt(variance))) ** 2
            for mean, variance in zip(self.passes.mean, self.passes.variances, strict=True)
        )

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
                raise Collapsed(k, self._lost(j if d > 1 else None))

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

    def _with_floor(self, scatter: Vector) -> Vector:
        if not self.floor:
            return scatter
        if self.form != "full":
            return tuple(s + psi for s, psi in zip(scatter, self.prior, strict=True))
        d, raised = len(self.prior), list(scatter)
        for j, psi in enumerate(self.prior):
            raised[j * d + j] += psi
        return tuple(raised)

    def _parameters(self, moments: Moments, covariances: Blocks) -> GaussianParameters:
        return GaussianParameters(
            component_weights(moments.counts), component_means(moments), covariances, self.form
        )

    def _common(self, moments: Moments) -> Vector:
        """The covariance within all components together, each of them with the floor."""
        weight = math.fsum(moments.counts)
        scatters = map(self._with_floor, central_scatters(moments))
        one = tuple(math.fsum(column) / weight for column in zip(*scatters, strict=True))
        return (math.fsum(one) / len(one),) if self.form == "spherical" else one

    @cached_property
    def _whole(self) -> Vector:
        """The covariance of all rows together."""
        return self._common(self.moments(array("i", bytes(4 * self.passes.rows.data.n)), 1))


def component_means(moments: Moments) -> tuple[Vector, ...]:
    """The mean of each component.

    Spec: GMM-MU, CEM-MU, QDA-PARAM
    """
    d, firsts = moments.around.d, plain(moments.firsts)
    return tuple(
        tuple(a + first / n for a, first in zip(centre, firsts[c * d : (c + 1) * d], strict=True))
        for c, (n, centre) in enumerate(zip(moments.counts, moments.around, strict=True))
    )


def central_scatters(moments: Moments) -> list[Vector]:
    """The scatter of each component around its mean: d*d numbers, or the d on the diagonal.

    Spec: GMM-SIG, CEM-SIG, QDA-PARAM
    """
    d = moments.around.d
    firsts, seconds = plain(moments.firsts), plain(moments.seconds)
    found: list[Vector] = []
    for c, n in enumerate(moments.counts):
        first = firsts[c * d : (c + 1) * d]
        if moments.spread == "diagonal":
            block = seconds[c * d : (c + 1) * d]
            found.append(tuple(max(s - f * f / n, 0.0) for s, f in zip(block, first, strict=True)))
            continue
        lines: list[float] = []
        for i, f in enumerate(first):
            line = seconds[(c * d + i) * d : (c * d + i + 1) * d]
            # The product is rounded before it is divided: the same on both sides of the diagonal.
            lines += [s - f * g / n for s, g in zip(line, first, strict=True)]
        found.append(tuple(lines))
    return found


def check_parameters(given: GaussianParameters, d: int) -> None:
    """Refuse parameters that are no mixture of normal densities over d columns."""
    k = len(given.weights)
    if not k or len(given.means) != k or len(given.spreads) != k:
        raise DimensionMismatch(
            f"{k} weights, {len(given.means)} means and {len(given.spreads)} covariances were "
            "given; one of each is due for every component"
        )
    size = {"full": d * d, "diagonal": d, "spherical": 1}[given.form]
    for c in range(k):
        if len(given.means[c]) != d:
            raise DimensionMismatch(f"mean {c} has {len(given.means[c])} components, the rows {d}")
        if len(given.spreads[c]) != size:
            raise DimensionMismatch(
                f"covariance {c} has {len(given.spreads[c])} numbers; {size} are due"
            )
    check_weights(given.weights)
    for numbers in (*given.means, *given.spreads):
        if not all(map(math.isfinite, numbers)):
            raise NotFinite("the parameters given hold a number that is not finite")


def check_weights(weights: Sequence[float]) -> None:
    """Refuse shares of components that are negative or do not add up to one within rounding."""
    whole = math.fsum(weights)
    if not all(w >= 0 for w in weights) or abs(whole - 1.0) > len(weights) * 2.0**-40:
        raise BadOption(
            f"the weights given are {list(weights)!r}, together {whole!r}; they must be at least "
            "0 and add up to 1"
        )


def _between(one: Sequence[float], other: Sequence[float], share: float) -> Vector:
    return tuple(a + share * (b - a) for a, b in zip(one, other, strict=True))
