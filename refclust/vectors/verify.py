"""Golden vectors: reading them, running refclust on them, judging anybody's answers.

>>> verify(only="distributions").ok
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

from refclust.backends.session import Session
from refclust.data.files.document import Flaw, parse
from refclust.data.files.textfile import read_text
from refclust.errors import BadAnswersFile, BadVectorFile, FileNotReadable
from refclust.numbers.reading import shown, told
from refclust.trace.places import spec_root
from refclust.vectors import answers
from refclust.vectors.answers import Answer, Away, Computed, Missing, Refused
from refclust.vectors.runners import subjects

FORMAT: Final = "refclust-vectors/1"
ANSWERS_FORMAT: Final = "refclust-answers/1"
_IN_ANY_ORDER: Final = ("table", "row_sums", "column_sums")
WHOLE_CASE: Final = "(the case)"


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One input with what is expected of it, key by key."""

    id: str
    description: str
    formulas: tuple[str, ...]
    input: dict[str, Any]
    expect: dict[str, Any]


@dataclass(frozen=True, slots=True)
class VectorFile:
    """One file of golden vectors."""

    name: str
    subject: str
    title: str
    cases: tuple[GoldenCase, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """One value that is not what the vector says."""

    case: str
    key: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """How one file went."""

    name: str
    cases: int
    values: int
    passed: int
    failures: tuple[Failure, ...]
    away: tuple[Away, ...] = ()  # how far the values that have a bound are from the truth


@dataclass(frozen=True, slots=True)
class Report:
    """How all files went."""

    files: tuple[FileReport, ...]

    @property
    def ok(self) -> bool:
        """Whether every value passed, and there was one."""
        return any(file.values for file in self.files) and not any(
            file.failures for file in self.files
        )


Answering: TypeAlias = Callable[[VectorFile, GoldenCase, str], "Answer | None"]


def load(only: str | None = None, root: Path | None = None) -> tuple[VectorFile, ...]:
    """Read the vector files whose name contains ``only``, or all of them."""
    folder = (root or spec_root()) / "vectors"
    paths = sorted(folder.rglob("*.json"))
    chosen = [path for path in paths if not only or only in path.relative_to(folder).as_posix()]
    if not chosen:
        known = ", ".join(path.relative_to(folder).as_posix() for path in paths)
        raise FileNotReadable(f"no vector file matches {only!r}; there are: {known}")
    return tuple(_read(path, path.relative_to(folder).as_posix()) for path in chosen)


def verify(*, backend: str | None = None, only: str | None = None) -> Report:
    """Run refclust, on any backend, on the golden vectors."""
    Session(backend)  # a backend that cannot be used is told before anything is read

    def answer(file: VectorFile, case: GoldenCase, key: str) -> Answer:
        # One for each answer: a session keeps what it prepared, and tells of all of it each time.
        session = Session(backend)
        if key == WHOLE_CASE:
            return subjects.refusal(file.subject, case.input, session)
        return subjects.answer(file.subject, case.input, key, session)

    return _judge(load(only), answer)


def judge_answers(path: Path, only: str | None = None) -> Report:
    """Judge the answers that any program wrote to a file; what it left out is not judged."""
    by_case = _read_answers(path)

    def answer(file: VectorFile, case: GoldenCase, key: str) -> Answer | None:  # noqa: ARG001
        of_case = by_case.get(case.id)
        if of_case is None:
            return None
        if key == WHOLE_CASE:
            if "error" not in of_case:
                return None
            return answers.read(of_case, f"{path}: the answer to {case.id}")
        if key not in of_case:
            return None
        return answers.read(of_case[key], f"{path}: {key} of {case.id}")

    files = load(only)
    _refuse_strangers(by_case, load(), path)
    return _judge(files, answer)


def template(only: str | None = None) -> dict[str, Any]:
    """Return an answers file with nothing filled in."""
    empty = {
        case.id: {"error": None} if "error" in case.expect else dict.fromkeys(case.expect)
        for file in load(only)
        for case in file.cases
    }
    return {"format": ANSWERS_FORMAT, "answers": empty}


def _judge(files: tuple[VectorFile, ...], answer: Answering) -> Report:
    return Report(tuple(_judge_file(file, answer) for file in files))


def differs(
    file: VectorFile,
    case: GoldenCase,
    answer: Callable[[str, dict[str, Any], str], Answer | None],
    asked: Iterable[str] | None = None,
) -> bool:
    """Tell whether some answer to a case is not what the vector says; None is no answer.

    Without ``asked`` all keys are asked for.
    """
    expect = dict(keys(case))
    for key in expect if asked is None else asked:
        got = answer(file.subject, case.input, key)
        if got is not None and not _meets(key, expect[key], got):
            return True
    return False


def _meets(key: str, expected: dict[str, Any], got: Answer) -> bool:
    judge = answers.passes_in_some_order if key in _IN_ANY_ORDER else answers.passes
    return judge(expected, got)


def _judge_file(file: VectorFile, answer: Answering) -> FileReport:
    values, failures = 0, []
    apart: list[Away] = []
    for case in file.cases:
        for key, expected in keys(case):
            got = answer(file, case, key)
            if got is None:
                continue
            values += 1
            if not _meets(key, expected, got):
                failures.append(Failure(case.id, key, _told(expected), _shown(got)))
            else:
                apart += answers.away(expected, got)
    passed = values - len(failures)
    return FileReport(file.name, len(file.cases), values, passed, tuple(failures), tuple(apart))


def keys(case: GoldenCase) -> Iterator[tuple[str, dict[str, Any]]]:
    """The keys that a case asks for, with what is expected; a refusal has one for the whole."""
    if isinstance(case.expect.get("error"), str):
        yield WHOLE_CASE, case.expect
    else:
        yield from case.expect.items()


def _read(path: Path, name: str) -> VectorFile:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise BadVectorFile(f"{name}: format {content['format']!r}, expected {FORMAT!r}")
        shared = content.get("formulas", [])
        cases = tuple(
            GoldenCase(
                id=case["id"],
                description=case.get("description", ""),
                formulas=tuple(case.get("formulas", shared)),
                input=case["input"],
                expect=case["expect"],
            )
            for case in content["cases"]
        )
        return VectorFile(name, content["subject"], content.get("title", ""), cases)
    except RecursionError:
        raise BadVectorFile(f"{name}: nested too deeply") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, BadVectorFile):
            raise
        raise BadVectorFile(f"{name}: {type(error).__name__}: {error}") from None


