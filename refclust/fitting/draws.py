"""The random numbers of a fit: all that is random comes from one seed (NUM-RAND of chapter 05)."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from refclust.numbers.sampling import stream


@dataclass(slots=True)
class Draws:
    """The random numbers of a seed, and how many of them have been used.

    Spec: NUM-RAND
    """

    seed: int
    used: int = 0
    _stream: Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Go to the place in the stream."""
        self._stream = stream(self.seed)
        for _ in range(self.used):
            self._stream.random()

    def next(self) -> float:
        """The next random number.

        Spec: NUM-RAND

        >>> Draws(0, used=1).next() == [Draws(0).next(), stream(0).random()][0]
        False
        """
        self.used += 1
        return self._stream.random()
