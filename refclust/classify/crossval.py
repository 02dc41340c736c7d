"""Cross-validation of classifiers: fold by fold answers, pooled and averaged apart (chapter 55)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeAlias

from refclust.classify.discriminants import lda, nearest_gaussian, qda
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.classify.results import AnyClassifier
from refclust.data.accepting.door import dataset
from refclust.data.accepting.spellings import spelled
from refclust.data.accepting.trust import items
from refclust.data.dataset import Dataset
from refclust.data.frames import frame
from refclust.errors import BadOption, EmptyLabel
from refclust.fitting.splits import Folds, repeated_folds
from refclust.formulas.crossval import mean_rate, pooled_rate
from refclust.mixture.predict import Impossible
from refclust.numbers.reading import shown
from refclust.shown.page import Fact, Shown, Summary, counted, number, table

Training: TypeAlias = Callable[..., AnyClassifier]

TRAININGS: Final[Mapping[str, Training]] = {
    "naive-bayes": naive_bayes,
    "lda": lda,
    "qda": qda,
    "nearest-gaussian": nearest_gaussian,
}


@dataclass(frozen=True, slots=True)
class FoldAnswers:
    """The rows of one fold, what a model without them said of each, and how often it was right."""

    repeat: int
    rows: tuple[int, ...]
    predictions: tuple[Hashable, ...]
    right: int

    @property
    def rate(self) -> Fraction:
        """The share of right answers."""
        return Fraction(self.right, len(self.rows))


@dataclass(frozen=True, slots=True, repr=False)
class Validated(Shown):
    """One model over all folds of all repeats.

    Spec: CE-KFOLD, CE-POOLED, CE-FOLDMEAN
    """

    name: str
    truth: tuple[Hashable, ...]
    folds: tuple[FoldAnswers, ...]  # repeat by repeat, fold by fold

    def _summary(self) -> Summary:
        pooled = number(float(self.pooled))
        folds = counted(len(self.folds), "fold")
        return Summary("Validated", f"{self.name}, accuracy {pooled} over {folds}")

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The accuracy of each fold: the trials of chapter 53."""
        return tuple(fold.rate for fold in self.folds)

    @property
    def pooled(self) -> Fraction:
        """The accuracy of all answers together.

        Spec: CE-POOLED
        """
        return pooled_rate(*self._counts())

    @property
    def mean(self) -> Fraction:
        """The mean of the accuracies of the folds.

        Spec: CE-FOLDMEAN
        """
        return mean_rate(*self._counts())

    @property
    def confusion(self) -> Mapping[tuple[Hashable, Hashable], int]:
        """How often each class (first) was taken for each class (second), all answers together."""
        return Counter(
            (self.truth[i], label)
            for fold in self.folds
            for i, label in zip(fold.rows, fold.predictions, strict=True)
        )

    def predictions(self, repeat: int = 0) -> tuple[Hashable, ...]:
        """What was said of each row, in their order."""
        said = {
            i: label
            for fold in self.folds
            if fold.repeat == repeat
            for i, label in zip(fold.rows, fold.predictions, strict=True)
        }
        if not said:
            raise BadOption(f"repeat={shown(repeat)}: there is no such repeat, they begin at 0")
        return tuple(said[i] for i in range(len(self.truth)))

    def _counts(self) -> tuple[list[int], list[int]]:
        return [fold.right for fold in self.folds], [len(fold.rows) for fold in self.folds]


@dataclass(frozen=True, slots=True, repr=False)
class CrossValidation(Shown):
    """Models over the same folds; ``rates`` are columns for corrected_t, wilcoxon and others."""

    models: tuple[Validated, ...]
    splits: tuple[Folds, ...]  # of each repeat
    stratified: bool
    seed: int

    def _summary(self) -> Summary:
        told = ", ".join(f"{each.name} {number(float(each.pooled))}" for each in self.models)
        lines = [
            (each.name, number(float(each.pooled)), str(each.pooled), number(float(each.mean)))
            for each in self.models
        ]
        dealt = f"{counted(len(self.splits[0]), 'fold')}, {counted(len(self.splits), 'repeat')}"
        facts: tuple[Fact, ...] = (("folds", dealt), ("seed", self.seed))
        shown_as = table(["model", "accuracy", "exactly", "mean of the folds"], lines)
        return Summary("CrossValidation", f"{dealt}; accuracy {told}", facts, (shown_as,))

    def to_frame(self) -> Any:
        """A ``pandas.DataFrame``: the accuracy of every model in every fold."""
        lines = [(each.name, fold) for each in self.models for fold in each.folds]
        return frame(
            {
                "model": [name for name, _ in lines],
                "repeat": [fold.repeat for _, fold in lines],
                "rows": [len(fold.rows) for _, fold in lines],
                "right": [fold.right for _, fold in lines],
                "rate": [float(fold.rate) for _, fold in lines],
            }
        )

    @property
    def rates(self) -> tuple[tuple[Fraction, ...], ...]:
        """The accuracies of each model, fold by fold: ``refclust.corrected_t(*result.rates)``."""
        return tuple(model.rates for model in self.models)

    @property
    def test_share(self) -> Fraction:
        """How many rows are judged for one that is trained on: what corrected_t wants to know."""
        return Fraction(1, len(self.splits[0]) - 1)


