"""Texts as bags of words: one tokeniser, counts, and tf-idf as a named extra (chapter 09).

A text becomes a multiset of words, so the order of words never matters. Corpora become sparse
data sets whose columns are the words in code-point order.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, KeysView, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Final, TypeAlias

from refclust.data.dataset import DOUBLES, Dataset, Sparse, readonly, sparse
from refclust.data.files.parts import in_order, rational, whole
from refclust.data.files.records import UNWRITTEN
from refclust.errors import BadOption, DimensionMismatch, EmptyInput, FeatureMismatch
from refclust.numbers.real import log

_SOFT_HYPHEN: Final = "\u00ad"
_CURLY: Final = "\u2019"
# What joins two parts of a word: the apostrophe, and the invisible (non-)joiners of some scripts.
_JOINERS: Final = "'\u200c\u200d"


# How many documents, or a share of them above 0.
Bound: TypeAlias = (
    Annotated[Fraction, rational("(1|[1-9][0-9]*/[1-9][0-9]*)")] | Annotated[int, whole(1)]
)


def _check_bound(name: str, bound: int | Fraction) -> None:
    whole = type(bound) is int and bound >= 1
    if not whole and not (isinstance(bound, Fraction) and 0 < bound <= 1):
        raise BadOption(
            f"{name} is {bound!r}; a number of documents from 1, or a share above 0 and up to 1 "
            "as a Fraction, is needed"
        )


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How texts become bags of words.

    A whole number as ``min_df`` or ``max_df`` counts documents, a ``Fraction`` is a share of them.
    With a ``vocabulary`` exactly these words are columns, in this order.
    """

    lowercase: bool = True
    stop_words: Annotated[frozenset[str], in_order] = frozenset()
    min_df: Bound = 1
    max_df: Bound | None = None
    min_length: Annotated[int, whole(1)] = 1
    tfidf: bool = False
    # Model files have these words among their features already.
    vocabulary: Annotated[tuple[str, ...] | None, UNWRITTEN] = None

    def __post_init__(self) -> None:
        """Refuse what no text could satisfy, and fold the stop words as texts are folded."""
        _check_bound("min_df", self.min_df)
        if self.max_df is not None:
            _check_bound("max_df", self.max_df)
        if type(self.min_length) is not int or self.min_length < 1:
            raise BadOption(f"min_length is {self.min_length!r}; a whole number from 1 is needed")
        folded = frozenset(folded_text(word, lowercase=self.lowercase) for word in self.stop_words)
        object.__setattr__(self, "stop_words", folded)
        if self.vocabulary is not None:
            self._check_vocabulary(self.vocabulary)

    def _check_vocabulary(self, vocabulary: tuple[str, ...]) -> None:
        if not vocabulary or len(set(vocabulary)) != len(vocabulary):
            raise BadOption("a vocabulary holds at least one word, and no word twice")
        if type(self.min_df) is not int or self.min_df != 1 or self.max_df is not None:
            raise BadOption("min_df and max_df choose words; a given vocabulary has chosen them")
        if self.tfidf:
            # The documents at hand are not those the model learnt from: other shares, other axes.
            raise BadOption(
                "tfidf with a given vocabulary needs the document frequencies of the corpus it "
                "came from; count first, then weigh with refclust.data.text.tfidf"
            )
        for word in vocabulary:
            if folded_text(word, lowercase=self.lowercase) != word:
                raise BadOption(f"the word {word!r} of the vocabulary can never occur in a text")


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """A corpus as data, with what was lost on the way: empty rows and words without a column."""

    data: Dataset
    empty: int  # documents without a word left; they stay as rows of zeros
    unseen: int  # tokens that are not in the given vocabulary


PLAIN: Final = TextOptions()


def folded_text(text: str, *, lowercase: bool = True) -> str:
    """Bring equivalent spellings to one: NFC, case folding, one apostrophe, no soft hyphens.

    Spec: DATA-TEXT

    >>> folded_text("STRASSE"), folded_text("Straße"), folded_text("DON’T")
    ('strasse', 'strasse', "don't")
    """
    if text.isascii():
        return text.lower() if lowercase else text
    text = text.replace(_SOFT_HYPHEN, "").replace(_CURLY, "'")
    if lowercase:
        # Case folding may undo a composition and, for one Greek mark, wants decomposed input.
        text = unicodedata.normalize("NFD", text).casefold()
    return unicodedata.normalize("NFC", text)


