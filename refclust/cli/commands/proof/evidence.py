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
    from refclust.trace import equivalent
    from refclust.trace import evidence as kept
    from refclust.trace.places import checkout
    from refclust.trace.scan import scan

    for name, given in (("--sample", sample), ("--jobs", jobs)):
        if given is not None and given < 1:
            raise BadOption(f"{name} {given}: allowed are 1 and more")
    found = scan(checkout().root)
    spec = found.places.spec
    kept.forget(spec, found)
    trials = _trials(found, clause, chapter)
    note(f"{counted(len(trials), 'clause')} to try")
    results: list[Result] = []
    same: dict[str, int] = {}
    listed = equivalent.read(spec)

    def done(result: Result) -> None:
        results.append(result)
        line = _record(result, kept.key(found, result.clause))
        kept.record(spec, [line])
        same[result.clause] = equivalent.number_of(listed, line)
        share = kept.share(line, same[result.clause])
        note(f"{result.clause}: {share} of {result.mutants}, {result.seconds} s")

    run.each(trials, done, root=found.places.root, sample=sample, jobs=jobs)
    if as_json:
        say_json({"schema": schema, "evidence": [_plain(one) for one in results]})
    else:
        say("\n\n".join([*map(_told, results), _summary(results, same)]))
    return not _blind(results, same)


def _trials(found: Scan, clause: str | None, chapter: str | None) -> list[Trial]:
    from refclust.testing.evidence.live import Place
    from refclust.testing.evidence.run import Trial
    from refclust.trace import evidence as kept
    from refclust.trace.locks.evidence import proofs

    if clause is not None and clause.strip().upper() not in found.clauses:
        raise UnknownClause(f"no clause {clause!r}; `refclust spec` lists them all")
    known = kept.read(found.places.spec)
    trials: list[Trial] = []
    for one in found.clauses.values():
        definition = kept.definition_of(found, one.id)
        if clause is not None:
            wanted = one.id == clause.strip().upper()
            if wanted and definition is None:
                raise BadOption(f"--clause {one.id}: it has no definition to change")
        elif chapter is not None:
            wanted = one.chapter == chapter
        else:
            wanted = one.id not in known or known[one.id]["key"] != kept.key(found, one.id)
        if definition is None or not wanted:
            continue
        citing = [test for test in proofs(found) if one.id in test.ids]
        trials.append(
            Trial(
                one.id,
                Place(definition.module, definition.qualname),
                tuple(test.test for test in citing if test.is_property),
                tuple(test.test for test in citing if test.is_golden),
            )
        )
    return trials


def _record(result: Result, key: str) -> dict[str, Any]:
    """The line of a result in its lock; lines of the source are left out, since they move."""
    return {
        "id": result.clause,
        "key": key,
        "definition": result.definition,
        "mutants": result.mutants,
        "of": result.of,
        "killed": result.killed,
        "survived": [
            [one.kind, one.before.strip(), one.after.strip()]
            for one in result.survivors
            if one.fate == "survived"
        ],
    }


def _plain(result: Result) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(result)


def _told(result: Result) -> str:
    killed = ", ".join(f"{count} by {kind}" for kind, count in result.killed.items()) or "none"
    reaching = ", ".join(f"{count} {kind}" for kind, count in result.reaching.items()) or "nothing"
    lines = [
        f"{result.clause}  {result.definition}",
        f"  {result.mutants} of {counted(result.of, 'change')} tried; noticed: {killed}; "
        f"reached by: {reaching}",
    ]
    lines += [f"  fails without any change: {name}" for name in result.broken]
    for one in result.survivors:
        only = " (noticed by the doctest alone)" if one.fate == "doctest" else ""
        lines += [f"  line {one.line}: {one.kind}{only}", textwrap.indent(one.diff(), "    ")]
    return "\n".join(lines)


def _blind(results: list[Result], same: Mapping[str, int]) -> list[str]:
    """The clauses whose evidence notices nothing, though some change makes a difference."""
    return [one.clause for one in results if one.mutants > same[one.clause] and not one.killed]


def _summary(results: list[Result], same: Mapping[str, int]) -> str:
    tried = sum(one.mutants for one in results)
    own = sum(one.killed.get("doctest", 0) for one in results)
    noticed = sum(sum(one.killed.values()) for one in results) - own
    equal = sum(same.values())
    told = (
        f"{counted(len(results), 'clause')}, {counted(tried, 'change')}: {noticed} noticed, "
        f"{own} by the doctest alone, {equal} listed as equivalent, "
        f"{tried - noticed - own - equal} not"
    )
    blind = _blind(results, same)
    return told + (f"; no evidence bites: {', '.join(blind)}" if blind else "")
