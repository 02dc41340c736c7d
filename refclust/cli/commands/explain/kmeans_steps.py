"""The assignment of one row, the update of all centres and what changed, number by number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from refclust.cli.commands.explain.model import listed
from refclust.cli.output import counted
from refclust.cli.show.tables import Table
from refclust.cli.show.worked import Formula, Piece, Words, exactly
from refclust.formulas.vectors import Exact, dot, norm, squared_distance
from refclust.numbers.real import Real

if TYPE_CHECKING:
    from refclust.cli.commands.explain.kmeans import Iteration

_MOST: Final = 10  # rows that are listed


def assignment(one: Iteration) -> Iterator[Piece]:
    """How far the row is from every centre, and which one has it.

    Spec: KM-ASSIGN, KM-COSASSIGN
    """
    rows = one.rows
    x = rows.x[one.row]
    lines = [("x", rows.given.row(one.row))] + [("x / |x|", x)] * one.cosine
    yield one.table([*lines, *((f"centre {k}", c) for k, c in enumerate(one.before))])
    yield from one.left_out()
    if one.cosine:
        yield Formula(
            "cos_k = x . c_k / |c_k|, x of length 1; the largest decides",
            r"\cos_k=\frac{x^\top c_k}{\lVert c_k\rVert},\quad\lVert x\rVert=1,"
            r"\qquad \hat y=\min\,\arg\max_k \cos_k",
        )
        values: list[Exact] = [dot(x, c) / norm(c) for c in one.before]
        table = [
            [str(k), exactly(dot(x, c)), exactly(norm(c)), exactly(values[k])]
            for k, c in enumerate(one.before)
        ]
        yield Table(["cluster", "x . c", "|c|", "cosine"], table)
    else:
        yield Formula(
            "D_k^2 = sum of (x_j - c_kj)^2; the smallest decides",
            r"D_k^2=\sum_j(x_j-c_{kj})^2,\qquad \hat y=\min\,\arg\min_k D_k^2",
        )
        values = [squared_distance(x, c) for c in one.before]
        table = [[str(k), exactly(value)] for k, value in enumerate(values)]
        yield Table(["cluster", "D^2"], table)
    yield Words(_decision(one, values))


def _decision(one: Iteration, values: list[Exact]) -> str:
    """Which cluster has the row, and why."""
    k = one.labels[one.row]
    equal = [other for other, value in enumerate(values) if value == values[k]]
    if len(equal) > 1:
        named = ", ".join(map(str, equal[:-1])) + f" and {equal[-1]}"
        return (
            f"A tie: the clusters {named} are equally near, exactly. The lowest number has the "
            f"row: cluster {k}."
        )
    which = "largest" if one.cosine else "smallest"
    told = f"The {which} is that of cluster {k}, which has the row."
    alike = [exactly(value) for value in values].count(exactly(values[k])) > 1
    return told + (" It is no tie: more digits tell them apart." if alike else "")


def update(one: Iteration) -> Iterator[Piece]:
    """Weights and sums of all clusters, and their new centres.

    Spec: KM-UPDATE, KM-CENTROID, KM-EMPTY
    """
    names = [one.rows.seen.feature_name(j) for j in listed(one.rows.seen)]
    clusters = range(len(one.before))
    yield Formula(
        "c_k = S_k / W_k,  S_k = sum of w x,  W_k = sum of w over the rows of the cluster",
        r"c_k'=\frac{S_k}{W_k},\qquad S_k=\sum_{\hat y_i=k}w_ix_i,\quad W_k=\sum_{\hat y_i=k}w_i",
    )
    yield Table(
        ["cluster", "rows", "W", *(f"S {name}" for name in names)],
        [
            [str(k), str(len(one.members(k))), exactly(one.weight(k)), *one.sums(k)]
            for k in clusters
        ],
    )
    for k in one.empty:
        yield Words(_emptied(one, k))
    yield Table(
        ["centre", *(f"{name} before" for name in names), *(f"{name} after" for name in names)],
        [
            [
                str(k),
                *one.parts(one.before[k]),
                *(["" for _ in names] if new is None else one.parts(one.after[new])),
            ]
            for k, new in zip(clusters, one.kept, strict=True)
        ],
    )
    yield from one.left_out()


def _emptied(one: Iteration, k: int) -> str:
    """What became of an empty cluster."""
    policy = one.model.params.empty
    why = "has no weight" if not one.weight(k) else "has a mean without direction"
    if k in one.moved:
        then = f"moves to row {one.rows.seen.row_name(one.moved[k])}"
    else:
        then = "is dropped" if policy == "drop" else "stays where it was"
    return f"Cluster {k} {why}: by the policy {policy} it {then}."


def changes(one: Iteration) -> Iterator[Piece]:
    """The objective before and after, and the rows that go over to another cluster.

    Spec: KM-RSS, KM-COSOBJ, PROP-KM-1
    """
    old = [one.kept[label] for label in one.labels]
    if one.cosine:
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
            [f"{name} before", _long(one.objective(one.labels, one.before)), "old centres"],
            [f"{name} after", _long(one.objective(old, one.after)), "same labels, new centres"],
            [f"{name} next", _long(one.objective(one.following, one.after)), "next labels"],
        ],
        words=frozenset((0, 2)),
    )
    data = one.rows.seen
    over = [i for i in range(data.n) if old[i] != one.following[i]]
    if not over:
        yield Words("The next assignment changes no label.")
        return
    yield Words(f"The next assignment changes {counted(len(over), 'label')} of {data.n:,}:")
    yield Table(
        ["row", "cluster before", "cluster after"],
        [
            [data.row_name(i), "none" if old[i] is None else str(old[i]), str(one.following[i])]
            for i in over[:_MOST]
        ],
    )
    if len(over) > _MOST:
        yield Words(f"{len(over) - _MOST:,} more rows are not shown.")


def _long(value: Exact) -> str:
    return f"{float(Real(value)):.15g}"
