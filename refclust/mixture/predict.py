"""Rows under a mixture: labels, responsibilities, densities (EM-PRED, chapter 30)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from refclust.backends.session import Provenance, Session
from refclust.cluster.options import named
from refclust.cluster.room import for_shares
from refclust.cluster.seeding import Rows
from refclust.data.accept import dataset
from refclust.data.align import aligned
from refclust.data.dataset import Dataset, Features
from refclust.errors import BadOption, DegenerateCovariance, DimensionMismatch, ImpossibleRow
from refclust.kernels.kmeans import copied
from refclust.kernels.mixture import SOFT, Posterior, plain, shares
from refclust.kernels.points import Vector
from refclust.kernels.words import Kind
from refclust.mixture.counts_parameters import (
    CountParameters,
    check_counts,
)
from refclust.mixture.counts_parameters import (
    check_parameters as check_counting,
)
from refclust.mixture.gaussian_parameters import (
    GaussianParameters,
    constant_of,
    covariances_of,
    densities,
    readable,
    whitening_diagonal,
)
from refclust.mixture.gaussian_parameters import check_parameters as check_gaussian
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.ranges import lost_row

Parameters: TypeAlias = GaussianParameters | CountParameters
Impossible: TypeAlias = Literal["error", "prior"]


@dataclass(frozen=True, slots=True)
class Assignments:
    """What a mixture says of every row.

    Spec: EM-PRED
    """

    labels: array[int]  # the most probable component, the lowest index of equals
    log_likelihoods: array[float]  # log p(x)
    joint: array[float] | None  # log p(x, k), row after row, if asked for
    weights: Vector  # the shares of the components
    unseen: int  # features of the rows that the mixture does not know
    provenance: Provenance

    @property
    def k(self) -> int:
        """The number of components."""
        return len(self.weights)

    def log_joint(self, i: int) -> Vector:
        """log p(x, k) of one row for every component.

        Spec: EM-PRED, MIX-JOINT
        """
        if self.joint is None:
            raise BadOption("densities of components were not asked for; give full=True")
        return tuple(self.joint[i * self.k : (i + 1) * self.k])

    def responsibilities(self, i: int) -> Vector:
        """The posterior probability of every component for one row; the prior if none made it.

        Spec: EM-PRED, EM-ESTEP
        """
        joint = self.log_joint(i)
        return self.weights if max(joint) == -math.inf else shares(joint, SOFT).q

    def entropy(self, i: int) -> float:
        """How undecided the assignment of one row is, in nats.

        Spec: EM-PRED, IT-ENT
        """
        joint = self.log_joint(i)
        if max(joint) == -math.inf:
            return math.fsum(-w * math.log(w) for w in self.weights if w)
        return shares(joint, SOFT).entropy


def assignments(
    parameters: Parameters,
    data: Any,
    *,
    family: str,
    features: Features | None = None,
    full: bool = True,
    impossible: Impossible = "error",
    backend: str | None = None,
    session: Session | None = None,
) -> Assignments:
    """Find the component of every row; a row that none can have made is an error, or goes by share.

    Spec: EM-PRED, NB-PRED, QDA-MAP

    >>> two = CountParameters((0.5, 0.5), ((0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))
    >>> found = assignments(two, [[1, 0, 0], [0, 0, 2]], family="multinomial")
    >>> found.labels.tolist(), found.responsibilities(0)
    ([0, 1], (0.5, 0.5))
    """
    named("impossible", impossible, ("error", "prior"))
    check_mixture(parameters, family)
    rows, unseen = aligned(dataset(data), features, columns_of(parameters))
    session = Session(backend) if session is None else session
    if full:
        for_shares(rows.n, len(parameters.weights))
    found, constant = evaluated(parameters, Rows(rows, session), family, full=full)
    labels = copied(found.labels)
    each = array("d", (x + constant for x in plain(found.log_likelihoods)))
    joint = None
    if found.joint is not None:
        joint = array("d", (x + constant for x in plain(found.joint)))
    if -math.inf in each:
        _without_component(rows, each, labels, parameters.weights, impossible, family)
    return Assignments(labels, each, joint, parameters.weights, unseen, session.provenance())


def check_mixture(parameters: Parameters, family: str, d: int | None = None) -> None:
    """Refuse parameters that are no mixture of the family, or not one over d columns.

    Probabilities of words need not add up to one here: naive Bayes gives scores (NB-MEST1H).
    """
    gaussian = isinstance(parameters, GaussianParameters)
    if not gaussian and not isinstance(parameters, CountParameters):
        raise BadOption(
            f"the parameters are a {type(parameters).__name__}; GaussianParameters or "
            "CountParameters are needed"
        )
    named("family", family, ("gaussian",) if gaussian else ("multinomial", "bernoulli"))
    with readable("those of a mixture"):
        columns = columns_of(parameters)
    if isinstance(parameters, GaussianParameters):
        check_gaussian(parameters, columns)
    else:
        check_counting(parameters, "bernoulli", columns)
    if d is not None and d != columns:
        raise DimensionMismatch(f"the rows have {d} columns, the parameters {columns}")


def columns_of(parameters: Parameters) -> int:
    """The number of columns of the rows that a mixture is made for.

    Spec: none (a size)
    """
    if isinstance(parameters, GaussianParameters):
        return len(parameters.means[0])
    return len(parameters.probabilities[0])


def evaluated(
    parameters: Parameters, rows: Rows, family: str, *, full: bool
) -> tuple[Posterior, float]:
    """One pass over rows under given parameters, and the constant it leaves out for each row.

    Spec: EM-PRED, MIX-MARGLL
    """
    k = len(parameters.weights)
    if isinstance(parameters, GaussianParameters):
        passes = GaussianPasses(rows, k)
        white = passes.whitening(covariances_of(parameters), parameters.form)
        for c in range(k):
            if not all(whitening_diagonal(parameters, white, c)):
                raise DegenerateCovariance(f"the covariance of component {c} is singular")
        exponents = [0] * rows.data.d
        return passes.posterior(densities(parameters, white, exponents), full=full), constant_of(
            exponents
        )
    counted = CountPasses(rows, k)
    kind: Kind = "bernoulli" if family == "bernoulli" else "multinomial"
    check_counts(rows.data, kind, "fractional")
    return counted.posterior(counted.terms(parameters, kind), full=full), 0.0


def _without_component(
    rows: Dataset,
    each: Sequence[float],
    labels: array[int],
    weights: Sequence[float],
    impossible: Impossible,
    family: str,
) -> None:
    """Deal with rows of probability zero under every component."""
    lost = [i for i, x in enumerate(each) if x == -math.inf]
    if impossible == "error":
        why, advice = lost_row(family)
        raise ImpossibleRow(
            f"row {rows.row_name(lost[0])} {why}, {len(lost)} of {rows.n} rows in all; {advice}, "
            "or let impossible='prior' decide by the shares of the components"
        )
    largest = max(range(len(weights)), key=lambda k: (weights[k], -k))
    for i in lost:
        labels[i] = largest
