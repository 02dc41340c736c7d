"""Beliefs about mixtures in a model file: what variational Bayes found (chapter 11)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from refclust.cluster.results import Centre, Centres
from refclust.data.files.document import Node
from refclust.data.files.parts import Known, also, array, doubles, items
from refclust.data.files.records import taken
from refclust.models.records.numbers import Above, Covariance, Numbers, Spreads, form_of
from refclust.models.records.rows import CentreRows

if TYPE_CHECKING:
    from refclust.mixture.predict import Parameters


def _positive(node: Node, numbers: Centre, _known: Known) -> None:
    for place, x in enumerate(numbers):
        if not x > 0:
            node.item(place).wrong("a number above 0")


def _asked(node: Node, covariance: str, known: Known) -> None:
    if covariance != known["params.covariance"]:
        node.fail(f"{covariance}; params.covariance is {known['params.covariance']}")


def _degrees(node: Node, nu: Centre, known: Known) -> None:
    """A Wishart distribution of d columns has more than d - 1 degrees of freedom."""
    least = known["d"] - 1 if form_of(known["params.covariance"]) == "full" else 0
    for place, x in enumerate(nu):
        if not x > least:
            node.item(place).wrong(f"a number above {least}, columns less one,")


Weights: TypeAlias = Annotated[tuple[float, ...], doubles(least=0, fewest=1), also(_positive)]
OfEach: TypeAlias = Annotated[tuple[float, ...], doubles("alpha", 0, fewest=1), also(_positive)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPrior:
    """What is believed of normal densities before any row.

    Spec: MODEL-DOC
    """

    covariance: Covariance = "VVV"
    alpha: Above
    beta: Above
    nu: Above


@dataclass(frozen=True, slots=True)
class CountPrior:
    """What is believed of words before any row.

    Spec: MODEL-DOC
    """

    alpha: Above
    concentration: Above


class _Beliefs(Numbers):
    """Beliefs: what is expected of them is a mixture."""

    __slots__ = ()
    alpha: tuple[float, ...]

    def __len__(self) -> int:
        """The number of components."""
        return len(self.alpha)

    def mixture(self) -> Parameters:
        """The mixture of what is expected."""
        expected: Parameters = self.parameters().expected()
        return expected

    @property
    def weights(self) -> tuple[float, ...]:
        """The expected share of each component."""
        return self.mixture().weights


@dataclass(frozen=True, slots=True)
class GaussianBeliefNumbers(_Beliefs):
    """Dirichlet shares; normal means and Wishart precisions, by the inverses of their scales.

    Spec: MODEL-DOC
    """

    covariance: Annotated[Covariance, also(_asked)]
    alpha: Weights
    beta: OfEach
    nu: Annotated[OfEach, also(_degrees)]
    means: Annotated[CentreRows, items("alpha", fewest=1)]
    scales: Annotated[Spreads, items("alpha", fewest=1)]

    @classmethod
    def of(cls, parameters: Any) -> Numbers:
        """The numbers of beliefs; those without a covariance model are about full covariances."""
        return taken(cls, parameters, covariance=getattr(parameters, "covariance", "VVV"))

    @property
    def middles(self) -> Centres:
        """Where the components are expected."""
        return self.means

    def parameters(self) -> Any:
        """The beliefs."""
        from refclust.mixture.bayes.beliefs import GaussianBeliefs

        known = {field.name for field in fields(GaussianBeliefs)}
        own = (field.name for field in fields(self))
        return GaussianBeliefs(**{name: getattr(self, name) for name in own if name in known})


@dataclass(frozen=True, slots=True)
class CountBeliefNumbers(_Beliefs):
    """Dirichlet shares, and Dirichlet words of each component.

    Spec: MODEL-DOC
    """

    alpha: Weights
    # Every number is above 0, so sparse data have whole rows, too.
    eta: Annotated[
        tuple[Centre, ...],
        array(also(_positive)(doubles("d", 0))),
        items("alpha", fewest=1),
    ]

    @property
    def middles(self) -> Centres:
        """Which words the components are expected to like."""
        mixture: Any = self.mixture()
        return tuple(mixture.probabilities)

    def parameters(self) -> Any:
        """The beliefs."""
        from refclust.mixture.bayes.beliefs import CountBeliefs

        return CountBeliefs(self.alpha, self.eta)


def _pairs(node: Node, rows: Centres, known: Known) -> None:
    for place, row in enumerate(rows):
        if len(row) != 2 * known["d"]:
            node.item(place).fail(f"{len(row)} numbers; two are due for each column")


@dataclass(frozen=True, slots=True)
class PresenceBeliefNumbers(_Beliefs):
    """Dirichlet shares, and of each component two numbers for each word: there, and not.

    Spec: MODEL-DOC
    """

    alpha: Weights
    eta: Annotated[
        tuple[Centre, ...],
        array(also(_positive)(doubles(least=0, fewest=1))),
        items("alpha", fewest=1),
        also(_pairs),
    ]

    @property
    def middles(self) -> Centres:
        """How probable each word is expected to be."""
        mixture: Any = self.mixture()
        return tuple(mixture.probabilities)

    def parameters(self) -> Any:
        """The beliefs."""
        from refclust.mixture.bayes.beliefs import CountBeliefs

        return CountBeliefs(self.alpha, self.eta, "bernoulli")
