"""Readers of data: documents of each format, changed and packed, under options of all kinds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from refclust.backends.plugins import formats
from refclust.data.readers.formats import Options, Reader
from refclust.data.text import TextOptions
from refclust.data.writers.writing import WRITERS
from refclust.errors import RefclustError
from tests.fuzz.cases import ACCEPTED, Broken, Case, Draw, Ended, Target
from tests.fuzz.mutations import changed_bytes, packed
from tests.fuzz.numerals import hostile, odd, word
from tests.fuzz.performing import refused
from tests.fuzz.targets import checks

_SHARES: Final = ("1", "2", "1/2", "1/3", "1", "3/4", "0", "-1", "3/2", "9" * 30)


@dataclass(frozen=True, slots=True)
class Document:
    """A document: its bytes, the options it is read with, and its rows if nothing was changed."""

    content: bytes
    options: Mapping[str, Any]
    expected: Mapping[str, Any] | None = None
    files: Mapping[str, bytes] | None = None  # of a folder
    code: str | None = None  # that it must be refused with


Generator = Callable[[Draw, int], Document]  # the number is how often its structure is changed


def reader_target(
    name: str, suffix: str, generate: Generator, share: int = 100, *, form: str | None = None
) -> Target:
    """The target of one format, under its name or another."""
    return Target(name, lambda draw: _made(draw, form or name, suffix, generate), _run, share)


def _made(draw: Draw, name: str, suffix: str, generate: Generator) -> Case:
    changes = draw.pick((0, 0, 0, 0, 0, 1, 1, 1, 2, 3))
    document = generate(draw, changes)
    content, expected, path = document.content, document.expected, f"data{suffix}"
    if document.code is not None:
        expected = {"code": document.code}
    if document.files is None and draw.chance(0.15):
        expected = None
        for _ in range(draw.upto(2, 1)):
            content = changed_bytes(draw, content, generate(draw, 0).content)
    if document.files is None and suffix != ".npz" and draw.chance(0.12):
        expected, path = None, f"{path}.gz"
        content = packed(draw, content)
    options = dict(document.options)
    if draw.chance(0.1):
        expected = None
        field, value = _option(draw)
        options[field] = value
    named = not suffix or draw.chance(0.3)
    call: dict[str, Any] = {"file": path, "options": options}
    if named and draw.chance(0.95):
        call["format"] = name
        if draw.chance(0.2) and not path.endswith(".gz") and document.files is None:
            call["file"] = path = "data"
    elif named:
        expected = None
    if draw.chance(0.25):
        call["again"] = draw.pick(tuple(WRITERS))
    if draw.chance(0.12) and document.files is None and not path.endswith(".gz"):
        call["pipe"] = True
    if expected is not None:
        call["expected"] = expected
    files = document.files if document.files is not None else {path: content}
    return Case(files, call)


def _option(draw: Draw) -> tuple[str, Any]:
    """One option with a value that may or may not fit."""
    column = draw.pick(("1", "2", "0", "99", "x", word(draw), odd(draw), hostile(draw)))
    field = draw.pick(tuple(_POOL))
    return field, column if _POOL[field] is None else draw.pick(_POOL[field] or (None,))


_POOL: Final[Mapping[str, tuple[Any, ...] | None]] = {
    "delimiter": (",", ";", "\t", " ", "|", ";;", "", "\n", '"', "x", "é", "\x00", "1", "-"),
    "header": (True, False),
    "id_column": None,
    "label_column": None,
    "weight_column": None,
    "text_column": None,
    "array": None,
    "columns": (["1"], ["1", "2"], ["2", "1"], ["1", "1"], ["x"], [], ["0"], [""], ["9" * 5000]),
    "exclude": (["1"], ["2"], ["x*"], ["1-1"], ["0"], [""], ["*"], ["2:"]),
    "base": (0, 1, 2, -1, 10**30),
    "decimal": ("point", "comma", "semicolon"),
    "encoding": ("cp1252", "latin-1", "utf-16", "utf-8", "ascii", "klingon", "", "base64"),
    "vocabulary": ("", "nosuch", "data.vocab"),
    "categorical": (["1"], ["x*"], ["9"]),
    "text": ({"min_df": "1"}, {"min_df": "9"}, {"max_df": "1/9"}, {"tfidf": True}, {"min_df": "0"}),
}


def text_options(draw: Draw) -> dict[str, Any]:
    """Options for texts, mostly fitting ones."""
    found: dict[str, Any] = {}
    if draw.chance(0.3):
        found["lowercase"] = draw.chance(0.5)
    if draw.chance(0.3):
        found["stop_words"] = [word(draw) for _ in range(draw.upto(3))]
    for bound in ("min_df", "max_df"):
        if draw.chance(0.15):
            found[bound] = draw.pick(_SHARES)
    if draw.chance(0.15):
        found["tfidf"] = True
    if draw.chance(0.1):
        found["min_length"] = draw.upto(3)
    if draw.chance(0.1):
        found["vocabulary"] = [word(draw) for _ in range(draw.upto(3))]
    return found


def options_of(given: Mapping[str, Any]) -> Options:
    """Options of a reader from plain values; some are refused here already."""
    found = dict(given)
    for lists in ("columns", "exclude", "categorical"):
        if found.get(lists) is not None:
            found[lists] = tuple(found[lists])
    if found.get("text") is not None:
        text = dict(found["text"])
        for bound in ("min_df", "max_df"):
            if bound in text:
                share = Fraction(text[bound])
                text[bound] = int(share) if share.denominator == 1 else share
        for name, kind in (("stop_words", frozenset), ("vocabulary", tuple)):
            if name in text:
                text[name] = kind(text[name])
        found["text"] = TextOptions(**text)
    return Options(**found)


def _run(case: Case) -> Ended:
    call = case.call
    path = call["file"]
    try:
        options = options_of(call["options"])
        reader = formats.choose(path, call.get("format"))
    except RefclustError as error:
        return refused(error)
    if not 0 <= reader.sniff(path) <= 1:
        raise Broken("a guess lies between 0 and 1", reader.name)
    unplanned = _planned(reader, path, options)
    if call.get("pipe") and checks.PIPES and os.path.isfile(path):
        checks.through_pipe(reader, path, lambda name: _ended(reader, name, options))
    try:
        data = reader.read(path, options)
    except RefclustError as error:
        # Lone carriage returns may be refused; what they end must not be read as something else.
        old = b"\r" in case.files.get(path, b"").replace(b"\r\n", b"")
        if "code" in call.get("expected", ()):
            _as_due(call["expected"]["code"], error.code)
        elif "expected" in call and error.exit_code == 3 and not old:
            raise Broken("a valid document is read", f"[{error.code}] {error}") from None
        return refused(error, path)
    if unplanned is not None:
        raise Broken("what is read can be planned", f"[{unplanned.code}] {unplanned}")
    if "code" in call.get("expected", ()):
        _as_due(call["expected"]["code"], ACCEPTED)
    elif "expected" in call:
        checks.as_expected(data, call["expected"])
    if "again" in call:
        checks.written_and_read(data, call["again"])
    return Ended(ACCEPTED, checks.told(data))


def _as_due(due: str, code: str) -> None:
    if code != due:
        raise Broken("a document is refused as it must be", f"{code} instead of {due}")


def _planned(reader: Reader, path: str, options: Options) -> RefclustError | None:
    try:
        plan = reader.plan(path, options)
    except RefclustError as error:
        refused(error, path)
        return error
    words = [*plan.notes, *(word for fact in plan.facts for word in fact)]
    if not all(one.isprintable() for one in words):
        raise Broken("a plan is printable", repr(words))
    return None


def _ended(reader: Reader, path: str, options: Options) -> tuple[str, str]:
    try:
        return ACCEPTED, checks.told(reader.read(path, options))
    except RefclustError as error:
        return error.code, ""
