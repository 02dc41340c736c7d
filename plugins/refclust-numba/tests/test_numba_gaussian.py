"""Gaussian mixtures: every answer within the contract's bounds, the same with any threads."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit, types
from refclust_numba.backend import NumbaBackend
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import generated
from refclust_numba.lowlevel.elementary import LEAST, Emit
from refclust_numba.lowlevel.threads import limited
from refclust_numba.mixtures.gaussian.rows import MANY
from refclust_numba.mixtures.sizes import BLOCK, TINY, sized
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.backends.protocol import Estimate, Problem, Refusal
from refclust.data.dataset import Dataset, dense, sparse
from refclust.errors import NotFinite
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Form, Gaussians
from refclust.kernels.mixtures.shared import HARD, SOFT, Rule
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.named.gaussian import gaussian_mixture

FORMS: tuple[Form, ...] = ("full", "diagonal", "spherical")
NAMES = ("gaussian.posterior", "gaussian.moments", "gaussian.em_step")


def table(values: Any, kind: str = "d", weights: Any = None) -> Dataset:
    values = np.asarray(values, float)
    flat = array(kind, values.ravel().tolist())
    if weights is None:
        return dense(flat, values.shape[1])
    weight_view = memoryview(array("d", np.asarray(weights, float).tolist())).toreadonly()
    return dense(flat, values.shape[1], weights=weight_view)


def densities(
    rng: Any, form: Form, means: Any, scale: float = 1.0, offsets: Sequence[float] | None = None
) -> Gaussians:
    k, d = means.shape
    if form == "full":
        whitening = np.tril(rng.normal(size=(k, d, d)) + 2 * np.eye(d))
    else:
        whitening = 0.2 + rng.random((k, d if form == "diagonal" else 1))
    return Gaussians(
        array("d", rng.normal(size=k).tolist() if offsets is None else offsets),
        CentreMatrix.of(means.tolist()),
        array("d", (scale * whitening).ravel().tolist()),
        form,
    )


def right(name: str, data: Dataset, *args: Any) -> Any:
    """The answer of the backend, which must be within the bounds around the reference's."""
    kernel, points = KERNELS[name], Points(data)
    contract: Any = kernel.contract
    answer = FUNCTIONS[name](Rows(data), *args)
    assert contract.malformed(answer) is None
    due = kernel.reference(points, *args)
    assert contract.fault(due, answer) is None
    assert contract.judged(points, args, due, answer) is None
    return answer


def rules(rng: Any, n: int, k: int) -> list[Rule]:
    draws = array("d", rng.random(3 * n).tolist())
    return [SOFT, HARD, Rule(top=2), Rule(top=k + 1), Rule(draws=draws, samples=3)]


def all_kernels(rng: Any, data: Dataset, normals: Gaussians, around: CentreMatrix) -> None:
    n, k = data.n, normals.k
    for rule in rules(rng, n, k):
        right("gaussian.em_step", data, normals, rule, None)
    right("gaussian.em_step", data, normals, SOFT, around)
    right("gaussian.posterior", data, normals, True)
    right("gaussian.posterior", data, normals, False)
    for q in (
        array("i", rng.integers(-1, k, n).tolist()),
        array("d", rng.random(n * k).tolist()),
    ):
        right("gaussian.moments", data, q, k, around, normals.spread)


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP", "KER-MOMENTS")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(1, 1, 1), (2, 3, 4), (BLOCK - 1, 2, 3), (BLOCK, 4, 1), (BLOCK + 1, 1, 2), (2 * BLOCK, 5, 2)],
)
def test_sizes_around_a_block(n: int, d: int, k: int, form: Form) -> None:
    rng = np.random.default_rng(n + d)
    values = rng.normal(size=(n, d))
    data = table(values, weights=np.arange(n) % 3 + (n == 1))
    normals = densities(rng, form, rng.normal(size=(k, d)))
    all_kernels(rng, data, normals, CentreMatrix.of(rng.normal(size=(k, d)).tolist()))


