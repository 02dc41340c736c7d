"""Which lines of a backend's package run in which check, for which kernel.

A change of a line can be seen only where the line runs, so nothing else is worth trying. What is
compiled cannot be watched: of such definitions all checks of all kernels that name them are tried.
"""

from __future__ import annotations

import ast
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

from refclust.kernels.registry import KERNELS
from refclust.testing.kit import BACKEND, Part, checks
from refclust.testing.scripts.lockstep import Made, Script
from tests.mutation.changes import Mutant
from tests.mutation.judge import Plan, Step
from tests.mutation.reach import Definition, Package, seen_by

Edge: TypeAlias = tuple[str, str]
Lines: TypeAlias = dict[str, list[int]]  # of each module those that ran

_TIMES: Final = 4  # times as long as the original takes, while it is watched
_PLAIN: Final = ("property", "staticmethod", "classmethod", "cache", "lru_cache", "cached_property")


@dataclass(frozen=True, slots=True)
class Watch:
    """One check on the original: how long it took, who was called, what ran for which kernel."""

    name: str
    quick: bool
    seconds: float  # of the processor, while it was watched
    called: frozenset[str]
    ran: Mapping[str, Lines]  # "" stands for what ran outside of any kernel

    def kernels(self, module: str, lines: Collection[int]) -> frozenset[str]:
        """The kernels for which some of these lines run; all that are called if none is known."""
        wanted = frozenset(lines)
        found = {k for k, ran in self.ran.items() if not wanted.isdisjoint(ran.get(module, ()))}
        return self.called if "" in found else frozenset(found)


