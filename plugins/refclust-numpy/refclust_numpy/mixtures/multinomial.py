"""Passes over rows of counts under K densities: posteriors, sums, and both at once.

Slopes of -inf and columns that must be there are kept out of the products: a second product, of
ones where a count is not 0, tells how many of them a row has against it, in whole numbers.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import SOFT, Doubles, EMStep, Posterior, Rule
from refclust_numpy.exact.floats import Array
from refclust_numpy.mixtures.passes import flat, handed, passed, posteriors, product, steps, vector
from refclust_numpy.nearest.screening import csr_kind
from refclust_numpy.rows import Rows

_NUMBERS: Final = 1 << 20  # of a chunk of rows, or of its log-densities
_GATHERED: Final = 1 << 18  # products of counts and slopes in memory, where there is no SciPy


class _Dense:
    """Products with chunks of dense rows."""

    def __init__(self, rows: Rows, k: int) -> None:
        self._rows = rows
        size = min(_NUMBERS // max(rows.d, 1), _NUMBERS // k)
        self.chunks = steps(rows.n, max(size, 64))

    def times(self, begin: int, end: int, table: Array, *, present: bool = False) -> Array:
        """Sum of x_j table_jk, K times rows; of ones instead of counts if ``present``."""
        return product(table.T, self._counts(begin, end, present).T)

    def onto(self, begin: int, end: int, shares: Array, into: Array) -> None:
        """Add the counts of rows times their shares to sums of d times K."""
        into += product(shares, self._counts(begin, end, False)).T

    def _counts(self, begin: int, end: int, present: bool) -> Array:
        values = self._rows.values[begin:end]
        return (values != 0.0 if present else values).astype(np.float64, copy=False)


class _Sparse:
    """Products with chunks of sparse rows, by SciPy if it is there."""

    def __init__(self, rows: Rows, k: int) -> None:
        self._rows, self._matrix = rows, csr_kind(rows, k)
        numbers = _NUMBERS if self._matrix else max(1, _GATHERED // k)
        self.chunks = rows.blocks(numbers, max(1, _NUMBERS // k))

    def times(self, begin: int, end: int, table: Array, *, present: bool = False) -> Array:
        """Sum of x_j table_jk, K times rows; of ones instead of counts if ``present``."""
        values, columns = self._numbers(begin, end)
        if present:
            values = (values != 0.0).astype(np.float64)
        if self._matrix:
            products = self._made(begin, end, values, columns) @ table
        else:
            products = self._rows.segment_sums(table[columns] * values[:, None], begin, end)
        return np.ascontiguousarray(products.T)

    def onto(self, begin: int, end: int, shares: Array, into: Array) -> None:
        """Add the counts of rows times their shares to sums of d times K."""
        values, columns = self._numbers(begin, end)
        if self._matrix:
            made = self._made(begin, end, values, columns)
            into += made.T @ np.ascontiguousarray(shares.T)
            return
        owners = np.repeat(np.arange(end - begin), self._rows.counts[begin:end])
        for k, q in enumerate(shares):
            into[:, k] += np.bincount(columns, weights=values * q[owners], minlength=len(into))

    def _numbers(self, begin: int, end: int) -> tuple[Array, Array]:
        some = slice(int(self._rows.starts[begin]), int(self._rows.starts[end]))
        return self._rows.values[some].astype(np.float64, copy=False), self._rows.columns[some]

    def _made(self, begin: int, end: int, values: Array, columns: Array) -> Any:
        starts = self._rows.starts[begin : end + 1]
        starts = (starts - starts[0]).astype(columns.dtype)
        return self._matrix((values, columns, starts), shape=(end - begin, self._rows.d))


def _products(rows: Rows, k: int) -> _Dense | _Sparse:
    return _Dense(rows, k) if rows.dense else _Sparse(rows, k)


class _Densities:
    """The log-densities of the rows of chunks."""

    def __init__(self, products: _Dense | _Sparse, terms: Terms) -> None:
        self._products, self._offsets = products, vector(terms.offsets)[:, None]
        slopes = vector(terms.slopes).reshape(terms.k, terms.d)
        never = np.isneginf(slopes)
        certain = terms.certain or ((),) * terms.k
        self._due = np.array([len(set(must)) for must in certain], np.float64)[:, None]
        self._against: Array | None = None
        if never.any() or self._due.any():
            slopes = np.where(never, 0.0, slopes)
            # One against for every column that must not be there; one for less if it must.
            against = never.astype(np.float64)
            for k, must in enumerate(certain):
                against[k, list(set(must))] -= 1.0
            self._against = np.ascontiguousarray(against.T)
        self._slopes = np.ascontiguousarray(slopes.T)

    def joint(self, begin: int, end: int) -> Array:
        """log p(x, k)."""
        logs = self._products.times(begin, end, self._slopes)
        logs += self._offsets
        if self._against is not None:
            against = self._products.times(begin, end, self._against, present=True)
            logs[against + self._due > 0.0] = -np.inf
        return logs


class _Sums:
    """The sums of all components in the making."""

    def __init__(self, products: _Dense | _Sparse, k: int, d: int) -> None:
        self._products = products
        self._counts, self._sums = np.zeros(k), np.zeros((d, k))

    def add(self, begin: int, end: int, shares: Array) -> None:
        """Add rows with their weighted shares."""
        self._counts += shares.sum(axis=1)
        self._products.onto(begin, end, shares, self._sums)

    def finished(self) -> Tallies:
        """The sums."""
        return Tallies(flat(self._counts), flat(self._sums.T))


def posterior(rows: Rows, terms: Terms, full: bool) -> Posterior:
    """Find the most probable component of every row and log p(x)."""
    products = _products(rows, terms.k)
    joint = _Densities(products, terms).joint
    return posteriors(rows, products.chunks, joint, terms.k, full)


def moments(rows: Rows, q: Labels | Doubles, k: int) -> Tallies:
    """Add up the counts of every component."""
    products = _products(rows, k)
    sums = _Sums(products, k, rows.d)
    handed(rows, products.chunks, q, k, sums.add)
    return sums.finished()


def em_step(rows: Rows, terms: Terms, rule: Rule = SOFT) -> EMStep[Tallies]:
    """Share out every row among the components and add up what the M-step needs."""
    products = _products(rows, terms.k)
    sums = _Sums(products, terms.k, rows.d)
    joint = _Densities(products, terms).joint
    objectives = passed(rows, products.chunks, joint, rule, sums.add)
    return EMStep(*objectives, sums.finished())
