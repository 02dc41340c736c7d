"""Which evidence can judge a definition: what reaches it, and holds while nothing is changed.

All definitions are watched at once while each piece of evidence runs once: golden cases and tests
that cite ten clauses would run ten times otherwise, and that took most of the time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from refclust.testing.evidence.forked import Tell, allow, ran
from refclust.testing.evidence.judges import Judge
from refclust.testing.evidence.live import Place

_WATCHED: Final = 600.0  # seconds of the processor for one piece of evidence
_ORDER: Final = {"golden": 0, "property": 1, "doctest": 2}


@dataclass(slots=True)
class Bench:
    """The judges of one definition, the fastest first, with their seconds.

    ``broken`` names those that fail without any change, or do not end.
    """

    judges: list[tuple[Judge, float]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def benches(cases: Sequence[tuple[Place, Sequence[Judge]]]) -> list[Bench]:
    """The bench of each definition, of all the evidence that cites its clause."""
    case_benches = [Bench() for _ in cases]
    for judges, citing in _groups(cases):
        places = list(dict.fromkeys(cases[number][0] for number in citing))
        observations = _watched(places, judges)
        for number in citing:
            own = places.index(cases[number][0])
            for judge, (reached, fails, seconds) in zip(judges, observations, strict=True):
                if fails:
                    case_benches[number].broken.append(judge.name)
                elif own in reached:
                    case_benches[number].judges.append((judge, seconds))
    for bench in case_benches:
        bench.judges.sort(key=lambda timed_judge: (_ORDER[timed_judge[0].kind], timed_judge[1]))
    return case_benches


def _groups(
    cases: Sequence[tuple[Place, Sequence[Judge]]],
) -> Iterator[tuple[list[Judge], tuple[int, ...]]]:
    """The judges that judge the same definitions, together: each group is run by itself.

    So nothing that other evidence has worked out, and left in some cache, hides a call.
    """
    known: dict[tuple[str, str], Judge] = {}
    citing: dict[tuple[str, str], list[int]] = {}
    for number, (_, judges) in enumerate(cases):
        for judge in judges:
            known.setdefault((judge.kind, judge.name), judge)
            citing.setdefault((judge.kind, judge.name), []).append(number)
    groups: dict[tuple[int, ...], list[Judge]] = {}
    for name, numbers in citing.items():
        groups.setdefault(tuple(numbers), []).append(known[name])
    for numbers_of_group, judges_of_group in groups.items():
        yield judges_of_group, numbers_of_group


def _watched(
    places: Sequence[Place], judges: Sequence[Judge]
) -> list[tuple[list[int], bool, float]]:
    """Of each judge: the places that it reaches, whether it fails already, and its seconds."""

    def watch(tell: Tell) -> None:
        calls: set[int] = set()
        for number, place in enumerate(places):
            place.watch(lambda number=number: calls.add(number))  # type: ignore[misc]
        for judge in judges:
            calls.clear()
            allow(_WATCHED)
            begun = time.process_time()
            fails = judge.fails()
            tell([sorted(calls), fails, time.process_time() - begun])

    observations: list[Any]
    observations, _, _ = ran(watch, _WATCHED)
    # What is not told did not end, or what ran before it did not: it judges nothing.
    observations += [[[], True, 0.0]] * (len(judges) - len(observations))
    return [(reached, fails, seconds) for reached, fails, seconds in observations]
