"""``refclust trace --evidence``: change each definition, and see whether its evidence minds."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from refclust.cli.output import counted, note, say, say_json
from refclust.errors import BadOption, UnknownClause

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refclust.testing.evidence.run import Result, Trial
    from refclust.trace.scan import Scan


def evidence(
    *,
    schema: str,
    clause: str | None,
    chapter: str | None,
    sample: int | None,
    jobs: int,
    as_json: bool,
) -> bool:
    """Try the evidence of some clauses, keep what was found, and tell whether all of it bites.

    Without a clause or a chapter only what was never tried, or with other code, is tried.
    """
    from refclust.testing.evidence import run
    from refclust.trace.locks import equivalent
    from refclust.trace.locks import mutants as kept
    from refclust.trace.places import checkout
    from refclust.trace.scan import scan

    for name, number in (("--sample", sample), ("--jobs", jobs)):
        if number is not None and number < 1:
            raise BadOption(f"{name} {number}: allowed are 1 and more")
    tree = scan(checkout().root)
    spec = tree.places.spec
    kept.forget(spec, tree)
    trials = _trials(tree, clause, chapter)
    note(f"{counted(len(trials), 'clause')} to try")
    results: list[Result] = []
    same: dict[str, int] = {}
    listed = equivalent.read(spec)

    def done(outcome: Result) -> None:
        results.append(outcome)
        line = _record(outcome, kept.key(tree, outcome.clause))
        kept.record(spec, [line])
        same[outcome.clause] = equivalent.number_of(listed, line)
        share = kept.share(line, same[outcome.clause])
        note(f"{outcome.clause}: {share} of {outcome.mutants}, {outcome.seconds} s")

    run.each(trials, done, root=tree.places.root, sample=sample, jobs=jobs)
    if as_json:
        say_json({"schema": schema, "evidence": [_plain(outcome) for outcome in results]})
    else:
        say("\n\n".join([*map(_told, results), _summary(results, same)]))
    return not _blind(results, same)


def _trials(tree: Scan, clause: str | None, chapter: str | None) -> list[Trial]:
    from refclust.testing.evidence.live import Place
    from refclust.testing.evidence.run import Trial
    from refclust.trace.locks import mutants as kept
    from refclust.trace.locks.evidence import proofs

    if clause is not None and clause.strip().upper() not in tree.clauses:
        raise UnknownClause(f"no clause {clause!r}; `refclust spec` lists them all")
    known = kept.read(tree.places.spec)
    trials: list[Trial] = []
    for candidate in tree.clauses.values():
        definition = kept.definition_of(tree, candidate.id)
        if clause is not None:
            wanted = candidate.id == clause.strip().upper()
            if wanted and definition is None:
                raise BadOption(f"--clause {candidate.id}: it has no definition to change")
        elif chapter is not None:
            wanted = candidate.chapter == chapter
        else:
            wanted = candidate.id not in known or known[candidate.id]["key"] != kept.key(
                tree, candidate.id
            )
        if definition is None or not wanted:
            continue
        citing = [test for test in proofs(tree) if candidate.id in test.ids]
        trials.append(
            Trial(
                candidate.id,
                Place(definition.module, definition.qualname),
                tuple(test.test for test in citing if test.is_property),
                tuple(test.test for test in citing if test.is_golden),
            )
        )
    return trials


def _record(outcome: Result, key: str) -> dict[str, Any]:
    """The line of a result in its lock; lines of the source are left out, since they move."""
    return {
        "id": outcome.clause,
        "key": key,
        "definition": outcome.definition,
        "mutants": outcome.mutants,
        "of": outcome.of,
        "killed": outcome.killed,
        "survived": [
            [survivor.kind, survivor.before.strip(), survivor.after.strip()]
            for survivor in outcome.survivors
            if survivor.fate == "survived"
        ],
    }


def _plain(outcome: Result) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(outcome)


def _told(outcome: Result) -> str:
    killed = ", ".join(f"{count} by {kind}" for kind, count in outcome.killed.items()) or "none"
    reaching = ", ".join(f"{count} {kind}" for kind, count in outcome.reaching.items()) or "nothing"
    lines = [
        f"{outcome.clause}  {outcome.definition}",
        f"  {outcome.mutants} of {counted(outcome.of, 'change')} tried; noticed: {killed}; "
        f"reached by: {reaching}",
    ]
    lines += [f"  fails without any change: {name}" for name in outcome.broken]
    for survivor in outcome.survivors:
        only = " (noticed by the doctest alone)" if survivor.fate == "doctest" else ""
        lines += [
            f"  line {survivor.line}: {survivor.kind}{only}",
            textwrap.indent(survivor.diff(), "    "),
        ]
    return "\n".join(lines)


def _blind(results: list[Result], same: Mapping[str, int]) -> list[str]:
    """The clauses whose evidence notices nothing, though some change makes a difference."""
    return [
        outcome.clause
        for outcome in results
        if outcome.mutants > same[outcome.clause] and not outcome.killed
    ]


def _summary(results: list[Result], same: Mapping[str, int]) -> str:
    tried = sum(outcome.mutants for outcome in results)
    own = sum(outcome.killed.get("doctest", 0) for outcome in results)
    noticed = sum(sum(outcome.killed.values()) for outcome in results) - own
    equal = sum(same.values())
    counts = (
        f"{counted(len(results), 'clause')}, {counted(tried, 'change')}: {noticed} noticed, "
        f"{own} by the doctest alone, {equal} listed as equivalent, "
        f"{tried - noticed - own - equal} not"
    )
    blind = _blind(results, same)
    return counts + (f"; no evidence bites: {', '.join(blind)}" if blind else "")
