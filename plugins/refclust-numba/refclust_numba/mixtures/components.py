"""Passes over components, compiled: whitening, traces, scatters, probabilities of words.

Every operation is the textbook's, in one order, so the bounds of the contracts hold as derived
there. Words are shared out among threads by components: no sum depends on their number.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refclust.kernels.mixtures.words import CountModel, WordLogs, WordStep
from refclust_numba.lowlevel.arrays import doubles
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.threads import shared
from refclust_numba.mixtures.logs import log_of, take_logs, take_logs_of_rest

_UNIT: Final = 2.0**-53
_LEAST: Final = -1e4  # far below the logarithm of every double


def whitening(rows: Any, covariances: Any, form: str) -> Any:
    """Keeps the contract of gaussian.whitening."""
    entries = doubles(covariances)
    inverses = np.zeros(len(entries))
    if form == "full":
        whiten(entries.reshape(-1, rows.d, rows.d), inverses.reshape(-1, rows.d, rows.d))
    else:
        invert_roots(entries, inverses)
    return inverses


@compiled
def invert_roots(variances: Any, inverses: Any) -> None:
    """One over the root of every variance, 0 where there is none."""
    for i in range(len(variances)):
        if variances[i] > 0.0:
            inverses[i] = 1.0 / math.sqrt(variances[i])


@compiled
def whiten(matrices: Any, inverses: Any) -> None:
    """The inverse of the Cholesky factor of every matrix; zeros if it has none (LIN-CHOL)."""
    k, d = matrices.shape[0], matrices.shape[1]
    lower = np.zeros((d, d))
    for c in range(k):
        usable = True
        for j in range(d):
            pivot = matrices[c, j, j]
            for a in range(j):
                pivot -= lower[j, a] * lower[j, a]
            if not pivot > 8.0 * (j + 1) ** 2 * _UNIT * matrices[c, j, j]:
                usable = False
                break
            root = math.sqrt(pivot)
            lower[j, j] = root
            for i in range(j + 1, d):
                rest = matrices[c, i, j]
                for a in range(j):
                    rest -= lower[i, a] * lower[j, a]
                lower[i, j] = rest / root
        if not usable:
            continue
        for j in range(d):
            inverses[c, j, j] = 1.0 / lower[j, j]
            for i in range(j + 1, d):
                total = 0.0
                for a in range(j, i):
                    total -= lower[i, a] * inverses[c, a, j]
                inverses[c, i, j] = total / lower[i, i]


def scatters(rows: Any, moments: Any, prior: Any) -> Any:
    """Keeps the contract of gaussian.scatters."""
    counts, firsts = doubles(moments.counts), doubles(moments.firsts)
    seconds = doubles(moments.seconds)
    centred = np.empty(len(seconds))
    floor = np.array(prior if len(prior) else (0.0,) * rows.d)
    move(counts, firsts.reshape(-1, rows.d), seconds, floor, moments.spread == "full", centred)
    return centred


@compiled
def move(counts: Any, firsts: Any, seconds: Any, floor: Any, full: bool, centred: Any) -> None:
    """Second moments moved to the means, the floor added on the diagonal."""
    k, d = firsts.shape
    # Exponents apart, so that no product leaves the range of doubles before it is divided.
    parts, powers = room(d, np.float64), room(d, np.int32)
    for c in range(k):
        # All sums of a component without weight are zero.
        whole, scale = math.frexp(counts[c] if counts[c] else 1.0)
        for i in range(d):
            parts[i], powers[i] = math.frexp(firsts[c, i])
        for i in range(d):
            for j in range(d) if full else range(i, i + 1):
                place = (c * d + i) * d + j if full else c * d + i
                moved = math.ldexp(parts[i] * parts[j] / whole, powers[i] + powers[j] - scale)
                own = seconds[place] - moved
                if not full:
                    own = max(own, 0.0)
                centred[place] = own + floor[i] if i == j else own


def traces(rows: Any, seconds: Any, white: Any, form: str) -> Any:
    """Keeps the contract of gaussian.traces."""
    d, moments, parts = rows.d, doubles(seconds), doubles(white)
    k = len(moments) // (d * d if form == "full" else d)
    sums = np.zeros(k)
    if form == "full":
        trace_full(moments.reshape(k, d, d), parts.reshape(k, d, d), sums)
    else:
        trace_diagonal(moments.reshape(k, d), parts.reshape(k, -1), sums)
    return sums


@compiled
def trace_full(moments: Any, white: Any, sums: Any) -> None:
    """The trace of W M W' for every component."""
    k, d = moments.shape[0], moments.shape[1]
    for c in range(k):
        for i in range(d):
            line = 0.0
            for a in range(i + 1):
                inner = 0.0
                for b in range(i + 1):
                    inner += moments[c, a, b] * white[c, i, b]
                line += white[c, i, a] * inner
            sums[c] += line


@compiled
def trace_diagonal(moments: Any, white: Any, sums: Any) -> None:
    """The same for diagonals, or for one number for all columns."""
    spherical = white.shape[1] == 1
    for c in range(moments.shape[0]):
        for j in range(moments.shape[1]):
            w = white[c, 0 if spherical else j]
            sums[c] += w * w * moments[c, j]


