"""Parameters of multinomial and Bernoulli mixtures, and their densities (chapter 31)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from refclust.data.accepting.buffers import surely_counts, surely_shares
from refclust.data.dataset import Dataset
from refclust.errors import (
    BadOption,
    DimensionMismatch,
    FractionalCount,
    NegativeCount,
    NotBinary,
)
from refclust.fitting.checks import named
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import Doubles, floats
from refclust.kernels.mixtures.words import CountModel, WordLogs, WordStep, log
from refclust.kernels.points import Vector
from refclust.mixture.families.estimates import component_weights
from refclust.mixture.families.gaussian.parameters import check_weights, readable
from refclust.mixture.options import Counts as Counts
from refclust.numbers.reading import shown
from refclust.shown.page import brief, counted


@dataclass(frozen=True, slots=True, repr=False)
class CountParameters:
    """The shares of K components, and of each the probability of every word.

    In a multinomial mixture the probabilities of a component add up to one; in a Bernoulli mixture
    each of them is the probability that the word is there. They are K rows: tuples, or a matrix
    that makes them of one buffer when they are looked at.

    Spec: MIX-MODEL
    """

    weights: tuple[float, ...]
    probabilities: Sequence[Vector]

    def __repr__(self) -> str:
        k, d = len(self.weights), len(self.probabilities[0]) if len(self.probabilities) else 0
        fields = {"weights": self.weights, "probabilities": self.probabilities}
        words = f"{counted(k, 'component')}, {counted(d, 'column')}"
        return brief("CountParameters", fields, k * d, words)


def probability_buffer(parameters: CountParameters) -> Doubles:
    """All probabilities in one buffer, component after component.

    Spec: none (a change of clothes)
    """
    return CentreMatrix.of(parameters.probabilities).values


def terms_of(parameters: CountParameters, logs: WordLogs, kind: CountModel) -> Terms:
    """The densities of parameters whose logarithms are known, ready for a pass.

    In a Bernoulli model a word that is not there costs log(1 - theta): the offset has that of all
    words, the slope of a word gives it back, and a word of probability one must be there.

    Spec: NB-LIK, MMIX-LL, BMIX-LL, BMIX-ESTEP

    >>> one = CountParameters((1.0,), ((0.5, 1.0),))
    >>> logs = WordLogs(array("d", [0.0, 0.0]), array("d", [-0.6931471805599453]))
    >>> terms_of(one, logs, "bernoulli").certain
    ((1,),)
    """
    offsets = array(
        "d",
        (log(w) + base for w, base in zip(parameters.weights, floats(logs.bases), strict=True)),
    )
    if kind == "multinomial":
        return Terms(offsets, logs.slopes, falling=True)
    certain = [
        tuple(j for j, theta in enumerate(row) if theta == 1.0) if 1.0 in row else ()
        for row in parameters.probabilities
    ]
    return Terms(offsets, logs.slopes, tuple(certain) if any(certain) else None)


def estimated(tallies: Tallies, step: WordStep) -> CountParameters:
    """The parameters that an M-step found: shares of components and probabilities of words.

    With responsibilities of one and zero this is naive Bayes.

    Spec: MMIX-PI, MMIX-THETA, BMIX-THETA, NB-PI, NB-THETA, MMIX-HARD
    """
    flat = memoryview(step.probabilities)
    table = CentreMatrix.flat(flat, len(flat) // len(tallies.counts))
    return CountParameters(component_weights(tallies.counts), table)


def shares_of(p: Any) -> tuple[float, ...]:
    """The shares of imagined words as doubles; none: nothing.

    Spec: NB-MEST
    """
    if p is None:
        return ()
    try:
        shares = tuple(map(float, p))
    except (TypeError, ValueError, OverflowError):
        raise BadOption(f"p is {shown(p)}; a probability for each column is needed") from None
    if not shares:
        raise DimensionMismatch("p has no numbers; one for each column is due")
    return shares


def check_counts(data: Dataset, kind: CountModel, counts: Counts) -> None:
    """Refuse rows that are no counts, or no zeros and ones for a Bernoulli mixture."""
    named("counts", counts, get_args(Counts))
    if kind == "bernoulli":
        place = _first(data, lambda x: x not in (0.0, 1.0))
        if place is not None:
            raise NotBinary(
                f"{_where(data, place)}; a Bernoulli model takes 0 and 1: whether something is "
                "there"
            )
        return
    whole = counts == "whole"
    check_whole(data, whole=whole, advice=", unless counts='fractional' is chosen")


def check_whole(data: Dataset, *, whole: bool = True, advice: str = "") -> None:
    """Refuse counts below 0 and, if they must be ``whole``, fractions."""
    if surely_counts(data.matrix.values):
        return
    place = _first(data, lambda x: x < 0)
    if place is not None:
        raise NegativeCount(f"{_where(data, place)}; counts are at least 0")
    place = _first(data, lambda x: not x.is_integer()) if whole else None
    if place is not None:
        raise FractionalCount(f"{_where(data, place)}; counts are whole numbers{advice}")


def check_parameters(parameters: CountParameters, kind: CountModel, d: int) -> None:
    """Refuse parameters that are no mixture over d words."""
    with readable("weights and probabilities"):
        _check_parameters(parameters, kind, d)


def _check_parameters(parameters: CountParameters, kind: CountModel, d: int) -> None:
    k = len(parameters.weights)
    if not k or len(parameters.probabilities) != k:
        raise DimensionMismatch(
            f"{k} weights and {len(parameters.probabilities)} rows of probabilities were given; "
            "one of each is due for every component"
        )
    check_weights(parameters.weights)
    if not isinstance(parameters.probabilities, CentreMatrix):
        for c, row in enumerate(parameters.probabilities):
            if len(row) != d:
                raise DimensionMismatch(
                    f"component {c} has {len(row)} probabilities, the rows {d} columns"
                )
    table = CentreMatrix.of(parameters.probabilities)
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
