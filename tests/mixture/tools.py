"""What tests of mixtures share: data to draw, fits on the reference backend, walks over them."""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

import refclust as fit
from refclust.backends.session import Provenance
from refclust.mixture.bayes import fit as bayes
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.named.gaussian import GaussianFit
from refclust.mixture.families.named.multinomial import CountFit
from refclust.mixture.results import MixtureFit

U = 2.0**-53
MODELS = (
    "EII VII EEI VEI EVI VVI EEE EVE VEE VVE EEV VEV EVV VVV".split()  # noqa: SIM905
)
CONVEX = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")
STARTS = ("kmeans", "random", "points")
MONOTONE = ("em", "hard", "top", "generalized")

Row = tuple[float, ...]


def gaussian(data: Any, k: int | None = None, **options: Any) -> GaussianFit:
    return fit.gaussian_mixture(data, k, **{"backend": "reference", **options})


def multinomial(data: Any, k: int | None = None, **options: Any) -> CountFit:
    return fit.multinomial_mixture(data, k, **{"backend": "reference", **options})


def bernoulli(data: Any, k: int | None = None, **options: Any) -> CountFit:
    return fit.bernoulli_mixture(data, k, **{"backend": "reference", **options})


def beliefs(data: Any, k: int, **options: Any) -> bayes.GaussianBeliefsFit:
    return bayes.variational_gaussian(data, k, **{"backend": "reference", **options})


def word_beliefs(data: Any, k: int, **options: Any) -> bayes.CountBeliefsFit:
    return bayes.variational_multinomial(data, k, **{"backend": "reference", **options})


def feature_beliefs(data: Any, k: int, **options: Any) -> bayes.CountBeliefsFit:
    return bayes.variational_bernoulli(data, k, **{"backend": "reference", **options})


def standing(fit: MixtureFit[Any]) -> str:
    """What the certificate of a fit that is watched has to say, if no iteration falls (EM-CONV)."""
    repaired = any(event.done != "ended" for event in fit.runs[fit.best].events)
    if fit.variation not in ("em", "generalized") or repaired:
        return "not promised"
    return "holds" if fit.iterations else "not watched"


FITS: dict[str, Callable[..., MixtureFit[Any]]] = {
    "gaussian": gaussian,
    "multinomial": multinomial,
    "bernoulli": bernoulli,
}

WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 1.0, 2.0, 0.5, 3.0])
SMALL = st.integers(-8, 8).map(lambda i: i / 4)
SINGLE = st.floats(-4, 4, width=32).map(lambda x: round(x, 3))


@dataclasses.dataclass(frozen=True)
class Case:
    """Rows, their weights and groups to start from, each of which has a row of weight 1."""

    rows: list[Row]
    weights: list[float] | None
    labels: list[int]
    k: int

    @property
    def masses(self) -> list[float]:
        return [1.0] * len(self.rows) if self.weights is None else self.weights


@st.composite
def cases(
    draw: st.DrawFn, number: st.SearchStrategy[float], *, d: int | None = None, most: int = 9
) -> Case:
    """Data with ties and repeated rows; the first k rows belong to different groups."""
    columns = draw(st.integers(1, 3)) if d is None else d
    k = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[number] * columns), min_size=k + 2, max_size=most))
    n = len(rows)
    free = draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=n - k, max_size=n - k))
    masses = None if weights is None else [1.0] * k + weights
    return Case(rows, masses, [*range(k), *free], k)


def points(most: int = 9) -> st.SearchStrategy[Case]:
    """Points that are not all the same in any column."""
    base = cases(st.sampled_from([SMALL, SINGLE]).flatmap(lambda one: one), most=most)
    return base.filter(spread_out)


def spread_out(case: Case) -> bool:
    counted = [row for row, w in zip(case.rows, case.masses, strict=True) if w]
    return all(len(set(column)) > 1 for column in zip(*counted, strict=True))


def documents(most: int = 9) -> st.SearchStrategy[Case]:
    return cases(st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, 12.0]), most=most)


def presences(most: int = 9) -> st.SearchStrategy[Case]:
    return cases(st.sampled_from([0.0, 1.0]), most=most)


def of_family(name: str, most: int = 9) -> st.SearchStrategy[Case]:
    return {"gaussian": points, "multinomial": documents, "bernoulli": presences}[name](most)


def smoothed(name: str) -> dict[str, float]:
    """An option that keeps every component of a family alive."""
    return {"floor": 0.05} if name == "gaussian" else {"m": 0.5}


@st.composite
def distributions(draw: st.DrawFn, k: int) -> tuple[float, ...]:
    """Shares that add up to one within a few roundings; some of them zero or tiny."""
    parts = draw(
        st.lists(st.sampled_from([0.0, 1.0, 1.0, 3.0, 0.1, 1e-12]), min_size=k, max_size=k).filter(
            any
        )
    )
    whole = math.fsum(parts)
    return tuple(part / whole for part in parts)


def numbers(value: Any) -> Iterator[float]:
    """Every float in a result, however deep."""
    if isinstance(value, float):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            yield from numbers(getattr(value, one.name))
    elif isinstance(value, dict):
        for one in value.values():
            yield from numbers(one)
    elif isinstance(value, array | memoryview):
        yield from (float(x) for x in value)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for one in value:
            yield from numbers(one)


def check_numbers(found: Any) -> None:
    """No NaN anywhere, and no infinity."""
    assert all(map(math.isfinite, numbers(found)))


def told(value: Any) -> Any:
    """A result as plain tuples, without what ran it: for comparing bits."""
    if isinstance(value, Provenance):
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(
            (one.name, told(getattr(value, one.name))) for one in dataclasses.fields(value)
        )
    if isinstance(value, dict):
        return {key: told(one) for key, one in value.items()}
    if isinstance(value, str | bytes | int | float | type(None)):
        return value
    if isinstance(value, array | memoryview | Sequence):
        return tuple(map(told, value))
    return repr(value)


def normal_logs(parameters: GaussianParameters, row: Row) -> list[float]:
    """log p(x, k) by the formula as it is printed, for covariances of at most 2 columns."""
    found = []
    for weight, mean, covariance in zip(
        parameters.weights, parameters.means, parameters.covariances, strict=True
    ):
        away = [a - b for a, b in zip(row, mean, strict=True)]
        if len(away) == 1:
            determinant = covariance[0][0]
            square = away[0] ** 2 / determinant
        else:
            (a, b), (_, c) = covariance
            determinant = a * c - b * b
            x, y = away
            square = (c * x * x - 2 * b * x * y + a * y * y) / determinant
        density = -0.5 * (len(away) * math.log(2 * math.pi) + math.log(determinant) + square)
        found.append(math.log(weight) + density if weight else -math.inf)
    return found


def word_logs(parameters: CountParameters, row: Row, *, presence: bool) -> list[float]:
    """log p(x, k) by the formula as it is printed."""
    found = []
    for weight, thetas in zip(parameters.weights, parameters.probabilities, strict=True):
        terms = [weight]
        for x, theta in zip(row, thetas, strict=True):
            if presence:
                terms.append(theta if x else 1.0 - theta)
            elif x:
                terms += [theta] * int(x)
        found.append(-math.inf if 0.0 in terms else math.fsum(map(math.log, terms)))
    return found


def lse(logs: Sequence[float]) -> float:
    peak = max(logs)
    return peak + math.log(math.fsum(math.exp(x - peak) for x in logs))
