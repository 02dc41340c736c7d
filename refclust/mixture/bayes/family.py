"""Beliefs about mixtures as the one EM loop sees them (chapter 34).

The variational E-step is a pass of the same kernel with expected logarithms in the place of
logarithms, the M-step updates the beliefs; minus the divergence from the prior stands for the
logarithm of a prior. What a family of densities has to say of passes and sums, it says here too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from refclust.errors import BadOption, DimensionMismatch
from refclust.kernels.clusters.kmeans import Labels
from refclust.kernels.mixtures.shared import Doubles
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.families.family import Densities, Following, Passes, Point
from refclust.mixture.families.gaussian.parameters import between, readable
from refclust.mixture.options import is_number
from refclust.numbers.reading import shown

B = TypeVar("B", bound=GaussianBeliefs | CountBeliefs)
D = TypeVar("D", bound=Densities)
M = TypeVar("M")


@dataclass(frozen=True)
class Variational(ABC, Generic[B, D, M]):
    """Beliefs about the mixtures of a family on one data set.

    ``alpha`` is the prior weight of each share: small ones empty components that are not needed.
    """

    family: Any  # of densities
    alpha: float

    @property
    def name(self) -> str:
        """The word for it."""
        return f"variational-{self.family.name}"

    @property
    def kernel(self) -> str:
        """The kernel that takes the time."""
        return str(self.family.kernel)

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The prior."""

    @property
    def unit(self) -> float:
        """Weights count as they are, beside those of the prior."""
        return float(self.family.unit)

    @property
    def constant(self) -> float:
        """What the densities leave out.

        Spec: GAU-PDF, MMIX-LL
        """
        return float(self.family.constant)

    @property
    def passes(self) -> Passes[D, M]:
        """The passes over its rows: those of the densities, under expected logarithms."""
        passes: Passes[D, M] = self.family.passes
        return passes

    @property
    @abstractmethod
    def _blank(self) -> B:
        """Beliefs about one component that have the right form, whatever their numbers are."""

    @abstractmethod
    def point(self, parameters: B) -> Point[B, D]:
        """Expected logarithms for a pass, and minus the divergence from the prior."""

    @abstractmethod
    def maximised(self, moments: M, before: B | None) -> B:
        """Update the beliefs: the prior, and what the rows add to it."""

    @abstractmethod
    def around(self, rows: Sequence[Sequence[float]]) -> B:
        """Beliefs of components that differ in where they are: at some rows."""

    def moments(self, q: Labels | Doubles, k: int) -> M:
        """Add up the rows for given labels or responsibilities."""
        sums: M = self.family.moments(q, k)
        return sums

    def started(self, moments: M, *, smooth: bool) -> B:  # noqa: ARG002
        """The first update: the prior leaves no component without rows or spread.

        Spec: EM-INIT
        """
        return self.maximised(moments, None)

    def following(self, moments: M, before: B | None) -> Following[B, D]:
        """Make the variational M-step, ready for the next pass.

        Spec: MS-VIM
        """
        return Following(self.point(self.maximised(moments, before)))

    def sizes(self, moments: M) -> tuple[float, ...]:
        """The weight of each component.

        Spec: GMM-NK, MMIX-PI
        """
        return tuple(self.family.sizes(moments))

    def blended(self, old: B, new: B, share: float) -> B:
        """Beliefs on the way from one to another.

        Spec: EM-GEM
        """

        def blend(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
            if not isinstance(a[0], tuple):
                return between(a, b, share)
            return tuple(between(x, y, share) for x, y in zip(a, b, strict=True))

        return _each(blend, old, new)

    def without(self, parameters: B, component: int) -> B:
        """The beliefs about the other components.

        Spec: GMM-COLLAPSE
        """
        return _each(lambda part: part[:component] + part[component + 1 :], parameters)

    def replaced(self, parameters: B, component: int, row: Sequence[float]) -> B:
        """The beliefs with those about one component begun anew around a row.

        Spec: GMM-COLLAPSE
        """
        return _each(
            lambda part, new: (*part[:component], new[component], *part[component + 1 :]),
            parameters,
            self.around([row] * len(parameters.alpha)),
        )

    def content(self, parameters: B) -> dict[str, Any]:
        """Beliefs as plain values."""
        return {
            name: [list(x) if isinstance(x, tuple) else x for x in getattr(parameters, name)]
            for name in _names(parameters)
        }

    def read(self, content: Any) -> B:
        """Beliefs from plain values, or given as such, checked for their form."""
        blank = self._blank
        *names, last = _names(blank)
        if isinstance(content, type(blank)):
            beliefs = content
        else:
            with readable(f"{', '.join(names)} and {last}"):
                beliefs = _renewed(
                    blank, {name: _numbers(content[name]) for name in (*names, last)}
                )
        if _renewed(beliefs, {name: getattr(blank, name) for name in (*names, last)}) != blank:
            raise BadOption("the beliefs given are about another kind of mixture than this one")
        for name in (*names, last):
            [due] = getattr(blank, name)
            lengths = {len(x) if isinstance(x, tuple) else 0 for x in getattr(beliefs, name)}
            if len(getattr(beliefs, name)) != len(beliefs.alpha) or lengths != {
                len(due) if isinstance(due, tuple) else 0
            }:
                raise DimensionMismatch(
                    f"the beliefs given have {name} of another form than this mixture has"
                )
        return beliefs

    def free_parameters(self, k: int) -> int:
        """How many numbers the mixture behind the beliefs is free to choose.

        Spec: GMM-COVDF, MS-BIC
        """
        return int(self.family.free_parameters(k))


def check_positive(**numbers: float) -> None:
    """Refuse parameters of a prior that are no numbers above 0.

    Spec: VB-GAUSS, VB-MULT, VB-BERN
    """
    for name, value in numbers.items():
        if not is_number(value) or value <= 0:
            raise BadOption(f"{name} is {shown(value)}; a number above 0 is needed")


def _names(beliefs: GaussianBeliefs | CountBeliefs) -> list[str]:
    """The parts of beliefs that have something of each component."""
    return [part.name for part in fields(beliefs) if isinstance(getattr(beliefs, part.name), tuple)]


def _each(change: Callable[..., tuple[Any, ...]], *beliefs: B) -> B:
    names = _names(beliefs[0])
    return _renewed(
        beliefs[0], {name: change(*(getattr(x, name) for x in beliefs)) for name in names}
    )


def _renewed(beliefs: B, parts: dict[str, Any]) -> B:
    record: Any = beliefs  # whichever of the two it is
    renewed: B = replace(record, **parts)
    return renewed


def _numbers(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(tuple(map(float, x)) if isinstance(x, Iterable) else float(x) for x in values)
