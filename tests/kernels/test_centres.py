"""Centres as a sequence of tuples over one buffer."""

from __future__ import annotations

from array import array

import pytest

from refclust.kernels.centres import CentreMatrix

ROWS = ((0.0, 1.0), (2.0, -3.5), (0.0, 1.0))


def test_a_matrix_is_a_sequence_of_tuples() -> None:
    centres = CentreMatrix.of(ROWS)
    assert (len(centres), centres.k, centres.d) == (3, 3, 2)
    assert tuple(centres) == centres.rows() == ROWS
    assert centres[1] == (2.0, -3.5)
    assert centres[1:] == ROWS[1:]
    assert centres.index((0.0, 1.0)) == 0
    assert list(dict.fromkeys(centres)) == [ROWS[0], ROWS[1]]
    assert CentreMatrix.of(centres) is centres


def test_equal_as_matrices_and_as_tuples() -> None:
    centres = CentreMatrix.of(ROWS)
    assert centres == CentreMatrix.flat(array("d", [0, 1, 2, -3.5, 0, 1]), 2)
    assert centres == ROWS
    assert centres != CentreMatrix.flat(array("d", [0, 1, 2, -3.5, 0, 1]), 3)
    assert centres != ROWS[:2]
    assert hash(centres) == hash(ROWS)
    assert repr(CentreMatrix.of([(1.0,)])) == "CentreMatrix.of([(1.0,)])"


def test_the_buffer_is_shared_and_cannot_be_written_to() -> None:
    numbers = array("d", [1, 2, 3, 4])
    centres = CentreMatrix.flat(numbers, 2)
    assert centres.values.obj is numbers
    with pytest.raises(TypeError):
        centres.values[0] = 5  # whatever the number
