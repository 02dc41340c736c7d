"""The assignment of one row, the update of all centres and what changed, number by number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from refclust.cli.commands.explain.model import listed
from refclust.cli.output import counted
from refclust.cli.show.pieces import Formula, Piece, Words, exactly
from refclust.cli.show.tables import Table
from refclust.formulas.vectors import Exact, dot, norm, squared_distance
from refclust.numbers.real import Real

if TYPE_CHECKING:
    from refclust.cli.commands.explain.kmeans import Iteration

_MOST: Final = 10  # rows that are listed


def assignment(iteration: Iteration) -> Iterator[Piece]:
    """How far the row is from every centre, and which one has it.

    Spec: KM-ASSIGN, KM-COSASSIGN
    """
    rows = iteration.rows
    x = rows.x[iteration.row]
    lines = [("x", rows.data.row(iteration.row))] + [("x / |x|", x)] * iteration.cosine
    yield iteration.table([*lines, *((f"centre {k}", c) for k, c in enumerate(iteration.before))])
    yield from iteration.left_out()
    if iteration.cosine:
        yield Formula(
            "cos_k = x . c_k / |c_k|, x of length 1; the largest decides",
            r"\cos_k=\frac{x^\top c_k}{\lVert c_k\rVert},\quad\lVert x\rVert=1,"
            r"\qquad \hat y=\min\,\arg\max_k \cos_k",
        )
        values: list[Exact] = [dot(x, c) / norm(c) for c in iteration.before]
        table = [
            [str(k), exactly(dot(x, c)), exactly(norm(c)), exactly(values[k])]
            for k, c in enumerate(iteration.before)
        ]
        yield Table(["cluster", "x . c", "|c|", "cosine"], table)
    else:
        yield Formula(
            "D_k^2 = sum of (x_j - c_kj)^2; the smallest decides",
            r"D_k^2=\sum_j(x_j-c_{kj})^2,\qquad \hat y=\min\,\arg\min_k D_k^2",
        )
        values = [squared_distance(x, c) for c in iteration.before]
        table = [[str(k), exactly(value)] for k, value in enumerate(values)]
        yield Table(["cluster", "D^2"], table)
    yield Words(_decision(iteration, values))


def _decision(iteration: Iteration, values: list[Exact]) -> str:
    """Which cluster has the row, and why."""
    k = iteration.labels[iteration.row]
    equal = [other for other, value in enumerate(values) if value == values[k]]
    if len(equal) > 1:
        named = ", ".join(map(str, equal[:-1])) + f" and {equal[-1]}"
        return (
            f"A tie: the clusters {named} are equally near, exactly. The lowest number has the "
            f"row: cluster {k}."
        )
    which = "largest" if iteration.cosine else "smallest"
    words = f"The {which} is that of cluster {k}, which has the row."
    alike = [exactly(value) for value in values].count(exactly(values[k])) > 1
    return words + (" It is no tie: more digits tell them apart." if alike else "")


def update(iteration: Iteration) -> Iterator[Piece]:
    """Weights and sums of all clusters, and their new centres.

    Spec: KM-UPDATE, KM-CENTROID, KM-EMPTY
    """
    names = [iteration.rows.seen.feature_name(j) for j in listed(iteration.rows.seen)]
    clusters = range(len(iteration.before))
    yield Formula(
        "c_k = S_k / W_k,  S_k = sum of w x,  W_k = sum of w over the rows of the cluster",
        r"c_k'=\frac{S_k}{W_k},\qquad S_k=\sum_{\hat y_i=k}w_ix_i,\quad W_k=\sum_{\hat y_i=k}w_i",
    )
    yield Table(
        ["cluster", "rows", "W", *(f"S {name}" for name in names)],
        [
            [
                str(k),
                str(len(iteration.members(k))),
                exactly(iteration.weight(k)),
                *iteration.sums(k),
            ]
            for k in clusters
        ],
    )
    for k in iteration.empty:
        yield Words(_emptied(iteration, k))
    yield Table(
        ["centre", *(f"{name} before" for name in names), *(f"{name} after" for name in names)],
        [
            [
                str(k),
                *iteration.parts(iteration.before[k]),
                *(["" for _ in names] if new is None else iteration.parts(iteration.after[new])),
            ]
            for k, new in zip(clusters, iteration.kept, strict=True)
        ],
    )
    yield from iteration.left_out()


def _emptied(iteration: Iteration, k: int) -> str:
    """What became of an empty cluster."""
    policy = iteration.model.params.empty
    why = "has no weight" if not iteration.weight(k) else "has a mean without direction"
    if k in iteration.moved:
        then = f"moves to row {iteration.rows.seen.row_name(iteration.moved[k])}"
    else:
        then = "is dropped" if policy == "drop" else "stays where it was"
    return f"Cluster {k} {why}: by the policy {policy} it {then}."


def changes(iteration: Iteration) -> Iterator[Piece]:
    """The objective before and after, and the rows that go over to another cluster.

    Spec: KM-RSS, KM-COSOBJ, PROP-KM-1
    """
    old = [iteration.kept[label] for label in iteration.labels]
    if iteration.cosine:
        name = "total cosine"
        yield Formula(
            "total cosine = sum of w cos(x, its centre)",
            r"\sum_i w_i\frac{x_i^\top c_{\hat y_i}}{\lVert c_{\hat y_i}\rVert}",
        )
    else:
        name = "RSS"
        yield Formula(
            "RSS = sum of w D^2 to its centre",
            r"\mathrm{RSS}=\sum_i w_i\lVert x_i-c_{\hat y_i}\rVert^2",
        )
    yield Table(
        ["quantity", "value", "what it is"],
        [
            [
                f"{name} before",
                _long(iteration.objective(iteration.labels, iteration.before)),
                "old centres",
            ],
            [
                f"{name} after",
                _long(iteration.objective(old, iteration.after)),
                "same labels, new centres",
            ],
            [
                f"{name} next",
                _long(iteration.objective(iteration.following, iteration.after)),
                "next labels",
            ],
        ],
        words=frozenset((0, 2)),
    )
    data = iteration.rows.seen
    over = [i for i in range(data.n) if old[i] != iteration.following[i]]
    if not over:
        yield Words("The next assignment changes no label.")
        return
    yield Words(f"The next assignment changes {counted(len(over), 'label')} of {data.n:,}:")
    yield Table(
        ["row", "cluster before", "cluster after"],
        [
            [
                data.row_name(i),
                "none" if old[i] is None else str(old[i]),
                str(iteration.following[i]),
            ]
            for i in over[:_MOST]
        ],
    )
    if len(over) > _MOST:
        yield Words(f"{len(over) - _MOST:,} more rows are not shown.")


def _long(value: Exact) -> str:
    return f"{float(Real(value)):.15g}"
