"""Data sets: what they hold, what they refuse, and one digest whatever the buffers."""

from __future__ import annotations

import hashlib
import math
import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.dataset import (
    Dataset,
    Dense,
    Sparse,
    dense,
    first_not_finite,
    readonly,
    sparse,
)
from refclust.errors import (
    BadWeight,
    EmptyInput,
    FeatureMismatch,
    LabelLengthMismatch,
    NegativeCount,
    NotFinite,
    RaggedRows,
    RefclustError,
)


def two_rows(**known: object) -> Dataset:
    return dense(array("d", [1, 2, 3, 4]), 2, **known)


def three_sparse(**known: object) -> Dataset:
    starts, columns = array("q", [0, 2, 2, 3]), array("q", [0, 2, 1])
    return sparse(starts, columns, array("d", [1, 2, 3]), 4, **known)


def weights(*values: float) -> memoryview:
    return readonly(array("d", values))


@pytest.mark.spec("DATA-SET")
def test_shape_and_rows() -> None:
    data = two_rows(features=("x", "y"), ids=("a", "b"))
    assert (data.n, data.d, len(data), data.kind) == (2, 2, 2, "dense")
    assert list(data.rows()) == [(1.0, 2.0), (3.0, 4.0)]
    assert (data.feature_name(1), data.row_name(1)) == ("y", "b")
    other = three_sparse()
    assert (other.n, other.d, other.kind) == (3, 4, "sparse")
    assert list(other.rows()) == [{0: 1.0, 2: 2.0}, {}, {1: 3.0}]
    assert (other.feature_name(2), other.row_name(0)) == ("2", "0")
    assert repr(other) == f"<Dataset: 3 sparse rows, 4 features, {other.digest()[:12]}>"


@pytest.mark.spec("DATA-SET")
def test_buffers_cannot_be_written_to() -> None:
    with pytest.raises(TypeError):
        two_rows().matrix.values[0] = 7.0  # type: ignore[call-overload]


@pytest.mark.spec("DATA-SET")
@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        ({"ids": ("a",)}, LabelLengthMismatch, "1 ids for 2 rows; one for each is due"),
        ({"labels": (1, 2, 3)}, LabelLengthMismatch, "3 labels for 2 rows; one for each is due"),
        ({"weights": weights(1)}, LabelLengthMismatch, "1 weights for 2 rows; one for each is due"),
        ({"features": ("x",)}, FeatureMismatch, "1 feature names for 2 features"),
        ({"features": ("x", "x")}, FeatureMismatch, "the feature 'x' occurs twice"),
        ({"weights": weights(1, -1)}, NegativeCount, "the weight of row 1 is -1.0; at least 0 is "),
        ({"weights": weights(math.inf, 1)}, NotFinite, "the weight of row 0 is inf; a finite numb"),
        ({"weights": weights(0, 0)}, BadWeight, "all weights are 0; at least one row must count"),
    ],
)
def test_refuses_what_does_not_fit(
    known: dict[str, object], error: type[RefclustError], message: str
) -> None:
    with pytest.raises(error) as caught:
        two_rows(**known)
    assert str(caught.value).startswith(message)


@pytest.mark.spec("DATA-SET")
def test_refuses_no_rows_ragged_rows_and_what_is_not_finite() -> None:
    with pytest.raises(EmptyInput):
        dense(array("d"), 2)
    with pytest.raises(EmptyInput):
        sparse(array("q", [0]), array("q"), array("d"), 2)
    with pytest.raises(RaggedRows, match="3 numbers do not fill rows of 2"):
        dense(array("d", [1, 2, 3]), 2)
    with pytest.raises(NotFinite, match="row 1, column 0 is nan; only finite numbers"):
        dense(array("d", [1, 2, math.nan, 4]), 2)
    with pytest.raises(NotFinite, match="row 2, column 1 is -inf; only finite numbers"):
        sparse(array("q", [0, 2, 2, 3]), array("q", [0, 2, 1]), array("d", [1, 2, -math.inf]), 4)


