"""Lockstep: what the reference does on a rung, call by call, for backends to do again (chapter 81).

The script of a rung holds every call with the answer that is due. A backend runs it twice: once
each call is given the state that the reference had, so that a fault is pinned to one kernel and one
step; once the state that the backend itself made, so that what it keeps between calls is tried too.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from refclust.backends.builtin import Reference
from refclust.backends.protocol import Problem
from refclust.backends.traits import with_traits
from refclust.data.dataset import Dataset
from refclust.errors import RefclustError
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.information import Margins
from refclust.kernels.linkage import LINKAGES, SQUARED
from refclust.kernels.registry import KERNELS
from refclust.testing.rungs import Rung
from refclust.testing.scripts.mixture_calls import count_calls, gaussian_calls, rule_calls
from refclust.testing.scripts.pass_calls import PASSES, pass_calls
from refclust.testing.scripts.row_calls import (
    candidate_calls,
    distance_calls,
    few_calls,
    first_rows,
    fit_calls,
    has_pairs,
    kmeans_calls,
    path_calls,
    seeding_calls,
    step_calls,
)
from refclust.testing.scripts.term_calls import term_calls

_DIGITS: Final = (12, 30, 60)
_MORE_DIGITS: Final = 30


@dataclass(frozen=True, slots=True)
class Raised:
    """The answer that is due is an error."""

    code: str


@dataclass(frozen=True, slots=True)
class Made:
    """An argument that an earlier call of the script made, or a part of what it made."""

    call: int
    part: str = ""
    columns: int = 0  # of centres, if the answer is to be taken for such, as drivers take means

    def of(self, answer: Any) -> Any:
        """The argument, given the answer to that call."""
        if self.columns:
            return CentreMatrix.flat(answer, self.columns)
        return getattr(answer, self.part) if self.part else answer


class Due:
    """What the reference makes of a call, worked out when somebody asks for it first."""

    __slots__ = ("_known", "_work")

    def __init__(self, work: Callable[[], tuple[Problem, Any]]) -> None:
        self._work: Callable[[], tuple[Problem, Any]] | None = work
        self._known: tuple[Problem, Any] | None = None

    def known(self) -> tuple[Problem, Any]:
        """The problem with its traits, and the answer."""
        work = self._work
        if self._known is None and work is not None:
            self._known, self._work = work(), None
        assert self._known is not None
        return self._known


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the kernel, on which of the rung's data, its arguments, and the answer due."""

    kernel: str
    data: int
    args: tuple[Any, ...]
    reference: Due
    note: str = ""  # what is special about it

    @property
    def problem(self) -> Problem:
        """The facts as the drivers tell them."""
        return self.reference.known()[0]

    @property
    def due(self) -> Any:
        """The answer that is due."""
        return self.reference.known()[1]


