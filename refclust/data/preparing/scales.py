"""Centres and divisors of columns, and rows scaled by them, each number rounded once (chapter 07).

Held to the definitions of ``refclust.formulas.preparation``. All sums are integers over a power of
two. What weighs nothing does not count, so that a row of weight 2 is the same as two rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from refclust.data.dataset import DOUBLES, Dataset, Dense, readonly
from refclust.data.preparing.record import Rule, Scale
from refclust.errors import NoSpread, NotFinite
from refclust.numbers.nearest import nearest, nearest_sqrt


def scale_of(data: Dataset, rule: Rule, *, plain: Collection[int] = ()) -> Scale:
    """Centres and divisors of all features but the ``plain`` ones, which stay as they are.

    Spec: PREP-STANDARD, PREP-RANGE, PREP-ROBUST, PREP-SPARSE, PREP-CONSTANT

    >>> from refclust.data.accepting.door import dataset
    >>> scale_of(dataset([[1, 5], [3, 5]]), "standard")
    Scale(rule='standard', centres=(2.0, 5.0), divisors=(1.0, 1.0))
    """
    centres, divisors = array(DOUBLES), array(DOUBLES)
    for j, (values, weights) in enumerate(columns_of(data)):
        centre, divisor = (0.0, 1.0) if j in plain else measured(rule, values, weights)
        if not divisor:
            counted = {x for x, w in zip(values, weights, strict=True) if w}
            if len(counted) > 1:
                raise NoSpread(
                    f"the feature {data.feature_name(j)} has no spread: half of its values are "
                    f"equal, so the rule {rule} has nothing to divide by; scale by another rule, "
                    "or leave the column out"
                )
            divisor = 1.0
        centres.append(centre)
        divisors.append(divisor)
    sparse = data.kind == "sparse"
    return Scale(rule, None if sparse else tuple(centres), tuple(divisors))


def measured(rule: Rule, values: Sequence[float], weights: Sequence[int]) -> tuple[float, float]:
    """Centre and divisor of one column, the nearest doubles; what weighs nothing does not count.

    Spec: PREP-STANDARD, PREP-RANGE, PREP-ROBUST
    """
    if rule == "standard":
        return _standard(values, weights)
    counted = sorted((x, w) for x, w in zip(values, weights, strict=True) if w)
    if rule == "range":
        low, high = counted[0][0], counted[-1][0]
        return low, _difference(high, low)
    sums = [*accumulate(w for _, w in counted)]
    ends = [quantile_ends(counted, sums, quarter) for quarter in (1, 2, 3)]
    (a, b), middle, (c, d) = ends
    return _middle(*middle), _halved(c, d, a, b)


def mean_of(values: Sequence[float], weights: Sequence[int]) -> float:
    """The nearest double of the weighted mean.

    Spec: PREP-FILL

    >>> mean_of([0.5, 2.0], [1, 2])
    1.5
    """
    numbers, shift = integers(values)
    total = sum(w * x for w, x in zip(weights, numbers, strict=True))
    return nearest(total, sum(weights) << shift)


def median_of(values: Sequence[float], weights: Sequence[int]) -> float:
    """The nearest double of the weighted median.

    Spec: PREP-FILL

    >>> median_of([1.0, 2.0, 8.0], [1, 1, 2])
    5.0
    """
    counted = sorted((x, w) for x, w in zip(values, weights, strict=True) if w)
    return _middle(*quantile_ends(counted, [*accumulate(w for _, w in counted)], 2))


def quantile_ends(
    counted: Sequence[tuple[float, int]], sums: Sequence[int], quarter: int
) -> tuple[float, float]:
    """The least values whose share of weight is at least, and is more than, a number of quarters.

    Spec: PREP-QUANTILE
    """
    due = quarter * sums[-1]
    reached = next(x for (x, _), below in zip(counted, sums, strict=True) if 4 * below >= due)
    passed = next(x for (x, _), below in zip(counted, sums, strict=True) if 4 * below > due)
    return reached, passed


def scaled(data: Dataset, scale: Scale) -> Dataset:
    """The rows with every number scaled, the nearest double of (x - c)/s; zeros stay when sparse.

    Spec: PREP-SCALED, PREP-SPARSE

    >>> from refclust.data.accepting.door import dataset
    >>> scaled(dataset([[1.0], [4.0]]), Scale("range", (1.0,), (3.0,))).row(1)
    (1.0,)
    """
    matrix, centres = data.matrix, scale.centres
    if isinstance(matrix, Dense):
        values = array(DOUBLES, bytes(8 * len(matrix.values)))
        for j, divisor in enumerate(scale.divisors):
            column = matrix.values[j :: matrix.d]
            centre = 0.0 if centres is None else centres[j]
            values[j :: matrix.d] = array(
                DOUBLES, _scaled(data, j, column, centre=centre, divisor=divisor)
            )
        return replace(data, matrix=replace(matrix, values=readonly(values)))
    numbers = array(DOUBLES)
    known: dict[tuple[int, float], float] = {}
    for j, x in zip(matrix.columns, matrix.values, strict=True):
        if (j, x) not in known:
            known[j, x] = _scaled(data, j, [x], centre=0.0, divisor=scale.divisors[j])[0]
        numbers.append(known[j, x])
    return replace(data, matrix=replace(matrix, values=readonly(numbers)))


def _scaled(
    data: Dataset, j: int, column: Sequence[float], *, centre: float, divisor: float
) -> Sequence[float]:
    if centre == 0 and divisor == 1:
        return column
    c, c_below = centre.as_integer_ratio()
    s, s_below = divisor.as_integer_ratio()
    known: dict[float, float] = {}
    try:
        for x in {*column}:
            if x == x:
                n, below = x.as_integer_ratio()
                known[x] = nearest((n * c_below - c * below) * s_below, below * c_below * s)
    except NotFinite:
        raise NotFinite(
            f"the feature {data.feature_name(j)} holds {x!r}, which divided by {divisor!r} is "
            "beyond the largest double"
        ) from None
    return [known.get(x, x) for x in column]


def columns_of(data: Dataset) -> Iterator[tuple[Sequence[float], Sequence[int]]]:
    """The numbers of every feature with the weights of their rows, as integers on one scale.

    A sparse feature ends with a zero for all rows that do not name it.

    Spec: PREP-SPARSE
    """
    weights = [1] * data.n if data.weights is None else integers(data.weights)[0]
    matrix = data.matrix
    if isinstance(matrix, Dense):
        for j in range(matrix.d):
            column = matrix.values[j :: matrix.d]
            there = [x == x for x in column]  # of missing cells nothing is known
            if all(there):
                yield column, weights
            else:
                pairs = [(x, w) for x, w in zip(column, weights, strict=True) if x == x]
                yield [x for x, _ in pairs], [w for _, w in pairs]
        return
    values: list[list[float]] = [[] for _ in range(matrix.d)]
    counts: list[list[int]] = [[] for _ in range(matrix.d)]
    for i in range(matrix.n):
        for place in range(matrix.starts[i], matrix.starts[i + 1]):
            values[matrix.columns[place]].append(matrix.values[place])
            counts[matrix.columns[place]].append(weights[i])
    whole = sum(weights)
    for entries, count in zip(values, counts, strict=True):
        yield [*entries, 0.0], [*count, whole - sum(count)]


def integers(values: Sequence[float]) -> tuple[list[int], int]:
    """Doubles as integers over one power of two, and its exponent.

    Spec: none (another way to write doubles)

    >>> integers([0.5, 3.0])
    ([1, 6], 1)
    """
    ratios = [x.as_integer_ratio() for x in values]
    shift = max((below.bit_length() for _, below in ratios), default=1) - 1
    return [n << (shift + 1 - below.bit_length()) for n, below in ratios], shift


def _standard(values: Sequence[float], weights: Sequence[int]) -> tuple[float, float]:
    numbers, shift = integers(values)
    whole = sum(weights)
    total = sum(w * x for w, x in zip(weights, numbers, strict=True))
    squares = sum(w * x * x for w, x in zip(weights, numbers, strict=True))
    centre = nearest(total, whole << shift)
    return centre, nearest_sqrt(whole * squares - total * total, whole * whole << 2 * shift)


def _middle(low: float, high: float) -> float:
    (a, b), shift = integers([low, high])
    return nearest(a + b, 2 << shift)


def _difference(high: float, low: float) -> float:
    (a, b), shift = integers([high, low])
    return nearest(a - b, 1 << shift)


def _halved(c: float, d: float, a: float, b: float) -> float:
    """Half of c + d - a - b."""
    numbers, shift = integers([c, d, a, b])
    return nearest(numbers[0] + numbers[1] - numbers[2] - numbers[3], 2 << shift)
