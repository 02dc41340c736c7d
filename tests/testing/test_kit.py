"""The conformance kit: whom it passes, what it reports, and what it asks of a backend."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy
import pytest

from refclust.backends.builtin import Loopback, Reference
from refclust.backends.protocol import API_VERSION, Estimate, Problem, Refusal
from refclust.data.dataset import dense, readonly
from refclust.kernels import contingency
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters import kmeans, means, seeding
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.mixtures import gaussian, multinomial
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import Rule
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.testing.checks import claims
from refclust.testing.diagnosis.rows import diagnose
from refclust.testing.kit import BACKEND, Check, checks, conform, optional, threads_of
from refclust.testing.ladder import ladder
from refclust.testing.scripts.layouts import ForeignSums, copied, fingerprint
from refclust.testing.scripts.lockstep import Made, Raised, script

pytestmark = pytest.mark.long  # by `pytest -m long`

# Many calls of the plain reference: only the profile «deep» tries these.
LONG = (
    *("mixture-sizes", "memory", "triples-of-factors", "rows-beyond-2^16", "rows-beyond-2^17"),
    *("clusters-of-2^16", "numbers-of-columns", "numbers-of-rows", "numbers-of-clusters"),
    *("pairs-of-mixtures-all", "mixtures-beyond-2^14"),
)
DEEP = os.environ.get("REFCLUST_TEST_PROFILE") == "deep"
ALL = tuple(check for check in checks() if DEEP or check.name not in LONG)


class Small:
    """A backend of a few functions."""

    name = "small"
    api_version: Any = API_VERSION
    accuracy: Any = "exact"

    def __init__(self, **functions: Callable[..., Any]) -> None:
        self.functions: Any = {name.replace("__", "."): f for name, f in functions.items()}

    def kernels(self) -> Any:
        return self.functions

    def supports(self, kernel: str, problem: Problem) -> Any:  # noqa: ARG002
        return Estimate(0.0)

    def prepare(self, data: Any) -> Any:
        return Reference().prepare(data)

    def export(self, value: Any) -> Any:
        return value


def first_fault(backend: Any, **options: Any) -> str:
    report = conform(backend, quick=True, stop=True, **options)
    assert not report.ok
    fault = report.faults[0].fault
    assert fault is not None
    return fault


@pytest.mark.spec("BK-KIT")
@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_the_loopback_passes_every_check(check: Check) -> None:
    outcomes = check.run(Loopback())
    assert [one for one in outcomes if one.fault is not None] == []
    if optional(check.name, Loopback()):
        assert outcomes == []
    else:
        assert {one.kernel for one in outcomes} == (check.kernels or {BACKEND})
        assert all(one.calls for one in outcomes)


@pytest.mark.spec("BK-KIT")
def test_the_reference_passes_and_every_kernel_is_tried() -> None:
    report = conform(Reference(), quick=True)
    assert report.ok
    assert report.faults == ()
    assert report.kernels == tuple(sorted(KERNELS))
    assert report.absent == ()
    assert (report.backend, report.quick) == ("reference", True)
    assert {one.check for one in report.outcomes} | {"threads"} == set(report.checks)


def test_every_kernel_is_tried_on_the_whole_ladder() -> None:
    tried = {kernel for rung in ladder() for call in script(rung).calls for kernel in [call.kernel]}
    assert tried == set(KERNELS)
    codes = {call.due.code for rung in ladder() for call in script(rung).calls
             if isinstance(call.due, Raised)}  # fmt: skip
    assert codes == {"bad-option", "zero-vector", "not-finite"}


def test_some_kernels_only() -> None:
    heard: list[str] = []
    report = conform(Loopback(), quick=True, only=("contingency.table",), tell=heard.append)
    assert report.ok
    assert report.kernels == ("contingency.table",)
    assert set(report.absent) == set(KERNELS) - {"contingency.table"}
    assert tuple(heard) == report.checks


def test_a_backend_that_is_never_called_does_not_pass() -> None:
    assert not conform(Small(), quick=True).ok
    assert not conform(Small(no__kernel=print), quick=True).ok


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": ""}, "its name is ''"),
        ({"name": 3}, "its name is 3"),
        ({"api_version": 99}, f"it speaks version 99 of the protocol, not {API_VERSION}"),
        ({"accuracy": "good"}, "its accuracy is 'good'"),
        ({"functions": [1]}, "kernels() is a list, not a mapping"),
        ({"functions": {"kmeans.assign": 3}}, "'kmeans.assign' is a int and cannot be called"),
        ({"functions": {}}, "it offers none of the kernels"),
        ({"kernels": lambda: 1 / 0}, "ZeroDivisionError"),
        ({"supports": lambda *_: None}, "supports returned a NoneType"),
        ({"supports": lambda *_: Estimate(-1.0)}, "supports expects -1.0 seconds"),
        ({"supports": lambda *_: Estimate(math.nan)}, "supports expects nan seconds"),
        ({"supports": lambda *_: 1 / 0}, "supports raised ZeroDivisionError"),
        ({"export": lambda _: None}, "malformed: a NoneType instead of a dict"),
    ],
)
def test_the_protocol(change: dict[str, Any], told: str) -> None:
    backend = Small(contingency__table=contingency.table)
    for member, value in change.items():
        setattr(backend, member, value)
    assert told in first_fault(backend)


def test_what_is_no_backend_at_all() -> None:
    assert first_fault(object()) == "it has no name"


def test_kernels_that_come_and_go() -> None:
    names = iter("abcdefgh")
    backend = Small(contingency__table=contingency.table)
    backend.kernels = lambda: {**backend.functions, next(names): print}  # type: ignore[method-assign]
    assert first_fault(backend) == "kernels() gives other kernels when asked again"


def test_buffers_of_an_array_library_are_fine() -> None:
    def assign(*args: Any) -> Any:
        return numpy.array(kmeans.assign(*args), dtype=numpy.int32)

    def mean(*args: Any) -> Any:
        return numpy.array(means.means(*args))

    assert conform(Small(kmeans__assign=assign, kmeans__means=mean), quick=True).ok
    wide = Small(kmeans__assign=lambda *args: numpy.array(kmeans.assign(*args), dtype=numpy.int64))
    assert "format 'l'" in first_fault(wide)
    leak = Small(seeding__farthest=lambda *args: numpy.int64(seeding.farthest(*args)))
    assert "format 'l', 0-dimensional" in first_fault(leak)


def test_sums_of_its_own_shape_are_fine() -> None:
    """A backend may keep sums as it likes, as long as it opens them itself or asks for exact()."""

    class Own:
        def __init__(self, sums: ClusterSums) -> None:
            self.inside, self.weights, self.weight_shift = sums, sums.weights, sums.weight_shift

        def exact(self) -> ClusterSums:
            return self.inside

    def step(points: Points, centres: Any, before: Any, metric: str) -> LloydStep:
        right = kmeans.lloyd_step(points, centres, before, metric)
        return replace(right, sums=Own(right.sums.exact()))

    assert conform(Small(kmeans__lloyd_step=step, kmeans__means=means.means), quick=True).ok

    def peeking(points: Points, sums: Any) -> array[float]:
        return means.means(
            points, ClusterSums(sums.weights, sums.weight_shift, sums.sums, sums.shift)
        )

    assert "AttributeError" in first_fault(Small(kmeans__means=peeking))


def test_threads_are_told_in_two_ways() -> None:
    heard: list[int] = []

    class Managed(Small):
        @contextmanager
        def threads(self, number: int) -> Iterator[None]:
            heard.append(number)
            yield
            heard.append(-number)

    class Told(Small):
        def set_threads(self, number: int) -> int:
            heard.append(number)
            return 7

    assert threads_of(Small()) is None
    assert conform(Managed(contingency__table=contingency.table), quick=True).ok
    assert heard == [1, -1, 2, -2, 3, -3, 8, -8] * (len(heard) // 8)
    assert heard
    heard.clear()
    assert conform(Told(contingency__table=contingency.table), quick=True).ok
    assert heard == [1, 7, 2, 7, 3, 7, 8, 7] * (len(heard) // 8)
    assert heard


def test_after_data_were_overwritten_others_are_not_blamed() -> None:
    def writing(points: Points, labels: Any, k: int) -> Any:
        right = kmeans.squares(points, labels, k)
        _reversed_in_place(points)
        return right

    backend = Small(kmeans__squares=writing, kmeans__assign=kmeans.assign)
    report = conform(backend, quick=True)
    assert {one.kernel for one in report.faults} == {"kmeans.squares"}
    assert conform(Loopback(), quick=True, only=("kmeans.squares",)).ok


def test_buffers_of_an_array_library_are_fine_in_mixtures() -> None:
    def changed(value: Any) -> Any:
        if isinstance(value, array):
            return numpy.array(value, dtype={"i": numpy.int32, "d": numpy.float64}[value.typecode])
        return value

    def posterior(*args: Any) -> Any:
        right = gaussian.posterior(*args)
        return replace(right, labels=changed(right.labels), joint=changed(right.joint))

    def step(*args: Any) -> Any:
        right = multinomial.em_step(*args)
        sums = replace(right.moments, sums=changed(right.moments.sums))
        return replace(right, moments=sums)

    small = Small(gaussian__posterior=posterior, multinomial__em_step=step)
    assert conform(small, quick=True).ok

    def leaking(*args: Any) -> Any:
        right = multinomial.em_step(*args)
        return replace(right, entropy=numpy.float64(right.entropy))

    assert "a float64, instead of a float" in first_fault(Small(multinomial__em_step=leaking))


@pytest.mark.spec("BK-KIT")
def test_a_kind_of_problem_may_be_left_to_the_reference() -> None:
    def supports(kernel: str, problem: Problem) -> Any:  # noqa: ARG001
        return Refusal("dense rows only") if problem.kind == "sparse" else Estimate(1.0)

    sparse = next(check for check in ALL if check.name == "gaussian-sparse")
    small = Small(gaussian__moments=gaussian.moments, multinomial__moments=multinomial.moments)
    assert [one.calls > 0 for one in sparse.run(small)] == [True]
    small.supports = supports  # type: ignore[method-assign]
    [outcome] = sparse.run(small)
    assert (outcome.calls, outcome.fault) == (0, None)
    assert outcome.declined == (
        "sparse, full: dense rows only",
        "sparse, diagonal: dense rows only",
    )
    report = conform(small, quick=True)
    assert report.ok
    assert "sparse: dense rows only" in report.declined["multinomial.moments"]


def test_problems_must_not_be_too_small() -> None:
    """The kit would never see what runs on large data."""

    def supports(kernel: str, problem: Problem) -> Any:  # noqa: ARG001
        return Refusal("too few rows") if problem.n < 10**6 else Estimate(1.0)

    small = Small(kmeans__squares=kmeans.squares)
    small.supports = supports  # type: ignore[method-assign]
    assert "it declined: too few rows; but such a problem of more rows it takes" in first_fault(
        small
    )


def test_a_kernel_that_declines_everything_is_a_fault() -> None:
    def supports(kernel: str, problem: Problem) -> Any:  # noqa: ARG001
        return Refusal("never") if kernel == "kmeans.squares" else Estimate(1.0)

    small = Small(kmeans__squares=kmeans.squares, kmeans__means=means.means)
    small.supports = supports  # type: ignore[method-assign]
    report = conform(small, quick=True)
    assert not report.ok
    [outcome] = report.faults
    assert str(outcome.fault).startswith("it declined every problem: dense, weights: never")


@pytest.mark.parametrize("name", ["gaussian-weights", "counts-fractions"])
def test_arguments_of_mixtures_come_in_two_guises(name: str) -> None:
    """Copies that may be written to first, then buffers that may not, and centres as tuples."""
    seen: list[Any] = []

    def noting(*args: Any) -> Any:
        seen.append(args)
        return (gaussian if name.startswith("gaussian") else multinomial).em_step(*args)

    small = Small(gaussian__em_step=noting, multinomial__em_step=noting)
    check = next(check for check in ALL if check.name == name)
    assert [one.fault for one in check.run(small)] == [None]
    half = len(seen) // 2
    for args in seen[:half]:
        assert isinstance(args[1].offsets, array)
    for args in seen[half:]:
        assert args[1].offsets.readonly
        if isinstance(args[1], Gaussians):
            assert isinstance(args[1].means, tuple)
    drawn = [args[2].draws for args in seen if args[2].draws is not None]
    assert [isinstance(one, array) for one in drawn] == [True] * 3 + [False] * 3
    rung = next(rung for rung in ladder() if rung.name == name)
    given = [call.args[0] for call in script(rung).calls if call.kernel.endswith("em_step")]
    assert all(mine[1] is not own for mine, own in zip(seen[:half], given, strict=True))


def test_the_ladder_is_as_it_was() -> None:
    rungs = [rung for rung in ladder(quick=True) if rung.kind == "rows"]
    before = [rung.data.digest() for rung in rungs]
    for saboteur in (Small(kmeans__accumulate=_spoiling), Small(kmeans__squares=_spoiling)):
        conform(saboteur, quick=True)
    assert [rung.data.digest() for rung in rungs] == before


def _reversed_in_place(points: Points) -> None:
    inside = points.data.matrix.values.obj
    assert isinstance(inside, array)
    inside.reverse()


def _spoiling(points: Points, labels: Any, k: int) -> None:  # noqa: ARG001
    _reversed_in_place(points)
    if isinstance(labels, array):
        labels[:] = array("i", [0]) * len(labels)


def test_copies_share_nothing() -> None:
    for rung in ladder():
        for data in [rung.data] if rung.kind in ("rows", "labels", "distances") else []:
            other = copied(data)
            assert fingerprint(other) == fingerprint(data)
            assert other is not data
    pairs = LabelPairs([1], [2], [3])
    assert copied(pairs).weights is not pairs.weights
    single = dense(array("f", [0.1]), 1, weights=readonly(array("d", [2.0])))
    assert copied(single).matrix.values.format == "f"
    assert copied(single).digest() == single.digest()


def test_fingerprints_see_every_change() -> None:
    sums = ClusterSums((1,), 0, ((2,),), 0)
    step = LloydStep(array("i", [0]), 1, sums)
    normal = Gaussians(array("d", [0.0]), CentreMatrix.of([(0.0,)]), array("d", [1.0]), "diagonal")
    terms = Terms(array("d", [0.0]), array("d", [-1.0]))
    values: list[tuple[Any, Any]] = [
        (array("i", [0]), array("i", [1])),
        (CentreMatrix.of([(0.0,)]), CentreMatrix.of([(1.0,)])),
        (step, replace(step, labels=array("i", [1]))),
        (step, replace(step, changed=2)),
        (step, replace(step, sums=replace(sums, weights=(2,)))),
        ((1, array("d", [0.0])), (1, array("d", [2.0]))),
        ({"a": 1}, {"a": 2}),
        (LabelPairs([1], [2]), LabelPairs([1], [3])),
        (LabelPairs([1], [2], [3]), LabelPairs([1], [2], [4])),
        (ForeignSums((1,), 0, sums), replace(sums, shift=1)),
        (Rule(), Rule(top=1)),
        (Rule(draws=array("d", [0.5]), samples=1), Rule(draws=array("d", [0.25]), samples=1)),
        (normal, replace(normal, means=CentreMatrix.of([(1.0,)]))),
        (normal, replace(normal, whitening=array("d", [3.0]))),
        (normal, replace(normal, form="full")),
        (terms, replace(terms, slopes=array("d", [-2.0]))),
        (terms, replace(terms, certain=((0,),))),
        (None, 0),
    ]
    for one, other in values:
        assert fingerprint(one) != fingerprint(other)
        assert fingerprint(one) == fingerprint(one)


def test_scripts_hold_what_the_reference_does() -> None:
    made = script(ladder()[0])
    assert made is script(ladder()[0])
    steps = [call for call in made.calls if call.kernel == "kmeans.lloyd_step"]
    assert steps[0].args[1] is None
    assert isinstance(steps[1].args[1], Made)
    assert made.due(steps[1].args[1]) is steps[0].due


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("answer", [None, 3, "x", (), {}, array("i"), array("d", [1.0])], ids=repr)
def test_a_diagnosis_never_fails(kernel: str, answer: Any) -> None:
    rung = next(r for r in ladder() if kernel in {call.kernel for call in script(r).calls})
    call = next(call for call in script(rung).calls if call.kernel == kernel)
    assert isinstance(diagnose(kernel, rung.data, call.args, call.due, answer), str)


def test_a_diagnosis_of_a_kernel_nobody_knows() -> None:
    assert diagnose("no.kernel", None, (), 1, 2) == ""


def test_a_mapping_of_kernels_need_not_be_a_dict() -> None:
    class Table(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return {"contingency.table": contingency.table}[key]

        def __iter__(self) -> Iterator[str]:
            return iter(["contingency.table"])

        def __len__(self) -> int:
            return 1

    backend = Small()
    backend.functions = Table()
    assert conform(backend, quick=True).ok


class Telling(Small):
    """A backend that tells how many rows it decided, and expects some seconds."""

    def __init__(self, counted: int, seconds: Callable[[Problem], float]) -> None:
        self.expected = seconds
        self.rows: list[tuple[Points, int]] = []

        def assign(points: Points, *args: Any) -> Any:
            self.rows.append((points, counted * points.n))
            return kmeans.assign(points, *args)

        super().__init__(kmeans__assign=assign)

    def supports(self, kernel: str, problem: Problem) -> Any:  # noqa: ARG002
        return Estimate(self.expected(problem))

    def decided(self, prepared: Any) -> dict[str, int]:
        return {"doubles": sum(rows for points, rows in self.rows if points is prepared)}


@pytest.mark.parametrize(
    ("counted", "seconds", "words"),
    [
        (1, lambda one: one.size * one.calls, None),
        (1, lambda _: math.inf, None),
        (2, lambda one: one.size * one.calls, "a pass over 60 rows counts 120"),
        (0, lambda one: one.size * one.calls, "a pass over 60 rows counts 0"),
        (1, lambda _: 0.5, None),
        (1, lambda one: one.calls / one.size, "a million times as many rows"),
        (1, lambda one: one.n / one.calls, "a million times as many calls"),
        (1, lambda one: one.n * one.calls / one.k, "a million times as many centres"),
    ],
)
def test_what_a_backend_tells_of_itself(counted: int, seconds: Any, words: str | None) -> None:
    [outcome] = claims.claims(Telling(counted, seconds))
    assert outcome.kernel == "kmeans.assign"
    assert outcome.calls > 0
    assert outcome.fault is None if words is None else words in str(outcome.fault)
