"""Typed tables into rows of doubles, and new tables into the same rows (chapter 07).

The steps are those of ``Preparation``: columns chosen, rows with missing cells dropped or their
cells filled in, categories as indicators, then numbers scaled.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace

from refclust.data.dataset import DOUBLES, Dataset, Features, dense, readonly
from refclust.data.preparing.asked import Asked
from refclust.data.preparing.record import Missing, Preparation, PreparedColumn
from refclust.data.preparing.scales import integers, mean_of, median_of, scale_of, scaled
from refclust.data.readers.cells import number_in, shown, weight_in
from refclust.data.readers.tables.layout import Layout
from refclust.data.typed import Column, Frame
from refclust.errors import EmptyInput, EmptyLabel, MissingValue, NotFinite, UnseenCategory
from refclust.limits import within

Rows = Sequence[int]


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside the features of a table, row for row."""

    ids: tuple[str, ...] | None = None
    labels: tuple[Hashable, ...] | None = None
    weights: array[float] | None = None


def beside(frame: Frame, columns: Layout) -> Beside:
    """The ids, labels and weights of a table, as they are written there.

    Spec: DATA-CSV
    """

    def texts(j: int | None) -> tuple[str, ...] | None:
        if j is None:
            return None
        column = frame.columns[j]
        cells = column.names() if column.raw is None else column.raw
        for i, cell in enumerate(cells):
            if not cell:
                raise EmptyLabel(f"{frame.place(i, j)} is empty; it names every row")
        return tuple(map(str, column.names() if column.raw is None else column.raw))

    weights: array[float] | None = None
    if columns.weight is not None:
        j = columns.weight
        written = texts_of(frame.columns[j])
        weights = array(DOUBLES, (weight_in(x, frame.place(i, j)) for i, x in enumerate(written)))
    return Beside(texts(columns.id), texts(columns.label), weights)


def texts_of(column: Column) -> Sequence[str]:
    """The cells of a column as they are written, empty where nothing is."""
    return column.raw if column.raw is not None else [text or "" for text in column.names()]


def encoded(
    frame: Frame,
    features: Sequence[int],
    around: Beside,
    columns: Layout,
    asked: Asked,
    *,
    numbered: bool = False,
) -> Dataset:
    """Rows of doubles from the columns of a table, with what was done to them.

    Spec: PREP-MISSING, PREP-FILL, PREP-ONEHOT, PREP-SCALED
    """
    kept = kept_rows(frame, [*features], asked.missing, columns.categorical)
    prepared = tuple(
        PreparedColumn(
            frame.columns[j].name if known_by_name(frame, j) else j,
            _categories(frame, j, kept) if j in columns.categorical else None,
        )
        for j in features
    )
    plan = Preparation(prepared, asked.missing, None, float(asked.weight), asked.unseen, None)
    typed = any(column.categories is not None for column in prepared)
    data = _assembled(frame, features, plan, around, kept)
    if asked.missing in ("mean", "median"):
        rule = mean_of if asked.missing == "mean" else median_of
        fills = _fills(data, rule)
        plan = replace(plan, fills=fills)
        data = _filled(data, fills)
    if asked.rule is not None:
        indicators = {j for j, (_, name) in enumerate(plan.features or ()) if name is not None}
        plan = replace(plan, scale=scale_of(data.checked(), asked.rule, plain=indicators))
    if not (typed or numbered) and asked.missing == "refuse":
        plan = replace(plan, columns=None)
    whole = data.checked() if plan.scale is None else scaled(data.checked(), plan.scale)
    trivial = plan.columns is None and plan.scale is None
    return whole if trivial else replace(whole, preparation=plan)


