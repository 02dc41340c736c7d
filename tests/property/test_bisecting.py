"""Bisecting k-means on arbitrary rows: the tree explains its labels."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.cluster.bisecting import bisecting
from refclust.cluster.results import Split

ROWS = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=12, unique=True
)


@pytest.mark.spec("HC-BISECT")
@given(ROWS, st.data())
def test_labels_are_found_by_going_down_the_tree(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(rows)))
    by = data.draw(st.sampled_from(["rss", "size"]))
    fit = bisecting(rows, k, by=by, seed=data.draw(st.integers(0, 5)))  # type: ignore[arg-type]
    for row, label in zip(rows, fit.labels, strict=True):
        node = fit.root
        while isinstance(node, Split):
            near, far = (_square(row, centre) for centre in node.centres)
            node = node.children[0 if near <= far else 1]
        assert node == label
    assert set(fit.labels) == set(range(k))
    assert sum(fit.sizes) == len(rows)
    exact = sum(_square(row, fit.centres[i]) for row, i in zip(rows, fit.labels, strict=True))
    assert fit.rss == float(exact)


def _square(row: tuple[int, int], centre: tuple[float, ...]) -> Fraction:
    return sum(((x - Fraction(c)) ** 2 for x, c in zip(row, centre, strict=True)), Fraction(0))
