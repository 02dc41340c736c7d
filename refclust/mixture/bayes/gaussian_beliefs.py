"""What variational Bayes believes of a Gaussian mixture (VB-GAUSS, chapter 34)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from refclust.kernels.points import Vector
from refclust.mixture.families.gaussian_parameters import GaussianParameters


@dataclass(frozen=True, slots=True)
class GaussianBeliefs:
    """What is believed of the parameters: Dirichlet shares, normal-Wishart means and precisions.

    ``scales`` are the inverses of the Wishart scale matrices, d*d numbers row after row.

    Spec: VB-GAUSS
    """

    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    nu: tuple[float, ...]
    means: tuple[Vector, ...]
    scales: tuple[Vector, ...]

    def expected(self) -> GaussianParameters:
        """The mixture of expected shares and means, with the inverses of expected precisions.

        Spec: VB-GAUSS
        """
        whole = math.fsum(self.alpha)
        return GaussianParameters(
            tuple(a / whole for a in self.alpha),
            self.means,
            tuple(
                tuple(x / nu for x in scale) for nu, scale in zip(self.nu, self.scales, strict=True)
            ),
            "full",
        )
