"""Digests of what all kernels of mixtures answer to a grid of random problems.

A process of its own runs this for each build of the compiled code (see
``test_numba_mixture_lanes``); all of them must print the same. Data are made of integers, so that
nothing but the compiled code decides a bit.
"""

from __future__ import annotations

import hashlib
import random
import sys
from array import array
from collections.abc import Iterator
from typing import Any

from refclust_numba.lowlevel.threads import limited
from refclust_numba.mixtures.sizes import TINY, USUAL, sized
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.data.dataset import Dataset, dense, sparse
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import HARD, SOFT, Rule

# n, d, K, threads: few and many columns, one block and several chunks.
GAUSSIANS = (
    *((n, d, k, 1) for n, d, k in ((1, 1, 1), (3, 2, 40), (127, 3, 5), (130, 7, 9))),
    *((200, d, 3, 1) for d in (4, 5, 6, 8, 9, 12, 13, 16, 17, 23)),
    *((n, d, k, 1) for n, d, k in ((150, 24, 3), (70, 25, 2), (140, 31, 4), (90, 33, 1))),
    *((6000, d, k, threads) for d, k in ((2, 5), (11, 3), (26, 2)) for threads in (1, 3)),
)
# n, d, K, threads: one group of lanes and several, one stretch of rows and several.
COUNTS = (
    *((40, 9, k, 1) for k in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40)),
    *((n, d, 6, 1) for n, d in ((1, 1), (127, 5), (129, 40), (300, 3))),
    *((3000, 50, k, threads) for k in (4, 20) for threads in (1, 3)),
)


def number(draw: random.Random, scale: int = 1 << 20) -> float:
    """A multiple of 2**-20 between -1 and 1 times the scale."""
    return draw.randrange(-scale, scale + 1) / (1 << 20)


def numbers(draw: random.Random, count: int, scale: int = 1 << 20) -> array[float]:
    """So many of them."""
    return array("d", [number(draw, scale) for _ in range(count)])


def positive(draw: random.Random, count: int) -> array[float]:
    """Multiples of 2**-20 in (0, 1]."""
    return array("d", [draw.randrange(1, (1 << 20) + 1) / (1 << 20) for _ in range(count)])


def weights_of(draw: random.Random, n: int) -> memoryview | None:
    """No weights, or some of which every fifth is zero."""
    if draw.randrange(2):
        return None
    values = [0.0 if i % 5 == 4 else x for i, x in enumerate(positive(draw, n))]
    return memoryview(array("d", values)).toreadonly()


def rules(draw: random.Random, n: int, k: int) -> Iterator[Rule]:
    """All ways to share out rows."""
    yield SOFT
    yield HARD
    yield from (Rule(top=top) for top in (2, 3, k - 1) if 1 < top < k)
    yield from (Rule(draws=positive(draw, s * n), samples=s) for s in (1, 3))


def flat(answer: Any) -> Iterator[bytes]:
    """All numbers of an answer, bit by bit."""
    if isinstance(answer, float):
        yield answer.hex().encode()
    elif isinstance(answer, CentreMatrix | str | int | None):
        return
    elif hasattr(answer, "__dataclass_fields__"):
        for name in answer.__dataclass_fields__:
            yield from flat(getattr(answer, name))
    else:
        yield memoryview(answer).tobytes()


def gaussians(draw: random.Random, form: Any, k: int, d: int) -> Gaussians:
    """Densities of a form, whitened by triangles whose diagonals are not small."""
    means = CentreMatrix.of([[number(draw) for _ in range(d)] for _ in range(k)])
    if form == "full":
        white = array("d", [
            (1.0 if i == j else 0.0) + number(draw) / 2 if j <= i else 0.0
            for _ in range(k) for i in range(d) for j in range(d)
        ])  # fmt: skip
    else:
        white = positive(draw, k * (d if form == "diagonal" else 1))
    return Gaussians(numbers(draw, k), means, white, form)