def applied(plan: Preparation, frame: Frame, around: Beside, places: Sequence[int]) -> Dataset:
    """New rows, prepared as those of the fit were; ``places`` are the columns of the plan.

    Spec: PREP-MODEL, PREP-UNSEEN
    """
    pairs = zip(places, plan.columns or (), strict=True)
    nominal = frozenset(j for j, column in pairs if column.categories is not None)
    kept = kept_rows(frame, places, plan.missing, nominal)
    data = _assembled(frame, places, plan, around, kept)
    if plan.fills is not None:
        data = _filled(data, plan.fills)
    whole = data.checked() if plan.scale is None else scaled(data.checked(), plan.scale)
    return replace(whole, preparation=plan)


def known_by_name(frame: Frame, j: int) -> bool:
    """Whether a column has a name of its own, by which it can be found again.

    Spec: PREP-MODEL
    """
    return frame.named and frame.names.count(frame.names[j]) == 1


@dataclass(frozen=True, slots=True)
class _Loose:
    """Rows that may still have missing cells (NaN), before they are a data set."""

    values: array[float]
    d: int
    features: Features | None
    around: Beside

    @property
    def n(self) -> int:
        return len(self.values) // self.d

    def checked(self) -> Dataset:
        return dense(
            self.values,
            self.d,
            ids=self.around.ids,
            features=self.features,
            labels=self.around.labels,
            weights=None if self.around.weights is None else readonly(self.around.weights),
        )


def kept_rows(
    frame: Frame, features: Sequence[int], missing: Missing, nominal: Collection[int]
) -> list[int]:
    """The rows that stay; a cell that is missing and may not be is refused, the first first.

    Spec: PREP-MISSING, PREP-DROP
    """
    empty = {(i, j) for j in features for i in frame.columns[j].missing()}
    # Where categories are due, any text is one; where numbers are due, no text is one.
    numeric = [j for j in features if j not in nominal]
    wrong = [(i, j) for j in numeric if (i := _no_number(frame.columns[j])) is not None]
    wrong += [(i, j) for j in numeric if (i := _infinite(frame.columns[j])) is not None]
    if missing == "refuse":
        wrong += empty
    if wrong:
        i, j = min(wrong, key=lambda cell: (cell[0], features.index(cell[1])))
        _refuse(frame, i, j)
    gone = {i for i, _ in empty} if missing == "drop" else set()
    kept = [i for i in range(frame.n) if i not in gone]
    if not kept:
        raise EmptyInput(
            f"every row of {frame.file or 'the table'} has a missing cell; none is left"
        )
    return kept


def _no_number(column: Column) -> int | None:
    if column.numbers is not None:
        return column.no_number()
    return next((i for i, text in enumerate(column.texts or ()) if text is not None), None)


def _infinite(column: Column) -> int | None:
    return next((i for i, x in enumerate(column.numbers or ()) if math.isinf(x)), None)


def _refuse(frame: Frame, i: int, j: int) -> None:
    column = frame.columns[j]
    cell = None if column.raw is None else column.raw[i]
    advice = "; --missing drop, mean or median says what to do with missing cells"
    if cell is None:
        x = None if column.numbers is None else column.numbers[i]
        if x is not None and math.isinf(x):
            raise NotFinite(f"{frame.place(i, j)} is {x!r}; only finite numbers are allowed")
        raise MissingValue(f"{frame.place(i, j)} is missing{advice}")
    if column.numbers is None and (column.texts is None or column.texts[i] is None):
        raise MissingValue(f"{frame.place(i, j)} is {shown(cell)}, a missing value{advice}")
    try:
        number_in(cell, frame.place(i, j))
    except (MissingValue, NotFinite) as error:
        more = advice if column.texts is not None and column.texts[i] is None else ""
        raise type(error)(f"{error}{more}") from None
    raise MissingValue(f"{frame.place(i, j)} is {shown(cell)}, a missing value{advice}")


