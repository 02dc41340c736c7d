"""Mixtures from any data: the start, the options and the door (chapters 30 to 32).

Each family has two functions: one hands out the passes of the EM loop, one runs them to the end.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from typing import Any, Final, TypeAlias, TypedDict, TypeVar, Unpack, cast

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.errors import BadOption, DimensionMismatch, NotFinite
from refclust.fitting.checkpoint import Checkpoint
from refclust.fitting.checks import clusters, named, whole
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.em import USUAL, EMSteps
from refclust.mixture.families.count_parameters import CountParameters, Counts
from refclust.mixture.families.counts import CountFamily
from refclust.mixture.families.family import Densities, Family
from refclust.mixture.families.gaussian import GaussianFamily
from refclust.mixture.families.gaussian_parameters import GaussianParameters
from refclust.mixture.options import EMOptions, is_number
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import Detail, MixtureFit, Policy, Start, Variation
from refclust.mixture.starts import numbered
from refclust.numbers.reading import shown

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")

GaussianFit: TypeAlias = MixtureFit[GaussianParameters]
CountFit: TypeAlias = MixtureFit[CountParameters]
GaussianSteps: TypeAlias = EMSteps[GaussianParameters, Gaussians, Moments]
CountSteps: TypeAlias = EMSteps[CountParameters, Terms, Tallies]

TOLERANCE: Final = 1e-8
_LIMIT: Final = 1000
_SAMPLED_LIMIT: Final = 100
_SAMPLES: Final = 10
_DAMPING: Final = 0.5
_CONVEX: Final = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")


class EMArguments(TypedDict, total=False):
    """The options that all mixtures share, for type checkers."""

    start: str
    parameters: Any  # to start from
    labels: Iterable[Hashable] | None  # to start from
    variation: Variation
    top: int | None  # variation "top": how many components a row may belong to
    samples: int | None  # variation "monte-carlo": draws for each row
    damping: float | None  # variation "generalized": the share of the way to the M-step
    weights: Iterable[Any] | None
    seed: int
    restarts: int
    tolerance: float | None  # gain of the objective, for each unit of weight; none: never stop
    limit: int | None
    collapse: Policy
    trace: Detail
    backend: str | None
    session: Session | None
    checkpoint: Checkpoint | None


def gaussian_steps(
    data: Any,
    k: int | None = None,
    *,
    covariance: str = "full",
    floor: float = 0.0,
    **options: Unpack[EMArguments],
) -> GaussianSteps:
    """Begin a fit of a Gaussian mixture and return its passes.

    Spec: GMM-ALG, EM-ALG

    >>> steps = gaussian_steps([[0], [1], [9], [10]], 2, seed=1)
    >>> next(steps).iteration.iteration
    0
    """
    model = covariance_model(covariance).name
    if not is_number(floor) or floor < 0:
        raise BadOption(f"the floor is {shown(floor)}; a number of at least 0 is needed")
    if options.get("variation") == "generalized" and model not in _CONVEX:
        raise BadOption(
            f"the covariances of {model} have no way between them that stays in the model; "
            f"generalized EM goes with {', '.join(_CONVEX)}"
        )
    rows, count, given = begun(data, k, options)
    family = GaussianFamily(GaussianPasses(rows, count), model, float(floor))
    return steps_of(family, rows, count, given, options, "kmeans")


def gaussian_mixture(
    data: Any,
    k: int | None = None,
    *,
    covariance: str = "full",
    floor: float = 0.0,
    **options: Unpack[EMArguments],
) -> GaussianFit:
    """Fit a mixture of K normal densities and return the best of all runs.

    Spec: GMM-ALG, GMM-LL, CEM-ALG, EM-RESTART

    >>> fit = gaussian_mixture([[0], [1], [9], [10]], 2, covariance="tied", seed=1)
    >>> fit.labels.tolist(), fit.parameters.weights
    ([0, 0, 1, 1], (0.5, 0.5))
    """
    steps = gaussian_steps(data, k, covariance=covariance, floor=floor, **options)
    for _ in steps:
        pass
    return steps.result()


def multinomial_steps(
    data: Any,
    k: int | None = None,
    *,
    m: float = 0.0,
    p: Sequence[float] | None = None,
    counts: Counts = "whole",
    **options: Unpack[EMArguments],
) -> CountSteps:
    """Begin a fit of a multinomial mixture and return its passes.

    Spec: MMIX-ALG, EM-ALG
    """
    rows, count, given = begun(data, k, options)
    family = CountFamily(CountPasses(rows, count), "multinomial", m, shares_of(p), counts)
    return steps_of(family, rows, count, given, options, "points")


def multinomial_mixture(
    data: Any,
    k: int | None = None,
    *,
    m: float = 0.0,
    p: Sequence[float] | None = None,
    counts: Counts = "whole",
    **options: Unpack[EMArguments],
) -> CountFit:
    """Fit a mixture of K distributions of words, with m imagined words, p m of each.

    Spec: MMIX-ALG, EM-RESTART

    >>> docs = [[4, 0], [5, 1], [0, 3]]
    >>> fit = multinomial_mixture(docs, 2, labels=["a", "a", "b"], limit=0)
    >>> tuple(fit.parameters.probabilities)
    ((0.9, 0.1), (0.0, 1.0))
    """
    steps = multinomial_steps(data, k, m=m, p=p, counts=counts, **options)
    for _ in steps:
        pass
    return steps.result()


def bernoulli_steps(
    data: Any,
    k: int | None = None,
    *,
    m: float = 0.0,
    p: Sequence[float] | None = None,
    **options: Unpack[EMArguments],
) -> CountSteps:
    """Begin a fit of a Bernoulli mixture and return its passes.

    Spec: BMIX-LL, EM-ALG
    """
    rows, count, given = begun(data, k, options)
    family = CountFamily(CountPasses(rows, count), "bernoulli", m, shares_of(p))
    return steps_of(family, rows, count, given, options, "points")


def bernoulli_mixture(
    data: Any,
    k: int | None = None,
    *,
    m: float = 0.0,
    p: Sequence[float] | None = None,
    **options: Unpack[EMArguments],
) -> CountFit:
    """Fit a mixture of K components that say which features are there, with m imagined rows.

    Spec: BMIX-LL, EM-RESTART

    >>> fit = bernoulli_mixture([[1, 0], [1, 0], [0, 1]], 2, labels=["a", "a", "b"])
    >>> tuple(fit.parameters.probabilities)
    ((1.0, 0.0), (0.0, 1.0))
    """
    steps = bernoulli_steps(data, k, m=m, p=p, **options)
    for _ in steps:
        pass
    return steps.result()


def begun(
    data: Any, k: int | None, options: EMArguments
) -> tuple[Rows, int, array[int] | Any | None]:
    """The rows, the number of components, and what to start from, if it was given.

    Spec: EM-INIT
    """
    for name in options:
        named("an option", name, EMArguments.__annotations__)
    restarts = options.get("restarts", 1)
    whole("restarts", restarts, 1)
    weights = options.get("weights")
    rows: Dataset = dataset(data) if weights is None else dataset(data, weights=weights)
    try:
        math.fsum(rows.weights or ())
    except OverflowError:
        raise NotFinite(
            "the weights add up to more than the largest double; divide them by a power of ten"
        ) from None
    session = options.get("session") or Session(options.get("backend"))
    parameters, labels = options.get("parameters"), options.get("labels")
    if parameters is not None and labels is not None:
        raise BadOption("parameters and labels were both given; a fit starts from one of them")
    given: Any = parameters
    due = None
    if parameters is not None:
        due = _components(parameters)
    elif labels is not None:
        given, names = numbered(labels, rows.n)
        due = len(names)
    if due is not None and isinstance(k, int) and k != due:
        raise BadOption(f"k is {shown(k)}, but {due} components were given to start from")
    count = clusters(due if k is None else k, rows.n)
    return Rows(rows, session, restarts * USUAL), count, given


def _components(parameters: Any) -> int:
    """How many components given parameters, or beliefs about them, have."""
    for name in ("weights", "alpha"):
        known = isinstance(parameters, Mapping)
        found = parameters.get(name) if known else getattr(parameters, name, None)
        if isinstance(found, Sized):
            return len(found)
    raise BadOption(
        f"the parameters to start from are a {type(parameters).__name__} without weights of "
        "components; parameters of a fit are needed"
    )


def shares_of(p: Any) -> tuple[float, ...]:
    """The shares of imagined words as doubles; none: nothing.

    Spec: NB-MEST
    """
    if p is None:
        return ()
    try:
        found = tuple(map(float, p))
    except (TypeError, ValueError, OverflowError):
        raise BadOption(f"p is {shown(p)}; a probability for each column is needed") from None
    if not found:
        raise DimensionMismatch("p has no numbers; one for each column is due")
    return found


def steps_of(
    family: Family[P, D, M],
    rows: Rows,
    k: int,
    given: Any,
    options: EMArguments,
    usual: Start,
) -> EMSteps[P, D, M]:
    """The passes of a family from what was asked for; ``usual`` is its start if none was named.

    Spec: EM-ALG
    """
    start = cast(Start, options.get("start", usual))
    if given is not None:
        start = "labels" if isinstance(given, array) else "given"
        given = given if isinstance(given, array) else family.read(given)
    else:
        named("start", start, ("kmeans", "random", "points", "varied"))
    variation = options.get("variation", "em")
    sampled = variation in ("stochastic", "monte-carlo")
    top, samples, damping = (options.get(name) for name in ("top", "samples", "damping"))
    limit = options.get("limit")
    chosen = EMOptions(
        k=k,
        start=start,
        variation=variation,
        top=cast(int, 0 if top is None else top),
        samples=cast(
            int, (_SAMPLES if variation == "monte-carlo" else 1) if samples is None else samples
        ),
        damping=cast(
            float, (_DAMPING if variation == "generalized" else 1.0) if damping is None else damping
        ),
        seed=options.get("seed", 0),
        restarts=options.get("restarts", 1),
        tolerance=options.get("tolerance", TOLERANCE),
        limit=(_SAMPLED_LIMIT if sampled else _LIMIT) if limit is None else limit,
        collapse=options.get("collapse", "end"),
        trace=options.get("trace", "scalars"),
    )
    return EMSteps(family, rows, chosen, given, options.get("checkpoint"))