def gaussian_answers(shape: tuple[int, int, int, int], form: Any) -> Iterator[Any]:
    """What the kernels of normal densities answer to one problem."""
    n, d, k, threads = shape
    draw = random.Random(f"{n} {d} {k} {form}")
    kind = draw.choice("df")
    data = dense(array(kind, numbers(draw, n * d, 3 << 20)), d, weights=weights_of(draw, n))
    rows, densities = Rows(data), gaussians(draw, form, k, d)
    labels = array("i", [draw.randrange(-1, k) for _ in range(n)])
    with limited(threads):
        for rule in rules(draw, n, k):
            yield FUNCTIONS["gaussian.em_step"](rows, densities, rule)
        yield FUNCTIONS["gaussian.posterior"](rows, densities, True)
        for q in (labels, positive(draw, n * k)):
            moments = FUNCTIONS["gaussian.moments"](rows, q, k, densities.means, densities.spread)
            yield moments
    yield FUNCTIONS["gaussian.scatters"](rows, moments, ())
    yield FUNCTIONS["gaussian.traces"](rows, moments.seconds, densities.whitening, form)
    squares = [
        a if form != "full" or i // d % d != i % d else a + 100.0 * n
        for i, a in enumerate(moments.seconds.tolist())
    ]
    yield FUNCTIONS["gaussian.whitening"](rows, array("d", squares), densities.spread)


def counts(draw: random.Random, n: int, d: int) -> Dataset:
    """Sparse or dense rows of counts, some of them fractions."""
    values = [draw.choice((0.0, 0.0, 1.0, 2.0, abs(number(draw)))) for _ in range(n * d)]
    weights = weights_of(draw, n)
    if draw.randrange(2):
        return dense(array("d", values), d, weights=weights)
    starts, columns = array("q", [0]), array("q")
    for i in range(n):
        columns.extend(j for j in range(d) if values[i * d + j])
        starts.append(len(columns))
    kept = array("d", [x for x in values if x])
    return sparse(starts, columns, kept, d, weights=weights)


def count_answers(shape: tuple[int, int, int, int]) -> Iterator[Any]:
    """What the kernels of counts answer to one problem."""
    n, d, k, threads = shape
    draw = random.Random(f"{n} {d} {k}")
    rows = Rows(counts(draw, n, d))
    slopes = array("d", [-x * 8 for x in positive(draw, k * d)])
    terms = Terms(numbers(draw, k), slopes)
    labels = array("i", [draw.randrange(-1, k) for _ in range(n)])
    with limited(threads):
        for rule in rules(draw, n, k):
            yield FUNCTIONS["multinomial.em_step"](rows, terms, rule)
        yield FUNCTIONS["multinomial.posterior"](rows, terms, True)
        yield FUNCTIONS["multinomial.moments"](rows, labels, k)
        yield FUNCTIONS["multinomial.moments"](rows, positive(draw, n * k), k)
        tallies = Tallies(array("d", [2.0 + i for i in range(k)]), positive(draw, k * d))
        for kind in ("multinomial", "bernoulli"):
            for m in (0.0, 0.5):
                shares = (1.0 / d,) * d
                yield FUNCTIONS["multinomial.m_step"](rows, tallies, m, shares, kind)
            thetas = [0.0, 1.0, 5e-324, *positive(draw, k * d)][: k * d]
            yield FUNCTIONS["multinomial.logs"](rows, array("d", thetas), kind)


def lines() -> Iterator[str]:
    """One digest for each problem."""
    for name, sizes in (("usual", USUAL), ("tiny", TINY)):
        with sized(sizes):
            for form in ("full", "diagonal", "spherical"):
                for shape in GAUSSIANS:
                    yield digest(f"{name} {form}", shape, gaussian_answers(shape, form))
            for shape in COUNTS:
                yield digest(f"{name} counts", shape, count_answers(shape))


def digest(name: str, shape: tuple[int, int, int, int], answers: Iterator[Any]) -> str:
    """The digest of some answers; the number of threads is no part of its name."""
    content = hashlib.sha256()
    for answer in answers:
        for part in flat(answer):
            content.update(part)
    return f"{name} n={shape[0]} d={shape[1]} k={shape[2]}: {content.hexdigest()}"


if __name__ == "__main__":
    for line in lines():
        sys.stdout.write(f"{line}\n")
