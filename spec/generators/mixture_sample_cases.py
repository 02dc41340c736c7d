"""Cases of sampling from mixtures (chapter 30): decisions far from borders, normal numbers bounded.

A normal number r cos(2 pi v), r = sqrt(-2 log(1 - u)), errs by at most 32 u r: 19 u for the angle,
whose product with a rounded pi errs by 3 u of at most 2 pi, 4 u for the cosine, 8 u for r. The row
m + L g errs by that times |L|, by (d + 1) u |L| tril(G) |g| for the factor (``mixture_bounds``),
and by (d + 4) u of all terms.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from .make_sampling import Twister
from .mixture_bounds import Triangle, U, absolute, allowed, apply, total
from .mixture_counts import CountState
from .mixture_gaussian import MODELS, State, lifted, square
from .mixture_gaussian_family import told_state
from .mixture_numbers import (
    BALLS,
    WITNESSES,
    Field,
    encode,
    floats_of,
    told,
    told_rows,
    use_precision,
)
from .values import Json
from .vectors_common import mpmath
from .writer import VectorFile

FAR = Fraction(1, 10**6)


def chosen(shares: list[float], u: Fraction) -> int:
    """The least index whose cumulated share is above u of the whole."""
    whole, reached = sum(map(Fraction, shares), Fraction(0)), Fraction(0)
    for k, share in enumerate(shares):
        reached += Fraction(share)
        assert abs(reached - u * whole) > FAR or share == 0 or k == len(shares) - 1
        if share and reached > u * whole:
            return k
    raise AssertionError("a draw beyond the last share")


def factor(field: Field, matrix: Any) -> list[list[Any]]:
    """The lower triangular root: by columns in the first witness, by rows in the second."""
    d, zero = len(matrix), field.of(Fraction(0))
    lower = [[zero] * d for _ in range(d)]
    order = [(i, j) for j in range(d) for i in range(j, d)]
    for i, j in order if field is BALLS else sorted(order):
        rest = matrix[i][j] - field.total([lower[i][t] * lower[j][t] for t in range(j)])
        lower[i][j] = _root(rest) if i == j else rest / lower[j][j]
    return lower


def _root(value: Any) -> Any:
    return value.sqrt() if isinstance(value, arb) else mpmath.iv.sqrt(value)


def normal(field: Field, u: Fraction, v: Fraction) -> tuple[Any, Any]:
    """A normal number from two uniform ones, and the radius."""
    radius = _root(-2 * field.log(field.of(1 - u)))
    angle = 2 * field.pi() * field.of(v)
    return radius * (angle.cos() if field is BALLS else mpmath.iv.cos(angle)), radius


def gaussian(
    file: VectorFile, slug: str, model: str, state: State, n: int, seed: int, words: str
) -> None:
    """Append a sample of normal rows."""
    use_precision()
    stream, d = Twister(seed), len(state.means[0])
    labels, rows, errors = [], ([], []), []  # type: ignore[var-annotated]
    for _ in range(n):
        k = chosen(state.weights, stream.number())
        labels.append(k)
        pairs = [(stream.number(), stream.number()) for _ in range(d)]
        both = []
        for field, into in zip(WITNESSES, rows, strict=True):
            whole = square(lifted(field, state.spreads[k]), d, field.of(Fraction(0)))
            lower, made = factor(field, whole), [normal(field, u, v) for u, v in pairs]
            both.append((lower, made))
            into.append(
                [
                    field.of(Fraction(m))
                    + field.total([a * g for a, (g, _) in zip(line, made, strict=True)])
                    for m, line in zip(state.means[k], lower, strict=True)
                ]
            )
        errors.append(
            _errors(state, k, floats_of(both[0][0]), floats_of([list(x) for x in both[0][1]]))
        )
    expect: dict[str, Json] = {
        "labels": {"list": [{"exact": str(k)} for k in labels]},
        "rows": encode(rows[0], rows[1], allowed(errors)),
    }
    given: dict[str, Json] = {
        "model": model,
        "state": told_state(state),
        "n": str(n),
        "seed": str(seed),
    }
    file.add(slug, given, expect, words, formulas=["EM-SAMPLE", "LIN-CHOL"])


def _errors(state: State, k: int, lower: Any, made: Any) -> list[float]:
    d = len(lower)
    triangle = Triangle.of(square(state.spreads[k], d, 0.0))
    g, radii = [abs(one[0]) for one in made], [one[1] for one in made]
    size = absolute(lower)
    turned = [total([triangle.gram[i][j] * g[j] for j in range(i + 1)]) for i in range(d)]
    factored, drawn, plain = apply(size, turned), apply(size, radii), apply(size, g)
    return [
        U * ((d + 1) * factored[i] + 32 * drawn[i] + (d + 4) * (abs(m) + plain[i]))
        for i, m in enumerate(state.means[k])
    ]


def counts(
    file: VectorFile, slug: str, kind: str, state: CountState, n: int, seed: int, length: int
) -> None:
    """Append a sample of documents or presences: numbers that all programs agree on."""
    use_precision()
    stream, labels, rows = Twister(seed), list[int](), list[list[int]]()
    for _ in range(n):
        k = chosen(state.weights, stream.number())
        labels.append(k)
        theta = state.probabilities[k]
        if kind == "bernoulli":
            rows.append([int(stream.number() < Fraction(t)) for t in theta])
            continue
        row = [0] * len(theta)
        for _word in range(_poisson(stream, length)):
            row[chosen(theta, stream.number())] += 1
        rows.append(row)
    expect: dict[str, Json] = {
        "labels": {"list": [{"exact": str(k)} for k in labels]},
        "rows": {"list": [{"list": [{"exact": str(x)} for x in row]} for row in rows]},
    }
    given: dict[str, Json] = {
        "kind": kind,
        "state": {
            "weights": [told(x) for x in state.weights],
            "probabilities": told_rows(state.probabilities),
        },
        "n": str(n),
        "seed": str(seed),
    }
    if kind == "multinomial":
        given["length"] = str(length)
    file.add(slug, given, expect, formulas=["EM-SAMPLE"])


def _poisson(stream: Twister, mean: int) -> int:
    """How many exponential waiting times fit into the mean."""
    reached, count = -BALLS.log(BALLS.of(1 - stream.number())), 0
    while True:
        assert abs(float(reached) - mean) > float(FAR), "a length on a border"
        if float(reached) > mean:
            return count
        reached -= BALLS.log(BALLS.of(1 - stream.number()))
        count += 1


def samples() -> VectorFile:
    """Samples of all families."""
    notes = {
        "numbers": "strings: an integer or a double in C99 hexadecimal",
        "labels": "the component that each row was drawn from",
        "pass": "an answer passes when it is within bound of the true value",
    }
    file = VectorFile("30-mixtures/samples.json", "mixture.sample", "Samples", notes)
    assert set(MODELS) >= {"VVV", "VVI", "EII"}
    plane = State(
        [0.25, 0.75], [[0.0, 1.0], [5.0, -2.0]], [[2.0, 0.5, 0.5, 1.0], [1.0, -0.5, -0.5, 4.0]]
    )
    gaussian(file, "sample-full", "VVV", plane, 8, 1, "full covariances")
    diagonal = State(
        [0.5, 0.5], [[0.1, 0.2, 0.3], [1e6, 0.0, -1e6]], [[1.0, 4.0, 0.25], [0.01, 1.0, 9.0]]
    )
    gaussian(file, "sample-diagonal", "VVI", diagonal, 6, 2, "diagonal covariances")
    sphere = State([0.0, 1.0], [[3.0], [-1.0]], [[0.5], [0.5]])
    gaussian(file, "sample-sphere", "EII", sphere, 6, 3, "a component without a share")
    topics = CountState([0.4, 0.6], [[0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3]])
    counts(file, "sample-words", "multinomial", topics, 8, 4, 6)
    lacking = CountState([0.5, 0.5], [[0.5, 0.0, 0.5], [0.25, 0.75, 0.0]])
    counts(file, "sample-words-zero", "multinomial", lacking, 8, 5, 3)
    counts(file, "sample-presences", "bernoulli", topics, 10, 6, 0)
    return file
