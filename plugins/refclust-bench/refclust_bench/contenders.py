"""Who takes part in a workload: backends of refclust and peers, each with its thread settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refclust.backends.plugins import discovery
from refclust.version import __version__
from refclust_bench import own, peers
from refclust_bench.workloads import BenchCase

AUTO, REFERENCE, LOOPBACK = "auto", "reference", "loopback"
_OWN, _PEERS = "refclust_bench.own", "refclust_bench.peers"
_CORE_ONLY: Final = ("core kmeans", "core nmi", "start")


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do the work of a workload."""

    name: str
    own: bool
    library: str  # contenders of one library may share a process
    version: str
    place: str  # "module:function" that makes the work ready
    options: Mapping[str, Any]
    threads: tuple[int, ...]  # the settings to try
    warm_up: tuple[Mapping[str, Any], ...] = ()  # options to run tiny data with beforehand


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Who does not take part, and why."""

    name: str
    reason: str


def backends(names: str | None) -> list[str]:
    """The backends asked for, or ``auto`` and every exact one that is ready.

    >>> backends("reference,auto")
    ['reference', 'auto']
    """
    if names is None:
        return [REFERENCE, *_fast(), AUTO]
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name != AUTO:
            discovery.find(name)  # says what there is, if there is no such backend
    return wanted


def _fast() -> list[str]:
    """The installed backends that keep every contract, the built-in ones aside."""
    return [
        record.name
        for record in discovery.discover()
        if record.backend is not None
        and record.name not in (REFERENCE, LOOPBACK)
        and record.backend.accuracy == "exact"
    ]


def contenders(
    case: BenchCase, wanted: Sequence[str], rivals: Sequence[str], threads: Sequence[int]
) -> tuple[list[Contender], list[LeftOut]]:
    """Who takes part in a case, ours first, and who does not."""
    chosen, left_out = _ours(case, wanted, threads)
    for entry in peers.TASKS[case.workload.task]:
        peer = peers.PEERS[entry.peer]
        if entry.peer not in rivals:
            continue
        if peer.version is None:
            left_out.append(LeftOut(entry.peer, "not installed"))
            continue
        options = {**case.workload.options, **entry.options}
        chosen.append(
            Contender(
                name=f"{entry.peer} {entry.variant}".strip(),
                own=False,
                library=entry.peer,
                version=peer.version,
                place=f"{_PEERS}:{entry.place}",
                options=options,
                threads=tuple(threads) if entry.threaded else (min(threads),),
                warm_up=(options,),
            )
        )
    return chosen, left_out


def _ours(
    case: BenchCase, wanted: Sequence[str], threads: Sequence[int]
) -> tuple[list[Contender], list[LeftOut]]:
    task = case.workload.task
    place, options = f"{_OWN}:{own.TASKS[task]}", dict(case.workload.options)
    if task == "start":
        return [_starting(place, through) for through in ("library", "command line")], []
    ours: list[Contender] = []
    left_out: list[LeftOut] = []
    fast = _fast()
    for name in [REFERENCE] if task in _CORE_ONLY else wanted:
        slow = name == REFERENCE
        if name == AUTO and not fast:
            left_out.append(LeftOut(f"refclust {name}", f"it is the reference here; {_GET}"))
            continue
        if slow and not (case.quick or case.workload.reference):
            left_out.append(LeftOut(f"refclust {name}", "the pure core would take minutes"))
            continue
        # A backend that auto may take compiles on tiny data too, not where memory is measured.
        warm = fast if name == AUTO else [name]
        ours.append(
            Contender(
                name=f"refclust {name}",
                own=True,
                library=f"refclust {name}",
                version=_version(name),
                place=place,
                options={**options, "backend": name},
                threads=(min(threads),) if slow else tuple(threads),
                warm_up=tuple({**options, "backend": backend} for backend in warm),
            )
        )
    return ours, left_out


_GET: Final = "install a plugin such as refclust-numpy or refclust-numba"


def _starting(place: str, through: str) -> Contender:
    return Contender(
        name=f"refclust {through}",
        own=True,
        library=f"refclust {REFERENCE}",
        version=__version__,
        place=place,
        options={"through": through},
        threads=(1,),
        warm_up=(),
    )


def _version(name: str) -> str:
    return __version__ if name == AUTO else discovery.find(name).version
