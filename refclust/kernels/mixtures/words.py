"""The M-step of distributions over words: from weighted counts to probabilities (chapter 31).

This pass runs over components and words, not over rows; it is a kernel because with many words it
would take longer in plain Python than a fast backend takes for all the rows.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from refclust.kernels.mixtures.multinomial import Tallies
from refclust.kernels.mixtures.shared import Doubles, floats
from refclust.kernels.points import Points
from refclust.kernels.registry import kernel
from refclust.numbers.argmin import ROUND

CountModel: TypeAlias = Literal["multinomial", "bernoulli"]


@dataclass(frozen=True, slots=True)
class WordLogs:
    """Probabilities of words as logarithms.

    ``slopes`` are log theta, for a Bernoulli model log theta - log(1 - theta); ``bases`` the sums
    of log(1 - theta) of each component, zeros for a multinomial model. A probability of one has
    the slope 0 and adds nothing to the base.
    """

    slopes: Doubles
    bases: Doubles


@dataclass(frozen=True, slots=True)
class WordStep:
    """Probabilities of words, with their logarithms for the next pass.

    ``expected`` is the sum of T_j slope_j and N base over all components, ``imagined`` that of
    m p_j log theta_j, for a Bernoulli model also of m (1 - p_j) log(1 - theta_j).
    """

    probabilities: Doubles
    logs: WordLogs
    expected: float
    imagined: float


def m_estimate(count: float, total: float, m: float, p: float) -> float:
    """(count + m p) / (total + m): a share, with m imagined observations of which p m are hits.

    Without any observation, real or imagined, it is p.

    Spec: NB-MEST, NB-THETA, NB-MEST1H

    >>> m_estimate(3, 10, 1, 0.5), m_estimate(3, 10, 0, 0.5), m_estimate(0, 0, 0, 0.25)
    (0.3181818181818182, 0.3, 0.25)
    """
    whole = total + m
    return (count + m * p) / whole if whole else p


def word_probabilities(sums: Sequence[float], m: float, p: Sequence[float]) -> tuple[float, ...]:
    """The probability of each word, from its weighted count in the rows of one component.

    Spec: MMIX-THETA, NB-THETA, NB-MLECOUNT, NB-MEST

    >>> word_probabilities([3.0, 1.0], 0.0, [0.5, 0.5])
    (0.75, 0.25)
    """
    tokens = math.fsum(sums)
    return tuple(m_estimate(x, tokens, m, share) for x, share in zip(sums, p, strict=True))


def presence_probabilities(
    sums: Sequence[float], rows: float, m: float, p: Sequence[float]
) -> tuple[float, ...]:
    """The probability that each word is there at all, from the weight of the rows that have it.

    Spec: BMIX-THETA, NB-MEST

    >>> presence_probabilities([3.0, 4.0], 4.0, 0.0, [0.5, 0.5])
    (0.75, 1.0)
    """
    # Both sums are rounded, so the weight of the rows that have a word may exceed that of all rows.
    return tuple(min(m_estimate(x, rows, m, share), 1.0) for x, share in zip(sums, p, strict=True))


def log(x: float) -> float:
    """The natural logarithm, of zero minus infinity.

    Spec: NUM-LSE

    >>> log(1.0), log(0.0)
    (0.0, -inf)
    """
    return math.log(x) if x else -math.inf


@dataclass(frozen=True, slots=True)
class Logarithms:
    """Each slope is within 8 u of its logarithms, each base within (d + 8) u of its terms."""

    name: str = "Logarithms"

    def malformed(self, answer: Any) -> str | None:
        """Ask for flat buffers of doubles."""
        if not isinstance(answer, WordLogs):
            return f"a {type(answer).__name__} instead of WordLogs"
        return _not_doubles("slopes", answer.slopes) or _not_doubles("bases", answer.bases)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare sizes only: values are judged by the probabilities."""
        wrong = self.malformed(answer)
        if wrong:
            return wrong
        for name in ("slopes", "bases"):
            size, actual = (len(floats(getattr(logs, name))) for logs in (reference, answer))
            if size != actual:
                return f"{actual} {name} instead of {size}"
        return None

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number within its bound."""
        return self.fault(due, answer) or _wrong_logs(points.d, args[0], args[1], answer)


def _wrong_logs(d: int, probabilities: Doubles, kind: CountModel, answer: WordLogs) -> str | None:
    """Where logarithms are not those of the probabilities."""
    thetas, slopes = floats(probabilities), floats(answer.slopes)
    for i, (theta, slope) in enumerate(zip(thetas, slopes, strict=True)):
        parts = [log(theta), -_gone(theta, kind)]
        best = -math.inf if theta == 0.0 else math.fsum(parts)
        most = 8 * ROUND * math.fsum(map(abs, parts)) if theta else 0.0
        if slope != best and not abs(slope - best) <= most:
            return f"slopes[{i}]: {slope!r} instead of {best!r}"
    for c, base in enumerate(floats(answer.bases)):
        terms = [_gone(theta, kind) for theta in thetas[c * d : (c + 1) * d]]
        if not abs(base - math.fsum(terms)) <= (d + 8) * ROUND * abs(math.fsum(terms)):
            return f"bases[{c}]: {base!r} instead of {math.fsum(terms)!r}"
    return None


def _gone(theta: float, kind: CountModel) -> float:
    """log(1 - theta), what a word that is not there costs; a certain word is left to others."""
    return math.log1p(-theta) if kind == "bernoulli" and theta < 1.0 else 0.0


@dataclass(frozen=True, slots=True)
class Estimates:
    """Each probability is within (d + 8) u of itself, logarithms are those of the probabilities.

    A total of d counts may err by d u of itself in any order of additions; the rest is a few
    roundings.
    """

    name: str = "Estimates"

    def malformed(self, answer: Any) -> str | None:
        """Ask for flat buffers of doubles and two plain floats."""
        if not isinstance(answer, WordStep):
            return f"a {type(answer).__name__} instead of a WordStep"
        for name in ("expected", "imagined"):
            value = getattr(answer, name)
            if type(value) is not float or math.isnan(value):
                return f"{name}: {value!r} instead of a float"
        wrong = _not_doubles("probabilities", answer.probabilities)
        return wrong or Logarithms().malformed(answer.logs)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare probabilities coarsely, without the counts."""
        wrong = self.malformed(answer) or Logarithms().fault(reference.logs, answer.logs)
        if wrong:
            return wrong
        due, actual = floats(reference.probabilities), floats(answer.probabilities)
        if len(due) != len(actual):
            return f"{len(actual)} probabilities instead of {len(due)}"
        far = (i for i, (x, y) in enumerate(zip(due, actual, strict=True)) if abs(x - y) > 2.0**-20)
        place = next(far, None)
        return None if place is None else f"probabilities[{place}]: {actual[place]!r}"

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number within its bound."""
        wrong = self.fault(due, answer)
        if wrong:
            return wrong
        d, (tallies, m, p, kind) = points.d, args
        pairs = zip(floats(due.probabilities), floats(answer.probabilities), strict=True)
        for i, (right, theta) in enumerate(pairs):
            if not abs(theta - right) <= 2 * (d + 8) * ROUND * right:
                return f"probabilities[{i}]: {theta!r} instead of {right!r}"
        wrong = _wrong_logs(d, answer.probabilities, kind, answer.logs)
        # The sums are those of the answer's own logarithms, in any order of additions.
        logs = floats(answer.logs.slopes)
        terms = _occurring(floats(tallies.sums), logs)
        terms += [n * b for n, b in zip(tallies.counts, floats(answer.logs.bases), strict=True)]
        wrong = wrong or _far_sum("expected", terms, answer.expected)
        thetas = floats(answer.probabilities)
        more: list[float] = []
        for begin in range(0, len(thetas) if m else 0, d):
            more += _imagined(thetas[begin : begin + d], m, p, kind)
        return wrong or _far_sum("imagined", more, answer.imagined)


def _far_sum(name: str, terms: Sequence[float], actual: float) -> str | None:
    due = _total(terms)
    if due == actual:
        return None
    most = (len(terms) + 16) * ROUND * math.fsum(map(abs, terms)) if math.isfinite(due) else 0.0
    if abs(due - actual) <= most:
        return None
    return f"{name}: {actual!r} instead of {due!r}, {most:.2g} allowed"


def _not_doubles(name: str, value: Any) -> str | None:
    try:
        view = memoryview(value)
    except TypeError:
        return f"{name}: a {type(value).__name__} instead of a buffer"
    if view.ndim != 1 or not view.contiguous or view.format != "d":
        return f"{name}: a buffer of format {view.format!r}, {view.ndim}-dimensional"
    return None


@kernel("multinomial.logs", contract=Logarithms())
def logs(points: Points, probabilities: Doubles, kind: CountModel) -> WordLogs:
    """Take the logarithms of the probabilities of words of every component.

    Spec: NB-LIK, BMIX-LL, KER-WORDS

    >>> from refclust.data.dataset import dense
    >>> rows = Points(dense(array("d", [0, 0]), 2))
    >>> logs(rows, array("d", [1.0, 0.0]), "multinomial").slopes
    array('d', [0.0, -inf])
    """
    thetas, d = floats(probabilities), points.d
    absent = [_gone(theta, kind) for theta in thetas]
    slopes = array("d", (log(theta) - gone for theta, gone in zip(thetas, absent, strict=True)))
    bases = array("d", (math.fsum(absent[i : i + d]) for i in range(0, len(thetas), d)))
    return WordLogs(slopes, bases)


@kernel("multinomial.m_step", contract=Estimates())
def m_step(
    points: Points, tallies: Tallies, m: float, p: Sequence[float], kind: CountModel
) -> WordStep:
    """Estimate the probabilities of words of every component, with m imagined observations.

    Spec: MMIX-THETA, BMIX-THETA, NB-MEST, KER-WORDS

    >>> from refclust.data.dataset import dense
    >>> rows = Points(dense(array("d", [0, 0]), 2))
    >>> two = Tallies(array("d", [2, 2]), array("d", [3, 1, 0, 2]))
    >>> m_step(rows, two, 0.0, (0.5, 0.5), "multinomial").probabilities
    array('d', [0.75, 0.25, 0.0, 1.0])
    """
    flat, d = floats(tallies.sums), points.d
    probabilities = array("d")
    imagined: list[float] = []
    for c, n in enumerate(tallies.counts):
        counts = flat[c * d : (c + 1) * d]
        if kind == "multinomial":
            thetas = word_probabilities(counts, m, p)
        else:
            thetas = presence_probabilities(counts, n, m, p)
        probabilities.extend(thetas)
        if m:
            imagined += _imagined(thetas, m, p, kind)
    own = logs(points, probabilities, kind)
    expected = _occurring(flat, own.slopes)
    expected += [n * base for n, base in zip(tallies.counts, own.bases, strict=True)]
    return WordStep(probabilities, own, _total(expected), _total(imagined))


def _occurring(sums: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """The terms T s of words that occur; a probability that underflowed to 0 has no part."""
    pairs = zip(sums, slopes, strict=True)
    return [total * slope for total, slope in pairs if total and slope != -math.inf]


def _imagined(
    thetas: Sequence[float], m: float, p: Sequence[float], kind: CountModel
) -> list[float]:
    """The terms of the logarithm of the prior."""
    terms = [m * share * log(theta) for theta, share in zip(thetas, p, strict=True) if share]
    if kind == "bernoulli":
        terms += [
            m * (1.0 - share) * log(1.0 - theta)
            for theta, share in zip(thetas, p, strict=True)
            if share < 1.0
        ]
    return terms


def _total(terms: Sequence[float]) -> float:
    if -math.inf in terms:
        return -math.inf
    try:
        return math.fsum(terms)
    except OverflowError:  # logarithms of probabilities have one sign
        return -math.inf
