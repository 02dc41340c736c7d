"""The sums of an M-step as exact rationals, to be merged and then rounded once (chapters 31, 32).

The passes ``gaussian.moments`` and ``multinomial.moments`` add up doubles within a bound, so their
sums depend on how rows are cut into parts. Those here do not: every double given is a rational, and
so is every sum of products of them. It is slower, and nobody but the caller decides to use it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from operator import mul
from typing import Any, TypeVar

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.clusters.nearness import scaled_vectors
from refclust.kernels.contracts.basic import Rationals
from refclust.kernels.contracts.merging import added
from refclust.kernels.mixtures.gaussian import Moments, Spread
from refclust.kernels.mixtures.multinomial import Tallies
from refclust.kernels.mixtures.shared import Doubles
from refclust.kernels.points import Integers, Points, binary
from refclust.kernels.registry import Merge, kernel
from refclust.numbers.nearest import nearest

S = TypeVar("S", "ExactMoments", "ExactTallies")


@dataclass(frozen=True, slots=True)
class ExactMoments:
    """``Moments`` before they are rounded: the same sums, in the same order, as rationals."""

    counts: tuple[Fraction, ...]
    firsts: tuple[Fraction, ...]
    seconds: tuple[Fraction, ...]
    around: CentreMatrix
    spread: Spread

    def rounded(self) -> Moments:
        """The nearest doubles of all sums.

        Spec: KER-EXACTMOMENTS, NUM-NEAR
        """
        return Moments(
            _nearest(self.counts),
            _nearest(self.firsts),
            _nearest(self.seconds),
            self.around,
            self.spread,
        )


@dataclass(frozen=True, slots=True)
class ExactTallies:
    """``Tallies`` before they are rounded: the same sums, in the same order, as rationals."""

    counts: tuple[Fraction, ...]
    sums: tuple[Fraction, ...]

    def rounded(self) -> Tallies:
        """The nearest doubles of all sums.

        Spec: KER-EXACTMOMENTS, NUM-NEAR
        """
        return Tallies(_nearest(self.counts), _nearest(self.sums))


def merged(parts: Sequence[S]) -> S:
    """The sums of all rows from those of parts of them, around the same points.

    Spec: KER-EXACTMOMENTS, BK-MERGE

    >>> half = Fraction(1, 2)
    >>> merged([ExactTallies((half,), (half,)), ExactTallies((half,), (Fraction(3),))])
    ExactTallies(counts=(Fraction(1, 1),), sums=(Fraction(7, 2),))
    """
    first = parts[0]
    whole: dict[str, Any] = {}
    for field in fields(first):
        values = [getattr(part, field.name) for part in parts]
        if isinstance(values[0], tuple):
            whole[field.name] = added(values)
        elif any(value != values[0] for value in values):
            raise ValueError(f"parts with different {field.name}: {values}")
        else:
            whole[field.name] = values[0]
    return type(first)(**whole)


@dataclass(frozen=True, slots=True)
class ExactRecord:
    """The contract of such sums: the rationals of the reference, one by one."""

    kind: type
    name: str = "Rationals"

    def malformed(self, answer: Any) -> str | None:
        """Ask for the record, with tuples of plain integers or fractions."""
        if not isinstance(answer, self.kind):
            return f"a {type(answer).__name__} instead of {self.kind.__name__}"
        for name in self._sums():
            wrong = Rationals().malformed(getattr(answer, name))
            if wrong:
                return f"{name}: {wrong}"
        return None

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare sum by sum; the points and the kind of spread are those that were given."""
        wrong = self.malformed(answer)
        for field in fields(reference) if wrong is None else ():
            due, actual = getattr(reference, field.name), getattr(answer, field.name)
            if field.name in self._sums():
                wrong = Rationals().fault(due, actual)
            elif due != (CentreMatrix.of(actual) if isinstance(due, CentreMatrix) else actual):
                wrong = "not what was given"
            if wrong:
                return f"{field.name}: {wrong}"
        return wrong

    def _sums(self) -> list[str]:
        names = [field.name for field in fields(self.kind)]
        return [name for name in names if name not in ("around", "spread")]


