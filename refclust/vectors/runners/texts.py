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
from refclust.vectors.answers import Answer

# A case that is refused as a whole is refused whichever of these is asked for.
REFUSED_KEYS: Final = ("words", "counts", "lengths", "df", "tfidf")


def text(given: dict[str, Any], key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``data.text``."""
    options = _options(given)
    if "text" in given and key in _OF_A_TEXT:
        return _OF_A_TEXT[key](given["text"], options)
    if "texts" in given and key == "tfidf":
        return _weights(given, options)
    if "texts" in given and key in _OF_A_CORPUS:
        return _OF_A_CORPUS[key](counted_corpus(given["texts"], options))
    raise BadVectorFile(f"no reading of texts is called {key!r}")


def _options(given: dict[str, Any]) -> TextOptions:
    readings: dict[str, Callable[[Any], Any]] = {
        "lowercase": bool,
        "stop_words": frozenset,
        "min_length": int,
        "min_df": _bound,
        "max_df": _bound,
        "vocabulary": tuple,
    }
    return TextOptions(
        **{name: read(given[name]) for name, read in readings.items() if name in given}
    )


def _bound(given: int | str) -> int | Fraction:
    """Read a bound: a number counts documents, a string is a share of them."""
    return Fraction(given) if isinstance(given, str) else given


def _weights(given: dict[str, Any], options: TextOptions) -> Answer:
    if "frequencies" not in given:
        return _rows(counted_corpus(given["texts"], replace(options, tfidf=True)).data)
    counts = counted_corpus(given["texts"], options).data
    learnt = {"frequencies": given["frequencies"], "documents": given["documents"]}
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


def _bag(given: str, options: TextOptions) -> Answer:
    bag = bag_of_words(given, options)
    return [[_exact(map(ord, word)), Fraction(count)] for word, count in bag.items()]


def _lengths(found: Corpus) -> Answer:
    bags = ({str(j): int(count) for j, count in _sparse(row).items()} for row in found.data.rows())
    return _exact(map(document_length, bags))


_OF_A_TEXT: Final[Mapping[str, Callable[[str, TextOptions], Answer]]] = {
    "tokens": lambda given, options: _codes(tokens(given, options)),
    "bag": _bag,
    "length": lambda given, options: Fraction(document_length(bag_of_words(given, options))),
}
_OF_A_CORPUS: Final[Mapping[str, Callable[[Corpus], Answer]]] = {
    "words": lambda found: _codes([found.data.feature_name(j) for j in range(found.data.d)]),
    "counts": lambda found: [_exact(row) for row in _rows(found.data)],
    "lengths": _lengths,
    "empty": lambda found: Fraction(found.empty),
    "unseen": lambda found: Fraction(found.unseen),
    "df": lambda found: _exact(document_frequencies(found.data)),
}
