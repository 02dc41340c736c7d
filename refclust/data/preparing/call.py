"""``refclust.prepare``: data given in Python into prepared rows (chapter 07)."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from refclust.data.accepting.door import dataset
from refclust.data.dataset import DOUBLES, Dataset, Dense
from refclust.data.preparing import deciding, frames
from refclust.data.preparing.asked import Asked, Constants
from refclust.data.preparing.record import Missing, Preparation, PreparedColumn, Rule, Unseen
from refclust.data.preparing.scales import scale_of, scaled
from refclust.data.preparing.selecting import places, with_columns
from refclust.data.preparing.tables import frame_of
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.layout import arranged, check_names
from refclust.data.typed import Frame
from refclust.errors import BadNumber, BadOption, LabelLengthMismatch, MissingValue, NotFinite
from refclust.notes import tell
from refclust.numbers.reading import shown


def prepare(
    data: Any,
    *,
    columns: Iterable[str | int] | None = None,
    exclude: Iterable[str | int] | None = None,
    categorical: Iterable[str | int] | None = None,
    category_weight: float = 1.0,
    unseen: Unseen = "refuse",
    missing: Missing = "refuse",
    scale: Rule | Literal["none"] | None = None,
    constants: Constants | None = None,
    ids: Iterable[object] | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Iterable[Any] | None = None,
) -> Dataset:
    """Rows of doubles from a table: a data frame, columns by name, rows with gaps, a data set.

    What was done is the ``preparation`` of the data set, which a fit keeps: ``predict`` does the
    same to new rows. Columns are given as by ``--columns``; an integer is a number from 0.

    Spec: PREP-DEFAULT, PREP-COLUMNS, PREP-SCALED

    >>> rows = prepare({"width": [1, 3, None], "colour": ["red", "blue", "red"]},
    ...                categorical=["colour"], missing="mean", scale="range")
    >>> rows.features, rows.row(2)
    (('width', 'colour=blue', 'colour=red'), (0.5, 0.0, 1.0))
    >>> rows.preparation.said()
    'scaled: range; 1 column as 2 indicators of weight 1; missing cells: mean'
    """
    asked = Asked(
        scale="none" if scale is None else scale,
        missing=missing,
        weight=category_weight,
        unseen=unseen,
        constants=constants,
    )
    known: dict[str, Any] = {"ids": ids, "labels": labels, "weights": weights}
    lists = {"columns": columns, "exclude": exclude, "categorical": categorical}
    if categorical is None and missing == "refuse" and not isinstance(data, Frame):
        try:
            rows = dataset(data, **known)
        except (BadNumber, MissingValue, NotFinite):
            pass  # some cell is no number: what the columns hold will tell
        else:
            return _of_numbers(rows, lists, asked)
    return _of_table(frame_of(data), lists, asked, known)


def _of_numbers(data: Dataset, lists: dict[str, Any], asked: Asked) -> Dataset:
    """Rows that are numbers already; those of a table may have columns that are no features."""
    if data.preparation is not None:
        raise BadOption(f"these rows are prepared already ({data.preparation.said()})")
    options = _options(lists, () if data.features is None else tuple(map(str, data.features)))
    matrix = data.matrix
    if isinstance(matrix, Dense) and options.columns is None and options.exclude is None:
        names = [data.feature_name(j) for j in range(data.d)]
        numbers = (matrix.values[j :: matrix.d] for j in range(matrix.d))
        if deciding.among_numbers(names, numbers, asked):
            known = {"ids": data.ids, "labels": data.labels, "weights": data.weights}
            return _of_table(frame_of(data), lists, asked, known)
    stay = places(data, options, "the data set")
    rows, plan = with_columns(data, stay), Preparation(None)
    if rows.features is None and rows.d < data.d:
        # Without names new rows are told apart by their width only: the plan says what to take.
        plan = Preparation(tuple(map(PreparedColumn, stay)))
    if asked.rule is None:
        return rows if plan.columns is None else replace(rows, preparation=plan)
    measured = scale_of(rows, asked.rule)
    return replace(scaled(rows, measured), preparation=replace(plan, scale=measured))


def _options(lists: dict[str, Any], names: Sequence[str]) -> Options:
    texts: dict[str, Any] = {key: _items(key, items, names) for key, items in lists.items()}
    return Options(**texts)


def _of_table(frame: Frame, lists: dict[str, Any], asked: Asked, known: dict[str, Any]) -> Dataset:
    options = _options(lists, frame.names if frame.named else ())
    columns = arranged("the table", frame.names, replace(options, header=frame.named))
    features, left_out = deciding.used(frame, columns, options, asked)
    if frame.named:
        check_names("the table", frame.names, features)
    if left_out:
        tell(deciding.note_of(left_out, columns, frame.named), warning=True)
    numbered = not frame.named and len(features) < len(frame.columns)
    return frames.encoded(frame, features, _beside(frame, known), columns, asked, numbered=numbered)


def _beside(frame: Frame, known: dict[str, Any]) -> frames.Beside:
    for name, values in known.items():
        if values is not None:
            known[name] = [*values]
            if len(known[name]) != frame.n:
                raise LabelLengthMismatch(
                    f"{len(known[name])} {name} for {frame.n} rows; one for each is due"
                )
    ids, labels, weights = known["ids"], known["labels"], known["weights"]
    return frames.Beside(
        None if ids is None else tuple(map(str, ids)),
        None if labels is None else tuple(labels),
        None if weights is None else array(DOUBLES, map(float, weights)),
    )


def _items(key: str, items: Any, names: Sequence[str]) -> tuple[str, ...] | None:
    """Columns as options name them; an integer, a number from 0 in Python, is one from 1 there."""
    if items is None:
        return None
    if isinstance(items, str):
        items = [items]
    texts: list[str] = []
    for item in items:
        plain = item.item() if callable(getattr(item, "item", None)) else item
        if isinstance(plain, str):
            texts.append(plain)
        elif isinstance(plain, int) and not isinstance(plain, bool):
            width = len(names)
            at = plain + width if plain < 0 and names else plain
            named = 0 <= at < width and names.count(names[at]) == 1
            texts.append(names[at] if named else str(plain + 1))
        else:
            raise BadOption(f"{key} has {shown(item)}; columns are named by texts or numbers")
    return tuple(texts)
