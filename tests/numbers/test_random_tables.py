"""Random tables: margins, the law of the draws, and which number of the stream gives what."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.numbers.combinatorics import hypergeometric
from refclust.numbers.random_tables import _log_binomial, hypergeometric_draw, random_table
from tests.numbers.effort import examples

pytestmark = pytest.mark.spec("NUM-RAND", "NUM-HYPER")


class Given(Random):
    """A stream whose numbers are given."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(0)
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0)


def outwards(drawn: int, marked: int, population: int) -> list[tuple[int, Fraction]]:
    """The values in the order in which the unit interval is dealt out, with their chances."""
    least, most = max(0, drawn + marked - population), min(drawn, marked)
    law = {hits: hypergeometric(drawn, marked, population, hits) for hits in range(least, most + 1)}
    # Of two equally likely values the larger is the mode.
    mode = max(law, key=lambda hits: (law[hits], hits))
    order = [mode]
    for step in range(1, most - least + 1):
        order += [hits for hits in (mode + step, mode - step) if hits in law]
    return [(hits, law[hits]) for hits in order]


@examples(150)
@given(st.integers(1, 60), st.data())
def test_the_unit_interval_is_dealt_out_from_the_mode(population: int, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, population))
    marked = data.draw(st.integers(0, population))
    start = Fraction()
    for hits, chance in outwards(drawn, marked, population):
        # The logarithms of factorials up to 60 are below 200, so probabilities are good to
        # 1e-12: a point further than that inside a part must give its value.
        margin = Fraction(1, 10**12)
        if chance > 3 * margin:
            for point in (start + margin, start + chance / 2, start + chance - margin):
                assert hypergeometric_draw(Given(float(point)), drawn, marked, population) == hits
        start += chance
    assert start == 1


def test_a_certain_draw_takes_no_number() -> None:
    nothing = Given()
    assert hypergeometric_draw(nothing, 0, 5, 10) == 0
    assert hypergeometric_draw(nothing, 5, 0, 10) == 0
    assert hypergeometric_draw(nothing, 10, 5, 10) == 5
    assert hypergeometric_draw(nothing, 3, 10, 10) == 3
    assert hypergeometric_draw(nothing, 0, 0, 0) == 0


def test_what_rounding_leaves_goes_to_the_mode() -> None:
    # 1.0 is never drawn; it stands for a rest when all values are used up.
    for drawn, marked, population in ((2, 2, 4), (5, 10, 20), (1, 1, 2), (3, 50, 100)):
        mode = outwards(drawn, marked, population)[0][0]
        assert hypergeometric_draw(Given(1.5), drawn, marked, population) == mode


def test_a_huge_population_is_left_as_soon_as_chances_vanish() -> None:
    # Far from the mode chances are next to 0 and the walk stops; a billion values are to come.
    half = 10**12
    assert hypergeometric_draw(Given(1.5), 10**9, half, 2 * half) == 5 * 10**8
    # Here the values below the mode are soon used up, and the other way round.
    drawn, marked, population = 10**9, 10**9, 2 * 10**12
    for marked_, mode in ((marked, 500_000), (population - marked, drawn - 500_000)):
        assert hypergeometric_draw(Given(1.5), drawn, marked_, population) == mode


def test_the_parts_of_the_unit_interval_are_closed_below() -> None:
    # The two values of (1, 1, 2) have the chance 1/2 each, to the last bit or nearly so.
    chance = math.exp(_log_binomial(1, 1) + _log_binomial(1, 0) - _log_binomial(2, 1))
    assert hypergeometric_draw(Given(math.nextafter(chance, 0)), 1, 1, 2) == 1
    assert hypergeometric_draw(Given(chance), 1, 1, 2) == 0
    # All values used up with nothing left: the mode, which is 1 here, takes the number.
    assert hypergeometric_draw(Given(math.nextafter(2 * chance, 0)), 1, 1, 2) == 0
    assert hypergeometric_draw(Given(2 * chance), 1, 1, 2) == 1
    # The values of (1, 1, n) are 0, the mode, and then 1; where the sum of the chances is exact,
    # a number just below it gives 1 and the sum itself the mode again.
    exact = 0
    for n in range(3, 60):
        zero = math.exp(_log_binomial(1, 0) + _log_binomial(n - 1, 1) - _log_binomial(n, 1))
        one = zero / (n - 1)
        assert hypergeometric_draw(Given(zero), 1, 1, n) == 1
        if (zero + one) - zero == one:
            exact += 1
            assert hypergeometric_draw(Given(zero + one), 1, 1, n) == 0
    assert exact


@pytest.mark.parametrize(("n", "k"), [(0, 0), (5, 2), (10, 10), (60, 30), (170, 3)])
def test_logarithms_of_binomials(n: int, k: int) -> None:
    # Three values of lgamma, each at most log(171!) < 711 and good to a few units of 2**-43.
    assert abs(_log_binomial(n, k) - math.log(math.comb(n, k))) < 2**-40


@examples(100)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=5),
    st.integers(1, 5),
    st.integers(0, 10**6),
    st.data(),
)
def test_tables_have_the_margins_given(
    rows: list[int], width: int, seed: int, data: st.DataObject
) -> None:
    total = sum(rows)
    cuts = sorted(
        data.draw(st.lists(st.integers(0, total), min_size=width - 1, max_size=width - 1))
    )
    columns = [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
    table = random_table(Random(seed), rows, columns)
    assert [sum(row) for row in table] == rows
    assert [sum(column) for column in zip(*table, strict=True)] == columns
    assert all(cell >= 0 for row in table for cell in row)
    assert table == random_table(Random(seed), rows, columns)


def test_cells_follow_one_another_as_draws() -> None:
    # Row 1 draws 3 of (2, 3, 1): first from 6 objects with 2 marked, then from 4 with 3 marked.
    for seed in range(50):
        table = random_table(Random(seed), [3, 2, 1], [2, 3, 1])
        stream, left, wanted = Random(seed), [2, 3, 1], []
        for size in (3, 2, 1):
            cells: list[int] = []
            for j, have in enumerate(left):
                rest = sum(left[j:])
                cells.append(hypergeometric_draw(stream, size - sum(cells), have, rest))
            left = [have - taken for have, taken in zip(left, cells, strict=True)]
            wanted.append(cells)
        assert table == wanted


def test_frequencies_follow_the_law_of_the_table() -> None:
    # The law of [[a, 2-a], [2-a, a]] is 1/6, 2/3, 1/6. With 6000 draws the standard deviation of
    # a count is at most sqrt(6000 · 2/9) = 36.5; five of them are allowed.
    stream = Random(3)
    found = Counter(random_table(stream, [2, 2], [2, 2])[0][0] for _ in range(6000))
    for hits, wanted in ((0, 1000), (1, 4000), (2, 1000)):
        assert abs(found[hits] - wanted) < 183
