"""The backend: its kernels, what they cost, and how data are made ready (chapter 80).

Nothing heavy is imported here. Compiled code is kept on disk between processes: beside the package,
or, where that folder cannot be written to, in the user's cache folder (Numba's own rule, which
``NUMBA_CACHE_DIR`` overrides).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from refclust.backends.protocol import API_VERSION, Accuracy, Estimate, Problem, Refusal
from refclust.data.dataset import Dataset
from refclust_numba.lowlevel.threads import limited

# Seconds per unit of work: numbers stored times centres (or once, see ``_ONCE``), labels, pairs.
_UNIT: Final = {
    "kmeans.assign": 3e-11,
    "kmeans.accumulate": 2e-9,
    "kmeans.lloyd_step": 4e-11,
    "kmeans.directions": 1e-8,
    "kmeans.means": 2e-10,
    "kmeans.residual": 1e-9,
    "kmeans.cosine_terms": 1e-9,
    "kmeans.squares": 3e-9,
    "seeding.potential": 5e-10,
    "seeding.locate": 2e-9,
    "seeding.best_candidate": 5e-10,
    "seeding.farthest": 2e-9,
    "distances.pairwise": 2e-8,
    "silhouette.distance_sums": 1e-10,
    "silhouette.fine_sums": 1e-9,
    "scatter.centre_distances": 2e-9,
    "pairs.extremes": 1e-10,
    "linkage.agglomerate": 5e-9,
    "multinomial.posterior": 4e-10,
    "multinomial.moments": 4e-10,
    "multinomial.em_step": 6e-10,
    "contingency.table": 4e-9,
    "information.expected_mi": 5e-7,
    "gaussian.posterior": 2e-10,
    "gaussian.moments": 2e-10,
    "gaussian.em_step": 4e-10,
    "gaussian.whitening": 1e-12,
    "gaussian.traces": 1e-12,
    "gaussian.scatters": 1e-12,
    "multinomial.logs": 1e-10,
    "multinomial.m_step": 1e-10,
}
_ONCE: Final = frozenset((
    *("kmeans.accumulate", "kmeans.squares", "kmeans.directions", "scatter.centre_distances"),
))  # for all K  # fmt: skip
_DENSE: Final = frozenset((
    *("gaussian.posterior", "gaussian.moments", "gaussian.em_step"),
    *("silhouette.distance_sums", "silhouette.fine_sums"),
    *("scatter.centre_distances", "pairs.extremes"),
))  # fmt: skip
_CALL: Final = 2e-4
_IMPORT: Final = 1.3  # importing NumPy and Numba and loading one kernel from the disk
_COMPILE: Final = 15.0  # compiling what one kernel needs
_SHARE: Final = 4.0  # seconds of compiling that each fit is charged where it must not be known


@dataclass(slots=True)
class NumbaBackend:
    """Compiled kernels that keep every contract to the letter."""

    name: str = "numba"
    api_version: int = API_VERSION
    accuracy: Accuracy = "exact"
    _kernels: dict[str, Callable[..., Any]] = field(default_factory=dict, repr=False)
    _ready: set[str] = field(default_factory=set, repr=False)

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Its kernels by name; what they need is imported when one is called."""
        if not self._kernels:
            self._kernels = {name: self._late(name) for name in _UNIT}
        return self._kernels

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:
        """How long it would take, getting ready included: importing, loading, maybe compiling."""
        if kernel not in _UNIT:
            return Refusal("it has no such kernel")
        if kernel in _DENSE and problem.kind != "dense":
            return Refusal("it takes dense rows only")
        units = max(problem.n if problem.kind == "labels" else problem.size, 1)
        units *= 1 if kernel in _ONCE else max(problem.k, 1)
        seconds = problem.calls * (_CALL + _UNIT[kernel] * units)
        if problem.steady:
            # Where bits may differ between backends, the choice must not know what is compiled.
            return Estimate(seconds + _IMPORT + _SHARE)
        if not self._ready:
            seconds += _IMPORT
        if kernel not in self._ready:
            seconds += 0.1 if _compiled(kernel) else _COMPILE
        return Estimate(seconds)

    def build(self) -> str:
        """What compiled code depends on beside the installed files: variables of Numba and ours."""
        named = (name for name in os.environ if name.startswith(("NUMBA_", "REFCLUST_NUMBA_")))
        return " ".join(
            f"{name}={os.environ[name]}" for name in sorted(named) if "CACHE" not in name
        )

    def prepare(self, data: Any) -> Any:
        """Take labels, margins and distances as they are, rows as arrays over their buffers."""
        if not isinstance(data, Dataset):
            return data
        from refclust_numba.prepared import Rows

        return Rows(data)

    def export(self, value: Any) -> Any:
        """Results are plain numbers and flat buffers already."""
        return value

    def decided(self, prepared: Any) -> Mapping[str, int]:
        """How many rows each rung of the ladder decided so far."""
        return dict(getattr(prepared, "rungs", {}))

    def threads(self, number: int) -> AbstractContextManager[None]:
        """Use so many threads for a while; no answer depends on it."""
        return limited(number)

    def blocks(self) -> tuple[int, ...]:
        """The sizes at which something begins anew: of blocks, chunks, vectors and groups."""
        from refclust_numba.blocks import sizes
        from refclust_numba.mixtures.sizes import BLOCK, USUAL

        return tuple(sorted({*sizes().values(), BLOCK, USUAL.batch * BLOCK, USUAL.chunk_rows}))

    @contextmanager
    def tiny(self) -> Iterator[None]:
        """Work in pieces as small as possible for a while."""
        from refclust_numba.blocks import tiny
        from refclust_numba.mixtures.sizes import TINY, sized

        with tiny(), sized(TINY):
            yield

    def _late(self, name: str) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            answer = _function(name)(*args)
            self._ready.add(name)
            return answer

        return run


def _function(name: str) -> Callable[..., Any]:
    from refclust_numba import registry

    return registry.FUNCTIONS[name]


def _compiled(kernel: str) -> bool:
    """Whether compiled code of the kernel lies on the disk; a look at names, nothing is loaded."""
    from refclust_numba.lowlevel.cachefolder import cached

    return cached(kernel)