def _read_answers(path: Path) -> dict[str, dict[str, Any]]:
    text = read_text(str(path))
    content = parse(text, str(path), error=BadAnswersFile).value
    _refuse_flaw(content, str(path))
    if not isinstance(content, dict) or content.get("format") != ANSWERS_FORMAT:
        raise BadAnswersFile(f'{path}: an object with "format": "{ANSWERS_FORMAT}" is expected')
    by_case = content.get("answers")
    _refuse_flaw(by_case, f"{path}: answers")
    for name, of_case in by_case.items() if isinstance(by_case, dict) else ():
        _refuse_flaw(of_case, f"{path}: {shown(name)}")
    if not isinstance(by_case, dict) or not all(isinstance(of, dict) for of in by_case.values()):
        raise BadAnswersFile(f'{path}: "answers" must map each case to an object of its keys')
    return by_case


def _refuse_flaw(value: Any, place: str) -> None:
    """Refuse what JSON lets pass and no document may hold, such as a key that occurs twice."""
    if isinstance(value, Flaw):
        raise BadAnswersFile(f"{place}: {value.what}")


def _refuse_strangers(
    by_case: dict[str, dict[str, Any]], files: tuple[VectorFile, ...], path: Path
) -> None:
    """Refuse cases and keys that do not exist: a mistyped one would silently go unjudged."""
    known = {case.id: case for file in files for case in file.cases}
    for name, of_case in by_case.items():
        if name not in known:
            raise BadAnswersFile(f"{path}: no case is called {shown(name)}")
        for key in of_case:
            if key != "error" and key not in known[name].expect:
                raise BadAnswersFile(f"{path}: the case {name!r} has no key {shown(key)}")


def _told(expected: dict[str, Any]) -> str:
    if "list" in expected:
        return "[" + ", ".join(_told(item) for item in expected["list"]) + "]"
    for word in ("exact", "decimal", "binary64", "error"):
        if word in expected:
            return str(expected[word])
    return "undefined" if "undefined" in expected else f"{expected.get('infinite')}inf"


def _shown(answer: Answer) -> str:
    if isinstance(answer, Refused):
        return f"error {answer.code}"
    if isinstance(answer, Missing):
        return "undefined"
    if isinstance(answer, Computed):
        return answer.exact.digits(40)
    if isinstance(answer, list | tuple):
        return "[" + ", ".join(map(_shown, answer)) + "]"
    return told(answer) if isinstance(answer, Fraction) else str(answer)
