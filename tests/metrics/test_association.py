"""Association metrics on worked tables and at their edges (chapter 44)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from refclust.metrics import score
from refclust.numbers.real import sqrt

ROWS = [[3, 1, 0], [1, 2, 3]]


@pytest.mark.spec("CHI2", "CRAMER")
def test_chi_squared_and_cramer() -> None:
    squares = (
        Fraction(9, 16) + Fraction(1, 12) + Fraction(1, 24) + Fraction(4, 18) + Fraction(9, 18)
    )
    chi = 10 * (squares - 1)
    assert score("chi_squared", ROWS).fraction == chi
    assert score("cramers_v", ROWS).exact == sqrt(chi / 10)
    assert score("chi_squared", [[4, 0, 0], [0, 4, 0], [0, 0, 4]]).fraction == 24
    assert score("cramers_v", [[4, 0, 0], [0, 4, 0], [0, 0, 4]]).fraction == 1
    assert score("chi_squared", [[3, 4]]).fraction == 0
    assert score("chi_squared", [["1/2", 0], [0, "1/2"]]).fraction == 1


@pytest.mark.spec("GK-LAMBDA", "GK-TAU", "THEIL-U")
def test_lambda_tau_and_u() -> None:
    assert score("goodman_kruskal_lambda", ROWS).fraction == Fraction(3 + 3 - 4, 10 - 4)
    assert score("goodman_kruskal_lambda[predict=clusters]", ROWS).fraction == Fraction(8 - 6, 4)
    assert score("goodman_kruskal_lambda[predict=both]", ROWS).fraction == Fraction(4, 10)
    known, unknown = Fraction(10, 4) + Fraction(14, 6), Fraction(16 + 9 + 9, 10)
    assert score("goodman_kruskal_tau", ROWS).fraction == (known - unknown) / (10 - unknown)
    known, unknown = Fraction(10, 4) + Fraction(5, 3) + 3, Fraction(16 + 36, 10)
    assert score("goodman_kruskal_tau[predict=clusters]", ROWS).fraction == (known - unknown) / (
        10 - unknown
    )
    split = [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert score("theils_u", split).fraction == 1
    assert score("theils_u[predict=clusters]", split).fraction == Fraction(1, 2)
    assert score("theils_u[predict=both]", split).fraction == Fraction(2, 3)


@pytest.mark.parametrize(
    ("key", "rows", "reason"),
    [
        ("cramers_v", [[2, 1]], "one side is a single group"),
        ("cramers_v", [[2], [1]], "one side is a single group"),
        ("goodman_kruskal_lambda", [[2], [1]], "what is predicted is a single group"),
        (
            "goodman_kruskal_lambda[predict=clusters]",
            [[2, 1]],
            "what is predicted is a single group",
        ),
        ("goodman_kruskal_lambda[predict=both]", [[2]], "what is predicted is a single group"),
        ("goodman_kruskal_tau", [[2], [1]], "what is predicted is a single group"),
        ("goodman_kruskal_tau[predict=clusters]", [[2, 1]], "what is predicted is a single group"),
        ("theils_u", [[2], [1]], "the classes are one group"),
        ("theils_u[predict=clusters]", [[2, 1]], "the clusters are one group"),
        ("theils_u[predict=both]", [[2]], "the entropies that should normalise are zero"),
    ],
)
def test_reasons_where_there_is_no_value(key: str, rows: list[list[int]], reason: str) -> None:
    found = score(key, rows)
    assert math.isnan(found)
    assert found.undefined == f"0/0: {reason}"


@pytest.mark.spec("GK-LAMBDA", "GK-TAU", "THEIL-U")
def test_the_other_side_may_be_one_group() -> None:
    for key in ("goodman_kruskal_lambda", "goodman_kruskal_tau", "theils_u"):
        assert score(key, [[2, 1]]).fraction == 0
        assert score(f"{key}[predict=clusters]", [[2], [1]]).fraction == 0
    assert score("goodman_kruskal_lambda[predict=both]", [[2, 1]]).fraction == 0
    assert score("theils_u[predict=both]", [[2, 1]]).fraction == 0