@pytest.mark.spec("KER-EMSTEP", "KER-MOMENTS")
@pytest.mark.parametrize("d", [8, MANY - 1, MANY, MANY + 3])
@pytest.mark.parametrize("kind", ["d", "f"])
def test_few_and_many_columns(d: int, kind: str) -> None:
    rng = np.random.default_rng(d)
    values = rng.normal(size=(70, d))
    normals = densities(rng, "full", rng.normal(size=(3, d)), 0.5)
    for weights in (None, rng.random(70) * (rng.random(70) < 0.7)):
        data = table(values, kind, weights)
        right("gaussian.em_step", data, normals)
        right("gaussian.em_step", data, normals, HARD)
    right("gaussian.posterior", data, normals, True)
    labels = array("i", rng.integers(-1, 3, 70).tolist())
    right("gaussian.moments", data, labels, 3, normals.means, "full")
    right("gaussian.moments", data, labels, 3, normals.means, "diagonal")


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("far", [1.0, 1e2, 1e4])
def test_an_offset_of_the_data_and_far_components(form: Form, far: float) -> None:
    # Whitened distances up to 2e4 make log p(x, k) as small as -2e8.
    rng = np.random.default_rng(3)
    values = rng.normal(size=(60, 3)) + 1e9
    means = values[:4] + np.array([[0.0], [0.0], [1.0], [far]])
    all_kernels(rng, table(values), densities(rng, form, means), CentreMatrix.of(means.tolist()))


@pytest.mark.spec("KER-EMSTEP", "CEM-ASSIGN")
@pytest.mark.parametrize("form", FORMS)
def test_equal_components_and_duplicated_rows(form: Form) -> None:
    rng = np.random.default_rng(4)
    values = np.repeat(rng.integers(-1, 2, size=(9, 2)), 8, axis=0)
    component = densities(rng, form, values[:1].astype(float), offsets=[-1.0])
    offsets, whitening = (
        array("d", 3 * part.tolist()) for part in (component.offsets, component.whitening)
    )
    same = Gaussians(offsets, CentreMatrix.of(list(component.means) * 3), whitening, form)
    all_kernels(rng, table(values), same, same.means)
    answer = FUNCTIONS["gaussian.em_step"](Rows(table(values)), same, HARD)
    assert answer.moments.counts.tolist() == [72.0, 0.0, 0.0]
    assert FUNCTIONS["gaussian.posterior"](Rows(table(values)), same, False).labels.max() == 0


@pytest.mark.spec("KER-EMSTEP")
@pytest.mark.parametrize("form", FORMS)
def test_rows_that_no_component_can_have_made(form: Form) -> None:
    rng = np.random.default_rng(5)
    none = -math.inf
    weights = [1.0, 0.0, 2.0]
    for offsets in ([none, none], [none, 0.0]):
        normals = densities(rng, form, np.zeros((2, 2)), offsets=offsets)
        for rule in rules(rng, 3, 2):
            answer = right("gaussian.em_step", table(rng.normal(size=(3, 2))), normals, rule)
            assert (answer.log_likelihood == none) is (offsets[1] == none)
    # The row of infinite distance has weight 0, so it counts for nothing.
    values = [[0.0, 0.0], [1e200, 0.0], [1.0, 1.0]]
    normals = densities(rng, form, np.zeros((2, 2)))
    assert math.isfinite(right("gaussian.em_step", table(values, "d", weights), normals).bound)
    unweighted = right("gaussian.em_step", table(values), normals)
    assert unweighted.log_likelihood == none
    assert right("gaussian.posterior", table(values), normals, True).log_likelihoods[1] == none


@pytest.mark.spec("KER-EMSTEP")
def test_what_overflows_is_left_to_the_reference() -> None:
    rng = np.random.default_rng(6)
    normals = densities(rng, "full", np.zeros((1, 2)), 1e-300)
    data = table(rng.random((5, 2)) * 1e300)  # all squares are +inf
    for run in (KERNELS["gaussian.em_step"].reference, FUNCTIONS["gaussian.em_step"]):
        seen = Points(data) if run is KERNELS["gaussian.em_step"].reference else Rows(data)
        assert math.inf in run(seen, normals).moments.seconds.tolist()


