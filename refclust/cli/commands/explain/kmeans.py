"""``refclust explain kmeans``: one iteration of k-means worked through with the user's numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refclust.cli.commands.explain import kmeans_start as starts
from refclust.cli.commands.explain.model import (
    centres_in_units,
    fitted_to,
    in_units,
    left_out,
    listed,
    opened,
)
from refclust.cli.show.tables import Table
from refclust.cli.show.worked import Form, Piece, Title, Words, exactly, rendered
from refclust.errors import BadOption
from refclust.escape import for_terminal
from refclust.formulas import kmeans as formulas
from refclust.formulas.vectors import Exact, Number, Vector, scaled, sum_of, total
from refclust.limits import within

if TYPE_CHECKING:
    from refclust.cli.commands.explain.kmeans_start import Start
    from refclust.data.dataset import Dataset
    from refclust.models.records.clusters import KMeansModel


def explain_kmeans(path: str | None, data: str | None, *, row: int, first: bool, form: Form) -> str:
    """Work one iteration through, from the centres of a model or from those it started with.

    Spec: KM-WORKED
    """
    from refclust.models.records.clusters import KMeansModel

    belongs = "explain kmeans takes what fit kmeans wrote"
    model, dataset = opened("kmeans", path, data, kind=KMeansModel, belongs=belongs, row=row)
    missing = starts.missing(model, fitted_to(model, dataset))
    if first and missing:
        raise BadOption(f"--start with {for_terminal(str(path))}: {missing}")
    size, k = max(1, len(dataset.matrix.values)), model.params.k
    within(
        "terms", size * k * 4 + (0 if missing else starts.terms(model, dataset)), "explain kmeans"
    )
    rows = Rows.of(model, dataset)
    start = None if missing else starts.drawn_again(model, rows.seen, rows.x, rows.w)
    begin = start.centres if first and start else rows.vectors(model.fitted.centres)
    iteration = Iteration.of(model, rows, row, begin)
    return rendered(_pieces(iteration, start, missing, first=first), form)


def _pieces(
    iteration: Iteration, start: Start | None, missing: str, *, first: bool
) -> Iterator[Piece]:
    """The whole story."""
    from refclust.cli.commands.explain import kmeans_draws as draws
    from refclust.cli.commands.explain import kmeans_steps as steps
    from refclust.cli.output import counted
    from refclust.cli.show.clusters import data_text

    data, params = iteration.rows.seen, iteration.model.params
    same = fitted_to(iteration.model, iteration.rows.plain)
    yield Title("One iteration of k-means")
    yield Words(
        f"{data_text(data)}, {counted(len(iteration.before), 'cluster')}, metric {params.metric}; "
        f"from the centres {'that the best run started with' if first else 'of the model'} to "
        f"those of one update. The rows are {'those' if same else 'not those'} that the model was "
        "fitted to" + ("; where it converged, nothing moves." if same and not first else ".")
    )
    if start is None:
        yield Words(f"Its start cannot be shown: {missing}.")
    else:
        yield from draws.pieces(start, data)
    yield from in_units(iteration.rows.plain, iteration.row)
    yield Title(f"Assignment, row {data.row_name(iteration.row)}")
    yield from steps.assignment(iteration)
    yield Title("Update")
    yield from steps.update(iteration)
    if not iteration.cosine:
        named = [(f"centre {k}", centre) for k, centre in enumerate(iteration.after)]
        yield from centres_in_units(data, named)
    yield Title("What changed")
    yield from steps.changes(iteration)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows as they are given and as k-means sees them, under the cosine as directions."""

    plain: Dataset
    seen: Dataset
    x: list[Any]
    w: list[Number]

    @classmethod
    def of(cls, model: KMeansModel, data: Dataset) -> Rows:
        """Take the rows as the metric of the model does.

        Spec: KM-COSROWS
        """
        from refclust.cluster.directions import unit_rows

        seen = unit_rows(data) if model.params.metric == "cosine" else data
        weights: list[Number] = [1] * data.n if data.weights is None else [*data.weights]
        return cls(data, seen, [*seen.rows()], weights)

    def vectors(self, centres: Sequence[Sequence[float]]) -> list[Any]:
        """Centres in the form that the rows have, sparse or dense."""
        return starts.vectors(self.seen, centres)


