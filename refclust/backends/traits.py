"""What is special about a call: facts by which a backend may decline it (chapter 80, BK-SELECT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from refclust.backends.protocol import Problem
from refclust.data.dataset import SINGLES, Dataset
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.shared import Rule

TRAITS: Final = (
    "weights",  # rows or labels have weights of their own
    "float32",  # the numbers are 32-bit floats
    "cosine",  # angles, not distances
    "hard",  # each row belongs to its most probable component
    "top-m",  # each row is shared among its m most probable components
    "draws",  # components are drawn
    "full",  # normal densities with whole covariances
    "diagonal",
    "spherical",
)
_WORDS: Final = frozenset(("cosine", "full", "diagonal", "spherical"))


def traits(data: Any, args: Sequence[Any]) -> frozenset[str]:
    """The traits of a call, told by its data and arguments.

    >>> sorted(traits(None, ("cosine",)))
    ['cosine']
    """
    trait_names: set[str] = set()
    if getattr(data, "weights", None) is not None:
        trait_names.add("weights")
    if isinstance(data, Dataset) and data.matrix.values.format == SINGLES:
        trait_names.add("float32")
    for arg in args:
        match arg:
            case str() if arg in _WORDS:
                trait_names.add(arg)
            case Gaussians():
                trait_names.add(arg.form)
            case Rule(draws=draws) if draws is not None:
                trait_names.add("draws")
            case Rule(top=top) if top:
                trait_names.add("hard" if top == 1 else "top-m")
    return frozenset(trait_names)


def with_traits(problem: Problem, data: Any, args: Sequence[Any]) -> Problem:
    """The problem with the traits of a call.

    >>> with_traits(Problem("dense", 3), None, ("cosine",)).traits
    frozenset({'cosine'})
    """
    return replace(problem, traits=traits(data, args))
