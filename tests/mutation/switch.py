"""Which mutant is on: a number that compiled code and Python both read when they run.

``switched(7)`` is whether number 7 is on, and notes that somebody asked. In compiled code it is a
load that no compiler may move or leave out, from an address that this process and all that are
forked from it share; such code must not be kept for other processes. Generated code is written
once for every mutant that its writing asks for, and the number chooses among them when it runs.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types

MOST: Final = 1 << 14  # mutants
_now: Final = ctypes.c_int64(0)
_reached: Final = (ctypes.c_uint8 * MOST)()
_writing = threading.local()
spoiled: Final[set[int]] = set()  # mutants that cannot be

_LONG, _BYTE = ir.IntType(64), ir.IntType(8)
_numba: Any = extending  # it tells no types


def turn(number: int) -> None:
    """Switch a mutant on; 0 is the original."""
    _now.value = number


def reached() -> frozenset[int]:
    """The numbers that somebody asked for since this was last called."""
    numbers = frozenset(number for number, asked in enumerate(bytes(_reached)) if asked)
    ctypes.memset(_reached, 0, MOST)
    return numbers


def spoil(number: int, value: Any) -> Any:
    """Note that a mutant cannot be, and go on with the original."""
    spoiled.add(number)
    return value


def switched(number: int) -> bool:
    """Whether a mutant is on."""
    copy: _Copy | None = getattr(_writing, "copy", None)
    if copy is not None:
        copy.asked.add(number)
        return copy.number == number
    _reached[number] = 1
    return _now.value == number


def _typed(context: Any) -> Any:  # noqa: ARG001
    return lambda number: types.boolean  # noqa: ARG005


def _lowered(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    number = context.cast(builder, args[0], signature.args[0], types.int64)
    _mark(builder, number)
    return builder.icmp_signed("==", _loaded(builder), number)


_numba.type_callable(switched)(_typed)
_numba.lower_builtin(switched, types.Integer)(_lowered)


def _pointer(builder: Any, place: Any, kind: Any) -> Any:
    address = ir.Constant(_LONG, ctypes.addressof(place))
    return builder.inttoptr(address, kind.as_pointer())


def _loaded(builder: Any) -> Any:
    # Atomic, so that it is neither moved out of a loop nor left out.
    return builder.load_atomic(_pointer(builder, _now, _LONG), ordering="monotonic", align=8)


def _mark(builder: Any, number: Any) -> None:
    place = builder.gep(_pointer(builder, _reached, _BYTE), [number])
    builder.store(ir.Constant(_BYTE, 1), place)


class _Copy:
    """One writing of generated code: which mutant is on in it, and which were asked for."""

    def __init__(self, number: int) -> None:
        self.number, self.asked = number, set[int]()


@contextmanager
def _copy(number: int) -> Iterator[_Copy]:
    before = getattr(_writing, "copy", None)
    _writing.copy = _Copy(number)
    try:
        yield _writing.copy
    finally:
        _writing.copy = before


@contextmanager
def originals() -> Iterator[None]:
    """Write no mutant of generated code for a while: what is asked for cannot be."""
    with _copy(0) as copy:
        yield
    spoiled.update(copy.asked)


def generated(function: Callable[..., Any]) -> Any:
    """A function of LLVM code, as the plugin has it, with a copy of its code for each mutant."""

    @wraps(function)
    def typed(*args: Any) -> Any:
        with _copy(0):
            made = function(*args)
        return None if made is None else (made[0], _chosen(made[1]))

    return _numba.intrinsic(typed)


def _chosen(generate: Callable[..., Any]) -> Callable[..., Any]:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        outer = getattr(_writing, "copy", None)
        if outer is not None:  # called by generated code, which is copied already, or not at all
            return generate(context, builder, signature, args)
        before = builder.block
        original = builder.append_basic_block("original")
        builder.position_at_end(original)
        with _copy(0) as copy:
            value = generate(context, builder, signature, args)
        ends, cases = [(builder.block, value)], []
        for number in sorted(copy.asked):
            place = builder.append_basic_block(f"mutant.{number}")
            known = len(builder.function.blocks)
            builder.position_at_end(place)
            try:
                with _copy(number):
                    other = generate(context, builder, signature, args)
                fits = getattr(other, "type", None) == getattr(value, "type", None)
            except Exception:  # whatever a changed writer makes of itself
                fits = False
            if fits:
                ends.append((builder.block, other))
                cases.append((number, place))
            else:
                spoiled.add(number)
                del builder.function.blocks[known - 1 :]  # nothing leads there
        return _joined(builder, before, original, cases, ends)

    return write


def _joined(
    builder: Any, before: Any, original: Any, cases: list[Any], ends: list[tuple[Any, Any]]
) -> Any:
    """Choose among the copies, and go on with what the chosen one answers."""
    end = builder.append_basic_block("end")
    for block, _ in ends:
        builder.position_at_end(block)
        builder.branch(end)
    builder.position_at_end(before)
    for number, _ in cases:
        _mark(builder, ir.Constant(_LONG, number))
    choice = builder.switch(_loaded(builder), original)
    for number, place in cases:
        choice.add_case(ir.Constant(_LONG, number), place)
    builder.position_at_end(end)
    value = ends[0][1]
    if value is None:
        return None
    merged = builder.phi(value.type)
    for block, other in ends:
        merged.add_incoming(other, block)
    return merged
