"""The 14 covariance models: which there are, what they cost, their best covariances (chapter 32).

A covariance is taken apart into volume, shape and orientation, s D A D' with |A| = 1 and D
orthonormal. Each of the three is common to all components (E), free in each (V), or nothing at all
(I: a ball, or axes parallel to the coordinates); the three letters name the model. One column has a
volume only: every model that begins with E is the same there, and every model that begins with V.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from refclust.errors import BadOption
from refclust.kernels.mixtures.gaussian import Form
from refclust.mixture.covariance import axes as axes
from refclust.mixture.covariance import closed as closed
from refclust.mixture.covariance import volumes as volumes
from refclust.mixture.covariance.parts import Block, Blocks, Degenerate, Effort, Maximised
from refclust.numbers.reading import shown

# A relative change of 2**-40 is far above the rounding of an iteration, and its square, which is
# what the objective still gains, far below that of the objective.
TOLERANCE: Final = 2.0**-40
LIMIT: Final = 1000

_ALIASES = {
    "full": "VVV",
    "tied": "EEE",
    "diagonal": "VVI",
    "spherical": "VII",
    "shared-spherical": "EII",
    "diag": "VVI",  # as scikit-learn has it
    "E": "EII",  # as mclust calls the models of one column
    "V": "VII",
}
_CLOSED = {
    "EII": closed.pooled_spherical,
    "VII": closed.own_spherical,
    "EEI": closed.pooled,
    "EVI": closed.equal_volume_diagonal,
    "VVI": closed.own,
    "EEE": closed.pooled,
    "EEV": closed.own_orientation,
    "EVV": closed.equal_volume,
    "VVV": closed.own,
}
_ITERATED = {
    "VEI": volumes.common_shape_diagonal,
    "EVE": axes.common_axes_equal_volume,
    "VEE": volumes.common_shape,
    "VVE": axes.common_axes,
    "VEV": volumes.own_axes_common_shape,
}


@dataclass(frozen=True, slots=True)
class CovarianceModel:
    """One of the 14: its three letters, another name if it has one, and how it is stored."""

    name: str
    volume: str
    shape: str
    orientation: str
    alias: str | None
    form: Form
    closed_form: bool


def _model(volume: str, shape: str, orientation: str) -> CovarianceModel:
    name = volume + shape + orientation
    form: Form = "spherical" if shape == "I" else "diagonal" if orientation == "I" else "full"
    alias = next((alias for alias, meant in _ALIASES.items() if meant == name), None)
    return CovarianceModel(name, volume, shape, orientation, alias, form, name in _CLOSED)


MODELS: Final[Mapping[str, CovarianceModel]] = MappingProxyType(
    {
        volume + shape + orientation: _model(volume, shape, orientation)
        for orientation, shapes in (("I", "IEV"), ("E", "EV"), ("V", "EV"))
        for shape in shapes
        for volume in "EV"
    }
)


def covariance_model(name: str) -> CovarianceModel:
    """The model of a name or of an alias.

    Spec: GMM-COV

    >>> covariance_model("tied").name
    'EEE'
    """
    untyped: Any = name  # whatever a caller without types gave
    model = MODELS.get(_ALIASES.get(name, name)) if isinstance(untyped, str) else None
    if model is None:
        raise BadOption(
            f"the covariance model is {shown(name)}; allowed are "
            f"{', '.join(MODELS)}, {', '.join(_ALIASES)}"
        )
    return model


def free_parameters(model: str, k: int, d: int) -> int:
    """How many numbers the covariances of k components in d columns have free.

    Spec: GMM-COVDF

    >>> [free_parameters(model, 3, 2) for model in ("EII", "VEI", "EEE", "VVV")]
    [1, 4, 3, 9]
    """
    letters = covariance_model(model)
    times = {"I": 0, "E": 1, "V": k}
    turns = d * (d - 1) // 2
    shapes = times[letters.shape] * (d - 1)
    return times[letters.volume] + shapes + times[letters.orientation] * turns


def mixture_parameters(model: str, k: int, d: int) -> int:
    """How many numbers a Gaussian mixture has free: shares, means and covariances.

    Spec: GMM-COVDF

    >>> mixture_parameters("VVV", 2, 2)
    11
    """
    return (k - 1) + k * d + free_parameters(model, k, d)


def maximised(
    model: str,
    counts: Block,
    scatters: Blocks,
    *,
    before: Blocks | None = None,
    tolerance: float = TOLERANCE,
    limit: int = LIMIT,
) -> Maximised:
    """The covariances that are most likely under a model, or ``Degenerate``.

    Given are the sum of weights N_k of each component and its scatter S_k around its mean: d*d
    numbers row after row, or the d on the diagonal for a diagonal or spherical model. What is
    maximised is minus half the sum of  N_k log |C_k| + tr(S_k / C_k).  Iterations begin with
    ``before``, and end when one changes no volume (VEI, VEE, VEV), no variance along a common axis
    (EVE, VVE), by more than ``tolerance`` of itself; ``limit`` is their greatest number, 1 or more.

    Spec: GMM-COVM

    >>> maximised("VVI", (1.0, 2.0), ((1.0, 5.0), (3.0, 3.0))).covariances
    ((1.0, 5.0), (1.5, 1.5))
    """
    wanted = MODELS.get(model) or covariance_model(model)
    for k, count in enumerate(counts):
        if not count > 0:
            raise Degenerate(k)
    if wanted.closed_form:
        maximum = Maximised(_CLOSED[wanted.name](counts, scatters))
    else:
        maximum = _ITERATED[wanted.name](counts, scatters, before, Effort(tolerance, limit))
    if wanted.form != "full":
        _check_variances(maximum.covariances, shared=wanted.name in ("EII", "EEI"))
    return maximum


def _check_variances(covariances: Blocks, *, shared: bool) -> None:
    for k, variances in enumerate(covariances):
        for j, variance in enumerate(variances):
            if not variance > 0:
                raise Degenerate(None if shared else k, j if len(variances) > 1 else None)
