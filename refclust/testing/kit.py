"""The conformance kit: everything a backend must keep, checked in one go (chapter 81).

>>> from refclust.backends.builtin import Loopback
>>> report = conform(Loopback(), quick=True, only=("contingency.table",))
>>> report.ok, sum(outcome.calls for outcome in report.outcomes) > 5
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from refclust.backends import builtin  # noqa: F401  (registers all kernels)
from refclust.backends.protocol import API_VERSION, Backend
from refclust.data.dataset import Dataset
from refclust.kernels.registry import KERNELS
from refclust.testing.checks.merging import merge_faults, merged_kernels
from refclust.testing.clothes import copied, fingerprint
from refclust.testing.ladder import ladder, twins
from refclust.testing.lockstep import Script, kernels_of, script
from refclust.testing.player import Player, offered
from refclust.testing.rungs import Rung

BACKEND: Final = "(backend)"  # stands for a kernel where the backend itself is checked
_THREADED: Final = (
    *("many-rows", "many-labels", "large-margins", "distances", "cosine"),
    *("gaussian-many", "counts-many"),
)
_TIMES: Final = 6
_FEW_CALLS: Final = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one kernel did in one check; no fault means that it passed."""

    kernel: str
    check: str
    calls: int
    fault: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to try: a rung of the ladder, or a question of manners."""

    name: str
    why: str
    run: Callable[[Backend], list[Outcome]]
    kernels: frozenset[str]  # those that it calls if the backend has them


@dataclass(frozen=True, slots=True)
class Report:
    """All outcomes, and the kernels that the backend leaves to the reference."""

    backend: str
    quick: bool
    checks: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    absent: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether some kernel was tried and nothing is wrong."""
        tried = any(one.calls for one in self.outcomes if one.kernel != BACKEND)
        return tried and not self.faults

    @property
    def faults(self) -> tuple[Outcome, ...]:
        """The first fault of each kernel."""
        first: dict[str, Outcome] = {}
        for one in self.outcomes:
            if one.fault is not None:
                first.setdefault(one.kernel, one)
        return tuple(first.values())

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that were tried."""
        return tuple(sorted({one.kernel for one in self.outcomes} - {BACKEND}))


def conform(
    backend: Backend,
    *,
    quick: bool = False,
    only: Collection[str] | None = None,
    stop: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Report:
    """Run the kit on a backend, or on some of its kernels.

    With ``stop`` it ends at the first fault; ``tell`` hears what comes next.
    """
    backend = backend if only is None else _Part(backend, frozenset(only))
    outcomes: list[Outcome] = []
    tried = checks(quick=quick)
    for check in tried:
        if tell is not None:
            tell(check.name)
        outcomes += check.run(backend)
        # What is no backend cannot be tried.
        if outcomes[0].fault is not None or (stop and any(one.fault for one in outcomes)):
            break
    absent = [] if outcomes[0].fault is not None else sorted(set(KERNELS) - set(offered(backend)))
    return Report(
        str(getattr(backend, "name", "?")),
        quick,
        tuple(check.name for check in tried),
        tuple(outcomes),
        tuple(absent),
    )


def checks(*, quick: bool = False) -> tuple[Check, ...]:
    """All checks in their order: the protocol, what only shows across data, the ladder, threads.

    >>> checks(quick=True)[0].name, checks(quick=True)[-1].name
    ('protocol', 'threads')
    """
    on_rows = kernels_of(_pair()[0])
    return (
        Check("protocol", "the backend is what the protocol says", _protocol, frozenset()),
        Check("twins", "data of one shape are not taken for each other", _twins, on_rows),
        Check("short-lived", "nothing is remembered of data that are gone", _short_lived, on_rows),
        *(Check(rung.name, rung.why, _on(rung), kernels_of(rung)) for rung in ladder(quick=quick)),
        Check("merge", "parts of the rows add up to the whole", _merge(quick), merged_kernels()),
        Check("threads", "the number of threads changes nothing", _threads, frozenset(KERNELS)),
    )


def _protocol(backend: Backend) -> list[Outcome]:
    try:
        fault = _breach(backend)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    return [Outcome(BACKEND, "protocol", 1, fault)]


def _breach(backend: Any) -> str | None:
    """What is wrong with the backend itself."""
    for member in ("name", "api_version", "accuracy", "kernels", "supports", "prepare", "export"):
        if not hasattr(backend, member):
            return f"it has no {member}"
    if not (isinstance(backend.name, str) and backend.name):
        return f"its name is {backend.name!r}, not a word"
    if backend.api_version != API_VERSION:
        return f"it speaks version {backend.api_version!r} of the protocol, not {API_VERSION}"
    if backend.accuracy not in ("exact", "bounded"):
        return f"its accuracy is {backend.accuracy!r}, neither 'exact' nor 'bounded'"
    functions = backend.kernels()
    if not isinstance(functions, Mapping):
        return f"kernels() is a {type(functions).__name__}, not a mapping"
    for name, function in functions.items():
        if not callable(function):
            return f"its kernel {name!r} is a {type(function).__name__} and cannot be called"
    if not set(functions) & set(KERNELS):
        return f"it offers none of the kernels {', '.join(sorted(KERNELS))}"
    if set(backend.kernels()) != set(functions):
        return "kernels() gives other kernels when asked again"
    return None


def _on(rung: Rung) -> Callable[[Backend], list[Outcome]]:
    def run(backend: Backend) -> list[Outcome]:
        player = Player(backend, script(rung))
        player.prepare()
        player.play("reference")
        player.play("own")
        return _outcomes(player, rung.name)

    return run


def _twins(backend: Backend) -> list[Outcome]:
    """Prepare two data sets of one shape, then call in turn."""
    scripts = [script(rung) for rung in _pair()]
    one, other = (
        Player(backend, mine, rival) for mine, rival in zip(scripts, reversed(scripts), strict=True)
    )
    one.prepare()
    other.prepare()
    for place in range(max(len(made.calls) for made in scripts)):
        for player in (one, other):
            if place < len(player.script.calls):
                player.one(place, "own")
    return _merged(_outcomes(one, "twins"), _outcomes(other, "twins"))


def _short_lived(backend: Backend) -> list[Outcome]:
    """Data come and go, and what is at an address now need not be what was there before."""
    outcomes: list[Outcome] = []
    scripts = [_beginning(script(rung)) for rung in _pair()]
    player: Player | None = None
    for time in range(_TIMES):
        mine, rival = scripts[time % 2], scripts[1 - time % 2]
        parts = copied(mine.data[0])
        player = None  # the old data go, and the new ones will most likely take their place
        data = Dataset(parts.matrix, weights=parts.weights)
        player = Player(backend, mine, rival)
        player.prepare([data])
        del data  # the player has them
        player.play("reference")
        outcomes = _merged(outcomes, _outcomes(player, "short-lived"))
    return outcomes


def _threads(backend: Backend) -> list[Outcome]:
    """The same calls with one, two and three threads, if the backend can be told how many."""
    threads = threads_of(backend)
    if threads is None:
        return []
    outcomes: list[Outcome] = []
    for rung in (rung for rung in ladder() if rung.name in _THREADED):
        told: dict[int, Any] = {}
        for number in (1, 2, 3):
            with threads(number):
                player = Player(backend, script(rung))
                player.prepare()
                player.play("own", f", with {number} thread{'s' * (number > 1)}")
            for place, answer in player.answers().items():
                if told.setdefault(place, fingerprint(answer)) != fingerprint(answer):
                    fault = f"with {number} threads the answer is not that of one thread"
                    player.faults.setdefault(player.script.calls[place].kernel, fault)
            outcomes = _merged(outcomes, _outcomes(player, "threads"))
    return outcomes


def threads_of(backend: Any) -> Callable[[int], AbstractContextManager[Any]] | None:
    """How to tell the backend its number of threads."""
    if callable(getattr(backend, "threads", None)):
        known: Callable[[int], AbstractContextManager[Any]] = backend.threads
        return known
    set_threads = getattr(backend, "set_threads", None)
    if not callable(set_threads):
        return None

    @contextmanager
    def limited(number: int) -> Iterator[None]:
        before = set_threads(number)
        try:
            yield
        finally:
            if isinstance(before, int):
                set_threads(before)

    return limited


def _merge(quick: bool) -> Callable[[Backend], list[Outcome]]:
    def run(backend: Backend) -> list[Outcome]:
        found = merge_faults(backend, quick=quick)
        return [Outcome(kernel, "merge", calls, fault) for kernel, calls, fault in found]

    return run


def _outcomes(player: Player, check: str) -> list[Outcome]:
    kernels = dict.fromkeys((*player.calls, *player.faults))
    return [
        Outcome(kernel, check, player.calls.get(kernel, 0), player.faults.get(kernel))
        for kernel in kernels
    ]


def _merged(first: list[Outcome], second: list[Outcome]) -> list[Outcome]:
    """Outcomes of one check, added up by kernel; the earlier fault stays."""
    found = {one.kernel: one for one in first}
    for one in second:
        old = found.get(one.kernel, replace(one, calls=0, fault=None))
        fault = one.fault if old.fault is None else old.fault
        found[one.kernel] = replace(old, calls=old.calls + one.calls, fault=fault)
    return list(found.values())


_PAIR: Final[list[Rung]] = []


def _pair() -> list[Rung]:
    if not _PAIR:
        _PAIR.extend(twins())
    return _PAIR


def _beginning(whole: Script) -> Script:
    """The first few calls of each kernel; what later calls rely on stays in its place."""
    count: dict[str, int] = {}
    last = 0
    for place, call in enumerate(whole.calls):
        count[call.kernel] = count.get(call.kernel, 0) + 1
        if count[call.kernel] <= _FEW_CALLS:
            last = place
    return replace(whole, calls=whole.calls[: last + 1])


class _Part:
    """A backend of which only some kernels are shown."""

    def __init__(self, backend: Backend, kernels: frozenset[str]) -> None:
        self._backend, self._kernels = backend, kernels

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """The kernels to try."""
        return {
            name: function
            for name, function in self._backend.kernels().items()
            if name in self._kernels
        }

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)