@pytest.mark.spec("KER-EMSTEP")
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_small_problem(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40), "n")
    d, k = data.draw(st.integers(1, 6), "d"), data.draw(st.integers(1, 6), "k")
    form = data.draw(st.sampled_from(FORMS), "form")
    numbers = st.one_of(st.integers(-2, 2).map(float), st.floats(-9, 9, allow_subnormal=False))
    values = data.draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n))
    weights = data.draw(
        st.none() | st.lists(st.sampled_from((0.0, 0.3, 1.0, 1e3)), min_size=n, max_size=n)
    )
    if weights is not None and not any(weights):
        weights[0] = 1.0
    rng = np.random.default_rng(data.draw(st.integers(0, 999), "seed"))
    scale = data.draw(st.sampled_from((1e-3, 1.0, 30.0, 1e4)), "scale")
    shift = data.draw(st.sampled_from((0.0, 0.1, 1e6)), "shift")
    means = np.array(values)[rng.integers(0, n, k)] + shift
    normals = densities(rng, form, means + shift * rng.integers(0, 2, (k, d)), scale)
    rule = rules(rng, n, k)[data.draw(st.integers(0, 4), "rule")]
    right("gaussian.em_step", table(np.array(values) + shift, "d", weights), normals, rule)


def bits_of(answer: Any) -> list[Any]:
    """All numbers of an answer, bit by bit."""
    parts = getattr(answer, "moments", answer)
    names = ("counts", "firsts", "seconds", "labels", "log_likelihoods", "joint")
    buffers = [memoryview(getattr(parts, name)).tobytes() for name in names if hasattr(parts, name)]
    sums = ("log_likelihood", "bound", "entropy")
    return buffers + [getattr(answer, name).hex() for name in sums if hasattr(answer, name)]


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP", "KER-MOMENTS")
@pytest.mark.parametrize(("form", "d"), [("full", 3), ("full", MANY), ("diagonal", 5)])
def test_threads_change_no_bit(form: Form, d: int) -> None:
    rng = np.random.default_rng(8)
    n, k = 9000, 3
    rows = Rows(table(rng.normal(size=(n, d)), weights=rng.random(n)))
    normals = densities(rng, form, rng.normal(size=(k, d)))
    q = array("d", rng.random(n * k).tolist())
    for name, args in (
        *(("gaussian.em_step", (normals, rule)) for rule in rules(rng, n, k)),
        ("gaussian.posterior", (normals, True)),
        ("gaussian.moments", (q, k, normals.means, normals.spread)),
    ):
        answers = []
        for number in (1, 2, 3):
            with limited(number):
                answers.append(bits_of(FUNCTIONS[name](rows, *args)))
        assert answers[0] == answers[1] == answers[2]


def test_sparse_rows_are_refused_and_left_to_the_reference() -> None:
    backend = NumbaBackend()
    for name in NAMES:
        assert isinstance(backend.supports(name, Problem("sparse", 10, 20, 2)), Refusal)
        assert isinstance(backend.supports(name, Problem("dense", 10, 20, 2)), Estimate)
    rng = np.random.default_rng(9)
    data = sparse(array("q", [0, 1, 2]), array("q", [1, 0]), array("d", [2.0, -1.0]), 2)
    normals = densities(rng, "full", np.zeros((2, 2)))
    right("gaussian.em_step", data, normals)
    right("gaussian.posterior", data, normals, True)
    right("gaussian.moments", data, array("i", [0, 1]), 2, normals.means, "full")


