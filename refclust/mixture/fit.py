"""Mixtures from any data: the call, where it starts, and the door (chapters 30 to 32).

Each family has two functions: one hands out the passes of the EM loop, one runs them to the end.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar, cast

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, DimensionMismatch, NotFinite
from refclust.fitting.checks import clusters
from refclust.fitting.options import LEFT_OPEN, takes
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.mixture.covariance.models import covariance_model
from refclust.mixture.em import USUAL, EMSteps
from refclust.mixture.families.count_parameters import CountParameters
from refclust.mixture.families.counts import CountFamily
from refclust.mixture.families.family import Densities, Family
from refclust.mixture.families.gaussian import GaussianFamily
from refclust.mixture.families.gaussian_parameters import GaussianParameters
from refclust.mixture.options import (
    BernoulliCall,
    GaussianCall,
    MixtureCall,
    MultinomialCall,
    Start,
)
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.results import MixtureFit
from refclust.mixture.starts import numbered
from refclust.numbers.reading import shown

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")

GaussianFit: TypeAlias = MixtureFit[GaussianParameters]
CountFit: TypeAlias = MixtureFit[CountParameters]
GaussianSteps: TypeAlias = EMSteps[GaussianParameters, Gaussians, Moments]
CountSteps: TypeAlias = EMSteps[CountParameters, Terms, Tallies]

_CONVEX: Final = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")


@takes(GaussianCall)
def gaussian_steps(call: GaussianCall) -> GaussianSteps:
    """Begin a fit of a Gaussian mixture and return its passes.

    Spec: GMM-ALG, EM-ALG

    >>> steps = gaussian_steps([[0], [1], [9], [10]], 2, seed=1)
    >>> next(steps).iteration.iteration
    0
    """
    model = covariance_model(call.covariance).name
    if call.variation == "generalized" and model not in _CONVEX:
        raise BadOption(
            f"the covariances of {model} have no way between them that stays in the model; "
            f"generalized EM goes with {', '.join(_CONVEX)}"
        )
    begin = Beginning.of(call)
    passes = GaussianPasses(begin.rows, begin.k)
    return begin.steps(GaussianFamily(passes, model, float(call.floor)))


@takes(GaussianCall)
def gaussian_mixture(call: GaussianCall) -> GaussianFit:
    """Fit a mixture of K normal densities and return the best of all runs.

    Spec: GMM-ALG, GMM-LL, CEM-ALG, EM-RESTART

    >>> fit = gaussian_mixture([[0], [1], [9], [10]], 2, covariance="tied", seed=1)
    >>> fit.labels.tolist(), fit.parameters.weights
    ([0, 0, 1, 1], (0.5, 0.5))
    """
    return finished(gaussian_steps(**vars(call)))


@takes(MultinomialCall)
def multinomial_steps(call: MultinomialCall) -> CountSteps:
    """Begin a fit of a multinomial mixture and return its passes.

    Spec: MMIX-ALG, EM-ALG
    """
    begin = Beginning.of(call)
    passes = CountPasses(begin.rows, begin.k)
    return begin.steps(CountFamily(passes, "multinomial", call.m, shares_of(call.p), call.counts))


@takes(MultinomialCall)
def multinomial_mixture(call: MultinomialCall) -> CountFit:
    """Fit a mixture of K distributions of words, with m imagined words, p m of each.

    Spec: MMIX-ALG, EM-RESTART

    >>> docs = [[4, 0], [5, 1], [0, 3]]
    >>> fit = multinomial_mixture(docs, 2, labels=["a", "a", "b"], limit=0)
    >>> tuple(fit.parameters.probabilities)
    ((0.9, 0.1), (0.0, 1.0))
    """
    return finished(multinomial_steps(**vars(call)))


@takes(BernoulliCall)
def bernoulli_steps(call: BernoulliCall) -> CountSteps:
    """Begin a fit of a Bernoulli mixture and return its passes.

    Spec: BMIX-LL, EM-ALG
    """
    begin = Beginning.of(call)
    passes = CountPasses(begin.rows, begin.k)
    return begin.steps(CountFamily(passes, "bernoulli", call.m, shares_of(call.p)))


@takes(BernoulliCall)
def bernoulli_mixture(call: BernoulliCall) -> CountFit:
    """Fit a mixture of K components that say which features are there, with m imagined rows.

    Spec: BMIX-LL, EM-RESTART

    >>> fit = bernoulli_mixture([[1, 0], [1, 0], [0, 1]], 2, labels=["a", "a", "b"])
    >>> tuple(fit.parameters.probabilities)
    ((1.0, 0.0), (0.0, 1.0))
    """
    return finished(bernoulli_steps(**vars(call)))


def finished(steps: EMSteps[P, D, M]) -> MixtureFit[P]:
    """The best of all runs, each run to its end.

    Spec: EM-ALG, EM-RESTART
    """
    for _ in steps:
        pass
    return steps.result()


@dataclass(frozen=True, slots=True)
class Beginning:
    """A call at the door: its rows, the number of components, and labels to start from, if any.

    Spec: EM-INIT
    """

    call: MixtureCall
    rows: Rows
    k: int
    labels: array[int] | None

    @classmethod
    def of(cls, call: MixtureCall) -> Beginning:
        """Read the rows and where to start.

        Spec: EM-INIT
        """
        data = dataset(call.data, weights=call.weights)
        try:
            math.fsum(data.weights or ())
        except OverflowError:
            raise NotFinite(
                "the weights add up to more than the largest double; divide them by a power of ten"
            ) from None
        session = call.session or Session(call.backend)
        if call.parameters is not None and call.labels is not None:
            raise BadOption("parameters and labels were both given; a fit starts from one of them")
        labels, due = None, None
        if call.parameters is not None:
            due = _components(call.parameters)
        elif call.labels is not None:
            labels, names = numbered(call.labels, data.n)
            due = len(names)
        if due is not None and isinstance(call.k, int) and call.k != due:
            raise BadOption(f"k is {shown(call.k)}, but {due} components were given to start from")
        k = clusters(due if call.k is None else call.k, data.n)
        return cls(call, Rows(data, session, call.restarts * USUAL), k, labels)

    def steps(self, family: Family[P, D, M]) -> EMSteps[P, D, M]:
        """The passes of a family.

        Spec: EM-ALG
        """
        call = self.call
        start = cast(Start, call.usual_start if call.start is LEFT_OPEN else call.start)
        origin: Any = self.labels
        if call.parameters is not None:
            start, origin = "given", family.read(call.parameters)
        elif origin is not None:
            start = "labels"
        return EMSteps(family, self.rows, call.settled(self.k, start), origin, call.checkpoint)


def _components(parameters: Any) -> int:
    """How many components given parameters, or beliefs about them, have."""
    for name in ("weights", "alpha"):
        known = isinstance(parameters, Mapping)
        shares = parameters.get(name) if known else getattr(parameters, name, None)
        if isinstance(shares, Sized):
            return len(shares)
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
        shares = tuple(map(float, p))
    except (TypeError, ValueError, OverflowError):
        raise BadOption(f"p is {shown(p)}; a probability for each column is needed") from None
    if not shares:
        raise DimensionMismatch("p has no numbers; one for each column is due")
    return shares
