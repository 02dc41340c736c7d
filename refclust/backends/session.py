"""Sessions: one fit or one scoring call, in which each kernel is bound to one backend, once.

Selection: the argument, else the environment variable ``REFCLUST_BACKEND``, else ``auto``, which
takes the fastest exact backend that supports the problem (chapter 80, BK-SELECT). What ran where
is part of every result.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from refclust.backends import discovery
from refclust.backends.protocol import Backend, Estimate, Problem, Refusal
from refclust.backends.traits import with_traits
from refclust.errors import BackendContract, BackendFailure, BackendRefused, RefclustError
from refclust.kernels.registry import KERNELS
from refclust.version import __version__

BACKEND_VARIABLE = "REFCLUST_BACKEND"
AUTO = "auto"
REFERENCE = "reference"
# Of each family of kernels the one that takes the time: it decides where all of them run.
_LEADERS = {
    "kmeans": "kmeans.lloyd_step",
    "seeding": "seeding.potential",
    "gaussian": "gaussian.em_step",
    "multinomial": "multinomial.em_step",
}


@dataclass(frozen=True, slots=True)
class KernelRun:
    """Which backend ran a kernel, why, how often and for how long."""

    kernel: str
    backend: str
    distribution: str
    version: str
    reason: str
    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Decided:
    """How many rows a backend decided on one rung of its ladder, all calls together."""

    backend: str
    rung: str
    rows: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a result came from."""

    refclust: str
    requested: str
    kernels: tuple[KernelRun, ...]
    decided: tuple[Decided, ...] = ()  # of backends that tell it


@dataclass(slots=True)
class _Binding:
    record: discovery.Record
    backend: Backend
    function: Callable[..., Any]
    reason: str
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Prepared:
    backend: Backend
    data: Any
    made: Any