def tokens(text: str, options: TextOptions = PLAIN) -> list[str]:
    """Return the words of a text in order, those kept by the options.

    Spec: DATA-TEXT

    >>> tokens("It isn't well-known: 3.5 kg of Crème_brûlée!")
    ['it', "isn't", 'well', 'known', '3', '5', 'kg', 'of', 'crème', 'brûlée']
    """
    text = folded_text(text, lowercase=options.lowercase)
    words = _pattern(_marks(text)).findall(text)
    if options.stop_words:
        stop = options.stop_words
        words = [word for word in words if word not in stop]
    if options.min_length > 1:
        words = [word for word in words if len(word) >= options.min_length]
    return words


def bag_of_words(text: str, options: TextOptions = PLAIN) -> dict[str, int]:
    """Count each word of a text, words in code-point order.

    Spec: REP-BOW

    >>> bag_of_words("The cat and the dog", TextOptions(stop_words=frozenset(["and"])))
    {'cat': 1, 'dog': 1, 'the': 2}
    """
    counts = Counter(tokens(text, options))
    if options.vocabulary is not None:
        known = set(options.vocabulary)
        return {word: counts[word] for word in sorted(counts) if word in known}
    return {word: counts[word] for word in sorted(counts)}


def document_length(bag: Mapping[str, int]) -> int:
    """The number of tokens that a bag of words counts.

    Spec: REP-DOCLEN

    >>> document_length({"cat": 1, "the": 2})
    3
    """
    return sum(bag.values())


def corpus(
    texts: Iterable[str],
    options: TextOptions = PLAIN,
    *,
    ids: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
) -> Dataset:
    """Turn texts into rows of word counts, or of tf-idf weights; columns are words.

    Spec: REP-VSM, REP-BOW, PROP-BOW-1

    >>> data = corpus(["to be or not to be", "be!"])
    >>> data.features, data.row(0), data.row(1)
    (('be', 'not', 'or', 'to'), {0: 2.0, 1: 1.0, 2: 1.0, 3: 2.0}, {0: 1.0})
    """
    return counted_corpus(texts, options, ids=ids, labels=labels).data


def counted_corpus(
    texts: Iterable[str],
    options: TextOptions = PLAIN,
    *,
    ids: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    name: str | None = None,
) -> Corpus:
    """Turn texts into a corpus; ids and labels may still be growing while texts are taken.

    Errors say where the texts came from, which is the ``name``.

    Spec: REP-VSM, REP-BOW
    """
    vocabulary = options.vocabulary
    rows = NamedRows(vocabulary)
    for text in texts:
        rows.add(Counter(tokens(text, options)).items() if text else ())
    place = "" if name is None else f"{name}: "
    if not rows.n:
        raise EmptyInput(f"{place}there is no document; a corpus needs at least one")
    if vocabulary is None:
        smallest, largest = _limits(options, rows.n)
        names = [word for word in rows.names if smallest <= rows.uses(word) <= largest]
        if not names:
            raise EmptyInput(
                f"{place}no word is left of the {len(rows.names)} in {rows.n} documents; the "
                "options for texts leave out too much"
                if rows.names
                else f"{place}no document holds a word"
            )
        names.sort()
    else:
        names = list(vocabulary)
    data = rows.dataset(
        names,
        ids=None if ids is None else tuple(ids),
        labels=None if labels is None else tuple(labels),
    )
    empty = empty_rows(data)
    return Corpus(tfidf(data) if options.tfidf else data, empty, rows.unseen)


def document_frequencies(data: Dataset) -> tuple[int, ...]:
    """In how many rows each column is not zero.

    Spec: REP-TERMW

    >>> document_frequencies(corpus(["to be or not to be", "be!"]))
    (2, 1, 1, 1)
    """
    counts = Counter(_sparse(data).columns)
    return tuple(counts[column] for column in range(data.d))


def empty_rows(data: Dataset) -> int:
    """How many rows of a sparse data set hold nothing but zeros.

    Spec: REP-VSM

    >>> empty_rows(corpus(["one", "...", "two"]))
    1
    """
    starts = _sparse(data).starts
    return sum(starts[i] == starts[i + 1] for i in range(data.n))


