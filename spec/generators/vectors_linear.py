"""Makes 08-vectors/linear.json and calls the maker of 05-numbers/logspace.json.

Run ``python -m spec.generators.vectors_linear [FOLDER]`` from the top of the repository; FOLDER is
``spec/vectors`` unless given. Products and squared distances are sums of Fractions, straight from
the definitions; roots come from Arb, with mpmath as second witness, and are rounded by comparing
squares.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from . import vectors_logspace
from .vectors_common import (
    Json,
    ball,
    encode_irrational,
    encode_rational,
    file_text,
    interval,
    mpmath,
    sign,
    use_precision,
    witnesses_meet,
    write,
)

PATH = "08-vectors/linear.json"
TITLE = "Products, lengths, distances and cosines of dense and sparse vectors"
NOTES = {
    "numbers": "strings: a double in C99 hexadecimal, or an integer or p/q; nan, inf and true "
    "stand for what must be refused",
    "sparse": "{'sparse': [[key, number], ...]}; keys are JSON strings or JSON integers, what is "
    "left out is zero; a list is a dense vector",
    "norm": "the length of x",
    "pass": "every answer is the nearest double of the exact value, compared with ==; a result "
    "beyond the doubles is the error not-finite",
}
CLAUSES = {
    "dot": "VEC-DOT",
    "norm": "VEC-NORM",
    "squared_distance": "VEC-SQDIST",
    "distance": "DIST-L2",
    "cosine": "SIM-COS",
    "distance_matrix": "DIST-MAT",
    "similarity_matrix": "SIM-MAT",
}

Number = int | float | Fraction
Dense = Sequence[Number]
Sparse = Mapping[str, Number] | Mapping[int, Number]
Exact = dict[str | int, Fraction]


def number(value: object) -> str | bool:
    """A number as the file writes it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else str(value)
    return str(value)


def written(vector: Dense | Sparse) -> Json:
    """A vector as the file writes it."""
    if isinstance(vector, Mapping):
        pairs: list[Json] = [[key, number(value)] for key, value in vector.items()]
        return {"sparse": pairs}
    return [number(value) for value in vector]


def exact(vector: Dense | Sparse) -> Exact:
    """A vector as rationals by key or position."""
    items = vector.items() if isinstance(vector, Mapping) else enumerate(vector)
    return {key: Fraction(value) for key, value in items}


def product(x: Exact, y: Exact) -> Fraction:
    """The definition of the dot product."""
    total = Fraction(0)
    for key in {**x, **y}:
        total += x.get(key, Fraction(0)) * y.get(key, Fraction(0))
    return total


def gap(x: Exact, y: Exact) -> Fraction:
    """The definition of the squared distance."""
    total = Fraction(0)
    for key in {**x, **y}:
        total += (x.get(key, Fraction(0)) - y.get(key, Fraction(0))) ** 2
    return total


def signed_root(square: Fraction, negative: bool = False) -> dict[str, Json]:
    """The root of a rational, or its negative."""
    p, q = math.isqrt(square.numerator), math.isqrt(square.denominator)
    factor = -1 if negative else 1
    if Fraction(p, q) ** 2 == square:
        return encode_rational(factor * Fraction(p, q))
    root = ball(square).sqrt()
    assert witnesses_meet(root, mpmath.iv.sqrt(interval(square)))

    def compare(other: Fraction) -> int:
        # Sign of factor * root - other, by squares where the signs do not settle it.
        if factor * other <= 0:
            return factor
        return factor * sign(square - other * other)

    return encode_irrational(factor * root, compare)


def cosine(x: Exact, y: Exact) -> dict[str, Json]:
    """The definition of the cosine, with its error for the zero vector."""
    squares = product(x, x) * product(y, y)
    if not squares:
        return {"error": "zero-vector"}
    top = product(x, y)
    return signed_root(top * top / squares, top < 0)


def pair_case(slug: str, x: Dense | Sparse, y: Dense | Sparse, description: str) -> Json:
    """A case with every function of two vectors."""
    a, b = exact(x), exact(y)
    expect: dict[str, Json] = {
        "dot": encode_rational(product(a, b)),
        "norm": signed_root(product(a, a)),
        "squared_distance": encode_rational(gap(a, b)),
        "distance": signed_root(gap(a, b)),
        "cosine": cosine(a, b),
    }
    given: dict[str, Json] = {"x": written(x), "y": written(y)}
    return case(slug, given, expect, description)


def matrix_case(slug: str, rows: Sequence[Dense | Sparse], description: str) -> Json:
    """A case with both matrices, the second only where no row is zero."""
    vectors = [exact(row) for row in rows]
    expect: dict[str, Json] = {
        "distance_matrix": nested([[signed_root(gap(a, b)) for b in vectors] for a in vectors])
    }
    if all(product(a, a) for a in vectors):
        expect["similarity_matrix"] = nested([[cosine(a, b) for b in vectors] for a in vectors])
    else:
        expect["similarity_matrix"] = {"error": "zero-vector"}
    return case(slug, {"rows": [written(row) for row in rows]}, expect, description)


def nested(rows: list[list[dict[str, Json]]]) -> dict[str, Json]:
    """A matrix of values as lists of lists."""
    return {"list": [{"list": [*row]} for row in rows]}


def case(slug: str, given: dict[str, Json], expect: dict[str, Json], description: str) -> Json:
    """One case with the clauses of its keys."""
    formulas: list[Json] = ["REP-VEC", *(CLAUSES[key] for key in expect if key in CLAUSES)]
    return {
        "id": f"vec-{slug}",
        "input": given,
        "expect": expect,
        "description": description,
        "formulas": formulas,
    }


