"""A finished fit checked again at run time, whatever backend made it (chapter 81, BK-CHECK).

Some rows are compared with every centre in exact integers, straight from the definition; then the
reference makes one full step from the fit's centres, and everything that the fit claims about its
clusters must come out the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from refclust.backends.session import REFERENCE, Session
from refclust.cluster.directions import unit_rows
from refclust.cluster.objective import rounded, total_cosine
from refclust.cluster.results import KMeansFit
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.errors import BadOption
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import LloydStep
from refclust.kernels.clusters.nearness import Cosine, Euclidean
from refclust.kernels.contracts.basic import Argmin
from refclust.kernels.points import Points
from refclust.numbers.sampling import below, stream

_MOST_PRODUCTS: Final = 20_000_000  # of exact integers: a few seconds


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was checked, in words, and what was found wrong; nothing wrong is ``ok``."""

    rows: int  # compared with every centre in integers
    n: int
    seed: int
    checked: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.faults


def check_fit(fit: KMeansFit, data: Any, *, sample: int = 1000, seed: int = 0) -> CheckReport:
    """Check a finished k-means fit against the reference: a sample of rows and one full step.

    The data are those of the fit, with their weights. Fewer rows than asked for are sampled where
    K times the number of features is so large that their exact distances would take long.

    >>> from refclust.cluster.fit import kmeans
    >>> report = check_fit(kmeans([[0], [1], [9]], centres=[[0], [9]]), [[0], [1], [9]])
    >>> report.ok, report.rows, report.checked[1]
    (True, 3, 'the labels of all 3 rows, by one full step of the reference')
    """
    original = dataset(data)
    if not isinstance(fit, KMeansFit):
        raise BadOption(f"a {type(fit).__name__} cannot be checked; a fit of k-means can")
    if type(sample) is not int or sample < 0:
        raise BadOption(f"sample is {sample!r}; a number of rows, 0 or more, is needed")
    if original.digest() != fit.digest:
        raise BadOption(
            f"the data are not those of the fit: {original.n} rows with digest "
            f"{original.digest()[:12]}, the fit has {fit.n} with {fit.digest[:12]}"
        )
    rows = unit_rows(original) if fit.metric == "cosine" else original
    chosen = sampled(rows.n, min(sample, _MOST_PRODUCTS // (len(fit.centres) * rows.d)), seed)
    checked = [f"the labels of {len(chosen)} rows of {rows.n}, in integers against every centre"]
    faults = [f"in integers: {fault}" for fault in _row_faults(fit, rows, chosen)]
    for what, fault in _step_faults(fit, rows):
        checked.append(what)
        if fault:
            faults.append(fault)
    return CheckReport(len(chosen), rows.n, seed, tuple(checked), tuple(faults))


def sampled(n: int, count: int, seed: int) -> list[int]:
    """Some of n row numbers in ascending order, each set of that size equally likely.

    Spec: NUM-RAND

    >>> sampled(5, 9, 0), sampled(1000, 3, 0)
    ([0, 1, 2, 3, 4], [419, 757, 844])
    """
    if count >= n:
        return list(range(n))
    rng = stream(seed)
    moved: dict[int, int] = {}  # a shuffle of which only the places that were touched are kept
    taken = []
    for last in range(n - 1, n - 1 - count, -1):
        place = below(rng, last + 1)
        taken.append(moved.get(place, place))
        moved[place] = moved.get(last, last)
    return sorted(taken)


def _row_faults(fit: KMeansFit, rows: Dataset, chosen: list[int]) -> Iterator[str]:
    """The first sampled row whose label is not the lowest index of the exact minimum."""
    points = Points(rows.select(chosen)) if chosen else None
    if points is None:
        return
    centres = list(fit.centres)
    every = list(range(len(centres)))
    if fit.metric == "cosine":
        every = [k for k in every if any(centres[k])]
    field = (Cosine if fit.metric == "cosine" else Euclidean)(points, centres)
    for place, i in enumerate(chosen):
        due = field.exact(place, every)
        if fit.labels[i] != due:
            yield f"row {rows.row_name(i)} is nearest to centre {due}, not {fit.labels[i]}"
            return


def _step_faults(fit: KMeansFit, rows: Dataset) -> Iterator[tuple[str, str | None]]:
    """What one full step of the reference says about each claim of the fit."""
    seen = Rows(rows, Session(REFERENCE))
    centres, k = CentreMatrix.of(fit.centres), len(fit.centres)
    step: LloydStep = seen.call("kmeans.lloyd_step", centres, None, fit.metric, k=k)
    wrong = Argmin().fault(step.labels, fit.labels)
    what = f"the labels of all {rows.n} rows, by one full step of the reference"
    yield what, f"by a full step: {wrong}" if wrong else None
    sums = step.sums.exact()
    sizes = tuple(sums.weight(cluster) for cluster in range(k))
    yield "the size of every cluster", _differs("size", fit.sizes, sizes)
    squares = seen.call("kmeans.squares", step.labels, k, k=k)
    residuals = seen.call("kmeans.residual", sums, centres, k=k)
    within = tuple(map(sum, zip(squares, residuals, strict=True)))
    yield (
        "the residual sum of squares of every cluster, exactly",
        _differs("residual sum of squares", fit.exact_within, within),
    )
    rss = rounded(Fraction(sum(within)))
    yield "RSS", None if fit.rss == rss else f"RSS is {fit.rss!r}, not {rss!r}"
    if fit.metric == "cosine":
        terms = seen.call("kmeans.cosine_terms", sums, centres, k=k)
        cosine = float(total_cosine(terms))
        fault = f"the total cosine is {fit.cosine!r}, not {cosine!r}"
        yield "the total cosine", None if fit.cosine == cosine else fault
    if fit.stopped == "unchanged":
        means = CentreMatrix.flat(seen.call("kmeans.means", sums, k=k), rows.d)
        moved = [
            cluster
            for cluster in range(k)
            if sizes[cluster]
            and (fit.metric == "euclidean" or any(means[cluster]))
            and means[cluster] != centres[cluster]
        ]
        fault = f"centre {moved[0]} is not the mean of its rows" if moved else ""
        yield "that every centre is the mean of its rows", fault or None


def _differs(
    what: str, actual: tuple[Fraction, ...], due: tuple[Fraction | int, ...]
) -> str | None:
    if actual == due:
        return None
    k = next(
        k for k, (number, other) in enumerate(zip(actual, due, strict=True)) if number != other
    )
    return f"cluster {k}: the {what} is {actual[k]}, not {due[k]}"
