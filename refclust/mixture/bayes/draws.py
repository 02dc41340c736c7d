"""Parameters drawn from beliefs about a mixture, and the densities of such draws (chapter 34).

Random numbers come from the one stream of chapter 05, in a fixed order: for each draw first the
shares, then one component after another; a precision that all have in common comes with the first.
A gamma variate takes two numbers for a normal one and, if that can be accepted, one more, again and
again until one is; below a shape of 1 one more.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from refclust.fitting.draws import Draws, normal
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.words import CountModel
from refclust.kernels.points import Vector
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.counts import word_terms
from refclust.mixture.bayes.precisions import precision, squares
from refclust.mixture.families.gaussian.parameters import LOG_TWO_PI
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
    """Shares, means and precisions of all components.

    Precisions are given factor by factor, as W with W'W the factor.
    """

    log_shares: Vector
    means: tuple[Vector, ...]
    whitenings: tuple[tuple[Matrix, ...], ...]
    covariance: str = "VVV"

    def densities(self) -> Gaussians:
        """The mixture drawn, ready for a pass; -d/2 log(2 pi) is left out.

        Spec: GAU-PDF
        """
        layout = precision(self.covariance, len(self.means[0]))
        offsets = array(
            "d",
            (
                share + 0.5 * math.fsum(layout.times * log_determinant(white) for white in factors)
                for share, factors in zip(self.log_shares, self.whitenings, strict=True)
            ),
        )
        lines = (line for factors in self.whitenings for white in factors for line in white)
        flat = array("d", (x for line in lines for x in line))
        return Gaussians(offsets, CentreMatrix.of(self.means), flat, layout.form)


@dataclass(frozen=True, slots=True)
class CountDraw:
    """Logarithms of the shares of all components, and of what their Dirichlets have drawn."""

    log_shares: Vector
    log_words: tuple[tuple[Vector, ...], ...]
    kind: CountModel = "multinomial"

    def densities(self) -> Terms:
        """The mixture drawn, ready for a pass.

        Spec: NB-LIK, BMIX-LL
        """
        terms = [word_terms(logs, self.kind) for logs in self.log_words]
        offsets = (share + base for share, (base, _) in zip(self.log_shares, terms, strict=True))
        return Terms(array("d", offsets), array("d", (x for _, slopes in terms for x in slopes)))


class GaussianDraws:
    """Draws from Dirichlet and normal-Wishart beliefs, and their densities.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON, MS-IS
    """

    def __init__(self, beliefs: GaussianBeliefs) -> None:
        self.alpha = beliefs.alpha
        self._beliefs = beliefs
        self._d = d = len(beliefs.means[0])
        self._layout = layout = precision(beliefs.covariance, d)
        # V^-1 = M M', so with R = M^-1 the scale matrix V of the Wishart distribution is R'R.
        self._lowers = [list(map(cholesky, layout.factors(scale))) for scale in beliefs.scales]
        self._roots = [list(map(inverse_lower, lowers)) for lowers in self._lowers]
        self._wisharts = [
            math.fsum(log_wishart(-log_determinant(lower), nu, layout.size) for lower in lowers)
            for lowers, nu in zip(self._lowers, beliefs.nu, strict=True)
        ]
        self._normals = [0.5 * d * (math.log(beta) - LOG_TWO_PI) for beta in beliefs.beta]

    def draw(self, draws: Draws) -> GaussianDraw:
        """Draw all parameters: shares; of each component its precision, then its mean.

        With A lower triangular, normal variates below and roots of chi-square variates of
        nu - d + 1 + i degrees on the diagonal, A'A is a Wishart matrix of unit scale (Bartlett,
        with rows and columns counted from the end); W = A R makes the scale V. The numbers of A
        are drawn line by line, the diagonal last. A mean takes as many numbers as it has.

        Spec: MS-IS
        """
        layout = self._layout
        shares = log_dirichlet_variate(draws, self.alpha)
        whitenings: list[tuple[Matrix, ...]] = []
        means = []
        for k, (nu, beta) in enumerate(zip(self._beliefs.nu, self._beliefs.beta, strict=True)):
            if layout.common and whitenings:
                factors = whitenings[0]
            else:
                factors = tuple(
                    _product(self._triangle(draws, nu), root) for root in self._roots[k]
                )
            step, away = math.sqrt(beta), []
            for white in factors:
                lines = inverse_lower(white)
                for _ in range(layout.times):
                    z = [normal(draws) / step for _ in range(layout.size)]
                    away += [math.fsum(map(mul, line, z)) for line in lines]
            whitenings.append(factors)
            means.append(tuple(map(float.__add__, self._beliefs.means[k], away)))
        return GaussianDraw(shares, tuple(means), tuple(whitenings), self._beliefs.covariance)

    def log_density(self, k: int, drawn: GaussianDraw, j: int) -> float:
        """The log density of component j of a draw under the beliefs about component k.

        A precision that all have in common is given here: ``log_common`` has its density.

        Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON, MS-IS
        """
        layout, factors = self._layout, drawn.whitenings[j]
        away = [a - b for a, b in zip(drawn.means[j], self._beliefs.means[k], strict=True)]
        square = math.fsum(
            x
            for f, white in enumerate(factors)
            for part in layout.columns(away, f)
            for x in squares(white, part)
        )
        normal_part = (self._normals[k], -0.5 * self._beliefs.beta[k] * square)
        if layout.common:
            logs = (0.5 * layout.times * log_determinant(white) for white in factors)
            return math.fsum((*normal_part, *logs))
        # The normal density has |factor|^(times / 2) beside the power of the Wishart density.
        constant = self._wisharts[k] + normal_part[0]
        return math.fsum((constant, normal_part[1], *self._powers(k, factors, layout.times)))

    def log_common(self, drawn: GaussianDraw) -> float:
        """The log density of what all components have in common.

        Spec: VB-COMMON, MS-IS
        """
        if not self._layout.common:
            return 0.0
        return math.fsum((self._wisharts[0], *self._powers(0, drawn.whitenings[0], 0)))

    def _powers(self, k: int, factors: Sequence[Matrix], more: int) -> list[float]:
        """What a Wishart density has beside its constant; the power is raised by half of more."""
        power = 0.5 * (self._beliefs.nu[k] - self._layout.size + (more - 1))
        terms = []
        for white, lower in zip(factors, self._lowers[k], strict=True):
            # tr(V^-1 L) with L = W'W and V^-1 = M M' is the sum of the squares of W M.
            trace = math.fsum(x * x for line in _product(white, lower) for x in line)
            terms += [power * log_determinant(white), -0.5 * trace]
        return terms

    def _triangle(self, draws: Draws, nu: float) -> Matrix:
        lines, size = [], self._layout.size
        for i in range(size):
            below = [normal(draws) for _ in range(i)]
            degrees = nu - (size - 1 - i)
            root = math.exp(0.5 * (math.log(2.0) + log_gamma_variate(draws, 0.5 * degrees)))
            lines.append((*below, root, *([0.0] * (size - 1 - i))))
        return tuple(lines)


class CountDraws:
    """Draws from Dirichlet beliefs about shares and words, and their densities.

    Spec: VB-MULT, VB-BERN, MS-IS
    """

    def __init__(self, beliefs: CountBeliefs) -> None:
        self.alpha, self._kind = beliefs.alpha, beliefs.kind
        self._dirichlets = [beliefs.dirichlets(c) for c in range(len(beliefs.eta))]
        self._constants = [math.fsum(map(log_dirichlet, etas)) for etas in self._dirichlets]

    def draw(self, draws: Draws) -> CountDraw:
        """Draw all parameters: shares, then the words of each component.

        Spec: MS-IS
        """
        shares = log_dirichlet_variate(draws, self.alpha)
        words = tuple(
            tuple(log_dirichlet_variate(draws, eta) for eta in etas) for etas in self._dirichlets
        )
        return CountDraw(shares, words, self._kind)

    def log_density(self, k: int, drawn: CountDraw, j: int) -> float:
        """The log density of component j of a draw under the beliefs about component k.

        Spec: VB-MULT, VB-BERN, MS-IS
        """
        powers = (
            (a - 1.0) * x
            for eta, words in zip(self._dirichlets[k], drawn.log_words[j], strict=True)
            for a, x in zip(eta, words, strict=True)
            if a != 1.0
        )
        return math.fsum((self._constants[k], *powers))

    def log_common(self, drawn: CountDraw) -> float:  # noqa: ARG002
        """Components of words have nothing in common.

        Spec: MS-IS
        """
        return 0.0


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
