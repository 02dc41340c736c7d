"""Naive Bayes on counts, on presences and on numbers (chapters 31 and 33).

Training is the M-step of a mixture with the labels in the place of responsibilities, by the same
code; columns are taken as independent within a class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ParamSpec, Protocol, cast, overload

from refclust.classify.options import CountBayesCall, GaussianBayesCall, NaiveBayesCall, Share
from refclust.classify.results import (
    AnyClassifier,
    Classifier,
    CountClassifier,
    GaussianClassifier,
)
from refclust.classify.training import class_prior, gaussian_classifier, labelled, plain_prior
from refclust.data.accepting.door import doubles
from refclust.errors import BadOption, DimensionMismatch
from refclust.fitting.memory import for_words
from refclust.fitting.options import takes
from refclust.kernels.mixtures.shared import floats
from refclust.kernels.mixtures.words import CountModel
from refclust.kernels.points import Vector
from refclust.mixture.families.counts.parameters import check_counts
from refclust.mixture.passes import CountPasses
from refclust.numbers.reading import shown

P = ParamSpec("P")
Q = ParamSpec("Q")


class NaiveBayes(Protocol[P, Q]):
    """Training whose kind decides what comes out."""

    @overload
    def __call__(self, *rows: P.args, **options: P.kwargs) -> CountClassifier: ...

    @overload
    def __call__(self, *rows: Q.args, **options: Q.kwargs) -> GaussianClassifier: ...


def _by_kind(
    _counts: Callable[P, CountBayesCall], _numbers: Callable[Q, GaussianBayesCall]
) -> Callable[[Callable[..., AnyClassifier]], NaiveBayes[P, Q]]:
    """Tell type checkers what comes out for which options."""
    return lambda rule: cast(NaiveBayes[P, Q], rule)


@_by_kind(CountBayesCall, GaussianBayesCall)
@takes(NaiveBayesCall)
def naive_bayes(call: NaiveBayesCall) -> AnyClassifier:
    """Estimate the classes of labelled rows, with columns independent within a class.

    ``smoothing`` is mle (m = 0), m-estimate (m and p as given), laplace (one more of everything),
    or half (m = 1, p = 1/2), whose probabilities of words add up to one only for two words.

    Spec: NB-PI, NB-THETA, NB-MEST, NB-MEST1H, NB-CDLL, BNB, GNB

    >>> mail = naive_bayes([[1, 0], [1, 0], [1, 5]], ["ham", "ham", "spam"], smoothing="laplace")
    >>> mail.classes, tuple(mail.parameters.probabilities)
    (('ham', 'spam'), ((0.75, 0.25), (0.25, 0.75)))
    """
    known = labelled(call)
    if call.kind == "gaussian":
        imagined = any(each is not None for each in (call.smoothing, call.m, call.p))
        if imagined or call.counts != "whole":
            raise BadOption("smoothing, m, p and counts belong to counts; numbers take a floor")
        return gaussian_classifier(
            known, call.kind, covariance="VVI", floor=call.floor, prior=call.prior
        )
    if call.floor:
        raise BadOption(f"the floor belongs to the kind 'gaussian', not to {call.kind!r}; choose m")
    kind = call.kind
    rows = known.rows.data
    for_words(known.k, rows.d)
    check_counts(rows, kind, call.counts)
    words, share = _imagined(call, rows.d)
    passes = CountPasses(known.rows, known.k)
    moments = passes.moments(known.labels, known.k)
    known.check_sizes(moments.counts)
    sums = floats(moments.sums)
    tokens = [math.fsum(sums[c * rows.d : (c + 1) * rows.d]) for c in range(known.k)]
    weights = class_prior(call.prior, known.classes, moments.counts, tokens)
    words_of = passes.parameters(moments, words, _shares(share, kind, rows.d), kind)
    parameters = replace(words_of, weights=weights)
    return Classifier(
        kind=kind,
        parameters=parameters,
        log_likelihood=passes.expected(moments, passes.terms(parameters, kind)),
        settings={
            "smoothing": call.smoothing or ("m-estimate" if words else "mle"),
            "m": words,
            "p": list(share) if isinstance(share, Iterable) else share,
            "counts": call.counts,
            "prior": plain_prior(call.prior, weights),
        },
        provenance=known.rows.session.provenance(),
        **known.facts(moments.counts),
    )


def _imagined(call: NaiveBayesCall, d: int) -> tuple[float, Share]:
    """How many observations a name or given numbers imagine for each class, and of which shares.

    Laplace's rule is one more of every outcome: of d words, or of there and not there.
    """
    if call.smoothing in (None, "m-estimate"):
        if call.m is None and (call.smoothing or call.p is not None):
            raise BadOption("an m-estimate needs m: the number of imagined observations")
        return float(call.m or 0.0), call.p
    if call.m is not None or call.p is not None:
        raise BadOption(f"the smoothing {shown(call.smoothing)} has its own m and p; give none")
    if call.smoothing == "laplace":
        return float(d if call.kind == "multinomial" else 2), None
    return (1.0, 0.5) if call.smoothing == "half" else (0.0, None)


def _shares(p: Share, kind: CountModel, d: int) -> Vector:
    """The share of each word among imagined ones; of a classifier they need not add up to one."""
    if p is None:
        return (1.0 / d if kind == "multinomial" else 0.5,) * d
    listed = list(p) if isinstance(p, Iterable) else [p] * d
    shares = tuple(doubles(listed, "p {}".format))
    if len(shares) != d:
        raise DimensionMismatch(f"p has {len(shares)} numbers, the rows {d} columns")
    if not all(0 <= share <= 1 for share in shares):
        raise BadOption("p holds a number below 0 or above 1; probabilities are needed")
    return shares