def _categories(frame: Frame, j: int, kept: Rows) -> tuple[str, ...]:
    """The categories of a column: in the order of the file if it declares them, else sorted.

    Spec: PREP-ONEHOT
    """
    column = frame.columns[j]
    if column.categories is not None:
        return column.categories
    texts = [*column.names()]
    seen = sorted({text for i in kept if (text := texts[i]) is not None})
    if not seen:
        raise MissingValue(f"{frame.place(0, j)}: no cell of the column holds a category")
    return tuple(seen)


def _assembled(
    frame: Frame, places: Sequence[int], plan: Preparation, around: Beside, kept: Rows
) -> _Loose:
    """The cells of the rows that stay, with indicators for categories; NaN where missing."""
    assert plan.columns is not None
    d = sum(column.width for column in plan.columns)
    within("memory", 8 * d * len(kept), f"{frame.file or 'the table'} with its categories")
    values = array(DOUBLES, bytes(8 * d * len(kept)))
    at = 0
    for j, column in zip(places, plan.columns, strict=True):
        for each in _features(frame, j, column, plan, kept):
            values[at::d] = each
            at += 1
    return _Loose(values, d, _feature_names(frame, plan), _selected(frame, around, kept))


def _features(
    frame: Frame, j: int, column: PreparedColumn, plan: Preparation, kept: Rows
) -> list[array[float]]:
    cells = frame.columns[j]
    if column.categories is None:
        numbers = cells.numbers
        if numbers is None:
            numbers = memoryview(array(DOUBLES, [math.nan]) * frame.n)
        return [array(DOUBLES, (numbers[i] for i in kept))]
    position = {category: place for place, category in enumerate(column.categories)}
    texts = [*cells.names()]
    made = [array(DOUBLES, bytes(8 * len(kept))) for _ in column.categories]
    for row, i in enumerate(kept):
        text = texts[i]
        if text is None:
            for indicator in made:
                indicator[row] = math.nan
        elif text in position:
            made[position[text]][row] = plan.weight
        elif plan.unseen == "refuse":
            raise UnseenCategory(
                f"{frame.place(i, j)} is {shown(text)}, a category that the fit has not seen; "
                "--unseen zeros gives such a row none of the categories"
            )
    return made


def _feature_names(frame: Frame, plan: Preparation) -> Features | None:
    behind = plan.features or ()
    if not frame.named and all(category is None for _, category in behind):
        return None
    return tuple(
        _called(column) + ("" if category is None else f"={category}")
        for column, category in behind
    )


def _called(column: PreparedColumn) -> str:
    return column.name if isinstance(column.name, str) else str(column.name + 1)


def _selected(frame: Frame, around: Beside, kept: Rows) -> Beside:
    """Ids, labels and weights of the rows that stay; rows without an id keep their number."""
    if len(kept) == frame.n:
        return around
    return Beside(
        tuple(str(i) if around.ids is None else around.ids[i] for i in kept),
        None if around.labels is None else tuple(around.labels[i] for i in kept),
        None if around.weights is None else array(DOUBLES, (around.weights[i] for i in kept)),
    )


def _fills(
    data: _Loose, rule: Callable[[Sequence[float], Sequence[int]], float]
) -> tuple[float, ...]:
    """For every feature what its missing cells become.

    Spec: PREP-FILL
    """
    given = data.around.weights
    weights = [1] * data.n if given is None else integers(given)[0]
    fills: list[float] = []
    for j in range(data.d):
        column = data.values[j :: data.d]
        seen = [(x, w) for x, w in zip(column, weights, strict=True) if x == x and w]
        if not seen:
            name = j + 1 if data.features is None else data.features[j]
            raise MissingValue(f"the column {name!r} has no cell that is there and weighs anything")
        fills.append(rule([x for x, _ in seen], [w for _, w in seen]))
    return tuple(fills)


def _filled(data: _Loose, fills: Sequence[float]) -> _Loose:
    values = array(DOUBLES, data.values)
    for j, fill in enumerate(fills):
        column = values[j :: data.d]
        values[j :: data.d] = array(DOUBLES, (x if x == x else fill for x in column))
    return replace(data, values=values)
