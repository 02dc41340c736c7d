"""Refclust's own answers to the golden vectors of texts (chapter 09)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from refclust.backends.session import Session
from refclust.data.dataset import Dataset
from refclust.data.text import (
    Corpus,
    TextOptions,
    bag_of_words,
    counted_corpus,
    document_frequencies,
    document_length,
    tfidf,
    tokens,
)
from refclust.errors import BadVectorFile
from refclust.vectors.answers import Answer, Input

# A case that is refused as a whole is refused whichever of these is asked for.
REFUSED_KEYS: Final = ("words", "counts", "lengths", "df", "tfidf")


def text(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``data.text``."""
    options = _options(inputs)
    if "text" in inputs and key in _OF_A_TEXT:
        return _OF_A_TEXT[key](inputs["text"], options)
    if "texts" in inputs and key == "tfidf":
        return _weights(inputs, options)
    if "texts" in inputs and key in _OF_A_CORPUS:
        return _OF_A_CORPUS[key](counted_corpus(inputs["texts"], options))
    raise BadVectorFile(f"no reading of texts is called {key!r}")


def _options(inputs: dict[str, Any]) -> TextOptions:
    readings: dict[str, Callable[[Any], Any]] = {
        "lowercase": bool,
        "stop_words": frozenset,
        "min_length": int,
        "min_df": _bound,
        "max_df": _bound,
        "vocabulary": tuple,
    }
    return TextOptions(
        **{name: read(inputs[name]) for name, read in readings.items() if name in inputs}
    )


def _bound(bound: int | str) -> int | Fraction:
    """Read a bound: a number counts documents, a string is a share of them."""
    return Fraction(bound) if isinstance(bound, str) else bound


def _weights(inputs: dict[str, Any], options: TextOptions) -> Answer:
    if "frequencies" not in inputs:
        return _rows(counted_corpus(inputs["texts"], replace(options, tfidf=True)).data)
    counts = counted_corpus(inputs["texts"], options).data
    learnt = {"frequencies": inputs["frequencies"], "documents": inputs["documents"]}
    return _rows(tfidf(counts, **learnt))


def _rows(data: Dataset) -> list[list[float]]:
    """All rows with their zeros."""
    return [[_sparse(row).get(column, 0.0) for column in range(data.d)] for row in data.rows()]


def _sparse(row: Any) -> Mapping[int, float]:
    """Return a row of a corpus, which is sparse."""
    if not isinstance(row, Mapping):
        raise BadVectorFile("the rows of a corpus are sparse")
    return row


def _exact(values: Iterable[float]) -> list[Fraction]:
    return [Fraction(value) for value in values]


def _codes(words: Sequence[str]) -> Answer:
    return [_exact(map(ord, word)) for word in words]


def _bag(words: str, options: TextOptions) -> Answer:
    bag = bag_of_words(words, options)
    return [[_exact(map(ord, word)), Fraction(count)] for word, count in bag.items()]


def _lengths(corpus: Corpus) -> Answer:
    bags = ({str(j): int(count) for j, count in _sparse(row).items()} for row in corpus.data.rows())
    return _exact(map(document_length, bags))


_OF_A_TEXT: Final[Mapping[str, Callable[[str, TextOptions], Answer]]] = {
    "tokens": lambda words, options: _codes(tokens(words, options)),
    "bag": _bag,
    "length": lambda words, options: Fraction(document_length(bag_of_words(words, options))),
}
_OF_A_CORPUS: Final[Mapping[str, Callable[[Corpus], Answer]]] = {
    "words": lambda corpus: _codes([corpus.data.feature_name(j) for j in range(corpus.data.d)]),
    "counts": lambda corpus: [_exact(row) for row in _rows(corpus.data)],
    "lengths": _lengths,
    "empty": lambda corpus: Fraction(corpus.empty),
    "unseen": lambda corpus: Fraction(corpus.unseen),
    "df": lambda corpus: _exact(document_frequencies(corpus.data)),
}
