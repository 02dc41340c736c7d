"""How the data of a fit were read, so that new data are read in the same way (chapter 11).

Realises MODEL-READ. Words are the features of texts; which words count was settled by the fit, so
new texts are counted whole, and ``predict`` keeps the words that the model knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from refclust.data.align import aligned
from refclust.data.dataset import Dataset
from refclust.data.files.source import keeping
from refclust.data.preparing.reading import read_again
from refclust.data.preparing.record import Preparation
from refclust.data.preparing.scales import scaled
from refclust.data.readers.formats import Options, Reader, choose
from refclust.data.readers.formats import read as read_data
from refclust.data.text import document_frequencies, tfidf
from refclust.errors import (
    MissingColumn,
    MissingValue,
    NotFinite,
    RefclustError,
    UnseenCategory,
)
from refclust.models.records.clusters import Model, Reading, Weighing

_ROLES: Final = ("label_column", "weight_column")


def reading_of(format_name: str, options: Options, data: Dataset) -> Reading:
    """Say how data were read: the format, its options and, under tf-idf, how rare words are."""
    if options.text is None or not options.text.tfidf:
        return Reading(format_name, options)
    # A word that every document holds weighs ln(n/n) = 0 and has left no trace in the rows.
    frequencies = tuple(count or data.n for count in document_frequencies(data))
    return Reading(format_name, options, Weighing(data.n, frequencies))


def new_options(reading: Reading) -> Options:
    """The options for new data: those of the fit, without what chose or weighed the words."""
    return _counting(reading.options)


def read_like(
    model: Model,
    path: str,
    *,
    format_name: str | None = None,
    options: Options | None = None,
    readers: Sequence[Reader] | None = None,
) -> tuple[Dataset, int]:
    """Read new data as those of the model were read, and count the features it does not know.

    ``format_name`` and ``options`` overrule those of the model.

    Spec: MODEL-READ
    """
    reading = model.data.reading
    if reading is None:
        data = read_data(path, format=format_name, options=options, readers=readers)
        return fitted_to(model, data)

    def read(asked: Options) -> Dataset:
        reader = choose(path, format_name or reading.format, readers)
        return read_again(model.data.preparation, reader, path, asked)

    wanted = _counting(reading.options if options is None else options)
    fixed = _ROLES if options is not None else ()
    with keeping(path):
        return fitted_to(model, read_new(read, wanted, fixed=fixed)[0])


def fitted_to(model: Model, data: Dataset) -> tuple[Dataset, int]:
    """Bring rows to the features and the term weights of a model; count what it does not know.

    Spec: MODEL-READ
    """
    known, unseen = aligned(data, model.data.features, model.data.d)
    known = replace(known, preparation=data.preparation)
    reading = model.data.reading
    if reading is not None and reading.weighing is not None:
        weighing = reading.weighing
        known = tfidf(known, frequencies=weighing.frequencies, documents=weighing.documents)
    return in_units(model.data.preparation, known), unseen


def in_units(plan: Preparation | None, data: Dataset) -> Dataset:
    """Rows of numbers scaled as those of a fit were, unless that was done to them before.

    Spec: PREP-MODEL
    """
    if plan is None:
        return data
    if plan.scale is None or data.preparation is not None:
        return replace(data, preparation=plan)
    return replace(scaled(data, plan.scale), preparation=plan)


def _counting(options: Options) -> Options:
    if options.text is None:
        return options
    text = replace(options.text, min_df=1, max_df=None, tfidf=False, vocabulary=None)
    return replace(options, text=text)


def read_new(
    read: Callable[[Options], Dataset], options: Options, *, fixed: Collection[str] = ()
) -> tuple[Dataset, Options]:
    """Read new data, which need no labels and no weights merely because those of the fit had them.

    A column that is missing is done without, unless it is one of those ``fixed`` by the caller.
    """
    try:
        return read(options), options
    except MissingColumn as missing:
        free = [role for role in _ROLES if role not in fixed and getattr(options, role) is not None]
        for count in range(1, len(free) + 1):
            for gone in combinations(free, count):
                fewer = replace(options, **dict.fromkeys(gone, None))
                try:
                    return read(fewer), fewer
                except (MissingValue, NotFinite, UnseenCategory):
                    raise  # the columns are there; it is a cell that is wrong
                except RefclustError:
                    continue
        raise missing