@spelled
def crossval(
    models: str | Training | Sequence[str | Training],
    data: Any,
    labels: Iterable[Hashable] | None = None,
    *,
    folds: int | None = None,
    stratified: bool = False,
    repeats: int = 1,
    seed: int = 0,
    impossible: Impossible = "prior",
    backend: str | None = None,
) -> CrossValidation:
    """Judge every row by models that were trained without it, on the same folds for all models.

    A model is ``naive-bayes``, ``lda``, ``qda`` or ``nearest-gaussian``, or a call such as
    ``functools.partial(refclust.lda, floor=1e-6)``. Weights of rows count in training; rates count
    rows. As many folds as rows is leave-one-out.

    Spec: CE-KFOLD, CE-STRAT, CE-POOLED, CE-FOLDMEAN

    >>> rows = [[0.0], [0.5], [1.0], [5.0], [5.5], [6.0]]
    >>> crossval("lda", rows, "aaabbb", folds=3, stratified=True).models[0].pooled
    Fraction(1, 1)
    """
    rows = dataset(data, labels=labels)
    truth = _truth(rows)
    trainings = _trainings(models)
    splits = tuple(
        repeated_folds(
            rows.n, folds, classes=truth if stratified else None, repeats=repeats, seed=seed
        )
    )
    judge = partial(_judged, rows, truth, impossible=impossible, backend=backend)
    validated = tuple(
        Validated(
            name,
            truth,
            tuple(
                judge(training, repeat, fold)
                for repeat, split in enumerate(splits)
                for fold in split
            ),
        )
        for name, training in trainings
    )
    return CrossValidation(validated, splits, stratified, seed)


def _judged(
    rows: Dataset,
    truth: tuple[Hashable, ...],
    training: Training,
    repeat: int,
    fold: tuple[int, ...],
    *,
    impossible: Impossible,
    backend: str | None,
) -> FoldAnswers:
    out = frozenset(fold)
    classifier = training(rows.select([i for i in range(rows.n) if i not in out]), backend=backend)
    answers = predict(classifier, rows.select(fold), impossible=impossible, backend=backend).labels
    right = sum(answer == truth[i] for i, answer in zip(fold, answers, strict=True))
    return FoldAnswers(repeat, fold, answers, right)


def _truth(rows: Dataset) -> tuple[Hashable, ...]:
    if rows.labels is None:
        raise BadOption("the rows have no labels; give the class of each row: labels=...")
    lost = next((i for i, label in enumerate(rows.labels) if label is None), None)
    if lost is not None:
        raise EmptyLabel(f"row {rows.row_name(lost)} has no label; leave the row out or label it")
    return tuple(rows.labels)


def _trainings(models: Any) -> list[tuple[str, Training]]:
    def refusal() -> BadOption:
        return BadOption(f"{shown(models)} is no model; name one, or give a call that trains one")

    single = isinstance(models, str) or callable(models)
    trainings = [_training(model) for model in ([models] if single else items(models, refusal))]
    if not trainings:
        raise BadOption("no model is named; there are: " + ", ".join(TRAININGS))
    return trainings


def _training(model: str | Training) -> tuple[str, Training]:
    if isinstance(model, str):
        name = model.replace("_", "-")
        if name not in TRAININGS:
            raise BadOption(f"no model is called {shown(model)}; there are: {', '.join(TRAININGS)}")
        return name, TRAININGS[name]
    if not callable(model):
        raise BadOption(f"{shown(model)} is no model; name one, or give a call that trains one")
    inner = model.func if isinstance(model, partial) else model
    return str(getattr(inner, "__name__", "model")).replace("_", "-"), model
