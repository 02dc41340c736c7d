"""``refclust verify``: golden vectors against refclust, a backend, or anybody's answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from refclust.cli.options.evidence.labelings import BackendName, Json
from refclust.cli.output import counted, flush, say, say_json
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.vectors.verify import FileReport, Report

MOST_FAILURES: Final = 20
_LONGEST_VALUE: Final = 60


def verify(
    backend: BackendName = None,
    chapter: Annotated[
        str | None,
        typer.Option(metavar="C", help="Only vector files whose path contains this, such as 43."),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Judge the answers of another program; `refclust vectors template` makes a form.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check against the golden vectors, bit for bit; exit 1 if a value is wrong.

    \b
    refclust verify                         refclust itself, the fastest backends
    refclust verify --backend reference     the pure core
    refclust verify --answers answers.json  your own program, in any language
    """
    if backend is not None and answers is not None:
        raise BadOption("--answers judges another program, so --backend cannot go with it")
    from refclust.vectors.verify import Report

    reports = _judged(answers, chapter) if answers is not None else _run(backend, chapter)
    files: list[FileReport] = []
    for file in reports:
        files.append(file)
        if not as_json:
            say(_row(file))
            flush()
    report = Report(tuple(files))
    if as_json:
        say_json(_plain(report, backend, answers))
    else:
        say("\n".join(_summary(report)))
    if not report.ok:
        raise typer.Exit(1)


def _run(backend: str | None, chapter: str | None) -> Iterator[FileReport]:
    """Run file by file, so that each line appears when its file is done."""
    from refclust.vectors import verify

    for file in verify.load(chapter):
        yield from (
            report
            for report in verify.verify(backend=backend, only=file.name).files
            if report.name == file.name
        )


def _judged(answers: str, chapter: str | None) -> Iterator[FileReport]:
    from pathlib import Path

    from refclust.vectors import verify

    yield from verify.judge_answers(Path(answers), only=chapter).files


def _row(file: FileReport) -> str:
    if not file.values:
        state = "not judged"
    elif file.failures:
        state = f"{len(file.failures):,} WRONG"
    else:
        state = f"ok{_away(file)}"
    cases = counted(file.cases, "case")
    return f"{file.name:<34} {cases:>11} {counted(file.values, 'value'):>14}  {state}"


def _summary(report: Report) -> list[str]:
    from refclust.escape import for_terminal

    failures = [(file.name, failure) for file in report.files for failure in file.failures]
    values = sum(file.values for file in report.files)
    lines: list[str] = []
    for name, failure in failures[:MOST_FAILURES]:
        lines += [
            "",
            f"{for_terminal(failure.case)}  {for_terminal(failure.key)}  ({name})",
            f"  expected  {_short(failure.expected)}",
            f"  got       {_short(failure.got)}",
        ]
    if len(failures) > MOST_FAILURES:
        lines += ["", f"and {len(failures) - MOST_FAILURES:,} more"]
    if not values:
        return [*lines, "", "no value was judged: the answers are empty"]
    passed = values - len(failures)
    if not failures:
        exact = not any(file.away for file in report.files)
        how = "to the last bit" if exact else "to the last bit or within their bounds"
        return [*lines, "", f"all {counted(values, 'value')} right, {how}"]
    return [*lines, "", f"{passed:,} of {counted(values, 'value')} right, {len(failures):,} wrong"]


def _away(file: FileReport) -> str:
    """How far the values with bounds are off: in ulps, and as a share of what is allowed."""
    if not file.away:
        return ""
    ulps, most = _typical(file)
    return f", half of them within {ulps:.2g} ulp, all within {most:.0%} of their bounds"


def _typical(file: FileReport) -> tuple[float, float]:
    from statistics import median  # start-up is quicker without it

    return median(value.ulps for value in file.away), max(value.share for value in file.away)


def _short(value: str) -> str:
    from refclust.escape import for_terminal

    text = for_terminal(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _plain_away(file: FileReport) -> dict[str, float]:
    if not file.away:
        return {}
    ulps, most = _typical(file)
    return {"median_ulps": ulps, "largest_share_of_bound": most}


def _plain(report: Report, backend: str | None, answers: str | None) -> dict[str, object]:
    return {
        "schema": "refclust-verify/1",
        "ok": report.ok,
        "backend": backend,
        "answers": answers,
        "files": [
            {
                "name": file.name,
                "cases": file.cases,
                "values": file.values,
                "passed": file.passed,
                **_plain_away(file),
                "failures": [
                    {
                        "case": failure.case,
                        "key": failure.key,
                        "expected": failure.expected,
                        "got": failure.got,
                    }
                    for failure in file.failures
                ],
            }
            for file in report.files
        ],
    }
