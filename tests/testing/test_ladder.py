"""The ladder: each rung is as stiff as its name says."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from refclust.data.dataset import Dense, Sparse
from refclust.kernels.points import Points
from refclust.testing import ladder as ladders
from refclust.testing.ladder import ladder, twins
from refclust.testing.lockstep import script
from refclust.testing.rungs import Rung
from refclust.testing.sloppy import argmin, expanded, rows_of, singles

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
    assert {rung.kind for rung in ladder(quick=True)} == {rung.kind for rung in ladder()}


def test_every_start_sees_the_same_data() -> None:
    def digests() -> list[str]:
        return [rung.data.digest() for rung in ladders._all() if rung.kind == "rows"]

    before = digests()
    ladders._all.cache_clear()
    try:
        assert digests() == before
    finally:
        ladders._all.cache_clear()


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
