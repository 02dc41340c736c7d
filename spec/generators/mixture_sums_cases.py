"""Cases of the exact sums of an M-step, of rows that lie in several parts (chapters 31 and 32).

All of it is rational and follows from the definition in a few lines. What a case is for is a trap:
sums that are rounded before they are merged come out as other doubles, and each case of a cut says
so of itself before it is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .mixture_numbers import told, told_rows
from .values import Json
from .writer import VectorFile

Row = Sequence[float]


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows with weights and shares, points to sum around, and how many rows each part has."""

    rows: Sequence[Row]
    q: Sequence[Row]
    around: Sequence[Row]
    parts: Sequence[int]
    weights: Sequence[float] | None = None

    def masses(self, k: int) -> list[Fraction]:
        """The weighted share of each row in a component."""
        weights = [1.0] * len(self.rows) if self.weights is None else self.weights
        return [Fraction(w) * Fraction(q[k]) for w, q in zip(weights, self.q, strict=True)]

    def terms(self) -> dict[str, list[list[Fraction]]]:
        """For each sum that is asked for its terms, row by row."""
        found: dict[str, list[list[Fraction]]] = {"counts": [], "firsts": [], "seconds": []}
        found["sums"] = []
        for k, point in enumerate(self.around):
            masses = self.masses(k)
            away = [
                [Fraction(x) - Fraction(a) for x, a in zip(row, point, strict=True)]
                for row in self.rows
            ]
            d = range(len(point))
            found["counts"].append(masses)
            found["firsts"] += [[m * x[i] for m, x in zip(masses, away, strict=True)] for i in d]
            found["seconds"] += [
                [m * x[i] * x[j] for m, x in zip(masses, away, strict=True)] for i in d for j in d
            ]
            found["sums"] += [
                [m * Fraction(x[i]) for m, x in zip(masses, self.rows, strict=True)] for i in d
            ]
        return found


def sums() -> VectorFile:
    """Sums that no cut of the rows changes."""
    file = VectorFile(
        "30-mixtures/sums.json",
        "mixture.sums",
        "The sums of an M-step, exactly, from rows in several parts",
        {"parts": "how many rows each part holds, in their order; the sums do not depend on it"},
        formulas=["BK-MERGE", "KER-EXACTMOMENTS"],
    )
    thirds = [[1 / 3, 2 / 3], [0.1, 0.9], [0.7, 0.3], [1.0, 0.0], [0.25, 0.75], [0.6, 0.4]]
    tenths = [[0.1, 2.3], [1.7, -0.4], [0.3, 0.3], [-2.9, 5.1], [4.4, 0.0], [1.1, 1.3]]
    points = [[0.5, 0.5], [1.0, -1.0]]
    plain = Problem(tenths, thirds, points, (6,))
    _add(file, "sums-whole", plain, "one part: the answer for all rows")
    for name, parts in {"two": (2, 4), "single": (1,) * 6, "empty": (0, 3, 0, 3, 0)}.items():
        cut = Problem(tenths, thirds, points, parts)
        _add(file, f"sums-{name}", cut, "the same sums from other parts", trap=name != "single")
    weights = [0.1, 2.5, 0.0, 1e-3, 7.0, 1 / 3]
    weighted = Problem(tenths, thirds, points, (1, 3, 2), weights)
    _add(file, "sums-weights", weighted, "weights, one of them 0", trap=True)
    offset = [[1e9 + x for x in row] for row in tenths]
    far = Problem(offset, thirds, [[0.0, 0.0], [1e9, 1e9]], (3, 3))
    _add(file, "sums-offset", far, "rows far from one point and near the other", trap=True)
    large = [[1e16, 1.0], [1.0, 0.1], [-1e16, 0.2], [0.5, 1e-17]]
    cancelling = Problem(large, [[1.0]] * 4, [[0.0, 0.0]], (2, 2))
    _add(file, "sums-cancelling", cancelling, "what one part rounds away is all that is left",
         trap=True)  # fmt: skip
    deep = [[1.0, 1e-300], [1e-300, 1.0], [0.5, 5e-324], [0.5, 0.5]]
    small = Problem(tenths[:4], deep, points, (2, 2), [1.0, 1e-200, 3.0, 0.1])
    _add(file, "sums-deep", small, "shares down to the least double: no product may underflow")
    return file


def _add(
    file: VectorFile, slug: str, problem: Problem, description: str, *, trap: bool = False
) -> None:
    terms = problem.terms()
    assert sum(problem.parts) == len(problem.rows)
    every = [one for some in terms.values() for one in some]
    assert trap is False or any(_rounds(one, problem.parts) for one in every), slug
    given: dict[str, Json] = {
        "rows": told_rows(problem.rows),
        "q": told_rows(problem.q),
        "around": told_rows(problem.around),
        "parts": [str(size) for size in problem.parts],
    }
    if problem.weights is not None:
        given["weights"] = [told(w) for w in problem.weights]
    values = {name: [sum(one, Fraction(0)) for one in some] for name, some in terms.items()}
    expect: dict[str, Json] = {
        name: {"list": [_exact(value) for value in some]} for name, some in values.items()
    }
    for name, some in values.items():
        expect[f"rounded.{name}"] = {"list": [{"binary64": float(x).hex()} for x in some]}
    file.add(slug, given, expect, description)


def _exact(value: Fraction) -> dict[str, Json]:
    # Always the fraction itself, however long: it is what the parts are merged in.
    found: dict[str, Json] = {"exact": str(value)}
    return found if Fraction(float(value)) == value else {**found, "binary64": float(value).hex()}


def _rounds(terms: Sequence[Fraction], parts: Sequence[int]) -> bool:
    """Whether sums of parts that are rounded one by one add up to another double."""
    begin, rounded = 0, []
    for size in parts:
        rounded.append(float(sum(terms[begin : begin + size], Fraction(0))))
        begin += size
    return math.fsum(rounded) != float(sum(terms, Fraction(0)))
