"""The one registry of what model files hold of each family of densities (chapter 11).

A new family is one more line here: a record of what a mixture of it is asked for, and a record of
what is found. Reading, writing, schema, ``predict``, ``describe`` and ``sample`` go by its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from refclust.data.files.parts import Known
from refclust.data.files.records import FAMILY
from refclust.mixture.families.named import names
from refclust.models.records.beliefs import (
    CountBeliefNumbers,
    CountPrior,
    GaussianBeliefNumbers,
    GaussianPrior,
    PresenceBeliefNumbers,
)
from refclust.models.records.numbers import (
    CountNumbers,
    CountSettings,
    DiscriminantParams,
    GaussianNumbers,
    GaussianSettings,
    MeanNumbers,
    MeanSettings,
    NaiveBayesParams,
    Numbers,
)


@dataclass(frozen=True, slots=True)
class FamilyFile:
    """What a file holds of a family, and the name of the densities of its components."""

    settings: type[Any]  # of a mixture, beside the options of all
    numbers: type[Numbers]  # what is found
    densities: str
    trained: type[Any] | None = None  # what naive Bayes is asked for


FAMILIES: Final[dict[str, FamilyFile]] = {
    "gaussian": FamilyFile(GaussianSettings, GaussianNumbers, "gaussian", DiscriminantParams),
    "multinomial": FamilyFile(CountSettings, CountNumbers, "multinomial", NaiveBayesParams),
    "bernoulli": FamilyFile(CountSettings, CountNumbers, "bernoulli", NaiveBayesParams),
    # Families of counts that are given by their means need no line of their own.
    **{
        name: FamilyFile(MeanSettings, MeanNumbers, name)
        for name in names()
        if name not in ("gaussian", "multinomial", "bernoulli")
    },
    "variational-gaussian": FamilyFile(GaussianPrior, GaussianBeliefNumbers, "gaussian"),
    "variational-multinomial": FamilyFile(CountPrior, CountBeliefNumbers, "multinomial"),
    "variational-bernoulli": FamilyFile(CountPrior, PresenceBeliefNumbers, "bernoulli"),
}


def settings_of(known: Known) -> type[Any]:
    """The record of what a mixture of the family at hand was asked for."""
    return FAMILIES[known[FAMILY]].settings


def numbers_for(known: Known) -> type[Numbers]:
    """The record of what was found of the family at hand."""
    return FAMILIES[known[FAMILY]].numbers
