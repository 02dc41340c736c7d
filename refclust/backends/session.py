"""Sessions: one fit or one scoring call, in which each kernel is bound to one backend, once.

Selection: the argument, else the environment variable ``REFCLUST_BACKEND``, else ``auto``, which
takes the fastest exact backend that supports the problem and has shown that it is right (chapter
80, BK-SELECT). What ran where is part of every result.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from refclust.backends.choosing import choice, offer
from refclust.backends.choosing.choice import AUTO as AUTO
from refclust.backends.choosing.choice import REFERENCE as REFERENCE
from refclust.backends.choosing.choice import Choice
from refclust.backends.plugins.capture import caught
from refclust.backends.plugins.discovery import Record
from refclust.backends.plugins.guard import attempt, shown, words
from refclust.backends.protocol import Backend, Problem
from refclust.backends.traits import traits
from refclust.errors import BackendContract, BackendFailure, RefclustError
from refclust.kernels.registry import KERNELS
from refclust.version import __version__

BACKEND_VARIABLE = "REFCLUST_BACKEND"


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
    record: Record
    backend: Backend
    function: Callable[..., Any]
    reason: str
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Prepared:
    name: str
    backend: Backend
    data: Any
    made: Any


class Session:
    """Binds kernels, prepares data once per backend, counts calls and seconds."""

    def __init__(self, backend: str | None = None) -> None:
        self.requested = backend or os.environ.get(BACKEND_VARIABLE) or AUTO
        self._bindings: dict[str, _Binding] = {}
        # By kernel and traits: where calls go; elsewhere, if the backend of the kernel declined.
        self._calls: dict[tuple[str, frozenset[str]], _Binding] = {}
        self._prepared: dict[tuple[str, int], _Prepared] = {}
        self._decided: Counter[tuple[str, str]] = Counter()  # on data that were released
        self._before: dict[str, KernelRun] = {}  # what ran before a stop
        if self.requested not in (AUTO, REFERENCE):
            choice.check_offer(self.requested)

    def bound_to(self, kernel: str, problem: Problem) -> str:
        """Tell which backend runs a kernel, its version, and that of Python; binds it for good."""
        kind = kernel, problem.traits
        record = (self._calls.get(kind) or self._binding(kind, problem)).record
        python = f"{platform.python_implementation()} {platform.python_version()}"
        where = f"{sys.platform} {platform.machine()}"
        ours = f"refclust {__version__}"
        return f"{record.name} ({record.owner}), {ours}, {python}, {where}"

    def runs_on(self, kernel: str, problem: Problem, data: Any, *args: Any) -> str:
        """Tell the name of the backend that would run a call; binds the kernel for good."""
        kind = kernel, traits(data, args)
        return (self._calls.get(kind) or self._binding(kind, problem)).record.name

    def go_on(self, runs: Iterable[KernelRun]) -> None:
        """Bind kernels to whom they were bound before a stop, if nobody asks for a backend."""
        if self.requested == AUTO:
            self._before |= {run.kernel: run for run in runs}

    def _binding(self, kind: tuple[str, frozenset[str]], problem: Problem) -> _Binding:
        """Where calls of a kernel go that have such traits.

        The first call of the kernel decides; one of another kind may be declined, and goes
        elsewhere.
        """
        kernel, problem = kind[0], replace(problem, traits=kind[1])
        if kernel not in self._bindings:
            self._bindings[kernel] = self._bind(kernel, problem)
        bound = self._bindings[kernel]
        elsewhere = choice.declined(bound.record, kernel, problem)
        self._calls[kind] = bound if elsewhere is None else _bound(elsewhere, kernel)
        return self._calls[kind]

    def run(self, kernel: str, problem: Problem, data: Any, *args: Any) -> Any:
        """Run a kernel on the backend it is bound to and return plain Python objects."""
        kind = kernel, traits(data, args)
        binding = self._calls.get(kind) or self._binding(kind, problem)
        started = time.perf_counter()
        if binding.record.name == REFERENCE:
            # Nothing to guard, nothing to export: the reference answers with plain objects.
            key = REFERENCE, id(data)
            prepared = (
                self._prepared[key].made if key in self._prepared else self._prepare(binding, data)
            )
            answer = binding.function(prepared, *args)
        else:
            answer = self._guarded(kernel, binding, data, args)
        binding.calls += 1
        binding.seconds += time.perf_counter() - started
        return answer

    def _guarded(self, kernel: str, binding: _Binding, data: Any, args: tuple[Any, ...]) -> Any:
        """Call a plugin: what it raises is its failure, and what it prints is no result."""
        with caught() as printed:
            try:
                prepared = self._prepare(binding, data)
                answer = binding.backend.export(binding.function(prepared, *args))
            except (RefclustError, KeyboardInterrupt):
                raise
            except BaseException as error:
                # On purpose: ``sys.exit`` in a kernel is no reason to leave the program.
                raise BackendFailure(
                    f"the backend {binding.record.name!r} ({binding.record.owner}) failed in "
                    f"{kernel}: {words(error)}"
                ) from error
        offer.tell_printed(binding.record, printed.text, kernel)
        malformed = _malformed(kernel, answer)
        if malformed:
            raise BackendContract(
                f"the backend {binding.record.name!r} broke the contract of {kernel}: {malformed}"
            )
        return answer

    def release(self, data: Any) -> None:
        """Forget what was prepared for some data that will not come again."""
        gone = [key for key, prepared in self._prepared.items() if prepared.data is data]
        self._decided += _decided([self._prepared.pop(key) for key in gone])

    def provenance(self) -> Provenance:
        """Return what ran where so far."""
        runs = (
            KernelRun(
                kernel=kernel,
                backend=binding.record.name,
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
        apart = [
            (kernel, binding)
            for (kernel, _), binding in self._calls.items()
            if binding is not self._bindings.get(kernel)
        ]
        return sorted([*self._bindings.items(), *apart], key=lambda pair: pair[0])

    def _prepare(self, binding: _Binding, data: Any) -> Any:
        key = (binding.record.name, id(data))
        if key not in self._prepared:
            # The data are kept beside what was made of them: an id is only unique while alive.
            made = binding.backend.prepare(data)
            self._prepared[key] = _Prepared(binding.record.name, binding.backend, data, made)
        return self._prepared[key].made

    def _bind(self, kernel: str, problem: Problem) -> _Binding:
        if self.requested != AUTO:
            return _bound(choice.by_name(self.requested, kernel, problem), kernel)
        before = self._before.get(kernel)
        again = None if before is None else choice.again(before, kernel, problem)
        if again is not None:
            return _bound(again, kernel)
        leader = choice.leader(kernel)
        if leader is not None:
            if leader not in self._bindings:
                self._bindings[leader] = self._bind(leader, problem)
            beside = choice.beside(self._bindings[leader].record, leader, kernel, problem)
            if beside is not None:
                return _bound(beside, kernel)
        return _bound(choice.fastest(kernel, problem), kernel)


def _decided(every: Iterable[_Prepared]) -> Counter[tuple[str, str]]:
    """What backends tell about prepared data: how many rows were decided on which rung."""
    counted: Counter[tuple[str, str]] = Counter()
    for prepared in every:
        done = attempt(lambda prepared=prepared: _rungs(prepared))  # type: ignore[misc]
        if done.trouble:
            raise BackendFailure(
                f"the backend {prepared.name!r} cannot tell how rows were decided: {done.trouble}"
            ) from done.error
        counted.update({(prepared.name, rung): rows for rung, rows in done.value.items()})
    return counted


def _rungs(prepared: _Prepared) -> dict[str, int]:
    tell = getattr(prepared.backend, "decided", None)
    rungs = dict(tell(prepared.made)) if callable(tell) else {}
    for rung, rows in rungs.items():
        if not isinstance(rung, str) or type(rows) is not int or rows < 0:
            raise TypeError(f"{shown(rows)} rows on the rung {shown(rung)}")
    return rungs


def _malformed(kernel: str, answer: Any) -> str | None:
    """What is wrong with the kind of an answer; one that cannot even be looked at is wrong."""
    try:
        return KERNELS[kernel].contract.malformed(answer)
    except Exception as error:
        return f"its answer {shown(answer)} cannot be read: {words(error)}"


def _bound(chosen: Choice, kernel: str) -> _Binding:
    backend = chosen.record.backend
    assert backend is not None
    return _Binding(chosen.record, backend, offer.kernels(chosen.record)[kernel], chosen.reason)
