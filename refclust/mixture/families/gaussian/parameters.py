"""Parameters of Gaussian mixtures, and how sums over rows become them (chapter 32)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from refclust.errors import (
    BadOption,
    DegenerateCovariance,
    DimensionMismatch,
    NotFinite,
    RefclustError,
)
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Form, Gaussians
from refclust.kernels.mixtures.shared import Doubles
from refclust.kernels.points import Vector
from refclust.shown.page import brief, counted

LOG_TWO_PI: Final = math.log(2.0 * math.pi)


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        k, d = len(self.weights), len(self.means[0]) if self.means else 0
        names = ("weights", "means", "spreads", "form")
        fields = {name: getattr(self, name) for name in names}
        words = f"{counted(k, 'component')}, {counted(d, 'column')}, {self.form}"
        return brief("GaussianParameters", fields, k * (d + d * d), words)

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


def spread_of(covariance: Any, form: Form, k: int) -> Vector:
    """A covariance as a model stores it: from a matrix, or from such numbers.

    Spec: GMM-SIG

    >>> spread_of([[4, 0], [0, 4]], "diagonal", 0), spread_of([[4, 1], [1, 4]], "full", 0)
    ((4.0, 4.0), (4.0, 1.0, 1.0, 4.0))
    """
    rows = list(covariance)
    if not all(hasattr(row, "__len__") for row in rows):
        return tuple(map(float, rows))
    matrix = [tuple(map(float, row)) for row in rows]
    if form == "full":
        return tuple(x for row in matrix for x in row)
    diagonal = tuple(row[i] for i, row in enumerate(matrix))
    if any(x for i, row in enumerate(matrix) for j, x in enumerate(row) if i != j):
        raise BadOption(f"covariance {k} is no diagonal matrix, and the model has {form} ones")
    if form == "diagonal":
        return diagonal
    if len(set(diagonal)) != 1:
        raise BadOption(f"covariance {k} has several variances, and the model has {form} ones")
    return diagonal[:1]


def densities(
    parameters: GaussianParameters, white: Doubles, exponents: Sequence[int]
) -> Gaussians:
    """The densities of parameters whose covariances are whitened by W.

    log p(x, k) = log pi_k + log |W_k| - |W_k (x - m_k)|^2 / 2; the diagonal of W is taken times the
    powers of two given, which whoever adds the constant takes away again.

    Spec: GAU-PDF, GMM-DENS, GMM-SCALE
    """
    offsets = array("d")
    for k, weight in enumerate(parameters.weights):
        diagonal = whitening_diagonal(parameters, white, k)
        if not all(diagonal):
            raise DegenerateCovariance(f"the covariance of component {k} is not positive definite")
        scaled = map(math.ldexp, diagonal, exponents)
        share = math.log(weight) if weight else -math.inf
        offsets.append(share + math.fsum(map(math.log, scaled)))
    return Gaussians(offsets, CentreMatrix.of(parameters.means), white, parameters.form)


def whitening_diagonal(parameters: GaussianParameters, white: Doubles, k: int) -> list[float]:
    """The diagonal of the whitening matrix of component k.

    Spec: GAU-PDF
    """
    d, size = len(parameters.means[0]), len(white) // len(parameters.weights)
    step = d + 1 if parameters.form == "full" else 1
    diagonal: list[float] = memoryview(white)[k * size : (k + 1) * size : step].tolist()  # type: ignore[assignment]
    return diagonal * (d if size == 1 else 1)


def constant_of(exponents: Sequence[int]) -> float:
    """What the densities leave out for each row: -d/2 log(2 pi), and the powers of two.

    Spec: GAU-PDF, GMM-SCALE

    >>> constant_of([0, 0]) == -math.log(2 * math.pi)
    True
    """
    return -0.5 * len(exponents) * LOG_TWO_PI - sum(exponents) * math.log(2.0)


def check_parameters(parameters: GaussianParameters, d: int) -> None:
    """Refuse parameters that are no mixture of normal densities over d columns."""
    with readable("weights, means and spreads"):
        _check_parameters(parameters, d)


def _check_parameters(parameters: GaussianParameters, d: int) -> None:
    k = len(parameters.weights)
    if parameters.form not in ("full", "diagonal", "spherical"):
        raise BadOption(f"the form is {parameters.form!r}; allowed are full, diagonal, spherical")
    if not k or len(parameters.means) != k or len(parameters.spreads) != k:
        raise DimensionMismatch(
            f"{k} weights, {len(parameters.means)} means and {len(parameters.spreads)} covariances "
            "were given; one of each is due for every component"
        )
    size = {"full": d * d, "diagonal": d, "spherical": 1}[parameters.form]
    for c in range(k):
        if len(parameters.means[c]) != d:
            raise DimensionMismatch(
                f"mean {c} has {len(parameters.means[c])} components, the rows {d}"
            )
        if len(parameters.spreads[c]) != size:
            raise DimensionMismatch(
                f"covariance {c} has {len(parameters.spreads[c])} numbers; {size} are due"
            )
    check_weights(parameters.weights)
    for numbers in (*parameters.means, *parameters.spreads):
        if not all(map(math.isfinite, numbers)):
            raise NotFinite("the parameters given hold a number that is not finite")
    if parameters.form == "full":
        for c, spread in enumerate(parameters.spreads):
            _check_symmetry(c, spread, d)


def _check_symmetry(c: int, spread: Vector, d: int) -> None:
    """Refuse a matrix with two different halves; last bits may differ."""
    for i in range(d):
        for j in range(i):
            below, above = spread[i * d + j], spread[j * d + i]
            if abs(below - above) > 2.0**-40 * max(abs(below), abs(above)):
                raise BadOption(
                    f"covariance {c} is not symmetric: {below!r} and {above!r} stand for columns "
                    f"{i} and {j}"
                )


@contextmanager
def readable(parts: str) -> Iterator[None]:
    """Refuse plain values that are no parameters, whatever they are."""
    try:
        yield
    except RefclustError:
        raise
    except (TypeError, LookupError, ValueError, OverflowError) as wrong:
        raise BadOption(
            f"the parameters given cannot be read ({type(wrong).__name__}: {wrong}); numbers are "
            f"needed: {parts}"
        ) from None


def check_weights(weights: Sequence[float]) -> None:
    """Refuse shares of components that are negative or do not add up to one within rounding."""
    whole = math.fsum(weights)
    if not all(w >= 0 for w in weights) or abs(whole - 1.0) > len(weights) * 2.0**-40:
        raise BadOption(
            f"the weights given are {list(weights)!r}, together {whole!r}; they must be at least "
            "0 and add up to 1"
        )


def between(old: Sequence[float], new: Sequence[float], share: float) -> Vector:
    """The numbers that lie a share of the way from one to the other.

    Spec: EM-GEM

    >>> between([0.0], [2.0], 0.25)
    (0.5,)
    """
    return tuple(a + share * (b - a) for a, b in zip(old, new, strict=True))