@kernel("gaussian.exact_moments", contract=ExactRecord(ExactMoments), merge=Merge(merged))
def exact_moments(
    points: Points, q: Labels | Doubles, k: int, around: CentreMatrix, spread: Spread
) -> ExactMoments:
    """Add up what ``gaussian.moments`` adds up, exactly.

    Spec: GMM-NK, GMM-MU, GMM-SIG, KER-EXACTMOMENTS

    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [1, 3]), 1))
    >>> exact_moments(line, array("d", [0.5, 1]), 1, CentreMatrix.of([(2.0,)]), "full").seconds
    (Fraction(3, 2),)
    """
    shares, unit = exact_shares(points, q, k)
    rows, shift = _whole_rows(points), points.shift
    centres, centre_shift = scaled_vectors(list(around))
    place = shift + centre_shift  # differences are integers over 2**place
    counts: list[Fraction] = []
    firsts: list[Fraction] = []
    seconds: list[Fraction] = []
    for column, centre in zip(shares, centres, strict=True):
        away = [
            [(row[j] << centre_shift) - (a << shift) for row in rows] for j, a in enumerate(centre)
        ]
        weighted = [list(map(mul, column, x)) for x in away]
        counts.append(Fraction(sum(column), 1 << unit))
        firsts += (Fraction(sum(x), 1 << (unit + place)) for x in weighted)
        pairs = (
            ((x, y) for x in weighted for y in away)
            if spread == "full"
            else zip(weighted, away, strict=True)
        )
        seconds += (Fraction(sum(map(mul, x, y)), 1 << (unit + 2 * place)) for x, y in pairs)
    return ExactMoments(
        tuple(counts), tuple(firsts), tuple(seconds), CentreMatrix.of(around), spread
    )


@kernel("multinomial.exact_tallies", contract=ExactRecord(ExactTallies), merge=Merge(merged))
def exact_tallies(points: Points, q: Labels | Doubles, k: int) -> ExactTallies:
    """Add up what ``multinomial.moments`` adds up, exactly.

    Spec: MMIX-PI, MMIX-THETA, NB-COUNT, KER-EXACTMOMENTS

    >>> from refclust.data.dataset import dense
    >>> points = Points(dense(array("d", [2, 0, 1, 3]), 2))
    >>> exact_tallies(points, array("d", [0.5, 1]), 1).sums
    (Fraction(2, 1), Fraction(3, 1))
    """
    shares, unit = exact_shares(points, q, k)
    rows = _whole_rows(points)
    counts: list[Fraction] = []
    sums: list[Fraction] = []
    for column in shares:
        counts.append(Fraction(sum(column), 1 << unit))
        totals = [0] * points.d
        for share, row in zip(column, rows, strict=True):
            if share:
                for j, x in enumerate(row):
                    totals[j] += share * x
        sums += (Fraction(total, 1 << (unit + points.shift)) for total in totals)
    return ExactTallies(tuple(counts), tuple(sums))


def exact_shares(points: Points, q: Labels | Doubles, k: int) -> tuple[list[list[int]], int]:
    """The weighted responsibilities of each component as integers over 2**shift, and the shift.

    Spec: EM-MSTEP, KER-EXACTMOMENTS

    >>> from refclust.data.dataset import dense
    >>> exact_shares(Points(dense(array("d", [1, 3]), 1)), array("i", [1, -1]), 2)
    ([[0, 0], [1, 0]], 0)
    """
    values, shift = memoryview(q), 0
    if values.format == "i":
        labels = values.tolist()
        columns = [[int(label == c) for label in labels] for c in range(k)]
    else:
        integers, shift = binary(list(map(float, values)))
        columns = [integers[c::k] for c in range(k)]
    weighted = [list(map(mul, points.weights, column)) for column in columns]
    return weighted, shift + points.weight_shift


def _whole_rows(points: Points) -> list[Integers]:
    """The integers of all rows, with their zeros."""
    if points.dense:
        return points.integers
    rows = []
    for columns, integers in zip(points.columns, points.integers, strict=True):
        row = [0] * points.d
        for j, x in zip(columns, integers, strict=True):
            row[j] = x
        rows.append(tuple(row))
    return rows


def _nearest(sums: Iterable[Fraction]) -> array[float]:
    return array("d", (nearest(s.numerator, s.denominator) for s in sums))
