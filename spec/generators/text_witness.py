"""Words, bags, corpora and weights from the clauses of chapter 09, slowly and plainly.

A word is found as the clause says it: from the left, the longest stretch of the text that fits
the pattern, tried from the longest down. Nothing here is a regular expression.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from .text_unicode import case_folded, composed, decomposed, settled
from .values import Json, Value, log

JOINERS = ("\u0027", "\u200c", "\u200d")
Bound = int | str
Table = list[list[int]]


@dataclass(frozen=True, slots=True)
class Options:
    """What a case asks for; what is left out is not written into its input."""

    lowercase: bool = True
    stop_words: tuple[str, ...] = ()
    min_length: int = 1
    min_df: Bound = 1
    max_df: Bound | None = None
    vocabulary: tuple[str, ...] | None = None
    frequencies: tuple[int, ...] | None = None
    documents: int | None = None

    def given(self) -> dict[str, Json]:
        """The options that differ from the plain ones, as JSON."""
        plain, found = Options(), dict[str, Json]()
        for name in self.__slots__:
            value = getattr(self, name)
            if value != getattr(plain, name):
                found[name] = list(value) if isinstance(value, tuple) else value
        return found


PLAIN = Options()


def fold(text: str, *, lowercase: bool = True) -> str:
    """A text with one spelling for equivalent ones."""
    assert settled(text), f"a character of {text!a} is too new"
    kept = [one for one in text if one != "\u00ad"]
    text = "".join("\u0027" if one == "\u2019" else one for one in kept)
    return composed(case_folded(decomposed(text))) if lowercase else composed(text)


def _kind(character: str) -> str:
    return unicodedata.category(character)[0]


def fits(stretch: str) -> bool:
    """Whether a stretch is parts with single joiners between them.

    >>> fits("it's"), fits("'s"), fits("a''b"), fits("a-b")
    (True, False, False, False)
    """
    parts = [""]
    for character in stretch:
        if character in JOINERS:
            parts.append("")
        else:
            parts[-1] += character
    return all(
        part and _kind(part[0]) in "LN" and all(_kind(one) in "LMN" for one in part)
        for part in parts
    )


def tokens(text: str, options: Options = PLAIN) -> list[str]:
    """The words of a text, in order."""
    text = fold(text, lowercase=options.lowercase)
    found: list[str] = []
    begin = 0
    while begin < len(text):
        ends = range(len(text), begin, -1)
        end = next((end for end in ends if fits(text[begin:end])), None)
        if end is not None:
            found.append(text[begin:end])
        begin = begin + 1 if end is None else end
    stop = [fold(word, lowercase=options.lowercase) for word in options.stop_words]
    return [word for word in found if word not in stop and len(word) >= options.min_length]


def codes(word: str) -> list[int]:
    """The code points of a word."""
    return [ord(character) for character in word]


def bag(text: str, options: Options = PLAIN) -> list[tuple[str, int]]:
    """Each word of a text and how often it occurs, in code-point order."""
    words = tokens(text, options)
    if options.vocabulary is not None:
        words = [word for word in words if word in options.vocabulary]
    return [(word, words.count(word)) for word in sorted(set(words), key=codes)]


@dataclass(frozen=True, slots=True)
class Counted:
    """A corpus: its columns, its table of counts, and what was left out."""

    words: list[str]
    counts: Table
    df: list[int]
    lengths: list[int]
    empty: int
    unseen: int


def corpus(texts: list[str], options: Options = PLAIN) -> Counted:
    """Count the words of texts."""
    documents = [tokens(text, options) for text in texts]
    if options.vocabulary is None:
        every = sorted({word for words in documents for word in words}, key=codes)
        kept = [word for word in every if _within(_df(word, documents), len(texts), options)]
        assert kept, "no word is left: that is a refusal"
        unseen = 0
    else:
        kept = list(options.vocabulary)
        unseen = sum(word not in kept for words in documents for word in words)
    counts = [[words.count(word) for word in kept] for words in documents]
    lengths = [sum(row) for row in counts]
    df = [_df(word, documents) for word in kept]
    return Counted(kept, counts, df, lengths, sum(not any(row) for row in counts), unseen)


def _df(word: str, documents: list[list[str]]) -> int:
    return sum(word in words for words in documents)


def _within(df: int, n: int, options: Options) -> bool:
    low, high = options.min_df, n if options.max_df is None else options.max_df
    least = low if isinstance(low, int) else Fraction(low) * n
    most = high if isinstance(high, int) else Fraction(high) * n
    return least <= df <= most


def weights(counted: Counted, options: Options = PLAIN) -> list[list[Value]]:
    """Counts times the logarithm of rarity, as exact values."""
    n = len(counted.counts) if options.documents is None else options.documents
    df = counted.df if options.frequencies is None else options.frequencies
    return [
        [
            log(Fraction(n, df[j])).times(Fraction(tf)).value() if tf else Fraction(0)
            for j, tf in enumerate(row)
        ]
        for row in counted.counts
    ]