def tfidf(
    data: Dataset, *, frequencies: Sequence[int] | None = None, documents: int | None = None
) -> Dataset:
    """Weigh word counts by rarity: tf · ln(n / df), each the nearest double.

    New documents are weighed with the ``frequencies`` and the number of ``documents`` of the
    corpus that the model has learnt from, never with their own.

    Spec: REP-TERMW

    >>> weighed = tfidf(corpus(["to be or not to be", "be!"]))
    >>> weighed.row(0)[3] == 2 * 0.6931471805599453, weighed.row(1)
    (True, {})
    """
    counts = _sparse(data)
    df = document_frequencies(data) if frequencies is None else tuple(frequencies)
    n = data.n if documents is None else documents
    if (frequencies is None) != (documents is None):
        raise BadOption("frequencies and documents belong together; give both or neither")
    if len(df) != data.d:
        raise FeatureMismatch(f"{len(df)} document frequencies for {data.d} features")
    known: dict[tuple[float, int], float] = {}  # few different pairs, whatever the corpus
    starts, columns, values = array("q", [0]), array("q"), array(DOUBLES)
    for i in range(data.n):
        for place in range(counts.starts[i], counts.starts[i + 1]):
            column = counts.columns[place]
            pair = counts.values[place], df[column]
            if pair not in known:
                known[pair] = _weight(*pair, n, data.feature_name(column))
            if known[pair]:
                columns.append(column)
                values.append(known[pair])
        starts.append(len(values))
    matrix = Sparse(readonly(starts), readonly(columns), readonly(values), data.n, data.d)
    return replace(data, matrix=matrix)


class NamedRows:
    """Rows of named numbers while they are collected; columns are settled at the end."""

    __slots__ = ("_columns", "_places", "_starts", "_uses", "_values", "fixed", "unseen")

    def __init__(self, fixed: Iterable[str] | None = None) -> None:
        """Take numbers of every name, or only of some."""
        self.fixed = fixed is not None
        self.unseen = 0  # the sum of what was left out because its name is not among the fixed
        self._places: dict[str, int] = {name: i for i, name in enumerate(fixed or ())}
        self._uses = array("q", bytes(8 * len(self._places)))
        self._starts, self._columns, self._values = array("q", [0]), array("q"), array(DOUBLES)

    @property
    def n(self) -> int:
        """How many rows there are.

        Spec: DATA-SET
        """
        return len(self._starts) - 1

    @property
    def names(self) -> KeysView[str]:
        """All names so far."""
        return self._places.keys()

    def uses(self, name: str) -> int:
        """How many rows name it.

        Spec: REP-TERMW
        """
        return self._uses[self._places[name]]

    def add(self, row: Iterable[tuple[str, float]]) -> None:
        """Append one row."""
        places = self._places
        for name, value in row:
            place = places.get(name)
            if place is None:
                if self.fixed:
                    self.unseen += int(value)
                    continue
                place = places[name] = len(places)
                self._uses.append(0)
            self._uses[place] += 1
            if value:
                self._columns.append(place)
                self._values.append(value)
        self._starts.append(len(self._values))

    def dataset(self, names: Sequence[str], **known: object) -> Dataset:
        """Return the rows with these columns, in this order; other names are left out."""
        column = {self._places[name]: i for i, name in enumerate(names)}
        starts, columns, values = array("q", [0]), array("q"), array(DOUBLES)
        for i in range(self.n):
            span = slice(self._starts[i], self._starts[i + 1])
            if span.start < span.stop:  # documents without a word may be most of them
                pairs = zip(self._columns[span], self._values[span], strict=True)
                row = sorted((column[place], value) for place, value in pairs if place in column)
                columns.extend([place for place, _ in row])
                values.extend([value for _, value in row])
            starts.append(len(values))
        return sparse(starts, columns, values, len(names), features=tuple(names), **known)


def _marks(text: str) -> str:
    """Return the combining marks a text still has, which no class of ``re`` names."""
    if text.isascii():
        return ""
    return "".join(sorted(c for c in set(text) if unicodedata.category(c)[0] == "M"))


@lru_cache(maxsize=256)
def _pattern(marks: str) -> re.Pattern[str]:
    """Return the pattern of a word: parts of letters, numbers and marks, single joiners between.

    ``[^\\W_]`` is exactly the letters and numbers (categories L and N) of Python's own Unicode.
    """
    tail = f"(?:[^\\W_]|[{re.escape(marks)}])*" if marks else "[^\\W_]*"
    part = f"[^\\W_]{tail}"
    return re.compile(f"{part}(?:[{_JOINERS}]{part})*")


def _limits(options: TextOptions, n: int) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest number of documents a word may occur in."""
    bounds = options.min_df, n if options.max_df is None else options.max_df
    low, high = (b * n if isinstance(b, Fraction) else Fraction(b) for b in bounds)
    return low, high


def _sparse(data: Dataset) -> Sparse:
    if not isinstance(data.matrix, Sparse):
        raise DimensionMismatch("word counts are sparse rows; these rows are dense")
    return data.matrix


def _weight(count: float, df: int, n: int, word: str) -> float:
    if not 1 <= df <= n:
        raise BadOption(f"the document frequency of {word!r} is {df}; 1 to {n} is possible")
    return float(log(Fraction(n, df)) * Fraction(count))
