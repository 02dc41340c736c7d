"""Edges of chapter 46: what is refused, equal distances, and the names of steps."""

from __future__ import annotations

from fractions import Fraction

import pytest

from refclust.errors import BadOption
from refclust.formulas import proximity as room
from refclust.formulas.clustered import Clustered
from refclust.formulas.undefined import Undefined
from refclust.numbers.real import sqrt


@pytest.mark.spec("DIST-SP")
def test_lengths_of_edges_are_not_negative() -> None:
    for length in (-1, Fraction(-1, 2), -0.25):
        with pytest.raises(BadOption, match="from 0 to 1"):
            room.shortest_paths(2, [(0, 1, length)])
    assert room.shortest_paths(2, [(0, 1, 0)])[0] == [0, 0]


@pytest.mark.spec("INT-HUBERTN", "INT-PB", "INT-CINDEX")
def test_objects_that_are_all_equally_far_apart() -> None:
    # The corners of a simplex: distances never vary, those of the centres of clusters do.
    corners = [[int(i == j) for j in range(4)] for i in range(4)]
    clustered = Clustered.of(corners, [0, 0, 1, 2])
    centres = {apart for _, _, apart in room.centre_lengths(clustered)}
    assert centres == {sqrt(Fraction(3, 2)), sqrt(2)}
    for formula in (room.internal_hubert_normalized, room.point_biserial, room.c_index):
        with pytest.raises(Undefined, match="0/0"):
            formula(clustered)


@pytest.mark.spec("INT-SIL", "INT-MSIL", "INT-DELTA", "INT-DIAM")
def test_steps_have_the_names_of_objects_and_clusters() -> None:
    clustered = Clustered.of([[0], [1], [5], [7]], "aabb")
    silhouettes = [step.symbol for step in room.silhouette(clustered).steps().steps]
    assert set(silhouettes) == {f"{letter}_{i}" for letter in "abs" for i in range(4)} | {"S"}
    medoids = [step.symbol for step in room.medoid_silhouette(clustered).steps().steps]
    assert medoids == ["s_0", "s_1", "s_2", "s_3", "MS"]
    dunn = [step.symbol for step in room.dunn(clustered).steps().steps]
    assert dunn == ["δ(a,b)", "Δ(b)", "D"]
    many = Clustered.of([[i] for i in range(13)], [i % 2 for i in range(13)])
    assert [step.symbol for step in room.silhouette(many).steps().steps] == ["S"]
