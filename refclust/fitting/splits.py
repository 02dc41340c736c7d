"""Rows dealt out into folds: plain, stratified, repeated (CE-KFOLD, chapter 55)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from refclust.errors import BadOption
from refclust.fitting.checks import plain_number, runs, whole
from refclust.formulas.crossval import by_class, dealt
from refclust.numbers.sampling import shuffled, stream

USUAL_FOLDS: Final = 10

Folds: TypeAlias = tuple[tuple[int, ...], ...]


def folds(n: int, count: int | None = None, *, seed: int = 0) -> Folds:
    """Deal n rows out into folds whose sizes differ by at most one; 10 if there are so many rows.

    Spec: CE-KFOLD, MS-CVLL

    >>> folds(5, 2, seed=0)  # shuffled, the rows are 2, 0, 1, 3, 4
    ((1, 2, 4), (0, 3))
    """
    return next(repeated_folds(n, count, seed=seed))


def repeated_folds(
    n: int,
    count: int | None = None,
    *,
    classes: Sequence[Hashable] | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> Iterator[Folds]:
    """Deal rows out again and again, each time from another shuffle; by class if they are given.

    Spec: CE-KFOLD, CE-STRAT

    >>> list(repeated_folds(4, 2, classes="aabb", repeats=2))
    [((1, 2), (0, 3)), ((0, 2), (1, 3))]
    """
    count = min(USUAL_FOLDS, n) if count is None else count
    whole("folds", count, 2)
    count = int(count)
    if count > n:
        raise BadOption(f"folds is {count}; from 2 to {n} folds can be made of {n} rows")
    runs("repeats", repeats)
    rng = stream(plain_number(seed))
    for _ in range(repeats):
        order = shuffled(rng, range(n))
        yield dealt(order if classes is None else by_class(order, classes), count)
