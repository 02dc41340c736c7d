"""The options of the classifiers, each once (chapters 31 and 33)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal, TypeAlias

from refclust.fitting.checks import not_negative
from refclust.fitting.options import Call, Option, unchecked
from refclust.mixture.options import Fractions

CountKind: TypeAlias = Literal["multinomial", "bernoulli"]
Smoothing: TypeAlias = Literal["mle", "m-estimate", "laplace", "half"]
Share: TypeAlias = float | Sequence[float] | None
Prior: TypeAlias = (
    Literal["documents", "tokens", "equal"] | Sequence[float] | Mapping[Hashable, float]
)

Covariance: TypeAlias = Annotated[
    str,
    Option(
        "full, tied, diagonal, spherical, shared-spherical, or one of EII to VVV.", "--covariance C"
    ),
]
Floor: TypeAlias = Annotated[
    float,
    Option(
        "A prior against singular covariances: this share of the variances is added.",
        "--floor F",
        not_negative,
    ),
]


@dataclass(frozen=True, kw_only=True)
class TrainingCall(Call):
    """What every classifier takes."""

    labels: Annotated[
        Iterable[Hashable] | None, Option("The class of each row. [those of the data]")
    ] = field(default=None, kw_only=False)


@dataclass(frozen=True, kw_only=True)
class QdaCall(TrainingCall):
    """What ``qda`` takes."""

    covariance: Covariance = "full"
    floor: Floor = 0.0
    prior: Annotated[
        Prior,
        Option(
            "Classes by their share of the rows, or all alike.",
            "--prior",
            unchecked,
            names=("documents", "equal"),
        ),
    ] = "documents"


@dataclass(frozen=True, kw_only=True)
class LdaCall(QdaCall):
    """What ``lda`` takes."""

    covariance: Covariance = "tied"


@dataclass(frozen=True, kw_only=True)
class NearestGaussianCall(TrainingCall):
    """What ``nearest_gaussian`` takes."""

    covariance: Covariance = "full"
    floor: Floor = 0.0


@dataclass(frozen=True, kw_only=True)
class NaiveBayesCall(TrainingCall):
    """What ``naive_bayes`` takes."""

    kind: Annotated[
        Literal[CountKind, "gaussian"],
        Option("Words counted, words there or not, or numbers.", "--kind"),
    ] = "multinomial"
    prior: Annotated[
        Prior,
        Option("Classes by their share of rows, of words, or all alike.", "--prior", unchecked),
    ] = "documents"
    smoothing: Annotated[
        Smoothing | None,
        Option("What is imagined beside the rows. [mle, or as m and p say]", "--smoothing"),
    ] = None
    m: Annotated[
        float | None,
        Option("Imagined observations of a class.", "--m M", partial(not_negative, article="")),
    ] = None
    p: Annotated[Share, Option("Share of each word among them.", "--p P", typed=float | None)] = (
        None
    )
    counts: Fractions = "whole"
    floor: Floor = 0.0


@dataclass(frozen=True, kw_only=True)
class CountBayesCall(NaiveBayesCall):
    """What ``naive_bayes`` takes, of counts."""

    kind: CountKind = "multinomial"


@dataclass(frozen=True, kw_only=True)
class GaussianBayesCall(NaiveBayesCall):
    """What ``naive_bayes`` takes, of numbers."""

    kind: Literal["gaussian"] = field()
