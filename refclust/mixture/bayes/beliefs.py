"""Parameters drawn from beliefs about a mixture, and the densities of such draws (chapter 34).

Random numbers come from the one stream of chapter 05, in a fixed order: for each draw first the
shares, then one component after another. A gamma variate takes two numbers for a normal one and,
if that can be accepted, one more, again and again until one is; below a shape of 1 one more.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from refclust.fitting.draws import Draws, normal
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.points import Vector
from refclust.mixture.bayes.counts import CountBeliefs
from refclust.mixture.bayes.gaussian_beliefs import GaussianBeliefs
from refclust.mixture.families.gaussian_parameters import LOG_TWO_PI
from refclust.numbers.linalg import Matrix, cholesky, inverse_lower, log_determinant
from refclust.numbers.logspace import normalise
from refclust.numbers.special import log_dirichlet, log_wishart


def log_gamma_variate(draws: Draws, shape: float) -> float:
    """The logarithm of a gamma variate of scale 1: one of a shape near 0 is below any double.

    A cube of a normal variate, accepted so that the density comes out right; a shape below 1 is
    raised by 1, and the variate multiplied by the power 1/shape of a uniform number.

    Spec: MS-IS
    """
    if shape < 1.0:
        larger = log_gamma_variate(draws, shape + 1.0)
        return larger + math.log1p(-draws.next()) / shape
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(draws)
        root = 1.0 + c * x
        if root <= 0.0:
            continue
        log_v = 3.0 * math.log(root)
        if math.log1p(-draws.next()) < 0.5 * x * x + d * (1.0 - root**3 + log_v):
            return math.log(d) + log_v


def log_dirichlet_variate(draws: Draws, alpha: Sequence[float]) -> Vector:
    """The logarithms of shares drawn from a Dirichlet distribution.

    Spec: MS-IS
    """
    return normalise([log_gamma_variate(draws, a) for a in alpha])[0]


@dataclass(frozen=True, slots=True)
class GaussianDraw:
    """Shares, means and precisions of all components; precisions as W with W'W the precision."""

    log_shares: Vector
    means: tuple[Vector, ...]
    whitenings: tuple[Matrix, ...]

    def densities(self) -> Gaussians:
        """The mixture drawn, ready for a pass; -d/2 log(2 pi) is left out.

        Spec: GAU-PDF
        """
        offsets = array(
            "d",
            (
                share + 0.5 * log_determinant(white)
                for share, white in zip(self.log_shares, self.whitenings, strict=True)
            ),
        )
        flat = array("d", (x for white in self.whitenings for line in white for x in line))
        return Gaussians(offsets, CentreMatrix.of(self.means), flat, "full")


@dataclass(frozen=True, slots=True)
class CountDraw:
    """Logarithms of the shares of all components and of the probabilities of their words."""

    log_shares: Vector
    log_words: tuple[Vector, ...]

    def densities(self) -> Terms:
        """The mixture drawn, ready for a pass.

        Spec: NB-LIK
        """
        slopes = array("d", (x for words in self.log_words for x in words))
        return Terms(array("d", self.log_shares), slopes)


