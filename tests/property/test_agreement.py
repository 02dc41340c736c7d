"""Agreement: each measure against loops over pairs of judgements, and its own laws (chapter 51)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refclust
from refclust.errors import (
    BadLabel,
    BadNumber,
    BadOption,
    BadTable,
    EmptyInput,
    RaggedRows,
    WrongCount,
    WrongEvidence,
)
from refclust.formulas import agreement as room
from refclust.formulas.raters import Ratings
from refclust.formulas.undefined import Undefined
from refclust.numbers.real import Real, real

Row = list[int | None]


def tables(values: st.SearchStrategy[int | None], most: int = 4) -> st.SearchStrategy[list[Row]]:
    return st.integers(2, most).flatmap(
        lambda raters: st.lists(
            st.lists(values, min_size=raters, max_size=raters), min_size=1, max_size=7
        )
    )


judged = tables(st.one_of(st.none(), st.integers(0, 3)))
complete = tables(st.integers(0, 3))
measures: list[Callable[..., Real]] = [
    room.percent_agreement,
    room.fleiss_kappa,
    room.gwet_ac1,
    room.gwet_ac2,
    room.krippendorff_alpha,
]


def value(measure: Callable[..., Real], ratings: Ratings, **options: Any) -> Fraction | None:
    try:
        return measure(ratings, **options).fraction
    except Undefined:
        return None


def pairs(row: list[Any]) -> list[tuple[Any, Any]]:
    said = [x for x in row if x is not None]
    return list(itertools.permutations(said, 2))


def shares(rows: list[Row]) -> dict[int, Fraction]:
    known = [[x for x in row if x is not None] for row in rows]
    known = [row for row in known if row]
    return {
        k: sum((Fraction(row.count(k), len(row)) for row in known), Fraction()) / len(known)
        for k in {x for row in known for x in row}
    }


def agreed(rows: list[Row], weight: Callable[[int, int], Fraction]) -> Fraction | None:
    sums = [(sum((weight(a, b) for a, b in pairs(r)), Fraction()), len(pairs(r))) for r in rows]
    means = [weights / count for weights, count in sums if count]
    return sum(means, Fraction()) / len(means) if means else None


@pytest.mark.spec("AG-SHARES", "AG-PERCENT", "AG-FLEISS", "AG-CHANCE")
@given(judged)
def test_fleiss_by_pairs_of_judgements(rows: list[Row]) -> None:
    ratings = Ratings.of(rows)
    observed = agreed(rows, lambda a, b: Fraction(a == b))
    assert value(room.percent_agreement, ratings) == observed
    if observed is None:
        assert value(room.fleiss_kappa, ratings) is None
        return
    due = shares(rows)
    assert room.category_shares(ratings) == tuple(due[k] for k in sorted(due))
    chance = sum(p * p for p in due.values())
    kappa = None if chance == 1 else (observed - chance) / (1 - chance)
    assert value(room.fleiss_kappa, ratings) == kappa


@pytest.mark.spec("AG-CHANCE")
@given(st.fractions(0, 1, max_denominator=30), st.fractions(0, 1, max_denominator=30))
def test_beyond_chance(observed: Fraction, chance: Fraction) -> None:
    if chance == 1:
        with pytest.raises(Undefined):
            room.beyond_chance(real(observed), real(chance))
        return
    kappa = room.beyond_chance(real(observed), real(chance)).fraction
    assert kappa is not None
    assert chance + kappa * (1 - chance) == observed


@pytest.mark.spec("AG-SCOTT", "AG-FLEISS")
@given(tables(st.integers(0, 2), most=2))
def test_scott_is_fleiss_of_two(rows: list[Row]) -> None:
    ratings = Ratings.of(rows)
    assert value(room.scott_pi, ratings) == value(room.fleiss_kappa, ratings)
    # What only one of them judged does not count.
    assert value(room.scott_pi, Ratings.of([*rows, [0, None]])) == value(room.scott_pi, ratings)
    pool = [x for row in rows for x in row]
    chance = sum(Fraction(pool.count(k), len(pool)) ** 2 for k in set(pool))
    same = Fraction(sum(a == b for a, b in rows), len(rows))
    due = None if chance == 1 else (same - chance) / (1 - chance)
    assert value(room.scott_pi, ratings) == due


@pytest.mark.spec("AG-AC1", "AG-AC2", "AG-WEIGHTS")
@given(judged, st.sampled_from(room.WEIGHTINGS), st.integers(0, 2))
def test_gwet_by_pairs_of_judgements(rows: list[Row], weighting: str, unsaid: int) -> None:
    order = sorted({x for row in rows for x in row if x is not None})
    order += range(10, 10 + unsaid)
    q, place = len(order), {x: k for k, x in enumerate(order)}
    ratings = Ratings.of(rows, categories=order)

    def weight(a: int, b: int) -> Fraction:
        gap = abs(place[a] - place[b])
        if weighting == "identity":
            return Fraction(gap == 0)
        return 1 - Fraction(gap, max(q - 1, 1)) ** {"linear": 1, "quadratic": 2}[weighting]

    for a, b in itertools.product(order, repeat=2):
        told = room.agreement_weight(place[a], place[b], q, weighting=weighting)
        assert told == weight(a, b)
    observed = agreed(rows, weight)
    if observed is None or q == 1:
        assert value(room.gwet_ac2, ratings, weighting=weighting) is None
        assert value(room.gwet_ac1, ratings) is None
        return
    spread = sum((p * (1 - p) for p in shares(rows).values()), Fraction())
    mean = sum((weight(a, b) for a in order for b in order), Fraction()) / q**2
    chance = mean * q / (q - 1) * spread
    assert value(room.gwet_ac2, ratings, weighting=weighting) == (observed - chance) / (1 - chance)
    assert value(room.gwet_ac1, ratings) == value(room.gwet_ac2, ratings, weighting="identity")


@pytest.mark.spec("AG-ALPHA", "AG-COINC", "AG-DELTA")
@given(judged, st.sampled_from(room.SCALES))
def test_alpha_by_pairs_of_judgements(rows: list[Row], scale: str) -> None:
    units = [[x for x in row if x is not None] for row in rows]
    units = [row for row in units if len(row) > 1]
    pool: list[Any] = [x for row in units for x in row]

    def delta(a: int, b: int) -> Fraction:
        if a == b:
            return Fraction()
        between = sum(min(a, b) <= x <= max(a, b) for x in pool)
        squares: dict[str, Fraction] = {
            "nominal": Fraction(1),
            "ordinal": (between - Fraction(pool.count(a) + pool.count(b), 2)) ** 2,
            "interval": Fraction((a - b) ** 2),
            "ratio": Fraction(a - b, a + b) ** 2,
        }
        return squares[scale]

    ratings, n = Ratings.of(rows), len(pool)
    inside = sum((delta(a, b) / (len(r) - 1) for r in units for a, b in pairs(r)), Fraction())
    overall = sum((delta(a, b) for a, b in pairs(pool)), Fraction())
    due = None if overall == 0 else 1 - (inside / n) / (overall / (n * (n - 1)))
    assert value(room.krippendorff_alpha, ratings, scale=scale) == due
    o = room.coincidences(ratings)
    assert sum(map(sum, o)) == n
    assert all(o[c][k] == o[k][c] for c in range(len(o)) for k in range(len(o)))
    sums = {k: sum(o[c]) for c, k in enumerate(ratings.categories)}
    assert sums == {k: pool.count(k) for k in ratings.categories}


@pytest.mark.spec("AG-DELTA", "AG-ALPHA")
@given(complete)
def test_scales_of_two_categories_agree(rows: list[Row]) -> None:
    two: list[Row] = [[None if x is None else x % 2 for x in row] for row in rows]
    ratings = Ratings.of(two)
    values = {value(room.krippendorff_alpha, ratings, scale=scale) for scale in room.SCALES}
    assert len(values) == 1
    # A scale of intervals knows no origin and no unit, a ratio scale no unit.
    for scale, moved in (("interval", 5), ("ratio", 0)):
        shifted = Ratings.of([[None if x is None else 3 * x + moved for x in row] for row in rows])
        plain = value(room.krippendorff_alpha, Ratings.of(rows), scale=scale)
        assert value(room.krippendorff_alpha, shifted, scale=scale) == plain


@pytest.mark.spec("AG-LIGHT")
@given(judged)
def test_light_by_pairs_of_raters(rows: list[Row]) -> None:
    kappas: list[Fraction | None] = []
    for a, b in itertools.combinations(range(len(rows[0])), 2):
        both = [(row[a], row[b]) for row in rows if None not in (row[a], row[b])]
        n = len(both)
        chance = sum(
            Fraction(sum(x == k for x, _ in both) * sum(y == k for _, y in both), max(n, 1) ** 2)
            for k in range(4)
        )
        observed = Fraction(sum(x == y for x, y in both), max(n, 1))
        kappas.append(None if n == 0 or chance == 1 else (observed - chance) / (1 - chance))
    due = None if None in kappas else sum(filter(None, kappas), Fraction()) / len(kappas)
    assert value(room.mean_pairwise_kappa, Ratings.of(rows)) == due


@pytest.mark.spec("AG-PERCENT", "AG-FLEISS", "AG-AC1", "AG-AC2", "AG-ALPHA")
@given(complete, st.randoms(use_true_random=False))
def test_who_said_it_does_not_matter(rows: list[Row], draw: Any) -> None:
    ratings = Ratings.of(rows)
    turned = [draw.sample(row, len(row)) for row in rows]
    counts = [[sum(x == k for x in row) for k in ratings.categories] for row in rows]
    table = Ratings.of_counts(counts, categories=ratings.categories)
    for measure in measures:
        due = value(measure, ratings)
        assert value(measure, Ratings.of(turned)) == due == value(measure, table)
        whole = Ratings.of(rows, weights=[2] * len(rows))
        assert value(measure, whole) == value(measure, Ratings.of(rows * 2))


@pytest.mark.spec("AG-FLEISS", "AG-AC1", "AG-ALPHA", "AG-SCOTT", "AG-LIGHT")
def test_perfect_agreement_and_one_category() -> None:
    perfect, single = [[1, 1], [2, 2]], [[1, 1], [1, 1]]
    for measure in (*measures, room.scott_pi, room.mean_pairwise_kappa):
        assert value(measure, Ratings.of(perfect)) == 1
    for measure in (*measures[1:], room.scott_pi, room.mean_pairwise_kappa):
        assert value(measure, Ratings.of(single)) is None
    # Another category was possible and never said: only Gwet's chance leaves room then.
    assert refclust.gwet_ac1(single, categories=[1, 2]) == 1
    assert refclust.fleiss_kappa(single, categories=[1, 2]).undefined is not None


@pytest.mark.spec("AG-UNITS")
def test_judgements_at_the_door() -> None:
    nan = float("nan")
    score = refclust.krippendorff_alpha([["1", "10", ""], ["9", None, "9"]], missing="")
    assert score.evidence.categories == ("1", "9", "10")
    same = refclust.percent_agreement([[1.0, nan, 1.0]])
    assert (same.fraction, same.evidence.size()) == (1, "1 object, 3 raters, 1 category")
    for given_rows, error in (
        ([], EmptyInput),
        ([[1, 2], [1]], RaggedRows),
        ([[1]], WrongCount),
        ("xy", BadTable),
        ([3], BadTable),
    ):
        with pytest.raises(error):
            refclust.fleiss_kappa(given_rows)
    with pytest.raises(BadLabel):
        refclust.fleiss_kappa([[1, 3]], categories=[1, 2])
    with pytest.raises(BadOption):
        refclust.fleiss_kappa([[1, 2]], categories=[1, 1, 2])
    with pytest.raises(BadOption):
        refclust.fleiss_kappa()
    for counts, error in (([[0.5, 1]], BadTable), ([], EmptyInput), ([[1, 2], [1]], RaggedRows)):
        with pytest.raises(error):
            refclust.fleiss_kappa(counts=counts)
    with pytest.raises(WrongCount):
        refclust.fleiss_kappa(counts=[[1, 2]], categories="xyz")
    with pytest.raises(WrongCount):
        refclust.scott_pi([[1, 2, 2]])
    with pytest.raises(WrongEvidence):
        refclust.mean_pairwise_kappa(counts=[[1, 2]])
    with pytest.raises(BadNumber):
        refclust.krippendorff_alpha([["x", "y"]], scale="interval")
    with pytest.raises(BadNumber):
        refclust.krippendorff_alpha([[-1, 1]], scale="ratio")
