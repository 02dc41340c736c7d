"""Objects that are not what they say, and whose exceptions they are (ERROR-DOOR)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import refclust
from refclust.errors import RefclustError
from refclust.metrics.calls.labelings import score
from refclust.numbers.reading import shown

ROWS = [[0.0, 0.5], [1.0, 0.0], [8.0, 9.0], [9.0, 8.5]]


class Odd:
    """A sequence of items whose length and iterator are as told."""

    def __init__(self, items: list[Any], length: int = 0, found: Any = None) -> None:
        self.items, self.length, self.found = items, length, found

    def __repr__(self) -> str:
        return "<odd>\nsecond line"

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.found, Exception):
            raise self.found
        return iter(self.items) if self.found is None else self.found


class Matrix:
    """What says it is a sparse matrix."""

    def __init__(self, shape: Any = (2, 2), indptr: Any = None, indices: Any = None) -> None:
        self.shape = shape
        self.indptr = array("q", [0, 1, 2]) if indptr is None else indptr
        self.indices = array("q", [0, 1]) if indices is None else indices
        self.data: Any = array("d", [5, 2])

    def tocsr(self) -> Matrix:
        return self


class NoTruth:
    """What equals something that is neither true nor false, as arrays do."""

    def __eq__(self, other: object) -> Any:
        return self

    def __hash__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


def no_iterator() -> Any:
    return Odd([], 0, 5)


def without_data() -> Any:
    matrix = Matrix()
    matrix.data = Fraction(1, 3)
    return matrix


CALLS: dict[str, tuple[str, Callable[[], Any]]] = {
    "rows": ("bad-number", lambda: refclust.dataset(no_iterator())),
    "labels": ("bad-label", lambda: refclust.qda(ROWS, no_iterator())),
    "start labels": ("bad-label", lambda: refclust.kmeans(ROWS, labels=["a", {}, "b", "b"])),  # type: ignore[list-item]
    "mixture labels": (
        "bad-label",
        lambda: refclust.gaussian_mixture(ROWS, 2, labels=no_iterator()),
    ),
    "distances": ("bad-option", lambda: refclust.agglomerative(distances=no_iterator())),
    "prior": ("bad-option", lambda: refclust.lda(ROWS, list("aabb"), prior=no_iterator())),
    "metric": ("bad-option", lambda: refclust.kmeans(ROWS, 2, metric=ROWS)),  # type: ignore[arg-type]
    "true labels": ("bad-label", lambda: refclust.contingency(no_iterator(), [])),
    "weights": ("bad-weight", lambda: refclust.contingency([1], [1], weights=no_iterator())),
    "noise": (
        "bad-label",
        lambda: refclust.contingency([1], [1], noise=[], noise_policy="singletons"),  # type: ignore[arg-type]
    ),
    "counts": (
        "bad-option",
        lambda: refclust.multinomial_mixture([[1, 2]], 1, counts=NoTruth()),  # type: ignore[arg-type]
    ),
    "choice": ("bad-option", lambda: score("nmi", [1, 2], [1, 2], average=NoTruth())),
    "k of labels": (
        "bad-option",
        lambda: refclust.gaussian_mixture(ROWS, Decimal("sNaN"), labels=list("aabb")),  # type: ignore[arg-type]
    ),
    "k of centres": ("bad-option", lambda: refclust.kmeans(ROWS, 10**5000, centres=ROWS[:2])),
    "signal among noise": (
        "bad-label",
        lambda: refclust.contingency(
            [1, Decimal("sNaN")], [1, 1], noise=0, noise_policy="singletons"
        ),
    ),
    "view as a label": (
        "bad-label",
        lambda: refclust.dataset([[1]], labels=[memoryview(bytearray(2))]),
    ),
    "view as a true label": (
        "bad-label",
        lambda: refclust.contingency([memoryview(bytearray(2))], [1]),
    ),
    "tolerance": ("bad-option", lambda: refclust.kmeans(ROWS, 2, tolerance=10**400)),
    "decimal NaN": ("nan-label", lambda: refclust.contingency([0, Decimal("NaN")], [1, 1])),
    "shape text": ("dimension-mismatch", lambda: refclust.dataset(Matrix((2, "w3")))),
    "shape huge": (
        "dimension-mismatch",
        lambda: refclust.dataset(Matrix((Decimal("1e999999"), 2))),
    ),
    "shape inf": ("dimension-mismatch", lambda: refclust.dataset(Matrix((2, float("inf"))))),
    "shape negative": ("dimension-mismatch", lambda: refclust.dataset(Matrix((-1, 2)))),
    "indptr": ("bad-number", lambda: refclust.dataset(Matrix(indptr=7))),
    "indices": ("bad-number", lambda: refclust.dataset(Matrix(indices=[0, [1]]))),
    "data": ("bad-number", lambda: refclust.dataset(without_data())),
    "distribution": ("bad-distribution", lambda: refclust.entropy(-1)),  # type: ignore[arg-type]
    "digits": ("too-large", lambda: refclust.entropy([Decimal("1e999999")])),  # type: ignore[list-item]
    "joint": ("bad-distribution", lambda: refclust.joint_mutual_information([Decimal(1)])),  # type: ignore[list-item]
    "path": ("bad-option", lambda: refclust.read(7)),  # type: ignore[arg-type]
    "bytes": ("bad-option", lambda: refclust.load_model(bytearray(b"x"))),  # type: ignore[arg-type]
    "delimiter": ("bad-option", lambda: refclust.read("no.csv", delimiter=float)),  # type: ignore[arg-type]
    "format": ("unknown-format", lambda: refclust.read("no.csv", name=[])),  # type: ignore[arg-type]
    "key": ("unknown-metric", lambda: score(b"nmi", [1], [1])),  # type: ignore[arg-type]
    "profile": ("unknown-profile", lambda: refclust.score_all([1], [1], profile=10**400)),  # type: ignore[arg-type]
    "k": ("bad-option", lambda: refclust.select(ROWS, k=[[]])),  # type: ignore[list-item]
    "k range": ("bad-option", lambda: refclust.select(ROWS, k=range(2**60))),
    "k beyond": ("too-large", lambda: refclust.select(ROWS, k=range(1, 2**60))),
    "covariance": ("bad-option", lambda: refclust.select(ROWS, covariance=True)),  # type: ignore[arg-type]
}


@pytest.mark.spec("ERROR-DOOR")
@pytest.mark.parametrize("name", CALLS)
def test_what_is_not_what_it_says_is_refused_on_one_line(name: str) -> None:
    code, call = CALLS[name]
    with pytest.raises(RefclustError) as caught:
        call()
    assert caught.value.code == code
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("length", [-1, 0, 7])
def test_a_length_is_not_believed(length: int) -> None:
    found = refclust.dataset(ROWS, labels=Odd(list("aabb"), length))
    assert found.labels == ("a", "a", "b", "b")
    assert refclust.contingency(Odd([0, 1], length), [0, 1]).rows() == [[1, 0], [0, 1]]
    assert refclust.entropy(Odd([1], length)) == 0


@pytest.mark.parametrize("error", [TypeError("mine"), ArithmeticError("mine")])
def test_an_exception_of_the_caller_comes_out_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        refclust.dataset(ROWS, labels=Odd([], 0, error))
    assert caught.value is error


def test_paths_are_texts_or_path_objects(tmp_path: Path) -> None:
    place = tmp_path / "rows.csv"
    place.write_text("1,2\n3,4\n", encoding="utf-8")
    assert refclust.read(place).row(1) == refclust.read(str(place)).row(1) == (3.0, 4.0)
    model = tmp_path / "fit.json"
    refclust.save_model(model, refclust.kmeans(ROWS, 2))
    assert refclust.load_model(model) == refclust.load_model(str(model))


def test_long_numbers_become_names() -> None:
    found = refclust.dataset([[1]], ids=[10**5000])
    assert found.ids == ("1" + "0" * 5000,)


def test_values_are_quoted_on_one_line() -> None:
    assert shown(Odd([])) == "<odd> second line"
    assert shown([10**5000]) == "a list"
