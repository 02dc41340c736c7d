"""The golden vectors of texts: refclust meets them, and careless programs do not."""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.errors import BadVectorFile, RefclustError
from refclust.vectors import answers, verify
from refclust.vectors.answers import Answer, Refused
from refclust.vectors.runners import texts as text_runners
from refclust.vectors.verify import GoldenCase

SPEC = Path(__file__).parents[2] / "spec"
FILES = {file.name: file for file in verify.load("09-data/")}
SESSION = Session("reference")


def cases(name: str) -> tuple[GoldenCase, ...]:
    return FILES[f"09-data/{name}.json"].cases


def answered(given: dict[str, Any], key: str) -> Answer:
    try:
        return text_runners.text(given, key, SESSION)
    except RefclustError as refusal:
        return Refused(refusal.code)


def judged(one: GoldenCase) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(one.expect.get("error"), str):
        return ((key, one.expect) for key in text_runners.REFUSED_KEYS)
    return iter(one.expect.items())


@pytest.mark.parametrize("name", sorted(FILES))
def test_refclust_meets_every_value(name: str) -> None:
    wrong = [
        (one.id, key)
        for one in FILES[name].cases
        for key, expected in judged(one)
        if not answers.passes(expected, answered(one.input, key))
    ]
    assert wrong == []


def test_keys_of_the_other_kind_of_input_are_refused() -> None:
    for given, key in (({"text": "a"}, "counts"), ({"texts": ["a"]}, "tokens")):
        with pytest.raises(BadVectorFile, match=f"no reading of texts is called '{key}'"):
            text_runners.text(given, key, SESSION)


def test_the_generator_makes_its_files() -> None:
    make = importlib.import_module("spec.generators.make_text")
    made = {file.path: file.text() for file in make.files()}
    assert sorted(made) == sorted(FILES)
    for path, text in made.items():
        assert text.isascii()
        assert (SPEC / "vectors" / path).read_text(encoding="utf-8") == text


def test_the_normal_forms_of_the_witness_are_those_of_the_standard() -> None:
    """Every character that has a decomposition or is a mark; the function compares both roads."""
    witness = importlib.import_module("spec.generators.text_unicode")
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.decomposition(character) or unicodedata.combining(character):
            whole = witness.composed(f"a{character}\u0301")
            assert whole == unicodedata.normalize("NFC", f"a{character}\u0301")


def words_of(expected: dict[str, Any]) -> list[str]:
    """A list of code points, read back."""
    return ["".join(chr(int(code["exact"])) for code in word["list"]) for word in expected["list"]]


