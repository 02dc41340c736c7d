"""Parameters of components and classes in a model file (chapter 11, MODEL-LOAD)."""

from __future__ import annotations

import math
from typing import Final

from refclust.data.files.document import Node
from refclust.models.reader.kmeans import read_centres
from refclust.models.records.common import DataFacts
from refclust.models.records.mixtures import CountNumbers, Form, GaussianNumbers, Numbers
from refclust.numbers.linalg import NotPositive, cholesky

_SLACK: Final = 2.0**-40  # for each number, as for parameters given to a fit (EM-INIT)


def read_numbers(node: Node, data: DataFacts, *, form: Form | None, sums: bool) -> Numbers:
    """Read the parameters of components: normal densities of a form, or probabilities of words.

    Spec: MODEL-LOAD
    """
    if form is None:
        weights, probabilities = node.members("weights", "probabilities")
        shares = read_weights(weights)
        probabilities.items(len(shares))
        words = read_centres(probabilities, data, directed=False)
        for item, row in zip(probabilities.items(), words, strict=True):
            _check_probabilities(item, row, data.d if sums else None)
        return CountNumbers(shares, words)
    written, weights, means, covariances = node.members("form", "weights", "means", "covariances")
    if written.one_of(("full", "diagonal", "spherical")) != form:
        written.fail(f"{written.value}; params.covariance is written in the form {form}")
    shares = read_weights(weights)
    means.items(len(shares))
    spreads = tuple(_covariance(item, form, data.d) for item in covariances.items(len(shares)))
    return GaussianNumbers(shares, read_centres(means, data, directed=False), spreads, form)


def read_weights(node: Node) -> tuple[float, ...]:
    """Read shares of components: not negative, and one together.

    Spec: MODEL-LOAD
    """
    weights = node.doubles(least=0)
    _check_sum(node, weights, len(weights))
    return weights


def read_probabilities(node: Node, length: int) -> tuple[float, ...]:
    """Read numbers from 0 to 1.

    Spec: MODEL-LOAD
    """
    found = node.doubles(length, 0)
    _check_probabilities(node, found, None)
    return found


def log_double(node: Node) -> float:
    """Read a logarithm, of which null is that of zero.

    Spec: MODEL-LOAD
    """
    found = node.maybe(Node.double)
    return -math.inf if found is None else found


def positive(node: Node) -> float:
    """Read a number above 0.

    Spec: MODEL-LOAD
    """
    found = node.double(0)
    if not found:
        node.wrong("a number above 0")
    return found


def _check_probabilities(node: Node, row: tuple[float, ...], sums: int | None) -> None:
    for place, x in enumerate(row):
        if not 0.0 <= x <= 1.0:
            node.fail(f"column {place} is {x!r}; probabilities are from 0 to 1")
    if sums is not None:
        _check_sum(node, row, sums)


def _check_sum(node: Node, numbers: tuple[float, ...], count: int) -> None:
    whole = math.fsum(min(x, 2.0) for x in numbers)  # a sum beyond the doubles is wrong, too
    if not abs(whole - 1.0) <= count * _SLACK:
        node.fail(f"together they are {whole!r}; 1 is due, within rounding")


def _covariance(node: Node, form: Form, d: int) -> tuple[float, ...]:
    if form != "full":
        found = node.doubles(d if form == "diagonal" else 1)
        for place, variance in enumerate(found):
            if not variance > 0:
                node.item(place).fail(f"the variance {variance!r}; it must be above 0")
        return found
    found = node.doubles(d * d)
    matrix = tuple(found[i * d : (i + 1) * d] for i in range(d))
    if matrix != tuple(zip(*matrix, strict=True)):
        node.fail("a matrix that is not symmetric")
    try:
        cholesky(matrix)
    except (NotPositive, OverflowError) as wrong:
        which = f" in column {wrong.column}" if isinstance(wrong, NotPositive) else ""
        node.fail(f"a matrix that is not positive definite{which}")
    return found
