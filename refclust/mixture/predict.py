"""Rows under a mixture: labels, responsibilities, densities (EM-PRED, chapter 30)."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args, overload

from refclust.backends.session import Provenance, Session
from refclust.data.accepting.door import dataset
from refclust.data.align import aligned
from refclust.data.dataset import Dataset, Features
from refclust.errors import BadOption, DimensionMismatch, ImpossibleRow, IndexOutOfRange
from refclust.fitting.checks import named
from refclust.fitting.fitted import Predicted
from refclust.fitting.labels import Labels
from refclust.fitting.memory import for_shares
from refclust.fitting.rows import Rows
from refclust.kernels.blocks import Doubles, blocks
from refclust.kernels.clusters.kmeans import copied
from refclust.kernels.mixtures.shared import SOFT, Posterior, floats, shares
from refclust.kernels.points import Vector
from refclust.mixture.families.counts.means import MeanParameters
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters, readable
from refclust.mixture.families.gaussian.ranges import lost_row
from refclust.mixture.families.named import names, record
from refclust.mixture.families.record import LeftOut
from refclust.mixture.options import Missing
from refclust.numbers.reading import shown
from refclust.shown.page import Summary

Parameters: TypeAlias = GaussianParameters | CountParameters | MeanParameters
Impossible: TypeAlias = Literal["error", "prior"]


@dataclass(frozen=True, slots=True, repr=False)
class Assignments(Predicted):
    """What a mixture says of every row.

    Spec: EM-PRED
    """

    labels: array[int]  # the most probable component, the lowest index of equals
    log_likelihoods: array[float]  # log p(x)
    joint: array[float] | None  # log p(x, k), row after row, if asked for
    weights: Vector  # the shares of the components
    unseen: int  # features of the rows that the mixture does not know
    provenance: Provenance

    def __post_init__(self) -> None:
        """Hand the labels out in the form that data frames take."""
        object.__setattr__(self, "labels", Labels(self.labels))

    def _summary(self) -> Summary:
        from refclust.mixture.summary import of_assignments

        return of_assignments(self)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"cluster": self.labels}
        if self.joint is not None:
            shares = zip(*self.responsibilities(), strict=True)
            columns |= {f"p{k}": column for k, column in enumerate(shares)}
        return columns | {"log_likelihood": self.log_likelihoods}

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
        i = row_number(i, len(self.labels))
        return tuple(self.joint[i * self.k : (i + 1) * self.k])

    @overload
    def responsibilities(self, i: int) -> Vector: ...

    @overload
    def responsibilities(self) -> tuple[Vector, ...]: ...

    def responsibilities(self, i: int | None = None) -> Vector | tuple[Vector, ...]:
        """The posterior probability of every component for one row, or for all, a tuple each.

        Of a row that no component can have made it is the prior.

        Spec: EM-PRED, EM-ESTEP
        """
        if i is None:
            return tuple(self.responsibilities(row) for row in range(len(self.labels)))
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


def row_number(i: Any, n: int) -> int:
    """The number of a row, from 0 to n - 1.

    Spec: none (a check)

    >>> row_number(2, 3)
    2
    """
    if isinstance(i, bool) or not isinstance(i, Integral):
        raise BadOption(f"the row is {shown(i)}; a whole number from 0 to {n - 1} is needed")
    if not 0 <= int(i) < n:
        raise IndexOutOfRange(f"there is no row {shown(int(i))}; the rows are 0 to {n - 1}")
    return int(i)


def assignments(
    parameters: Parameters,
    data: Any,
    *,
    family: str,
    features: Features | None = None,
    full: bool = True,
    impossible: Impossible = "error",
    missing: Missing = "refuse",
    backend: str | None = None,
    session: Session | None = None,
) -> Assignments:
    """Find the component of every row; a row that none can have made is an error, or goes by share.

    With ``missing="integrate"`` a Gaussian mixture judges a row by the cells that are there.

    Spec: EM-PRED, NB-PRED, QDA-MAP, MISS-PRED

    >>> two = CountParameters((0.5, 0.5), ((0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))
    >>> found = assignments(two, [[1, 0, 0], [0, 0, 2]], family="multinomial")
    >>> found.labels.tolist(), found.responsibilities(0)
    ([0, 1], (0.5, 0.5))
    """
    named("impossible", impossible, ("error", "prior"))
    check_mixture(parameters, family)
    known = dataset(data, gaps=takes_gaps(family, missing))
    rows, unseen = aligned(known, features, record(family).columns(parameters))
    session = Session(backend) if session is None else session
    if full:
        for_shares(rows.n, len(parameters.weights))
    posterior, left_out = evaluated(parameters, Rows(rows, session), family, full=full)
    made = assigned(posterior, left_out, parameters.weights, unseen, session)
    if -math.inf in made.log_likelihoods:
        _without_component(rows, made, impossible, family)
    return made


def takes_gaps(family: str, missing: Missing) -> bool:
    """Whether cells may be missing; only normal densities can do without a cell.

    Spec: MISS-CELL

    >>> takes_gaps("gaussian", "integrate"), takes_gaps("poisson", "refuse")
    (True, False)
    """
    named("missing", missing, get_args(Missing))
    if missing == "integrate" and family != "gaussian":
        raise BadOption(f"missing='integrate' belongs to gaussian mixtures, not to {family} ones")
    return missing == "integrate"


def assigned(
    posterior: Posterior, left_out: LeftOut, weights: Vector, unseen: int, session: Session
) -> Assignments:
    """What a pass found of every row, with what it left out of log p(x).

    Spec: EM-PRED
    """
    each = with_left_out(posterior.log_likelihoods, left_out)
    joint = (
        None if posterior.joint is None else with_left_out(posterior.joint, left_out, len(weights))
    )
    return Assignments(copied(posterior.labels), each, joint, weights, unseen, session.provenance())


def check_mixture(parameters: Parameters, family: str, d: int | None = None) -> None:
    """Refuse parameters that are no mixture of the family, or not one over d columns.

    Probabilities of words need not add up to one here: naive Bayes gives scores (NB-MEST1H).
    """
    named("family", family, names())
    known = record(family)
    if not isinstance(parameters, known.parameters):
        raise BadOption(
            f"the parameters are a {type(parameters).__name__}; {known.title} has "
            f"{known.parameters.__name__}"
        )
    with readable("those of a mixture"):
        columns = known.columns(parameters)
    known.check(parameters, columns)
    if d is not None and d != columns:
        raise DimensionMismatch(f"the rows have {d} columns, the parameters {columns}")


def evaluated(
    parameters: Parameters, rows: Rows, family: str, *, full: bool
) -> tuple[Posterior, LeftOut]:
    """One pass over rows under given parameters, and what it leaves out of log p(x).

    Spec: EM-PRED, MIX-MARGLL
    """
    known = record(family)
    return known.posterior(parameters, rows, full), known.left_out(parameters, rows.data)


def with_left_out(values: Doubles, left_out: LeftOut, k: int = 1) -> array[float]:
    """Numbers of rows, k of each, with what a pass left out of log p(x).

    Spec: EM-PRED

    >>> with_left_out(array("d", [1, 2, 3, 4]), [10.0, 20.0], 2)
    array('d', [11.0, 12.0, 23.0, 24.0])
    """
    if isinstance(left_out, float):
        return array("d", (x + left_out for x in floats(values)))
    return array(
        "d", (x + own for own, row in zip(left_out, blocks(values, k), strict=True) for x in row)
    )


def _without_component(
    rows: Dataset, made: Assignments, impossible: Impossible, family: str
) -> None:
    """Deal with rows of probability zero under every component."""
    lost = [i for i, x in enumerate(made.log_likelihoods) if x == -math.inf]
    if impossible == "error":
        why, advice = lost_row(family)
        raise ImpossibleRow(
            f"row {rows.row_name(lost[0])} {why}, {len(lost)} of {rows.n} rows in all; {advice}, "
            "or let impossible='prior' decide by the shares of the components"
        )
    largest = max(range(made.k), key=lambda k: (made.weights[k], -k))
    for i in lost:
        made.labels[i] = largest
