"""Large labelings in buffers, and sums of logarithms that look at distinct counts only."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.backends.session import Session
from refclust.errors import LabelLengthMismatch
from refclust.formulas.information import (
    conditional_entropy,
    entropy_classes,
    entropy_clusters,
    joint_entropy,
    mutual_information,
    nmi_strehl_ghosh,
)
from refclust.kernels.contingency import CellTable, ExactCells, LabelPairs
from refclust.kernels.contingency import table as count
from refclust.metrics.calls.labelings import score
from refclust.metrics.contingency import Contingency, contingency
from refclust.metrics.score import evaluate
from refclust.numbers.real import SUM, Real, postorder, total
from tests.metrics.keys import EXTERNAL
from tests.metrics.strategies import Pair, labelings, some

LABELS = [3, -1, 3, 7, -1, 3]
CLASSES = [0, 0, 1, 1, 0, 0]


class Heard(Session):
    """Keeps what the kernels are given."""

    def __init__(self) -> None:
        super().__init__("reference")
        self.data: list[Any] = []

    def run(self, kernel: str, problem: Any, data: Any, *args: Any) -> Any:
        """Remember the data and go on."""
        self.data.append(data)
        return super().run(kernel, problem, data, *args)


def given_to_the_kernel(labels: Any, classes: Any, **more: Any) -> tuple[Any, Any]:
    session = Heard()
    table = contingency(classes, labels, session=session, **more)
    assert table.rows() == contingency(list(CLASSES), list(LABELS), **more).rows()
    assert {type(label) for label in (*table.clusters, *table.classes)} <= {int}
    return session.data[0].clusters, session.data[0].classes


# -- labels in buffers ----------------------------------------------------------------------


@pytest.mark.spec("CT-TABLE", "KER-CT")
@pytest.mark.parametrize("code", "bhilq")
def test_integers_in_a_buffer_are_counted_where_they_lie(code: str) -> None:
    labels, classes = array(code, LABELS), array(code.upper(), CLASSES)
    clusters, seen = given_to_the_kernel(labels, memoryview(classes))
    assert isinstance(clusters, memoryview)
    assert isinstance(seen, memoryview)
    assert clusters.readonly
    assert (clusters.obj, seen.obj) == (labels, classes)  # no copy


@pytest.mark.spec("CT-TABLE")
def test_arrays_of_other_libraries_are_counted_where_they_lie() -> None:
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    for kind in ("int8", "uint16", "int32", "int64", "uint64"):
        labels = numpy.array(LABELS).astype(kind if kind[0] == "i" else "int16")
        classes = numpy.array(CLASSES).astype(kind)
        for wrap in (lambda x: x, pandas.Series, pandas.Index):
            clusters, seen = given_to_the_kernel(wrap(labels), wrap(classes))
            assert isinstance(clusters, memoryview)
            assert isinstance(seen, memoryview)
    arrow = pytest.importorskip("pyarrow")
    clusters, seen = given_to_the_kernel(arrow.array(LABELS), arrow.array(CLASSES))
    assert isinstance(clusters, memoryview)


@pytest.mark.spec("CT-TABLE")
def test_whatever_is_no_plain_row_of_integers_is_read_as_before() -> None:
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    labels, classes = numpy.array(LABELS), numpy.array(CLASSES)
    odd = (
        numpy.repeat(labels, 2)[::2],  # not in one piece
        labels.astype(">i4"),  # bytes the other way round
        labels.astype(object),
        pandas.Series(LABELS, dtype="Int64"),
        pandas.Series(LABELS, dtype="category"),
    )
    for strange in odd:
        clusters, seen = given_to_the_kernel(strange, classes)
        assert isinstance(clusters, list)
        assert isinstance(seen, memoryview)
    masked = numpy.ma.array([1, 2, 3], mask=[False, True, False])
    assert contingency("aaa", masked).clusters == (1, None, 3)
    truths = contingency("ab", numpy.array([True, False]))
    assert [type(label) for label in truths.clusters] == [bool, bool]
    halves = contingency("ab", numpy.array([0.5, 1.0]))
    assert [type(label) for label in halves.clusters] == [float, float]
    missing = pandas.Series([1, None], dtype="Int64")
    with pytest.raises(TypeError):
        contingency("ab", missing)
    arrow = pytest.importorskip("pyarrow")
    assert contingency("aab", arrow.array([1, None, 1])).total == 3


@pytest.mark.spec("CT-NOISE", "CT-WEIGHT")
def test_noise_and_weights_of_buffers() -> None:
    labels, classes = array("i", LABELS), array("i", CLASSES)
    for policy in ("ordinary", "singletons", "ignore"):
        ours = contingency(classes, labels, noise=-1, noise_policy=policy)
        theirs = contingency(CLASSES, LABELS, noise=-1, noise_policy=policy)
        assert (ours.clusters, ours.classes) == (theirs.clusters, theirs.classes)
        assert ours.rows() == theirs.rows()
    given_to_the_kernel(labels, classes, weights=[1, 2, 3, 4, 5, Fraction(1, 2)])
    with pytest.raises(LabelLengthMismatch, match="6 true labels and 5 predicted"):
        contingency(classes, labels[:5])


@pytest.mark.spec("CT-TABLE")
def test_tables_do_not_change_with_the_labels_they_were_made_of() -> None:
    labels, classes = array("i", LABELS), array("i", CLASSES)
    found = score("nmi", classes, labels)
    before = found.table.rows(), found.digits(30)
    labels[0] = classes[0] = 9
    assert (found.table.rows(), found.digits(30)) == before


# -- cells in buffers -----------------------------------------------------------------------


def cells_of(pair: Pair) -> tuple[dict[Any, Any], CellTable]:
    cells = count(LabelPairs(pair.pred, pair.true))
    numbers: dict[Any, int] = {
        label: i for i, label in enumerate(dict.fromkeys((*pair.pred, *pair.true)))
    }
    plain: dict[Any, Any] = {(numbers[a], numbers[b]): n for (a, b), n in cells.items()}
    return plain, CellTable.of_dict(plain)


@pytest.mark.spec("KER-CT", "CT-TABLE")
@some(60)
@given(labelings(least=1, most=40))
def test_a_table_in_buffers_is_the_same_table(pair: Pair) -> None:
    plain, flat = cells_of(pair)
    assert flat == plain
    assert (len(flat), set(flat), dict(flat.items())) == (len(plain), set(plain), plain)
    assert sorted(flat.values()) == sorted(plain.values())
    assert ExactCells().fault(plain, flat) is None
    ours, theirs = Contingency.of_cells(flat), Contingency.of_cells(plain)
    for name in ("clusters", "classes", "row", "col", "total", "is_integer"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert list(ours.cells()) == list(theirs.cells())
    assert ours.sizes == theirs.sizes == Counter(plain.values())
    assert ours.rows() == theirs.rows()
    assert ours.transposed().rows() == theirs.transposed().rows()
    assert ours.largest_in_row() == theirs.largest_in_row()
    assert ours.largest_in_column() == theirs.largest_in_column()


@some(10)
@given(labelings(least=2, most=12))
def test_every_metric_of_a_table_in_buffers(pair: Pair) -> None:
    plain, flat = cells_of(pair)
    ours, theirs = Contingency.of_cells(flat), Contingency.of_cells(plain)
    for entry in EXTERNAL.values():
        found, due = evaluate(entry, ours, {}), evaluate(entry, theirs, {})
        assert (repr(found), found.undefined) == (repr(due), due.undefined)


@pytest.mark.spec("KER-CT")
def test_a_table_that_lies_about_its_cells_is_found_out() -> None:
    cells: dict[Any, Any] = {(1, 5): 2, (1, 6): 1, (4, 5): 2}
    assert ExactCells().fault(cells, CellTable.of_dict(cells)) is None
    good = CellTable.of_dict(cells)

    def changed(**parts: Any) -> CellTable:
        made = CellTable.of_dict(cells)
        for name, value in parts.items():
            setattr(made, name, value if isinstance(value, dict | list) else memoryview(value))
        return made

    told = {
        "not a flat buffer": changed(counts=array("d", [2, 1, 2])),
        "different numbers of cells": changed(sizes={2: 1, 1: 1}),
        "one sum for each label": changed(row_sums=array("q", [3, 2, 0])),
        "different numbers of objects": changed(row_sums=array("q", [3, 3])),
        "not plain integers": changed(sizes={2: 2, 1: True}),
        "the row sums are not": changed(row_sums=array("q", [2, 3])),
        "the sizes are not": changed(sizes={1: 1, 2: 1, 0: 0} | {2: 2, 3: 0}),
        "at (1, 5): 3 instead of 2": changed(counts=array("q", [3, 0, 2])),
        "(1, 6) is missing": CellTable.of_dict({(1, 5): 3, (4, 5): 2}),
        "(9, 5) should not be there": CellTable.of_dict({**cells, (9, 5): 1}),
        "the clusters are": changed(clusters=[True, 4]),
        "not those of the cells in their order": CellTable(
            (good.clusters, good.classes),
            (array("i", [1, 0, 0]), array("i", [0, 0, 1]), array("q", [2, 2, 1])),
            (good.row_sums, good.column_sums),
            good.sizes,
        ),
    }
    for fault, answer in told.items():
        assert fault in (ExactCells().fault(cells, answer) or ""), fault
    assert ExactCells().malformed({(1, 5): 2.0}) is not None
    assert ExactCells().malformed(good) is None


# -- sums of logarithms ---------------------------------------------------------------------


def written_out(x: Real) -> Real:
    """The same number from the terms that it shows, without its short cut."""
    [inner] = x.args
    assert inner.op == SUM
    return total(inner.args)


@pytest.mark.spec("ENT-C", "ENT-T", "ENT-JOINT", "ENT-COND", "MI-CT")
@some(40)
@given(labelings(least=1, most=30), st.booleans())
def test_short_sums_equal_what_they_show(pair: Pair, heavy: bool) -> None:
    weights = [10**6 + i for i in range(len(pair.true))] if heavy else None
    table = contingency(pair.true, pair.pred, weights=weights)
    for found in (
        entropy_clusters(table),
        entropy_classes(table),
        joint_entropy(table),
        conditional_entropy(table),
        conditional_entropy(table, of="clusters"),
        mutual_information(table),
    ):
        assert found == written_out(found)
        assert float(found) == float(written_out(found))
        low, high = found.enclosure(50)
        inner_low, inner_high = written_out(found).enclosure(90)
        assert low <= inner_low <= inner_high <= high
        assert high - low < 1e-45


@pytest.mark.spec("NMI-SG")
def test_nothing_is_written_out_for_a_value() -> None:
    table = Contingency.of_rows([[39, 6, 1], [8, 31, 1], [2, 1, 11]])
    for found in (mutual_information(table), nmi_strehl_ghosh(table)):
        float(found)
        assert found.fraction is None
        long = [x for x in postorder(found, parts) if x.op == SUM and x.content is not None]
        assert long
        for x in long:
            with pytest.raises(AttributeError):
                type(x).__base__.args.__get__(x)  # type: ignore[union-attr]
            assert len(x.args) in (3, 9)
            with pytest.raises(AttributeError):
                x.nothing  # type: ignore[attr-defined]  # noqa: B018


def parts(x: Real) -> Sequence[Real]:
    return () if x.content is not None and x.op == SUM else x.args


@pytest.mark.spec("MI-CT", "ENT-JOINT")
def test_a_large_table_of_equal_cells() -> None:
    labels, classes = array("i", range(1000)), array("i", range(1000))
    each = [array("i", [x % 1000 for x in range(10_000)]), array("i", range(10_000))]
    assert score("entropy_clusters[base=10]", classes, labels, backend="reference").fraction == 3
    assert score("joint_entropy[base=10]", *each, backend="reference").fraction == 4
    found = score("mutual_information", *each, backend="reference")
    assert float(found) == pytest.approx(math.log(1000), rel=1e-15)
    assert found.exact == score("entropy_classes", *each, backend="reference").exact


@pytest.mark.spec("MI-CT", "CT-WEIGHT")
def test_fractional_weights_are_added_as_written() -> None:
    weights: list[Hashable] = [Fraction(1, 3), Fraction(5, 7), 2, Fraction(1, 2)]
    table = contingency("aabb", "xyxy", weights=weights)
    found = mutual_information(table)
    assert all(x.content is None or x.op != SUM for x in postorder(found))
    assert found == written_out(found)
