"""The merge law: answers for parts of the rows make the answer for all of them (BK-MERGE).

A story is told once by the reference about all rows, and by the backend about each part of a cut.
The answers of the parts to one call, merged, must be right for the whole. Cuts are into rows of any
order, into single rows, into parts without any row; all parts are prepared before the first is
asked, as if each lay on a machine of its own. A draw over the parts is decided by their masses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from refclust.backends.protocol import Backend, Estimate, Problem
from refclust.backends.traits import with_traits
from refclust.data.dataset import Dataset
from refclust.kernels.clusters.masses import part_of_draw
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.contracts.merging import no_rows
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.numbers.nearest import nearest
from refclust.numbers.sampling import below, shuffled, stream
from refclust.testing.checks.stories import RowNumbers, Story, stories

_DRAWS: Final = (0.0, 0.3, 0.5, 0.75, 1.0 - 2.0**-53)
_FEW: Final = 50  # rows that are cut into single ones, too
_MASS: Final = "seeding.mass"
_BEYOND: Final = "seeding.beyond"


def merged_kernels() -> frozenset[str]:
    """The kernels that the check calls.

    >>> "kmeans.accumulate" in merged_kernels(), "kmeans.means" in merged_kernels()
    (True, False)
    """
    return frozenset(name for name, kernel in KERNELS.items() if kernel.merge or name == _BEYOND)


def merge_faults(backend: Backend, *, quick: bool = False) -> list[tuple[str, int, str | None]]:
    """For each kernel that was tried: its name, the number of calls, the first fault."""
    trial = _Trial(backend)
    for story in stories(quick=quick):
        cuts = _cuts(story)
        for parts in cuts[1:] if quick else cuts:
            trial.merge(_Cut(story, _joined(story, parts)))
    return [(kernel, calls, trial.faults.get(kernel)) for kernel, calls in trial.calls.items()]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A story, and the parts into which its rows are cut."""

    story: Story
    parts: list[RowNumbers]

    @property
    def rows(self) -> RowNumbers:
        """All rows, in the order of the parts."""
        return [i for part in self.parts for i in part]

    def named(self) -> str:
        """The cut in words."""
        sizes = [str(len(part)) for part in self.parts]
        listing = ", ".join(sizes[:8]) + (", …" if len(sizes) > 8 else "")
        return f"{self.story.name} in parts of {listing} rows"


