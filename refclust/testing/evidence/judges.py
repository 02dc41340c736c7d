"""What judges a definition: the golden cases that cite its clause, and its own doctest.

A golden case is answered in all the ``WAYS`` there are. The fast path is one; another can be added
that takes the subject of a vector file, the input and the key to the defining function, and gives
None where it has no answer to that key. (The tests below ``tests/formulas`` that cite a clause hold
golden cases against its formula as well.)
"""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, Literal, TypeAlias

from refclust.backends.session import Session
from refclust.testing.evidence.live import Place
from refclust.vectors import verify
from refclust.vectors.answers import Answer
from refclust.vectors.runners import subjects
from refclust.vectors.verify import GoldenCase, VectorFile

WitnessKind: TypeAlias = Literal["golden", "property", "doctest"]
Way: TypeAlias = Callable[[str, dict[str, Any], str], "Answer | None"]


@dataclass(frozen=True, slots=True)
class Judge:
    """One piece of evidence: ``fails`` runs it and tells whether it fails."""

    kind: WitnessKind
    name: str
    fails: Callable[[], bool]


def fast(subject: str, inputs: dict[str, Any], key: str) -> Answer:
    """The answer of the fast path, on the reference backend."""
    session = Session("reference")
    if key == verify.WHOLE_CASE:
        return subjects.refusal(subject, inputs, session)
    return subjects.answer(subject, inputs, key, session)


# Each answer to a case is worked out by itself here, so that only the answers that reach a
# definition need judge it. Elsewhere they are parts of one fit, remembered from key to key.
_APART: Final = ("metrics.external", "metrics.contingency")

# All ways to answer a golden case; each must meet the vectors.
WAYS: list[Way] = [fast]


def judged_by(clause: str) -> list[Judge]:
    """The golden cases that cite a clause, those of metrics an answer at a time."""
    return [judge for ids, judges in _golden() if clause in ids for judge in judges]


def wrong(
    file: VectorFile,
    case: GoldenCase,
    keys: Iterable[str] | None = None,
    ways: Iterable[Way] | None = None,
) -> bool:
    """Whether some way answers a key of a case in another way than the vector says.

    An answer that fails altogether is wrong, too.
    """
    for way in WAYS if ways is None else ways:
        try:
            if verify.differs(file, case, way, keys):
                return True
        except Exception:
            return True
    return False


@cache
def _golden() -> tuple[tuple[frozenset[str], list[Judge]], ...]:
    """The judges of each golden case with the clauses that it cites; made once, for all clauses."""
    return tuple(
        (frozenset(case.formulas), list(_judges(file, case)))
        for file in verify.load()
        for case in file.cases
    )


def _judges(file: VectorFile, case: GoldenCase) -> Iterator[Judge]:
    name = f"{file.name}: {case.id}"
    if file.subject in _APART:
        for key, _ in verify.keys(case):
            yield Judge("golden", f"{name}: {key}", partial(wrong, file, case, (key,)))
    else:
        yield Judge("golden", name, partial(wrong, file, case))


def own_doctest(place: Place) -> list[Judge]:
    """The doctest of a definition, if it has one."""
    module = importlib.import_module(place.module)
    finder = doctest.DocTestFinder(recurse=False)
    doctests = finder.find(place.object(), place.qualname, module=module, globs=vars(module).copy())

    def fails() -> bool:
        runner = doctest.DocTestRunner(verbose=False)
        for test in doctests:
            runner.run(test, out=lambda _: None, clear_globs=False)
        return runner.failures > 0

    name = f"{place.module}:{place.qualname}"
    return [Judge("doctest", name, fails)] if any(test.examples for test in doctests) else []
