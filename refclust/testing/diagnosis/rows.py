"""What a wrong answer looks like: a guess at the fault behind it, for the author of a backend.

A contract says that an answer is wrong and where. Here the usual mistakes are tried on it, in exact
rationals: a tie that went to the wrong side, a label off by one, a row left out, a rounded sum.
Realises no clause; chapter 81 tells how to read it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from refclust.data.dataset import Dataset
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.clusters.seeding import Potential
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.testing.diagnosis.mixtures import mixture_guesses
from refclust.testing.diagnosis.passes import (
    centre_guesses,
    extreme_guesses,
    fine_guesses,
    sum_guesses,
)
from refclust.testing.saboteurs.arithmetic.rows import (
    argmin,
    differences,
    expanded,
    rows_of,
    singles,
)

_TIE: Final = Fraction(1, 2**40)  # closer than this estimates in doubles may err
_MOST_ROWS: Final = 5000
_FEW_ROWS: Final = 8  # with less of them labels look alike by accident


def diagnose(kernel: str, data: Any, args: Sequence[Any], due: Any, answer: Any) -> str:
    """Name the mistake that would give this answer, or return nothing.

    >>> diagnose("kmeans.assign", None, (), array("i", [0, 1]), array("i", [1, 2]))
    'all labels are off by one'
    """
    try:
        guesses = _GUESSES.get(kernel)
        return next(filter(None, guesses(data, args, due, answer)), "") if guesses else ""
    except Exception:  # an answer may be wrong in any way; a guess must not be the trouble
        return ""


def _assign(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    labels, right = list(memoryview(answer)), list(due)
    if len(labels) < len(right) and labels == right[: len(labels)]:
        yield "the last rows are dropped"
    for shift in (1, -1):
        if labels == [label + shift for label in right]:
            yield "all labels are off by one"
    if len(labels) == len(right):
        yield _in_few_bits(labels, right)
        yield _between(data, args[0], right, labels, args[1] if len(args) > 1 else "euclidean")
        yield _misplaced(labels, right)


def _in_few_bits(labels: Sequence[int], right: Sequence[int]) -> str:
    """Whether labels are right, but for their high bits."""
    for bits in (16, 15, 8, 7):
        if all((b - a) % (1 << bits) == 0 for a, b in zip(labels, right, strict=True)):
            return f"labels of {bits} bits wrapped around"
    return ""


def _misplaced(labels: Sequence[int], right: Sequence[int]) -> str:
    """Whether labels are right, but for other rows."""
    n, differ = (
        len(right),
        [i for i, (a, b) in enumerate(zip(labels, right, strict=True)) if a != b],
    )
    if n < _FEW_ROWS:
        return ""
    for shift in (1, -1):
        if all(labels[i] == right[i - shift] for i in range(1, n - 1)):
            return f"each row has the label of the row {'before' if shift > 0 else 'after'} it"
    if sorted(labels) == sorted(right) and len(differ) > n // 4:
        return "the labels are those of the rows in another order"
    first, last = differ[0], differ[-1]
    if last == n - 1 and len(set(labels[first:])) == 1 and n - first >= _FEW_ROWS:
        return f"all rows from {first} on have one label: are they not looked at?"
    if len(differ) == 1 and first == n - 1:
        return "only the last row is wrong: the end of a block?"
    return ""


def _between(
    data: Dataset, centres: Any, right: Sequence[int], labels: Sequence[int], metric: str
) -> str:
    """How far apart the two centres really are from the first row that is wrong."""
    i = next(i for i, (a, b) in enumerate(zip(labels, right, strict=True)) if a != b)
    if not 0 <= labels[i] < len(centres):
        return "there is no such centre"
    points = Points(data)
    row = list(map(Fraction, points.whole_row(i)))
    measure = _cosine if metric == "cosine" else _square
    to_right, to_wrong = (measure(row, centres[k]) for k in (right[i], labels[i]))
    if to_right == to_wrong:
        return "an exact tie: the lowest index is due"
    if metric == "euclidean":
        rows, answer = rows_of(points), array("i", labels)
        if answer in (argmin(rows, centres), argmin(rows, centres, differences)):
            return "so decide distances in doubles alone, but nearly a tie needs more"
        if answer == argmin(rows, centres, expanded):
            return "so decide expanded squares, |x|² + |c|² − 2 x·c, whose digits cancel"
        if answer == argmin(singles(rows), singles(centres)):
            return "so decides single precision"
    if abs(to_right - to_wrong) < _TIE * max(abs(to_right), abs(to_wrong)):
        return "nearly a tie that doubles alone cannot decide"
    least = min(range(len(centres)), key=lambda k: (measure(row, centres[k]), k))
    return "" if least == right[i] else "the reference itself is wrong here; please report it"


def _square(row: Sequence[Fraction], centre: Sequence[float]) -> Fraction:
    return Fraction(sum((x - Fraction(c)) ** 2 for x, c in zip(row, centre, strict=True)))


def _cosine(row: Sequence[Fraction], centre: Sequence[float]) -> Fraction:
    """Minus the signed square of x.c / |c|, which orders centres as their angles do."""
    exact = list(map(Fraction, centre))
    product = sum((x * c for x, c in zip(row, exact, strict=True)), Fraction(0))
    return -product * abs(product) / sum(c * c for c in exact)


def _sums(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    """Of the first sum that is wrong: by how much, and what explains it."""
    labels, k = args[0], args[1]
    wrong, right = _fractions(answer.exact()), _fractions(due.exact())
    points = Points(data)
    if points.weighted and data.n <= _MOST_ROWS:
        unweighted = Points(Dataset(data.matrix))
        as_ones = KERNELS["kmeans.accumulate"].reference(unweighted, labels, k)
        if wrong == _fractions(as_ones):
            yield "as if every weight were 1: the weights are ignored"
        if wrong[0] != right[0] and not any(w for w in points.weights if w < 0):
            yield _zero_weights(points, labels, wrong[0], right[0])
    for cluster in range(k):
        lost = [a - b for a, b in zip(right[1][cluster], wrong[1][cluster], strict=True)]
        if any(lost):
            rows = [i for i in reversed(range(data.n)) if labels[i] == cluster]
            yield next((f"row {i} is left out" for i in rows if _weighted(points, i) == lost), "")
            j = next(j for j, gap in enumerate(lost) if gap)
            largest = max(abs(_weighted(points, i)[j]) for i in rows)
            yield _rounding(abs(lost[j]) / largest) if largest else ""


def _zero_weights(
    points: Points, labels: Sequence[int], wrong: list[Fraction], right: list[Fraction]
) -> str:
    for k, (size, due) in enumerate(zip(wrong, right, strict=True)):
        rows = [i for i in range(points.n) if labels[i] == k and not points.weights[i]]
        if size != due and rows and size - due == len(rows):
            return "rows of weight 0 are counted"
    return ""


def _weighted(points: Points, i: int) -> list[Fraction]:
    weight = Fraction(points.weights[i], 1 << points.weight_shift)
    return [weight * Fraction(x) for x in points.whole_row(i)]


def _rounding(relative: Fraction) -> str:
    if relative < Fraction(1, 2**35):
        return "rounded: sums of doubles are not exact"
    return "rounded as if in single precision" if relative < Fraction(1, 2**10) else ""


def _fractions(sums: ClusterSums) -> tuple[list[Fraction], list[list[Fraction]]]:
    unit = 1 << sums.shift
    weights = [sums.weight(k) for k in range(len(sums.weights))]
    return weights, [[Fraction(s, unit) for s in row] for row in sums.sums]


def _step(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    assert isinstance(due, LloydStep)
    if list(memoryview(answer.labels)) != list(due.labels):
        yield from _assign(data, (args[0], args[2]), due.labels, answer.labels)
    elif answer.changed == due.changed:
        yield from _sums(data, (due.labels, len(args[0])), due.sums, answer.sums)
    else:
        yield "labels are compared with those of the step before that is given, if one is"


def _potential(data: Any, _: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    assert isinstance(due, Potential)
    yield from _assign(data, (due.centres,), due.nearest, answer.nearest)


def _farthest(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    if not 0 <= answer < data.n:
        yield "there is no such row"
    points, before = Points(data), args[0]
    if not points.weights[answer]:
        yield f"row {answer} has weight 0"
    due_square, square = (
        _square(list(map(Fraction, points.whole_row(i))), before.centres[before.nearest[i]])
        for i in (due, answer)
    )
    if due_square == square:
        yield "both rows are equally far: the lowest is due"
    elif abs(due_square - square) < _TIE * due_square:
        yield "nearly equally far: doubles alone cannot decide"


def _locate(data: Any, _: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    if answer == data.n or (due < 0 <= answer):
        yield "no row has any mass here, and -1 says so"
    if 0 <= answer < data.n and not Points(data).weights[answer]:
        yield f"row {answer} has weight 0"


def _best(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    if answer not in args[1]:
        yield "it is none of the candidates"
    points = Points(data)
    if points.whole_row(answer) == points.whole_row(due):
        yield "equal candidates: the first is due"
    due_rest, rest = (_left_over(points, args[0], i) for i in (due, answer))
    if due_rest == rest:
        yield "both leave the same: the first candidate is due"
    elif abs(due_rest - rest) < _TIE * rest:
        yield "nearly the same is left: doubles alone cannot decide"


def _left_over(points: Points, before: Potential, row: int) -> Fraction:
    centre = points.whole_row(row)
    total = Fraction(0)
    for i, weight in enumerate(points.weights):
        x = list(map(Fraction, points.whole_row(i)))
        total += weight * min(_square(x, before.centres[before.nearest[i]]), _square(x, centre))
    return total


def _doubles(_: Any, __: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    """How many doubles lie between the first wrong one and the right one."""
    doubles = memoryview(answer)
    place = next(i for i, (a, b) in enumerate(zip(doubles, due, strict=True)) if a != b)
    yield _ulps(doubles[place], due[place])


def _pairs(data: Any, args: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    rows = rows_of(Points(data))
    squares = [expanded(a, b) for i, a in enumerate(rows) for b in rows[i + 1 :]]
    distances = list(memoryview(answer))
    if distances == squares or distances == [math.sqrt(max(s, 0.0)) for s in squares]:
        yield "so come expanded squares, |a|² + |b|² − 2 a·b, whose digits cancel"
    yield from _doubles(data, args, due, answer)


def _ulps(value: float, due: float) -> str:
    if math.isnan(value):
        return "0/0 on the way"
    if math.isinf(value):
        return "an overflow on the way"
    if not value and abs(due) < 2.0**-1022:
        return "a subnormal number is flushed to zero"
    units = abs(Fraction(value) - Fraction(due)) / Fraction(math.ulp(due))
    if units <= 16:
        count = math.ceil(units)
        return f"not the nearest double, but {count} unit{'s' * (count > 1)} in the last place off"
    relative = abs(Fraction(value) - Fraction(due)) / abs(Fraction(due)) if due else Fraction(1)
    return "only right to single precision" if relative < Fraction(1, 2**18) else "digits are lost"


def _rationals(_: Any, __: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    differing = ((a, b) for a, b in zip(answer, due, strict=True) if a != b)
    value, right = next(differing)
    scale = max(abs(value), abs(right))
    if abs(value - right) < scale * Fraction(1, 2**18):
        yield "rounded: computed in floats instead of exactly"


def _merges(_: Any, __: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    place = next(i for i, (a, b) in enumerate(zip(answer, due, strict=True)) if a != b)
    merge, right = answer[place], due[place]
    for number, due_number in zip((*merge[:2], merge[3]), (*right[:2], right[3]), strict=True):
        yield _narrow(number, due_number)
    if merge[2] == right[2]:
        yield "equally close pairs: the first one is due"
    if merge[:2] == right[:2] and merge[2] != right[2]:
        yield f"the height is {_ulps(merge[2], right[2])}; operations in another order?"


def _narrow(number: int, due: int) -> str:
    """Whether a number looks like one that was kept in too few bits."""
    for bits in (32, 31, 16, 15, 8, 7) if number != due else ():
        if due >> bits and (due - number) % (1 << bits) == 0:
            return f"an integer of {bits} bits wrapped around"
        if due >> bits and number == (1 << bits) - 1:
            return f"an integer of {bits} bits is full"
    return ""


def _cells(_: Any, __: Sequence[Any], due: Any, answer: Any) -> Iterator[str]:
    looks = {tuple(map(str, cell)) for cell in due}
    if len(answer) < len(due) and looks == {tuple(map(str, cell)) for cell in answer}:
        yield "labels that only look alike are not equal"
    for key, value in due.items():
        gap = value - answer.get(key, value)
        for bits in (64, 32, 31, 16, 8):
            if gap and gap % (1 << bits) == 0:
                yield f"an integer of {bits} bits wrapped around"
        if gap and abs(gap) < abs(value) * Fraction(1, 2**18):
            yield "rounded: weights are added up in floats"


_Guesses = Callable[[Any, Sequence[Any], Any, Any], Iterator[str]]
_GUESSES: Final[dict[str, _Guesses]] = {
    "kmeans.assign": _assign,
    "kmeans.accumulate": _sums,
    "kmeans.lloyd_step": _step,
    "kmeans.means": _doubles,
    "kmeans.directions": _doubles,
    "kmeans.residual": _rationals,
    "kmeans.cosine_terms": _rationals,
    "kmeans.squares": _rationals,
    "seeding.potential": _potential,
    "seeding.locate": _locate,
    "seeding.best_candidate": _best,
    "seeding.farthest": _farthest,
    "distances.pairwise": _pairs,
    "silhouette.distance_sums": sum_guesses,
    "silhouette.fine_sums": fine_guesses,
    "scatter.centre_distances": centre_guesses,
    "pairs.extremes": extreme_guesses,
    "linkage.agglomerate": _merges,
    "contingency.table": _cells,
    **{
        f"{family}.{what}": partial(mixture_guesses, f"{family}.{what}")
        for family in ("gaussian", "multinomial")
        for what in ("posterior", "moments", "em_step")
    },
}
