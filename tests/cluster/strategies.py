"""Rows, weights and centres that tests draw: small, full of ties, and at all magnitudes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset

Row = tuple[float, ...]

TIES = st.integers(-2, 2).map(float)
DECIMALS = st.integers(-30, 30).map(lambda i: i / 10)
OFFSET = st.sampled_from([1e8, 1e9, -1e8]).flatmap(
    lambda base: st.integers(-6, 6).map(lambda i: base + i * 2.0**-20)
)
SUBNORMAL = st.integers(-9, 9).map(lambda i: i * 5e-324)
TINY = st.sampled_from([1e-300, -1e-300, 3e-310, -2.5e-308, 0.0, -0.0]) | SUBNORMAL
HUGE = st.sampled_from([1e300, -1e300, 1.7e308, -1.7e308, 1e155, 1e153, -3e200, 1.0])
LARGE = st.integers(-9, 9).map(lambda i: i * 1e150)
SINGLES = st.floats(-4, 4, width=32)
ANY = st.floats(allow_nan=False, allow_infinity=False)
SIGNED_ZERO = st.sampled_from([0.0, -0.0, 1.0, -1.0])

MODERATE = st.sampled_from([TIES, DECIMALS, OFFSET, TINY, SINGLES, SIGNED_ZERO, LARGE])
EXTREME = st.sampled_from([TIES, TINY, HUGE, ANY, OFFSET, HUGE | TINY | TIES])

WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0, 0.5, 0.1, 1e-3, 7.0])
WILD_WEIGHTS = st.sampled_from([0.0, 1.0, 5e-324, 1e-310, 3e-320, 1e300, 1.7e308, 2.0**-1060])


@dataclass(frozen=True)
class Case:
    """Rows with or without weights, and some centres in the same space."""

    rows: Sequence[Row]
    weights: Sequence[float] | None
    centres: Sequence[Row]

    @property
    def masses(self) -> Sequence[float]:
        """The weights, ones if there are none."""
        return [1.0] * len(self.rows) if self.weights is None else self.weights

    def data(self, kind: str) -> Dataset:
        """The rows as a data set, ``dense`` or ``sparse``."""
        return data_of(self.rows, kind, self.weights)


def data_of(rows: Sequence[Row], kind: str, weights: Sequence[float] | None = None) -> Dataset:
    """A data set of rows, stored the one way or the other."""
    known: dict[str, Any] = {} if weights is None else {"weights": list(weights)}
    if kind == "dense":
        return dataset([list(row) for row in rows], **known)
    return dataset(sparse_rows(rows), features=range(len(rows[0])), **known)


def sparse_rows(rows: Sequence[Row]) -> list[dict[int, float]]:
    """The same rows as mappings."""
    return [{j: x for j, x in enumerate(row) if x} for row in rows]


@st.composite
def cases(
    draw: st.DrawFn,
    numbers: st.SearchStrategy[st.SearchStrategy[float]] = MODERATE,
    weights: st.SearchStrategy[float] = WEIGHTS,
    *,
    most: int = 8,
    directions: bool = False,
) -> Case:
    """Rows among which some are equal, centres some of which are rows or midpoints of rows."""
    number = draw(numbers)
    d = draw(st.integers(1, 3))
    row = st.tuples(*[number] * d)
    if directions:
        row = row.filter(any)
    some = draw(st.lists(row, min_size=1, max_size=most))
    again = draw(st.lists(st.sampled_from(some), max_size=3))
    rows = draw(st.permutations([*some, *again]))
    n = len(rows)
    masses = draw(st.none() | st.lists(weights, min_size=n, max_size=n).filter(any))
    middle = st.tuples(st.sampled_from(rows), st.sampled_from(rows)).map(
        lambda pair: tuple(a / 2 + b / 2 for a, b in zip(*pair, strict=True))
    )
    centre = st.sampled_from(rows) | row | middle
    if directions:
        centre = centre.filter(any)
    most_centres = min(n, 4)
    return Case(rows, masses, draw(st.lists(centre, min_size=1, max_size=most_centres)))


KINDS = st.sampled_from(["dense", "sparse"])
STARTS = ["k-means++", "greedy", "random", "random-centres", "farthest"]
POLICIES = ["farthest", "split", "keep", "drop"]