@pytest.mark.spec("DATA-SET")
def test_large_numbers_are_finite_though_their_sum_is_not() -> None:
    assert first_not_finite(weights(1.5e308, 1.5e308)) is None
    assert first_not_finite(weights(*[1e308] * 70_000, math.nan)) == 70_000
    assert dense(array("d", [1.5e308, 1.5e308]), 2).n == 1


@pytest.mark.spec("DATA-SET")
def test_selection_keeps_everything_together() -> None:
    data = two_rows(ids=("a", "b"), labels=("p", "q"), features=("x", "y"), weights=weights(0.5, 2))
    chosen = data.select([1, 0, 1])
    assert list(chosen.rows()) == [(3.0, 4.0), (1.0, 2.0), (3.0, 4.0)]
    assert (chosen.ids, chosen.labels) == (("b", "a", "b"), ("q", "p", "q"))
    assert chosen.features == ("x", "y")
    assert chosen.weights is not None
    assert chosen.weights.tolist() == [2.0, 0.5, 2.0]
    assert list(three_sparse().select([2, 1]).rows()) == [{1: 3.0}, {}]
    with pytest.raises(EmptyInput):
        data.select([])


@pytest.mark.spec("DATA-DIGEST")
def test_digest_is_the_one_of_the_chapter() -> None:
    told = b"refclust-data/1 dense 2 2\n" + struct.pack("<4d", 1, 2, 3, 4)
    assert two_rows().digest() == hashlib.sha256(told).hexdigest()
    weighed = told + b"weights\n" + struct.pack("<2d", 0.5, 2)
    assert two_rows(weights=weights(0.5, 2)).digest() == hashlib.sha256(weighed).hexdigest()
    told = b"refclust-data/1 sparse 3 4\n" + struct.pack("<4q3q3d", 0, 2, 2, 3, 0, 2, 1, 1, 2, 3)
    assert three_sparse().digest() == hashlib.sha256(told).hexdigest()


@pytest.mark.spec("DATA-DIGEST")
def test_digest_leaves_names_out() -> None:
    known = {"ids": ("a", "b"), "labels": (0, 1), "features": ("x", "y")}
    assert two_rows(**known).digest() == two_rows().digest()


single = st.floats(width=32, allow_nan=False, allow_infinity=False)
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.spec("DATA-DIGEST", "DATA-SET")
@given(st.lists(single, min_size=1, max_size=20))
def test_digest_does_not_depend_on_the_buffer(values: list[float]) -> None:
    n = len(values)
    doubles = dense(array("d", values), 1)
    singles = Dataset(Dense(readonly(array("f", values)), n, 1))
    assert singles.digest() == doubles.digest()
    assert list(singles.rows()) == list(doubles.rows())
    assert singles.select(range(n)).digest() == doubles.digest()
    starts, columns = array("q", range(n + 1)), array("q", [0] * n)
    wide = sparse(starts, columns, array("d", values), 1)
    small = Dataset(
        Sparse(
            readonly(array("i", starts)),
            readonly(array("i", columns)),
            readonly(array("f", values)),
            n,
            1,
        )
    )
    assert small.digest() == wide.digest()
    assert small.digest() != doubles.digest()
    assert list(small.select([0]).rows()) == list(wide.select([0]).rows())


@pytest.mark.spec("DATA-DIGEST")
@given(st.lists(finite, min_size=2, max_size=8), st.data())
def test_digest_tells_different_numbers_apart(values: list[float], draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, len(values) - 1))
    other = draw.draw(finite.filter(lambda x: x != values[place]))
    changed = [*values[:place], other, *values[place + 1 :]]
    before = dense(array("d", values), 1)
    assert dense(array("d", changed), 1).digest() != before.digest()
    assert dense(array("d", values), len(values)).digest() != before.digest()


@pytest.mark.spec("DATA-SET")
@given(st.lists(finite, min_size=1, max_size=10), st.data())
def test_selection_is_row_by_row(values: list[float], draw: st.DataObject) -> None:
    data = dense(array("d", values), 1, ids=tuple(map(str, range(len(values)))))
    places = st.integers(0, len(values) - 1)
    chosen = draw.draw(st.lists(places, min_size=1, max_size=10))
    selection = data.select(chosen)
    assert list(selection.rows()) == [data.row(i) for i in chosen]
    assert selection.ids == tuple(map(str, chosen))
