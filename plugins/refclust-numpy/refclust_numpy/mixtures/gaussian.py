"""Passes over dense rows under K normal densities: posteriors, moments, and both at once.

Differences to the mean come first, then the product with the whitening matrix, so an offset common
to rows and means does no harm.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures import gaussian as reference
from refclust.kernels.mixtures.gaussian import Gaussians, Moments, Spread
from refclust.kernels.mixtures.shared import SOFT, Doubles, EMStep, Posterior, Rule
from refclust_numpy.exact.floats import Array
from refclust_numpy.mixtures.passes import (
    ALONE,
    flat,
    handed,
    passed,
    posteriors,
    product,
    steps,
    vector,
)
from refclust_numpy.rows import Rows, matrix

_MOST: Final = 4096  # rows of a chunk
_NUMBERS: Final = 1 << 14  # of a chunk: a few such arrays stay in the cache


def _chunks(rows: Rows, k: int) -> list[tuple[int, int]]:
    """Chunks of which the products with a matrix of d * d stay small."""
    d = max(rows.d, 1)
    size = min(_MOST, _NUMBERS // d, ALONE // min(d, 64) ** 2, ALONE // k)
    return steps(rows.n, max(size, 64))


class _Chunk:
    """The columns of the chunk of rows at hand: shared by what reads them twice."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self._known, self._columns = rows, (0, 0), np.empty((rows.d, 0))

    def columns(self, begin: int, end: int) -> Array:
        """d times the rows from begin to end."""
        if self._known != (begin, end):
            self._columns = self._rows.values[begin:end].T.astype(np.float64, order="C")
            self._known = begin, end
        return self._columns


class _Densities:
    """The log-densities of the rows of chunks."""

    def __init__(self, chunk: _Chunk, densities: Gaussians) -> None:
        self._chunk = chunk
        self._means, self._offsets = matrix(densities.means), vector(densities.offsets)
        k, d = self._means.shape
        # A triangle of one number is a diagonal.
        self._full = densities.form == "full" and d > 1
        shape = (k, d, d) if self._full else (k, -1, 1)
        self._whitening = vector(densities.whitening).reshape(shape)

    def joint(self, begin: int, end: int) -> Array:
        """log p(x, k), up to the common factor."""
        x = self._chunk.columns(begin, end)
        logs = np.empty((len(self._means), end - begin))
        away = np.empty_like(x)
        for k, mean in enumerate(self._means):
            np.subtract(x, mean[:, None], out=away)
            whitening = self._whitening[k]
            if self._full:
                white = product(whitening, away, lower=True)
            else:
                white = np.multiply(away, whitening, out=away)
            white *= white
            np.add.reduce(white, axis=0, out=logs[k])
        logs *= -0.5
        logs += self._offsets[:, None]
        # Infinite differences times the zeros of a triangle: far away is far away.
        return np.fmax(logs, -np.inf, out=logs)


class _Sums:
    """The moments of all components in the making."""

    def __init__(self, chunk: _Chunk, around: CentreMatrix, spread: Spread) -> None:
        self._chunk, self._around, self._spread = chunk, around, spread
        self._centres = matrix(around)
        k, d = self._centres.shape
        self._counts, self._firsts = np.zeros(k), np.zeros((k, d))
        self._seconds = np.zeros((k, d, d) if spread == "full" else (k, d))

    def add(self, begin: int, end: int, shares: Array) -> None:
        """Add rows with their weighted shares."""
        x = self._chunk.columns(begin, end)
        self._counts += shares.sum(axis=1)
        room = np.empty((2, *x.shape))
        for k, (q, centre) in enumerate(zip(shares, self._centres, strict=True)):
            some, own, (away, weighted) = x, q, room
            count = np.count_nonzero(q)
            if not count:
                continue
            if 2 * count < q.size:
                kept = q.nonzero()[0]
                some, own = x[:, kept], q[kept]
                away, weighted = np.empty((2, *some.shape))
            np.subtract(some, centre[:, None], out=away)
            np.multiply(away, own, out=weighted)
            self._firsts[k] += np.add.reduce(weighted, axis=1)
            if self._spread == "full":
                self._seconds[k] += product(weighted, away.T)
            else:
                weighted *= away
                self._seconds[k] += np.add.reduce(weighted, axis=1)

    @property
    def overflowed(self) -> bool:
        """Whether a sum left the doubles: whether it does may depend on the order of additions."""
        return not (np.isfinite(self._firsts).all() and np.isfinite(self._seconds).all())

    def finished(self) -> Moments:
        """The moments; of matrices the lower triangle is told twice."""
        seconds = self._seconds
        if self._spread == "full":
            above = np.triu_indices(seconds.shape[1], 1)
            seconds[:, above[0], above[1]] = seconds[:, above[1], above[0]]
        counts, firsts = flat(self._counts), flat(self._firsts)
        return Moments(counts, firsts, flat(seconds), self._around, self._spread)


def posterior(rows: Rows, densities: Gaussians, full: bool) -> Posterior:
    """Find the most probable component of every row and log p(x)."""
    joint = _Densities(_Chunk(rows), densities).joint
    return posteriors(rows, _chunks(rows, densities.k), joint, densities.k, full)


def moments(
    rows: Rows, q: Labels | Doubles, k: int, around: CentreMatrix, spread: Spread
) -> Moments:
    """Add up the moments of every component."""
    sums = _Sums(_Chunk(rows), around, spread)
    handed(rows, _chunks(rows, k), q, k, sums.add)
    if sums.overflowed:
        return reference.moments(rows.points, q, k, around, spread)
    return sums.finished()


def em_step(
    rows: Rows, densities: Gaussians, rule: Rule = SOFT, around: CentreMatrix | None = None
) -> EMStep[Moments]:
    """Share out every row among the components and add up what the M-step needs."""
    chunk = _Chunk(rows)
    centres = densities.means if around is None else around
    sums = _Sums(chunk, centres, densities.spread)
    joint = _Densities(chunk, densities).joint
    objectives = passed(rows, _chunks(rows, densities.k), joint, rule, sums.add)
    if sums.overflowed:
        return reference.em_step(rows.points, densities, rule, around)
    return EMStep(*objectives, sums.finished())