class Session:
    """Binds kernels, prepares data once per backend, counts calls and seconds."""

    def __init__(self, backend: str | None = None) -> None:
        self.requested = backend or os.environ.get(BACKEND_VARIABLE) or AUTO
        self._bindings: dict[str, _Binding] = {}
        # By kernel and traits: where calls go that the backend of the kernel declined.
        self._apart: dict[tuple[str, frozenset[str]], _Binding | None] = {}
        self._prepared: dict[tuple[str, int], _Prepared] = {}
        self._decided: Counter[tuple[str, str]] = Counter()  # on data that were released
        if self.requested not in (AUTO, REFERENCE):
            self._check_offer()

    def bound_to(self, kernel: str, problem: Problem) -> str:
        """Tell which backend runs a kernel, its version, and that of Python; binds it for good."""
        record = self._binding(kernel, problem).record
        python = f"{platform.python_implementation()} {platform.python_version()}"
        where = f"{sys.platform} {platform.machine()}"
        name = record.backend.name if record.backend is not None else ""
        ours = f"refclust {__version__}"
        return f"{name} ({record.distribution} {record.version}), {ours}, {python}, {where}"

    def _binding(self, kernel: str, problem: Problem) -> _Binding:
        if kernel not in self._bindings:
            self._bindings[kernel] = self._bind(kernel, problem)
        bound = self._bindings[kernel]
        asked = kernel, problem.traits
        if asked not in self._apart:
            # The first call decided; one of another kind may be declined, and goes elsewhere.
            reason = _refusal(bound.backend, kernel, problem)
            self._apart[asked] = (
                None
                if reason is None
                else _bound(discovery.find(REFERENCE), kernel, f"{bound.backend.name}: {reason}")
            )
        return self._apart[asked] or bound

    def run(self, kernel: str, problem: Problem, data: Any, *args: Any) -> Any:
        """Run a kernel on the backend it is bound to and return plain Python objects."""
        binding = self._binding(kernel, with_traits(problem, data, args))
        started = time.perf_counter()
        try:
            prepared = self._prepare(binding.backend, data)
            answer = binding.backend.export(binding.function(prepared, *args))
        except RefclustError:
            raise
        except Exception as error:
            if binding.backend.name == REFERENCE:
                raise
            raise BackendFailure(
                f"the backend {binding.backend.name!r} ({binding.record.distribution} "
                f"{binding.record.version}) failed in {kernel}: {type(error).__name__}: {error}"
            ) from error
        binding.calls += 1
        binding.seconds += time.perf_counter() - started
        if binding.backend.name != REFERENCE:
            malformed = KERNELS[kernel].contract.malformed(answer)
            if malformed:
                raise BackendContract(
                    f"the backend {binding.backend.name!r} broke the contract of {kernel}: "
                    f"{malformed}"
                )
        return answer

    def release(self, data: Any) -> None:
        """Forget what was prepared for some data that will not come again."""
        gone = [key for key, one in self._prepared.items() if one.data is data]
        self._decided += _decided([self._prepared.pop(key) for key in gone])

    def provenance(self) -> Provenance:
        """Return what ran where so far."""
        runs = (
            KernelRun(
                kernel=kernel,
                backend=binding.backend.name,
                distribution=binding.record.distribution,
                version=binding.record.version,
                reason=binding.reason,
                calls=binding.calls,
                seconds=binding.seconds,
            )
            for kernel, binding in self._used()
            if binding.calls
        )
        now = _decided(self._prepared.values())
        decided = (Decided(*key, rows) for key, rows in (self._decided + now).items())
        return Provenance(__version__, self.requested, tuple(runs), tuple(decided))

    def _used(self) -> list[tuple[str, _Binding]]:
        apart = [(asked[0], one) for asked, one in self._apart.items() if one is not None]
        return sorted([*self._bindings.items(), *apart], key=lambda pair: pair[0])

    def _prepare(self, backend: Backend, data: Any) -> Any:
        key = (backend.name, id(data))
        if key not in self._prepared:
            # The data are kept beside what was made of them: an id is only unique while alive.
            self._prepared[key] = _Prepared(backend, data, backend.prepare(data))
        return self._prepared[key].made

    def _check_offer(self) -> None:
        backend = discovery.find(self.requested).backend
        assert backend is not None
        if not set(backend.kernels()) & set(KERNELS):
            raise BackendRefused(
                f"the backend {self.requested!r} offers none of the kernels "
                f"{', '.join(sorted(KERNELS))}"
            )

    def _bind(self, kernel: str, problem: Problem) -> _Binding:
        if self.requested == AUTO:
            return self._bind_beside(kernel, problem) or self._bind_fastest(kernel, problem)
        record = discovery.find(self.requested)
        assert record.backend is not None
        reason = _refusal(record.backend, kernel, problem)
        if reason is None:
            return _bound(record, kernel, "asked for by name")
        return _bound(discovery.find(REFERENCE), kernel, f"{self.requested}: {reason}")

    def _bind_beside(self, kernel: str, problem: Problem) -> _Binding | None:
        """Go where the heaviest kernel of the family runs: they share what one has made."""
        leader = _LEADERS.get(kernel.partition(".")[0])
        if leader is None or leader == kernel:
            return None
        if leader not in self._bindings:
            self._bindings[leader] = self._bind_fastest(leader, problem)
        record = self._bindings[leader].record
        if _estimate(record, kernel, problem) is None:
            return None
        return _bound(record, kernel, f"where {leader} runs")

    def _bind_fastest(self, kernel: str, problem: Problem) -> _Binding:
        offers: list[tuple[float, int, discovery.Record]] = []
        for position, record in enumerate(discovery.discover()):
            seconds = _estimate(record, kernel, problem)
            if seconds is not None:
                offers.append((seconds, position, record))
        _, _, record = min(offers)
        return _bound(record, kernel, "the fastest that supports the problem")


def _decided(prepared: Iterable[_Prepared]) -> Counter[tuple[str, str]]:
    """What backends tell about prepared data: how many rows were decided on which rung."""
    counted: Counter[tuple[str, str]] = Counter()
    for one in prepared:
        tell = getattr(one.backend, "decided", None)
        try:
            for rung, rows in tell(one.made).items() if callable(tell) else ():
                counted[one.backend.name, rung] += rows
        except Exception as error:
            raise BackendFailure(
                f"the backend {one.backend.name!r} cannot tell how rows were decided: "
                f"{type(error).__name__}: {error}"
            ) from error
    return counted


def _estimate(record: discovery.Record, kernel: str, problem: Problem) -> float | None:
    """Return the seconds an exact backend expects to need, or ``None`` if it is out."""
    backend = record.backend
    if backend is None or backend.accuracy != "exact":
        return None
    try:
        if kernel not in backend.kernels():
            return None
        support = backend.supports(kernel, problem)
    except Exception:
        return None  # nobody asked for it by name, so its trouble is not the user's
    return support.seconds if isinstance(support, Estimate) else None


def _refusal(backend: Backend, kernel: str, problem: Problem) -> str | None:
    if kernel not in backend.kernels():
        return "it has no such kernel"
    support = backend.supports(kernel, problem)
    return support.reason if isinstance(support, Refusal) else None


def _bound(record: discovery.Record, kernel: str, reason: str) -> _Binding:
    assert record.backend is not None
    return _Binding(record, record.backend, record.backend.kernels()[kernel], reason)
