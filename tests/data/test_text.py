"""Words of texts, bags of words, corpora and term weights."""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from array import array
from fractions import Fraction

import pytest

from refclust.data.dataset import dense
from refclust.data.text import (
    TextOptions,
    bag_of_words,
    corpus,
    counted_corpus,
    document_frequencies,
    document_length,
    empty_rows,
    folded_text,
    tfidf,
    tokens,
)
from refclust.errors import BadOption, DimensionMismatch, EmptyInput, FeatureMismatch


@pytest.mark.spec("DATA-TEXT")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("...", []),
        ("The cat.", ["the", "cat"]),
        ("It's Peter's 'quoted' word", ["it's", "peter's", "quoted", "word"]),
        ("rock'n'roll ''twas o'", ["rock'n'roll", "twas", "o"]),
        ("don’t DON'T", ["don't", "don't"]),
        ("a''b", ["a", "b"]),
        ("well-known co\u2010op a_b", ["well", "known", "co", "op", "a", "b"]),
        ("co\u00adop", ["coop"]),
        ("3.5 1,655.8 1986/87 x2", ["3", "5", "1", "655", "8", "1986", "87", "x2"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("É e\u0301 \u00c9", ["é", "é", "é"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("\u2764\ufe0f love", ["love"]),  # a variation selector after a symbol is no word
        ("\u0301a \u0301 b'\u0301c", ["a", "b", "c"]),
        ("x² Ⅷ ½ ٣", ["x²", "ⅷ", "½", "٣"]),
        ("日本語 テキスト", ["日本語", "テキスト"]),
        ("a\u2028b\u00a0c\td\x0ce", ["a", "b", "c", "d", "e"]),
        ("\u1fb3 \u03b1\u0345 \u1fbc", ["αι", "αι", "αι"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.spec("DATA-TEXT")
def test_case_can_be_kept() -> None:
    assert tokens("The CAT e\u0301É", TextOptions(lowercase=False)) == ["The", "CAT", "éÉ"]
    assert folded_text("AbC", lowercase=False) == "AbC"


@pytest.mark.spec("DATA-TEXT")
def test_words_can_be_left_out() -> None:
    text = "The cat of THE Straße isn't a dog"
    stop = TextOptions(stop_words=frozenset(["The", "STRASSE", "isn’t"]))
    assert tokens(text, stop) == ["cat", "of", "a", "dog"]
    assert tokens(text, TextOptions(min_length=3)) == [
        "the",
        "cat",
        "the",
        "strasse",
        "isn't",
        "dog",
    ]
    exact = TextOptions(lowercase=False, stop_words=frozenset(["the"]))
    assert tokens("The the", exact) == ["The"]


def test_letters_and_numbers_of_re_are_those_of_unicode() -> None:
    one = re.compile(r"[^\W_]")
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        assert bool(one.match(character)) == (unicodedata.category(character)[0] in "LN")


@pytest.mark.spec("REP-BOW", "REP-DOCLEN")
def test_bags_count_words() -> None:
    bag = bag_of_words("A rose is a rose; IS a rose.")
    assert bag == {"a": 3, "is": 2, "rose": 3}
    assert list(bag) == ["a", "is", "rose"]
    assert document_length(bag) == 8
    assert bag_of_words("?!") == {}
    assert document_length({}) == 0
    known = TextOptions(vocabulary=("rose", "thorn"))
    assert bag_of_words("A rose is a rose", known) == {"rose": 2}


@pytest.mark.spec("REP-BOW")
def test_a_word_is_not_its_stem() -> None:
    """The misprint of the source: laughing is not counted as laugh, nor grains as grain."""
    bag = bag_of_words("Laughing at grains, they laughed.")
    assert bag == {"at": 1, "grains": 1, "laughed": 1, "laughing": 1, "they": 1}


@pytest.mark.spec("REP-VSM")
def test_a_corpus_is_sparse_with_words_in_code_point_order() -> None:
    data = corpus(["zebra Apple", "", "apple éclair apple"], ids=["p", "q", "r"], labels=["1"] * 3)
    assert data.features == ("apple", "zebra", "éclair")
    assert list(data.rows()) == [{0: 1.0, 1: 1.0}, {}, {0: 2.0, 2: 1.0}]
    assert (data.ids, data.labels) == (("p", "q", "r"), ("1", "1", "1"))
    assert empty_rows(data) == 1


@pytest.mark.spec("REP-VSM")
def test_bounds_on_document_frequencies() -> None:
    texts = ["a b c d", "a b c", "a b", "a"]

    def words(**bounds: int | Fraction) -> object:
        return corpus(texts, TextOptions(**bounds)).features  # type: ignore[arg-type]

    assert words() == ("a", "b", "c", "d")
    assert words(min_df=2) == ("a", "b", "c")
    assert words(min_df=Fraction(1, 2)) == ("a", "b", "c")
    assert words(min_df=Fraction(51, 100)) == ("a", "b")
    assert words(max_df=2) == ("c", "d")
    assert words(max_df=Fraction(3, 4)) == ("b", "c", "d")
    assert words(min_df=1, max_df=1) == ("d",)
    assert words(min_df=Fraction(1)) == ("a",)
    found = counted_corpus(texts, TextOptions(max_df=2))
    assert (found.empty, found.unseen, found.data.n) == (2, 0, 4)
    with pytest.raises(EmptyInput, match="no word is left of the 4 in 4 documents; the options"):
        words(min_df=5)


@pytest.mark.spec("REP-VSM")
def test_a_vocabulary_fixes_the_columns() -> None:
    found = counted_corpus(
        ["the cat the cow", "dog"], TextOptions(vocabulary=("the", "ant", "cat"))
    )
    assert found.data.features == ("the", "ant", "cat")
    assert list(found.data.rows()) == [{0: 2.0, 2: 1.0}, {}]
    assert (found.empty, found.unseen) == (1, 2)


def test_a_corpus_needs_documents_and_words() -> None:
    with pytest.raises(EmptyInput, match="there is no document; a corpus needs at least one"):
        corpus([])
    with pytest.raises(EmptyInput, match="no document holds a word"):
        corpus(["", "?"])


@pytest.mark.spec("REP-TERMW")
def test_weights_are_the_nearest_doubles() -> None:
    texts = ["a a b", "a c", "a", "c c c"]
    data = corpus(texts, TextOptions(tfidf=True))
    assert document_frequencies(corpus(texts)) == (3, 1, 2)
    # 2 ln(4/3), ln 4, ln 2, 3 ln 2 and ln(4/3) to 20 digits, from tables
    assert list(data.rows()) == [
        {0: 0.57536414490356185, 1: 1.3862943611198906188},
        {0: 0.28768207245178092744, 2: 0.69314718055994530942},
        {0: 0.28768207245178092744},
        {2: 2.0794415416798359283},
    ]


@pytest.mark.spec("REP-TERMW")
def test_words_of_all_documents_weigh_nothing() -> None:
    data = corpus(["a b", "a"], TextOptions(tfidf=True))
    assert data.features == ("a", "b")
    assert list(data.rows()) == [{1: math.log(2)}, {}]
    assert counted_corpus(["a b", "a"], TextOptions(tfidf=True)).empty == 0


@pytest.mark.spec("REP-TERMW")
def test_new_documents_are_weighed_with_the_old_frequencies() -> None:
    old = corpus(["a b", "b"])
    assert old.features == ("a", "b")
    new = corpus(["a a b"], TextOptions(vocabulary=("a", "b")), ids=["new"])
    weighed = tfidf(new, frequencies=document_frequencies(old), documents=old.n)
    assert weighed.row(0) == {0: 2 * math.log(2)}
    assert (weighed.ids, weighed.features) == (("new",), ("a", "b"))
    with pytest.raises(BadOption, match="frequencies and documents belong together"):
        tfidf(new, documents=2)
    with pytest.raises(FeatureMismatch, match="1 document frequencies for 2 features"):
        tfidf(new, frequencies=[1], documents=2)
    for wrong in (0, 3):
        with pytest.raises(BadOption, match=f"frequency of 'a' is {wrong}; 1 to 2 is possible"):
            tfidf(new, frequencies=[wrong, 1], documents=2)


def test_only_sparse_rows_are_counts() -> None:
    rows = dense(array("d", [1.0]), 1)
    for function in (tfidf, document_frequencies, empty_rows):
        with pytest.raises(DimensionMismatch, match="word counts are sparse rows"):
            function(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 0}, "min_df is 0; a number of documents from 1, or a share"),
        ({"min_df": True}, "min_df is True; "),
        ({"min_df": 0.5}, "min_df is 0.5; "),
        ({"max_df": Fraction(0)}, "max_df is Fraction(0, 1); "),
        ({"max_df": Fraction(3, 2)}, "max_df is Fraction(3, 2); "),
        ({"min_length": 0}, "min_length is 0; a whole number from 1 is needed"),
        ({"vocabulary": ()}, "a vocabulary holds at least one word"),
        ({"vocabulary": ("a", "a")}, "a vocabulary holds at least one word, and no word twice"),
        ({"vocabulary": ("Cat",)}, "the word 'Cat' of the vocabulary can never occur in a text"),
        ({"vocabulary": ("a",), "min_df": 2}, "min_df and max_df choose words; a given vocabulary"),
        ({"vocabulary": ("a",), "max_df": 2}, "min_df and max_df choose words; a given vocabulary"),
        ({"vocabulary": ("a",), "min_df": Fraction(1)}, "min_df and max_df choose words"),
        ({"vocabulary": ("a",), "tfidf": True}, "tfidf with a given vocabulary needs the document"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadOption) as caught:
        TextOptions(**options)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)
