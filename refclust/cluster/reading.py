"""How the data of a fit were read, so that new data are read in the same way (chapter 11).

Realises MODEL-READ. Words are the features of texts; which words count was settled by the fit, so
new texts are counted whole, and ``predict`` keeps the words that the model knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from refclust.cluster.document import Node
from refclust.cluster.model_parts import Model, Reading, Weighing
from refclust.data.align import aligned
from refclust.data.dataset import Dataset
from refclust.data.readers.formats import Options, Reader
from refclust.data.readers.formats import read as read_data
from refclust.data.text import TextOptions, document_frequencies, tfidf
from refclust.data.textfile import STDIN
from refclust.errors import MissingColumn, RefclustError


def reading_of(format_name: str, options: Options, data: Dataset) -> Reading:
    """Say how data were read: the format, its options and, under tf-idf, how rare words are."""
    if options.text is None or not options.text.tfidf:
        return Reading(format_name, options)
    # A word that every document holds weighs ln(n/n) = 0 and has left no trace in the rows.
    found = tuple(count or data.n for count in document_frequencies(data))
    return Reading(format_name, options, Weighing(data.n, found))


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
        given = read_data(path, format=format_name, options=options, readers=readers)
    else:
        name = format_name or reading.format
        given = _read_new(path, name, options, reading.options, readers)
    return fitted_to(model, given)


def fitted_to(model: Model, data: Dataset) -> tuple[Dataset, int]:
    """Bring rows to the features and the term weights of a model; count what it does not know.

    Spec: MODEL-READ
    """
    known, unseen = aligned(data, model.data.features, model.data.d)
    reading = model.data.reading
    if reading is None or reading.weighing is None:
        return known, unseen
    weighing = reading.weighing
    weighed = tfidf(known, frequencies=weighing.frequencies, documents=weighing.documents)
    return weighed, unseen


def _counting(options: Options) -> Options:
    if options.text is None:
        return options
    text = replace(options.text, min_df=1, max_df=None, tfidf=False, vocabulary=None)
    return replace(options, text=text)


def _read_new(
    path: str,
    name: str,
    asked: Options | None,
    old: Options,
    readers: Sequence[Reader] | None,
) -> Dataset:
    """Read new data, which need no labels and no weights merely because the old ones had them."""
    options = _counting(old if asked is None else asked)
    try:
        return read_data(path, format=name, options=options, readers=readers)
    except MissingColumn:
        fewer = replace(options, label_column=None, weight_column=None)
        if asked is not None or fewer == options or path == STDIN:
            raise
    return read_data(path, format=name, options=fewer, readers=readers)


def read_reading(node: Node, d: int) -> Reading:
    """Read that part of a model file; ``d`` is the number of its features."""
    name, options, weighing = node.members("format", "options", "weighing")
    found = Reading(
        name.text(), _options(options), weighing.maybe(lambda given: _weighing(given, d))
    )
    if (found.weighing is not None) != (
        found.options.text is not None and found.options.text.tfidf
    ):
        weighing.fail("frequencies of words belong to tf-idf, and tf-idf to them")
    return found


def _options(node: Node) -> Options:
    given = node.chosen(*_OPTIONS)
    return Options(**{name: _OPTIONS[name](entry) for name, entry in given.items()})


def _text(node: Node) -> TextOptions:
    entries = node.members(*_TEXT)
    values = {name: read(entry) for (name, read), entry in zip(_TEXT.items(), entries, strict=True)}
    try:
        return TextOptions(**values)
    except RefclustError as wrong:
        return node.fail(str(wrong))


def _bound(node: Node) -> int | Fraction:
    return node.rational() if type(node.value) is str else node.whole(1)


def _weighing(node: Node, d: int) -> Weighing:
    documents, frequencies = node.members("documents", "frequencies")
    n = documents.whole(1)
    return Weighing(n, tuple(item.whole(1, n) for item in frequencies.items(d)))


_OPTIONS: Final[dict[str, Callable[[Node], Any]]] = {
    "delimiter": Node.text,
    "header": Node.flag,
    "id_column": Node.text,
    "label_column": Node.text,
    "weight_column": Node.text,
    "columns": Node.words,
    "base": lambda node: node.whole(0, 1),
    "array": Node.text,
    "text": _text,
    "text_column": Node.text,
}
_TEXT: Final[dict[str, Callable[[Node], Any]]] = {
    "lowercase": Node.flag,
    "stop_words": lambda node: frozenset(node.words()),
    "min_df": _bound,
    "max_df": lambda node: node.maybe(_bound),
    "min_length": lambda node: node.whole(1),
    "tfidf": Node.flag,
}
