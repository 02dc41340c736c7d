"""Classes of new rows (NB-PRED, QDA-MAP, NG-ASSIGN; chapters 31 and 33)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, overload

from refclust.backends.session import Session
from refclust.classify.results import AnyClassifier
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.errors import ImpossibleRow
from refclust.fitting.checks import named
from refclust.fitting.fitted import Predicted
from refclust.kernels.points import Vector
from refclust.mixture.predict import Assignments, Impossible, assignments, row_number
from refclust.shown.page import Summary, counted, number, table


@dataclass(frozen=True, slots=True, repr=False)
class Classified(Predicted):
    """The class of every row; ``found`` has what the densities of the classes say of it.

    Spec: NB-PRED, QDA-MAP, EM-PRED
    """

    labels: tuple[Hashable, ...]  # names of classes
    classes: tuple[Hashable, ...]
    prior: Vector
    found: Assignments  # log p(x) of each row, unseen words, provenance

    def _summary(self) -> Summary:
        counts = Counter(self.labels)
        lines = [(name, number(counts[name])) for name in self.classes]
        classes = f"{len(self.classes)} classes"
        rows = counted(len(self.labels), "row")
        return Summary(
            "Classified",
            f"{rows} in {classes}",
            (("rows", rows),),
            (table(["class", "rows"], lines),),
        )

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Classes have names, and are a sequence to NumPy."""
        raise AttributeError("classes have names; NumPy takes them one by one")

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"class": self.labels}
        if self.found.joint is not None:
            shares = zip(*self.responsibilities(), strict=True)
            columns |= {
                f"p_{name}": column for name, column in zip(self.classes, shares, strict=True)
            }
        return columns

    def scores(self, i: int) -> Vector:
        """log p(x, k) of one row for every class.

        Spec: NB-SCORE, QDA-JOINT
        """
        return self.found.log_joint(i)

    @overload
    def responsibilities(self, i: int) -> Vector: ...

    @overload
    def responsibilities(self) -> tuple[Vector, ...]: ...

    def responsibilities(self, i: int | None = None) -> Vector | tuple[Vector, ...]:
        """The posterior probability of every class for one row, or for all rows, a tuple each.

        Of a row that no class can have made it is the prior.

        Spec: EM-PRED, NB-SCORE
        """
        if i is None:
            return tuple(self.responsibilities(row) for row in range(len(self.labels)))
        return self.prior if self._impossible(i) else self.found.responsibilities(i)

    def entropy(self, i: int) -> float:
        """How undecided the class of one row is, in nats.

        Spec: EM-PRED, IT-ENT
        """
        if self._impossible(i):
            return math.fsum(-p * math.log(p) for p in self.prior if p)
        return self.found.entropy(i)

    def _impossible(self, i: int) -> bool:
        return self.found.log_likelihoods[row_number(i, len(self.labels))] == -math.inf


def predict(
    classifier: AnyClassifier,
    data: Any,
    *,
    full: bool = False,
    impossible: Impossible = "error",
    backend: str | None = None,
    session: Session | None = None,
) -> Classified:
    """Put every row into the class of the largest joint density, the first of equals.

    With ``full`` the densities of all classes are kept, for scores and responsibilities. A row that
    no class can have made is an error, or goes to the class of the largest prior.

    Spec: NB-PRED, QDA-MAP, NG-ASSIGN, MMIX-UNSEEN

    >>> from refclust.classify.naive_bayes import naive_bayes
    >>> mail = naive_bayes([[3, 1], [0, 4]], ["ham", "spam"])
    >>> found = predict(mail, [[1, 0], [1, 2], [0, 0]], full=True)
    >>> found.labels, found.responsibilities(2)
    (('ham', 'ham', 'ham'), (0.5, 0.5))
    """
    named("impossible", impossible, ("error", "prior"))
    rows = dataset(data)
    assigned = assignments(
        classifier.parameters,
        rows,
        family=classifier.family,
        features=classifier.features,
        full=full,
        impossible="prior",
        backend=backend,
        session=session,
    )
    if impossible == "error" and -math.inf in assigned.log_likelihoods:
        raise _impossible(classifier, rows, assigned)
    names = classifier.classes
    labels = tuple(names[c] for c in assigned.labels)
    return Classified(labels, names, classifier.parameters.weights, assigned)


def _impossible(classifier: AnyClassifier, rows: Dataset, assigned: Assignments) -> ImpossibleRow:
    lost = assigned.log_likelihoods.index(-math.inf)
    if classifier.family == "gaussian":
        why = "is too far from every class for doubles"
        advice = "check its numbers"
    else:
        why = "has probability zero in every class"
        advice = "smooth the probabilities in training (smoothing='laplace')"
    return ImpossibleRow(
        f"row {rows.row_name(lost)} {why}, {assigned.log_likelihoods.count(-math.inf)} of {rows.n} "
        f"rows do so; {advice}, or let impossible='prior' decide by the prior of the classes"
    )
