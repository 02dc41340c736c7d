"""How the best run of k-means came to its first centres: random numbers, masses, rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from refclust.cli.commands.explain.model import MOST, full_row, left_out, listed
from refclust.cli.output import counted
from refclust.cli.show.pieces import Formula, Piece, Title, Words, exactly, number
from refclust.cli.show.tables import Table
from refclust.formulas import kmeans as formulas
from refclust.formulas.vectors import Exact, exact, total

if TYPE_CHECKING:
    from refclust.cli.commands.explain.kmeans_start import Start
    from refclust.data.dataset import Dataset

_MASSES: Final = {
    "random": ("m_i = w_i, or 0 for a row that equals a centre before it", r"m_i=w_i"),
    "farthest": ("m_i = w_i for centre 0", r"m_i=w_i"),
    "k-means++": (
        "m_i = w_i for centre 0, then m_i = w_i D_i^2, D_i to the nearest centre so far",
        r"m_i=w_i,\quad\text{then}\quad m_i=w_iD_i^2,\quad D_i=\min_{l<k}\lVert x_i-c_l\rVert",
    ),
}


def pieces(start: Start, data: Dataset) -> Iterator[Piece]:
    """The start of the best run.

    Spec: KM-WORKED
    """
    from refclust.numbers.reading import shown

    params, best = start.model.params, start.model.fitted.best
    each = len(start.r)
    yield Title(f"The start: {params.start}, seed {shown(params.seed)}")
    words = f"It took {counted(each, 'random number')} of the stream of its seed"
    if params.restarts > 1:
        words += (
            f", from number {best * each + 1:,}: each run takes as many, and the best is run "
            f"{best + 1:,} of {len(start.model.fitted.runs):,}"
        )
    yield Words(f"{words}.")
    if not start.rows:
        yield from _box(start, data)
        return
    yield from _drawn(start, data)
    if params.start == "greedy":
        yield from _candidates(start, data)
    if params.start == "farthest":
        yield from _farthest(start, data)
    chosen = ", ".join(data.row_name(i) for i in start.rows[:MOST])
    more = ", …" if len(start.rows) > MOST else ""
    yield Words(f"The first centres are the rows {chosen}{more}.")


def _drawn(start: Start, data: Dataset) -> Iterator[Piece]:
    """The masses, and where the random numbers fall.

    Spec: KM-DRAW, KM-PP, KM-RANDOM
    """
    yield Formula(*_MASSES.get(start.model.params.start, _MASSES["k-means++"]))
    first = range(min(data.n, MOST))
    groups = {draw.centre: draw.masses for draw in start.draws}
    more = ["…"] if data.n > MOST else []
    yield Table(
        ["mass for centre", *(f"row {data.row_name(i)}" for i in first), *more, "all rows"],
        [
            [str(k), *(exactly(met[i]) for i in first), *more, exactly(total(met))]
            for k, met in groups.items()
        ],
    )
    yield Formula(
        "the row: the first one up to which the masses are more than r times all of them",
        r"\min\Bigl\{i:\sum_{j\le i}m_j>r\sum_jm_j\Bigr\}",
    )
    lines = []
    for draw in start.draws:
        reached: list[Exact] = [*accumulate(map(exact, draw.masses[: draw.row + 1]))]
        low = reached[-1] - exact(draw.masses[draw.row])
        wanted = exact(draw.r) * total(draw.masses)
        numbers = [number(draw.r), *map(exactly, (wanted, low, reached[-1]))]
        lines.append([str(draw.centre), *numbers, data.row_name(draw.row)])
    yield Table(
        ["centre", "r", "r times all", "before the row", "with the row", "row"],
        lines,
        words=frozenset((0, 5)),
    )


def _candidates(start: Start, data: Dataset) -> Iterator[Piece]:
    """What each candidate would leave.

    Spec: KM-GREEDY
    """
    lines: list[list[str]] = []
    met: set[int] = set()  # the centres whose row was met: it may be drawn more than once
    for draw in start.draws[1:]:
        places = [*(start.x[i] for i in start.rows[: draw.centre]), start.x[draw.row]]
        left = exactly(total(formulas.masses(start.x, start.w, places)))
        best = draw.row == start.rows[draw.centre] and draw.centre not in met
        met |= {draw.centre} if best else set()
        chosen = "chosen" if best else ""
        lines.append([str(draw.centre), data.row_name(draw.row), left, chosen])
    if lines:
        yield Words("Of the candidates the one that leaves the least mass, the first of equals:")
        yield Table(["centre", "row", "mass left", ""], lines, words=frozenset((0, 1, 3)))


def _farthest(start: Start, data: Dataset) -> Iterator[Piece]:
    """How far the rows are from all centres so far.

    Spec: KM-FARTHEST
    """
    first = range(min(data.n, MOST))
    more = ["…"] if data.n > MOST else []
    lines = []
    for k in range(1, len(start.rows)):
        so_far = [start.x[i] for i in start.rows[:k]]
        gaps = [exactly(formulas.gap(start.x[i], so_far)) for i in (*first, start.rows[k])]
        lines.append([str(k), *gaps[:-1], *more, gaps[-1], data.row_name(start.rows[k])])
    if lines:
        head = ["D^2 for centre", *(f"row {data.row_name(i)}" for i in first), *more, "largest"]
        yield Words(
            "Each further centre is the row farthest from those so far, the first of equals:"
        )
        yield Table([*head, "row"], lines, words=frozenset((0, len(head))))


def _box(start: Start, data: Dataset) -> Iterator[Piece]:
    """Centres within the box around the rows.

    Spec: KM-BOX
    """
    d, shown = data.d, listed(data)
    full = [full_row(data, i) for i in range(data.n)]
    ends = [formulas.in_box(full, start.w, [end] * d) for end in (0, 1)]
    yield Formula("c_j = a_j + r (b_j - a_j)", r"c_j=a_j+r\,(b_j-a_j)")
    lines = [
        [name, *(exactly(end[j]) for j in shown)] for name, end in zip("ab", ends, strict=True)
    ]
    for k, centre in enumerate(start.centres):
        lines.append([f"r for centre {k}", *(number(start.r[k * d + j]) for j in shown)])
        parts = [centre.get(j, 0.0) if isinstance(centre, dict) else centre[j] for j in shown]
        lines.append([f"centre {k}", *map(number, parts)])
    yield Table(["", *(data.feature_name(j) for j in shown)], lines)
    yield from left_out(data)
