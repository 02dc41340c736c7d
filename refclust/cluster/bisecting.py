"""Bisecting k-means: split the worst leaf in two until there are K (HC-BISECT of chapter 10)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from refclust.backends.session import Provenance, Session
from refclust.cluster.course import bisecting_state as states
from refclust.cluster.course.bisecting_state import Node, State
from refclust.cluster.directions import unit_rows
from refclust.cluster.kmeans import USUAL, Steps
from refclust.cluster.objective import exact_within, mean_square, rounded
from refclust.cluster.options import BisectingCall, KMeansOptions, Size
from refclust.cluster.results import BisectingFit, Split
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.errors import KOutOfRange
from refclust.fitting.checkpoint import Fitting, whole_provenance
from refclust.fitting.checks import clusters
from refclust.fitting.draws import Draws
from refclust.fitting.options import takes
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix


@takes(BisectingCall)
def bisecting(call: BisectingCall) -> BisectingFit:
    """Split the leaf with the largest residual sum of squares, or weight, until there are k.

    Spec: HC-BISECT, KM-CKPT

    >>> bisecting([[0], [1], [10], [11], [30]], 3).labels.tolist()
    [1, 1, 2, 2, 0]
    """
    rows = dataset(call.data, weights=call.weights)
    count, checkpoint = clusters(call.k, rows.n), call.checkpoint
    # Two clusters for every split; checked here, before any work is done.
    options = call.become(KMeansOptions, k=2, trace="none")
    session = call.session or Session(call.backend)
    seen = unit_rows(rows, session, 2, USUAL) if call.metric == "cosine" else rows
    everything = Rows(seen, session, USUAL)
    state = State((_root(everything),))
    fitting = Fitting("bisecting", rows.digest(), {**options.as_json(), "k": count, "by": call.by})
    if checkpoint is not None:
        reader = states.StateReader(options, count, rows.n, rows.d)
        state = checkpoint.begin(fitting, reader, state, session)
    # All rows decide where kernels run: a fit that goes on begins with fewer of them.
    for leader in ("kmeans.lloyd_step", "seeding.potential"):
        everything.made_by(leader, 2)
    draws = Draws(call.seed, state.draws)
    try:
        while state.leaves() < count:
            # One assignment, so that an interrupt finds the state before a split or after it.
            worst = _worst(state.nodes, call.by, count)
            state = _split(rows, state, worst, options, session, draws)
            if call.after_split is not None:
                call.after_split(state.leaves())
            if checkpoint is not None and checkpoint.due():
                checkpoint.write(fitting, states.content_of(state), session.provenance())
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.write(fitting, states.content_of(state), session.provenance())
            checkpoint.let_go()
        raise
    if checkpoint is not None:
        checkpoint.done()
    return _fit(rows, state.nodes, count, call.by, options, whole_provenance(session, checkpoint))


def _root(rows: Rows) -> Node:
    everything = array("i", bytes(4 * rows.data.n))
    sums = rows.call("kmeans.accumulate", everything, 1, k=2)  # the splits will have two
    squares = rows.call("kmeans.squares", everything, 1)
    centres = CentreMatrix.flat(rows.call("kmeans.means", sums), rows.data.d)
    [rss] = exact_within(squares, rows.call("kmeans.residual", sums, centres))
    weight = Fraction(sums.weights[0], 1 << sums.weight_shift)
    return Node(range(rows.data.n), centres[0], weight, rss)


def _worst(nodes: Sequence[Node], by: str, count: int) -> int:
    """The leaf to split: the largest sum or weight, the lowest first row of equals."""
    leaves = [i for i, node in enumerate(nodes) if node.children is None]
    free = [i for i in leaves if nodes[i].rss and not nodes[i].whole]
    if not free:
        raise KOutOfRange(
            f"{count} clusters were asked for, but only {len(leaves)} can be told apart"
        )

    def rank(i: int) -> tuple[Fraction, int]:
        node = nodes[i]
        return node.rss if by == "rss" else node.weight, -node.rows[0]

    return max(free, key=rank)


def _split(
    data: Dataset,
    state: State,
    worst: int,
    options: KMeansOptions,
    session: Session,
    draws: Draws,
) -> State:
    """Cut a leaf in two by k-means, or find that it cannot be cut."""
    node = state.nodes[worst]
    part = data if len(node.rows) == data.n else data.select(node.rows)
    steps = Steps(part, options, None, session, draws=draws)
    for _ in steps:
        pass
    fit = steps.result()
    steps.release()
    members: tuple[list[int], list[int]] = ([], [])
    for row, label in zip(node.rows, fit.labels, strict=True):
        members[label].append(row)
    nodes = list(state.nodes)
    limited = fit.stopped == "limit"
    if not all(fit.sizes):
        nodes[worst] = replace(node, whole=True, limited=limited)
        return State(tuple(nodes), draws.used)
    nodes[worst] = replace(node, children=(len(nodes), len(nodes) + 1), limited=limited)
    nodes += [
        Node(members[side], fit.centres[side], fit.sizes[side], fit.exact_within[side])
        for side in (0, 1)
    ]
    return State(tuple(nodes), draws.used)


def _fit(
    data: Dataset,
    nodes: Sequence[Node],
    count: int,
    by: Size,
    options: KMeansOptions,
    provenance: Provenance,
) -> BisectingFit:
    order = _walk(nodes)
    labels = array("i", bytes(4 * data.n))
    number = {leaf: label for label, leaf in enumerate(order)}
    for leaf, label in number.items():
        for row in nodes[leaf].rows:
            labels[row] = label
    built: dict[int, Split | int] = dict(number)
    for i in range(len(nodes) - 1, -1, -1):  # children come after their parents
        children = nodes[i].children
        if children is not None:
            a, b = children
            built[i] = Split(
                (nodes[a].centre, nodes[b].centre),
                (built[a], built[b]),
                rounded(nodes[i].rss),
                rounded(nodes[a].rss + nodes[b].rss),
            )
    leaves = [nodes[leaf] for leaf in order]
    rss = sum((leaf.rss for leaf in leaves), Fraction(0))
    return BisectingFit(
        labels=labels,
        root=built[0],
        centres=tuple(leaf.centre for leaf in leaves),
        sizes=tuple(leaf.weight for leaf in leaves),
        within=tuple(rounded(leaf.rss) for leaf in leaves),
        rss=rounded(rss),
        mean_square=mean_square(rss, [leaf.weight for leaf in leaves]),
        k=count,
        metric=options.metric,
        by=by,
        start=options.start,
        seed=options.seed,
        restarts=options.restarts,
        limit=options.limit,
        unconverged=sum(node.limited and node.children is not None for node in nodes),
        n=data.n,
        d=data.d,
        features=data.features,
        digest=data.digest(),
        provenance=provenance,
        preparation=data.preparation,
    )


def _walk(nodes: Sequence[Node]) -> list[int]:
    """The leaves in the order of a walk that goes to the first child first."""
    order, waiting = [], [0]
    while waiting:
        i = waiting.pop()
        children = nodes[i].children
        if children is None:
            order.append(i)
        else:
            waiting.extend(reversed(children))
    return order
