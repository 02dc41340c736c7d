"""Judging answers: what passes, what does not, and what is no answer at all."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from refclust.errors import BadAnswersFile
from refclust.numbers.real import Real, log, sqrt
from refclust.vectors.answers import (
    Answer,
    Computed,
    Missing,
    Refused,
    passes,
    passes_in_some_order,
    read,
)

THIRD = {"exact": "1/3", "binary64": "0x1.5555555555555p-2"}
LOG2 = {
    "decimal": "0.6931471805599453094172321214581765680755",
    "radius": "1e-40",
    "binary64": "0x1.62e42fefa39efp-1",
}
BOUNDED = {**LOG2, "bound": "1e-15"}


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (THIRD, 1 / 3),
        (THIRD, Fraction(1, 3)),
        (THIRD, Computed(Real("1/3"))),
        (THIRD, Computed(log(2) / log(8))),
        ({"exact": "2"}, 2.0),
        (LOG2, math.log(2)),
        (LOG2, Computed(log(2))),
        (BOUNDED, math.log(2) + 9e-16),
        ({"undefined": True}, Missing()),
        ({"undefined": True}, math.nan),
        ({"infinite": "+"}, math.inf),
        ({"infinite": "-"}, -math.inf),
        ({"error": "empty-input"}, Refused("empty-input")),
        ({"list": [THIRD, {"exact": "2"}]}, [1 / 3, Fraction(2)]),
        ({"list": []}, []),
    ],
)
def test_right_answers_pass(expected: dict[str, Any], answer: Answer) -> None:
    assert passes(expected, answer)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        (THIRD, math.nextafter(1 / 3, 1)),
        (THIRD, Fraction(333, 1000)),
        (THIRD, Computed(Real("1/3") + Fraction(1, 10**30))),
        (THIRD, Missing()),
        (THIRD, math.nan),
        (THIRD, math.inf),
        (THIRD, Refused("empty-input")),
        (THIRD, [1 / 3]),
        (LOG2, math.nextafter(math.log(2), 1)),
        (LOG2, Computed(sqrt(2))),
        (BOUNDED, math.log(2) + 2e-15),
        ({"undefined": True}, 0.0),
        ({"undefined": True}, Refused("empty-input")),
        ({"infinite": "+"}, -math.inf),
        ({"infinite": "+"}, 1e308),
        ({"error": "empty-input"}, Refused("bad-table")),
        ({"error": "empty-input"}, Missing()),
        ({"list": [THIRD]}, [1 / 3, 1 / 3]),
        ({"list": [THIRD, {"exact": "2"}]}, [2.0, 1 / 3]),
        ({"list": [THIRD]}, 1 / 3),
    ],
)
def test_wrong_answers_fail(expected: dict[str, Any], answer: Answer) -> None:
    assert not passes(expected, answer)


def table(*rows: list[int]) -> dict[str, Any]:
    return {"list": [{"list": [{"exact": str(cell)} for cell in row]} for row in rows]}


def test_tables_may_come_in_any_order_but_not_transposed() -> None:
    expected = table([2, 1, 0], [0, 2, 5])
    assert passes_in_some_order(expected, [[2.0, 1.0, 0.0], [0.0, 2.0, 5.0]])
    assert passes_in_some_order(expected, [[5.0, 2.0, 0.0], [0.0, 1.0, 2.0]])
    assert not passes_in_some_order(expected, [[2.0, 0.0], [1.0, 2.0], [0.0, 5.0]])
    assert not passes_in_some_order(expected, [[2.0, 1.0, 0.0], [2.0, 0.0, 5.0]])
    assert not passes_in_some_order(expected, [[2.0, 1.0, 0.0]])
    assert not passes_in_some_order(expected, [2.0, 1.0])
    assert passes_in_some_order({"list": [{"exact": "1"}, {"exact": "2"}]}, [2.0, 1.0])
    assert not passes_in_some_order({"list": [{"exact": "1"}, {"exact": "2"}]}, [2.0, 2.0])
    assert not passes_in_some_order({"list": []}, 1.0)


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (0.25, 0.25),
        (3, 3.0),
        (2**53 + 1, Fraction(2**53 + 1)),
        ("0x1.8p+0", 1.5),
        ("-0X1p-1", -0.5),
        ("1/3", Fraction(1, 3)),
        ("0.1", 0.1),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        (None, Missing()),
        ([1, None], [1.0, Missing()]),
        ({"error": "bad-table"}, Refused("bad-table")),
    ],
)
def test_reading_answers(value: Any, answer: Answer) -> None:
    assert read(value, "here") == answer


@pytest.mark.parametrize("value", [True, "one", "1/0", {}, {"error": 3}, {"error": "a", "x": 1}])
def test_what_is_no_answer(value: Any) -> None:
    with pytest.raises(BadAnswersFile, match=r"^here is "):
        read(value, "here")
