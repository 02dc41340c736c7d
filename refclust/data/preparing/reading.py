"""Files into prepared rows: a plain table of numbers the quick way, any other by its kinds.

Realises PREP-DEFAULT. Whatever reads rows from a file goes through here, so that the same file
gives the same rows to every command and to Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from refclust.data.dataset import Dataset, Dense
from refclust.data.files.source import keeping
from refclust.data.files.textfile import display_name
from refclust.data.preparing import deciding, frames
from refclust.data.preparing.asked import NOTHING, Asked
from refclust.data.preparing.deciding import LeftOut
from refclust.data.preparing.record import Preparation
from refclust.data.preparing.scales import scale_of, scaled
from refclust.data.preparing.selecting import selected, with_columns
from refclust.data.readers.formats import Options, Reader
from refclust.data.readers.tables.choosing import all_numbers
from refclust.data.readers.tables.layout import Layout, arranged, check_names
from refclust.data.typed import Frame
from refclust.errors import (
    BadCell,
    BadHeader,
    BadOption,
    MissingColumn,
    MissingValue,
    NoSpread,
    NotFinite,
    RefclustError,
    TooLarge,
)

_MAYBE_TYPED = (BadCell, BadHeader, MissingValue, NotFinite)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rows, the options that read the same columns again, and what is worth a note."""

    data: Dataset
    options: Options
    notes: tuple[str, ...] = ()


def read_prepared(reader: Reader, path: str, options: Options, asked: Asked = NOTHING) -> Prepared:
    """Read rows and prepare them; the source is kept meanwhile, for it may be read twice.

    Spec: PREP-DEFAULT, PREP-KIND
    """
    with keeping(path):
        if reader.frame is None:
            return _of_rows(reader, path, options, asked)
        if options.categorical is None and asked.missing == "refuse":
            try:
                data = reader.read(path, options)
            except _MAYBE_TYPED as error:
                # Some cell is no number: what the columns hold will tell.
                return _of_frame(reader, path, options, asked, error)
            return _of_numbers(reader, path, options, asked, data)
        return _of_frame(reader, path, options, asked)


def read_rows(reader: Reader, path: str, options: Options) -> Dataset:
    """Read rows of numbers with the columns asked for, whether the format knows columns or not.

    Spec: PREP-COLUMNS
    """
    if reader.frame is not None:
        return reader.read(path, options)
    if options.categorical is not None:
        raise BadOption(
            f"the format {reader.name} holds numbers only; --categorical belongs to tables"
        )
    plain = replace(options, exclude=None)
    if options.exclude is None:
        try:
            return reader.read(path, plain)
        except (BadOption, MissingColumn):
            if options.columns is None:
                raise
    return selected(reader.read(path, replace(plain, columns=None)), options, display_name(path))


def read_again(plan: Preparation | None, reader: Reader, path: str, options: Options) -> Dataset:
    """Read new rows with the columns of a fit; a plan with columns prepares them, too.

    Spec: PREP-MODEL
    """
    if plan is None or plan.columns is None:
        return read_rows(reader, path, options)
    if reader.frame is None:
        raise BadOption(
            f"the model was made of a table with categories or missing cells; the format "
            f"{reader.name} has no columns of that kind"
        )
    # Columns that the plan calls by name are those of a header.
    by_name = any(isinstance(column.name, str) for column in plan.columns)
    header = True if by_name and options.header is None else options.header
    frame = reader.frame(path, replace(options, columns=None, exclude=None, header=header), None)
    roles = replace(options, columns=None, exclude=None, categorical=None, header=frame.named)
    columns = arranged(frame.file, frame.names, roles)
    return frames.applied(plan, frame, frames.beside(frame, columns), places_of(plan, frame))


def rows_kept(
    plan: Preparation | None, reader: Reader, path: str, options: Options
) -> list[int] | None:
    """Which rows of a table the prepared ones are; nothing if they are all of them.

    Spec: PREP-DROP
    """
    if plan is None or plan.columns is None or plan.missing != "drop" or reader.frame is None:
        return None
    frame = reader.frame(path, replace(options, columns=None, exclude=None), None)
    places = places_of(plan, frame)
    pairs = zip(places, plan.columns, strict=True)
    nominal = frozenset(j for j, column in pairs if column.categories is not None)
    return frames.kept_rows(frame, places, plan.missing, nominal)


def places_of(plan: Preparation, frame: Frame) -> list[int]:
    """Where the columns of a plan stand in another table: by name, or by number.

    Spec: PREP-MODEL
    """
    names = frame.names
    places: list[int] = []
    for column in plan.columns or ():
        if isinstance(column.name, str):
            if not frame.named or names.count(column.name) != 1:
                there = "two columns" if column.name in names else "no column"
                raise MissingColumn(
                    f"{frame.file or 'the table'} has {there} called {column.name!r}, which the "
                    "model needs"
                )
            places.append(names.index(column.name))
        elif column.name < len(names):
            places.append(column.name)
        else:
            raise MissingColumn(
                f"{frame.file or 'the table'} has {len(names)} columns; the model needs column "
                f"{column.name + 1}"
            )
    return places


