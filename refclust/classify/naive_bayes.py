"""Naive Bayes on counts, on presences and on numbers (chapters 31 and 33).

Training is the M-step of a mixture with the labels in the place of responsibilities, by the same
code; columns are taken as independent within a class.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, Unpack, overload

from refclust.classify.results import Classifier, CountClassifier, GaussianClassifier
from refclust.classify.training import (
    Arguments,
    Prior,
    class_prior,
    gaussian_classifier,
    labelled,
    told_prior,
)
from refclust.data.accepting.door import doubles
from refclust.errors import BadOption, DimensionMismatch
from refclust.fitting.checks import named
from refclust.fitting.memory import for_words
from refclust.kernels.mixtures.shared import plain
from refclust.kernels.mixtures.words import Kind
from refclust.kernels.points import Vector
from refclust.mixture.families.count_parameters import (
    Counts,
    check_counts,
)
from refclust.mixture.options import is_number
from refclust.mixture.passes import CountPasses
from refclust.numbers.reading import shown

Smoothing: TypeAlias = Literal["mle", "m-estimate", "laplace", "half"]
Share: TypeAlias = float | Sequence[float] | None


@overload
def naive_bayes(
    data: Any,
    labels: Iterable[Hashable] | None = None,
    *,
    kind: Kind = "multinomial",
    prior: Prior = "documents",
    smoothing: Smoothing | None = None,
    m: float | None = None,
    p: Share = None,
    counts: Counts = "whole",
    **options: Unpack[Arguments],
) -> CountClassifier: ...


@overload
def naive_bayes(
    data: Any,
    labels: Iterable[Hashable] | None = None,
    *,
    kind: Literal["gaussian"],
    prior: Prior = "documents",
    floor: float = 0.0,
    **options: Unpack[Arguments],
) -> GaussianClassifier: ...


def naive_bayes(
    data: Any,
    labels: Iterable[Hashable] | None = None,
    *,
    kind: Kind | Literal["gaussian"] = "multinomial",
    prior: Prior = "documents",
    smoothing: Smoothing | None = None,
    m: float | None = None,
    p: Share = None,
    counts: Counts = "whole",
    floor: float = 0.0,
    **options: Unpack[Arguments],
) -> CountClassifier | GaussianClassifier:
    """Estimate the classes of labelled rows, with columns independent within a class.

    ``smoothing`` is mle (m = 0), m-estimate (m and p as given), laplace (one more of everything),
    or half (m = 1, p = 1/2), whose probabilities of words add up to one only for two words.

    Spec: NB-PI, NB-THETA, NB-MEST, NB-MEST1H, NB-CDLL, BNB, GNB

    >>> mail = naive_bayes([[1, 0], [1, 0], [1, 5]], ["ham", "ham", "spam"], smoothing="laplace")
    >>> mail.classes, tuple(mail.parameters.probabilities)
    (('ham', 'spam'), ((0.75, 0.25), (0.25, 0.75)))
    """
    named("kind", kind, ("multinomial", "bernoulli", "gaussian"))
    known = labelled(data, labels, options)
    if kind == "gaussian":
        if smoothing is not None or m is not None or p is not None or counts != "whole":
            raise BadOption("smoothing, m, p and counts belong to counts; numbers take a floor")
        return gaussian_classifier(known, kind, covariance="VVI", floor=floor, prior=prior)
    if floor:
        raise BadOption(f"the floor belongs to the kind 'gaussian', not to {kind!r}; choose m")
    rows = known.rows.data
    for_words(known.k, rows.d)
    check_counts(rows, kind, counts)
    words, share = _imagined(smoothing, m, p, kind, rows.d)
    passes = CountPasses(known.rows, known.k)
    moments = passes.moments(known.labels, known.k)
    known.check_sizes(moments.counts)
    sums = plain(moments.sums)
    tokens = [math.fsum(sums[c * rows.d : (c + 1) * rows.d]) for c in range(known.k)]
    weights = class_prior(prior, known.classes, moments.counts, tokens)
    found = passes.parameters(moments, words, _shares(share, kind, rows.d), kind)
    parameters = replace(found, weights=weights)
    return Classifier(
        kind=kind,
        parameters=parameters,
        log_likelihood=passes.expected(moments, passes.terms(parameters, kind)),
        settings={
            "smoothing": smoothing or ("m-estimate" if words else "mle"),
            "m": words,
            "p": list(share) if isinstance(share, Iterable) else share,
            "counts": counts,
            "prior": told_prior(prior, weights),
        },
        provenance=known.rows.session.provenance(),
        **known.facts(moments.counts),
    )


def _imagined(
    smoothing: Smoothing | None, m: Any, p: Share, kind: Kind, d: int
) -> tuple[float, Share]:
    """How many observations a name or given numbers imagine for each class, and of which shares.

    Laplace's rule is one more of every outcome: of d words, or of there and not there.
    """
    if smoothing in (None, "m-estimate"):
        if m is None and (smoothing or p is not None):
            raise BadOption("an m-estimate needs m: the number of imagined observations")
        if m is not None and (not is_number(m) or m < 0):
            raise BadOption(f"m is {shown(m)}; a number of at least 0 is needed")
        return float(m or 0.0), p
    named("smoothing", smoothing, ("mle", "m-estimate", "laplace", "half"))
    if m is not None or p is not None:
        raise BadOption(f"the smoothing {shown(smoothing)} has its own m and p; give none")
    if smoothing == "laplace":
        return float(d if kind == "multinomial" else 2), None
    return (1.0, 0.5) if smoothing == "half" else (0.0, None)


def _shares(p: Share, kind: Kind, d: int) -> Vector:
    """The share of each word among imagined ones; of a classifier they need not add up to one."""
    if p is None:
        return (1.0 / d if kind == "multinomial" else 0.5,) * d
    listed = list(p) if isinstance(p, Iterable) else [p] * d
    found = tuple(doubles(listed, "p {}".format))
    if len(found) != d:
        raise DimensionMismatch(f"p has {len(found)} numbers, the rows {d} columns")
    if not all(0 <= share <= 1 for share in found):
        raise BadOption("p holds a number below 0 or above 1; probabilities are needed")
    return found
