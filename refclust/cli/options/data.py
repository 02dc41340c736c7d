"""The options for reading data that all commands with data share, and how they are used."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from refclust.cli.options.complete import complete_format
from refclust.cli.options.groups import together
from refclust.cli.output import note
from refclust.data.files import source as _source
from refclust.data.files.source import keeping, passing
from refclust.data.preparing.asked import Asked, Constants
from refclust.data.preparing.record import Missing, Unseen
from refclust.errors import BadOption
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.data.preparing.mixed import Mixed
    from refclust.data.readers.formats import Options
    from refclust.data.text import TextOptions
    from refclust.models.records.clusters import Model

STDIN: Final = _source.STDIN
_TEXTS: Final = ("folder", "lines")  # formats that hold nothing but texts
_SIGNS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "space": " ", "semicolon": ";", "bar": "|"}
# Few enough digits that no share takes time or memory.
_SHARE: Final = re.compile(
    r"([+-]?(?:[0-9]{1,18}\.?[0-9]{0,18}|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,2})?"
    r"|[0-9]{1,18}/[0-9]{1,18})(%?)"
)

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="File or folder of the data; - is standard input.", show_default=False
    ),
]


@dataclass(frozen=True, slots=True)
class DataOptions:
    """What the user said about the data, as typed; every field is an option of its own."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="F",
            help="Format of the data. [by name, else by content; `refclust formats` lists all]",
            autocompletion=complete_format,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", metavar="D", help="What separates columns: a sign, or tab."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first row holds names. [found out]"),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", metavar="C", help="Column of ids, by name or number from 1."),
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option(
            "--label-column", metavar="C", help="Column of known classes; not used to fit."
        ),
    ] = None
    weight_column: Annotated[
        str | None, typer.Option("--weight-column", metavar="C", help="Column of weights.")
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="C", help="Only this feature; may be repeated. [all]"),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="LIST",
            help="Only these features: names, numbers, ranges (a:d, 2-5), patterns (x*). [all]",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="LIST", help="Not these features, likewise."),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical", metavar="LIST", help="Features that hold categories, likewise."
        ),
    ] = None
    category_weight: Annotated[
        float | None,
        typer.Option(
            "--category-weight", metavar="W", help="What a category counts that a row has. [1]"
        ),
    ] = None
    unseen: Annotated[
        Unseen | None,
        typer.Option("--unseen", help="New categories at predict: refuse, or none of them."),
    ] = None
    missing: Annotated[
        Missing | None,
        typer.Option("--missing", help="What to do with missing cells. [refuse]"),
    ] = None
    scale: Annotated[
        Literal["standard", "range", "robust", "none"] | None,
        typer.Option("--scale", help="Bring all features to one scale. [none]"),
    ] = None
    constants: Annotated[
        Constants | None,
        typer.Option("--constants", help="Constant columns. [drop if scaled or Gaussian]"),
    ] = None
    base: Annotated[
        int | None,
        typer.Option("--base", metavar="B", help="First index of svmlight and the like: 0 or 1."),
    ] = None
    array: Annotated[
        str | None,
        typer.Option(
            "--array", metavar="NAME", help="Which array of an .npz, or sheet of a workbook."
        ),
    ] = None
    text_column: Annotated[
        str | None,
        typer.Option("--text-column", metavar="C", help="Column or field that holds a text."),
    ] = None
    decimal: Annotated[
        Literal["point", "comma"] | None,
        typer.Option("--decimal", help="How decimals are written. [found out, else point]"),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="E",
            help="Of text without a mark, such as cp1252 from Windows. [utf-8]",
        ),
    ] = None
    vocabulary: Annotated[
        str | None,
        typer.Option(
            "--vocabulary",
            metavar="FILE",
            help="Names of the columns of counts, one a line. [found beside the data]",
        ),
    ] = None
    lowercase: Annotated[
        bool | None,
        typer.Option("--lowercase/--no-lowercase", help="Whether Case counts in texts. [folded]"),
    ] = None
    stop_words: Annotated[
        str | None,
        typer.Option("--stop-words", metavar="FILE", help="Words to leave out, one a line."),
    ] = None
    min_df: Annotated[
        str | None,
        typer.Option(
            "--min-df", metavar="N", help="Only words in at least N texts, or a share such as 1%."
        ),
    ] = None
    max_df: Annotated[
        str | None,
        typer.Option("--max-df", metavar="N", help="Only words in at most N texts, or a share."),
    ] = None
    tfidf: Annotated[
        bool, typer.Option("--tfidf", help="Weigh words by rarity: count · ln(n / df).")
    ] = False

    def options(self) -> Options:
        """What a reader is told; an empty name of a column means none."""
        from refclust.data.readers.formats import Options

        return self.over(Options())

    def sign(self) -> str | None:
        """What separates columns, if that was said."""
        return _sign(self.delimiter)

    def over(self, base: Options) -> Options:
        """The options of ``base``, overruled by those that were given."""
        named: dict[str, Any] = {
            "delimiter": self.sign(),
            "header": self.header,
            "id_column": self.id_column,
            "label_column": self.label_column,
            "weight_column": self.weight_column,
            "columns": self._chosen(),
            "exclude": _lists(self.exclude),
            "categorical": _lists(self.categorical),
            "base": self.base,
            "array": self.array,
            "text_column": self.text_column,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "vocabulary": self.vocabulary,
            "text": self._text(base.text),
        }
        if self.base not in (None, 0, 1):
            raise BadOption(f"--base {self.base}: the first index is 0 or 1")
        options = replace(base, **{name: x for name, x in named.items() if x is not None})
        # An empty vocabulary says that none is to be looked for.
        empty = [name for name in named if getattr(options, name) == "" and name != "vocabulary"]
        return replace(options, **dict.fromkeys(empty))

    def _chosen(self) -> tuple[str, ...] | None:
        """The features asked for one by one, then those of lists."""
        columns = (*(self.column or ()), *(_lists(self.columns) or ()))
        return columns or None

    def asked(self, constants: Constants | None = None) -> Asked:
        """What is to be done to the columns; ``constants`` holds unless the user says something."""
        from refclust.data.preparing.asked import Asked

        named: dict[str, Any] = {
            "scale": self.scale,
            "missing": self.missing,
            "weight": self.category_weight,
            "unseen": self.unseen,
            "constants": self.constants or constants,
        }
        return Asked(**{name: x for name, x in named.items() if x is not None})

    def _text(self, base: TextOptions | None) -> TextOptions | None:
        named = (self.lowercase, self.stop_words, self.min_df, self.max_df, self.tfidf or None)
        if all(value is None for value in named):
            return base
        from refclust.data.readers.words import read_words
        from refclust.data.text import PLAIN

        texts = base or PLAIN
        lowercase = texts.lowercase if self.lowercase is None else self.lowercase
        words = texts.stop_words
        if self.stop_words is not None:
            words = frozenset(read_words(self.stop_words, lowercase=lowercase))
        return replace(
            texts,
            lowercase=lowercase,
            stop_words=words,
            min_df=texts.min_df if self.min_df is None else _bound("--min-df", self.min_df),
            max_df=texts.max_df if self.max_df is None else _bound("--max-df", self.max_df),
            tfidf=texts.tfidf or self.tfidf,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Data as they were read, and how."""

    path: str
    format: str
    options: Options
    data: Dataset


reads = together(DataOptions, "reading")  # gives a command all options for reading


def read(path: str, reading: DataOptions, *, constants: Constants | None = None) -> Source:
    """Read the data that a command was given, and prepare their columns."""
    from refclust.backends.plugins import formats
    from refclust.data.preparing.reading import read_prepared

    options, asked = reading.options(), reading.asked(constants)
    reader = formats.choose(path, reading.format)
    prepared = read_prepared(reader, path, options, asked)
    for text in prepared.notes:
        note(text)
    return Source(path, reader.name, prepared.options, prepared.data)


def read_plain(path: str, reading: DataOptions) -> Source:
    """Read numbers that are no table of objects, such as distances: every column is one."""
    from refclust.backends.plugins import formats

    if reading.asked() != DataOptions().asked():
        raise BadOption("distances are not prepared; --scale and the like belong to DATA")
    options = reading.options()
    reader = formats.choose(path, reading.format)
    with passing(path):
        return Source(path, reader.name, options, reader.read(path, options))


def read_mixed(path: str, reading: DataOptions) -> tuple[Source, Mixed]:
    """Read a table whose columns stay numbers and categories with gaps, for Gower's distance.

    The data of the source know only the names and classes of the rows.
    """
    from array import array as numbers

    from refclust.backends.plugins import formats
    from refclust.data.dataset import dense
    from refclust.data.preparing.mixed import mixed

    if replace(reading, categorical=None).asked() != DataOptions().asked():
        raise BadOption("--metric gower measures columns as they are: no --scale, no --missing")
    options = reading.options()
    reader = formats.choose(path, reading.format)
    if reader.frame is None:
        raise BadOption(f"--metric gower is about tables; {reader.name} has no columns of its own")
    with passing(path):
        table = mixed(reader.frame(path, options, None), options)
    for text in table.notes:
        note(text)
    rows = dense(numbers("d", bytes(8 * table.n)), 1, ids=table.ids, labels=table.labels)
    return Source(path, reader.name, options, rows), replace(table, notes=())


def read_as(model: Model, path: str, reading: DataOptions) -> tuple[Source, int]:
    """Read data as those of a model were read, unless options say otherwise.

    Returns them over the features of the model, and how many other features were left out.
    """
    from refclust.backends.plugins import formats
    from refclust.data.preparing.reading import read_again
    from refclust.data.readers.formats import Options
    from refclust.models.reading import fitted_to, new_options, read_new

    if reading.tfidf:
        raise BadOption("--tfidf is settled by the model: its data were weighed, or they were not")
    plan = model.data.preparation
    settled = replace(reading, unseen=None if plan is not None else reading.unseen)
    if settled.asked() != DataOptions().asked() or reading.categorical:
        raise BadOption(
            "--scale, --missing and --categorical are settled by the model; new rows are prepared "
            "as those of the fit were"
        )
    if plan is not None and reading.unseen is not None:
        plan = replace(plan, unseen=reading.unseen)
    fitted = model.data.reading
    reader = formats.choose(path, reading.format or _format_of(model, path))
    base = Options() if fitted is None else new_options(fitted)
    if fitted is not None and fitted.format != reader.name:
        # Columns of another format mean nothing here; words are cut in one way everywhere.
        texts = reader.name in _TEXTS or reading.text_column is not None
        base = Options(text=base.text if texts else None)
    roles = {"label_column": reading.label_column, "weight_column": reading.weight_column}
    asked_for = [role for role, column in roles.items() if column is not None]
    with keeping(path):
        rows, options = read_new(
            lambda asked: read_again(plan, reader, path, asked),
            reading.over(base),
            fixed=asked_for,
        )
    data, unseen = fitted_to(model, rows)
    return Source(path, reader.name, options, data), unseen


def note_unseen(unseen: int) -> None:
    """Tell that features of the data are unknown to the model."""
    if unseen:
        features = "1 feature" if unseen == 1 else f"{unseen:,} features"
        note(f"{features} of the data {'is' if unseen == 1 else 'are'} unknown to the model")


def note_scales(data: Dataset, metric: str) -> None:
    """Tell that one column decides almost alone, if distances are those of unscaled rows.

    Spec: PREP-DECIDES
    """
    from refclust.data.preparing.spread import deciding_column

    if metric != "euclidean" or (data.preparation is not None and data.preparation.scale):
        return
    column = deciding_column(data)
    if column is not None:
        name, share = for_terminal(data.feature_name(column[0])), f"{100 * column[1]:.3g}%"
        note(
            f"{name} has {share} of all variance, so it decides almost alone; --scale standard "
            "lets all features count"
        )


def refuse_same(outputs: list[str], inputs: list[str]) -> None:
    """Refuse to write two outputs to one file, or one over an input, even with ``--force``."""
    seen: list[str] = []
    for output in (path for path in outputs if path != STDIN):
        if any(_same(output, other) for other in seen):
            raise BadOption(f"two outputs cannot go to one file, {for_terminal(output)}")
        if any(path != STDIN and _same(output, path) for path in inputs):
            raise BadOption(f"{for_terminal(output)} is read from; the output needs another name")
        seen.append(output)


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return os.path.abspath(path) == os.path.abspath(other)


def _format_of(model: Model, path: str) -> str | None:
    """The format of the model's data, unless the name of the file says something else."""
    from refclust.backends.plugins.formats import readers
    from refclust.data.files.textfile import suffix

    ending = suffix(path)
    reading = model.data.reading
    if reading is None or os.path.isdir(path):
        return None
    fitting = [each.name for each in readers() if ending and ending in each.suffixes]
    return None if path != STDIN and fitting and reading.format not in fitting else reading.format


def _lists(texts: list[str] | None) -> tuple[str, ...] | None:
    """The columns of all lists that an option was given."""
    from refclust.data.readers.tables.choosing import split_list

    return tuple(item for text in texts or () for item in split_list(text)) or None


def _sign(text: str | None) -> str | None:
    if text is None:
        return None
    sign = _SIGNS.get(text, text)
    if len(sign) != 1 or sign in '\r\n"':
        raise BadOption(f"--delimiter {text!r}: one character is needed, or the word tab")
    return sign


def _bound(option: str, text: str) -> Any:
    """A number of documents, or a share of them such as 0.5, 1/2 or 50%."""
    from refclust.numbers.reading import exact, shown

    number = exact(text.removesuffix("%"), f"{option} {shown(text)}")
    if number is None:
        raise BadOption(
            f"{option} {shown(text)}: a number of texts or a share such as 0.5, 1/2 or 50% "
            "is needed"
        )
    if text.endswith("%"):
        return number / 100
    return number.numerator if text.isdecimal() else number
