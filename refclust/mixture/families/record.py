"""What is known of a family of mixtures: one record, which everybody looks into (chapter 30).

The loop, predictions, samples, certificates, model files, summaries and the command line know no
family by name: they ask its record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from refclust.data.dataset import Dataset
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import Posterior
from refclust.kernels.points import Vector
from refclust.mixture.families.counts.means import Law
from refclust.mixture.families.family import Family
from refclust.mixture.options import MixtureCall
from refclust.numbers.real import Interval
from refclust.numbers.reals.intervals import Arithmetic

RowDraw: TypeAlias = Callable[[int], Vector]  # of a component: one row of it
LeftOut: TypeAlias = float | Sequence[float]  # of all rows alike, or of each


class Joint(Protocol):
    """Encloses log p(x, k) of a row for every component that can have made it."""

    def of(self, row: Vector) -> list[Interval]:
        """One interval for each such component."""


@dataclass(frozen=True, slots=True)
class FamilyRecord:
    """A family of mixtures; parameters are those of its own type."""

    name: str  # on the command line and in model files
    title: str  # in sentences
    call: type[MixtureCall]  # its options
    parameters: type[Any]
    on: Callable[[Rows, int, Mapping[str, Any]], Family[Any, Any, Any]]  # rows, K, settings
    columns: Callable[[Any], int]  # of the rows that parameters are made for
    check: Callable[[Any, int], None]  # refuses parameters that are no mixture over d columns
    posterior: Callable[[Any, Rows, bool], Posterior]  # a pass; full or not
    left_out: Callable[[Any, Dataset], LeftOut]  # what such a pass leaves out of log p(x)
    exact: Callable[[Any, Arithmetic], Joint]
    rows: Callable[[Any, Draws, float | None], RowDraw]  # draws rows; the mean length of documents
    example: str  # of the command line
    law: Law | None = None  # of counts that are given by their means
