"""Second chunks: sizes around the blocks that a backend declares, and blocks of a few rows.

A backend may tell the sizes of its blocks with ``blocks()``, and may offer ``tiny()``, a context
within which its blocks are so small that small data need several of them (chapter 81).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Final

from refclust.backends.protocol import Backend
from refclust.testing.checks.protocol import blocks_of
from refclust.testing.ladder import named
from refclust.testing.outcomes import Outcome, merged, outcomes_of
from refclust.testing.rungs import Rung
from refclust.testing.rungs.bulk import around
from refclust.testing.scripts.lockstep import kernels_of, script
from refclust.testing.scripts.player import Player

_TINY: Final = frozenset((
    *("plain", "offset-1e9", "ties", "near-ties", "cancelling", "weights", "limbs", "one-column"),
    *("single-precision", "subnormal", "wide", "many-centres", "sparse-counts", "tails"),
    *("sparse-empty-rows", "cosine", "cosine-sparse", "labels", "buffer-labels", "heavy-labels"),
    *("margins", "distances", "equal-distances", "gaussian", "gaussian-weights", "gaussian-sizes"),
    *("counts", "counts-fractions", "counts-sizes", "gaussian-wide", "counts-dense", "searched"),
    *("drifts", "long-drifts", "sparse-long-rows", "huge-centres"),
    *("pairs-far-away", "near-pairs", "few-pairs"),
))  # fmt: skip
_LARGEST: Final = 1 << 16  # of a block that is tried with rows; larger ones need ``tiny``


def tiny_of(backend: Any) -> Callable[[], AbstractContextManager[Any]] | None:
    """How to have the backend work in blocks of a few rows, if it can."""
    tiny = getattr(backend, "tiny", None)
    return tiny if callable(tiny) else None


def declared(backend: Backend) -> list[Outcome]:
    """Rows, columns and clusters one less, as many, one more and twice as many as fit a block."""
    return _played(backend, declared_rungs(blocks_of(backend)), "declared-blocks")


def declared_rungs(sizes: Iterable[int]) -> list[Rung]:
    """The rungs around blocks of these sizes."""
    return [rung for size in sizes if size <= _LARGEST for rung in around(size)]


def tiny(backend: Backend) -> list[Outcome]:
    """Much of the ladder again, in blocks of a few rows."""
    small = tiny_of(backend)
    if small is None:
        return []
    with small():
        return _played(backend, _tiny_rungs(), "tiny-blocks", ", in tiny blocks")


def _tiny_rungs() -> list[Rung]:
    return list(named(_TINY))


def kernels() -> frozenset[str]:
    """The kernels that tiny blocks are tried on."""
    return frozenset().union(*map(kernels_of, _tiny_rungs()))


def on_rows() -> frozenset[str]:
    """The kernels that declared blocks are tried on."""
    return frozenset().union(*map(kernels_of, around(2)))


def _played(backend: Backend, rungs: Iterable[Rung], check: str, where: str = "") -> list[Outcome]:
    outcomes: list[Outcome] = []
    for rung in rungs:
        player = Player(backend, script(rung))
        player.prepare()
        player.play("reference", where)
        player.play("own", where)
        outcomes = merged(outcomes, outcomes_of(player, check))
    return outcomes
