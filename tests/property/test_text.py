"""Properties of bags of words and term weights."""

from __future__ import annotations

import unicodedata
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.text import (
    TextOptions,
    bag_of_words,
    corpus,
    counted_corpus,
    document_frequencies,
    document_length,
    folded_text,
    tfidf,
    tokens,
)
from refclust.numbers.real import log

texts = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.text("aAbB'’- \u0301éÉßİıΑα\u0345ς\u200d\u00ad\ufe0f1²", max_size=20),
)
simple = st.lists(st.sampled_from(["ant", "bee", "cow", "dog", "eel"]), max_size=8)
corpora = st.lists(simple, min_size=1, max_size=6).filter(any)


def by_hand(text: str, lowercase: bool) -> list[str]:
    """Cut a text into words one character after another, straight from the chapter."""
    text = text.replace("\u00ad", "").replace("\u2019", "'")
    if lowercase:
        text = unicodedata.normalize("NFD", text).casefold()
    text = unicodedata.normalize("NFC", text)
    kinds = [unicodedata.category(c)[0] for c in text]
    found, i = [], 0
    while i < len(text):
        if kinds[i] not in "LN":
            i += 1
            continue
        begin = i
        while i < len(text) and (
            kinds[i] in "LMN"
            or (text[i] in "'\u200c\u200d" and i + 1 < len(text) and kinds[i + 1] in "LN")
        ):
            i += 1
        found.append(text[begin:i])
    return found


@pytest.mark.spec("DATA-TEXT")
@given(texts, st.booleans())
def test_words_are_those_of_the_definition(text: str, lowercase: bool) -> None:
    assert tokens(text, TextOptions(lowercase=lowercase)) == by_hand(text, lowercase)


@pytest.mark.spec("DATA-TEXT")
@given(texts)
def test_folding_is_settled_and_equivalent_texts_are_equal(text: str) -> None:
    once = folded_text(text)
    assert folded_text(once) == once
    assert tokens(once) == tokens(text)
    assert tokens(" ".join(tokens(text))) == tokens(text)
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(text)
    assert tokens(unicodedata.normalize("NFC", text)) == tokens(text)


@pytest.mark.spec("REP-BOW", "REP-DOCLEN", "PROP-BOW-1")
@given(texts, st.randoms(use_true_random=False))
def test_a_bag_counts_tokens_in_any_order(text: str, random: object) -> None:
    words = tokens(text)
    bag = bag_of_words(text)
    assert bag == Counter(words)
    assert list(bag) == sorted(bag)
    assert document_length(bag) == len(words)
    random.shuffle(words)  # type: ignore[attr-defined]
    assert bag_of_words(" ".join(words)) == bag


@pytest.mark.spec("REP-VSM", "PROP-BOW-1")
@given(corpora, st.randoms(use_true_random=False))
def test_rows_of_a_corpus_are_bags_and_move_with_their_documents(
    documents: list[list[str]], random: object
) -> None:
    data = corpus(" ".join(words) for words in documents)
    assert data.features == tuple(sorted({word for words in documents for word in words}))
    for words, row in zip(documents, data.rows(), strict=True):
        assert isinstance(row, dict)
        assert {data.feature_name(j): value for j, value in row.items()} == Counter(words)
        assert list(row) == sorted(row)
    order = list(range(len(documents)))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = corpus(" ".join(documents[i]) for i in order)
    assert moved.features == data.features
    assert moved.digest() == data.select(order).digest()


@pytest.mark.spec("REP-VSM")
@given(corpora, st.permutations(["ant", "bee", "fly"]))
def test_a_vocabulary_keeps_some_words_and_counts_the_others(
    documents: list[list[str]], vocabulary: list[str]
) -> None:
    options = TextOptions(vocabulary=tuple(vocabulary))
    found = counted_corpus((" ".join(words) for words in documents), options)
    assert found.data.features == tuple(vocabulary)
    assert found.unseen == sum(word not in vocabulary for words in documents for word in words)
    assert found.empty == sum(not set(words) & set(vocabulary) for words in documents)


@pytest.mark.spec("REP-TERMW")
@given(corpora)
def test_weights_are_counts_times_rarity(documents: list[list[str]]) -> None:
    counts = corpus(" ".join(words) for words in documents)
    df = document_frequencies(counts)
    assert df == tuple(sum(word in words for words in documents) for word in counts.features or ())
    weighed = tfidf(counts)
    given_df = tfidf(counts, frequencies=df, documents=counts.n)
    assert given_df.digest() == weighed.digest()
    for before, after in zip(counts.rows(), weighed.rows(), strict=True):
        assert isinstance(before, dict)
        assert after == {
            j: float(int(tf) * log(Fraction(counts.n, df[j])))
            for j, tf in before.items()
            if df[j] < counts.n
        }
