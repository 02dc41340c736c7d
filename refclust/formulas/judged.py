"""Scores or probabilities with the truth: what chapter 52 is given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from refclust.errors import BadDistribution, WrongEvidence
from refclust.formulas.contingency import Count
from refclust.formulas.evidence import Grid, Kind, objects
from refclust.formulas.vectors import Number
from refclust.numbers.reading import counted

_SMALL: Final = 64  # objects


@dataclass(frozen=True, slots=True, eq=False)
class Probabilities:
    """How strongly each object was put into each class, and where it belongs.

    One column is that of the positive class of a binary problem; several columns have a class
    each, of which one is right for every object, or any number if ``exclusive`` is false.

    Spec: PB-INPUT, CONV-EVIDENCE

    >>> judged = Probabilities.of_two([1, 0, 1], [0.75, 0.5, 0.25])
    >>> judged.is_binary, judged.column(0), judged.size()
    (True, (Fraction(3, 4), Fraction(1, 2), Fraction(1, 4)), '3 objects, scores of 1 class')
    """

    classes: tuple[Hashable, ...]  # what the columns stand for
    scores: tuple[tuple[Fraction, ...], ...]  # a row for each object
    truth: tuple[frozenset[int], ...]  # the columns that are right for each object
    weights: tuple[Count, ...] | None = None
    exclusive: bool = True  # whether at most one column is right

    @classmethod
    def of_two(
        cls,
        truth: Sequence[Hashable],
        scores: Sequence[Number],
        positive: Hashable = 1,
        weights: Sequence[Count] | None = None,
    ) -> Probabilities:
        """Take the scores of the positive class."""
        right = tuple(frozenset([0] if label == positive else []) for label in truth)
        return cls(
            (positive,),
            tuple((Fraction(s),) for s in scores),  # type: ignore[arg-type]
            right,
            None if weights is None else tuple(weights),
        )

    @classmethod
    def of_many(
        cls,
        truth: Sequence[Hashable],
        scores: Sequence[Sequence[Number]],
        classes: Sequence[Hashable],
        weights: Sequence[Count] | None = None,
    ) -> Probabilities:
        """Take a column of scores for each class."""
        place = {label: k for k, label in enumerate(classes)}
        return cls(
            tuple(classes),
            tuple(tuple(Fraction(s) for s in row) for row in scores),  # type: ignore[arg-type]
            tuple(frozenset([place[label]]) for label in truth),
            None if weights is None else tuple(weights),
        )

    @property
    def is_binary(self) -> bool:
        """Whether there is one column, that of the positive class."""
        return len(self.classes) == 1

    @property
    def has_columns(self) -> bool:
        """Whether every class has its column, and every object one class."""
        return self.exclusive and not self.is_binary

    @property
    def has_ranking(self) -> bool:
        """Whether there are several classes, which scores put in an order for each object."""
        return not self.is_binary

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores lie between 0 and 1, and every object has one class."""
        return self.exclusive and all(0 <= p <= 1 for row in self.scores for p in row)

    def weight(self, i: int) -> Count:
        """How often an object counts."""
        return 1 if self.weights is None else self.weights[i]

    def column(self, k: int) -> tuple[Fraction, ...]:
        """The scores of a class."""
        return tuple(row[k] for row in self.scores)

    def is_in(self, k: int) -> tuple[bool, ...]:
        """Whether each object belongs to a class."""
        return tuple(k in classes for classes in self.truth)

    def class_of(self, i: int) -> int:
        """The class of an object, where every object has one."""
        if not self.has_columns:
            raise WrongEvidence(
                "a column of scores is needed for each class, of which one is right"
            )
        (k,) = self.truth[i]
        return k

    def alone(self, k: int) -> Probabilities:
        """One class against the rest."""
        return replace(
            self,
            classes=(self.classes[k],),
            scores=tuple((row[k],) for row in self.scores),
            truth=tuple(frozenset([0] if k in classes else []) for classes in self.truth),
            exclusive=True,
        )

    def only(self, j: int, k: int) -> Probabilities:
        """The objects of two classes, with the scores of these."""
        rows = [i for i, classes in enumerate(self.truth) if j in classes or k in classes]
        return replace(
            self,
            scores=tuple(self.scores[i] for i in rows),
            truth=tuple(self.truth[i] for i in rows),
            weights=None if self.weights is None else tuple(self.weights[i] for i in rows),
        )

    def support(self, k: int) -> Count:
        """How many objects belong to a class."""
        return sum(self.weight(i) for i, classes in enumerate(self.truth) if k in classes)

    def probabilities(self) -> tuple[tuple[Fraction, ...], ...]:
        """The scores, where they are all probabilities."""
        for i, row in enumerate(self.scores):
            if not all(0 <= p <= 1 for p in row):
                raise BadDistribution(
                    f"a score of object {i} is not between 0 and 1; probabilities are needed"
                )
        return self.scores

    @property
    def kind(self) -> Kind:
        """Scores or probabilities against the truth."""
        return "probabilities"

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not self.total

    @property
    def is_integer(self) -> bool:
        """Whether every weight is a whole number."""
        return self.weights is None or all(w.denominator == 1 for w in self.weights)

    @property
    def is_small(self) -> bool:
        """Whether looking for a simpler exact form of a value is quick."""
        return len(self.scores) <= _SMALL

    @property
    def total(self) -> Count:
        """How many objects there are, or how much they weigh."""
        return sum(map(self.weight, range(len(self.scores))))

    def size(self) -> str:
        """How much there is, in words."""
        return f"{objects(self.total)}, scores of {counted(len(self.classes), 'class')}"

    def grid(self) -> Grid:
        """How many objects belong to each class."""
        supports = [self.support(k) for k in range(len(self.classes))]
        rows = zip(self.classes, ((count,) for count in supports), strict=True)
        return Grid("objects that belong to a class", ("objects",), tuple(rows))
