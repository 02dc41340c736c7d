"""Texts: words, bags of words, corpora and term weights (chapter 09)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from . import text_witness as witness
from .text_cases import CHOSEN, TEXTS
from .text_witness import Counted, Options
from .values import Irrational, Json, encode, log
from .writer import VectorFile

SUBJECT = "data.text"
NOTES = {
    "words": "a word is the list of its code points",
    "ascii": "the file is ASCII: other characters are escaped, as JSON allows",
}
KEY_CLAUSES = {
    "tokens": ["DATA-TEXT"],
    "bag": ["REP-BOW"],
    "length": ["REP-DOCLEN"],
    "words": ["REP-VSM"],
    "counts": ["REP-VSM", "REP-BOW"],
    "lengths": ["REP-DOCLEN"],
    "empty": ["REP-VSM"],
    "unseen": ["REP-BOW"],
    "df": ["REP-TERMW"],
    "tfidf": ["REP-TERMW"],
}


class TextFile(VectorFile):
    """A vector file in ASCII: no editor, mail or checkout can change marks it does not show."""

    def text(self) -> str:
        """The bytes of the file, as text."""
        written = VectorFile.text(self)
        return "".join(one if one.isascii() else _escaped(one) for one in written)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _whole(value: int) -> dict[str, Json]:
    return {"exact": str(value)}


def _wholes(values: Sequence[int]) -> dict[str, Json]:
    return {"list": [_whole(value) for value in values]}


def _words(words: Sequence[str]) -> dict[str, Json]:
    return {"list": [_wholes(witness.codes(word)) for word in words]}


def _bag(pairs: Sequence[tuple[str, int]]) -> dict[str, Json]:
    return {
        "list": [{"list": [_wholes(witness.codes(word)), _whole(count)]} for word, count in pairs]
    }


def _clauses(expect: dict[str, Json], more: Sequence[str] = ()) -> list[str]:
    found = [clause for key in expect for clause in KEY_CLAUSES[key]]
    return list(dict.fromkeys([*found, *more]))


def _single(file: VectorFile, name: str, text: str, options: Options, told: str) -> None:
    pairs = witness.bag(text, options)
    expect: dict[str, Json] = {
        "tokens": _words(witness.tokens(text, options)),
        "bag": _bag(pairs),
        "length": _whole(sum(count for _, count in pairs)),
    }
    given: dict[str, Json] = {"text": text, **options.given()}
    file.add(f"words-{name}", given, expect, told, formulas=_clauses(expect))


def single() -> VectorFile:
    """One text at a time."""
    file = TextFile("09-data/words.json", SUBJECT, "Words of a text, and its bag", dict(NOTES))
    for name, text, told in TEXTS:
        _single(file, name, text, Options(), told)
    for name, text, options, told in CHOSEN:
        _single(file, name, text, options, told)
    return file


def _counts(counted: Counted) -> dict[str, Json]:
    return {
        "words": _words(counted.words),
        "counts": {"list": [_wholes(row) for row in counted.counts]},
        "lengths": _wholes(counted.lengths),
        "empty": _whole(counted.empty),
        "unseen": _whole(counted.unseen),
    }


def _corpus(
    file: VectorFile,
    name: str,
    texts: list[str],
    options: Options,
    told: str,
    *,
    more: Sequence[str] = (),
    misprint: dict[str, Json] | None = None,
) -> None:
    expect = _counts(witness.corpus(texts, options))
    given: dict[str, Json] = {"texts": [*texts], **options.given()}
    ids = _clauses(expect, more)
    file.add(f"corpus-{name}", given, expect, told, formulas=ids, misprint=misprint)


def corpora() -> VectorFile:
    """Several texts: which words are columns, and what is counted."""
    file = TextFile("09-data/corpora.json", SUBJECT, "Corpora as tables of counts", dict(NOTES))
    plain = Options()
    three = ["The cat sat on the mat.", "The dog sat.", "A cat and a dog and a cat"]
    _corpus(file, "plain", three, plain, "three short documents")
    _corpus(file, "one", ["to be or not to be"], plain, "a single document")
    told = "documents without words stay, as rows of zeros"
    _corpus(file, "empty-documents", ["", "one", "...", "two one", ""], plain, told)
    order = ["zebra \u00e9clair apple Zoo", "Apple \uff41 \U0001d4b6 _ 10 9"]
    told = "columns in code-point order: digits first, accents and wide letters last"
    _corpus(file, "order", order, plain, told)
    told = "with case kept, capitals come first"
    _corpus(file, "order-case", order, Options(lowercase=False), told)
    prefixes = ["ab a abc", "a\u0301 a' a'b b"]
    _corpus(file, "order-prefixes", prefixes, plain, "a word before its continuations")
    shuffled = ["one two two three three three", "three two one three two three"]
    told = "the order of words drops out: both rows are equal"
    _corpus(file, "shuffled", shuffled, plain, told, more=["PROP-BOW-1"])
    rows = witness.corpus(shuffled).counts
    assert rows[0] == rows[1]
    told = "documents in another order: the rows of corpus-plain in that order"
    _corpus(file, "turned", three[::-1], plain, told, more=["PROP-BOW-1"])
    assert witness.corpus(three[::-1]).counts == witness.corpus(three).counts[::-1]
    same = ["Stra\u00dfe caf\u00e9 don\u2019t", "STRASSE cafe\u0301 DON'T", "stra\u00ad\u00dfe"]
    _corpus(file, "equivalent", same, plain, "equivalent spellings share columns")
    _bounds(file)
    _vocabularies(file)
    stop = Options(stop_words=("the", "A"), min_length=3)
    _corpus(file, "stop-words", three, stop, "short words and stop words have no column")
    told = "a document whose words are all left out stays"
    _corpus(file, "stop-document", ["the", "the cat"], Options(stop_words=("the",)), told)
    return file


def _bounds(file: VectorFile) -> None:
    steps = ["a b c d", "a b c", "a b", "a"]
    told = "words in four, three, two and one documents; bounds are inclusive"
    for name, options in {
        "min-1": Options(min_df="1/100"),
        "min-2": Options(min_df=2),
        "min-half": Options(min_df="1/2"),
        "min-above-half": Options(min_df="51/100"),
        "min-all": Options(min_df="1"),
        "min-four": Options(min_df=4),
        "max-1": Options(max_df=1),
        "max-half": Options(max_df="1/2"),
        "max-below-half": Options(max_df="49/100"),
        "max-share-1": Options(max_df="1"),
        "max-above": Options(max_df=9),
        "both": Options(min_df=2, max_df="3/4"),
        "both-equal": Options(min_df="1/2", max_df=2),
    }.items():
        _corpus(file, f"bound-{name}", steps, options, told)
    often = ["x x x x", "y", "y"]
    told = "documents are counted, not occurrences"
    _corpus(file, "bound-occurrences", often, Options(min_df=2), told)
    told = "empty documents count among the documents of a share"
    _corpus(file, "bound-empty", ["a b", "a", "", ""], Options(min_df="1/2"), told)
    assert 7 / 25 * 25 > 7
    assert 15 / 22 * 22 < 15
    told = "in doubles 7/25 of 25 is more than 7"
    texts = ["word other"] * 7 + ["other"] * 18
    _corpus(file, "bound-exact-min", texts, Options(min_df="7/25"), told)
    told = "in doubles 15/22 of 22 is less than 15"
    texts = ["word other"] * 15 + ["other"] * 7
    _corpus(file, "bound-exact-max", texts, Options(max_df="15/22"), told)
    told = "a third of four documents is more than one"
    _corpus(file, "bound-third-min", steps, Options(min_df="1/3"), told)
    told = "two thirds of four documents are less than three"
    _corpus(file, "bound-third-max", steps, Options(max_df="2/3"), told)


def _vocabularies(file: VectorFile) -> None:
    texts = ["the cat the cow", "dog", "Cat!"]
    told = "exactly these columns, in this order; other words are counted as unseen"
    given = Options(vocabulary=("the", "ant", "cat"))
    _corpus(file, "vocabulary", texts, given, told)
    kept = Options(vocabulary=("Cat", "cat"), lowercase=False)
    _corpus(file, "vocabulary-case", texts, kept, "with case kept, two words")
    stop = Options(vocabulary=("the", "cat"), stop_words=("the",))
    told = "a stop word of the vocabulary is never counted, and is not unseen either"
    _corpus(file, "vocabulary-stop", texts, stop, told)
    told = "no document holds a word of the vocabulary"
    _corpus(file, "vocabulary-none", texts, Options(vocabulary=("emu",)), told)
    review = next(text for name, text, _ in TEXTS if name == "review")
    asked = ("great", "love", "laugh", "recommend", "happy")
    told = "inflected words are other words: a stem counted for them is the misprint"
    stemmed: Json = {"list": [_wholes([2, 1, 2, 1, 0])]}
    assert witness.corpus([review], Options(vocabulary=asked)).counts == [[2, 1, 0, 1, 0]]
    _corpus(
        file,
        "vocabulary-stems",
        [review],
        Options(vocabulary=asked),
        told,
        misprint={"counts": stemmed},
    )


def _weighed(
    file: VectorFile, name: str, texts: list[str], told: str, options: Options = witness.PLAIN
) -> None:
    counted = witness.corpus(texts, options)
    expect: dict[str, Json] = {
        "tfidf": {
            "list": [
                {"list": [encode(value) for value in row]}
                for row in witness.weights(counted, options)
            ]
        },
        "words": _words(counted.words),
    }
    if options.frequencies is None:
        expect["df"] = _wholes(counted.df)
    given: dict[str, Json] = {"texts": [*texts], **options.given()}
    file.add(f"weight-{name}", given, expect, told, formulas=_clauses(expect))


def _rounded_twice(n: int, df: int, tf: int) -> bool:
    """Whether the count times the nearest double of the logarithm misses the nearest double."""
    one, many = (log(Fraction(n, df)).times(Fraction(k)).value() for k in (1, tf))
    assert isinstance(one, Irrational)
    nearest = [float.fromhex(str(encode(value)["binary64"])) for value in (one, many)]
    return tf * nearest[0] != nearest[1]


def weights() -> VectorFile:
    """Term weights."""
    file = TextFile("09-data/weights.json", SUBJECT, "Term weights", dict(NOTES))
    _weighed(file, "plain", ["a a b", "a c", "a", "c c c"], "2 ln(4/3), ln 4, 3 ln 2 and others")
    told = "a word of every document weighs exactly 0"
    _weighed(file, "everywhere", ["the cat", "the dog", "the the end"], told)
    _weighed(file, "one", ["one document one"], "a single document: all weights are 0")
    _weighed(file, "twins", ["same text", "same text"], "equal documents: all weights are 0")
    told = "empty documents count: n is 4"
    _weighed(file, "empty-documents", ["", "a b b", "...", "b"], told)
    told = "rows are not normalised: the second is three times the first"
    _weighed(file, "length", ["x y", "x y x y x y", "z"], told)
    told = "n is the number of all documents, bounds or not"
    _weighed(file, "bounds", ["a b c", "a b", "a", ""], told, Options(min_df=2))
    told = "stop words have no column"
    _weighed(file, "stop", ["the a", "the b", "c"], told, Options(stop_words=("the",)))
    traps = [tf for tf in range(2, 12) if _rounded_twice(3, 2, tf)]
    assert traps, "no trap"
    told = f"counts 1 to 11 times ln(3/2): rounding twice misses those of {traps}"
    words = [f"w{tf:02d}" for tf in range(1, 12)]
    many = " ".join(word for tf, word in enumerate(words, 1) for _ in range(tf))
    _weighed(file, "rounding", [many, " ".join(words), "."], told)
    primes = [" ".join(f"p{df:02d}" for df in range(i + 1, 14)) for i in range(13)]
    _weighed(file, "thirteen", primes, "13 documents, frequencies 1 to 13: ln(13/df)")
    told = "new documents are weighed with n = 8 and the frequencies of the old corpus"
    old = Options(vocabulary=("a", "b", "c", "d"), frequencies=(1, 2, 8, 3), documents=8)
    _weighed(file, "learnt", ["a b b c x", "b", "d d d"], told, old)
    told = "a word without document in the old corpus is harmless while no document holds it"
    old = Options(vocabulary=("a", "z"), frequencies=(2, 0), documents=3)
    _weighed(file, "learnt-unused", ["a", "b"], told, old)
    return file


def refusals() -> VectorFile:
    """What is refused."""
    file = TextFile("09-data/refused.json", SUBJECT, "Refused texts and options", dict(NOTES))
    texts = ["a b", "b c"]

    def refused(name: str, options: Options, told: str, clause: str = "REP-VSM") -> None:
        given: dict[str, Json] = {"texts": [*texts], **options.given()}
        expect: dict[str, Json] = {"error": "bad-option"}
        file.add(f"refused-text-{name}", given, expect, told, formulas=[clause])

    for name in ("min_df", "max_df"):
        slug = name.replace("_", "-")
        refused(f"{slug}-0", Options(**{name: 0}), "no document")  # type: ignore[arg-type]
        refused(f"{slug}-below", Options(**{name: -1}), "below 0")  # type: ignore[arg-type]
        refused(f"{slug}-share-0", Options(**{name: "0"}), "no share")  # type: ignore[arg-type]
        refused(f"{slug}-share", Options(**{name: "3/2"}), "above 1")  # type: ignore[arg-type]
    told = "a word has at least one code point"
    refused("length-0", Options(min_length=0), told, "DATA-TEXT")
    refused("length-below", Options(min_length=-3), told, "DATA-TEXT")
    refused("vocabulary-empty", Options(vocabulary=()), "no words at all")
    refused("vocabulary-twice", Options(vocabulary=("a", "b", "a")), "a word twice")
    refused("vocabulary-case", Options(vocabulary=("a", "B")), "B is always folded")
    told = "not in normal form: it can never occur"
    refused("vocabulary-nfd", Options(vocabulary=("e\u0301",)), told)
    told = "bounds choose words, and the vocabulary has chosen"
    refused("vocabulary-min", Options(vocabulary=("a",), min_df=2), told)
    refused("vocabulary-max", Options(vocabulary=("a",), max_df="1/2"), told)
    alone = Options(stop_words=("a", "b", "c"))
    for name, some, options, told in (
        ("none", [], Options(), "no document"),
        ("wordless", ["", "?", " "], Options(), "no word in any document"),
        ("stopped", texts, alone, "stop words only"),
        ("bounds", texts, Options(min_df=3), "no word is in three of two documents"),
        ("bounds-crossed", texts, Options(min_df=2, max_df=1), "at least two and at most one"),
    ):
        given: dict[str, Json] = {"texts": [*some], **options.given()}
        expect: dict[str, Json] = {"error": "empty-input"}
        file.add(f"refused-text-{name}", given, expect, told, formulas=["REP-VSM"])
    told = "weights of new documents need the frequencies of the old"
    given = {"texts": [*texts], "vocabulary": ["a"]}
    code: dict[str, Json] = {"error": "bad-option"}
    file.add("refused-text-weights", given, {"tfidf": code}, told, formulas=["REP-TERMW"])
    given = {**given, "frequencies": [0], "documents": 3}
    told = "a document holds a word that no document of the old corpus held"
    file.add("refused-text-unlearnt", given, {"tfidf": code}, told, formulas=["REP-TERMW"])
    return file


def files() -> list[VectorFile]:
    """The files of chapter 09."""
    return [single(), corpora(), weights(), refusals()]
