"""The rows of one clustering as kernels and integers take them."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from refclust.backends.protocol import Problem
from refclust.backends.session import REFERENCE, Session
from refclust.data.dataset import Dataset, readonly
from refclust.errors import Undecided
from refclust.formulas.contingency import Count
from refclust.kernels.contracts.comparing import TINY
from refclust.kernels.contracts.lengths import fine_bound, relative_bound
from refclust.kernels.pairs.extremes import squared_gap
from refclust.kernels.pairs.integers import Lines
from refclust.kernels.points import grouped
from refclust.numbers.real import Interval, Real, enclosed, sqrt, total

CERTIFIED: Final = 1 << 26  # rows times rows times columns, of sums over pairs
CERTIFIED_ROWS: Final = 1 << 20  # rows times columns, of sums over rows
FIRST: Final = 30  # digits for which doubles do
MOST_DIGITS: Final = 240  # for which a pass in integers is made
FEW_TERMS: Final = 256  # roots that are written out, if nothing else decides
_WHOLE: Final = 1 << 53  # up to here a double holds every integer


class Source:
    """Rows with their clusters; weights are integers over one unit."""

    def __init__(
        self,
        data: Dataset,
        labels: Sequence[int],
        k: int,
        weights: Sequence[Count] | None,
        session: Session,
        sizes: Sequence[int] | None = None,
    ) -> None:
        self.n, self.d, self.k = data.n, data.d, k
        self.labels, self._session, self._sizes = labels, session, sizes
        # The same object, if it will do: what backends made ready of it serves others, too.
        self.bare = data if data.weights is None else Dataset(data.matrix)
        self.unit = math.lcm(*(w.denominator for w in weights or ()))
        self._weights = weights
        self.insists = False

    @cached_property
    def counts(self) -> list[int]:
        """The weights in units."""
        if self._weights is None:
            return [1] * self.n
        return [int(w * self.unit) for w in self._weights]

    @cached_property
    def _heaviest(self) -> int:
        return 1 if self._weights is None else max(self.counts)

    @property
    def certified(self) -> bool:
        """Whether sums over pairs are worked out to as many digits as a nearest double needs."""
        return self.insists or self.n**2 * max(self.d, 1) <= CERTIFIED

    @property
    def certified_rows(self) -> bool:
        """The same for sums over rows, and for weights that no double holds."""
        small = self.n * max(self.d, 1) <= CERTIFIED_ROWS
        return self.insists or small or not self.whole

    @property
    def whole(self) -> bool:
        """Whether doubles hold all weights in units."""
        return self._heaviest <= _WHOLE

    @cached_property
    def data(self) -> Dataset:
        """The rows for kernels, with weights in units; those that no double holds are rounded."""
        if self._weights is None:
            return self.bare
        return Dataset(self.bare.matrix, weights=readonly(array("d", map(float, self.counts))))

    @cached_property
    def numbers(self) -> Any:
        """The number of each row's cluster in a buffer, as kernels take it; no copy of one."""
        labels = self.labels
        ready = isinstance(labels, array | memoryview) and memoryview(labels).format == "i"
        return labels if ready else array("i", labels)

    @cached_property
    def groups(self) -> list[list[int]]:
        """The rows of each cluster."""
        return grouped(self.labels, range(self.n), self.k)

    @cached_property
    def sizes(self) -> Sequence[int]:
        """How many rows each cluster has."""
        if self._sizes is not None:
            return self._sizes
        counted = Counter(self.labels)
        return [counted[k] for k in range(self.k)]

    @cached_property
    def lines(self) -> Lines:
        """The rows cluster by cluster, in integers."""
        return Lines(self.bare, self.labels, self.k)

    def row(self, i: int) -> tuple[float, ...]:
        """One row with its zeros.

        Spec: DATA-SET
        """
        row = self.bare.row(i)
        if isinstance(row, dict):
            return tuple(row.get(j, 0.0) for j in range(self.d))
        return row

    def run(self, kernel: str, *args: object, k: int) -> Any:
        """What a kernel says of the rows."""
        return self._session.run(kernel, self._problem(k), self.data, *args)

    def elsewhere(self, kernel: str, *args: object, k: int) -> bool:
        """Whether a backend runs a kernel that is faster than the integers of the reference."""
        return self._session.runs_on(kernel, self._problem(k), self.data, *args) != REFERENCE

    def _problem(self, k: int) -> Problem:
        return Problem(self.data.kind, self.n, len(self.data.matrix.values), k)

    def doubles(self, kernel: str, *args: object, k: int) -> list[float]:
        """The doubles that a kernel answers."""
        numbers: Sequence[Any] = memoryview(self.run(kernel, *args, k=k)).tolist()
        return list(numbers)

    def around(self, value: float, digits: int) -> Interval:
        """An interval around a sum of distances in doubles; no more digits can be had of it.

        Sums with weights and quotients by units are rounded less than eight times more.

        Spec: KER-DISTSUM, KER-CENTREDIST
        """
        if digits > FIRST or not math.isfinite(value):
            raise Undecided(f"doubles of sums over {self.n} rows do not settle {digits} digits")
        reach, slack = 1.1 * relative_bound(self.d + 8), self.n * TINY
        low = max(0.0, value * (1.0 - reach) - slack)
        high = value * (1.0 + reach) + slack
        unit = Decimal(self.unit)
        return (
            Context(FIRST, ROUND_FLOOR).divide(Decimal(low), unit),
            Context(FIRST, ROUND_CEILING).divide(Decimal(high), unit),
        )

    def around_fine(self, high: float, rest: float, slack: float, digits: int) -> Interval:
        """An interval around a fine sum, which may also be off by some slack.

        Spec: KER-FINESUM, KER-CENTREDIST
        """
        if digits > FIRST or not math.isfinite(high):
            raise Undecided(f"fine sums over {self.n} rows do not settle {digits} digits")
        below, above = (Context(2 * FIRST, way) for way in (ROUND_FLOOR, ROUND_CEILING))
        reach, least = Decimal(fine_bound(self.n, self.d)), Decimal(slack + self.n * TINY)
        parts, unit = (Decimal(high), Decimal(rest)), Decimal(self.unit)
        share = below.subtract(Decimal(1), reach), above.add(Decimal(1), reach)
        low = below.subtract(below.multiply(below.add(*parts), share[0]), least)
        top = above.add(above.multiply(above.add(*parts), share[1]), least)
        return max(Decimal(), below.divide(low, unit)), above.divide(top, unit)

    def gaps(self, ours: Iterable[int], theirs: Iterable[int]) -> Counter[Fraction]:
        """The squared distances of pairs of rows, with the weight at which each counts.

        Spec: VEC-SQDIST
        """
        counts: Counter[Fraction] = Counter()
        others = [(self.row(j), self.counts[j]) for j in theirs]
        for i in ours:
            x = self.row(i)
            for y, weight in others:
                counts[squared_gap(x, y)] += weight
        return counts

    def real(
        self,
        interval: Callable[[int], Interval],
        gaps: Callable[[], Counter[Fraction]],
        *,
        terms: int,
        unit: int,
        exact: Callable[[], Real | None] | None = None,
    ) -> Real:
        """A sum of so many distances by its intervals; exactly, if possible."""

        def limited(digits: int) -> Interval:
            if digits > MOST_DIGITS:
                raise Undecided(f"{MOST_DIGITS} digits do not settle a sum of {terms} distances")
            return interval(digits)

        def written() -> Real:
            counts = sorted(gaps().items())
            return total(Fraction(count, unit) * sqrt(gap) for gap, count in counts)

        def form() -> Real | None:
            known = None if exact is None else exact()
            return written() if known is None and terms <= FEW_TERMS else known

        return enclosed(limited, form if exact is not None or terms <= FEW_TERMS else None)
