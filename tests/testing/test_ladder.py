"""The ladder: each rung is as stiff as its name says."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from refclust.data.dataset import Dense, Sparse
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.points import Points
from refclust.testing import ladder as ladders
from refclust.testing.ladder import ladder, twins
from refclust.testing.rungs import Rung
from refclust.testing.saboteurs.plain_rows import argmin, expanded, rows_of, singles
from refclust.testing.scripts.lockstep import Call, script

RUNGS = {rung.name: rung for rung in ladder()}


def exact_square(row: tuple[float, ...], centre: tuple[float, ...]) -> Fraction:
    return Fraction(sum((Fraction(x) - Fraction(c)) ** 2 for x, c in zip(row, centre, strict=True)))


def squares(rung: Rung) -> list[list[Fraction]]:
    assert rung.centres is not None
    return [[exact_square(row, c) for c in rung.centres] for row in rows_of(Points(rung.data))]


@pytest.mark.spec("BK-KIT")
def test_names_are_unique_and_quick_is_a_part() -> None:
    assert len(RUNGS) == len(ladder()) > 45
    quick = [rung.name for rung in ladder(quick=True)]
    assert set(quick) < set(RUNGS)
    assert all(rung.why for rung in ladder())
    kinds = {rung.kind for rung in ladder(quick=True)}
    assert kinds == {rung.kind for rung in ladder()} - {"mixture-calls", "all-rows"}


def test_every_start_sees_the_same_data() -> None:
    def digests() -> list[str]:
        return [rung.data.digest() for rung in ladders._first() if rung.kind == "rows"]

    before = digests()
    ladders._first.cache_clear()
    try:
        assert digests() == before
    finally:
        ladders._first.cache_clear()


def test_ties_are_exact() -> None:
    tied = [row for row in squares(RUNGS["ties"]) if row.count(min(row)) > 1]
    assert len(tied) > 10


def test_near_ties_are_beyond_doubles() -> None:
    rung = RUNGS["near-ties"]
    assert rung.centres is not None
    points = Points(rung.data)
    exact = [min((s, k) for k, s in enumerate(row))[1] for row in squares(rung)]
    assert argmin(rows_of(points), rung.centres).tolist() != exact


@pytest.mark.parametrize("offset", ["offset-1e3", "offset-1e6", "offset-1e9"])
def test_offsets_defeat_single_precision_and_expanded_squares(offset: str) -> None:
    rung = RUNGS[offset]
    call = script(rung).calls[0]
    rows, centres, due = rows_of(Points(rung.data)), call.args[0], call.due
    assert min(min(row) for row in rows) > float(offset.removeprefix("offset-")) - 10
    assert argmin(rows, centres) == due  # distances in doubles are good enough here
    assert argmin(singles(rows), singles(centres)) != due
    if offset != "offset-1e3":
        assert argmin(rows, centres, expanded) != due


def test_the_kinds_of_storage() -> None:
    assert RUNGS["single-precision"].data.matrix.values.format == "f"
    narrow = RUNGS["sparse-weights"].data.matrix
    assert isinstance(narrow, Sparse)
    assert (narrow.columns.format, narrow.starts.format, narrow.values.format) == ("i", "i", "f")
    empty = RUNGS["sparse-empty-rows"].data
    assert empty.row(0) == {} == empty.row(empty.n - 1)
    assert isinstance(RUNGS["plain"].data.matrix, Dense)


def test_weights_and_magnitudes() -> None:
    weights = list(RUNGS["weights"].data.weights)
    assert 0.0 in weights
    assert any(not w.is_integer() for w in weights)
    assert min(w for w in RUNGS["wild-weights"].data.weights if w) == 5e-324
    largest = [abs(x) for x in RUNGS["largest"].data.matrix.values]
    assert max(largest) * 2 == math.inf
    assert all(abs(x) < 2.0**-1022 for x in RUNGS["subnormal"].data.matrix.values)
    signs = {math.copysign(1.0, x) for x in RUNGS["signed-zeros"].data.matrix.values if not x}
    assert signs == {1.0, -1.0}


def test_one_row_and_equal_rows() -> None:
    assert RUNGS["one-row"].data.n == 1
    assert RUNGS["one-column"].data.d == 1
    due = {call.kernel: call.due for call in script(RUNGS["equal-rows"]).calls}
    assert due["seeding.farthest"] == -1


def test_twins_have_one_shape_and_other_labels() -> None:
    one, other = twins()
    assert (one.data.n, one.data.d) == (other.data.n, other.data.d)
    assert one.data.digest() != other.data.digest()
    assert script(one).calls[0].due != script(other).calls[0].due


def calls_of(name: str, kernel: str) -> list[Call]:
    return [call for call in script(RUNGS[name]).calls if call.kernel == kernel]


@pytest.mark.spec("BK-KIT", "KER-POSTERIOR", "KER-EMSTEP")
@pytest.mark.parametrize("name", [r.name for r in ladder() if r.kind == "gaussian" and not r.large])
def test_gaussian_rungs_try_every_form_and_rule(name: str) -> None:
    steps = calls_of(name, "gaussian.em_step")
    densities: list[Gaussians] = [call.args[0] for call in steps]
    assert {one.form for one in densities} == {"full", "diagonal", "spherical"}
    rules = {(call.args[1].top, call.args[1].samples) for call in steps}
    assert rules == {(0, 0), (1, 0), (2, 0), (0, 1), (0, 3)}
    assert any(-math.inf in one.offsets for one in densities)
    assert any(call.args[2] is not None for call in steps)
    posteriors = calls_of(name, "gaussian.posterior")
    assert {call.args[1] for call in posteriors} == {True, False}
    labels, shares = (
        [call for call in calls_of(name, "gaussian.moments") if call.args[0].typecode == code]
        for code in "id"
    )
    assert {call.args[3] for call in labels} == {call.args[3] for call in shares} == {
        "full", "diagonal",
    }  # fmt: skip
    assert -1 in labels[0].args[0]
    singular = calls_of(name, "gaussian.whitening")[-3:]
    assert all(call.due[-1] == 0.0 for call in singular)


@pytest.mark.spec("BK-KIT", "KER-POSTERIOR", "KER-EMSTEP")
def test_rungs_of_counts_try_what_is_impossible() -> None:
    rungs = [rung.name for rung in ladder() if rung.kind == "counts" and not rung.large]
    impossible = 0
    for name in rungs:
        terms: list[Terms] = [call.args[0] for call in calls_of(name, "multinomial.em_step")]
        assert any(-math.inf in one.offsets for one in terms)
        assert any(one.certain is not None for one in terms)
        rules = {(c.args[1].top, c.args[1].samples) for c in calls_of(name, "multinomial.em_step")}
        assert rules == {(0, 0), (1, 0), (2, 0), (0, 1), (0, 3)}
        posteriors = calls_of(name, "multinomial.posterior")
        impossible += sum(-math.inf in call.due.log_likelihoods for call in posteriors)
        impossible += sum(-math.inf in (call.due.joint or ()) for call in posteriors)
    assert impossible > 10
    assert any(
        -math.inf in call.args[0].slopes for call in calls_of("counts", "multinomial.posterior")
    )
    assert RUNGS["counts"].data.row(0) == {}


@pytest.mark.parametrize("size", [1e4, 1e6, 1e8])
def test_rows_far_from_every_component(size: float) -> None:
    name = f"gaussian-far-{size:.0e}".replace("+0", "")
    logs = [x for c in calls_of(name, "gaussian.posterior") for x in c.due.log_likelihoods]
    assert min(logs) < -size
    assert all(math.exp(x) == 0.0 for x in logs) or size == 1e4


def test_documents_of_many_words() -> None:
    posteriors = calls_of("counts-long", "multinomial.posterior")
    assert all(max(map(abs, call.due.log_likelihoods)) > 1e5 for call in posteriors)


def test_rows_of_mixtures_around_the_sizes_of_blocks() -> None:
    for name in ("gaussian-sizes", "counts-sizes"):
        sizes = {data.n for data in script(RUNGS[name]).data}
        assert sizes >= {1, 2, 63, 64, 65, 255, 257}
    assert RUNGS["gaussian-many"].data.n > 2048
    assert RUNGS["counts-many"].data.n > 2048


def test_shares_are_neither_zero_nor_one() -> None:
    """Where they are, a wrong rule would do no harm."""
    for name in ("gaussian", "gaussian-offset-1e9", "gaussian-weights"):
        soft = calls_of(name, "gaussian.em_step")[0].due
        assert soft.entropy > 1.0
