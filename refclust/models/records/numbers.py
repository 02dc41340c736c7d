"""Parameters of components and classes in a model file, and what decides them (chapter 11)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from refclust.cluster.results import Centre, Centres
from refclust.data.files.document import Node
from refclust.data.files.parts import Known, Part, also, doubles, items
from refclust.data.files.parts import double as double_part
from refclust.data.files.records import IF_ANY, taken
from refclust.models.records.common import Amount
from refclust.models.records.rows import CentreRows
from refclust.numbers.linalg import NotPositive, cholesky

if TYPE_CHECKING:
    from refclust.mixture.predict import Parameters

Form: TypeAlias = Literal["full", "diagonal", "spherical"]
Covariance: TypeAlias = Literal[
    "EII",
    "VII",
    "EEI",
    "VEI",
    "EVI",
    "VVI",
    "EEE",
    "VEE",
    "EVE",
    "VVE",
    "EEV",
    "VEV",
    "EVV",
    "VVV",
]
CountsName: TypeAlias = Literal["whole", "fractional"]
Smoothing: TypeAlias = Literal["mle", "m-estimate", "laplace", "half"]
PriorName: TypeAlias = Literal["documents", "tokens", "equal"]
_SLACK: Final = 2.0**-40  # for each number, as for parameters given to a fit (EM-INIT)


def form_of(covariance: str) -> Form:
    """How the covariances of a model are written: as matrices, as variances, as one variance.

    >>> form_of("VVV"), form_of("EVI"), form_of("EII")
    ('full', 'diagonal', 'spherical')
    """
    if covariance[1] == "I":
        return "spherical"
    return "diagonal" if covariance[2] == "I" else "full"


# -- checks of numbers ----------------------------------------------------------------------------


def _sum_to_one(node: Node, numbers: Centre, _known: Known) -> None:
    whole = math.fsum(min(x, 2.0) for x in numbers)  # a sum beyond the doubles is wrong, too
    if not abs(whole - 1.0) <= len(numbers) * _SLACK:
        node.fail(f"together they are {whole!r}; 1 is due, within rounding")


def _probabilities(node: Node, rows: Centres, known: Known) -> None:
    """Those of a multinomial mixture add up; those of naive Bayes are scores (NB-MEST1H)."""
    for place, row in enumerate(rows):
        for column, x in enumerate(row):
            if not 0.0 <= x <= 1.0:
                node.item(place).fail(f"column {column} is {x!r}; probabilities are from 0 to 1")
        if known["algorithm"] == "multinomial":
            _sum_to_one(node.item(place), row, known)


def _not_negative(node: Node, rows: Centres, _known: Known) -> None:
    for place, row in enumerate(rows):
        for column, x in enumerate(row):
            if x < 0.0:
                node.item(place).fail(f"column {column} is {x!r}; means of counts are at least 0")


def _fits(node: Node, form: Form, known: Known) -> None:
    due = form_of(known["params.covariance"])
    if form != due:
        node.fail(f"{form}; params.covariance is written in the form {due}")


def _covariance() -> Part:
    """A covariance or something like it, in the form of the covariance model.

    Spec: MODEL-LOAD
    """

    def read(node: Node, known: Known) -> Centre:
        form, d = form_of(known["params.covariance"]), known["d"]
        if form != "full":
            numbers = node.doubles(d if form == "diagonal" else 1)
            for place, variance in enumerate(numbers):
                if not variance > 0:
                    node.item(place).fail(f"the variance {variance!r}; it must be above 0")
            return numbers
        numbers = node.doubles(d * d)
        matrix = tuple(numbers[i * d : (i + 1) * d] for i in range(d))
        if matrix != tuple(zip(*matrix, strict=True)):
            node.fail("a matrix that is not symmetric")
        try:
            cholesky(matrix)
        except (NotPositive, OverflowError) as wrong:
            which = f" in column {wrong.column}" if isinstance(wrong, NotPositive) else ""
            node.fail(f"a matrix that is not positive definite{which}")
        return numbers

    return replace(doubles(), read=read)


Shares: TypeAlias = Annotated[tuple[float, ...], doubles(least=0, fewest=1), also(_sum_to_one)]
Spreads: TypeAlias = tuple[Annotated[Centre, _covariance()], ...]
Above: TypeAlias = Annotated[float, double_part(0, above=True)]
Probability: TypeAlias = Annotated[float, double_part(0, 1)]
Probabilities: TypeAlias = Annotated[tuple[float, ...], doubles("d", 0, 1)]


# -- what was asked for ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GaussianSettings:
    """Which covariances, with what floor, and whether cells may be missing."""

    covariance: Covariance
    floor: Amount
    missing: Annotated[Literal["integrate"] | None, IF_ANY] = None


@dataclass(frozen=True, slots=True)
class CountSettings:
    """How many imagined observations, of which shares, and what counts as a count."""

    m: Amount
    p: Probabilities | None
    counts: CountsName


@dataclass(frozen=True, slots=True)
class MeanSettings:
    """How many imagined rows, and of which means."""

    m: Amount
    p: Annotated[tuple[float, ...], doubles("d", 0)] | None


@dataclass(frozen=True, slots=True)
class NaiveBayesParams:
    """What naive Bayes on words was asked for.

    Spec: MODEL-DOC
    """

    kind: Literal["multinomial", "bernoulli"]
    smoothing: Smoothing
    m: Amount
    p: Probabilities | Probability | None
    counts: CountsName
    prior: PriorName | Shares


@dataclass(frozen=True, slots=True)
class DiscriminantParams:
    """What normal densities of classes were asked for.

    Spec: MODEL-DOC
    """

    kind: Literal["gaussian"]
    covariance: Covariance
    floor: Amount
    prior: Literal["documents", "equal"] | Shares

    def check(self, node: Node, known: Known) -> None:
        """Refuse covariances and priors that the algorithm has not."""
        algorithm, place = known["algorithm"], node.entry("covariance")
        if algorithm == "naive-bayes" and self.covariance != "VVI":
            place.fail(f"{self.covariance}; columns are independent in naive Bayes: VVI is due")
        if algorithm == "lda" and "V" in self.covariance:
            place.fail(f"{self.covariance}; linear discriminants share one: EII, EEI, EEE")
        if algorithm == "nearest-gaussian" and self.prior != "equal":
            prior = node.entry("prior")
            prior.fail(f"{prior.value!r}; the nearest Gaussian has the prior equal")


# -- parameters -----------------------------------------------------------------------------------


class Numbers(ABC):
    """The numbers of K components: what a record of them has beside its fields."""

    __slots__ = ()

    if TYPE_CHECKING:  # at run time a field, of which this would be the default

        @property
        def weights(self) -> tuple[float, ...]:
            """The share of each component."""

    def __len__(self) -> int:
        """The number of components."""
        return len(self.weights)

    @property
    @abstractmethod
    def middles(self) -> Centres:
        """What a row of each component has on average, of words as shares."""

    @classmethod
    def of(cls, parameters: Any) -> Numbers:
        """The numbers of what a fit found."""
        return taken(cls, parameters)

    @abstractmethod
    def parameters(self) -> Any:
        """What a fit found: whatever the numbers are numbers of."""

    def mixture(self) -> Parameters:
        """The mixture that rows are drawn from."""
        parameters: Parameters = self.parameters()
        return parameters


@dataclass(frozen=True, slots=True)
class GaussianNumbers(Numbers):
    """The parameters of K normal densities; of each d*d covariances, d variances, or one.

    Spec: MODEL-DOC
    """

    form: Annotated[Form, also(_fits)]
    weights: Shares
    means: Annotated[CentreRows, items("weights", fewest=1)]
    covariances: Annotated[Spreads, items("weights", fewest=1)]

    @classmethod
    def of(cls, parameters: Any) -> Numbers:
        """The numbers of parameters that a fit found."""
        spreads = tuple(tuple(map(float, spread)) for spread in parameters.spreads)
        return taken(cls, parameters, covariances=spreads)

    @property
    def middles(self) -> Centres:
        """Where the components are."""
        return self.means

    def parameters(self) -> Parameters:
        """The normal densities."""
        from refclust.mixture.families.gaussian.parameters import GaussianParameters

        return GaussianParameters(self.weights, self.means, self.covariances, self.form)


@dataclass(frozen=True, slots=True)
class CountNumbers(Numbers):
    """The parameters of K components over words.

    Spec: MODEL-DOC

    >>> CountNumbers((1.0,), ((0.25, 0.75),)).parameters()
    CountParameters(weights=(1.0,), probabilities=((0.25, 0.75),))
    """

    weights: Shares
    probabilities: Annotated[CentreRows, items("weights", fewest=1), also(_probabilities)]

    @property
    def middles(self) -> Centres:
        """Which words the components like."""
        return self.probabilities

    def parameters(self) -> Parameters:
        """The distributions of words."""
        from refclust.mixture.families.counts.parameters import CountParameters

        return CountParameters(self.weights, self.probabilities)


@dataclass(frozen=True, slots=True)
class MeanNumbers(Numbers):
    """The parameters of K components of counts that are given by their means.

    Spec: MODEL-DOC

    >>> MeanNumbers((1.0,), ((0.25, 7.0),)).parameters()
    MeanParameters(weights=(1.0,), means=((0.25, 7.0),))
    """

    weights: Shares
    means: Annotated[CentreRows, items("weights", fewest=1), also(_not_negative)]

    @property
    def middles(self) -> Centres:
        """How many there are on average."""
        return self.means

    def parameters(self) -> Parameters:
        """The means of counts."""
        from refclust.mixture.families.counts.means import MeanParameters

        return MeanParameters(self.weights, self.means)
