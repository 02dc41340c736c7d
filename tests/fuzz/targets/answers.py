"""Answers to golden vectors, and documents of vectors themselves."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from refclust.errors import RefclustError
from refclust.vectors import verify
from refclust.vectors.verify import VectorFile
from tests.fuzz.cases import ACCEPTED, Case, Draw, Ended, Target
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.numerals import hostile
from tests.fuzz.performing import refused
from tests.fuzz.trees import changed, dumped

_FILE: Final = "answers.json"
_CASES: Final = 4  # of each file: reading all of them for each input would be all that is done
_LOAD: Final = verify.load


@functools.cache
def few() -> tuple[VectorFile, ...]:
    """All vector files, each with its first cases."""
    return tuple(replace(file, cases=file.cases[:_CASES]) for file in _LOAD())


def load_few(only: str | None = None, root: Path | None = None) -> tuple[VectorFile, ...]:
    """The vectors that answers are judged by, in the process of a worker."""
    if root is not None:
        return _LOAD(only, root)
    return tuple(file for file in few() if not only or only in file.name) or _LOAD(only)


def _answer(draw: Draw, expected: Mapping[str, Any]) -> Any:
    if draw.chance(0.005):
        return hostile(draw)
    if "list" in expected:
        return [_answer(draw, item) for item in expected["list"]]
    if "error" in expected:
        return {"error": expected["error"]}
    if "binary64" in expected and draw.chance(0.5):
        return float.fromhex(expected["binary64"]) if draw.chance(0.5) else expected["binary64"]
    if "infinite" in expected:
        return f"{expected['infinite']}inf"
    return expected.get("exact", expected.get("decimal"))


def _answers_made(draw: Draw) -> Case:
    given: dict[str, Any] = {}
    for _ in range(draw.upto(4, 1)):
        case = draw.pick(draw.pick(few()).cases)
        whole = isinstance(case.expect.get("error"), str)
        given[case.id] = (
            {"error": case.expect["error"]}
            if whole
            else {key: _answer(draw, expected) for key, expected in case.expect.items()}
        )
    tree: Any = {"format": verify.ANSWERS_FORMAT, "answers": given}
    for _ in range(draw.pick((0, 0, 0, 1, 1, 2))):
        if draw.chance(0.7) and isinstance(tree, dict) and "answers" in tree:
            tree = {**tree, "answers": changed(draw, tree["answers"])}
        else:
            tree = changed(draw, tree)
    content = dumped(draw, tree)
    if draw.chance(0.08):
        content = changed_bytes(draw, content)
    return Case({_FILE: content}, {})


def _answers_run(case: Case) -> Ended:
    del case
    verify.load = load_few
    try:
        report = verify.judge_answers(Path(_FILE))
    except RefclustError as error:
        return refused(error)
    return Ended(ACCEPTED, repr([file for file in report.files if file.values])[:3000])


def _vectors_made(draw: Draw) -> Case:
    file = draw.pick(few())
    cases = [asdict(case) for case in file.cases[: draw.upto(2, 1)]]
    tree: Any = {"format": verify.FORMAT, "subject": file.subject, "title": "t", "cases": cases}
    for _ in range(draw.pick((0, 1, 1, 2))):
        tree = changed(draw, tree)
    content = dumped(draw, tree)
    if draw.chance(0.08):
        content = changed_bytes(draw, content)
    return Case({"vectors/one.json": content}, {})


def _vectors_run(case: Case) -> Ended:
    del case
    try:
        (file,) = _LOAD(None, Path())
    except RefclustError as error:
        return refused(error, "one.json")
    return Ended(ACCEPTED, json.dumps([one.id for one in file.cases], default=str))


def _prepare() -> None:
    few()


TARGETS: Final[tuple[Target, ...]] = (
    Target("answers", _answers_made, _answers_run, 30, prepare=_prepare),
    Target("vectors", _vectors_made, _vectors_run, 30, prepare=_prepare),
)
