"""The evidence of small data, with all parameters integrated out: a sum over all assignments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

from refclust.numbers.logspace import logsumexp


def log_beta(alpha: list[float]) -> float:
    return math.fsum(map(math.lgamma, alpha)) - math.lgamma(math.fsum(alpha))


def students(xs: list[float], mean: float, scale: float, nu: float, beta: float) -> float:
    """The log evidence of numbers under a normal-gamma prior: each given those before it.

    The next number is Student-t with nu degrees of freedom around the mean, with the squared scale
    (beta + 1) scale / (beta nu), where ``scale`` is the inverse of the Wishart scale.
    """
    terms = []
    for x in xs:
        square = (beta + 1) * scale / (beta * nu)
        away = (x - mean) ** 2 / (nu * square)
        terms.append(
            math.lgamma((nu + 1) / 2)
            - math.lgamma(nu / 2)
            - 0.5 * math.log(nu * math.pi * square)
            - (nu + 1) / 2 * math.log1p(away)
        )
        scale += beta / (beta + 1) * (x - mean) ** 2
        mean = (beta * mean + x) / (beta + 1)
        beta, nu = beta + 1, nu + 1
    return math.fsum(terms)


def evidence_of_line(rows: list[list[float]], k: int, alpha: float) -> float:
    """Sum over all assignments of p(z) p(X | z), both in closed form."""
    xs = [row[0] for row in rows]
    n = len(xs)
    mean = math.fsum(xs) / n
    variance = math.fsum((x - mean) ** 2 for x in xs) / n
    parts = []
    for labels in product(range(k), repeat=n):
        groups = [[x for x, z in zip(xs, labels, strict=True) if z == c] for c in range(k)]
        shares = log_beta([alpha + len(group) for group in groups]) - log_beta([alpha] * k)
        own = [students(group, mean, variance, 1.0, 1.0) for group in groups]
        parts.append(math.fsum((shares, *own)))
    return logsumexp(parts)


def evidence_of_documents(docs: list[list[int]], k: int, alpha: float) -> float:
    return logsumexp(assignments_of_documents(docs, k, alpha).values())


def assignments_of_documents(
    docs: list[list[int]], k: int, alpha: float
) -> dict[tuple[int, ...], float]:
    """log p(X, z) of every assignment z, with all parameters integrated out."""
    parts, d = {}, len(docs[0])
    for labels in product(range(k), repeat=len(docs)):
        term = -log_beta([alpha] * k)
        sizes = [alpha + labels.count(c) for c in range(k)]
        term += log_beta(sizes)
        for c in range(k):
            rows = [doc for doc, z in zip(docs, labels, strict=True) if z == c]
            term += log_beta([1.0 + sum(column) for column in zip([0] * d, *rows, strict=True)])
            term -= log_beta([1.0] * d)
        parts[labels] = term
    return parts


@dataclass
class Known:
    """What is known of a precision after some rows: degrees of freedom and the inverse scale."""

    nu: float
    scale: list[list[float]]  # full, d numbers in one line, or one number


def evidence_of_rows(
    rows: list[list[float]],
    k: int,
    alpha: float,
    covariance: str,
    *,
    beta: float = 1.0,
    nu: float | None = None,
) -> float:
    """The log evidence of rows in one or two columns: a sum over all assignments."""
    parts = assignments_of_rows(rows, k, alpha, covariance, beta=beta, nu=nu)
    return logsumexp(parts.values())


def assignments_of_rows(
    rows: list[list[float]],
    k: int,
    alpha: float,
    covariance: str,
    *,
    beta: float = 1.0,
    nu: float | None = None,
) -> dict[tuple[int, ...], float]:
    """log p(X, z) of every assignment z of rows in one or two columns.

    Given its assignment a row is Student-distributed around the mean of its component, given the
    rows before it; nothing is integrated in closed form but that. Where covariances are common, so
    is what is known of them.
    """
    n, d = len(rows), len(rows[0])
    full, ball = not covariance.endswith("I"), covariance.endswith("II")
    mean = [math.fsum(column) / n for column in zip(*rows, strict=True)]
    cross = [
        [math.fsum((r[i] - mean[i]) * (r[j] - mean[j]) for r in rows) / n for j in range(d)]
        for i in range(d)
    ]
    variances = [cross[j][j] for j in range(d)]
    scale = cross if full else [[math.fsum(variances) / d]] if ball else [variances]
    freedom = (float(d) if full else 1.0) if nu is None else nu
    parts = {}
    for labels in product(range(k), repeat=n):
        terms = [log_beta([alpha + labels.count(c) for c in range(k)]), -log_beta([alpha] * k)]
        means, betas = [list(mean) for _ in range(k)], [beta] * k
        kinds = 1 if covariance.startswith("E") else k
        known = [Known(freedom, [list(line) for line in scale]) for _ in range(kinds)]
        for row, z in zip(rows, labels, strict=True):
            share = betas[z] / (betas[z] + 1)
            away = [x - m for x, m in zip(row, means[z], strict=True)]
            terms.append(_student(known[z % kinds], away, share, full=full))
            means[z] = [m + x / (betas[z] + 1) for m, x in zip(means[z], away, strict=True)]
            betas[z] += 1
        parts[labels] = math.fsum(terms)
    return parts


def _student(known: Known, away: list[float], share: float, *, full: bool) -> float:
    """The log density of the next row; what is known of the precision is renewed by it."""
    d, nu, scale = len(away), known.nu, known.scale
    if full:
        determinant = scale[0][0] if d == 1 else scale[0][0] * scale[1][1] - scale[0][1] ** 2
        turned = [1.0] if d == 1 else [scale[1][1], -scale[0][1], scale[0][0]]
        if d == 1:
            square = away[0] ** 2 / determinant
        else:
            x, y = away
            square = (turned[0] * x * x + 2 * turned[1] * x * y + turned[2] * y * y) / determinant
        known.nu += 1
        for i in range(d):
            for j in range(d):
                scale[i][j] += share * away[i] * away[j]
        return (
            math.lgamma((nu + 1) / 2)
            - math.lgamma((nu + 1 - d) / 2)
            + 0.5 * d * math.log(share / math.pi)
            - 0.5 * math.log(determinant)
            - (nu + 1) / 2 * math.log1p(share * square)
        )
    [own] = scale
    groups = [away] if len(own) == 1 else [[x] for x in away]  # of columns with one scale
    times, terms = len(groups[0]), []
    for j, group in enumerate(groups):
        square = share * math.fsum(x * x for x in group)
        terms.append(
            math.lgamma((nu + times) / 2)
            - math.lgamma(nu / 2)
            + 0.5 * times * math.log(share / (math.pi * own[j]))
            - (nu + times) / 2 * math.log1p(square / own[j])
        )
        own[j] += square
    known.nu += times
    return math.fsum(terms)


def evidence_of_presences(rows: list[list[int]], k: int, alpha: float, weight: float) -> float:
    """The log evidence of zeros and ones, word by word by Laplace's rule of succession."""
    parts = []
    for labels in product(range(k), repeat=len(rows)):
        terms = [log_beta([alpha + labels.count(c) for c in range(k)]), -log_beta([alpha] * k)]
        seen = [[[weight, weight] for _ in rows[0]] for _ in range(k)]
        for row, z in zip(rows, labels, strict=True):
            for x, pair in zip(row, seen[z], strict=True):
                terms.append(math.log(pair[x] / math.fsum(pair)))
                pair[x] += 1
        parts.append(math.fsum(terms))
    return logsumexp(parts)
