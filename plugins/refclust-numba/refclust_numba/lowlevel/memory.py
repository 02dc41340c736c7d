"""Arrays inside generated code: the only place where an address is made.

Generated code gets arrays and places in them, never addresses: an array that is an argument lives
as long as the code that uses it. Places are counted in numbers from the beginning of the array,
which has to be contiguous. In a checked build (see ``refclust_numba.lowlevel.build``) every access
is held against the bounds and the alignment of its array; outside of them is an ``IndexError``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

from refclust_numba.lowlevel.build import CHECKED

FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
INT, LONG = ir.IntType(32), ir.IntType(64)
CONTRACT: Final = ("contract",)
tools: Any = cgutils


@dataclass(frozen=True, slots=True)
class Memory:
    """An array as generated code sees it."""

    pointer: Any
    count: Any  # numbers in it
    number: Any  # their kind
    name: str
    writable: bool


class Code:
    """Writes code: integers, loops, and access to the arrays among the arguments.

    A place is a sum of parts; each part is an integer, known now or when the code runs, or a pair
    of them to be multiplied.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder = context, builder
        self._signature, self._args = signature, args

    def memory(self, position: int) -> Memory:
        """The array that is an argument."""
        kind = self._signature.args[position]
        if not (isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned):
            raise TypeError(f"argument {position} is {kind}, not a contiguous array")
        array = self.context.make_array(kind)(self.context, self.builder, self._args[position])
        number = self.context.get_data_type(kind.dtype)
        return Memory(array.data, array.nitems, number, f"argument {position}", kind.mutable)

    def memories(self, *positions: int) -> list[Memory]:
        """Some of the arguments, which are arrays."""
        return [self.memory(position) for position in positions]

    def values(self, *positions: int) -> list[Any]:
        """Some of the arguments, which are numbers."""
        return [self._args[position] for position in positions]

    def number(self, value: int) -> Any:
        """An integer known now."""
        return self.context.get_constant(types.intp, value)

    def _whole(self, value: Any) -> Any:
        return self.number(value) if isinstance(value, int) else value

    def index(self, *parts: Any) -> Any:
        """The sum of integers; each part is one, or a pair to be multiplied."""
        total = None
        for part in parts:
            if isinstance(part, tuple):
                part = self.builder.mul(*[self._whole(factor) for factor in part])
            part = self._whole(part)
            total = part if total is None else self.builder.add(total, part)
        return self.number(0) if total is None else total

    def least(self, a: Any, b: Any) -> Any:
        """The lesser of two integers."""
        a, b = self._whole(a), self._whole(b)
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    def loop(self, count: Any) -> Any:
        """Repeat what is written inside; gives an object whose ``index`` counts."""
        count = self._whole(count)
        return tools.for_range(self.builder, count, intp=count.type)

    def load(self, memory: Memory, *place: Any, lanes: int) -> Any:
        """The vector of so many numbers at a place."""
        kind = ir.VectorType(memory.number, lanes)
        address = self._address(memory, lanes, place)
        return self.builder.load(
            self.builder.bitcast(address, kind.as_pointer()), align=size_of(memory.number)
        )

    def scalar(self, memory: Memory, *place: Any) -> Any:
        """The number at a place."""
        return self.builder.load(self._address(memory, 1, place))

    def store(self, value: Any, memory: Memory, *place: Any) -> None:
        """Put a vector or a number at a place."""
        wide = isinstance(value.type, ir.VectorType)
        number, lanes = (value.type.element, value.type.count) if wide else (value.type, 1)
        if number != memory.number or not memory.writable:
            raise TypeError(f"{memory.name} cannot take {value.type}")
        address = self._address(memory, lanes, place)
        self.builder.store(
            value, self.builder.bitcast(address, value.type.as_pointer()), align=size_of(number)
        )

    def fetch(self, memory: Memory, *place: Any) -> None:
        """Ask for the line of memory around a place that will be read soon."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, INT, INT, INT])
        function = self.builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        # Nothing is read, so a place outside of the array does no harm.
        address = self.builder.gep(memory.pointer, [self.index(*place)])
        numbers = [ir.Constant(INT, v) for v in (0, 2, 1)]
        self.builder.call(function, [self.builder.bitcast(address, byte), *numbers])

    def next_ticket(self, memory: Memory, *place: Any) -> Any:
        """The integer at a place, which goes up by one: no two threads get the same."""
        increment = ir.Constant(memory.number, 1)
        address = self._address(memory, 1, place)
        return self.builder.atomic_rmw("add", address, increment, "monotonic")

    def none(self) -> Any:
        """What a function returns that returns nothing."""
        return self.context.get_dummy_value()

    def _address(self, memory: Memory, lanes: int, place: Any) -> Any:
        index = self.index(*place)
        address = self.builder.gep(memory.pointer, [index])
        if CHECKED:
            self._check(memory, index, lanes, address)
        return address

    def _check(self, memory: Memory, index: Any, lanes: int, address: Any) -> None:
        build = self.builder
        last = build.sub(memory.count, self.number(lanes))
        outside = build.or_(
            build.icmp_signed("<", index, self.number(0)), build.icmp_signed(">", index, last)
        )
        odd = build.urem(build.ptrtoint(address, LONG), ir.Constant(LONG, size_of(memory.number)))
        wrong = build.or_(outside, build.icmp_unsigned("!=", odd, ir.Constant(LONG, 0)))
        with build.if_then(wrong, likely=False):
            said = f"{lanes} numbers at a place outside of the array ({memory.name})"
            self.context.call_conv.return_user_exc(build, IndexError, (said,))


def splat(builder: Any, value: Any, lanes: int) -> Any:
    """A number in every lane of a vector."""
    empty = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(INT, 0))
    mask = ir.Constant(ir.VectorType(INT, lanes), [0] * lanes)
    return builder.shuffle_vector(first, empty, mask)


def size_of(number: Any) -> int:
    """How many bytes a number of some kind takes."""
    if isinstance(number, ir.IntType):
        return int(number.width) // 8
    return 4 if number == FLOAT else 8
