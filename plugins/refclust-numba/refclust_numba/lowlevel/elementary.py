"""Vectors of doubles in generated code: arithmetic, exponentials and logarithms.

``Emit`` writes operations on whole vectors into code that is being generated. Which products and
sums are fused is written down, never left to the compiler: the same bits come out on machines with
and without fused operations.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.memory import Code, Memory, splat, tools

LEAST: Final = -708.0  # exp of less would be subnormal, and counts as 0
INFINITY: Final = float("inf")
_DOUBLE, _LONG, _INT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
VECTOR: Final = ir.VectorType(_DOUBLE, DOUBLES)
# Sums over rows are kept in so many strands, whatever vectors hold: strand s takes the rows whose
# number leaves the rest s, in order. A vector holds one part of the strands.
STRANDS: Final = 8
PARTS: Final = STRANDS // DOUBLES
_WHOLES: Final = ir.VectorType(_LONG, DOUBLES)

# log 2 in two parts: a product of the first with an integer below 2**31 is exact.
_LOG2_HIGH, _LOG2_LOW = 0.6931467056274414, 4.7493250390316726e-07
_PER_LOG2: Final = 1.4426950408889634
_MAGIC: Final = 1.5 * 2.0**52  # a sum with it rounds to an integer, which its last bits hold
# (exp r - 1 - r) / r^2 at the zeros of a Chebyshev polynomial over |r| <= log(2) / 2: the error of
# exp is 1.7e-17 of it.
_EXP: Final = (
    0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062,
    0.0013888888917213717, 0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06,
    2.7620088445409746e-07, 2.510038549551032e-08,
)  # fmt: skip
# (2 atanh s - 2 s) / s^3 in powers of s^2, the same way for m = (1 + s) / (1 - s) within a factor
# sqrt 2 of one: the error of log m is 1.7e-18.
_LOG: Final = (
    0.666666666666667, 0.3999999999989889, 0.28571428626253836, 0.22222211089379496,
    0.1818289243253687, 0.15331611722055008, 0.14617807153417325,
)  # fmt: skip
_ROOT_HALF_BITS: Final = 0x3FE6A09E667F3BCD
_TWO_52_BITS: Final = 0x4330000000000000
_BIAS: Final = 1024  # makes exponents positive
_LEAST_NORMAL: Final = 2.0**-1022


class Emit(Code):
    """Writes operations on vectors of ``DOUBLES`` doubles."""

    def load(self, memory: Memory, *place: Any, lanes: int = DOUBLES) -> Any:
        """The vector at a place."""
        return super().load(memory, *place, lanes=lanes)

    def all(self, value: float) -> Any:
        """A double known now in every lane."""
        return ir.Constant(VECTOR, [value] * DOUBLES)

    def broadcast(self, memory: Memory, *place: Any) -> Any:
        """The double at a place in every lane."""
        return self.splat(self.scalar(memory, *place))

    def splat(self, value: Any) -> Any:
        """A double in every lane."""
        return splat(self.builder, value, DOUBLES)

    def variable(self, start: Any = None) -> Any:
        """A vector that loops may change; it will live in a register."""
        place = tools.alloca_once(self.builder, VECTOR)
        self.builder.store(self.all(0.0) if start is None else start, place)
        return place

    def times(self, a: Any, b: Any) -> Any:
        """a b, rounded."""
        return self.builder.fmul(a, b)

    def plus(self, a: Any, b: Any) -> Any:
        """a + b, rounded."""
        return self.builder.fadd(a, b)

    def minus(self, a: Any, b: Any) -> Any:
        """a - b, rounded."""
        return self.builder.fsub(a, b)

    def fused(self, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once, on every machine."""
        kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
        name = f"llvm.fma.v{DOUBLES}f64"
        return self.builder.call(
            tools.get_or_insert_function(self.builder.module, kind, name), (a, b, c)
        )

    def sqrt(self, x: Any) -> Any:
        """The root of x, rounded once."""
        kind = ir.FunctionType(VECTOR, [VECTOR])
        name = f"llvm.sqrt.v{DOUBLES}f64"
        return self.builder.call(tools.get_or_insert_function(self.builder.module, kind, name), [x])

    def add_product(self, a: Any, b: Any, variable: Any) -> None:
        """Add a b to a variable."""
        self.builder.store(self.fused(a, b, self.builder.load(variable)), variable)

    def add(self, a: Any, variable: Any) -> None:
        """Add a to a variable."""
        self.builder.store(self.plus(self.builder.load(variable), a), variable)

    def where(self, sign: str, a: Any, b: Any, yes: Any, no: Any) -> Any:
        """One vector where a comparison holds (never with what is no number), another elsewhere."""
        return self.builder.select(self.builder.fcmp_ordered(sign, a, b), yes, no)

    def two_sum(self, a: Any, b: Any) -> tuple[Any, Any]:
        """a + b as its rounded value and the exact rest."""
        build = self.builder
        total = build.fadd(a, b)
        part = build.fsub(total, a)
        rest = build.fsub(a, build.fsub(total, part))
        return total, build.fadd(rest, build.fsub(b, part))

    def polynomial(self, x: Any, coefficients: tuple[float, ...]) -> Any:
        """The polynomial with these coefficients, the constant one first."""
        parts = [self.all(c) for c in coefficients]
        while len(parts) > 1:
            # Pairs at a time, so that few operations have to wait for others.
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [self.fused(pair[1], x, pair[0]) if pair[1:] else pair[0] for pair in pairs]
            x = self.times(x, x)
        return parts[0]

    def exp(self, x: Any) -> Any:
        """exp x for LEAST <= x <= 0, within 2 units of 2**-53 of itself."""
        rounded = self.fused(x, self.all(_PER_LOG2), self.all(_MAGIC))
        n = self.minus(rounded, self.all(_MAGIC))
        r = self.fused(n, self.all(-_LOG2_HIGH), x)
        r = self.fused(n, self.all(-_LOG2_LOW), r)
        tail = self.fused(self.times(r, r), self.polynomial(r, _EXP), r)
        value = self.plus(tail, self.all(1.0))
        # The last bits of ``rounded`` are n: they are added to the exponent.
        up = self.builder.shl(self._bits(rounded), self._wholes(52))
        return self._double(self.builder.add(self._bits(value), up))

    def log(self, x: Any) -> Any:
        """Log x for finite x >= 1, within 4 units of 2**-53 of itself or of log 2."""
        count, part = self._exponent(x, 0)
        return self._log(self.minus(part, self.all(1.0)), count)

    def log_of_any(self, x: Any) -> Any:
        """Log x for any double, within 5 units of 2**-53 of itself; no number if x < 0.

        With x = 2**n m and m within a factor sqrt 2 of one, log m errs by 3.2 units of itself (the
        quotient 2, the last sum 1). If n is not 0, log x is at least as large as log m, and one
        more sum is rounded.
        """
        small = self.builder.fcmp_ordered("<", x, self.all(_LEAST_NORMAL))
        count, part = self._exponent(
            self.builder.select(small, self.times(x, self.all(2.0**54)), x), _BIAS
        )
        count = self.builder.select(small, self.minus(count, self.all(54.0)), count)
        value = self._log(self.minus(part, self.all(1.0)), count)
        value = self.where("<", x, self.all(INFINITY), value, x)
        value = self.where("<", x, self.all(0.0), self.all(float("nan")), value)
        return self.where("==", x, self.all(0.0), self.all(-INFINITY), value)

    def log_of_rest(self, x: Any) -> Any:
        """log(1 - x) for 0 <= x < 1, within 8 units of 2**-53 of itself.

        Above sqrt(1/2) the difference from one is x itself, without an error. Between 1/2 and
        there 1 - x errs by half a unit, so its logarithm, 0.34 or more, by 2.9 units of itself
        beside the 5 of ``log_of_any``; below 1/2 the difference is exact.
        """
        count, part = self._exponent(self.minus(self.all(1.0), x), _BIAS)
        gap = self.minus(part, self.all(1.0))
        gap = self.where("==", count, self.all(0.0), self.minus(self.all(0.0), x), gap)
        return self._log(gap, count)

    def _exponent(self, x: Any, bias: int) -> tuple[Any, Any]:
        """The n and m of x = 2**n m, m within a factor sqrt 2 of one; the bias makes n positive."""
        build = self.builder
        above = build.sub(self._bits(x), self._wholes(_ROOT_HALF_BITS - (bias << 52)))
        n = build.lshr(above, self._wholes(52))
        up = build.shl(n, self._wholes(52))
        part = build.add(build.sub(self._bits(x), up), self._wholes(bias << 52))
        count = self._double(build.or_(n, self._wholes(_TWO_52_BITS)))
        return build.fsub(count, self.all(2.0**52 + bias)), self._double(part)

    def _log(self, f: Any, count: Any) -> Any:
        """The logarithm of 2**count (1 + f)."""
        s = self.builder.fdiv(f, self.plus(f, self.all(2.0)))
        z = self.times(s, s)
        tail = self.times(self.times(s, z), self.polynomial(z, _LOG))
        low = self.fused(count, self.all(_LOG2_LOW), tail)
        return self.fused(count, self.all(_LOG2_HIGH), self.plus(self.plus(s, s), low))

    def _wholes(self, value: int) -> Any:
        return ir.Constant(_WHOLES, [value] * DOUBLES)

    def _bits(self, x: Any) -> Any:
        return self.builder.bitcast(x, _WHOLES)

    def _double(self, bits: Any) -> Any:
        return self.builder.bitcast(bits, VECTOR)

    def opposite(self, x: Any) -> Any:
        """-x."""
        return self.builder.fneg(x)

    def lane(self, x: Any) -> Any:
        """The number in the first lane."""
        return self.builder.extract_element(x, ir.Constant(_INT, 0))

    def sums_of_strands(self, vectors: list[Any]) -> Any:
        """One vector that holds the sums of ``DOUBLES`` times ``STRANDS`` numbers in a row.

        Neighbours are added, then neighbouring sums, and so on: ((0 + 1) + (2 + 3)) + ...
        """
        kind = ir.VectorType(_INT, DOUBLES)
        even, odd = (ir.Constant(kind, [2 * i + start for i in range(DOUBLES)]) for start in (0, 1))
        while len(vectors) > 1:
            vectors = [
                self.builder.fadd(
                    self.builder.shuffle_vector(a, b, even), self.builder.shuffle_vector(a, b, odd)
                )
                for a, b in zip(vectors[::2], vectors[1::2], strict=True)
            ]
        return vectors[0]
