"""Texts and vectors: golden vectors judged through the formulas, fast paths held to them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refclust.data import text as fast
from refclust.data import vectors as fast_vectors
from refclust.errors import EmptyInput, RefclustError
from refclust.formulas import data as formulas
from refclust.formulas import vectors
from refclust.formulas.vectors import exact
from refclust.numbers.real import Real
from refclust.vectors import answers
from tests.formulas.golden import cases, names, parted


def refused(expected: Any, call: Callable[[], Any]) -> bool:
    """Whether a refusal is due; then it must come."""
    code = expected.get("error") if isinstance(expected, dict) else None
    if not isinstance(code, str):
        return False
    with pytest.raises(RefclustError) as caught:
        call()
    assert caught.value.code == code
    return True


def codes(words: list[str]) -> list[list[Fraction]]:
    return [[Fraction(ord(sign)) for sign in word] for word in words]


def kept(text: str, given: dict[str, Any]) -> list[str]:
    """The words that stop words and the least length leave."""
    fold = {"lowercase": given.get("lowercase", True)}
    stop = {formulas.folded(word, **fold) for word in given.get("stop_words", ())}
    least = int(given.get("min_length", 1))
    found = formulas.words(text, **fold)
    return [word for word in found if word not in stop and len(word) >= least]


WORDS: Final = cases("09-data/words.json")


@pytest.mark.spec("DATA-TEXT", "REP-BOW", "REP-DOCLEN")
@pytest.mark.parametrize("case", WORDS)
def test_words(case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    tokens = kept(given["text"], given)
    bag = formulas.bag(tokens, given.get("vocabulary"))
    found: dict[str, Any] = {
        "tokens": codes(tokens),
        "bag": [[codes([word])[0], Fraction(count)] for word, count in bag.items()],
        "length": Fraction(formulas.document_length(bag)),
    }
    for key, expected in expect.items():
        assert answers.passes(expected, found[key]), key


def share(bound: Any, n: int) -> Fraction:
    return Fraction(bound) * n if isinstance(bound, str) else Fraction(bound)


def of_options(case: dict[str, Any]) -> str | None:
    """Why a case of texts is not judged here."""
    if case["expect"].get("error") == "bad-option":
        return "options are refused where they are read"
    if case["id"] == "refused-text-weights":
        return "that frequencies are missing is seen where options are read"
    return None


CORPORA, NO_CORPORA = parted(
    cases("09-data/corpora.json", "09-data/weights.json", "09-data/refused.json"), of_options
)


@pytest.mark.spec("REP-VSM", "REP-BOW", "REP-DOCLEN", "REP-TERMW")
@pytest.mark.parametrize("case", CORPORA)
def test_corpora(case: dict[str, Any]) -> None:
    if not refused(case["expect"], partial(corpus, case)):
        corpus(case)


def corpus(case: dict[str, Any]) -> None:
    """Hold the corpus of a case against what is expected."""
    given, expect = case["input"], case["expect"]
    known = given.get("vocabulary")
    bags = [formulas.bag(kept(text, given), known) for text in given["texts"]]
    n = len(bags)
    if known is None:
        bounds = {"low": share(given.get("min_df", 1), n), "high": share(given.get("max_df", n), n)}
        names, counts = formulas.corpus(bags, **bounds)
    else:
        names, counts = list(known), [[bag.get(word, 0) for word in known] for bag in bags]
    df = given.get("frequencies") or [formulas.document_frequency(bags, word) for word in names]
    whole = given.get("documents", n)
    tokens = sum(len(kept(text, given)) for text in given["texts"])
    found: dict[str, Callable[[], Any]] = {
        "words": lambda: codes(names),
        "counts": lambda: [[Fraction(count) for count in row] for row in counts],
        "lengths": lambda: [Fraction(sum(row)) for row in counts],
        "empty": lambda: Fraction(sum(not any(row) for row in counts)),
        "unseen": lambda: Fraction(tokens - sum(map(sum, counts)) if known else 0),
        "df": lambda: [Fraction(number) for number in df],
        "tfidf": lambda: [
            [float(formulas.tf_idf(tf, d, whole)) if tf else 0.0
             for tf, d in zip(row, df, strict=True)]
            for row in counts
        ],
    }  # fmt: skip
    for key, expected in expect.items():
        if not refused(expected, found[key]):
            assert answers.passes(expected, found[key]()), key


@pytest.mark.spec("REP-VSM")
def test_a_corpus_has_documents_and_words() -> None:
    with pytest.raises(EmptyInput, match="no document"):
        formulas.corpus([])
    with pytest.raises(EmptyInput, match="no word"):
        formulas.corpus([{}, {"a": 1}], low=2)


SIGNS = st.text(
    st.characters(categories=["L", "M", "N", "P", "Zs", "Cf"])
    | st.sampled_from("aZß'’\u00ad\u200c\u200dİΣσς0²Ⅳ\u0301"),
    max_size=20,
)


@pytest.mark.spec("DATA-TEXT", "REP-BOW", "REP-DOCLEN")
@settings(max_examples=200)
@given(SIGNS, st.booleans())
def test_the_tokeniser_is_the_definition(text: str, lowercase: bool) -> None:
    options = fast.TextOptions(lowercase=lowercase)
    tokens = formulas.words(text, lowercase=lowercase)
    assert fast.tokens(text, options) == tokens
    assert fast.bag_of_words(text, options) == formulas.bag(tokens)
    bag = formulas.bag(tokens)
    assert fast.document_length(bag) == formulas.document_length(bag)


@pytest.mark.spec("REP-VSM", "REP-TERMW")
@given(st.lists(st.text("ab c", max_size=8), min_size=1, max_size=5), st.integers(1, 3))
def test_corpora_are_the_definition(texts: list[str], low: int) -> None:
    bags = [formulas.bag(formulas.words(text)) for text in texts]
    try:
        names, counts = formulas.corpus(bags, low=low)
    except RefclustError as error:
        with pytest.raises(type(error)):
            fast.corpus(texts, fast.TextOptions(min_df=low))
        return
    data = fast.corpus(texts, fast.TextOptions(min_df=low))
    assert list(data.features or ()) == names
    weighed = fast.tfidf(data)
    df = [sum(map(bool, column)) for column in zip(*counts, strict=True)]
    for i, row in enumerate(counts):
        assert data.row(i) == {j: x for j, x in enumerate(row) if x}
        due = {j: float(formulas.tf_idf(x, df[j], len(texts))) for j, x in enumerate(row) if x}
        assert weighed.row(i) == {j: x for j, x in due.items() if x}


def number(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if text in ("nan", "inf", "-inf"):
        return float(text)
    return float.fromhex(text) if "0x" in text else Fraction(text)


def vector(given: Any) -> Any:
    if isinstance(given, dict):
        return {key: number(value) for key, value in given["sparse"]}
    return [number(value) for value in given]


def of_readers(case: dict[str, Any]) -> str | None:
    """Why a case of vectors is not judged here."""
    return {
        "mixed-keys": "keys of two kinds are refused where vectors are read",
        "ragged-rows": "rows of unlike lengths are refused where tables are read",
    }.get(case["expect"].get("error"))


LINEAR, NO_LINEAR = parted(cases("08-vectors/linear.json"), of_readers)
PAIRS: Final = [param for param in LINEAR if "x" in param.values[0]["input"]]
TABLES: Final = [param for param in LINEAR if "rows" in param.values[0]["input"]]


@pytest.mark.spec("REP-VEC", "VEC-DOT", "VEC-NORM", "VEC-SQDIST", "DIST-L2", "SIM-COS")
@pytest.mark.parametrize("case", PAIRS)
def test_vectors(case: dict[str, Any]) -> None:
    given = case["input"]
    x, y = vector(given["x"]), vector(given.get("y", given["x"]))
    if refused(case["expect"], partial(vectors.dot, x, y)):
        assert refused(case["expect"], partial(vectors.squared_distance, x, y))
        return
    for key, expected in case["expect"].items():
        both = (x,) if key == "norm" else (x, y)
        call = partial(rounded, getattr(vectors, key), *both)
        if not refused(expected, call):
            assert answers.passes(expected, call()), key


@pytest.mark.spec("DIST-MAT", "SIM-MAT")
@pytest.mark.parametrize("case", TABLES)
def test_tables(case: dict[str, Any]) -> None:
    rows = [vector(row) for row in case["input"]["rows"]]
    if refused(case["expect"], partial(vectors.distance_matrix, rows)):
        assert refused(case["expect"], partial(vectors.similarity_matrix, rows))
        return
    for key, expected in case["expect"].items():
        call = partial(getattr(vectors, key), rows)
        if not refused(expected, call):
            assert answers.passes(expected, [list(map(float, line)) for line in call()]), key


def test_every_golden_case_is_judged_or_has_its_reason() -> None:
    assert sorted(param.id for param in (*PAIRS, *TABLES)) == sorted(p.id for p in LINEAR)
    judged = [param.id for param in (*LINEAR, *WORDS, *CORPORA)]
    reasons = {**NO_LINEAR, **NO_CORPORA}
    assert sorted([*judged, *reasons]) == sorted([*names("08-vectors"), *names("09-data")])
    assert (len(judged), len(reasons)) == (199, 19)


def rounded(rule: Callable[..., Any], *given: Any) -> float:
    return float(Real(exact(rule(*given))))


NUMBERS = st.integers(-9, 9) | st.floats(-1e3, 1e3) | st.sampled_from([0.1, 5e-324, 1e150])


@pytest.mark.spec("VEC-DOT", "VEC-NORM", "VEC-SQDIST", "DIST-L2", "SIM-COS", "DIST-MAT", "SIM-MAT")
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=4))
def test_the_vocabulary_of_floats_is_the_definition(rows: list[tuple[float, float]]) -> None:
    x, y = rows[0], rows[1]
    for name in ("dot", "squared_distance", "distance"):
        due = float(Real(exact(getattr(vectors, name)(x, y))))
        assert getattr(fast_vectors, name)(x, y) == due
    assert fast_vectors.norm(x) == float(vectors.norm(x))
    table = vectors.distance_matrix(rows)
    assert fast_vectors.distance_matrix(rows) == tuple(tuple(map(float, line)) for line in table)
    if all(any(row) for row in rows):
        alike = vectors.similarity_matrix(rows)
        assert fast_vectors.similarity_matrix(rows) == tuple(
            tuple(map(float, line)) for line in alike
        )
