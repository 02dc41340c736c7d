"""Which mutants a compiled function can hold: those that leave the types of its variables alone.

Both sides of a condition have one type in compiled code, so a mutant of another type would change
the original, too, or would not compile. Each function is typed with all its mutants first, and
where that differs from the function as it was, with each of them alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from numba.core import compiler as numba_compiler
from numba.core import compiler_machinery, dispatcher, typed_passes, types

from tests.mutation import switch
from tests.mutation.schemata import Schema

# Numba tells no types.
compiler: Any = numba_compiler
machinery: Any = compiler_machinery
passes_of_types: Any = typed_passes
dispatching: Any = dispatcher
unliteral: Any = types.unliteral

Types: TypeAlias = tuple[str, Mapping[str, frozenset[str]]]  # of the answer, of each variable
Make: TypeAlias = Callable[[str, frozenset[int]], Schema]  # a module with some of its mutants


class _Typed(Exception):
    """The types of a function."""

    def __init__(self, types_of: Types) -> None:
        super().__init__("typed")
        self.types_of = types_of


@machinery.register_pass(mutates_CFG=False, analysis_only=True)
class _Stop(machinery.FunctionPass):  # type: ignore[misc]
    _name = "stop_when_typed"

    def __init__(self) -> None:
        machinery.FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Tell the types, and go no further."""
        found: dict[str, set[str]] = {}
        for name, kind in state.typemap.items():
            if not name.startswith(("$", "arg.")):
                found.setdefault(name.partition(".")[0], set()).add(str(unliteral(kind)))
        answer = str(unliteral(state.return_type))
        raise _Typed((answer, {name: frozenset(kinds) for name, kinds in found.items()}))


class _Typing(compiler.CompilerBase):  # type: ignore[misc]
    """A compiler that stops when types are known."""

    def define_pipelines(self) -> list[Any]:
        """The passes up to the types."""
        passes = machinery.PassManager("typing")
        passes.passes.extend(compiler.DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        passes.add_pass(passes_of_types.NopythonTypeInference, "types")
        passes.add_pass(_Stop, "stop")
        passes.finalize()
        return [passes]


class Fitting:
    """Compiles functions with those of their mutants that fit."""

    def __init__(self, make: Make, functions: Mapping[tuple[str, str], frozenset[int]]) -> None:
        self._make, self._functions = make, functions
        self.compiled: set[int] = set()
        self.fits: set[int] = set()
        self.faults: list[str] = []

    def install(self, put: Callable[[Any, str, Any], None] = setattr) -> None:
        """Stand between Numba and its compiler from now on."""
        usual = dispatching._FunctionCompiler._compile_core
        fitting = self

        def compile_core(self: Any, args: Any, return_type: Any) -> Any:
            function = self.py_func
            numbers = fitting._functions.get((function.__module__, function.__qualname__))
            if not numbers:
                return fitting._without_generated(usual, self, args, return_type)
            fitting.compiled |= numbers
            kept = fitting._fitting(self, function, args, return_type, numbers)
            try:
                made, kept = fitting._made(usual, self, args, return_type, kept)
            finally:
                self.py_func = function
            fitting.fits |= kept
            return made

        put(dispatching._FunctionCompiler, "_compile_core", compile_core)

    def _made(
        self, usual: Any, maker: Any, args: Any, return_type: Any, numbers: frozenset[int]
    ) -> tuple[Any, frozenset[int]]:
        """The function compiled with as many of its mutants as can be, and these.

        What types allow may still be refused when code is written: then by halves.
        """
        function = maker.py_func
        try:
            maker.py_func = self._variant(function, numbers)
            if not numbers:
                return self._without_generated(usual, maker, args, return_type), numbers
            return usual(maker, args, return_type), numbers
        except Exception as error:  # of Numba, of LLVM, of whoever writes code
            if not numbers:
                raise
            self.faults.append(f"{function.__qualname__}: {str(error)[:200]}")
            maker.py_func = function
            if len(numbers) == 1:
                return self._made(usual, maker, args, return_type, frozenset())
            ordered = sorted(numbers)
            middle = len(ordered) // 2
            halves = (frozenset(ordered[:middle]), frozenset(ordered[middle:]))
            kept = [self._made(usual, maker, args, return_type, half)[1] for half in halves]
            union = kept[0] | kept[1]
            return self._made(
                usual, maker, args, return_type, union if union != numbers else kept[0]
            )
        finally:
            maker.py_func = function

    def _without_generated(self, usual: Any, maker: Any, args: Any, return_type: Any) -> Any:
        """The function as it is, without mutants of generated code where these are no code."""
        try:
            return usual(maker, args, return_type)
        except RuntimeError as error:
            self.faults.append(f"{maker.py_func.__qualname__}: {str(error)[:200]}")
            with switch.originals():
                return usual(maker, args, return_type)

    def _fitting(
        self, maker: Any, function: Any, args: Any, return_type: Any, numbers: frozenset[int]
    ) -> frozenset[int]:
        plain = self._types(maker, function, args, return_type, frozenset())
        if plain is None:
            return frozenset()  # a mutant of a caller asks for what even the original refuses
        if self._types(maker, function, args, return_type, numbers) == plain:
            return numbers
        return frozenset(
            number
            for number in numbers
            if self._types(maker, function, args, return_type, frozenset([number])) == plain
        )

    def _types(
        self, maker: Any, function: Any, args: Any, return_type: Any, numbers: frozenset[int]
    ) -> Types | None:
        flags = compiler.Flags()
        maker.targetdescr.options.parse_as_flags(flags, maker.targetoptions)
        try:
            compiler.compile_extra(
                maker.targetdescr.typing_context,
                maker.targetdescr.target_context,
                self._variant(function, numbers),
                args=args,
                return_type=return_type,
                flags=maker._customize_flags(flags),
                locals=maker.locals,
                pipeline_class=_Typing,
            )
        except _Typed as typed:
            return typed.types_of
        except Exception:  # of Numba, or of whoever writes the code of a callee
            return None
        raise AssertionError("a function was compiled that should have been typed")

    def _variant(self, function: Any, numbers: frozenset[int]) -> Any:
        """The function with some of its mutants only."""
        tree = self._make(function.__module__, numbers).tree
        [definition] = [
            top
            for top in tree.body
            if isinstance(top, ast.FunctionDef) and top.name == function.__name__
        ]
        definition.decorator_list = []
        space: dict[str, Any] = {}
        code = compile(ast.Module([definition], []), function.__code__.co_filename, "exec")
        exec(code, function.__globals__, space)
        made = space[function.__name__]
        made.__module__, made.__qualname__ = function.__module__, function.__qualname__
        return made