def plain(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def cleaned(text: str) -> str:
    return text.replace("\u00ad", "").replace("\u2019", "'")


def cut(text: str, *, mark: str = "M", joiners: str = "'\u200c\u200d", most: int = 1) -> list[str]:
    """The clause, with places where one may go astray."""
    found, word, gap = [], "", ""
    for one in f"{text} ":
        kind = unicodedata.category(one)[0]
        if kind in "LN" or (kind in mark and word and not gap):
            word, gap = word + gap + one, ""
        elif one in joiners and word and len(gap) < most:
            gap += one
        else:
            found += [word] if word else []
            word = gap = ""
    return found


# What programs do instead of the clause; the first is the clause.
CARELESS: dict[str, Callable[[str], list[str]]] = {
    "the clause": lambda text: cut(plain(cleaned(text))),
    "cut at blanks": lambda text: plain(cleaned(text)).split(),
    "\\w+": lambda text: re.findall(r"\w+", plain(cleaned(text))),
    "two letters at least": lambda text: re.findall(r"\b\w\w+\b", plain(cleaned(text))),
    "letters only": lambda text: re.findall(r"[^\W\d_]+", plain(cleaned(text))),
    "ASCII": lambda text: re.findall("[a-z0-9']+", plain(cleaned(text))),
    "no marks": lambda text: cut(plain(cleaned(text)), mark=""),
    "no joiners": lambda text: cut(plain(cleaned(text)), joiners=""),
    "apostrophes only": lambda text: cut(plain(cleaned(text)), joiners="'"),
    "hyphens join": lambda text: cut(plain(cleaned(text)), joiners="'-\u200c\u200d"),
    "two joiners in a row": lambda text: cut(plain(cleaned(text)), most=2),
    "soft hyphens stay": lambda text: cut(plain(text.replace("\u2019", "'"))),
    "soft hyphens removed late": lambda text: cut(
        plain(text.replace("\u2019", "'")).replace("\u00ad", "")
    ),
    "curly apostrophes stay": lambda text: cut(plain(text.replace("\u00ad", ""))),
    "case stays": lambda text: cut(unicodedata.normalize("NFC", cleaned(text))),
    "lower case": lambda text: cut(unicodedata.normalize("NFC", cleaned(text).lower())),
    "folded, not composed": lambda text: cut(
        unicodedata.normalize("NFD", cleaned(text)).casefold()
    ),
    "not decomposed first": lambda text: cut(
        unicodedata.normalize("NFC", cleaned(text).casefold())
    ),
    "compatible forms": lambda text: cut(unicodedata.normalize("NFKC", plain(cleaned(text)))),
    "accents dropped": lambda text: cut(
        re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", plain(cleaned(text))))
    ),
}


@pytest.mark.spec("DATA-TEXT")
@pytest.mark.parametrize("name", CARELESS)
def test_careless_words_are_caught(name: str) -> None:
    wrong = [
        one.id
        for one in cases("words")
        if set(one.input) == {"text"}
        and CARELESS[name](one.input["text"]) != words_of(one.expect["tokens"])
    ]
    assert bool(wrong) == (name != "the clause"), wrong


def numbers(expected: dict[str, Any]) -> Any:
    """An expectation as doubles."""
    if "list" in expected:
        return [numbers(item) for item in expected["list"]]
    if "binary64" in expected:
        return float.fromhex(expected["binary64"])
    return float(Fraction(expected["exact"]))


# Other weights of the same name, from count, number of documents and document frequency.
WEIGHTS: dict[str, Callable[[int, int, int], float]] = {
    "smoothed": lambda tf, n, df: tf * (math.log((1 + n) / (1 + df)) + 1),
    "plus one": lambda tf, n, df: tf * (math.log(n / df) + 1),
    "base 2": lambda tf, n, df: tf * math.log2(n / df),
    "base 10": lambda tf, n, df: tf * math.log10(n / df),
    "damped": lambda tf, n, df: (1 + math.log(tf)) * math.log(n / df) if tf else 0.0,
    "present or not": lambda tf, n, df: min(tf, 1) * math.log(n / df),
    "probabilistic": lambda tf, n, df: tf * math.log((n - df) / df) if df < n else 0.0,
    "rounded twice": lambda tf, n, df: tf * math.log(n / df),
}


@pytest.mark.spec("REP-TERMW")
@pytest.mark.parametrize("name", WEIGHTS)
def test_other_weights_are_caught(name: str) -> None:
    caught = 0
    for one in cases("weights"):
        if "df" not in one.expect:
            continue
        counts = answered({**one.input}, "counts")
        n, df = len(one.input["texts"]), numbers(one.expect["df"])
        assert isinstance(counts, list)
        other = [[WEIGHTS[name](int(tf), n, int(df[j])) for j, tf in enumerate(r)] for r in counts]
        caught += other != numbers(one.expect["tfidf"])
    assert caught > 0


@pytest.mark.spec("REP-TERMW")
def test_new_documents_weighed_by_themselves_are_caught() -> None:
    (one,) = (one for one in cases("weights") if one.id == "weight-learnt")
    alone = {"texts": one.input["texts"]}
    assert not answers.passes(one.expect["tfidf"], answered(alone, "tfidf"))


@pytest.mark.spec("REP-VSM")
@pytest.mark.parametrize(
    ("within", "right"),
    [
        (lambda df, low, high, n: low * n <= df <= high * n, True),
        (lambda df, low, high, n: low * n < df <= high * n, False),
        (lambda df, low, high, n: low * n <= df < high * n, False),
        (lambda df, low, high, n: float(low) * n <= df <= high * n, False),
        (lambda df, low, high, n: low * n <= df <= float(high) * n, False),
        (lambda df, low, high, n: math.floor(low * n) <= df <= high * n, False),
        (lambda df, low, high, n: low * n <= df <= math.ceil(high * n), False),
    ],
    ids=[
        "the clause",
        "above",
        "below",
        "float share at least",
        "float share at most",
        "floor",
        "ceiling",
    ],
)
def test_careless_bounds_are_caught(
    within: Callable[[int, Fraction, Fraction, int], bool], right: bool
) -> None:
    caught = 0
    for one in cases("corpora"):
        low, high = (one.input.get(name) for name in ("min_df", "max_df"))
        if low is None and high is None:
            continue
        texts = one.input["texts"]
        n, every = len(texts), sorted({word for text in texts for word in text.split()})
        least, most = (
            Fraction(bound) if isinstance(bound, str) else Fraction(bound, n)
            for bound in (1 if low is None else low, n if high is None else high)
        )
        kept = [
            word
            for word in every
            if within(sum(word in text.split() for text in texts), least, most, n)
        ]
        caught += kept != words_of(one.expect["words"])
    assert (caught == 0) == right


@pytest.mark.spec("REP-VSM")
def test_other_orders_of_columns_are_caught() -> None:
    for careless in (
        lambda word: word.encode("utf-16-be"),
        str.casefold,
        lambda word: unicodedata.normalize("NFKD", word),
    ):
        found = [words_of(one.expect["words"]) for one in cases("corpora")]
        assert any(sorted(words, key=careless) != sorted(words) for words in found)


def test_misprints_are_no_answers() -> None:
    content = json.loads((SPEC / "vectors/09-data/corpora.json").read_text(encoding="utf-8"))
    (one,) = (case for case in content["cases"] if "misprint" in case)
    assert not answers.passes(one["misprint"]["counts"], answered(one["input"], "counts"))
