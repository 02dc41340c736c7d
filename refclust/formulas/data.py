"""Chapter 09: data. Texts as words, words as counts, counts as weights."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from refclust.errors import BadOption, EmptyInput
from refclust.formulas.vectors import Number, exact
from refclust.numbers.real import Real, log


def words(text: str, *, lowercase: bool = True) -> list[str]:
    """The words of a text: runs of letters, marks and numbers, single joiners between them.

    Defines: DATA-TEXT

    >>> words("It isn't well-known: 3.5 kg of Crème_brûlée!")
    ['it', "isn't", 'well', 'known', '3', '5', 'kg', 'of', 'crème', 'brûlée']
    """
    return list(longest_matches(folded(text, lowercase=lowercase)))


def bag(tokens: Sequence[str], vocabulary: Collection[str] | None = None) -> dict[str, int]:
    """How often each word occurs.

    Defines: REP-BOW

    >>> bag(["the", "cat", "the"])
    {'cat': 1, 'the': 2}
    """
    return {
        word: tokens.count(word)
        for word in sorted(set(tokens))
        if vocabulary is None or word in vocabulary
    }


def document_length(x: Mapping[str, int]) -> int:
    """The number of tokens that a bag counts.

    Defines: REP-DOCLEN

    >>> document_length({"cat": 1, "the": 2})
    3
    """
    return sum(x.values())


def corpus(
    bags: Sequence[Mapping[str, int]], *, low: Number = 1, high: Number | None = None
) -> tuple[list[str], list[list[int]]]:
    """Documents as vectors: the columns are the words that occur in low to high documents.

    Defines: REP-VSM

    >>> corpus([{"be": 2, "to": 2}, {"be": 1}])
    (['be', 'to'], [[2, 2], [1, 0]])
    """
    if not bags:
        raise EmptyInput("there is no document")
    most = exact(len(bags) if high is None else high)
    vocabulary = sorted({word for x in bags for word in x})
    kept = [word for word in vocabulary if exact(low) <= document_frequency(bags, word) <= most]
    if not kept:
        raise EmptyInput("no word is left in any document")
    return kept, [[x.get(word, 0) for word in kept] for x in bags]


def tf_idf(tf: Number, df: int, n: int) -> Real:
    """The weight of a word in a document.

    Defines: REP-TERMW

    >>> tf_idf(2, 1, 2) == 2 * log(2)
    True
    """
    if not 1 <= df <= n:
        raise BadOption(f"a word is in {df} of {n} documents; 1 to {n} is possible")
    return exact(tf) * log(Fraction(n, df))


# What several clauses share.


def folded(text: str, *, lowercase: bool = True) -> str:
    """A text in one of its equivalent spellings.

    Spec: DATA-TEXT

    >>> folded("STRASSE"), folded("Straße"), folded("DON’T")
    ('strasse', 'strasse', "don't")
    """
    plain = text.replace("\u00ad", "").replace("\u2019", "'")
    if lowercase:
        plain = unicodedata.normalize("NFD", plain).casefold()
    return unicodedata.normalize("NFC", plain)


def longest_matches(text: str) -> Iterator[str]:
    """The leftmost longest matches of P (J P)*, P = [L N][L M N]*.

    Spec: DATA-TEXT

    >>> list(longest_matches("a'b'"))
    ["a'b"]
    """
    kinds = [
        "joiner" if sign in "'\u200c\u200d" else unicodedata.category(sign)[0] for sign in text
    ]
    begin = 0
    while begin < len(text):
        if kinds[begin] not in ("L", "N"):
            begin += 1
            continue
        end = begin + 1
        while end < len(text) and (
            kinds[end] in ("L", "M", "N")
            or (kinds[end] == "joiner" and "".join(kinds[end + 1 : end + 2]) in ("L", "N"))
        ):
            end += 1
        yield text[begin:end]
        begin = end


def document_frequency(bags: Sequence[Mapping[str, int]], word: str) -> int:
    """In how many documents a word occurs.

    Spec: REP-TERMW

    >>> document_frequency([{"be": 2, "to": 2}, {"be": 1}], "be")
    2
    """
    return sum(word in x for x in bags)