def _of_rows(reader: Reader, path: str, options: Options, asked: Asked) -> Prepared:
    if asked.missing != "refuse":
        raise BadOption(
            f"the format {reader.name} has no missing cells; --missing belongs to tables"
        )
    with _in_file(display_name(path)):
        return _scaled(read_rows(reader, path, options), options, asked)


def _of_numbers(
    reader: Reader, path: str, options: Options, asked: Asked, data: Dataset
) -> Prepared:
    """A table of numbers that was read the quick way: some of its columns may still be left out."""
    matrix, notes = data.matrix, []
    gone: dict[int, LeftOut] = {}
    if options.columns is None and isinstance(matrix, Dense):
        names = [*map(str, data.features or range(1, data.d + 1))]
        columns = (matrix.values[j :: matrix.d] for j in range(matrix.d))
        for j, kind in deciding.among_numbers(names, columns, asked):
            gone[j] = LeftOut(names[j], kind, j)
    if gone or options.exclude is not None or _has_patterns(options, data):
        assert reader.frame is not None
        head = reader.frame(path, options, 1)
        places = arranged(head.file, head.names, replace(options, header=head.named))
        left_out = [replace(each, column=places.features[j]) for j, each in gone.items()]
        stay = [j for j in range(data.d) if j not in gone]
        if not stay:
            said = ", ".join(each.said((), head.named) for each in left_out)
            raise MissingColumn(
                f"{head.file} has no column left for a feature: {said}; --columns uses what it "
                "names"
            )
        data = with_columns(data, stay)
        options = exact(options, head, [places.features[j] for j in stay], places)
        if left_out:
            notes.append(deciding.note_of(left_out, places, head.named))
    with _in_file(display_name(path)):
        return _scaled(data, options, asked, tuple(notes))


def _of_frame(
    reader: Reader,
    path: str,
    options: Options,
    asked: Asked,
    error: RefclustError | None = None,
) -> Prepared:
    assert reader.frame is not None
    try:
        frame = reader.frame(path, options, None)
    except TooLarge:
        if error is not None:
            raise error from None  # what stands at its beginning is worth more than its end
        raise
    if isinstance(error, BadCell | BadHeader) and len(frame.columns) == 1:
        raise error  # it may be that another delimiter is meant, which this one says
    return prepared_frame(frame, options, asked)


def prepared_frame(frame: Frame, options: Options, asked: Asked) -> Prepared:
    """Rows of a typed table, prepared as asked.

    Spec: PREP-DEFAULT
    """
    columns = arranged(frame.file, frame.names, replace(options, header=frame.named))
    features, left_out = deciding.used(frame, columns, options, asked)
    if frame.named:
        check_names(frame.file, frame.names, features)
    around = frames.beside(frame, columns)
    with _in_file(frame.file):
        data = frames.encoded(frame, features, around, columns, asked)
    notes = [deciding.note_of(left_out, columns, frame.named)] if left_out else []
    if data.n < frame.n:
        gone = frame.n - data.n
        notes.append(f"{gone:,} of {frame.n:,} rows dropped: a cell is missing")
    typed = data.preparation is not None and data.preparation.columns is not None
    if left_out or typed or options.exclude is not None or options.columns is not None:
        options = exact(options, frame, features, columns)
    return Prepared(data, options, tuple(notes))


def exact(options: Options, frame: Frame, features: Sequence[int], columns: Layout) -> Options:
    """Options that name the same columns one by one, without ranges or patterns.

    Spec: PREP-MODEL
    """

    def called(places: Sequence[int]) -> tuple[str, ...]:
        return tuple(
            frame.names[j] if frames.known_by_name(frame, j) else str(j + 1) for j in places
        )

    categorical = [j for j in features if j in columns.categorical]
    return replace(
        options,
        # Numbers alone do not tell whether there is a header, nor do names that look like them.
        header=frame.named if all_numbers(called(features)) else options.header,
        columns=called(features),
        exclude=None,
        categorical=called(categorical) if categorical else None,
    )


@contextmanager
def _in_file(name: str) -> Iterator[None]:
    """Say of what a column is in which file it stands, unless that was said."""
    try:
        yield
    except (MissingValue, NoSpread, NotFinite) as error:
        if name in str(error):
            raise
        raise type(error)(f"{name}: {error}") from None


def _has_patterns(options: Options, data: Dataset) -> bool:
    """Whether a column was asked for by something else than its name or number."""
    known = {*map(str, data.features or ())}
    return any(name not in known and not name.isdigit() for name in options.columns or ())


def _scaled(data: Dataset, options: Options, asked: Asked, notes: tuple[str, ...] = ()) -> Prepared:
    if asked.rule is None:
        return Prepared(data, options, notes)
    plan = Preparation(None, scale=scale_of(data, asked.rule))
    assert plan.scale is not None
    return Prepared(replace(scaled(data, plan.scale), preparation=plan), options, notes)
