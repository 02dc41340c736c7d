"""What the commands ``refclust explain em`` and ``refclust explain kmeans`` have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeVar

from refclust.cli.show.tables import Table
from refclust.cli.show.worked import Formula, Piece, Title, Words
from refclust.errors import BadOption, IndexOutOfRange
from refclust.escape import for_terminal
from refclust.formulas.vectors import Exact, Vector, components

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.models.records.clusters import Model

M = TypeVar("M", bound="Model")
MOST: Final = 5  # columns that are shown


def opened(
    key: str, path: str | None, data: str | None, *, kind: type[M], belongs: str, row: int
) -> tuple[M, Dataset]:
    """Read a model of the kind that can be explained, and rows as its data were read.

    Spec: MODEL-READ
    """
    from refclust.cli.options import data as dataio
    from refclust.data.files.source import refuse_twice
    from refclust.models.clusters import load_model

    if path is None or data is None:
        raise BadOption(f"explain {key} needs a model and data: refclust explain {key} MODEL DATA")
    refuse_twice([path, data])
    model = load_model(path)
    if not isinstance(model, kind):
        held = f"{for_terminal(path)} holds a model of the kind {model.algorithm}"
        raise BadOption(f"{held}; {belongs}")
    source, unseen = dataio.read_as(model, data, dataio.DataOptions())
    dataio.note_unseen(unseen)
    if not 0 <= row < source.data.n:
        raise IndexOutOfRange(f"--row {row}: the data have rows 0 to {source.data.n - 1}")
    return model, source.data


def fitted_to(model: Model, data: Dataset) -> bool:
    """Whether these are the rows that the model was fitted to."""
    return data.digest() == model.data.digest


def full_row(data: Dataset, i: int) -> Sequence[float]:
    """A row with all its zeros."""
    row = data.row(i)
    return [row.get(j, 0.0) for j in range(data.d)] if isinstance(row, dict) else row


def listed(data: Dataset) -> range:
    """The features that are shown."""
    return range(min(data.d, MOST))


def in_units(data: Dataset, row: int) -> Iterator[Piece]:
    """A row as the user has it, and how it became the numbers below.

    Spec: PREP-UNITS
    """
    plan = data.preparation
    if plan is None:
        return
    yield Title(f"Row {data.row_name(row)} in your own units")
    yield Formula("x = c + s z,  z = (x - c) / s", r"x=c+s\,z,\qquad z=\frac{x-c}{s}")
    z = full_row(data, row)
    lines = []
    for j in listed(data):
        centre, divisor = plan.unit(j)
        value = centre + divisor * Fraction(z[j])
        numbers = (value, centre, divisor, Fraction(z[j]))
        lines.append([data.feature_name(j), *map(_short, numbers)])
    yield Table(["feature", "x", "c", "s", "z"], lines)
    yield from left_out(data)
    yield Words(f"Prepared: {plan.said() or 'columns chosen'}. All that follows is about z.")


def centres_in_units(data: Dataset, named: Sequence[tuple[str, Vector]]) -> Iterator[Piece]:
    """Centres or means as the user would measure them.

    Spec: PREP-UNITS
    """
    plan = data.preparation
    if plan is None:
        return
    yield Words("In your own units, x = c + s z:")
    lines = []
    for name, centre in named:
        numbers = components(centre)
        units = [(plan.unit(j), numbers.get(j, Fraction(0))) for j in listed(data)]
        lines.append([name, *(_short(c + s * z) for (c, s), z in units)])
    yield Table(["", *(data.feature_name(j) for j in listed(data))], lines)


def _short(value: Exact | float) -> str:
    from refclust.cli.show.clusters import number

    return number(float(value))


def left_out(data: Dataset) -> Iterator[Piece]:
    """What there is to say of the features that are not shown."""
    more = data.d - len(listed(data))
    if more:
        yield Words(f"{more} more features are not shown.")
