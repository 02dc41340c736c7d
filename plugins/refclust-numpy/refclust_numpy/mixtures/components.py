"""Passes over components: whitening, traces, probabilities of words.

Matrices of all components are handled together, one NumPy call for each row of a matrix. Every
operation is the textbook's, so the bounds of the contracts hold as derived there.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.mixtures.words import CountModel, WordLogs, WordStep

Array = Any
LEAST: Final = -1e4  # far below the logarithm of every double


def whitening(rows: Any, covariances: Any, form: str) -> Array:
    """Keeps the contract of gaussian.whitening."""
    flat = np.frombuffer(covariances)
    if form != "full":
        scales = np.zeros(len(flat))
        positive = flat > 0
        np.divide(1.0, np.sqrt(flat, where=positive, out=np.ones(len(flat))), out=scales)
        scales[~positive] = 0.0
        return scales
    d = rows.d
    matrices = flat.reshape(-1, d, d)
    lower, usable = _cholesky(matrices)
    inverse = np.zeros_like(matrices)
    for i in range(d):
        inverse[:, i, i] = 1.0
        if i:
            inverse[:, i, :i] = -np.matmul(lower[:, i : i + 1, :i], inverse[:, :i, :i])[:, 0]
        inverse[:, i, : i + 1] /= lower[:, i, i, None]
    inverse[~usable] = 0.0
    return inverse.ravel()


def _cholesky(matrices: Array) -> tuple[Array, Array]:
    """The factors of all matrices, and which of them are positive definite (LIN-CHOL)."""
    k, d, _ = matrices.shape
    lower, usable = np.zeros_like(matrices), np.ones(k, dtype=bool)
    for j in range(d):
        own = lower[:, j, :j]
        pivot = matrices[:, j, j] - np.einsum("ki,ki->k", own, own)
        usable &= pivot > 8 * (j + 1) ** 2 * 2.0**-53 * matrices[:, j, j]
        root = np.sqrt(np.where(usable, pivot, 1.0))
        lower[:, j, j] = root
        if j + 1 < d:
            rest = matrices[:, j + 1 :, j] - np.einsum("kij,kj->ki", lower[:, j + 1 :, :j], own)
            lower[:, j + 1 :, j] = np.where(usable[:, None], rest / root[:, None], 0.0)
    return lower, usable


def scatters(rows: Any, moments: Any, prior: Any) -> Array:
    """Keeps the contract of gaussian.scatters."""
    d, counts = rows.d, np.frombuffer(moments.counts)
    counts = np.where(counts, counts, 1.0)  # all sums of a component without weight are zero
    firsts = np.frombuffer(moments.firsts).reshape(-1, d)
    seconds = np.frombuffer(moments.seconds)
    # Exponents apart, so that no product leaves the range of doubles before it is divided.
    (parts, powers), (wholes, scales) = np.frexp(firsts), np.frexp(counts)
    if moments.spread == "diagonal":
        moved = np.ldexp(parts * parts / wholes[:, None], 2 * powers - scales[:, None])
        scatter = np.maximum(seconds.reshape(-1, d) - moved, 0.0)
        return (scatter + np.asarray(prior) if len(prior) else scatter).ravel()
    products = parts[:, :, None] * parts[:, None, :] / wholes[:, None, None]
    exponents = powers[:, :, None] + powers[:, None, :] - scales[:, None, None]
    scatter = seconds.reshape(-1, d, d) - np.ldexp(products, exponents)
    if len(prior):
        scatter[:, np.arange(d), np.arange(d)] += np.asarray(prior)
    return scatter.ravel()


def traces(rows: Any, seconds: Any, white: Any, form: str) -> Array:
    """Keeps the contract of gaussian.traces."""
    d, moments, parts = rows.d, np.frombuffer(seconds), np.frombuffer(white)
    if form == "spherical":
        return parts * parts * moments.reshape(-1, d).sum(axis=1)
    if form == "diagonal":
        return (parts * parts * moments).reshape(-1, d).sum(axis=1)
    whitening = parts.reshape(-1, d, d)
    return np.einsum("kij,kij->k", np.matmul(whitening, moments.reshape(-1, d, d)), whitening)


def logs(rows: Any, probabilities: Any, kind: CountModel) -> WordLogs:
    """Keeps the contract of multinomial.logs."""
    return _logs(np.frombuffer(probabilities).reshape(-1, rows.d), kind)


def _logs(thetas: Array, kind: CountModel) -> WordLogs:
    slopes = np.log(thetas)
    if kind == "multinomial":
        return WordLogs(_flat(slopes), _flat(np.zeros(len(thetas))))
    absent = np.where(thetas < 1.0, np.log1p(-thetas), 0.0)
    slopes -= absent
    return WordLogs(_flat(slopes), _flat(absent.sum(axis=1)))


def _flat(values: Array) -> memoryview:
    return memoryview(values.ravel())


def m_step(rows: Any, tallies: Any, m: float, p: Any, kind: CountModel) -> WordStep:
    """Keeps the contract of multinomial.m_step."""
    d = rows.d
    counts = np.frombuffer(tallies.counts)
    sums = np.frombuffer(tallies.sums).reshape(-1, d)
    shares = np.asarray(p)
    thetas, slopes = np.empty_like(sums), np.empty_like(sums)
    bases, expected = np.zeros(len(counts)), np.empty(len(counts))
    # One component after another: what is made of its words stays in the nearest caches.
    for c, n in enumerate(counts.tolist()):
        whole = (float(sums[c].sum()) if kind == "multinomial" else n) + m
        theta, slope = thetas[c], slopes[c]
        if whole:
            np.divide(sums[c] + m * shares if m else sums[c], whole, out=theta)
        else:
            theta[:] = shares
        if kind == "bernoulli":
            np.minimum(theta, 1.0, out=theta)
        np.log(theta, out=slope)
        if kind == "bernoulli":
            absent = np.where(theta < 1.0, np.log1p(-theta), 0.0)
            slope -= absent
            bases[c] = absent.sum()
        # A word that is not there has the count 0, and 0 times a finite number is 0.
        finite = np.maximum(slope, LEAST)
        expected[c] = np.einsum("j,j->", sums[c], finite) + n * bases[c]
    imagined = _imagined(thetas, m, shares, kind) if m else 0.0
    own = WordLogs(_flat(slopes), _flat(bases))
    return WordStep(_flat(thetas), own, float(expected.sum()), imagined)


def _imagined(thetas: Array, m: float, shares: Array, kind: CountModel) -> float:
    terms = m * shares * np.log(thetas)
    logarithm = float(np.where(shares > 0, terms, 0.0).sum())
    if kind == "bernoulli":
        terms = m * (1.0 - shares) * np.log(1.0 - thetas)
        logarithm += float(np.where(shares < 1, terms, 0.0).sum())
    return logarithm