@dataclass(slots=True)
class Script:
    """The calls of a rung in their order, and the data they are made on."""

    data: list[Any]
    calls: list[Call] = field(default_factory=list)
    _prepared: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Let the reference prepare the data."""
        self._prepared = [Reference().prepare(data) for data in self.data]

    def call(self, kernel: str, *args: Any, data: int = 0, k: int = 1, note: str = "") -> Made:
        """Add a call; what the reference answers, or raises, is due."""
        sources = [self.calls[arg.call] if isinstance(arg, Made) else arg for arg in args]

        def work() -> tuple[Problem, Any]:
            values = [
                arg.of(source.due) if isinstance(arg, Made) else arg
                for arg, source in zip(args, sources, strict=True)
            ]
            problem = with_traits(_problem(self.data[data], k, args), self.data[data], values)
            if kernel == "information.expected_mi":
                values[0] += _MORE_DIGITS  # the interval must hold one that is far narrower
            try:
                return problem, KERNELS[kernel].reference(self._prepared[data], *values)
            except RefclustError as error:
                return problem, Raised(error.code)

        self.calls.append(Call(kernel, data, args, Due(work), note))
        return Made(len(self.calls) - 1)

    def work_out(self, kernels: Collection[str] | None = None) -> None:
        """Have the reference answer all calls, or those of some kernels and what these are given.

        Nobody who is timed or watched waits for it then.
        """
        for call in self.calls:
            if kernels is None or call.kernel in kernels:
                call.reference.known()

    def answer(self, call: Call, args: Sequence[Any]) -> Any:
        """What the reference would answer to a call with these arguments on the data here."""
        return KERNELS[call.kernel].reference(self._prepared[call.data], *args)

    def value(self, arg: Any) -> Any:
        """An argument as the reference had it."""
        return self.due(arg) if isinstance(arg, Made) else arg

    def due(self, made: Made) -> Any:
        """What the reference made."""
        return made.of(self.calls[made.call].due)


def script(rung: Rung) -> Script:
    """The script of a rung, made once; answers are worked out when they are asked for.

    >>> from refclust.testing.ladder import ladder
    >>> script(ladder()[0]).calls[0].kernel
    'kmeans.assign'
    """
    return _kept(rung)


def kernels_of(rung: Rung) -> frozenset[str]:
    """The kernels that the script of a rung calls, known before it is worked out.

    >>> from refclust.testing.ladder import ladder
    >>> [sorted(kernels_of(rung)) for rung in ladder() if rung.kind == "distances"][0]
    ['linkage.agglomerate']
    """
    match rung.kind:
        case "labels":
            return frozenset(["contingency.table"])
        case "margins":
            return frozenset(["information.expected_mi"])
        case "distances":
            return frozenset(["linkage.agglomerate"])
        case "gaussian":
            return _family("gaussian.")
        case "counts":
            return _family("multinomial.")
        case "several":
            return frozenset().union(*map(kernels_of, rung.data))
        case "pairs":
            return frozenset(["distances.pairwise"]) | PASSES
        case "passes":
            return PASSES
        case "path" | "cosine-path" | "fit":
            steps = ("lloyd_step", "means", "residual", "assign")
            return frozenset(f"kmeans.{name}" for name in steps)
        case "candidates":
            return frozenset(["seeding.potential", "seeding.best_candidate"])
        case "terms":
            return frozenset(["multinomial.posterior", "multinomial.em_step"])
        case "rules":
            return (_family("gaussian.") | _family("multinomial.")) - {"multinomial.logs"}
        case "mixture-calls":
            return _family("gaussian.") | _family("multinomial.")
        case "all-rows":
            rows = kernels_of(replace(rung, kind="rows"))
            return rows | _family("gaussian.") | _family("multinomial.")
        case "some-calls":
            rows = kernels_of(replace(rung, kind="rows", large=True))
            return rows | _family("gaussian.") | _family("multinomial.")
    names = set(_family("kmeans.") | _family("seeding."))
    if rung.kind not in ("cosine", "cosine-steps"):
        names.remove("kmeans.cosine_terms")
    if not rung.large and has_pairs(rung):
        names |= {"distances.pairwise", *PASSES}
    return frozenset(names)


def _family(beginning: str) -> frozenset[str]:
    return frozenset(name for name in KERNELS if name.startswith(beginning))


@cache
def _kept(rung: Rung) -> Script:
    return _script(rung)


def _script(rung: Rung) -> Script:
    match rung.kind:
        case "several":
            return _joined([_script(part) for part in rung.data])
        case "margins":
            made = Script(list(rung.data))
        case "distances":
            made = Script([rung.data, array("d", map(math.sqrt, rung.data))])
        case _:
            made = Script([rung.data])
    _write(made, rung)
    return made


def _write(made: Script, rung: Rung) -> None:
    """Add the calls of one rung to a script over its data."""
    match rung.kind:
        case "labels":
            made.call("contingency.table")
        case "margins":
            for place in range(len(rung.data)):
                for digits in _DIGITS:
                    made.call("information.expected_mi", digits, data=place)
        case "distances":
            for linkage in (*LINKAGES, "no-such-linkage"):
                place = 0 if linkage in SQUARED else 1
                made.call("linkage.agglomerate", rung.n, linkage, data=place, note=linkage)
        case "gaussian":
            starts = rung.centres or first_rows(rung.data, rung.k)
            gaussian_calls(made, starts, sharp=rung.sharp, few=rung.large)
        case "counts":
            count_calls(made, rung.k, few=rung.large)
        case "all-rows":
            _write(made, replace(rung, kind="rows"))
            _few_mixture_calls(made, rung)
        case "some-calls":
            _write(made, replace(rung, kind="rows", large=True))
            _few_mixture_calls(made, rung)
        case "mixture-calls":
            _few_mixture_calls(made, rung)
        case "pairs":
            distance_calls(made, rung)
        case "passes":
            pass_calls(made, rung)
        case "path" | "cosine-path":
            path_calls(made, rung.path, "euclidean" if rung.kind == "path" else "cosine")
        case "fit":
            fit_calls(made, rung)
        case "candidates":
            candidate_calls(made, rung.centres or ())
        case "rules":
            rule_calls(made, rung.k)
        case "terms":
            term_calls(made, rung.k)
        case "steps" | "cosine-steps":
            step_calls(made, rung)
        case _ if rung.large:
            few_calls(made, rung)
        case _:
            kmeans_calls(made, rung)
            seeding_calls(made, rung)
            distance_calls(made, rung)


def _few_mixture_calls(made: Script, rung: Rung) -> None:
    gaussian_calls(made, first_rows(rung.data, rung.k), few=True)
    count_calls(made, rung.k, few=True)


def _joined(scripts: Sequence[Script]) -> Script:
    """One script after another, as if they were one."""
    made = Script([data for part in scripts for data in part.data])
    place = 0
    for part in scripts:
        first = len(made.calls)
        for call in part.calls:
            args = tuple(
                replace(arg, call=first + arg.call) if isinstance(arg, Made) else arg
                for arg in call.args
            )
            made.calls.append(replace(call, data=place + call.data, args=args))
        place += len(part.data)
    return made


def _problem(data: Any, k: int, args: tuple[Any, ...]) -> Problem:
    """The facts as the drivers tell them."""
    match data:
        case Dataset():
            return Problem(data.kind, data.n, len(data.matrix.values), k)
        case LabelPairs():
            return Problem("labels", len(data.classes))
        case Margins():
            return Problem("margins", data.total, len(data.rows) * len(data.columns))
        case _:
            return Problem("distances", args[0], len(data))
