"""A small mutation tester: ``python -m tests.mutation refclust/numbers/nearest.py tests/numbers``.

Each mutant of the first file (a comparison, an operator, a constant, a condition or a statement
changed) is loaded in place of the module, in a process of its own, and the given tests run until
one fails. Survivors are printed: a missing test, or a change that changes nothing.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

from refclust.testing.evidence.forked import Tell, ran
from tests.mutation.changes import mutants

SECONDS = 60.0  # of the processor


class _Replacement(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads a mutant where its module is imported."""

    def __init__(self, name: str, path: Path, text: str) -> None:
        self.name, self.path, self.text = name, path, text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.text, str(self.path), "exec"), module.__dict__)


def survives(name: str, path: Path, text: str, tests: list[str]) -> bool:
    """Run the tests on a mutant; one that hangs counts as found out."""

    def run(tell: Tell) -> None:
        sys.meta_path.insert(0, _Replacement(name, path, text))
        options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts="]
        options += ["-o", "filterwarnings=default", "--assert=plain"]
        tell(int(pytest.main([*options, *tests])))

    told, end, _ = ran(run, SECONDS)
    return told == [0] and not end


def main(arguments: list[str]) -> int:
    """Mutate one module, print the survivors, return 1 if there are any."""
    path, tests = Path(arguments[0]), arguments[1:]
    name = ".".join(path.with_suffix("").parts)
    assert hypothesis.__version__  # loaded once, here, and inherited by every child
    source = path.read_text(encoding="utf-8")
    if not survives(name, path, source, tests):
        print("the tests fail on the module as it is")
        return 2
    count = alive = 0
    for mutant in mutants(source):
        count += 1
        if survives(name, path, mutant.text, tests):
            alive += 1
            print(f"{path}:{mutant.line}: survived: {mutant.kind}:{mutant.after}", flush=True)
    print(f"{count} mutants, {count - alive} killed, {alive} survived")
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
