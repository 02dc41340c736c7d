"""The first centres of the best run of a k-means model, drawn again from its seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.commands.explain.model import full_row
from refclust.formulas import kmeans as formulas
from refclust.formulas.vectors import Number

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.models.records.clusters import KMeansModel, KMeansParams

_HELD: Final = {"given": "given centres", "labels": "the means of given groups"}


@dataclass(frozen=True, slots=True)
class Draw:
    """One random number, the masses that it meets, and the row on which it falls."""

    centre: int
    r: float
    masses: Sequence[Number]
    row: int


@dataclass(frozen=True, slots=True)
class Start:
    """The first centres of a run, and how they were drawn."""

    model: KMeansModel
    r: Sequence[float]
    draws: Sequence[Draw]
    rows: Sequence[int]  # of the centres, none if they are no rows
    centres: Sequence[Any]
    x: Sequence[Any]
    w: Sequence[Number]


def vectors(data: Dataset, centres: Sequence[Sequence[float]]) -> list[Any]:
    """Centres in the form that rows have, sparse or dense."""
    if data.kind == "dense":
        return [*centres]
    return [{j: part for j, part in enumerate(centre) if part} for centre in centres]


def missing(model: KMeansModel, same: bool) -> str:
    """Why a start cannot be drawn again, if it cannot.

    Spec: KM-WORKED
    """
    held = _HELD.get(model.params.start)
    if held:
        return f"the model began with {held}, which its file does not hold"
    return "" if same else "the start was drawn from the rows of the fit, and these are others"


def trials(params: KMeansParams) -> int:
    """How many candidates there are for a centre of the start greedy.

    Spec: KM-GREEDY
    """
    return params.trials or 2 + formulas.floor_of_log(params.k)


def count(params: KMeansParams, d: int) -> int:
    """How many random numbers each run takes.

    Spec: KM-INIT
    """
    if params.start == "greedy":
        return 1 + (params.k - 1) * trials(params)
    return {"farthest": 1, "random-centres": params.k * d}.get(params.start, params.k)


def terms(model: KMeansModel, data: Dataset) -> int:
    """How many terms the masses of all draws have, and the random numbers before them."""
    each = count(model.params, data.d)
    steps = {"random-centres": 1, "farthest": model.params.k}.get(model.params.start, each)
    return (model.fitted.best + 1) * each + len(data.matrix.values) * model.params.k * steps


def drawn_again(model: KMeansModel, data: Dataset, x: Sequence[Any], w: Sequence[Number]) -> Start:
    """Draw the start of the best run once more; one stream runs on through all restarts.

    Spec: KM-INIT, KM-RESTART, NUM-RAND
    """
    from refclust.fitting.draws import Draws

    params = model.params
    each = count(params, data.d)
    stream = Draws(params.seed, used=model.fitted.best * each)
    r = [stream.next() for _ in range(each)]
    if params.start == "random-centres":
        full = [full_row(data, i) for i in range(data.n)]
        centres = formulas.initial_centres(params.start, full, w, params.k, r)
        places = [formulas.rounded(centre) for centre in centres]
        return Start(model, r, [], [], vectors(data, places), x, w)
    match params.start:
        case "greedy":
            rows = formulas.greedy(x, w, params.k, r, params.trials)
        case "farthest":
            rows = formulas.farthest_first(x, w, params.k, r[0])
        case "random":
            rows = formulas.random_rows(x, w, r)
        case _:
            rows = formulas.plus_plus(x, w, r)
    return Start(model, r, _draws(params, x, w, r, rows), rows, [x[i] for i in rows], x, w)


def _draws(
    params: KMeansParams,
    x: Sequence[Any],
    w: Sequence[Number],
    r: Sequence[float],
    rows: Sequence[int],
) -> list[Draw]:
    """What every random number met."""
    draws: list[Draw] = []
    candidates = trials(params) if params.start == "greedy" else 1
    met: Sequence[Number] = w
    for place, r_l in enumerate(r):
        centre = 0 if not place else 1 + (place - 1) // candidates
        if place and (place - 1) % candidates == 0:
            so_far = [x[i] for i in rows[:centre]]
            met = (formulas.fresh if params.start == "random" else formulas.masses)(x, w, so_far)
        draws.append(Draw(centre, r_l, met, formulas.drawn(met, r_l)))
    return draws
