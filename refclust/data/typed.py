"""Tables as people have them: typed columns of numbers and texts with missing cells (chapter 07).

Realises PREP-MISSING and PREP-KIND. A reader of tables gives a ``Frame``: the user's own rows, cell
by cell, before anything is chosen, filled in, encoded or scaled. A number column keeps doubles, NaN
where a cell is missing; a column that came as text keeps its texts, too.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from refclust.data.dataset import DOUBLES, readonly
from refclust.data.readers.cells import BLANKS, is_number, place_of
from refclust.errors import LabelLengthMismatch

Kind: TypeAlias = Literal["number", "nominal", "missing-only", "constant", "date", "text", "id"]
Cell: TypeAlias = str | float | None

MARKS: Final = frozenset(
    (
        *("", "na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "+nan", "-nan"),
        *("null", "none", "nil", "?", "-", "--", "."),
    )
)
ROWS: Final = 10  # fewer rows count up, and texts differ, by chance
_NAMED_ID: Final = re.compile(
    r"|#|(?:.*[_ .-])?(?:ids?|uuid|guid|key|nr|no)|.*[a-z]Id|id[_ .-]?[0-9]*|index|idx"
    r"|row[_ .-]?(?:names?|number|nr|no|id)|unnamed: ?[0-9]+"
)
_NAMED_CLASS: Final = re.compile(
    r"(?:.*[_ .-])?(?:label|class|target|cluster|species|truth)(?:e?s)?[_ .-]?[0-9]*", re.I
)
_CLOCK: Final = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: ?[AaPp][Mm])?"
_ZONE: Final = r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
_DAY: Final = (
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[0-9]{4}|[0-9]{2}))"
)
_DATE: Final = re.compile(rf"(?:{_DAY}(?:[T ]{_CLOCK}{_ZONE})?|{_CLOCK})")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a table: its name, what it holds, and its cells.

    Spec: PREP-KIND
    """

    name: str
    kind: Kind
    numbers: memoryview | None  # doubles, NaN where a cell is missing or no number
    texts: tuple[str | None, ...] | None  # as written, None where missing; None if never text
    categories: tuple[str, ...] | None = None  # those that the file itself declares, in its order
    raw: Sequence[str] | None = None  # as written, marks of missing cells included

    def __len__(self) -> int:
        return len(self.numbers if self.numbers is not None else self.texts or ())

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells: doubles if the column is one of numbers, else texts; None where missing."""
        if self.numbers is None:
            return self.texts or ()
        return tuple(None if x != x else x for x in self.numbers)

    def names(self) -> Iterator[str | None]:
        """The cells as texts, which name categories, ids and labels; None where missing."""
        if self.texts is not None:
            return iter(self.texts)
        return (None if x != x else text_of(x) for x in self.numbers or ())

    def missing(self) -> list[int]:
        """The rows whose cell is missing.

        Spec: PREP-MISSING
        """
        if self.texts is not None:
            return [i for i, text in enumerate(self.texts) if text is None]
        return [i for i, x in enumerate(self.numbers or ()) if x != x]

    def no_number(self) -> int | None:
        """The first row whose cell is there and yet no number, in a column of numbers."""
        if self.numbers is None or self.texts is None:
            return None
        cells = zip(self.numbers, self.texts, strict=True)
        return next((i for i, (x, text) in enumerate(cells) if x != x and text is not None), None)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The rows of a table column by column, and where they stand in their file.

    Spec: PREP-KIND
    """

    columns: tuple[Column, ...]
    n: int
    file: str = ""  # as messages call it
    lines: Sequence[int] | None = None  # where each row begins in the file
    named: bool = True  # by a header; else the names are numbers from 1

    def __post_init__(self) -> None:
        """Check that all columns have as many cells as there are rows."""
        for column in self.columns:
            if len(column) != self.n:
                raise LabelLengthMismatch(
                    f"the column {column.name!r} has {len(column)} cells for {self.n} rows"
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, in the order of the file."""
        return tuple(column.name for column in self.columns)

    def place(self, i: int, j: int) -> str:
        """What messages call the cell of row i and column j."""
        names = self.names if self.named else None
        if self.lines is not None:
            return place_of(self.file, self.lines[i], j, names)
        return f"row {i}, column " + (repr(self.names[j]) if self.named else str(j))


def is_missing(cell: str) -> bool:
    """Whether a cell holds nothing, or a mark that people write for a missing value.

    Spec: PREP-MISSING

    >>> [is_missing(cell) for cell in ("", " n/a", "NaN", "?", "-", "0", "no")]
    [True, True, True, True, True, False, False]
    """
    return len(cell) < 12 and cell.strip(BLANKS).lower() in MARKS


def of_texts(
    name: str, cells: Sequence[str], *, categories: tuple[str, ...] | None = None
) -> Column:
    """A column of cells as they are written in a file, its kind recognised.

    Spec: PREP-KIND, PREP-MISSING

    >>> of_texts("width", ["1", "", "2.50"]).cells
    (1.0, None, 2.5)
    >>> of_texts("outlook", ["sunny", "?", "rainy"]).kind
    'nominal'
    """
    texts = tuple(None if is_missing(cell) else cell for cell in cells)
    numbers = array(DOUBLES, (_double(text) for text in texts))
    there = len(texts) - texts.count(None)
    countable = sum(x == x for x in numbers)
    # Most cells decide: one slip of the pen among numbers is named, not taken for a category.
    numeric = categories is None and there > 0 and 2 * countable >= there
    values = readonly(numbers) if numeric else None
    column = Column(name, "number", values, texts, categories, cells)
    return replace(column, kind=kind_of(column))


def of_numbers(name: str, numbers: array[float] | memoryview) -> Column:
    """A column of doubles, NaN where a cell is missing, its kind recognised.

    Spec: PREP-KIND

    >>> of_numbers("patient_id", array("d", [7, 9, 8])).kind
    'id'
    """
    view = numbers if isinstance(numbers, memoryview) else readonly(numbers)
    column = Column(name, "number", view, None)
    return replace(column, kind=kind_of(column))


def kind_of(column: Column) -> Kind:
    """What a column holds, told from its name and its cells.

    Spec: PREP-KIND
    """
    if column.numbers is not None:
        return kind_of_numbers(column.name, column.numbers)
    texts = [text for text in column.texts or () if text is not None]
    if not texts:
        return "missing-only"
    if column.categories is not None:
        return "nominal"
    if all(_DATE.fullmatch(text.strip(BLANKS)) for text in texts):
        return "date"
    distinct = len(set(texts))
    if distinct == len(texts) > 1 and named_id(column.name):
        return "id"
    if distinct < ROWS or 2 * distinct <= len(texts):
        return "constant" if distinct == 1 and len(texts) > 1 else "nominal"
    spoken = any(sign in text for text in texts for sign in BLANKS)
    return "id" if distinct == len(texts) and not spoken else "text"


def kind_of_numbers(name: str, numbers: Sequence[float]) -> Kind:
    """What a column of doubles holds; NaN is a missing cell.

    Spec: PREP-KIND

    >>> kind_of_numbers("labels0", [1, 2, 2]), kind_of_numbers("x", [1, 2, 2])
    ('nominal', 'number')
    >>> kind_of_numbers("x", [*range(1, 11)]), kind_of_numbers("x", [3, 3])
    ('id', 'constant')
    """
    seen = (x for x in numbers if x == x)
    first, second = next(seen, None), next(seen, None)
    if first is None:
        return "missing-only"
    if second is None:
        return "number"
    if first == second and all(x == first for x in seen):
        return "constant"
    if len(numbers) >= ROWS and second == first + 1 and _counts_up(numbers):
        return "id"
    like_id, like_class = named_id(name), named_class(name)
    if not (like_id or like_class):
        return "number"  # most columns end here, after a glance at two cells
    there = [x for x in numbers if x == x]
    if not all(map(float.is_integer, map(float, there))):
        return "number"
    repeated = len(set(there)) < len(there)
    if like_id and not repeated:
        return "id"
    return "nominal" if like_class and repeated else "number"


def named_id(name: str) -> bool:
    """Whether a column is called as ids are.

    >>> [named_id(name) for name in ("id", "Patient ID", "customerId", "acid", "width")]
    [True, True, True, False, False]
    """
    return bool(_NAMED_ID.fullmatch(name) or _NAMED_ID.fullmatch(name.lower()))


def named_class(name: str) -> bool:
    """Whether a column is called as known classes are.

    >>> [named_class(name) for name in ("labels0", "Class", "true_cluster", "classic", "weight")]
    [True, True, True, False, False]
    """
    return bool(_NAMED_CLASS.fullmatch(name))


def text_of(number: float) -> str:
    """A double as it names a category: whole numbers without a point.

    >>> text_of(3.0), text_of(0.5)
    ('3', '0.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def _double(text: str | None) -> float:
    return float(text) if text is not None and is_number(text) else math.nan


def _counts_up(numbers: Sequence[float]) -> bool:
    """Whether all numbers are whole, each one more than the one before it, and none is missing."""
    first = float(numbers[0])
    return first.is_integer() and all(x == first + i for i, x in enumerate(numbers))
