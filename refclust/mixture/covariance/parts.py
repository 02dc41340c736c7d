"""What the M-steps of the covariance models share (chapter 32, GMM-COVM).

A scatter or a covariance is a tuple of numbers, one tuple for each component: d*d of them row after
row (full), d (diagonal), or one (spherical; the scatter has d there too).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from refclust.numbers.linalg import Matrix, NotPositive, cholesky

Block: TypeAlias = tuple[float, ...]  # the numbers of one component
Blocks: TypeAlias = tuple[Block, ...]
_FACTORS = 1000  # so many numbers of at least 1/2 have a product of at least 2**-1000


class Degenerate(Exception):
    """A model has no best covariance: it would have to be singular.

    ``component`` is None where all of them share what is singular, ``column`` None where no single
    column is to blame.
    """

    def __init__(self, component: int | None, column: int | None = None) -> None:
        where = "all components together" if component is None else f"component {component}"
        super().__init__(f"{where}: column {column}")
        self.component = component
        self.column = column


@dataclass(frozen=True, slots=True)
class Effort:
    """When inner iterations end: the relative change that is small enough, and their number."""

    tolerance: float
    limit: int


@dataclass(frozen=True, slots=True)
class Maximised:
    """The best covariances of a model; a closed form makes no iterations."""

    covariances: Blocks
    iterations: int = 0
    converged: bool = True


def geometric_mean(values: Sequence[float]) -> float:
    """The d-th root of the product of d positive numbers, multiplied exactly with them by 2**e.

    Spec: GMM-COVM

    >>> geometric_mean([2.0**900, 2.0**906]) == 2.0**903
    True
    """
    # The exponents are added apart. A product of d factors errs by d u, its root by u; the power
    # itself adds 2u, and the rounding of 1/d at most u log(2): less than 4u together.
    product, exponent = 1.0, 0
    for value in values:
        mantissa, own_exponent = math.frexp(value)
        product, carry = math.frexp(product * mantissa)
        exponent += own_exponent + carry
    return _root(product, exponent, len(values))


class Diagonal:
    """Positive numbers that change one at a time, and their geometric mean, to the same bits.

    Spec: GMM-COVM

    >>> diagonal = Diagonal([2.0, 3.0])
    >>> diagonal.put(1, 8.0)
    >>> diagonal.geometric_mean()
    4.0
    """

    __slots__ = ("_exponent", "_exponents", "_mantissas")

    def __init__(self, values: Sequence[float]) -> None:
        parts = [math.frexp(value) for value in values]
        self._mantissas = [mantissa for mantissa, _ in parts]
        self._exponents = [exponent for _, exponent in parts]
        self._exponent = sum(self._exponents)

    def put(self, place: int, value: float) -> None:
        """Replace a number."""
        self._mantissas[place], exponent = math.frexp(value)
        self._exponent += exponent - self._exponents[place]
        self._exponents[place] = exponent

    def geometric_mean(self) -> float:
        """The d-th root of the product.

        Spec: GMM-COVM
        """
        # Scaling by powers of two is exact, so it may wait until the product could vanish.
        product, exponent = 1.0, self._exponent
        for first in range(0, len(self._mantissas), _FACTORS):
            some = self._mantissas[first : first + _FACTORS]
            product, carry = math.frexp(math.prod(some, start=product))
            exponent += carry
        return _root(product, exponent, len(self._mantissas))


def _root(product: float, exponent: int, degree: int) -> float:
    whole, rest = divmod(exponent, degree)
    return math.ldexp(math.ldexp(product, rest) ** (1 / degree), whole)


def volume(component: int, covariance: Matrix) -> float:
    """The d-th root of the determinant, or ``Degenerate``.

    Spec: GMM-COVM

    >>> volume(0, ((1.0, 0.0), (0.0, 4.0)))
    2.0
    """
    try:
        lower = cholesky(covariance)
    except NotPositive as fault:
        raise Degenerate(component, fault.column) from None
    return geometric_mean([row[j] * row[j] for j, row in enumerate(lower)])


def added(blocks: Sequence[Sequence[float]]) -> Block:
    """The sums over the components.

    Spec: GMM-COVM

    >>> added([(1.0, 2.0), (3.0, 4.0)])
    (4.0, 6.0)
    """
    return tuple(map(math.fsum, zip(*blocks, strict=True)))


def scaled(block: Sequence[float], factor: float) -> Block:
    """All numbers times a factor.

    Spec: GMM-COVM

    >>> scaled((1.0, 2.0), 4.0)
    (4.0, 8.0)
    """
    return tuple(x * factor for x in block)


def weighed(blocks: Blocks, volumes: Sequence[float]) -> Block:
    """The sums over the components of what they have in units of their volumes.

    Spec: GMM-COVM

    >>> weighed(((1.0, 2.0), (4.0, 4.0)), (1.0, 2.0))
    (3.0, 4.0)
    """
    return added([scaled(block, 1 / v) for block, v in zip(blocks, volumes, strict=True)])


def check_volumes(volumes: Block) -> None:
    """Without a maximum, volumes drift away until they leave the range of doubles.

    Spec: GMM-COVM
    """
    for k, value in enumerate(volumes):
        if not 0 < value < math.inf:
            raise Degenerate(k)


def square_matrix(block: Sequence[float]) -> Matrix:
    """The rows of a square matrix.

    Spec: GMM-COVM

    >>> square_matrix((1.0, 2.0, 2.0, 5.0))
    ((1.0, 2.0), (2.0, 5.0))
    """
    size = math.isqrt(len(block))
    return tuple(tuple(block[i * size : (i + 1) * size]) for i in range(size))


def flat(matrix: Matrix) -> Block:
    """The numbers of a matrix, row after row.

    Spec: GMM-COVM

    >>> flat(((1.0, 2.0), (2.0, 5.0)))
    (1.0, 2.0, 2.0, 5.0)
    """
    return tuple(x for row in matrix for x in row)
