"""Mixtures from any data: the call, where it starts, and the door (chapters 30 to 32).

Each family has two functions: one hands out the passes of the EM loop, one runs them to the end.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, NotFinite
from refclust.fitting.checks import clusters
from refclust.fitting.options import LEFT_OPEN
from refclust.fitting.rows import Rows
from refclust.mixture.em import USUAL, EMSteps
from refclust.mixture.families.family import Densities, Family
from refclust.mixture.families.record import FamilyRecord
from refclust.mixture.options import (
    Gapped,
    MixtureCall,
    Start,
)
from refclust.mixture.results import MixtureFit
from refclust.mixture.starts import from_shares, numbered, responsibilities_of
from refclust.numbers.reading import shown

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")


def finished(steps: EMSteps[P, D, M]) -> MixtureFit[P]:
    """The best of all runs, each run to its end.

    Spec: EM-ALG, EM-RESTART
    """
    for _ in steps:
        pass
    return steps.result()


@dataclass(frozen=True, slots=True)
class Beginning:
    """A call at the door: its rows, the number of components, and labels to start from, if any.

    Spec: EM-INIT
    """

    call: MixtureCall
    rows: Rows
    k: int
    labels: array[int] | None
    soft: array[float] | None = None  # responsibilities to start from, row after row

    @classmethod
    def of(cls, call: MixtureCall) -> Beginning:
        """Read the rows and where to start.

        Spec: EM-INIT
        """
        gaps = isinstance(call, Gapped) and call.missing == "integrate"
        data = dataset(call.data, weights=call.weights, gaps=gaps)
        try:
            math.fsum(data.weights or ())
        except OverflowError:
            raise NotFinite(
                "the weights add up to more than the largest double; divide them by a power of ten"
            ) from None
        session = call.session or Session(call.backend)
        if call.parameters is not None and call.labels is not None:
            raise BadOption("parameters and labels were both given; a fit starts from one of them")
        labels, due, soft = None, None, None
        if not isinstance(call.start, str) and call.start is not LEFT_OPEN:
            soft = responsibilities_of(call.start, data.n)
            due = len(soft) // data.n
        elif call.parameters is not None:
            due = _components(call.parameters)
        elif call.labels is not None:
            labels, names = numbered(call.labels, data.n)
            due = len(names)
        if due is not None and isinstance(call.k, int) and call.k != due:
            raise BadOption(f"k is {shown(call.k)}, but {due} components were given to start from")
        k = clusters(due if call.k is None else call.k, data.n)
        return cls(call, Rows(data, session, call.restarts * USUAL), k, labels, soft)

    def steps(self, family: Family[P, D, M]) -> EMSteps[P, D, M]:
        """The passes of a family.

        Spec: EM-ALG
        """
        call = self.call
        start = cast(Start, call.usual_start if call.start is LEFT_OPEN else call.start)
        beginning: Any = self.labels
        if self.soft is not None:
            start, beginning = "given", from_shares(family, self.soft, self.k)
        elif call.parameters is not None:
            start, beginning = "given", family.read(call.parameters)
        elif beginning is not None:
            start = "labels"
        return EMSteps(family, self.rows, call.settled(self.k, start), beginning, call.checkpoint)


def begun_by(record: FamilyRecord, call: MixtureCall) -> EMSteps[Any, Any, Any]:
    """The passes of the family that a record tells of, from a call of it.

    Spec: EM-ALG
    """
    begin = Beginning.of(call)
    return begin.steps(record.on(begin.rows, begin.k, vars(call)))


def _components(parameters: Any) -> int:
    """How many components given parameters, or beliefs about them, have."""
    for name in ("weights", "alpha"):
        known = isinstance(parameters, Mapping)
        shares = parameters.get(name) if known else getattr(parameters, name, None)
        if isinstance(shares, Sized):
            return len(shares)
    raise BadOption(
        f"the parameters to start from are a {type(parameters).__name__} without weights of "
        "components; parameters of a fit are needed"
    )
