"""Discriminants: a normal density for every class (chapter 33)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from refclust.classify.options import LdaCall, NearestGaussianCall, QdaCall
from refclust.classify.results import GaussianClassifier
from refclust.classify.training import gaussian_classifier, is_pooled, labelled
from refclust.errors import BadOption
from refclust.fitting.options import takes
from refclust.kernels.points import Vector
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.density import half_log_precision, mahalanobis, whitened
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.numbers.linalg import Matrix
from refclust.numbers.reading import shown


@dataclass(frozen=True, slots=True)
class LinearForm:
    """Of every class the coefficients of its linear discriminant.

    Spec: LDA-LIN
    """

    weights: tuple[Vector, ...]
    intercepts: tuple[float, ...]

    def values(self, x: Sequence[float]) -> tuple[float, ...]:
        """The discriminant of every class at a point.

        Spec: LDA-LIN

        >>> LinearForm(((1.0, 2.0), (0.0, 0.0)), (-1.0, 0.5)).values((3.0, 4.0))
        (10.0, 0.5)
        """
        return tuple(
            math.fsum([b, *(w * xi for w, xi in zip(row, x, strict=True))])
            for row, b in zip(self.weights, self.intercepts, strict=True)
        )


@takes(QdaCall)
def qda(call: QdaCall) -> GaussianClassifier:
    """Estimate a normal density with its own covariance for every class, divisor N_k.

    Any other of the covariance models can be chosen; then the estimates are those of the mixture.

    Spec: QDA-PARAM, QDA-MAP, BL-LDISC

    >>> lines = qda([[0], [2], [5], [9]], ["a", "a", "b", "b"])
    >>> lines.parameters.means, lines.parameters.spreads
    (((1.0,), (7.0,)), ((1.0,), (4.0,)))
    """
    return gaussian_classifier(
        labelled(call), "qda", covariance=call.covariance, floor=call.floor, prior=call.prior
    )


@takes(LdaCall)
def lda(call: LdaCall) -> GaussianClassifier:
    """Estimate normal densities with one covariance for all classes, divisor N.

    Spec: LDA-POOL, QDA-MAP, BL-LDISC

    >>> lda([[0], [2], [5], [9]], ["a", "a", "b", "b"]).parameters.spreads
    ((2.5,), (2.5,))
    """
    if not is_pooled(covariance_model(call.covariance).name):
        raise BadOption(
            f"the covariance is {shown(call.covariance)}; linear discriminants have "
            "one covariance for all classes: EEE, EEI, EII (any other: qda)"
        )
    return gaussian_classifier(
        labelled(call), "lda", covariance=call.covariance, floor=call.floor, prior=call.prior
    )


@takes(NearestGaussianCall)
def nearest_gaussian(call: NearestGaussianCall) -> GaussianClassifier:
    """Estimate a normal density for every class, all classes taken as equally probable.

    Spec: NG-ASSIGN, BL-LDISC

    >>> nearest_gaussian([[0], [2], [4], [5], [9]], "aabbb").parameters.weights
    (0.5, 0.5)
    """
    return gaussian_classifier(
        labelled(call),
        "nearest-gaussian",
        covariance=call.covariance,
        floor=call.floor,
        prior="equal",
    )


def discriminant(
    x: Sequence[float], weight: float, mean: Sequence[float], covariance: Matrix
) -> float:
    """The logarithm of the joint density of a class and a point, without the common constant.

    Spec: QDA-DISC

    >>> discriminant((3.0, 4.0), 1.0, (1.0, 1.0), ((1.0, 0.0), (0.0, 1.0)))
    -6.5
    """
    share = math.log(weight) if weight else -math.inf
    return share + half_log_precision(whitened(covariance)) - 0.5 * mahalanobis(x, mean, covariance)


def linear_form(parameters: GaussianParameters) -> LinearForm:
    """The linear discriminants of classes with one covariance.

    They differ from QDA-DISC by a term that all classes share. Far from the origin their terms
    cancel: coefficients are for reading, predictions do not use them.

    Spec: LDA-LIN

    >>> classes = GaussianParameters((0.5, 0.5), ((2.0,), (-2.0,)), ((4.0,), (4.0,)), "full")
    >>> linear_form(classes).weights, linear_form(classes).values((0.0,))
    (((0.5,), (-0.5,)), (-1.1931471805599454, -1.1931471805599454))
    """
    if any(spread != parameters.spreads[0] for spread in parameters.spreads):
        raise BadOption(
            "the classes have different covariances, so their discriminants are not linear; "
            "train with lda, or with one of the models EII, EEI, EEE"
        )
    white = whitened(parameters.covariances[0])
    weights: list[Vector] = []
    intercepts: list[float] = []
    for share, mean in zip(parameters.weights, parameters.means, strict=True):
        turned = [math.fsum(w * m for w, m in zip(row, mean, strict=True)) for row in white]
        weights.append(
            tuple(
                math.fsum(w * y for w, y in zip(column, turned, strict=True))
                for column in zip(*white, strict=True)
            )
        )
        square = math.fsum(y * y for y in turned)
        intercepts.append((math.log(share) if share else -math.inf) - 0.5 * square)
    return LinearForm(tuple(weights), tuple(intercepts))
