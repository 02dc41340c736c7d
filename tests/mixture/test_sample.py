"""Rows drawn from mixtures: exact small cases, and moments of many draws (EM-SAMPLE)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refclust.errors import RefclustError
from refclust.fitting.draws import Draws, chosen, normal, poisson
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.sample import sample
from refclust.numbers.sampling import stream

PLANE = GaussianParameters(
    (0.25, 0.75), ((0.0, 1.0), (8.0, -3.0)), ((4.0, 2.0, 2.0, 5.0), (1.0, 0.0, 0.0, 9.0)), "full"
)
WORDS = CountParameters((0.5, 0.0, 0.5), ((0.5, 0.5, 0.0), (1.0, 0.0, 0.0), (0.25, 0.25, 0.5)))


@pytest.mark.spec("EM-SAMPLE")
def test_gaussian_rows_by_hand() -> None:
    """One number for the component, two for each column, in order; L of the covariance."""
    found = sample(PLANE, 3, family="gaussian", seed=11)
    rng = stream(11)
    for row, label in zip(found.rows, found.labels, strict=True):
        assert label == (0 if rng.random() < 0.25 else 1)
        g = []
        for _ in range(2):
            u, v = rng.random(), rng.random()
            g.append(math.sqrt(-2.0 * math.log1p(-u)) * math.cos(2.0 * math.pi * v))
        lower = ((2.0, 0.0), (1.0, 2.0)) if label == 0 else ((1.0, 0.0), (0.0, 3.0))
        mean = PLANE.means[label]
        due = [
            m + math.fsum(a * b for a, b in zip(line, g, strict=True))
            for m, line in zip(mean, lower, strict=True)
        ]
        assert row == pytest.approx(due, rel=1e-15, abs=1e-15)


@pytest.mark.spec("EM-SAMPLE")
def test_documents_by_hand() -> None:
    found = sample(WORDS, 4, family="multinomial", seed=3, length=2.0)
    rng = stream(3)
    for row, label in zip(found.rows, found.labels, strict=True):
        assert label == (0 if rng.random() < 0.5 else 2)
        reached, count = -math.log1p(-rng.random()), 0
        while reached <= 2.0:
            reached -= math.log1p(-rng.random())
            count += 1
        words = [0.0, 0.0, 0.0]
        for _ in range(count):
            u, j, below = rng.random(), 0, WORDS.probabilities[label][0]
            while u >= below:
                j += 1
                below += WORDS.probabilities[label][j]
            words[j] += 1
        assert list(row) == words


@pytest.mark.spec("EM-SAMPLE")
@pytest.mark.parametrize("u", [0.0, 0.25, 0.5, 1.0 - 2.0**-53])
def test_choices_never_take_what_has_no_share(u: float) -> None:
    assert chosen([0.0, 1.0, 1.0], u) == 1
    assert chosen([0.5, 0.5, 1.0, 1.0], u) == (0 if u < 0.5 else 2)
    assert chosen([1e-300], u) == 0


@pytest.mark.spec("EM-SAMPLE")
def test_moments_of_many_draws() -> None:
    """Within six standard errors: the chance of a false alarm is below 1e-8 for each."""
    n = 4000
    found = sample(PLANE, n, family="gaussian", seed=1)
    first = [row for row, label in zip(found.rows, found.labels, strict=True) if label == 0]
    share = len(first) / n
    assert abs(share - 0.25) <= 6 * math.sqrt(0.25 * 0.75 / n)
    m = len(first)
    for j, (mean, variance) in enumerate(zip((0.0, 1.0), (4.0, 5.0), strict=True)):
        values = [row[j] for row in first]
        centre = math.fsum(values) / m
        assert abs(centre - mean) <= 6 * math.sqrt(variance / m)
        spread = math.fsum((x - mean) ** 2 for x in values) / m
        assert abs(spread - variance) <= 6 * variance * math.sqrt(2 / m)
    cross = math.fsum(row[0] * (row[1] - 1.0) for row in first) / m
    # Var(xy) = s_x^2 s_y^2 + cov^2 for normal numbers.
    assert abs(cross - 2.0) <= 6 * math.sqrt((4 * 5 + 4) / m)


@pytest.mark.spec("EM-SAMPLE", "NB-POISSON")
def test_lengths_and_words_of_many_documents() -> None:
    n, mean = 2000, 3.5
    found = sample(WORDS, n, family="multinomial", seed=2, length=mean)
    lengths = [math.fsum(row) for row in found.rows]
    assert abs(math.fsum(lengths) / n - mean) <= 6 * math.sqrt(mean / n)
    assert 1 not in found.labels
    own = [row for row, label in zip(found.rows, found.labels, strict=True) if label == 2]
    words = math.fsum(map(math.fsum, own))
    last = math.fsum(row[2] for row in own)
    assert abs(last / words - 0.5) <= 6 * math.sqrt(0.25 / words)
    assert all(
        row[2] == 0 for row, label in zip(found.rows, found.labels, strict=True) if label == 0
    )
    draws = Draws(7)
    assert abs(math.fsum(normal(draws) for _ in range(2000)) / 2000) <= 6 / math.sqrt(2000)
    assert sum(poisson(draws, 0.5) == 0 for _ in range(2000)) / 2000 == pytest.approx(
        math.exp(-0.5), abs=6 * math.sqrt(0.24 / 2000)
    )


@pytest.mark.spec("EM-SAMPLE")
def test_presences_of_certain_words() -> None:
    two = CountParameters((1.0,), ((1.0, 0.0, 0.5),))
    found = sample(two, 400, family="bernoulli", seed=5)
    assert all(row[:2] == (1.0, 0.0) for row in found.rows)
    assert abs(math.fsum(row[2] for row in found.rows) / 400 - 0.5) <= 6 * math.sqrt(0.25 / 400)


@pytest.mark.spec("EM-SAMPLE")
@pytest.mark.parametrize(
    ("parameters", "options", "code"),
    [
        (PLANE, {"n": 0}, "bad-option"),
        (PLANE, {"n": 1.5}, "bad-option"),
        (PLANE, {"seed": -1}, "bad-option"),
        (PLANE, {"family": "multinomial"}, "bad-option"),
        (WORDS, {"family": "multinomial"}, "bad-option"),
        (WORDS, {"family": "multinomial", "length": "x"}, "bad-option"),
        (WORDS, {"family": "multinomial", "length": -1}, "bad-option"),
        (WORDS, {"family": "multinomial", "length": 1e7}, "bad-option"),
        (WORDS, {"family": "multinomial", "length": float("nan")}, "bad-option"),
        (WORDS, {"family": "gaussian"}, "bad-option"),
        (
            GaussianParameters((1.0,), ((0.0, 0.0),), ((1.0, 1.0, 1.0, 1.0),), "full"),
            {},
            "degenerate-covariance",
        ),
        (
            GaussianParameters((float("nan"),), ((0.0,),), ((1.0,),), "full"),
            {},
            "bad-option",
        ),
    ],
)
def test_what_is_refused(parameters: Any, options: dict[str, Any], code: str) -> None:
    known: dict[str, Any] = {"n": 2, "family": "gaussian", **options}
    with pytest.raises(RefclustError) as caught:
        sample(parameters, known.pop("n"), **known)
    assert caught.value.code == code
