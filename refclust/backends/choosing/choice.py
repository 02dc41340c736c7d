"""Which backend runs a kernel: as asked for by name, or the fastest that has earned it (BK-SELECT).

Where a contract leaves room for the last bits, the choice looks at the problem, the installed
versions and the machine only: never at what ran before, was compiled, or was checked already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Protocol

from refclust.backends.choosing import earning, offer
from refclust.backends.plugins import discovery
from refclust.backends.plugins.discovery import Record
from refclust.backends.protocol import Estimate, Problem, Refusal
from refclust.errors import BackendRefused, RefclustError
from refclust.kernels.registry import KERNELS
from refclust.notes import tell

AUTO: Final = "auto"
REFERENCE: Final = "reference"
# Of each family of kernels the one that takes the time: it decides where all of them run.
_LEADERS: Final = {
    "kmeans": "kmeans.lloyd_step",
    "seeding": "seeding.potential",
    "gaussian": "gaussian.em_step",
    "multinomial": "multinomial.em_step",
}
# Contracts that two backends may keep with different last bits.
_BOUNDED: Final = frozenset(
    (
        *("LogProb", "Moments", "EMStep", "Whitens", "Traces", "Scatters", "Logarithms"),
        *("Estimates", "Lengths"),
    )
)
_TOLL: Final = 0.5  # seconds; stands for a check that one fit in a few has to wait for


@dataclass(frozen=True, slots=True)
class Choice:
    """A backend for a kernel, and why."""

    record: Record
    reason: str


class Ran(Protocol):
    """What is known of a kernel that ran: where, in which version, and why there."""

    @property
    def backend(self) -> str:
        """The name of the backend."""

    @property
    def distribution(self) -> str:
        """The distribution it came with."""

    @property
    def version(self) -> str:
        """The version of the distribution."""

    @property
    def reason(self) -> str:
        """Why it was chosen."""


def leader(kernel: str) -> str | None:
    """The heaviest kernel of the family, unless it is this one.

    >>> leader("kmeans.means"), leader("kmeans.lloyd_step"), leader("contingency.table")
    ('kmeans.lloyd_step', None, None)
    """
    heaviest = _LEADERS.get(kernel.partition(".")[0])
    return None if heaviest == kernel else heaviest


def bounded(kernel: str) -> bool:
    """Whether two right answers may differ in their last bits.

    >>> bounded("gaussian.em_step"), bounded("kmeans.lloyd_step")
    (True, False)
    """
    return KERNELS[kernel].contract.name in _BOUNDED


def check_offer(name: str) -> None:
    """Refuse a backend asked for by name that is not there or has none of our kernels."""
    if not set(offer.kernels(discovery.find(name))) & set(KERNELS):
        raise BackendRefused(
            f"the backend {name!r} offers none of the kernels {', '.join(sorted(KERNELS))}"
        )


def by_name(name: str, kernel: str, problem: Problem) -> Choice:
    """The backend that was asked for, or the reference for what it does not do."""
    record = discovery.find(name)
    return declined(record, kernel, problem) or Choice(record, "asked for by name")


def declined(record: Record, kernel: str, problem: Problem) -> Choice | None:
    """The reference, if the backend does not do the kernel on such a problem, and why."""
    if record.own:
        return None
    answer = offer.support(record, kernel, _asked(kernel, problem))
    if isinstance(answer, Refusal):
        return Choice(discovery.find(REFERENCE), f"{record.name}: {answer.reason}")
    return None


def again(before: Ran, kernel: str, problem: Problem) -> Choice | None:
    """Stay where the kernel ran before a stop, for the reason of then, if that is still there."""
    for record in discovery.discover():
        same = (record.name, record.distribution, record.version)
        if same == (before.backend, before.distribution, before.version):
            usable = _estimate(record, kernel, problem) is not None
            if usable and (record.own or _passes(record, kernel)):
                return Choice(record, before.reason)
    return None


def beside(first: Record, heaviest: str, kernel: str, problem: Problem) -> Choice | None:
    """Go where the heaviest kernel of the family runs: they share what one has made."""
    if _estimate(first, kernel, problem) is None or not (first.own or _passes(first, kernel)):
        return None
    return Choice(first, f"where {heaviest} runs")


def fastest(kernel: str, problem: Problem) -> Choice:
    """The fastest exact backend that supports the problem and passes the short kit."""
    discovery.tell_troubles()
    reference = discovery.find(REFERENCE)
    best = _estimate(reference, kernel, problem)
    assert best is not None
    rivals: list[tuple[float, int, Record]] = []
    for position, record in enumerate(discovery.discover()):
        seconds = None if record.own else _estimate(record, kernel, problem)
        if seconds is not None and seconds < best:
            rivals.append((seconds + _wait(record, kernel, problem), position, record))
    for seconds, _, record in sorted(rivals, key=lambda rival: rival[:2]):
        if seconds < best and _passes(record, kernel):
            return Choice(record, "the fastest that supports the problem")
    return Choice(reference, "the fastest that supports the problem")


def _asked(kernel: str, problem: Problem) -> Problem:
    return replace(problem, steady=True) if bounded(kernel) else problem


def _estimate(record: Record, kernel: str, problem: Problem) -> float | None:
    """The seconds an exact backend expects to need, or ``None`` if it is out."""
    if record.state != "ready" or record.accuracy != "exact":
        return None
    try:
        answer = offer.support(record, kernel, _asked(kernel, problem))
    except RefclustError as error:
        _leave_out(record, error)
        return None
    return answer.seconds if isinstance(answer, Estimate) else None


def _wait(record: Record, kernel: str, problem: Problem) -> float:
    """The seconds by which a check delays the result; always the same where bits may differ."""
    if bounded(kernel):
        return _TOLL
    try:
        kernels = earning.together(record, kernel)
        known = earning.known(record, kernels)
        return 0.0 if known is not None else earning.price(record, kernels, problem)
    except RefclustError as error:
        _leave_out(record, error)
        return math.inf


def _passes(record: Record, kernel: str) -> bool:
    """Whether the backend passed, or passes now, the short kit for the kernels of such a fit."""
    try:
        kernels = earning.together(record, kernel)
        verdict = earning.known(record, kernels) or earning.earn(record, kernels)
    except RefclustError as error:
        _leave_out(record, error)
        return False
    if not verdict.ok:
        earning.tell_fault(record, verdict)
    return verdict.ok


def _leave_out(record: Record, error: RefclustError) -> None:
    """Tell of trouble with a backend that nobody asked for by name; once, whatever the kernel."""
    tell(record.seen.setdefault("left out", f"{error}; it is left out"))
