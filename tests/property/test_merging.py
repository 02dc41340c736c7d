"""Properties of the merge law on the reference (chapter 80, BK-MERGE)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.backends import builtin  # noqa: F401  (registers all kernels)
from refclust.data.dataset import dense, readonly
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import LloydStep, lloyd_step, squares
from refclust.kernels.clusters.kmeans import accumulate as cluster_sums
from refclust.kernels.clusters.masses import beyond, mass, part_of_draw
from refclust.kernels.clusters.seeding import place, potential
from refclust.kernels.contingency import LabelPairs, table
from refclust.kernels.contracts.merging import no_rows
from refclust.kernels.mixtures.exact_moments import (
    ExactTallies,
    exact_moments,
    exact_tallies,
    merged,
)
from refclust.kernels.mixtures.gaussian import moments
from refclust.kernels.mixtures.multinomial import moments as tallies
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS

NUMBERS = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150),
)
WEIGHTS = st.sampled_from([1.0, 0.1, 2.5, 1e-3, 1 / 3, 1e30])
K, D = 2, 2


class Cut:
    """Rows with weights, labels and shares, and the parts into which they are cut."""

    def __init__(self, rows: Sequence[Any], sizes: Sequence[int]) -> None:
        self.rows = rows
        ends = sorted({0, len(rows), *(size % (len(rows) + 1) for size in sizes)})
        self.parts = [range(a, b) for a, b in pairwise(ends)]
        self.all = range(len(rows))

    def points(self, part: Sequence[int]) -> Points:
        if not part:
            return no_rows(D)
        values = array("d", (x for i in part for x in self.rows[i][0]))
        weights = readonly(array("d", (self.rows[i][1] for i in part)))
        return Points(dense(values, D, weights=weights))

    def labels(self, part: Sequence[int]) -> array[int]:
        return array("i", (self.rows[i][2] for i in part))

    def shares(self, part: Sequence[int]) -> array[float]:
        return array("d", (q for i in part for q in self.rows[i][3]))


ROWS = st.lists(
    st.tuples(
        st.tuples(NUMBERS, NUMBERS),
        WEIGHTS,
        st.integers(0, K - 1),
        st.tuples(st.floats(0, 1), st.floats(0, 1)),
    ),
    min_size=1,
    max_size=7,
)
CUTS = st.builds(Cut, ROWS, st.lists(st.integers(0, 30), max_size=4))


def joined(kernel: str, parts: list[Any], whole: Any) -> None:
    """Merged in any order and in any grouping, with the answer for no rows: the whole."""
    merge, contract = KERNELS[kernel].merge, KERNELS[kernel].contract
    assert merge is not None
    for some in (parts, parts if merge.ordered else parts[::-1]):
        assert contract.fault(whole, merge(some)) is None
        half = len(some) // 2
        grouped = [merge(group) for group in (some[:half], some[half:]) if group]
        assert contract.fault(whole, merge(grouped)) is None
    assert contract.fault(whole, merge([whole])) is None


@pytest.mark.spec("BK-MERGE", "KER-SUMS", "KER-SQUARES")
@given(CUTS)
def test_sums_and_squares_of_clusters_add_up(cut: Cut) -> None:
    for kernel, function in (("kmeans.accumulate", cluster_sums), ("kmeans.squares", squares)):
        parts = [function(cut.points(p), cut.labels(p), K) for p in (*cut.parts, range(0))]
        joined(kernel, parts, function(cut.points(cut.all), cut.labels(cut.all), K))


@pytest.mark.spec("BK-MERGE", "KER-STEP")
@given(CUTS, st.tuples(NUMBERS, NUMBERS))
def test_steps_add_up_also_from_steps_before(cut: Cut, other: tuple[float, float]) -> None:
    first, second = (
        CentreMatrix.of([cut.rows[0][0], other]),
        CentreMatrix.of([other, cut.rows[-1][0]]),
    )

    def steps(part: Sequence[int]) -> list[LloydStep]:
        one = lloyd_step(cut.points(part), first, None)
        return [one, lloyd_step(cut.points(part), second, one)]

    parts = [steps(part) for part in (*cut.parts, range(0))]
    for place_, whole in enumerate(steps(cut.all)):
        joined("kmeans.lloyd_step", [told[place_] for told in parts], whole)


@pytest.mark.spec("BK-MERGE", "KER-CT")
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.fractions(0, 3))),
    st.lists(st.integers(0, 20), max_size=4),
)
def test_cells_add_up(objects: list[tuple[int, str, Fraction]], ends: list[int]) -> None:
    def cells(some: Sequence[tuple[int, str, Fraction]], weighted: bool) -> dict[Any, Any]:
        weights = [row[2] for row in some] if weighted else None
        return table(LabelPairs([row[0] for row in some], [row[1] for row in some], weights))

    edges = sorted([0, len(objects), *(min(end, len(objects)) for end in ends)])
    for weighted in (False, True):
        parts = [cells(objects[a:b], weighted) for a, b in pairwise(edges)]
        joined("contingency.table", parts, cells(objects, weighted))


@pytest.mark.spec("BK-MERGE", "KER-MASS", "KM-DRAW")
@given(CUTS, st.floats(0, 1, exclude_max=True), st.sampled_from(["squares", "distinct"]))
def test_a_draw_over_parts_falls_where_it_falls_over_the_whole(cut: Cut, r: float, by: str) -> None:
    centre = cut.rows[0][0]
    whole = cut.points(cut.all)
    near = potential(whole, centre)
    parts = [cut.points(part) for part in cut.parts]
    nears = [potential(part, centre) for part in parts]
    told = [mass(part, own, by) for part, own in zip(parts, nears, strict=True)]
    joined("seeding.mass", told, mass(whole, near, by))
    masses = [one for (one,) in told]
    total = sum(masses)
    edges = [float(reached / total) for reached in accumulate(masses)] if total else []
    for draw in (r, *(x for edge in edges for x in (edge, math.nextafter(edge, 0)) if x < 1)):
        part, passed = part_of_draw(masses, draw)
        row = -1
        if part >= 0:
            row = cut.parts[part][beyond(parts[part], nears[part], passed, by)]
        assert row == place(whole, near, draw, by)


@pytest.mark.spec("KER-MASS")
@given(CUTS)
def test_the_mass_is_its_definition(cut: Cut) -> None:
    centres = [tuple(map(Fraction, cut.rows[i][0])) for i in (0, -1)]
    points = cut.points(cut.all)
    near = potential(points, cut.rows[-1][0], potential(points, cut.rows[0][0]))
    masses = [
        Fraction(w) * min(sum((Fraction(a) - c) ** 2 for a, c in zip(x, centre, strict=True))
                          for centre in centres)
        for x, w, *_ in cut.rows
    ]  # fmt: skip
    assert mass(points, near, "squares") == (sum(masses),)
    weights = [Fraction(w) for _, w, *_ in cut.rows]
    assert mass(points, None, "squares") == (sum(weights),)
    apart = [w for w, m in zip(weights, masses, strict=True) if m]
    assert mass(points, near, "distinct") == (sum(apart),)
    for i, reached in enumerate(accumulate(masses)):
        after = next((j for j in range(i + 1, len(masses)) if masses[j]), -1)
        assert beyond(points, near, reached) == after


@pytest.mark.spec("BK-MERGE", "KER-EXACTMOMENTS", "KER-MOMENTS")
@given(CUTS, st.tuples(NUMBERS, NUMBERS), st.sampled_from(["full", "diagonal"]))
def test_moments_are_exact_and_add_up(cut: Cut, point: tuple[float, float], spread: Any) -> None:
    around = CentreMatrix.of([point, cut.rows[0][0]])
    for q in (cut.labels, cut.shares):
        whole = exact_moments(cut.points(cut.all), q(cut.all), K, around, spread)
        parts = [
            exact_moments(cut.points(p), q(p), K, around, spread) for p in (*cut.parts, range(0))
        ]
        joined("gaussian.exact_moments", parts, whole)
        share = cut.shares if q == cut.shares else lambda part: [
            float(cut.rows[i][2] == c) for i in part for c in range(K)
        ]  # fmt: skip
        flat = list(map(Fraction, share(cut.all)))
        for c in range(K):
            masses = [Fraction(row[1]) * flat[K * i + c] for i, row in enumerate(cut.rows)]
            away = [
                [Fraction(x) - Fraction(a) for x, a in zip(row[0], around[c], strict=True)]
                for row in cut.rows
            ]
            assert whole.counts[c] == sum(masses)
            for i in range(D):
                assert whole.firsts[c * D + i] == sum(
                    m * x[i] for m, x in zip(masses, away, strict=True)
                )
                for j in range(D) if spread == "full" else (i,):
                    at = (c * D + i) * D + j if spread == "full" else c * D + i
                    assert whole.seconds[at] == sum(
                        m * x[i] * x[j] for m, x in zip(masses, away, strict=True)
                    )


@pytest.mark.spec("KER-EXACTMOMENTS", "KER-MOMENTS")
@given(CUTS)
def test_rounded_once_they_keep_the_bound_of_the_plain_pass(cut: Cut) -> None:
    assume(all(abs(x) < 1e120 for row in cut.rows for x in row[0]))  # squares stay doubles
    points, around = cut.points(cut.all), CentreMatrix.of([cut.rows[0][0], (0.5, -1.0)])
    args = cut.shares(cut.all), K, around, "full"
    contract: Any = KERNELS["gaussian.moments"].contract
    exact = exact_moments(points, *args)  # type: ignore[arg-type]
    plain = moments(points, *args)  # type: ignore[arg-type]
    assert contract.judged(points, args, plain, exact.rounded()) is None
    for name in ("counts", "firsts", "seconds"):
        sums, doubles = getattr(exact, name), getattr(exact.rounded(), name)
        assert [s.numerator / s.denominator for s in sums] == doubles.tolist()


@pytest.mark.spec("BK-MERGE", "KER-EXACTMOMENTS", "KER-MOMENTS")
@given(CUTS)
def test_tallies_are_exact_and_add_up(cut: Cut) -> None:
    whole = exact_tallies(cut.points(cut.all), cut.shares(cut.all), K)
    parts = [exact_tallies(cut.points(p), cut.shares(p), K) for p in (*cut.parts, range(0))]
    joined("multinomial.exact_tallies", parts, whole)
    for c in range(K):
        masses = [Fraction(row[1]) * Fraction(row[3][c]) for row in cut.rows]
        assert whole.counts[c] == sum(masses)
        for j in range(D):
            assert whole.sums[c * D + j] == sum(
                m * Fraction(row[0][j]) for m, row in zip(masses, cut.rows, strict=True)
            )
    plain = tallies(cut.points(cut.all), cut.shares(cut.all), K)
    contract: Any = KERNELS["multinomial.moments"].contract
    args = cut.shares(cut.all), K
    assert contract.judged(cut.points(cut.all), args, plain, whole.rounded()) is None


def test_sums_around_different_points_are_not_merged() -> None:
    points = Points(dense(array("d", [1.0, 2.0]), 1))
    labels = array("i", [0, 0])
    one, other = (
        exact_moments(points, labels, 1, CentreMatrix.of([(a,)]), "full") for a in (0.0, 1.0)
    )
    with pytest.raises(ValueError, match="parts with different around"):
        merged([one, other])
    assert merged([ExactTallies((Fraction(1),), ())]) == ExactTallies((Fraction(1),), ())