class GaussianDraws:
    """Draws from Dirichlet and normal-Wishart beliefs, and their densities.

    Spec: VB-GAUSS, MS-IS
    """

    def __init__(self, beliefs: GaussianBeliefs) -> None:
        self.alpha = beliefs.alpha
        self._beliefs = beliefs
        self._d = d = len(beliefs.means[0])
        squares = [tuple(scale[i * d : (i + 1) * d] for i in range(d)) for scale in beliefs.scales]
        # V^-1 = M M', so with R = M^-1 the scale matrix V of the Wishart distribution is R'R.
        self._lowers = list(map(cholesky, squares))
        self._roots = list(map(inverse_lower, self._lowers))
        self._constants = [
            log_wishart(-log_determinant(lower), nu, d) + 0.5 * d * (math.log(beta) - LOG_TWO_PI)
            for lower, nu, beta in zip(self._lowers, beliefs.nu, beliefs.beta, strict=True)
        ]

    def draw(self, draws: Draws) -> GaussianDraw:
        """Draw all parameters: shares; of each component its precision, then its mean.

        With A lower triangular, normal variates below and roots of chi-square variates of
        nu - d + 1 + i degrees on the diagonal, A'A is a Wishart matrix of unit scale (Bartlett,
        with rows and columns counted from the end); W = A R makes the scale V. The numbers of A
        are drawn line by line, the diagonal last.

        Spec: MS-IS
        """
        shares = log_dirichlet_variate(draws, self.alpha)
        whitenings, means = [], []
        for k, nu in enumerate(self._beliefs.nu):
            white = _product(self._triangle(draws, nu), self._roots[k])
            step = math.sqrt(self._beliefs.beta[k])
            z = [normal(draws) / step for _ in range(self._d)]
            away = [
                math.fsum(a * b for a, b in zip(line, z, strict=True))
                for line in inverse_lower(white)
            ]
            whitenings.append(white)
            means.append(tuple(map(float.__add__, self._beliefs.means[k], away)))
        return GaussianDraw(shares, tuple(means), tuple(whitenings))

    def log_density(self, k: int, drawn: GaussianDraw, j: int) -> float:
        """The log density of component j of a draw under the beliefs about component k.

        Spec: VB-GAUSS, MS-IS
        """
        d, beliefs, white = self._d, self._beliefs, drawn.whitenings[j]
        beta, nu = beliefs.beta[k], beliefs.nu[k]
        log_precision = log_determinant(white)
        away = [a - b for a, b in zip(drawn.means[j], beliefs.means[k], strict=True)]
        square = math.fsum(
            math.fsum(a * x for a, x in zip(line, away, strict=True)) ** 2 for line in white
        )
        # tr(V^-1 L) with L = W'W and V^-1 = M M' is the sum of the squares of W M.
        trace = math.fsum(x * x for line in _product(white, self._lowers[k]) for x in line)
        return math.fsum(
            (
                self._constants[k],
                -0.5 * beta * square,
                0.5 * (nu - d) * log_precision,
                -0.5 * trace,
            )
        )

    def _triangle(self, draws: Draws, nu: float) -> Matrix:
        lines = []
        for i in range(self._d):
            below = [normal(draws) for _ in range(i)]
            degrees = nu - (self._d - 1 - i)
            root = math.exp(0.5 * (math.log(2.0) + log_gamma_variate(draws, 0.5 * degrees)))
            lines.append((*below, root, *([0.0] * (self._d - 1 - i))))
        return tuple(lines)


class CountDraws:
    """Draws from Dirichlet beliefs about shares and words, and their densities.

    Spec: VB-MULT, MS-IS
    """

    def __init__(self, beliefs: CountBeliefs) -> None:
        self.alpha, self._eta = beliefs.alpha, beliefs.eta
        self._constants = [log_dirichlet(eta) for eta in beliefs.eta]

    def draw(self, draws: Draws) -> CountDraw:
        """Draw all parameters: shares, then the words of each component.

        Spec: MS-IS
        """
        shares = log_dirichlet_variate(draws, self.alpha)
        return CountDraw(shares, tuple(log_dirichlet_variate(draws, eta) for eta in self._eta))

    def log_density(self, k: int, drawn: CountDraw, j: int) -> float:
        """The log density of component j of a draw under the beliefs about component k.

        Spec: VB-MULT, MS-IS
        """
        words = drawn.log_words[j]
        powers = ((a - 1.0) * x for a, x in zip(self._eta[k], words, strict=True) if a != 1.0)
        return math.fsum((self._constants[k], *powers))


def dirichlet_log_density(alpha: Sequence[float], log_shares: Sequence[float]) -> float:
    """The log density of a Dirichlet distribution at shares given by their logarithms.

    Spec: MS-IS

    >>> dirichlet_log_density([1.0, 1.0], [math.log(0.25), math.log(0.75)])
    0.0
    """
    powers = ((a - 1.0) * x for a, x in zip(alpha, log_shares, strict=True) if a != 1.0)
    return math.fsum((log_dirichlet(alpha), *powers))


def _product(left: Matrix, right: Matrix) -> Matrix:
    """The product of two lower triangular matrices."""
    size = len(left)
    return tuple(
        tuple(
            math.fsum(left[i][m] * right[m][j] for m in range(j, i + 1)) if j <= i else 0.0
            for j in range(size)
        )
        for i in range(size)
    )
