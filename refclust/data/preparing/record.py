"""What was done to the columns of a table before a fit, so that new rows get the same (chapter 07).

A ``Preparation`` is part of the data set that it made and of the model file of a fit to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from refclust.data.files.document import Node
from refclust.data.files.parts import Known, array, double, items, on_line, whole
from refclust.data.files.parts import text as text_part
from refclust.errors import BadOption
from refclust.numbers.reading import shown

Missing: TypeAlias = Literal["refuse", "drop", "mean", "median"]
Unseen: TypeAlias = Literal["refuse", "zeros"]
Rule: TypeAlias = Literal["standard", "range", "robust"]
MISSING: Final = get_args(Missing)
UNSEEN: Final = get_args(Unseen)
RULES: Final = get_args(Rule)
Positive: TypeAlias = Annotated[float, double(0, above=True)]


@dataclass(frozen=True, slots=True)
class PreparedColumn:
    """A column of the table: its name, or its number from 0; and its categories, if it has any.

    Spec: PREP-ONEHOT
    """

    name: Annotated[str, text_part()] | Annotated[int, whole(0)]
    categories: Annotated[tuple[str, ...], array(text_part())] | None = None

    @property
    def width(self) -> int:
        """How many features the column became.

        Spec: PREP-ONEHOT
        """
        return 1 if self.categories is None else len(self.categories)


@dataclass(frozen=True, slots=True)
class Scale:
    """What every feature was divided by and, unless rows are sparse, what was taken off before.

    Spec: PREP-SCALED
    """

    rule: Rule
    centres: Annotated[tuple[float, ...], items("d")] | None
    divisors: Annotated[tuple[Positive, ...], items("d")]


@dataclass(frozen=True, slots=True)
class Preparation:
    """All that was done to the columns of a table, in this order.

    Spec: PREP-MODEL
    """

    columns: tuple[Annotated[PreparedColumn, on_line], ...] | None  # None: the rows were numbers
    missing: Missing = "refuse"
    fills: Annotated[tuple[float, ...], items("d")] | None = None  # for missing cells
    weight: Positive = 1.0  # of a category that a row has
    unseen: Unseen = "refuse"
    scale: Scale | None = None

    def check(self, node: Node, _known: Known) -> None:
        """Refuse parts that contradict each other.

        Spec: MODEL-LOAD
        """
        for place, column in enumerate(self.columns or ()):
            names = column.categories
            if names is not None and (not names or len({*names}) < len(names)):
                node.entry("columns").item(place).fail("there are categories, and they differ")
        if self.columns is not None and len({c.name for c in self.columns}) < len(self.columns):
            node.entry("columns").fail("a column occurs twice")
        if self.columns is None and self.missing != "refuse":
            node.entry("missing").fail("missing cells belong to columns of a table")
        if (self.fills is not None) != (self.missing in ("mean", "median")):
            node.entry("fills").fail("numbers for missing cells belong to mean and median")

    def fits(self, node: Node, kind: str, d: int) -> None:
        """Refuse columns that do not make the features of a model.

        Spec: MODEL-LOAD
        """
        if self.columns is not None and sum(column.width for column in self.columns) != d:
            node.entry("columns").fail(f"they do not make the {d} features of the model")
        if self.scale is not None and (self.scale.centres is None) != (kind == "sparse"):
            node.entry("scale").entry("centres").fail("dense rows are centred, sparse rows are not")

    @property
    def features(self) -> tuple[tuple[PreparedColumn, str | None], ...] | None:
        """The column behind every feature, and its category if it has any.

        Spec: PREP-ONEHOT
        """
        if self.columns is None:
            return None
        return tuple(
            (column, category)
            for column in self.columns
            for category in (column.categories or (None,))
        )

    def unit(self, feature: int) -> tuple[Fraction, Fraction]:
        """Centre and divisor of a feature: its value in the user's units is c + s z.

        Of an indicator that is the share of rows that have the category.

        Spec: PREP-UNITS
        """
        behind = self.features
        if behind is not None and behind[feature][1] is not None:
            return Fraction(0), 1 / Fraction(self.weight)
        if self.scale is None:
            return Fraction(0), Fraction(1)
        centre = 0.0 if self.scale.centres is None else self.scale.centres[feature]
        return Fraction(centre), Fraction(self.scale.divisors[feature])

    def said(self) -> str:
        """What was done, in a few words for a summary; nothing if there is nothing to say."""
        words: list[str] = []
        if self.scale is not None:
            words.append(f"scaled: {self.scale.rule}")
        encoded = [column for column in self.columns or () if column.categories is not None]
        if encoded:
            held = "column" if len(encoded) == 1 else "columns"
            indicators = sum(column.width for column in encoded)
            words.append(
                f"{len(encoded)} {held} as {indicators} indicators of weight {self.weight:g}"
            )
        if self.missing != "refuse":
            words.append(
                f"missing cells: {'rows dropped' if self.missing == 'drop' else self.missing}"
            )
        return "; ".join(words)


def one_of(option: str, value: Any, allowed: tuple[str, ...]) -> Any:
    """A word of a list, or the error that names the list.

    Spec: none (checks an argument)
    """
    if value not in allowed:
        raise BadOption(f"{option} is {shown(value)}; allowed are {', '.join(allowed)}")
    return value