def refused(slug: str, x: Dense | Sparse, y: Dense | Sparse, code: str, description: str) -> Json:
    """A pair that every function refuses."""
    return case(slug, {"x": written(x), "y": written(y)}, {"error": code}, description)


def cases() -> list[Json]:
    """All cases, fixed ones first."""
    use_precision()
    third = Fraction(1, 3)
    big, least = math.nextafter(math.inf, 0), math.ulp(0.0)
    found = [
        pair_case("integers", [1, 2, 3], [4, 5, 6], "small integers"),
        pair_case("orthogonal", [1, 0], [0, 1], "cosine exactly 0"),
        pair_case("opposite", [0.1, -0.7], [-0.3, 2.1], "nearly opposite, not exactly"),
        pair_case("three-four", [3, 4], [4, 3], "roots that are rational"),
        pair_case("same", [0.1, 0.2, 0.3], [0.1, 0.2, 0.3], "cosine exactly 1, not above"),
        pair_case("parallel", [0.1, 0.2, 0.4], [0.3, 0.6, 1.2], "doubled doubles, tripled ones"),
        pair_case("cancel", [1e16, 1.0, -1e16], [1, 1, 1], "a float sum loses the 1"),
        pair_case("cancel-huge", [1e200, -1e200, 7], [1e200, 1e200, 1], "products overflow"),
        pair_case("thirds", [third, third, third], [1, Fraction(1, 7), 0.1], "rationals"),
        pair_case("tenth", [0.1], [Fraction(1, 10)], "a double is not the decimal it prints as"),
        pair_case("square-first", [94906266.0, 5.0], [0.0, 0.0], "rounding the square is wrong"),
        pair_case("midpoint-even", [2**54 + 2], [0], "the root is a midpoint, down to even"),
        pair_case("midpoint-odd", [2**54 + 6], [0], "the root is a midpoint, up to even"),
        pair_case("beside-midpoint", [2**54 + 2, 2.0**-300], [0, 0], "just above the midpoint"),
        pair_case("least", [least, least], [-least, least], "subnormal lengths"),
        pair_case("least-three", [least] * 3, [0.0] * 3, "1.73 steps above zero round to two"),
        pair_case("tiny-product", [1e-200], [-1e-200], "products below the doubles are 0"),
        pair_case("huge", [big, 0.0], [big, big], "square beyond the doubles, length not always"),
        pair_case("huge-distance", [1e300], [-1e300], "squared distance beyond the doubles"),
        pair_case("wide", [1e300, 1e-300], [1e-300, 1e300], "600 powers of ten apart"),
        pair_case("zero", [0.0, -0.0], [3, 4], "the zero vector has no cosine"),
        pair_case("words", {"cat": 2, "dog": 1}, {"dog": 3, "cow": 9}, "one common word"),
        pair_case("words-order", {"dog": 1, "cat": 2}, {"cow": 9, "dog": 3}, "other order of keys"),
        pair_case("columns", {7: 0.5, 2: 0.25}, {2: 3, 10: 0.1}, "integer keys"),
        pair_case("disjoint", {"a": 3}, {"b": 4}, "no common key"),
        pair_case("empty", {}, {"a": 1}, "an empty mapping is the zero vector"),
        pair_case("stored-zero", {"a": 0.0, "b": 2}, {"a": 5, "b": 2}, "a stored zero is no key"),
        refused("short", [1, 2], [1, 2, 3], "dimension-mismatch", "different lengths"),
        refused("kinds", [1, 2], {0: 1, 1: 2}, "dimension-mismatch", "dense against sparse"),
        refused("keys", {"a": 1}, {1: 1}, "mixed-keys", "strings against integers"),
        refused("nan", [1.0, math.nan], [1, 2], "not-finite", "not a number"),
        refused("infinite", [1.0, 2.0], [-math.inf, 2], "not-finite", "infinite"),
        refused("truth", [1, 2], [1, True], "bad-number", "a truth value is not a number"),
        matrix_case("triangle", [[0, 0], [3, 4], [0, 8]], "one zero row"),
        matrix_case("square", [[1, 0], [0, 2], [3, 4]], "no zero row"),
        matrix_case("documents", [{"a": 1, "b": 2}, {"b": 1}, {"c": 0.1, "a": 0.2}], "sparse"),
    ]
    ragged: dict[str, Json] = {"rows": [["1", "2"], ["3"]]}
    found.append(case("ragged", ragged, {"error": "ragged-rows"}, "rows of different lengths"))
    found.append(case("no-rows", {"rows": []}, {"error": "empty-input"}, "no rows"))
    rng = random.Random(20)
    for offset in (0.0, 1e3, 1e6, 1e8, 1e9, -1e15):
        for size in (1, 2, 3, 5, 8):
            x: Dense = [offset + 2 * rng.random() - 1 for _ in range(size)]
            y: Dense = [offset + 2 * rng.random() - 1 for _ in range(size)]
            slug = f"ladder-{offset:.0e}-{size}".replace("+", "").replace("--", "-minus-")
            found.append(pair_case(slug, x, y, "random numbers on an offset"))
        rows: list[Dense] = [[offset + rng.random() for _ in range(3)] for _ in range(5)]
        slug = f"ladder-rows-{offset:.0e}".replace("+", "").replace("--", "-minus-")
        found.append(matrix_case(slug, rows, "random rows on an offset"))
    return found


def texts() -> dict[str, str]:
    """Both files: path below the folder of vectors, and content."""
    return {
        PATH: file_text("data.vectors", TITLE, NOTES, cases()),
        vectors_logspace.PATH: vectors_logspace.text(),
    }


def main(folder: str = "spec/vectors") -> None:
    """Write both files."""
    for name, content in texts().items():
        print(write(Path(folder), name, content))


if __name__ == "__main__":
    main(*sys.argv[1:])
