"""The kernels of rows of counts, from their definitions (chapters 31 and 80)."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from fractions import Fraction

import pytest

from refclust.kernels.mixtures.multinomial import Tallies, Terms, em_step, moments, posterior
from refclust.kernels.mixtures.shared import HARD, Rule
from refclust.numbers.nearest import nearest
from tests.kernels import mixture_witness as witness

NONE = -math.inf
COUNTS: list[dict[int, float]] = [{0: 2.0, 2: 1.0}, {}, {1: 3.0}, {0: 1.0, 1: 1.0}]
TERMS = Terms(array("d", [0, -0.5]), array("d", [-1, -2, -4, -3, -0.25, NONE]))


@pytest.mark.spec("MMIX-ESTEP", "NB-LIK", "KER-POSTERIOR")
def test_densities_of_counts() -> None:
    points = witness.sparse_points(COUNTS, 3)
    found = posterior(points, TERMS, True)
    # The second component never has the third word; a document without words has no terms at all.
    assert found.joint == array("d", [-6.0, NONE, 0.0, -0.5, -6.0, -1.25, -3.0, -3.75])
    assert found.labels.tolist() == [0, 0, 1, 0]
    assert found.log_likelihoods[0] == -6.0
    assert (TERMS.k, TERMS.d) == (2, 3)


@pytest.mark.spec("KER-POSTERIOR")
def test_columns_that_must_be_there() -> None:
    points = witness.sparse_points(COUNTS, 3)
    both = posterior(points, replace(TERMS, certain=((0,), (1, 0))), True)
    assert both.joint == array("d", [-6.0, NONE, NONE, NONE, NONE, NONE, -3.0, -3.75])
    assert both.log_likelihoods[1:3] == array("d", [NONE, NONE])
    assert both.labels.tolist() == [0, 0, 0, 0]
    free = posterior(points, replace(TERMS, certain=((), ())), True)
    assert free == posterior(points, TERMS, True)


@pytest.mark.spec("KER-POSTERIOR", "KER-MOMENTS", "KER-EMSTEP")
def test_zeros_that_are_kept_change_nothing() -> None:
    rows = [tuple(row.get(j, 0.0) for j in range(3)) for row in COUNTS]
    thin, dense = witness.sparse_points(COUNTS, 3), witness.points_of(rows)
    stored = witness.sparse_points([dict(enumerate(row)) for row in rows], 3)
    for other in (dense, stored):
        assert posterior(other, TERMS, True) == posterior(thin, TERMS, True)
        assert moments(other, array("i", [0, 1, 1, 0]), 2) == moments(
            thin, array("i", [0, 1, 1, 0]), 2
        )
        assert em_step(other, TERMS, HARD) == em_step(thin, TERMS, HARD)


@pytest.mark.spec("MMIX-PI", "MMIX-THETA", "NB-COUNT", "KER-MOMENTS")
def test_tallies_of_labels_and_of_shares() -> None:
    points = witness.reweighted(witness.sparse_points(COUNTS, 3), [1.0, 2.0, 0.5, 0.0])
    found = moments(points, array("i", [0, 1, 1, 0]), 2)
    assert found == Tallies(array("d", [1.0, 2.5]), array("d", [2, 0, 1, 0, 1.5, 0]))
    assert moments(points, array("d", [1, 0, 0, 1, 0, 1, 1, 0]), 2) == found
    none = moments(points, array("i", [-1] * 4), 1)
    assert none == Tallies(array("d", [0.0]), array("d", [0.0] * 3))


@pytest.mark.spec("KER-MOMENTS")
def test_every_sum_is_rounded_once() -> None:
    rows = [{0: 0.1}, {0: 1e16}, {0: 0.3}, {0: 1.0}]
    exact = sum(Fraction(row[0]) for row in rows)
    found = moments(witness.sparse_points(rows, 1), array("i", [0] * 4), 1)
    assert found.sums[0] == nearest(exact.numerator, exact.denominator)


@pytest.mark.spec("MMIX-ESTEP", "KER-EMSTEP")
def test_a_step_is_a_posterior_and_its_tallies() -> None:
    points = witness.reweighted(witness.sparse_points(COUNTS, 3), [1.0, 2.0, 0.5, 4.0])
    found, hard = posterior(points, TERMS, False), em_step(points, TERMS, HARD)
    assert hard.moments == moments(points, found.labels, 2)
    assert (hard.bound, hard.entropy) == (-6.0 + 0.0 - 0.625 - 12.0, 0.0)
    drawn = em_step(points, TERMS, Rule(draws=array("d", [0.999, 0.99, 0.0, 0.5]), samples=1))
    assert drawn.moments == moments(points, array("i", [0, 1, 0, 0]), 2)
    assert drawn.bound == -6.0 + 2 * -0.5 + 0.5 * -6.0 + 4 * -3.0
    assert drawn.log_likelihood == em_step(points, TERMS).log_likelihood


@pytest.mark.spec("MMIX-ESTEP", "KER-EMSTEP")
def test_a_document_of_many_words_does_not_underflow() -> None:
    points = witness.sparse_points([{0: 1e5}], 1)
    step = em_step(points, Terms(array("d", [-1.0, -1.0]), array("d", [-8.0, -8.0])))
    assert step.moments.counts == array("d", [0.5, 0.5])
    assert step.log_likelihood == -800001.0 + math.log(2.0)
    assert step.entropy == math.log(2.0)
