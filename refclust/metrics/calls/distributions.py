"""Entropy and divergence as calls on distributions (chapter 43)."""

from __future__ import annotations

from collections.abc import Iterable

from refclust.data.accepting.spellings import spelled
from refclust.errors import BadDistribution
from refclust.formulas import information
from refclust.formulas.undefined import Undefined
from refclust.numbers.real import Rational, Real

__all__ = ["kl"]


@spelled
def kl(
    q: Iterable[Rational | str], p: Iterable[Rational | str], *, base: Rational | None = None
) -> Real:
    """The divergence KL(q‖p) of two distributions; an error where it is infinite.

    Spec: IT-KL

    >>> kl(["1/2", "1/2"], ["1/2", "1/2"]) == 0
    True
    """
    try:
        return information.kl(q, p, base=base)
    except Undefined as infinite:
        raise BadDistribution(
            f"KL(q‖p) is infinite: {infinite.reason}; smooth p, or leave out what q alone has"
        ) from None
