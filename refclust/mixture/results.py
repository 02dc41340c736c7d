"""What a fit of a mixture returns (chapter 30)."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from refclust.backends.session import Provenance
from refclust.data.dataset import Features, Fingerprint
from refclust.data.files import parts
from refclust.data.frames import joined
from refclust.errors import BadOption
from refclust.fitting.fitted import Fitted
from refclust.fitting.labels import Labels
from refclust.kernels.points import Vector
from refclust.mixture.course.certificate import Ascent, Certificate, Real
from refclust.mixture.options import Policy as Policy
from refclust.mixture.options import Start as Start
from refclust.mixture.options import Variation as Variation
from refclust.shown.page import Shown, Summary

if TYPE_CHECKING:
    from refclust.mixture.sample import Sample

P = TypeVar("P", covariant=True)

Reason: TypeAlias = Literal["tolerance", "limit", "collapsed", "caller"]


@dataclass(frozen=True, slots=True)
class Iteration(Generic[P]):
    """The numbers of one pass: those that belong to the parameters before the next M-step.

    Spec: EM-ALG
    """

    iteration: int  # how many M-steps came before
    log_likelihood: Real
    objective: Real  # the bound F, with the logarithm of the prior
    gain: Real | None  # of the objective, for each unit of weight
    parameters: P | None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a component that collapsed.

    Spec: GMM-COLLAPSE
    """

    iteration: Annotated[int, parts.whole(0, "limit", less=-1)]
    component: Annotated[int, parts.whole(0, "k", less=1)] | None  # none: what all of them share
    why: str
    # Some of those it was most probable for.
    rows: Annotated[tuple[int, ...], parts.wholes(None, 0, "n", less=1)]
    done: Literal["ended", "dropped", "reset"]


@dataclass(frozen=True, slots=True, repr=False)
class Run(Shown, Generic[P]):
    """One run from one start, as it ended.

    Spec: EM-RESTART
    """

    log_likelihood: Real
    objective: Real
    log_prior: Real
    entropy: Real
    iterations: Annotated[int, parts.whole(0, "limit")]
    stopped: Reason
    parameters: P
    start: P
    sizes: tuple[float, ...]
    events: tuple[Event, ...]
    ascents: tuple[Ascent, ...]
    trace: tuple[Iteration[P], ...]

    def _summary(self) -> Summary:
        from refclust.mixture.summary import of_run

        return of_run(self)


@dataclass(frozen=True, slots=True, repr=False)
class MixtureFit(Fitted, Generic[P]):
    """The best of all runs; labels and log-likelihood are those of the parameters returned.

    Spec: EM-ALG, EM-RESTART
    """

    labels: array[int]
    parameters: P
    log_likelihood: float
    objective: float  # what the loop made large, with the logarithm of the prior
    log_prior: float
    entropy: float  # of the responsibilities
    sizes: tuple[float, ...]  # the weight of each component
    iterations: int
    stopped: Reason
    best: int
    runs: tuple[Run[P], ...]
    family: str
    settings: dict[str, Any]  # options of the family
    k: int  # as asked for; the policy drop may leave fewer components
    start: Start
    variation: Variation
    options: dict[str, Any]
    free_parameters: int
    constant: float  # what the kernels leave out, for each unit of weight
    weight: float  # of all rows together
    n: int
    d: int
    features: Features | None
    fingerprint: Fingerprint
    provenance: Provenance

    def __post_init__(self) -> None:
        """Hand the labels out in the form that data frames take."""
        object.__setattr__(self, "labels", Labels(self.labels))

    def _summary(self) -> Summary:
        from refclust.mixture.summary import of_fit

        return of_fit(self)

    @property
    def believed(self) -> bool:
        """Whether this are beliefs about a mixture, by variational Bayes."""
        return self.family.startswith("variational-")

    @property
    def bic(self) -> float:
        """The Bayesian information criterion; smaller is better.

        Spec: MS-BIC
        """
        from refclust.mixture.choosing.criteria import bic

        self._refuse_beliefs("BIC")
        return bic(self.log_likelihood, self.free_parameters, self.weight)

    @property
    def aic(self) -> float:
        """Akaike's information criterion; smaller is better.

        Spec: MS-AIC
        """
        from refclust.mixture.choosing.criteria import aic

        self._refuse_beliefs("AIC")
        return aic(self.log_likelihood, self.free_parameters)

    def responsibilities(self, data: Any, **options: Any) -> tuple[Vector, ...]:
        """The probability of every component for every row, one tuple a row.

        Spec: EM-PRED, EM-ESTEP
        """
        rows: tuple[Vector, ...] = self.predict(data, full=True, **options).responsibilities()
        return rows

    def sample(self, n: int, *, seed: int = 0, length: float | None = None) -> Sample:
        """Draw rows from the mixture: ``refclust.sample``.

        Spec: EM-SAMPLE
        """
        from refclust.mixture.sample import sample

        return sample(self, n, seed=seed, length=length)

    def to_frame(self, data: Any = None) -> Any:
        """A ``pandas.DataFrame`` with the component of each row; of data probabilities, too.

        Spec: EM-PRED
        """
        if data is None:
            return joined(None, self._columns())
        return self.predict(data, full=True).to_frame(data)

    def _refuse_beliefs(self, name: str) -> None:
        if self.believed:
            raise BadOption(
                f"{name} belongs to a fit by maximum likelihood; these are beliefs, and their "
                "objective is a bound on the log evidence: fit.objective"
            )

    @property
    def converged(self) -> bool:
        """Whether the best run ended because the objective rose no more."""
        return self.stopped == "tolerance"

    @property
    def digest(self) -> str:
        """The digest of the data.

        Spec: DATA-DIGEST
        """
        return self.fingerprint.text

    @property
    def trace(self) -> tuple[Iteration[P], ...]:
        """The iterations of the best run."""
        return self.runs[self.best].trace

    @property
    def monotone(self) -> Certificate:
        """The certificate of the best run: of the log-likelihood, or the bound on the evidence.

        Shares that are cut off (hard, top) raise the bound F only, drawn ones nothing; and a
        component that was moved or removed by a policy may cost any amount.

        Spec: EM-CONV, GMM-COLLAPSE
        """
        run = self.runs[self.best]
        repaired = any(event.done != "ended" for event in run.events)
        promised = self.variation in ("em", "generalized") and not repaired
        return Certificate(run.ascents, promised)

    @property
    def spread(self) -> tuple[float, float]:
        """The smallest and the largest log-likelihood of all runs.

        Spec: EM-RESTART
        """
        likelihoods = [run.log_likelihood for run in self.runs]
        return min(likelihoods), max(likelihoods)