def of_vectors(name: str, values: Any) -> Any:
    """What an elementary function makes of numbers, a vector at a time."""

    @generated
    def take_vector(typingctx: Any, source: Any, target: Any, place: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            emit = Emit(context, builder, signature, args)
            source, target = emit.memories(0, 1)
            emit.store(getattr(emit, name)(emit.load(source, args[2])), target, args[2])
            return emit.none()

        return types.none(source, target, types.intp), generate

    @njit
    def run(source, target):  # type: ignore[no-untyped-def]
        for i in range(0, len(source), DOUBLES):
            take_vector(source, target, i)

    answers = np.empty_like(values)
    run(values, answers)
    return answers


def test_exponentials_and_logarithms_err_by_a_few_units() -> None:
    rng = np.random.default_rng(10)
    unit = 2.0**-53
    below = np.concatenate((LEAST * rng.random(800), -rng.random(792), [0.0, LEAST], [-1e-300] * 6))
    due = np.array([math.exp(x) for x in below.tolist()])
    # Ours errs by 2 units, that of the library by 2: it is within one in the last place.
    assert (np.abs(of_vectors("exp", below) - due) <= 4 * unit * due).all()
    above = np.concatenate(
        (1 + 9 * rng.random(800), 1 + 0.5 ** rng.integers(1, 53, 792), [1.0, 2.0, 1e300, 1.5] * 2)
    )
    due = np.array([math.log(x) for x in above.tolist()])
    most = 6 * unit * np.maximum(due, math.log(2))
    assert (np.abs(of_vectors("log", above) - due) <= most).all()


@pytest.mark.parametrize("weight", [1e-320, 1e-160, 1e156, 1e300])
def test_weights_of_any_size_give_the_same_mixture(weight: float) -> None:
    rows = [[0.0], [1.0], [2.0], [9.0], [10.0], [12.0]]
    options: Any = {"seed": 1, "limit": 3, "tolerance": None, "backend": "numba"}
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
    fit = gaussian_mixture(rows, parameters=start, limit=1, tolerance=None, backend="numba")
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
    for backend in ("reference", "numba"):
        with pytest.raises(NotFinite) as caught:
            gaussian_mixture(rows, 2, backend=backend)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith("the standard deviation of column 0 is ")


def test_logarithms_of_any_number_and_of_the_rest_to_one() -> None:
    rng = np.random.default_rng(11)
    unit = 2.0**-53
    near = 1.0 + rng.integers(-9, 10, 800) * unit * 2.0 ** rng.integers(1, 50, 800)
    wide = np.ldexp(0.5 + rng.random(784) / 2, rng.integers(-1060, 1024, 784))
    special = [5e-324, 2.0**-1022, math.nextafter(2.0**-1022, 0), math.sqrt(0.5), 1.0, 2.0, 3e-310]
    values = np.concatenate((near, wide, special, [math.nextafter(math.sqrt(0.5), 0)] * 9))
    values = np.abs(values[: len(values) // 8 * 8])
    due = np.array([math.log(x) for x in values.tolist()])
    # Ours errs by 5 units of itself, that of the library by 2.
    assert (np.abs(of_vectors("log_of_any", values) - due) <= 7 * unit * np.abs(due)).all()
    odd = of_vectors("log_of_any", np.array([0.0, math.inf, -1.0, 1.0, -0.0, 1.0, 1.0, 1.0]))
    assert odd[[0, 1, 3, 4]].tolist() == [-math.inf, math.inf, 0.0, -math.inf]
    assert math.isnan(odd[2])
    edges = [0.0, 0.5, 1 - math.sqrt(0.5), math.nextafter(0.5, 0), 1 - 2.0**-53, 2.0**-54, 1e-300]
    rest = np.concatenate((rng.random(800), 2.0 ** -rng.integers(1, 80, 793), edges))
    due = np.array([math.log1p(-x) for x in rest.tolist()])
    assert (np.abs(of_vectors("log_of_rest", rest) - due) <= 10 * unit * np.abs(due)).all()


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP", "KER-MOMENTS")
@pytest.mark.parametrize(("form", "d"), [("full", 3), ("full", MANY + 1), ("diagonal", 5)])
def test_small_batches_and_chunks(form: Form, d: int) -> None:
    rng = np.random.default_rng(12)
    n, k = 3 * BLOCK + 5, 2
    data = table(rng.normal(size=(n, d)), weights=rng.random(n))
    with sized(TINY):
        normals = densities(rng, form, rng.normal(size=(k, d)))
        all_kernels(rng, data, normals, CentreMatrix.of(rng.normal(size=(k, d)).tolist()))