@dataclass(frozen=True, slots=True)
class Iteration:
    """Everything one iteration computes, by the formulas of chapter 10."""

    model: KMeansModel
    rows: Rows
    row: int
    before: Sequence[Vector]
    labels: Sequence[int]
    after: Sequence[Vector]
    moved: Mapping[int, int]  # the rows that empty clusters moved to
    empty: Sequence[int]
    following: Sequence[int]  # the labels of the next assignment

    @classmethod
    def of(cls, model: KMeansModel, rows: Rows, row: int, before: Sequence[Vector]) -> Iteration:
        """Assign, update and assign again.

        Spec: KM-ALG
        """
        cosine, policy = model.params.metric == "cosine", model.params.empty
        y, after, moved = next(formulas.lloyd(rows.x, before, rows.w, policy, cosine))
        means = formulas.update(rows.x, y, rows.w, len(before))
        empty = [k for k, mean in enumerate(means) if mean is None or (cosine and _nothing(mean))]
        nearest = formulas.nearest_by_cosine if cosine else formulas.nearest
        following = [nearest(x, after) for x in rows.x]
        return cls(model, rows, row, before, y, after, moved, empty, following)

    @property
    def cosine(self) -> bool:
        """Whether cosines decide, not distances."""
        return self.model.params.metric == "cosine"

    @property
    def kept(self) -> list[int | None]:
        """The number that each cluster has after the update; none if it was dropped."""
        if self.model.params.empty != "drop":
            return [*range(len(self.before))]
        left = [k for k in range(len(self.before)) if k not in self.empty]
        return [left.index(k) if k in left else None for k in range(len(self.before))]

    def members(self, k: int) -> list[int]:
        """The rows of a cluster."""
        return [i for i, label in enumerate(self.labels) if label == k]

    def weight(self, k: int) -> Exact:
        """The weight of a cluster."""
        return total(self.rows.w[i] for i in self.members(k))

    def sums(self, k: int) -> list[str]:
        """The weighted sums of a cluster, for the features that are shown."""
        own = [scaled(self.rows.w[i], self.rows.x[i]) for i in self.members(k)]
        return self.parts(sum_of(own)) if own else ["0" for _ in listed(self.rows.seen)]

    def parts(self, vector: Any) -> list[str]:
        """The components of a vector that are shown."""
        sparse = isinstance(vector, Mapping)
        return [exactly(vector.get(j, 0) if sparse else vector[j]) for j in listed(self.rows.seen)]

    def objective(self, y: Sequence[int | None], c: Sequence[Vector]) -> Exact:
        """RSS, or the total cosine, of the rows that have a label.

        Spec: KM-RSS, KM-COSOBJ
        """
        own = [(i, label) for i, label in enumerate(y) if label is not None]
        value = formulas.total_cosine if self.cosine else formulas.rss
        x, w = [self.rows.x[i] for i, _ in own], [self.rows.w[i] for i, _ in own]
        return value(x, [label for _, label in own], c, w)

    def left_out(self) -> Iterator[Piece]:
        """What there is to say of the features that are not shown."""
        return left_out(self.rows.seen)

    def table(self, lines: Sequence[tuple[str, Any]]) -> Table:
        """Vectors with their names, one a line."""
        data = self.rows.seen
        head = ["", *(data.feature_name(j) for j in listed(data))]
        return Table(head, [[name, *self.parts(vector)] for name, vector in lines])


def _nothing(mean: Any) -> bool:
    place = formulas.rounded(mean)
    return not any(place.values() if isinstance(place, Mapping) else place)
