"""Parameters of multinomial and Bernoulli mixtures, and their densities (chapter 31)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from refclust.data.dataset import Dataset
from refclust.data.glance import surely_counts, surely_shares
from refclust.errors import (
    BadOption,
    DimensionMismatch,
    FractionalCount,
    NegativeCount,
    NotBinary,
)
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixture import Doubles, plain
from refclust.kernels.multinomial import Tallies, Terms
from refclust.kernels.points import Vector
from refclust.kernels.words import (
    Kind,
    WordLogs,
    log,
    presence_probabilities,
    word_probabilities,
)
from refclust.mixture.estimates import component_weights
from refclust.mixture.gaussian_parameters import check_weights, readable

Counts: TypeAlias = Literal["whole", "fractional"]


@dataclass(frozen=True, slots=True)
class CountParameters:
    """The shares of K components, and of each the probability of every word.

    In a multinomial mixture the probabilities of a component add up to one; in a Bernoulli mixture
    each of them is the probability that the word is there. They are K rows: tuples, or a matrix
    that makes them of one buffer when they are looked at.

    Spec: MIX-MODEL
    """

    weights: tuple[float, ...]
    probabilities: Sequence[Vector]


def probability_buffer(parameters: CountParameters) -> Doubles:
    """All probabilities in one buffer, component after component.

    Spec: none (a change of clothes)
    """
    return CentreMatrix.of(parameters.probabilities).values


def terms_of(parameters: CountParameters, logs: WordLogs, kind: Kind) -> Terms:
    """The densities of parameters whose logarithms are known, ready for a pass.

    Spec: NB-LIK, MMIX-LL, BMIX-LL
    """
    offsets = array(
        "d",
        (log(w) + base for w, base in zip(parameters.weights, plain(logs.bases), strict=True)),
    )
    if kind == "multinomial":
        return Terms(offsets, logs.slopes, falling=True)
    certain = [
        tuple(j for j, theta in enumerate(row) if theta == 1.0) if 1.0 in row else ()
        for row in parameters.probabilities
    ]
    return Terms(offsets, logs.slopes, tuple(certain) if any(certain) else None)


def multinomial_terms(parameters: CountParameters) -> Terms:
    """The densities of sequences of words, ready for a pass.

    Spec: NB-LIK, MMIX-LL

    >>> multinomial_terms(CountParameters((1.0,), ((1.0, 0.0),))).slopes
    array('d', [0.0, -inf])
    """
    slopes = array("d", (log(theta) for row in parameters.probabilities for theta in row))
    bases = array("d", bytes(8 * len(parameters.weights)))
    return terms_of(parameters, WordLogs(slopes, bases), "multinomial")


def bernoulli_terms(parameters: CountParameters) -> Terms:
    """The densities of which words are there, ready for a pass.

    A word that is not there costs log(1 - theta); the offset has that of all words, and the slope
    of a word gives it back. A word of probability one must be there.

    Spec: BMIX-LL, BMIX-ESTEP

    >>> found = bernoulli_terms(CountParameters((1.0,), ((0.5, 1.0),)))
    >>> found.offsets, found.slopes, found.certain
    (array('d', [-0.6931471805599453]), array('d', [0.0, 0.0]), ((1,),))
    """
    slopes, bases = array("d"), array("d")
    for row in parameters.probabilities:
        absent = [math.log1p(-theta) if theta < 1.0 else 0.0 for theta in row]
        slopes.extend(log(theta) - gone for theta, gone in zip(row, absent, strict=True))
        bases.append(math.fsum(absent))
    return terms_of(parameters, WordLogs(slopes, bases), "bernoulli")


def estimated(moments: Tallies, kind: Kind, m: float, p: Sequence[float]) -> CountParameters:
    """The parameters that maximise the likelihood of weighted counts, with m imagined ones.

    With responsibilities of one and zero this is naive Bayes.

    Spec: MMIX-PI, MMIX-THETA, BMIX-THETA, NB-PI, NB-THETA, MMIX-HARD

    >>> two = Tallies(array("d", [2, 2]), array("d", [3, 1, 0, 2]))
    >>> estimated(two, "multinomial", 0.0, [0.5, 0.5])
    CountParameters(weights=(0.5, 0.5), probabilities=((0.75, 0.25), (0.0, 1.0)))
    """
    k = len(moments.counts)
    flat = plain(moments.sums)
    d = len(flat) // k
    rows = [flat[c * d : (c + 1) * d] for c in range(k)]
    if kind == "multinomial":
        found = tuple(word_probabilities(row, m, p) for row in rows)
    else:
        found = tuple(
            presence_probabilities(row, count, m, p)
            for row, count in zip(rows, moments.counts, strict=True)
        )
    return CountParameters(component_weights(moments.counts), found)


def check_counts(data: Dataset, kind: Kind, counts: Counts) -> None:
    """Refuse rows that are no counts, or no zeros and ones for a Bernoulli mixture."""
    if counts not in ("whole", "fractional"):
        raise BadOption(f"counts is {counts!r}; allowed are whole, fractional")
    if kind == "multinomial" and surely_counts(data.matrix.values):
        return
    if kind == "bernoulli":
        place = _first(data, lambda x: x not in (0.0, 1.0))
        if place is not None:
            raise NotBinary(
                f"{_where(data, place)}; a Bernoulli model takes 0 and 1: whether something is "
                "there"
            )
        return
    place = _first(data, lambda x: x < 0)
    if place is not None:
        raise NegativeCount(f"{_where(data, place)}; counts are at least 0")
    place = None if counts == "fractional" else _first(data, lambda x: not x.is_integer())
    if place is not None:
        raise FractionalCount(
            f"{_where(data, place)}; counts are whole numbers, unless counts='fractional' is chosen"
        )


def check_parameters(given: CountParameters, kind: Kind, d: int) -> None:
    """Refuse parameters that are no mixture over d words."""
    with readable("weights and probabilities"):
        _check_parameters(given, kind, d)


def _check_parameters(given: CountParameters, kind: Kind, d: int) -> None:
    k = len(given.weights)
    if not k or len(given.probabilities) != k:
        raise DimensionMismatch(
            f"{k} weights and {len(given.probabilities)} rows of probabilities were given; one of "
            "each is due for every component"
        )
    check_weights(given.weights)
    if not isinstance(given.probabilities, CentreMatrix):
        for c, row in enumerate(given.probabilities):
            if len(row) != d:
                raise DimensionMismatch(
                    f"component {c} has {len(row)} probabilities, the rows {d} columns"
                )
    table = CentreMatrix.of(given.probabilities)
    if table.d != d:
        raise DimensionMismatch(f"{table.d} probabilities for each component, {d} columns")
    if surely_shares(table.values, d, whole=kind == "multinomial"):
        return
    for c, row in enumerate(table):
        if not all(0.0 <= theta <= 1.0 for theta in row):
            raise BadOption(f"component {c} has a probability below 0 or above 1")
        if kind == "multinomial" and abs(math.fsum(row) - 1.0) > d * 2.0**-40:
            raise BadOption(
                f"the probabilities of component {c} add up to {math.fsum(row)!r}; 1 is due"
            )


def _first(data: Dataset, wrong: Callable[[float], bool]) -> int | None:
    """The place of the first number that is wrong among those stored."""
    values = data.matrix.values
    return next((i for i, x in enumerate(values.tolist()) if wrong(x)), None)


def _where(data: Dataset, place: int) -> str:
    row, column = data.position(place)
    value = data.matrix.values[place]
    return f"row {data.row_name(row)}, column {data.feature_name(column)} is {value!r}"
