"""What the kernels of all mixtures share: a pass over chunks of rows, and shares made by a rule.

Log-densities stand component by component, K times the rows of a chunk, so that all that runs over
components runs over whole arrays. Chunks depend on the shape of the problem only, and what they
tell is added up in their order: no answer depends on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.shared import Doubles, Posterior, Rule
from refclust_numpy.exact.floats import Array
from refclust_numpy.rows import Rows

# Below so many products a BLAS keeps them on one thread; what several threads add may depend on
# how many there are.
ALONE: Final = 1 << 18
_SIDE: Final = 64
_LOWEST: Final = -800.0  # exp of less is 0

Chunks: TypeAlias = Iterable[tuple[int, int]]
Joint: TypeAlias = Callable[[int, int], Array]  # log p(x, k) of the rows from begin to end
Add: TypeAlias = Callable[[int, int, Array], None]  # takes the weighted shares of such rows


class Shares(NamedTuple):
    """The shares of some rows, log p(x), the bound with these shares, their entropy."""

    q: Array
    log_likelihoods: Array
    bounds: Array
    entropies: Array


class Told(NamedTuple):
    """The weighted sums of a pass."""

    log_likelihood: float
    bound: float
    entropy: float


def shared(joint: Array, rule: Rule, draws: Array | None) -> Shares:
    """Share out some rows by a rule; what is in ``joint`` is lost.

    As in the reference all starts from the differences to the greatest; those below -800 have no
    share either way, so they are cut off there and nothing infinite is left.
    """
    peak = joint.max(axis=0)
    impossible = peak == -np.inf
    some = bool(impossible.any())
    gaps = joint
    gaps -= np.where(impossible, 0.0, peak) if some else peak
    np.maximum(gaps, _LOWEST, out=gaps)
    weights = np.exp(gaps)
    mass = weights.sum(axis=0)
    if some:
        weights[:, impossible] = 0.0
        mass[impossible] = 1.0
    excess = np.log(mass)
    evidence = peak + excess
    if draws is not None and draws.size:
        made = _drawn(gaps, weights, mass, draws)
        bounds = made[1] + peak
    else:
        if 0 < rule.top < len(gaps):
            weights = _kept(gaps, weights, rule.top)
            mass = weights.sum(axis=0)
            if some:
                mass[impossible] = 1.0
            excess = np.log(mass)
        # -q log q with log q = gap - excess; the shares of a row add up to one.
        gaps *= weights
        made = weights, excess, excess - gaps.sum(axis=0) / mass
        weights /= mass
        bounds = peak + excess
    if some:
        made[0][:, impossible] = 0.0
        made[2][impossible] = 0.0
    return Shares(made[0], evidence, bounds, made[2])


def _kept(gaps: Array, weights: Array, top: int) -> Array:
    """The weights of the most probable components, of equal ones the first."""
    kept = np.zeros_like(weights)
    order = gaps.argmax(axis=0)[None] if top == 1 else np.argsort(-gaps, axis=0, kind="stable")
    best = order[:top]
    np.put_along_axis(kept, best, np.take_along_axis(weights, best, axis=0), axis=0)
    return kept


def _drawn(gaps: Array, weights: Array, mass: Array, draws: Array) -> tuple[Array, Array, Array]:
    """Shares of components drawn, their mean gap plus entropy, and the entropy."""
    reached = np.cumsum(weights, axis=0)
    k = len(weights)
    last = k - 1 - (weights[::-1] > 0.0).argmax(axis=0)
    names = np.arange(k)[:, None]
    q = np.zeros_like(weights)
    for u in draws.T:
        hit = np.minimum((reached <= u * mass).sum(axis=0), last)
        q += hit == names
    q /= draws.shape[1]
    entropy = -(q * np.log(np.where(q > 0.0, q, 1.0))).sum(axis=0)
    return q, (q * gaps).sum(axis=0) + entropy, entropy


def passed(rows: Rows, chunks: Chunks, joint: Joint, rule: Rule, add: Add) -> Told:
    """Share out all rows, and hand the weighted shares on."""
    draws = None if rule.draws is None else np.asarray(rule.draws).reshape(rows.n, rule.samples)
    parts: list[tuple[float, ...]] = []
    for begin, end in chunks:
        shares = shared(joint(begin, end), rule, None if draws is None else draws[begin:end])
        q, *objectives = shares
        if rows.weights is not None:
            weights = rows.weights[begin:end]
            # A row of weight 0 counts for nothing, even if no component can have made it.
            objectives = [np.where(weights > 0.0, weights * terms, 0.0) for terms in objectives]
            q *= weights
        parts.append(tuple(float(terms.sum()) for terms in objectives))
        add(begin, end, q)
    return Told(*map(math.fsum, zip(*parts, strict=True)))


def posteriors(rows: Rows, chunks: Chunks, joint: Joint, k: int, full: bool) -> Posterior:
    """The most probable component of every row and log p(x)."""
    labels, evidence = np.empty(rows.n, np.int32), np.empty(rows.n)
    whole = np.empty((rows.n, k)) if full else None
    for begin, end in chunks:
        logs = joint(begin, end)
        if whole is not None:
            whole[begin:end] = logs.T
        peak = logs.max(axis=0)
        labels[begin:end] = logs.argmax(axis=0)
        logs -= np.where(peak == -np.inf, 0.0, peak)
        evidence[begin:end] = peak + np.log(np.exp(logs, out=logs).sum(axis=0))
    return Posterior(flat(labels), flat(evidence), None if whole is None else flat(whole))


def handed(rows: Rows, chunks: Chunks, q: Labels | Doubles, k: int, add: Add) -> None:
    """Hand the weighted shares on that labels (-1: none) or n times K numbers tell."""
    values = np.asarray(memoryview(q))
    names = np.arange(k)[:, None]
    for begin, end in chunks:
        if values.dtype == np.int32:
            shares = (values[begin:end] == names).astype(np.float64)
        else:
            shares = values[begin * k : end * k].reshape(-1, k).T.astype(np.float64, order="C")
        if rows.weights is not None:
            shares *= rows.weights[begin:end]
        add(begin, end, shares)


def steps(n: int, size: int) -> list[tuple[int, int]]:
    """0..n in pieces of one size."""
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


def product(a: Array, b: Array, *, lower: bool = False) -> Array:
    """The matrix product, in tiles that a BLAS leaves on one thread.

    ``lower`` says that ``a`` is lower triangular.
    """
    (p, r), c = a.shape, b.shape[1]
    if p * r * c <= ALONE:
        return _tile(a, b)
    out = np.zeros((p, c))
    tall, wide = min(p, _SIDE), min(c, _SIDE)
    deep = ALONE // (tall * wide)
    for i in range(0, p, tall):
        for j in range(0, c, wide):
            into = out[i : i + tall, j : j + wide]
            for m in range(0, min(i + tall, r) if lower else r, deep):
                into += _tile(a[i : i + tall, m : m + deep], b[m : m + deep, j : j + wide])
    return out


def _tile(a: Array, b: Array) -> Array:
    # Products with a vector are cut along the sum by some BLAS: einsum has loops of its own.
    if a.shape[0] == 1 or b.shape[1] == 1:
        product: Array = np.einsum("ij,jk->ik", a, b)
        return product
    return a @ b


def flat(values: Any) -> Any:
    """The numbers as a flat buffer that nobody writes to."""
    return np.ascontiguousarray(values).reshape(-1).data.toreadonly()


def vector(values: Any) -> Array:
    """A buffer of doubles as an array, without a copy."""
    return np.asarray(memoryview(values), dtype=np.float64)
