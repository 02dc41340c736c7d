"""Mixtures over rows of counts: within the bounds of the contracts, by any number of threads."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from refclust_numba.backend import NumbaBackend
from refclust_numba.lowlevel.threads import limited
from refclust_numba.mixtures.multinomial.lanes import WIDEST
from refclust_numba.mixtures.sizes import TINY, USUAL, sized
from refclust_numba.prepared import Rows

from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset, sparse
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import HARD, SOFT, Rule
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

NUMBA = NumbaBackend().kernels()


def judge(name: str, data: Dataset, *args: Any) -> Any:
    """The answer, after its contract was asked."""
    kernel: Any = KERNELS[name]
    points = Points(data)
    answer = NUMBA[name](Rows(data), *args)
    due = kernel.reference(points, *args)
    assert kernel.contract.malformed(answer) is None
    assert kernel.contract.judged(points, args, due, answer) is None
    return answer


def doubles(values: Any) -> array[float]:
    return array("d", np.asarray(values, np.float64).ravel().tolist())


def rules(random: Any, n: int, k: int) -> Iterator[Rule]:
    yield SOFT
    yield HARD
    yield Rule(top=2)
    yield Rule(top=k)
    yield Rule(draws=doubles(random.random(3 * n)), samples=3)


def counts(seed: int, n: int, d: int, kind: str) -> Any:
    """Rows of counts of which some are empty, and columns that never occur."""
    random = np.random.default_rng(seed)
    rows = random.poisson(0.7, (n, d)).astype(float)
    if kind == "fractions":
        rows *= random.random((n, d))
    elif kind == "signs":
        rows *= np.sign(random.standard_normal((n, d)))
    elif kind == "long":
        rows[: (n + 1) // 2] *= 1e5
    elif kind == "singles":
        rows = (rows * random.random((n, d))).astype(np.float32)
    rows[n // 3] = 0.0
    rows[:, d // 2] = 0.0
    return rows


def terms(seed: int, k: int, d: int, never: float = 0.0, certain: bool = False) -> Terms:
    random = np.random.default_rng(seed)
    slopes = np.log(random.dirichlet(np.ones(d), k) + 1e-300)
    slopes[random.random((k, d)) < never] = -math.inf
    offsets = random.standard_normal(k)
    if k > 1:
        slopes[1], offsets[1] = slopes[0], offsets[0]
    if k > 3:
        offsets[3] = -math.inf
    must = None
    if certain:
        must = tuple(tuple(range(c % 3 == 1)) for c in range(k))
    return Terms(doubles(offsets), doubles(slopes), must)


def stored(rows: Any, weights: Any, index: str, zeros: bool) -> Dataset:
    """Sparse rows with indices of one width, maybe with zeros among their numbers."""
    kept = (rows != 0.0) | (zeros & (np.arange(rows.shape[1]) % 3 == 0))
    starts = array(index, [0, *np.cumsum(kept.sum(axis=1)).tolist()])
    columns = array(index, np.nonzero(kept)[1].tolist())
    values = array("f" if rows.dtype == np.float32 else "d", rows[kept].tolist())
    weights = None if weights is None else memoryview(doubles(weights)).toreadonly()
    return sparse(starts, columns, values, rows.shape[1], weights=weights)


def all_of_it(data: Dataset, densities: Terms, seed: int) -> None:
    random = np.random.default_rng(seed)
    for full in (False, True):
        judge("multinomial.posterior", data, densities, full)
    for rule in rules(random, data.n, densities.k):
        judge("multinomial.em_step", data, densities, rule)
    judge("multinomial.em_step", data, densities)
    labels = array("i", random.integers(-1, densities.k, data.n).tolist())
    judge("multinomial.moments", data, labels, densities.k)
    judge("multinomial.moments", data, doubles(random.random((data.n, densities.k))), densities.k)


@pytest.mark.spec("KER-POSTERIOR", "KER-MOMENTS", "KER-EMSTEP")
@pytest.mark.parametrize("kept", ["dense", "sparse", "sparse with zeros"])
@pytest.mark.parametrize("kind", ["whole", "fractions", "signs", "long", "singles"])
def test_counts(kept: str, kind: str) -> None:
    shapes = [(24, 7, 3), (1, 1, 1), (2, 3, 2), (5, 20, WIDEST + 1), (30, 4, 9)]
    for seed, (n, d, k) in enumerate(shapes):
        rows = counts(seed, n, d, kind)
        weights = None if seed % 2 else np.random.default_rng(seed).integers(1, 4, n) % 3 + 0.0
        for never, certain in ((0.2 * (seed % 2), False), (0.2, True)):
            densities = terms(seed, k, d, never, certain)
            if kept == "dense":
                data = dataset(rows, weights=None if weights is None else weights.tolist())
            else:
                data = stored(rows, weights, "iq"[seed % 2], zeros=kept != "sparse")
            all_of_it(data, densities, seed)


@pytest.mark.parametrize("n", [127, 128, 129, 1023, 1025, 2100])
def test_sizes_around_blocks_chunks_and_stretches(n: int) -> None:
    data = stored(counts(n, n, 3, "whole"), None, "q", zeros=False)
    labels = array("i", np.random.default_rng(n).integers(-1, 2, n).tolist())
    for few in (replace(USUAL, shares=1), TINY):  # stretches of one chunk, and of one block
        with sized(few):
            judge("multinomial.em_step", data, terms(n, 2, 3, 0.2), SOFT)
            judge("multinomial.posterior", data, terms(n, 2, 3), False)
            judge("multinomial.moments", data, labels, 2)


def bits_of(answer: Any) -> bytes:
    """All that a step tells, bit by bit."""
    numbers = repr((answer.log_likelihood, answer.bound, answer.entropy)).encode()
    return numbers + bytes(answer.moments.counts) + bytes(answer.moments.sums)


@pytest.mark.spec("KER-EMSTEP")
@pytest.mark.parametrize("k", [1, 5, 2 * WIDEST + 1])
def test_no_bit_depends_on_the_number_of_threads(k: int) -> None:
    rows = counts(k, 5000, 60, "fractions")
    random = np.random.default_rng(k)
    data = stored(rows, random.random(5000), "i", zeros=False)
    densities = terms(k, k, 60)
    for size in (USUAL, replace(USUAL, shares=1), TINY):
        for rule in rules(random, 5000, k):
            steps = set()
            for count in (1, 2, 3):
                with limited(count), sized(size):
                    steps.add(bits_of(NUMBA["multinomial.em_step"](Rows(data), densities, rule)))
            assert len(steps) == 1
    wholes = set()
    for count in (1, 2, 3):
        with limited(count):
            posterior = NUMBA["multinomial.posterior"](Rows(data), densities, True)
            wholes.add(
                bytes(posterior.labels) + bytes(posterior.log_likelihoods) + bytes(posterior.joint)
            )
    assert len(wholes) == 1


def test_the_same_rows_again_and_other_numbers_of_components() -> None:
    data = stored(counts(3, 300, 9, "whole"), None, "i", zeros=False)
    rows = Rows(data)
    kernel: Any = KERNELS["multinomial.em_step"]
    for k in (3, 40, 3, 7):
        densities = terms(k, k, 9, 0.1)
        answer = NUMBA["multinomial.em_step"](rows, densities, SOFT)
        due = kernel.reference(Points(data), densities, SOFT)
        assert kernel.contract.judged(Points(data), (densities, SOFT), due, answer) is None
        assert bits_of(answer) == bits_of(NUMBA["multinomial.em_step"](rows, densities, SOFT))


def test_rows_that_nothing_can_have_made() -> None:
    rows = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    densities = Terms(doubles([0, 0]), doubles([-1, -math.inf, -2, -math.inf]))
    step = judge("multinomial.em_step", dataset(rows, weights=[1.0, 0.0, 2.0]), densities, SOFT)
    # log p of row 0 is log(e^-1 + e^-2), of row 2 log 2; row 1 has no weight.
    due = math.log(math.exp(-1) + math.exp(-2)) + 2 * math.log(2)
    assert math.isclose(step.log_likelihood, due, rel_tol=1e-15)
    for rule in (SOFT, HARD, Rule(draws=doubles([0.5] * 3), samples=1)):
        step = judge("multinomial.em_step", dataset(rows), densities, rule)
        assert (step.log_likelihood, step.bound) == (-math.inf, -math.inf)
        assert list(step.moments.sums)[1::2] == [0.0, 0.0]
    posterior = judge("multinomial.posterior", dataset(rows), densities, False)
    assert list(posterior.labels) == [0, 0, 0]


def test_answers_outlive_the_next_call() -> None:
    data = stored(counts(1, 200, 6, "whole"), None, "i", zeros=False)
    rows, labels = Rows(data), array("i", [0] * 200)
    first = NUMBA["multinomial.moments"](rows, labels, 2)
    before = bytes(first.sums)
    NUMBA["multinomial.moments"](rows, array("i", [1] * 200), 2)
    assert bytes(first.sums) == before
