"""How much clusters depend on the rows that happen to be there (MS-STAB, chapter 34)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from refclust.data.dataset import Dataset
from refclust.errors import DataError
from refclust.formulas import selection as formulas
from refclust.formulas.undefined import Undefined
from refclust.mixture.choosing.partitions import ClusterCall, Partition, partitions
from refclust.numbers.real import real
from refclust.numbers.sampling import shuffled, stream

Sample = dict[int, int]  # rows and the clusters they are in


def samples(n: int, pairs: int, *, seed: int) -> Iterator[tuple[list[int], list[int]]]:
    """Pairs of samples of four fifths of n rows, one pair after another.

    Spec: MS-STAB, NUM-RAND

    >>> next(samples(5, 1, seed=0))  # shuffled, the rows are 2, 0, 1, 3, 4
    ([0, 1, 2, 3], [0, 1, 3, 4])
    """
    numbers = stream(seed)
    for _ in range(pairs):
        first, second = (formulas.subsample(shuffled(numbers, range(n))) for _ in range(2))
        yield first, second


def paired(
    call: ClusterCall, rows: Dataset, ks: Sequence[int], pairs: int, *, seed: int
) -> Iterator[list[tuple[Sample, Sample] | None]]:
    """For one pair of samples after another, both clusterings of every K, if there are both.

    Spec: MS-STAB
    """
    for chosen in samples(rows.n, pairs, seed=seed):
        both = [_clustered(call, rows, members, ks) for members in chosen]
        yield [
            None if first is None or second is None else (first, second)
            for first, second in zip(*both, strict=True)
        ]


def _clustered(
    call: ClusterCall, rows: Dataset, members: list[int], ks: Sequence[int]
) -> list[Sample | None]:
    return [
        dict(zip(members, each.labels, strict=True)) if isinstance(each, Partition) else None
        for each in partitions(call, rows.select(members), ks, alone=False)
    ]


def stability(
    clusterings: Sequence[tuple[Sample, Sample] | None], rows: Dataset
) -> Fraction | None:
    """The mean agreement of all pairs, exactly; none if one has no agreement.

    Spec: MS-STAB

    >>> from refclust.data.accepting.door import dataset
    >>> rows = dataset([[0], [1], [5]])
    >>> stability([({0: 1, 1: 0, 2: 0}, {0: 0, 1: 1, 2: 1})], rows)
    Fraction(1, 1)
    """
    known = [pair for pair in clusterings if pair is not None]
    if len(known) < len(clusterings):
        return None
    weights = None if rows.weights is None else [Fraction(w) for w in rows.weights]
    if weights is not None and any(w.denominator != 1 for w in weights):
        return None
    try:
        mean = formulas.stability(known, None if weights is None else list(map(int, weights)))
    except (Undefined, DataError):
        return None
    return real(mean).fraction