def _cuts(story: Story) -> list[list[RowNumbers]]:
    """Cuts of the rows: two parts, some parts of which one is empty, single rows in any order."""
    n, rng = story.n, stream(story.n)
    mixed = shuffled(rng, range(n))
    some = sorted(below(rng, n + 1) for _ in range(3))
    single = range(1, n) if n <= _FEW else sorted(below(rng, n) for _ in range(5))
    return [
        _parts(list(range(n)), [n // 3]),
        _parts(mixed, [*some, some[1]]),
        _parts(mixed[::-1], [0, *single]),
    ]


def _parts(order: list[int], edges: Sequence[int]) -> list[RowNumbers]:
    return [order[a:b] for a, b in pairwise([0, *sorted(edges), len(order)])]


def _joined(story: Story, parts: list[RowNumbers]) -> list[RowNumbers]:
    """The same cut, but rows without weight go with those after them: alone they are no data."""
    joined: list[RowNumbers] = []
    left: list[int] = []
    for part in parts:
        rows = [*left, *part]
        if story.weighs(rows):
            joined.append(rows)
            left = []
        elif part:
            left = rows
        else:
            joined.append([])
    last = next(place for place in reversed(range(len(joined))) if joined[place])
    joined[last] = [*joined[last], *left]
    return joined


@dataclass(slots=True)
class _Teller:
    """Answers a story about some rows; what the backend does not answer, the reference does."""

    plain: Any  # the rows as the reference takes them
    ready: Any = None
    function: Callable[[str, tuple[Any, ...]], Callable[..., Any] | None] = lambda *_: None
    answers: list[Any] = field(default_factory=list)
    own: list[bool] = field(default_factory=list)  # whether the backend was asked
    asked: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def call(self, kernel: str, *args: Any) -> Any:
        """Answer one call. An error is an answer, too, and then the reference goes on."""
        function = self.function(kernel, args)
        self.asked.append((kernel, args))
        self.own.append(function is not None)
        try:
            answer = function(self.ready, *args) if function else None
        except Exception as error:
            self.answers.append(error)
            return KERNELS[kernel].reference(self.plain, *args)
        if function is None:
            answer = KERNELS[kernel].reference(self.plain, *args)
        self.answers.append(answer)
        return answer


class _Trial:
    """A backend, what it was asked, and what was wrong."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        names = merged_kernels()
        self.offered = {name: f for name, f in backend.kernels().items() if name in names}
        self.calls: dict[str, int] = {}
        self.faults: dict[str, str] = {}

    def merge(self, cut: _Cut) -> None:
        """Tell a story in parts, merge what they answer, and judge it by the whole."""
        whole = _Teller(_for_reference(cut.story.part(cut.rows)))
        cut.story.tell(whole.call, cut.rows)
        tellers = [self._teller(cut.story, part) for part in cut.parts]
        for teller, part in zip(tellers, cut.parts, strict=True):
            cut.story.tell(teller.call, part)
        for place, (kernel, args) in enumerate(whole.asked):
            calls = sum(teller.own[place] for teller in tellers)
            if calls:
                answers = [teller.answers[place] for teller in tellers]
                fault = _fault(kernel, whole.plain, args, whole.answers[place], answers)
                self._tell(kernel, calls, fault, cut)
        if _BEYOND in self.offered and _MASS not in self.faults:
            for place, (kernel, _) in enumerate(list(whole.asked)):
                if kernel == _MASS:
                    self._draw(cut, whole, tellers, place)

    def _teller(self, story: Story, part: RowNumbers) -> _Teller:
        """Whoever answers about a part: the backend, about no rows the reference."""
        if not part:
            data = story.data
            return _Teller(no_rows(data.d) if isinstance(data, Dataset) else story.part(part))
        data = story.part(part)
        problem = Problem("labels", len(part))
        if isinstance(data, Dataset):
            problem = Problem(data.kind, data.n, len(data.matrix.values), 3)
        backend, offered = self.backend, self.offered

        def function(kernel: str, args: tuple[Any, ...]) -> Callable[..., Any] | None:
            # What a backend declines is not asked here: other checks tell whether it may.
            if kernel in self.faults or kernel not in offered:
                return None
            asked = with_traits(problem, data, args)
            if not isinstance(backend.supports(kernel, asked), Estimate):
                return None
            return lambda *args: backend.export(offered[kernel](*args))

        return _Teller(_for_reference(data), backend.prepare(data), function)

    def _draw(self, cut: _Cut, whole: _Teller, tellers: list[_Teller], place: int) -> None:
        """A draw over several parts falls on the row on which it falls over the whole."""
        masses = [teller.answers[place][0] for teller in tellers]
        near, by = whole.asked[place][1]
        potentials = [teller.asked[place][1][0] for teller in tellers]
        for r in (*_DRAWS, *_edges(masses)):
            due = KERNELS["seeding.locate"].reference(whole.plain, near, r, by)
            part, passed = part_of_draw(masses, r)
            row = -1
            asked = False
            if part >= 0:
                inside = tellers[part].call(_BEYOND, potentials[part], passed, by)
                asked = tellers[part].own[-1]
                row = sum(map(len, cut.parts[:part])) + inside
            wrong = f"the draw {r!r} over the parts falls on row {row} instead of {due}"
            if asked or row != due:
                self._tell(_BEYOND, 1, wrong if row != due else None, cut)

    def _tell(self, kernel: str, calls: int, fault: str | None, cut: _Cut) -> None:
        self.calls[kernel] = self.calls.get(kernel, 0) + calls
        if fault:
            self.faults.setdefault(kernel, f"{fault} [merged: {cut.named()}]")


def _for_reference(data: Any) -> Any:
    return data if isinstance(data, LabelPairs) else Points(data)


def _fault(kernel: str, points: Any, args: Any, due: Any, answers: list[Any]) -> str | None:
    """What is wrong with the answers of the parts, put together."""
    contract, merge = KERNELS[kernel].contract, KERNELS[kernel].merge
    assert merge is not None
    for answer in answers:
        if isinstance(answer, Exception):
            return f"it raised {type(answer).__name__}: {answer}"
        malformed = contract.malformed(answer)
        if malformed:
            return f"malformed: {malformed}"
    try:
        merged = merge(answers if merge.ordered else answers[::-1])
        # Some bounds depend on the rows: such a contract wants to see them.
        judged = getattr(contract, "judged", None)
        fault = judged(points, args, due, merged) if judged else contract.fault(due, merged)
    except Exception as error:
        return f"the answers cannot be merged: {type(error).__name__}: {error}"
    return fault and f"{fault}: the parts do not add up to the whole"


def _edges(masses: Sequence[Fraction]) -> Iterator[float]:
    """Draws that fall on the very end of a part, or as close to it as doubles come."""
    whole, reached = sum(masses, Fraction(0)), Fraction(0)
    for mass in masses:
        reached += mass
        if reached < whole:
            share = reached / whole
            yield min(nearest(share.numerator, share.denominator), 1.0 - 2.0**-53)
