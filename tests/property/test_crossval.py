"""Cross-validation: every row once, folds alike, the models of every fold (chapter 55)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.classify.crossval import crossval
from refclust.errors import BadOption, EmptyLabel
from refclust.fitting.splits import folds, repeated_folds
from refclust.formulas import crossval as room

ROWS = [[float(i * 37 % 101), float(i * i * 13 % 97)] for i in range(24)]
CLASSES = ["xyy"[i * 5 % 7 % 3] for i in range(24)]


@pytest.mark.spec("CE-KFOLD")
@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 99), st.integers(1, 3))
def test_every_row_is_judged_once(n: int, k: int, seed: int, repeats: int) -> None:
    k = min(n, k)
    splits = list(repeated_folds(n, k, seed=seed, repeats=repeats))
    assert len(splits) == repeats
    assert splits[0] == folds(n, k, seed=seed)
    for split in splits:
        assert sorted(i for fold in split for i in fold) == list(range(n))  # PROP-CV-1
        sizes = [len(fold) for fold in split]
        assert len(sizes) == k
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.spec("CE-KFOLD")
@given(st.permutations(range(7)), st.integers(1, 7))
def test_rows_are_dealt_in_turn(order: list[int], k: int) -> None:
    split = room.dealt(order, k)
    for place, row in enumerate(order):
        assert row in split[place % k]
    assert all(list(fold) == sorted(fold) for fold in split)


@pytest.mark.spec("CE-STRAT")
@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=30), st.integers(2, 9), st.integers(0))
def test_stratified_folds_have_even_classes(labels: list[str], k: int, seed: int) -> None:
    k = min(k, len(labels))
    (split,) = repeated_folds(len(labels), k, classes=labels, seed=seed % 1000)
    assert sorted(i for fold in split for i in fold) == list(range(len(labels)))
    for label in "abc":
        counts = [sum(labels[i] == label for i in fold) for fold in split]
        assert max(counts) - min(counts) <= 1
    sizes = [len(fold) for fold in split]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.spec("CE-STRAT")
@given(st.permutations(range(6)), st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_sorting_by_class_is_stable(order: list[int], labels: list[int]) -> None:
    assert room.by_class(order, labels) == sorted(order, key=lambda i: labels[i])


@pytest.mark.spec("CE-POOLED", "CE-FOLDMEAN")
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_pooled_and_mean_are_two_numbers(folds_of: list[tuple[int, int]]) -> None:
    rights = [right for right, _ in folds_of]
    sizes = [right + wrong + 1 for right, wrong in folds_of]
    pooled, mean = room.pooled_rate(rights, sizes), room.mean_rate(rights, sizes)
    assert pooled * sum(sizes) == sum(rights)
    assert mean * len(sizes) == sum(
        Fraction(right, size) for right, size in zip(rights, sizes, strict=True)
    )
    if len(set(sizes)) == 1:
        assert pooled == mean


@settings(max_examples=8, deadline=None)
@pytest.mark.spec("CE-KFOLD", "CE-POOLED", "CE-FOLDMEAN")
@given(st.sampled_from(["lda", "qda"]), st.booleans(), st.integers(0, 9), st.integers(1, 2))
def test_models_are_trained_without_their_fold(
    name: str, stratified: bool, seed: int, repeats: int
) -> None:
    result = crossval(
        name, ROWS, CLASSES, folds=5, stratified=stratified, seed=seed, repeats=repeats
    )
    (model,) = result.models
    train = getattr(refclust, name)
    right = 0
    for fold in model.folds:
        rest = [i for i in range(24) if i not in fold.rows]
        fit = train([ROWS[i] for i in rest], [CLASSES[i] for i in rest])
        due = refclust.predict(fit, [ROWS[i] for i in fold.rows]).labels
        assert fold.predictions == due
        assert fold.right == sum(CLASSES[i] == y for i, y in zip(fold.rows, due, strict=True))
        right += fold.right
    assert model.pooled == Fraction(right, 24 * repeats)
    assert model.mean == sum(model.rates) / len(model.rates)
    assert sum(model.confusion.values()) == 24 * repeats
    agree = sum(n for (true, said), n in model.confusion.items() if true == said)
    assert Fraction(agree, 24 * repeats) == model.pooled
    for repeat in range(repeats):
        said = Counter(zip(CLASSES, model.predictions(repeat), strict=True))
        assert sum(said.values()) == 24


@pytest.mark.spec("CE-FOLDMEAN", "CE-KFOLD")
def test_models_side_by_side_are_trials() -> None:
    bayes = partial(refclust.naive_bayes, smoothing="laplace")
    result = crossval(["lda", refclust.qda, bayes], ROWS, CLASSES, folds=2, repeats=5, seed=4)
    assert [model.name for model in result.models] == ["lda", "qda", "naive-bayes"]
    assert [len(column) for column in result.rates] == [10, 10, 10]
    assert result.test_share == 1
    p = refclust.corrected_t(*result.rates[:2], test_share=result.test_share)
    assert 0 <= p <= 1
    assert 0 <= refclust.five_by_two_t(result.rates[0], result.rates[2]) <= 1
    assert refclust.friedman(*result.rates).name == "friedman"
    leave_one_out = crossval("lda", ROWS, CLASSES, folds=24).models[0]
    assert leave_one_out.pooled == leave_one_out.mean


@pytest.mark.spec("CE-KFOLD")
def test_what_is_refused() -> None:
    refused: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (("lda", ROWS), {}),
        (("tree", ROWS, CLASSES), {}),
        ((3, ROWS, CLASSES), {}),
        (([], ROWS, CLASSES), {}),
        (("lda", ROWS, CLASSES), {"folds": 25}),
        (("lda", ROWS, CLASSES), {"folds": 1}),
        (("lda", ROWS, CLASSES), {"repeats": 0}),
    ]
    for arguments, options in refused:
        with pytest.raises(BadOption):
            refclust.crossval(*arguments, **options)
    with pytest.raises(EmptyLabel):
        crossval("lda", ROWS, [None, *CLASSES[1:]])
    with pytest.raises(BadOption):
        crossval("lda", ROWS, CLASSES).models[0].predictions(1)
