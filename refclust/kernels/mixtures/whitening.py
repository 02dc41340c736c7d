"""Small matrices of a Gaussian mixture: from covariances to whitening, and traces (chapter 32).

These passes run over components, not over rows; they are kernels because with many columns they
would take longer in plain Python than a fast backend takes for all the rows.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from refclust.kernels.blocks import Doubles, blocks
from refclust.kernels.mixtures.gaussian import Form, block_size
from refclust.kernels.points import Points
from refclust.kernels.registry import kernel
from refclust.numbers.argmin import ROUND
from refclust.numbers.linalg import Matrix, NotPositive, cholesky, inverse_lower


def _square(block: Sequence[float], d: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(block[i * d : (i + 1) * d]) for i in range(d))


@dataclass(frozen=True, slots=True)
class Whitens:
    """The answer W whitens the covariance C given: W C W' is the identity within rounding.

    Let T = |W||L|, L the Cholesky factor. Computing L errs like a change of C by (d + 2) u |L||L'|,
    which W on both sides turns into (d + 2) u T T'. Solving L W = I leaves |L W - I| below
    (d + 2) u |L||W|, so |W L - I| below (d + 2) u T T. Together every entry of W C W' - I is below
    8 (d + 2) u of that of T T' + T T + (T T)'. A component without W must be one of which rounding
    could have brought a pivot below the threshold of LIN-CHOL: what column j leaves beside the
    earlier ones is 1 / W_jj^2, and a change E of C changes it by the share (W E W')_jj of itself.
    One with W has pivots that its own arithmetic found above the threshold: W_jj is the inverse of
    the root of that pivot, and these two, the threshold and the test here round a few times.
    """

    name: str = "Whitens"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a flat buffer of finite doubles."""
        try:
            view = memoryview(answer)
        except TypeError:
            return f"a {type(answer).__name__} instead of a buffer"
        if view.ndim != 1 or not view.contiguous or view.format != "d":
            return f"a buffer of format {view.format!r}, {view.ndim}-dimensional"
        return None if all(map(math.isfinite, view.tolist())) else "a number that is not finite"

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare sizes and zeros only: values are judged against the covariances."""
        wrong = self.malformed(answer)
        if wrong:
            return wrong
        size, actual = len(memoryview(reference)), len(memoryview(answer))
        return None if size == actual else f"{actual} numbers instead of {size}"

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Multiply out."""
        wrong = self.fault(due, answer)
        if wrong:
            return wrong
        covariances, form = args
        d = points.d
        size = block_size(form, d)
        parts = zip(*(blocks(values, size) for values in (covariances, due, answer)), strict=True)
        for k, (covariance, right, whitened) in enumerate(parts):
            wrong = _not_whitened(covariance, right, whitened, form, d)
            if wrong:
                return f"component {k}: {wrong}"
        return None


def _not_whitened(
    covariance: Sequence[float], right: Sequence[float], answer: Sequence[float], form: Form, d: int
) -> str | None:
    if form != "full":
        for j, (due, actual) in enumerate(zip(right, answer, strict=True)):
            if not abs(due - actual) <= 4 * ROUND * abs(due):
                return f"{actual!r} instead of {due!r} in column {j}"
        return None
    if not any(right) or not any(answer):
        some = right if any(right) else answer
        if not any(some):
            return None
        if not all(some[j * d + j] > 0 for j in range(d)):
            return "a diagonal that is not positive"
        below = _below_threshold(covariance, _square(some, d))
        if below is not None:
            return below
        near = _near_singular(covariance, some, d)
        return None if near else "no answer, though the covariance is positive definite"
    whitening, matrix = _square(answer, d), _square(covariance, d)
    if any(whitening[i][j] for i in range(d) for j in range(i + 1, d)):
        return "numbers above the diagonal"
    if not all(whitening[j][j] > 0 for j in range(d)):
        return "a diagonal that is not positive"
    below = _below_threshold(covariance, whitening)
    if below is not None:
        return below
    try:
        lower = cholesky(matrix)
    except NotPositive:
        return None
    t = _sizes_of_rows(whitening, lower)
    columns = list(zip(*t, strict=True))
    for i in range(d):
        for j in range(i + 1):
            product = math.fsum(
                whitening[i][a] * matrix[a][b] * whitening[j][b] for a in range(d) for b in range(d)
            )
            sizes = (map(mul, t[i], t[j]), map(mul, t[i], columns[j]), map(mul, t[j], columns[i]))
            most = 8 * (d + 2) * ROUND * math.fsum(map(math.fsum, sizes))
            if not abs(product - (i == j)) <= most:
                return f"W C W' is {product!r} at ({i}, {j}), {most:.2g} from the identity allowed"
    return None


def _below_threshold(covariance: Sequence[float], white: Matrix) -> str | None:
    """What is wrong if W belongs to a pivot that LIN-CHOL refuses."""
    for j, row in enumerate(white):
        root, least = 1 / row[j], 8 * (j + 1) ** 2 * ROUND * covariance[j * len(white) + j]
        if root * root * (1 + 32 * ROUND) < least:
            return f"column {j} leaves {root * root:.3g}, not more than {least:.3g}: zeros are due"
    return None


def _near_singular(covariance: Sequence[float], white: Sequence[float], d: int) -> bool:
    """Whether another order of operations could have refused what has this W, or the other way."""
    whitening = _square(white, d)
    for j, size in enumerate(_sizes_of_rows(whitening, inverse_lower(whitening))):
        root = 1 / whitening[j][j]
        slack = 8 * (d + 2) * ROUND * sum(map(mul, size, size))
        if root * root * (1 - slack) <= 8 * ((j + 1) ** 2 + d + 2) * ROUND * covariance[j * d + j]:
            return True
    return False


def _sizes_of_rows(whitening: Matrix, lower: Matrix) -> list[list[float]]:
    """T = |W||L|; built-in sum on floats, since an answer may hold anything, and fsum overflows."""
    columns = list(zip(*lower, strict=True))
    return [[sum(map(abs, map(mul, row, column))) for column in columns] for row in whitening]


@kernel("gaussian.whitening", contract=Whitens())
def whitening(points: Points, covariances: Doubles, form: Form) -> array[float]:
    """Turn each covariance into the lower triangular W with W'W its inverse; zeros if it has none.

    Spec: GAU-PDF, LIN-CHOL, LIN-INV, KER-WHITEN

    >>> from refclust.data.dataset import dense
    >>> whitening(Points(dense(array("d", [0, 0]), 2)), array("d", [4, 0, 0, 0.25]), "full")
    array('d', [0.5, 0.0, 0.0, 2.0])
    """
    if form != "full":
        return array("d", (1.0 / math.sqrt(x) if x > 0 else 0.0 for x in covariances))
    d, flat = points.d, array("d")
    for block in blocks(covariances, d * d):
        square = tuple(zip(*[iter(block)] * d, strict=True))
        try:
            inverse = inverse_lower(cholesky(square))
        except NotPositive:
            flat.extend([0.0] * (d * d))
        else:
            flat.extend(x for row in inverse for x in row)
    return flat


@dataclass(frozen=True, slots=True)
class Traces:
    """Each trace is within (d^2 + d + 8) u of its absolute terms, whatever the order of sums."""

    name: str = "Traces"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a flat buffer of doubles."""
        return Whitens().malformed(answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare sizes only: values are judged against their terms."""
        return Whitens().fault(reference, answer)

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare each trace within its bound."""
        wrong = self.fault(due, answer)
        if wrong:
            return wrong
        seconds, white, form = args
        sizes = traces(
            points,
            array("d", map(abs, memoryview(seconds).tolist())),
            array("d", map(abs, memoryview(white).tolist())),
            form,
        )
        for k, (right, actual, size) in enumerate(
            zip(memoryview(due), memoryview(answer), sizes, strict=True)
        ):
            most = 2 * (points.d**2 + points.d + 8) * ROUND * size
            if not abs(right - actual) <= most:
                return f"component {k}: {actual!r} instead of {right!r}, {most:.2g} allowed"
        return None


@kernel("gaussian.traces", contract=Traces())
def traces(points: Points, seconds: Doubles, white: Doubles, form: Form) -> array[float]:
    """Add up |W y|^2 over the rows of each component, from the second moments M of y: tr W M W'.

    Spec: GMM-EXPCDLL, KER-WHITEN

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0]), 1))
    >>> traces(line, array("d", [3]), array("d", [2]), "full")
    array('d', [12.0])
    """
    d = points.d
    moments = blocks(seconds, d * d if form == "full" else d)
    parts = blocks(white, d * d if form == "full" else d if form == "diagonal" else 1)
    if form == "spherical":
        return array("d", (w[0] * w[0] * math.fsum(m) for w, m in zip(parts, moments, strict=True)))
    if form == "diagonal":
        return array(
            "d",
            (
                math.fsum(x * x * y for x, y in zip(w, m, strict=True))
                for w, m in zip(parts, moments, strict=True)
            ),
        )
    sums = array("d")
    for block, moment in zip(parts, moments, strict=True):
        lines = [moment[i * d : (i + 1) * d] for i in range(d)]
        rows = [block[i * d : i * d + i + 1] for i in range(d)]
        # Built-in sum on floats: its error is inside the bound of Traces.
        terms = (
            w * sum(map(mul, row, line))
            for row in rows
            for w, line in zip(row, lines, strict=False)
        )
        sums.append(math.fsum(terms))
    return sums
