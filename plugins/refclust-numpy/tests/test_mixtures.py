"""Mixtures: every answer within the bounds of its contract, whatever chunks, threads and SciPy."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from refclust_numpy.backend import NumpyBackend
from refclust_numpy.mixtures import gaussian, multinomial
from refclust_numpy.mixtures.passes import ALONE, product
from refclust_numpy.rows import Rows
from support import NUMPY

from refclust.backends.protocol import Problem, Refusal
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset, sparse
from refclust.errors import NotFinite
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import HARD, SOFT, Rule
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.named.gaussian import gaussian_mixture

FORMS: Any = ("full", "diagonal", "spherical")


def judge(name: str, data: Dataset, *args: Any) -> Any:
    """The answer, after its contract was asked."""
    kernel: Any = KERNELS[name]
    points = Points(data)
    answer = NUMPY[name](Rows(data), *args)
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


def all_of_gaussian(data: Dataset, densities: Gaussians, seed: int) -> None:
    random = np.random.default_rng(seed)
    n, d, k = data.n, data.d, densities.k
    for full in (False, True):
        judge("gaussian.posterior", data, densities, full)
    moved = random.standard_normal((k, d)) + np.array(densities.means.rows())
    around = CentreMatrix.of(moved.tolist())
    for rule in rules(random, n, k):
        judge("gaussian.em_step", data, densities, rule, None)
    judge("gaussian.em_step", data, densities, SOFT, around)
    judge("gaussian.em_step", data, densities)
    for spread in ("full", "diagonal"):
        labels = array("i", random.integers(-1, k, n).tolist())
        judge("gaussian.moments", data, labels, k, around, spread)
        judge("gaussian.moments", data, doubles(random.random((n, k))), k, around, spread)


def normal(
    seed: int, n: int, d: int, k: int, form: Any, offset: float = 0.0, tight: float = 1.0
) -> tuple[Any, Gaussians]:
    """Rows about an offset, and densities some of which are alike."""
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n, d)) + offset
    means = rows[random.integers(0, n, k)] + 0.5 * random.standard_normal((k, d))
    size = {"full": (k, d, d), "diagonal": (k, d), "spherical": (k,)}[form]
    whitening = random.uniform(0.2, 1.5, size) * tight
    if form == "full":
        whitening = np.tril(whitening)
    offsets = random.standard_normal(k)
    if k > 2:
        means[2], whitening[2], offsets[2] = means[0], whitening[0], offsets[0]
    centres = CentreMatrix.of(means.tolist())
    return rows, Gaussians(doubles(offsets), centres, doubles(whitening), form)


@pytest.mark.spec("KER-POSTERIOR", "KER-MOMENTS", "KER-EMSTEP")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("offset", "tight"), [(0.0, 1.0), (1e9, 1.0), (1e3, 300.0), (0.0, 1e4)])
def test_normal_densities(form: Any, offset: float, tight: float) -> None:
    for seed, (n, d, k) in enumerate([(40, 3, 4), (1, 1, 1), (2, 5, 3), (30, 1, 2)]):
        rows, densities = normal(seed, n, d, k, form, offset, tight)
        all_of_gaussian(dataset(rows), densities, seed)


@pytest.mark.parametrize("form", FORMS)
def test_weights_singles_and_shares_of_zero(form: Any) -> None:
    rows, densities = normal(5, 50, 4, 3, form)
    weights = np.random.default_rng(5).integers(0, 3, 50) / 2
    all_of_gaussian(dataset(rows.astype(np.float32), weights=weights.tolist()), densities, 5)
    for offsets in ([-math.inf, 0.0, 1.0], [-math.inf] * 3):
        some = Gaussians(doubles(offsets), densities.means, densities.whitening, form)
        all_of_gaussian(dataset(rows, weights=weights.tolist()), some, 6)


@pytest.mark.parametrize("form", FORMS)
def test_many_columns_and_sizes_around_chunks(monkeypatch: pytest.MonkeyPatch, form: Any) -> None:
    for seed, (n, d, k) in enumerate([(65, 64, 2), (67, 70, 2)]):
        rows, densities = normal(seed, n, d, k, form)
        judge("gaussian.em_step", dataset(rows), densities, SOFT, None)
    monkeypatch.setattr(gaussian, "_MOST", 128)
    for n in (127, 128, 129, 257):
        rows, densities = normal(n, n, 2, 2, form)
        judge("gaussian.em_step", dataset(rows), densities, HARD, None)


def test_far_away_is_no_nan() -> None:
    rows = np.array([[1.7e308, -1.7e308], [0.0, 0.0]])
    means = CentreMatrix.of([(-1.7e308, 1.7e308), (0.0, 0.0)])
    densities = Gaussians(doubles([0, 0]), means, doubles([1, 0, 1, 1] * 2), "full")
    posterior = NUMPY["gaussian.posterior"](Rows(dataset(rows)), densities, True)
    # Row 0 is infinitely far from both, row 1 is the second mean: exp 0 = 1.
    assert list(posterior.log_likelihoods) == [-math.inf, 0.0]
    assert list(posterior.joint) == [-math.inf, -math.inf, -math.inf, 0.0]


def test_sparse_rows_are_refused() -> None:
    backend = NumpyBackend()
    for kernel in ("posterior", "moments", "em_step"):
        refusal = backend.supports(f"gaussian.{kernel}", Problem("sparse", 10, 10, 2))
        assert refusal == Refusal("normal densities need dense rows")
        assert not isinstance(
            backend.supports(f"multinomial.{kernel}", Problem("sparse", 10, 10, 2)), Refusal
        )


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


def all_of_multinomial(data: Dataset, densities: Terms, seed: int) -> None:
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
@pytest.mark.parametrize("way", ["dense", "scipy", "none"])
@pytest.mark.parametrize("kind", ["whole", "fractions", "signs", "long"])
def test_counts(monkeypatch: pytest.MonkeyPatch, way: str, kind: str) -> None:
    if way == "scipy":
        csr = pytest.importorskip("scipy.sparse").csr_array
        monkeypatch.setattr(multinomial, "csr_kind", lambda *_: csr)
    monkeypatch.setattr(multinomial, "_NUMBERS", 60)  # several chunks
    monkeypatch.setattr(multinomial, "_GATHERED", 60)
    shapes = [(24, 7, 3), (1, 1, 1), (2, 3, 2), (12, 30, 5), (40, 4, 1)]
    for seed, (n, d, k) in enumerate(shapes):
        rows = counts(seed, n, d, kind)
        weights = None if seed % 2 else np.random.default_rng(seed).integers(1, 4, n) % 3 + 0.0
        if seed == 3:
            rows = rows.astype(np.float32)
        for never, certain in ((0.2 * (seed % 2), False), (0.2, True)):
            densities = terms(seed, k, d, never, certain)
            if way == "dense":
                data = dataset(rows, weights=None if weights is None else weights.tolist())
            else:
                data = stored(rows, weights, "iq"[seed % 2], zeros=certain)
            all_of_multinomial(data, densities, seed)


def test_rows_that_nothing_can_have_made() -> None:
    data = dataset([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], weights=[1.0, 0.0, 2.0])
    densities = Terms(doubles([0, 0]), doubles([-1, -math.inf, -2, -math.inf]))
    step = judge("multinomial.em_step", data, densities, SOFT)
    # log p of row 0 is log(e^-1 + e^-2), of row 2 log 2; row 1 has no weight.
    due = math.log(math.exp(-1) + math.exp(-2)) + 2 * math.log(2)
    assert math.isclose(step.log_likelihood, due, rel_tol=1e-15)
    same = dataset([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    step = judge("multinomial.em_step", same, densities, SOFT)
    assert (step.log_likelihood, step.bound) == (-math.inf, -math.inf)
    assert list(step.moments.sums)[1::2] == [0.0, 0.0]
    assert list(judge("multinomial.posterior", same, densities, False).labels) == [0, 0, 0]


def test_products_in_tiles_are_products() -> None:
    random = np.random.default_rng(4)
    for p, r, c in [(1, 70, 90), (90, 1, 3), (130, 130, 65), (3, 5000, 40), (70, 300, 1)]:
        a, b = random.integers(-9, 9, (p, r)) + 0.0, random.integers(-9, 9, (r, c)) + 0.0
        assert (product(a, b) == a @ b).all()  # sums of whole numbers far below 2**53
    low = np.tril(random.integers(-9, 9, (150, 150))) + 0.0
    b = random.integers(-9, 9, (150, 64)) + 0.0
    assert low.size * 64 > ALONE
    assert (product(low, b, lower=True) == low @ b).all()


def digest() -> str:
    """All that large problems of several shapes tell, as one digest."""
    content = hashlib.sha256()
    for d, form in ((2, "full"), (33, "full"), (70, "full"), (9, "diagonal")):
        rows, densities = normal(1, 3000, d, 3, form)
        step = NUMPY["gaussian.em_step"](Rows(dataset(rows)), densities, SOFT, None)
        content.update(repr((step.log_likelihood, step.entropy)).encode())
        content.update(bytes(step.moments.firsts) + bytes(step.moments.seconds))
    for k in (1, 20):
        rows = counts(2, 3000, 300, "fractions")
        step = NUMPY["multinomial.em_step"](Rows(dataset(rows)), terms(3, k, 300), SOFT)
        content.update(repr(step.log_likelihood).encode() + bytes(step.moments.sums))
    return content.hexdigest()


@pytest.mark.spec("KER-EMSTEP")
def test_no_bit_depends_on_the_number_of_threads() -> None:
    code = "from test_mixtures import digest; print(digest())"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OPENBLAS_NUM_THREADS": count, "OMP_NUM_THREADS": count},
            cwd=os.path.dirname(__file__),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for count in ("1", "3")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("weight", [1e-320, 1e-160, 1e156, 1e300])
def test_weights_of_any_size_give_the_same_mixture(weight: float) -> None:
    rows = [[0.0], [1.0], [2.0], [9.0], [10.0], [12.0]]
    options: Any = {"seed": 1, "limit": 3, "tolerance": None, "backend": "numpy"}
    unit = gaussian_mixture(rows, 2, weights=[1.0] * 6, **options)
    scaled = gaussian_mixture(rows, 2, weights=[weight] * 6, **options)
    # Weights that are no power of two are rounded in every product: n + 8 units, in all sums.
    for name in ("means", "spreads"):
        pairs = zip(getattr(unit.parameters, name), getattr(scaled.parameters, name), strict=True)
        for a, b in pairs:
            assert b == pytest.approx(a, rel=2.0**-45)


def test_a_far_component_has_its_own_variance() -> None:
    """Row 2 has a share of exp(-31) beside row 3, whose logarithms err by 450 u (KER-POSTERIOR)."""
    start = GaussianParameters((0.5, 0.5), ((0.0,), (31.0,)), ((1.0,), (1.0,)), "full")
    rows = [[0.0], [1.0], [2.0], [3.0]]
    fit = gaussian_mixture(rows, parameters=start, limit=1, tolerance=None, backend="numpy")
    share = math.exp(-31.0)
    due = share / (1.0 + share) ** 2
    assert fit.parameters.spreads[1][0] == pytest.approx(
        due, rel=4 * 11 * 450.5 * 2.0**-53 + 2.0**-45
    )


@pytest.mark.parametrize("unit", [1e308, 1e200, 1e-200, 1e-310])
def test_columns_out_of_range_are_refused_in_the_words_of_the_reference(unit: float) -> None:
    # Of both signs: then differences overflow both ways.
    rows = [[i / 12 * unit, 1.0 * i] for i in (0, 1, -12, 9, 10, 12)]
    messages = []
    for backend in ("reference", "numpy"):
        with pytest.raises(NotFinite) as caught:
            gaussian_mixture(rows, 2, backend=backend)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith("the standard deviation of column 0 is ")
