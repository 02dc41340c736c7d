"""Entropy, divergence and mutual information of given distributions (chapter 43)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from refclust.data.given import items
from refclust.errors import BadDistribution, DimensionMismatch, EmptyInput, NotFinite
from refclust.metrics.information import in_base
from refclust.metrics.undefined import Undefined
from refclust.numbers.reading import exact_value, refuse_long, shown
from refclust.numbers.real import Rational, Real, log, total


def entropy(p: Iterable[Rational | str], *, base: Rational | None = None) -> Real:
    """Return −Σ p log p, in nats unless a base is given, with 0 log 0 = 0.

    Spec: IT-ENT

    >>> entropy(["1/2", "1/4", "1/4"]) == 3 * log(2) / 2
    True
    """
    return in_base(total(-share * log(share) for share in _distribution(p) if share), base)


def kl(
    q: Iterable[Rational | str], p: Iterable[Rational | str], *, base: Rational | None = None
) -> Real:
    """Return the divergence KL(q‖p) = Σ q log(q/p); infinite where q has mass and p none.

    Spec: IT-KL

    >>> kl(["1/2", "1/2"], ["1/2", "1/2"]) == 0
    True
    """
    left, right = _distribution(q), _distribution(p)
    if len(left) != len(right):
        raise DimensionMismatch(f"distributions over {len(left)} and {len(right)} values")
    if any(a and not b for a, b in zip(left, right, strict=True)):
        raise Undefined("q has mass where p has none", math.inf)
    return in_base(total(a * log(a / b) for a, b in zip(left, right, strict=True) if a), base)


def joint_mutual_information(
    joint: Sequence[Sequence[Rational | str]], *, base: Rational | None = None
) -> Real:
    """Return the mutual information of a joint distribution given row by row.

    Spec: IT-MI, IT-MIKL, CT-EMPIR

    >>> joint_mutual_information([["1/2", 0], [0, "1/2"]]) == log(2)
    True
    """
    table = [
        _items(row, f"row {i}") for i, row in enumerate(_items(joint, "the joint distribution"))
    ]
    shares = _distribution(share for row in table for share in row)
    widths = {len(row) for row in table}
    if len(widths) != 1:
        raise DimensionMismatch(f"the rows have the lengths {sorted(widths)}; they must agree")
    width = widths.pop()
    rows = [shares[start : start + width] for start in range(0, len(shares), width)]
    row_sums = [sum(row) for row in rows]
    col_sums = [sum(column) for column in zip(*rows, strict=True)]
    information = total(
        share * log(share / (row_sums[i] * col_sums[j]))
        for i, row in enumerate(rows)
        for j, share in enumerate(row)
        if share
    )
    return in_base(information, base)


def _distribution(values: Iterable[Rational | str]) -> list[Fraction]:
    shares = []
    for position, value in enumerate(_items(values, "the distribution")):
        share = exact_value(value, f"probability {position}")
        if share is None:
            if _is_not_finite(value):
                raise NotFinite(f"probability {position} is {shown(value)}; it must be finite")
            raise BadDistribution(f"probability {position} is {shown(value)}, not a number")
        if share < 0:
            raise BadDistribution(
                f"probability {position} is {shown(share)}; it must not be negative"
            )
        shares.append(share)
    refuse_long(shares, "exact arithmetic with these probabilities")
    if not shares:
        raise EmptyInput("a distribution without outcomes")
    if sum(shares) != 1:
        raise BadDistribution(
            f"the {len(shares)} probabilities add up to {shown(sum(shares))}, not to 1; "
            "give exact numbers, fractions such as '1/3' for instance"
        )
    return shares


def _items(given: Any, what: str) -> list[Any]:
    """What a caller gave as a sequence, the arrays of other libraries as lists."""
    plain = given.tolist() if hasattr(given, "tolist") else given
    return items(plain, lambda: BadDistribution(f"{what} is {shown(given)}, not a sequence"))


def _is_not_finite(value: Rational | str) -> bool:
    try:
        return not math.isfinite(float(value))
    except (ValueError, TypeError):
        return False
