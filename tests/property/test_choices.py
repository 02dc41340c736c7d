"""What chapter 34 proves about choosing the number of clusters holds on arbitrary values."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import BadOption
from refclust.formulas.selection import GAP_RULES, best_number, gap_choice, stability
from refclust.formulas.undefined import Undefined
from refclust.metrics import adjusted_rand
from refclust.mixture.choosing.gap import Gap, chosen_gap
from refclust.mixture.choosing.stability import samples
from refclust.mixture.choosing.verdicts import by_value
from refclust.numbers.real import real
from tests.metrics.strategies import some

NUMBERS = st.floats(-8, 8)
GAPS = st.lists(st.tuples(NUMBERS, st.floats(0, 3)), min_size=2, max_size=6)
SEVENTHS = st.integers(0, 14).map(lambda x: Fraction(x, 7))


@pytest.mark.spec("MS-GAPRULE")
@some(60)
@given(st.lists(st.tuples(SEVENTHS, SEVENTHS), min_size=2, max_size=7))
def test_rules_of_the_gap(pairs: list[tuple[Fraction, Fraction]]) -> None:
    """By their definitions as sets of places; sevenths have many ties."""
    values, errors, last = [a for a, _ in pairs], [b for _, b in pairs], len(pairs) - 1
    places = range(len(pairs))
    with pytest.raises(BadOption, match="no rule of the gap is called 'SEmax'"):
        gap_choice(pairs, "SEmax")
    first = min([k for k in range(last) if values[k] >= values[k + 1]] + [last])
    largest = min(k for k in places if all(values[k] >= value for value in values))
    ahead = [k for k in range(last) if values[k] >= values[k + 1] - errors[k + 1]]
    near = {
        peak: min(k for k in places if values[k] >= values[peak] - errors[peak])
        for peak in (first, largest)
    }
    assert [gap_choice(pairs, rule) for rule in GAP_RULES] == [
        near[largest],
        near[first],
        min(ahead, default=None),
        largest,
        first,
    ]


@pytest.mark.spec("MS-GAPRULE")
@some(50)
@given(GAPS, st.integers(-8, 8), st.integers(-3, 3))
def test_rules_do_not_depend_on_units(
    pairs: list[tuple[float, float]], shift: int, power: int
) -> None:
    unit = Fraction(2) ** power
    exactly = [(Fraction(value), Fraction(error)) for value, error in pairs]
    moved = [(value * unit + shift, error * unit) for value, error in exactly]
    for rule in GAP_RULES:
        place = gap_choice(exactly, rule)
        assert gap_choice(moved, rule) == place
        assert chosen_gap([Gap(*pair) for pair in pairs], rule) == place
        exact = gap_choice([(value, 0) for value, _ in exactly], rule)
        plain = rule.replace("SEmax", "max")
        if rule != "Tibs2001SEmax":
            assert exact == gap_choice(exactly, plain)
            assert place is not None
            assert place <= exact  # type: ignore[operator]  # errors only ever ask for fewer


@pytest.mark.spec("MS-BEST", "MS-STAB")
@some(50)
@given(st.lists(SEVENTHS, min_size=1, max_size=7), st.sampled_from(["higher", "lower"]))
def test_best_values(values: list[Fraction], better: str) -> None:
    numbered = dict(enumerate(values, 2))
    best = max(values) if better == "higher" else min(values)
    first, last = (best_number(numbered, better, ties) for ties in ("fewer", "more"))
    assert first is not None
    assert last is not None
    assert numbered[first] == numbered[last] == best
    assert [k for k in numbered if numbered[k] == best and not first <= k <= last] == []
    judgement = by_value("silhouette", list(numbered), values, better)
    assert judgement.verdict.chosen == first - 2
    assert by_value("stability", list(numbered), values, better).verdict.chosen == last - 2
    assert best_number({}, better) is None


CLUSTERINGS = st.integers(3, 7).flatmap(
    lambda n: st.lists(
        st.tuples(
            *(
                st.dictionaries(st.integers(0, n - 1), st.integers(0, 2), min_size=n - 1)
                for _ in range(2)
            )
        ),
        min_size=1,
        max_size=3,
    )
)


@pytest.mark.spec("MS-STAB", "ARI")
@some(60)
@given(CLUSTERINGS, st.permutations(range(3)))
def test_stability_of_samples(
    pairs: list[tuple[dict[int, int], dict[int, int]]], names: list[int]
) -> None:
    """The mean of the index; renamed clusters and exchanged samples change nothing."""

    def value(some: list[tuple[dict[int, int], dict[int, int]]]) -> Fraction | None:
        try:
            return real(stability(some)).fraction
        except Undefined:
            return None

    with pytest.raises(BadOption, match="at least one pair"):
        value([])
    whole = value(pairs)
    each = [value([pair]) for pair in pairs]
    known = [index for index in each if index is not None]
    assert whole == (sum(known, Fraction(0)) / len(known) if len(known) == len(each) else None)
    renamed = [({i: names[y] for i, y in b.items()}, a) for a, b in pairs]
    assert value(renamed) == whole
    for (a, b), index in zip(pairs, each, strict=True):
        both = sorted(a.keys() & b.keys())
        score = adjusted_rand([a[i] for i in both], [b[i] for i in both])
        assert (score.fraction if not math.isnan(score) else None) == index
        doubled = {2 * i + copy: y for i, y in a.items() for copy in (0, 1)}
        other = {2 * i + copy: y for i, y in b.items() for copy in (0, 1)}
        twice = [2] * 9
        if index is not None:
            assert stability([(a, b)], twice) == stability([(doubled, other)])


@pytest.mark.spec("MS-STAB")
@some(40)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 99))
def test_samples_hold_four_fifths(n: int, pairs: int, seed: int) -> None:
    drawn = list(samples(n, pairs, seed=seed))
    assert len(drawn) == pairs
    for pair in drawn:
        for rows in pair:
            assert rows == sorted(set(rows))
            assert 4 * n <= 5 * len(rows) < 4 * n + 5
            assert set(rows) <= set(range(n))
    assert drawn[0] == next(samples(n, 1, seed=seed))
