"""Random streams: the Mersenne Twister written out, so that other languages can follow it.

The witness is independent of Python's own generator: MT19937 (Matsumoto & Nishimura 1998), seeded
by the array of 32-bit digits of the seed, 53 bits of two outputs to a number.
"""

from __future__ import annotations

from fractions import Fraction

from .values import Json
from .writer import VectorFile

WORDS, SHIFT, MASK = 624, 397, 0xFFFFFFFF


class Twister:
    """MT19937."""

    def __init__(self, seed: int) -> None:
        key = [(seed >> 32 * i) & MASK for i in range(max(1, (seed.bit_length() + 31) // 32))]
        self.state = [19650218]
        for i in range(1, WORDS):
            last = self.state[-1]
            self.state.append((1812433253 * (last ^ last >> 30) + i) & MASK)
        position, digit = 1, 0
        for _ in range(max(WORDS, len(key))):
            self._mix(position, 1664525, key[digit] + digit)
            position, digit = self._next(position), (digit + 1) % len(key)
        for _ in range(WORDS - 1):
            self._mix(position, 1566083941, -position)
            position = self._next(position)
        self.state[0] = 0x80000000
        self.used = WORDS

    def _mix(self, position: int, factor: int, addend: int) -> None:
        last = self.state[position - 1]
        mixed = (self.state[position] ^ (last ^ last >> 30) * factor) + addend
        self.state[position] = mixed & MASK

    def _next(self, position: int) -> int:
        if position + 1 == WORDS:
            self.state[0] = self.state[-1]
            return 1
        return position + 1

    def word(self) -> int:
        """The next 32 bits."""
        if self.used == WORDS:
            for i in range(WORDS):
                joined = self.state[i] & 0x80000000 | self.state[(i + 1) % WORDS] & 0x7FFFFFFF
                twist = 0x9908B0DF if joined & 1 else 0
                self.state[i] = self.state[(i + SHIFT) % WORDS] ^ joined >> 1 ^ twist
            self.used = 0
        y = self.state[self.used]
        self.used += 1
        y ^= y >> 11
        y ^= y << 7 & 0x9D2C5680
        y ^= y << 15 & 0xEFC60000
        return y ^ y >> 18

    def number(self) -> Fraction:
        """The next number in [0, 1), a multiple of 2**-53."""
        return Fraction((self.word() >> 5 << 26) + (self.word() >> 6), 2**53)

    def below(self, k: int) -> int:
        """The next index below k."""
        return int(k * self.number())


def _list(values: list[int] | list[Fraction]) -> Json:
    return {"list": [{"exact": str(value)} for value in values]}


def files() -> list[VectorFile]:
    """The file of random streams."""
    file = VectorFile(
        "05-numbers/sampling.json",
        "numbers.sampling",
        "Random numbers, indices and shuffles",
        {
            "numbers": "the first numbers of the stream, multiples of 2**-53",
            "indices": "the first indices below k",
            "order": "the items 0 .. s-1 shuffled",
        },
        ["NUM-RAND"],
    )
    for seed in (0, 1, 2, 42, 2**32 - 1, 2**32, 2**64 + 3, 10**40):
        twister = Twister(seed)
        numbers = [twister.number() for _ in range(5)]
        file.add(f"stream-{seed}", {"seed": str(seed)}, {"numbers": _list(numbers)})
        for k in (1, 2, 10, 1000, 2**53):
            twister = Twister(seed)
            indices = [twister.below(k) for _ in range(8)]
            given: dict[str, Json] = {"seed": str(seed), "k": str(k)}
            file.add(f"below-{seed}-{k}", given, {"indices": _list(indices)})
        for s in (0, 1, 2, 7, 700):
            twister, order = Twister(seed), list(range(s))
            for last in range(s - 1, 0, -1):
                chosen = twister.below(last + 1)
                order[last], order[chosen] = order[chosen], order[last]
            given = {"seed": str(seed), "s": str(s)}
            file.add(f"shuffle-{seed}-{s}", given, {"order": _list(order)})
    return [file]
