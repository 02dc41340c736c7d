"""The evidence of small data, with all parameters integrated out: a sum over all assignments."""

from __future__ import annotations

import math
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