class Tracer:
    """Notes the lines that run under a folder, for the kernel that a thread is in."""

    def __init__(self, folder: Path) -> None:
        self._prefix = f"{folder}/"
        self._current = threading.local()
        self.ran: dict[str, set[tuple[str, int]]] = {}

    def inside(self, kernel: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that is known to run for a kernel."""

        def run(*args: Any, **options: Any) -> Any:
            before = getattr(self._current, "kernel", "")
            self._current.kernel = kernel
            try:
                return function(*args, **options)
            finally:
                self._current.kernel = before

        return run

    def during(self, run: Callable[[], Any]) -> Any:
        """Run something, and note what runs, in any thread."""
        threading.settrace(self._frame)
        sys.settrace(self._frame)
        try:
            return run()
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def _frame(self, frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(self._prefix):
            return None
        ran = self.ran.setdefault(getattr(self._current, "kernel", ""), set())
        ran.add((name, frame.f_lineno))

        def line(frame: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                ran.add((name, frame.f_lineno))
            return line

        return line

    def lines(self) -> dict[str, Lines]:
        """What ran, by kernel and module."""
        found: dict[str, dict[str, list[int]]] = {}
        for kernel, ran in self.ran.items():
            for name, line in sorted(ran):
                path = name.removeprefix(self._prefix).removesuffix(".py")
                found.setdefault(kernel, {}).setdefault(path.replace("/", "."), []).append(line)
        return found


class _Traced(Part):
    """A backend whose kernels say when they run."""

    def __init__(self, backend: Any, tracer: Tracer) -> None:
        super().__init__(backend, frozenset(backend.kernels()))
        self._tracer = tracer

    def kernels(self) -> dict[str, Callable[..., Any]]:
        """The kernels, each of which tells the tracer."""
        return {name: self._tracer.inside(name, f) for name, f in super().kernels().items()}


def watches(backend: Any, folder: Path, *, full: bool) -> Iterator[Watch]:
    """Run the kit on the original, check by check; a fault of it ends everything."""
    known: set[str] = set()
    for kit in (True, False) if full else (True,):
        for check in checks(quick=kit):
            if check.name in known and check.name != "merge":
                continue
            known.add(check.name)
            tracer = Tracer(folder)
            traced, begin = _Traced(backend, tracer), time.process_time()
            # What the tracer keeps may look like a leak: then only the check itself counts.
            outcomes = tracer.during(lambda: check.run(traced))  # noqa: B023
            seconds = time.process_time() - begin
            if any(one.fault for one in outcomes):
                outcomes = check.run(backend)
            faults = [f"{one.kernel}, {check.name}: {one.fault}" for one in outcomes if one.fault]
            if faults:
                raise SystemExit(f"the kit rejects the original: {faults[0]}")
            called = frozenset(one.kernel for one in outcomes if one.calls)
            yield Watch(check.name, kit, seconds, called, tracer.lines())


def watch_of(fields: Mapping[str, Any]) -> Watch:
    """A watch that was written to a file."""
    return Watch(**{**fields, "called": frozenset(fields["called"])})


class Map:
    """Which checks and which of their kernels can see a change."""

    def __init__(
        self, package: Package, watched: Sequence[Watch], given: Collection[Edge], slack: float
    ) -> None:
        self.package, self.given, self.slack = package, given, slack
        self.watches = sorted(watched, key=lambda one: (not one.quick, one.seconds))
        roots: dict[str, set[Definition]] = {}
        for one in self.watches:
            for kernel, ran in one.ran.items():
                for module, lines in ran.items():
                    roots.setdefault(kernel, set()).update(package.at(module, lines))
        self._ran = frozenset[Definition]().union(*roots.values())
        self._seen = seen_by(package, roots)

    def plan(self, module: str, mutant: Mutant, *, full: bool, wide: bool) -> Plan:
        """The checks to run on a mutant."""
        definitions = {(module, name) for name in mutant.where.split(", ")}
        lines = lines_of(self.package, module, mutant.line, mutant.where)
        if lines and not any(self.package.at(*one) & self._ran for one in lines.items()):
            lines = None  # it may be compiled
        seen = self.seen(definitions)
        steps, elsewhere, called = [], set[str](), set[str]()
        for watch in self.watches:
            if not (full or watch.quick):
                continue
            if lines is None:
                kernels = watch.called if "" in seen else watch.called & seen
            else:
                kernels = frozenset().union(*(watch.kernels(*one) for one in lines.items()))
            if kernels:
                kernels = self._with_others(kernels, watch, wide=wide)
                shown = frozenset(KERNELS) if BACKEND in kernels else kernels
                limit = self.slack + _TIMES * watch.seconds
                steps.append(Step(watch.name, watch.quick, shown, limit))
            called |= kernels
            elsewhere |= watch.called - kernels
        return Plan(tuple(steps), frozenset(called - elsewhere))

    def seen(self, definitions: Iterable[Definition]) -> frozenset[str]:
        """The kernels that reach some definitions."""
        return frozenset[str]().union(*(self._seen.get(one, ()) for one in definitions))

    def reached(self, kernel: str) -> set[Definition]:
        """The definitions that a kernel reaches."""
        return {one for one, kernels in self._seen.items() if kernel in kernels}

    def _with_others(self, kernels: frozenset[str], watch: Watch, *, wide: bool) -> frozenset[str]:
        """With those that make what these are given, and those that are given what these make."""
        if wide or BACKEND in kernels or watch.name == "merge":
            return watch.called
        return watch.called & with_others(kernels, self.given)


def with_others(kernels: Collection[str], edges: Collection[Edge]) -> frozenset[str]:
    """Kernels with those that make what they are given, and those that are given what they make."""
    makers = _reached(kernels, {(after, before) for before, after in edges})
    return makers | _reached(kernels, edges)


def _reached(kernels: Collection[str], edges: Collection[Edge]) -> frozenset[str]:
    found, waiting = set(kernels), list(kernels)
    while waiting:
        one = waiting.pop()
        more = {after for before, after in edges if before == one} - found
        found |= more
        waiting += more
    return frozenset(found)


def given(scripts: Iterable[Script]) -> set[Edge]:
    """Which kernel is given what which other one made."""
    return {
        (one.calls[arg.call].kernel, call.kernel)
        for one in scripts
        for call in one.calls
        for arg in call.args
        if isinstance(arg, Made)
    }


def lines_of(package: Package, module: str, place: int, where: str) -> dict[str, set[int]] | None:
    """The lines that run if a change at a line can be seen, by module; None if nobody can say.

    Of a statement in a function these are its own; of a constant those that name it.
    """
    tree = package.trees[module]
    for top in tree.body:
        if top.lineno <= place <= (top.end_lineno or 0):
            if isinstance(top, ast.Assign | ast.AnnAssign):
                return _users(package, (module, where))
            inner = _statement(top, place)
            return None if inner is None else {module: inner}
    return None


def _statement(top: ast.AST, place: int) -> set[int] | None:
    """The lines of the innermost statement in a plain function that holds a line."""
    if isinstance(top, ast.ClassDef):
        for inner in top.body:
            if inner.lineno <= place <= (inner.end_lineno or 0):
                return _statement(inner, place)
        return None
    if not isinstance(top, ast.FunctionDef) or not all(map(_is_plain, top.decorator_list)):
        return None
    if place < top.body[0].lineno:
        return None  # a default, which is worked out where it is defined
    found: ast.stmt = top
    for node in ast.walk(top):
        if isinstance(node, ast.stmt) and node.lineno <= place <= (node.end_lineno or 0):
            length = (node.end_lineno or 0) - node.lineno
            if length <= (found.end_lineno or 0) - found.lineno:
                found = node
    body = getattr(found, "body", None)
    last = body[0].lineno - 1 if body else found.end_lineno or 0
    return set(range(found.lineno, max(last, found.lineno) + 1))


def _is_plain(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(called, "id", getattr(called, "attr", "")) in _PLAIN


def _users(package: Package, constant: tuple[str, str]) -> dict[str, set[int]] | None:
    """The lines of plain functions that name a constant; None if something else does."""
    found: dict[str, set[int]] = {}
    for module, tree in package.trees.items():
        known = package.imported(tree)
        for top in tree.body:
            if isinstance(top, ast.Assign | ast.AnnAssign) and module == constant[0]:
                targets = top.targets if isinstance(top, ast.Assign) else [top.target]
                if any(getattr(target, "id", "") == constant[1] for target in targets):
                    continue
            for node in ast.walk(top):
                if isinstance(node, ast.ImportFrom | ast.Import | ast.arg):
                    continue
                if not _names(node, module, constant, known):
                    continue
                lines = _statement(top, getattr(node, "lineno", 0))
                if lines is None:
                    return None
                found.setdefault(module, set()).update(lines)
    return found or None


def _names(
    node: ast.AST, module: str, constant: tuple[str, str], known: Mapping[str, list[Any]]
) -> bool:
    if isinstance(node, ast.Name):
        own = module == constant[0] and node.id == constant[1]
        return own or constant in known.get(node.id, ())
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        of = known.get(node.value.id, ())
        return node.attr == constant[1] and (constant[0], "") in of
    return False
