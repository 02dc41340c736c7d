"""Covariance models that have a conjugate prior, and how it is put together (chapter 34).

The precision matrix of a component is a matrix of Wishart factors along its diagonal: one of all
columns (VVV, EEE), one of each column (VVI, EEI), or one number in every place (VII, EII). A gamma
distribution is a Wishart distribution of one column. Whatever is computed of a prior is computed
factor by factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Final

from refclust.errors import BadOption
from refclust.kernels.mixtures.gaussian import Form
from refclust.mixture.covariance.models import MODELS
from refclust.numbers.linalg import Matrix

CONJUGATE: Final = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")


@dataclass(frozen=True, slots=True)
class Precision:
    """How the precision of d columns is made of Wishart factors.

    There are ``count`` factors of ``size`` columns, each in ``times`` places along the diagonal.
    ``common`` says whether all components have the same ones.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON
    """

    form: Form
    common: bool
    count: int
    size: int
    times: int

    def factors(self, numbers: Sequence[float]) -> list[Matrix]:
        """The factors of a matrix that is stored as its form has it.

        Spec: VB-DIAG

        >>> precision("VVI", 2).factors([3.0, 5.0])
        [((3.0,),), ((5.0,),)]
        """
        size = self.size
        lines = [tuple(numbers[i : i + size]) for i in range(0, len(numbers), size)]
        return [tuple(lines[i : i + size]) for i in range(0, len(lines), size)]

    def columns(self, numbers: Sequence[float], factor: int) -> list[Sequence[float]]:
        """The parts of a row that meet one factor, place after place.

        Spec: VB-BALL

        >>> precision("VII", 2).columns([3.0, 5.0], 0)
        [[3.0], [5.0]]
        """
        begin = factor * self.times * self.size
        places = range(begin, begin + self.times * self.size, self.size)
        return [numbers[place : place + self.size] for place in places]

    def scatter(self, sums: Sequence[float]) -> Sequence[float]:
        """What a scatter, full or of each column, adds to the inverse of the scale.

        Spec: VB-BALL
        """
        return (math.fsum(sums),) if self.form == "spherical" else sums

    def square(self, away: Sequence[float], share: float) -> Sequence[float]:
        """What a share of the square of a vector adds to the inverse of the scale.

        Spec: VB-GAUSS, VB-DIAG, VB-BALL

        >>> precision("VVV", 2).square([1.0, 2.0], 0.5), precision("EII", 2).square([1.0, 2.0], 0.5)
        ([0.5, 1.0, 1.0, 2.0], (2.5,))
        """
        if self.form == "full":
            return [share * a * b for a in away for b in away]
        return self.scatter([share * a * a for a in away])


def precision(model: str, d: int) -> Precision:
    """How a covariance model makes the precision of d columns, or a refusal.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON

    >>> precision("EEI", 3)
    Precision(form='diagonal', common=True, count=3, size=1, times=1)
    """
    if model not in CONJUGATE:
        raise BadOption(
            f"the covariance model {model} has no conjugate prior, so its evidence is not known; "
            f"those of {', '.join(CONJUGATE)} are"
        )
    form = MODELS[model].form
    count, size, times = {"full": (1, d, 1), "diagonal": (d, 1, 1), "spherical": (1, 1, d)}[form]
    return Precision(form, MODELS[model].volume == "E", count, size, times)


def trace(scale: Matrix, lower: Matrix) -> float:
    """The trace of a symmetric matrix times W'W, W lower triangular.

    Spec: VB-GAUSS

    >>> trace(((2.0, 1.0), (1.0, 3.0)), ((1.0, 0.0), (1.0, 1.0)))
    9.0
    """
    return math.fsum(
        line[i] * line[j] * scale[i][j]
        for end, line in enumerate(lower, 1)
        for i in range(end)
        for j in range(end)
    )


def squares(lower: Matrix, away: Sequence[float]) -> list[float]:
    """The squares of W x, line by line, W lower triangular.

    Spec: VB-GAUSS

    >>> squares(((1.0, 0.0), (1.0, 1.0)), [2.0, 3.0])
    [4.0, 25.0]
    """
    return [math.fsum(map(mul, line[:end], away)) ** 2 for end, line in enumerate(lower, 1)]
