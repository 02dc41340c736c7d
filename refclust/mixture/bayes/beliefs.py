"""What variational Bayes believes of a mixture (chapter 34)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from refclust.kernels.mixtures.words import CountModel
from refclust.kernels.points import Vector
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters


@dataclass(frozen=True, slots=True)
class GaussianBeliefs:
    """What is believed of the parameters: Dirichlet shares, normal-Wishart means and precisions.

    ``scales`` are the inverses of the Wishart scale matrices as the covariance model stores
    covariances: d*d numbers row after row, d numbers, or one. Where it has one covariance for all
    components, all have the same ``nu`` and the same scale.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON
    """

    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    nu: tuple[float, ...]
    means: tuple[Vector, ...]
    scales: tuple[Vector, ...]
    covariance: str = "VVV"

    def expected(self) -> GaussianParameters:
        """The mixture of expected shares and means, with the inverses of expected precisions.

        Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON

        >>> GaussianBeliefs((1.0,), (1.0,), (4.0,), ((0.0, 0.0),), ((2.0,),), "VII").expected()
        GaussianParameters(weights=(1.0,), means=((0.0, 0.0),), spreads=((0.5,),), form='spherical')
        """
        return GaussianParameters(
            shares_of(self.alpha),
            self.means,
            tuple(
                tuple(x / nu for x in scale) for nu, scale in zip(self.nu, self.scales, strict=True)
            ),
            MODELS[self.covariance].form,
        )


@dataclass(frozen=True, slots=True)
class CountBeliefs:
    """What is believed of the parameters: Dirichlet shares, and Dirichlet words of each component.

    Of a Bernoulli component ``eta`` has two numbers for each word: that it is there, and not.

    Spec: VB-MULT, VB-BERN
    """

    alpha: tuple[float, ...]
    eta: tuple[Vector, ...]
    kind: CountModel = "multinomial"

    def dirichlets(self, component: int) -> Sequence[Vector]:
        """The Dirichlet distributions of a component: one of all words, or one of each word.

        Spec: VB-MULT, VB-BERN

        >>> CountBeliefs((1.0,), ((1.0, 2.0, 5.0, 3.0),), "bernoulli").dirichlets(0)
        [(1.0, 2.0), (5.0, 3.0)]
        """
        eta = self.eta[component]
        return [eta] if self.kind == "multinomial" else list(zip(eta[::2], eta[1::2], strict=True))

    def expected(self) -> CountParameters:
        """The mixture of expected shares and probabilities.

        Spec: VB-MULT, VB-BERN

        >>> CountBeliefs((1.0, 3.0), ((1.0, 1.0), (1.0, 3.0))).expected().probabilities
        ((0.5, 0.5), (0.25, 0.75))
        """
        words = []
        for component in range(len(self.eta)):
            means = list(map(shares_of, self.dirichlets(component)))
            words.append(
                means[0] if self.kind == "multinomial" else tuple(there for there, _ in means)
            )
        return CountParameters(shares_of(self.alpha), tuple(words))


def shares_of(alpha: Sequence[float]) -> Vector:
    """The expected shares of a Dirichlet distribution.

    Spec: VB-MULT

    >>> shares_of([1.0, 3.0])
    (0.25, 0.75)
    """
    whole = math.fsum(alpha)
    return tuple(a / whole for a in alpha)