def logs(rows: Any, probabilities: Any, kind: CountModel) -> WordLogs:
    """Keeps the contract of multinomial.logs."""
    thetas = doubles(probabilities).reshape(-1, rows.d)
    slopes, bases = np.empty(thetas.shape), np.zeros(len(thetas))

    def take_logs(c: int, _worker: int) -> None:
        bases[c] = word_logs(thetas, c, slopes, kind == "bernoulli")

    shared(take_logs, len(thetas))
    return WordLogs(_flat(slopes), _flat(bases))


@compiled
def word_logs(thetas: Any, c: int, slopes: Any, presence: bool) -> float:
    """Write log theta, or log-odds, of one component; the sum of log(1 - theta)."""
    d = thetas.shape[1]
    take_logs(thetas, c * d, slopes, c * d, d)
    base = 0.0
    if presence:
        gone = room(d, np.float64)
        take_logs_of_rest(thetas, c * d, gone, 0, d)
        for j in range(d):
            if thetas[c, j] < 1.0:
                slopes[c, j] -= gone[j]
                base += gone[j]
    return base


def m_step(rows: Any, tallies: Any, m: float, p: Any, kind: CountModel) -> WordStep:
    """Keeps the contract of multinomial.m_step."""
    d, presence = rows.d, kind == "bernoulli"
    counts, sums = doubles(tallies.counts), doubles(tallies.sums).reshape(-1, rows.d)
    shares = np.array(p)
    pools = [rows.buffers(name, len(counts) * d) for name in ("probabilities", "slopes")]
    flat = [pool.free() for pool in pools]
    thetas, slopes = (buffer.reshape(-1, d) for buffer in flat)
    bases, terms = np.zeros(len(counts)), np.zeros((len(counts), 2))

    def step_component(c: int, _worker: int) -> None:
        whole = (float(counts[c]) if presence else total(sums, c)) + m
        estimate(sums, c, whole, m, shares, presence, thetas)
        bases[c] = word_logs(thetas, c, slopes, presence)
        terms[c, 0] = expected(sums, c, slopes) + counts[c] * bases[c]
        terms[c, 1] = imagined(thetas, c, slopes, m, shares, presence) if m else 0.0

    shared(step_component, len(counts))
    expectation, prior = terms.sum(axis=0).tolist()
    probabilities, logarithms = (
        memoryview(pool.finished(buffer)) for pool, buffer in zip(pools, flat, strict=True)
    )
    return WordStep(probabilities, WordLogs(logarithms, _flat(bases)), expectation, prior)


@compiled
def estimate(
    sums: Any, c: int, whole: float, m: float, shares: Any, presence: bool, thetas: Any
) -> None:
    """The m-estimate of every word of one component; without any observation its share p."""
    for j in range(sums.shape[1]):
        theta = (sums[c, j] + m * shares[j]) / whole if whole else shares[j]
        thetas[c, j] = min(theta, 1.0) if presence else theta


@compiled
def total(sums: Any, c: int) -> Any:
    """All counts of one component, in ``STRANDS`` sums: no sum waits for the one before it."""
    strands = np.zeros(STRANDS)
    whole = sums.shape[1] // STRANDS * STRANDS
    for j in range(0, whole, STRANDS):
        for s in range(STRANDS):
            strands[s] += sums[c, j + s]
    for j in range(whole, sums.shape[1]):
        strands[j - whole] += sums[c, j]
    return tree(strands)


@compiled
def expected(sums: Any, c: int, slopes: Any) -> Any:
    """The sum of counts times slopes of one component."""
    strands = np.zeros(STRANDS)
    whole = sums.shape[1] // STRANDS * STRANDS
    for j in range(0, whole, STRANDS):
        for s in range(STRANDS):
            strands[s] += sums[c, j + s] * max(slopes[c, j + s], _LEAST)
    for j in range(whole, sums.shape[1]):
        # A word that is not there has the count 0, and 0 times a finite number is 0.
        strands[j - whole] += sums[c, j] * max(slopes[c, j], _LEAST)
    return tree(strands)


@inlined
def tree(strands):  # type: ignore[no-untyped-def]
    """The sum of all strands, neighbours first."""
    a, b = strands[0] + strands[1], strands[2] + strands[3]
    c, d = strands[4] + strands[5], strands[6] + strands[7]
    return (a + b) + (c + d)


@compiled
def imagined(thetas: Any, c: int, slopes: Any, m: float, shares: Any, presence: bool) -> float:
    """The logarithm of the prior of one component; slopes of a multinomial one are log theta."""
    log_prior = 0.0
    for j in range(thetas.shape[1]):
        if shares[j] > 0.0:
            log_prior += m * shares[j] * (log_of(thetas[c, j]) if presence else slopes[c, j])
        if presence and shares[j] < 1.0:
            log_prior += m * (1.0 - shares[j]) * log_of(1.0 - thetas[c, j])
    return log_prior


def _flat(values: Any) -> memoryview:
    return memoryview(values.ravel())
