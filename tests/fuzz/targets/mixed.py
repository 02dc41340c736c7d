"""Tables with texts, gaps, dates and ids, prepared in all ways; new rows get what the fit got."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from refclust.cluster.gower import gower_distances
from refclust.data.preparing.asked import Asked
from refclust.data.preparing.mixed import mixed
from refclust.data.preparing.reading import read_again, read_prepared
from refclust.data.preparing.scales import scaled
from refclust.data.readers import formats
from refclust.data.readers.formats import Options
from refclust.errors import RefclustError
from tests.fuzz.cases import ACCEPTED, Broken, Case, Draw, Ended, Target
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.numerals import decimal, hostile, odd, word
from tests.fuzz.performing import refused
from tests.fuzz.targets import checks
from tests.fuzz.targets.texts import after_changes, joined

_GAPS: Final = ("", "NA", "?", "-", " n/a ", "NaN", "none", "<NA>")
_DAYS: Final = ("2024-01-31", "31.1.2024", "1/2/24", "23:59", "2024-01-31T12:00:00Z")
_ITEMS: Final = ("1", "1", "2", "a", "a", "a", "b", "a:c", "1-2", "*", "*", "?", "a*", ":", "1:",
                 "-2", "[ab]", "99", "", "c:a", "a,b")  # fmt: skip
_NAMES: Final = ("a", "b", "c", "id", "label", "class", "", "day", "x y")


def _column(draw: Draw, n: int) -> list[str]:
    kind = draw.upto(12) - 4
    if kind <= 2:
        cells = [decimal(draw) for _ in range(n)]
    elif kind == 3:
        cells = [draw.pick(("red", "blue", "green")) for _ in range(n)]
    elif kind == 4:
        cells = [str(i + 1) for i in range(n)]
    elif kind == 5:
        cells = [draw.pick(_DAYS) for _ in range(n)]
    elif kind == 6:
        cells = [decimal(draw)] * n
    elif kind == 7:
        cells = [draw.pick(("0", "1", "7")) for _ in range(n)]
    else:
        cells = [draw.pick((word, odd, hostile))(draw) for _ in range(n)]
    rate = draw.pick((0.0, 0.0, 0.0, 0.1, 0.1, 0.5, 1.0))
    return [draw.pick(_GAPS) if draw.chance(rate) else cell for cell in cells]


def _made(draw: Draw) -> Case:
    n, d = draw.pick((1, 2, 3, 5, 12, 12)), draw.upto(5, 1)
    columns = [_column(draw, n) for _ in range(d)]
    names = [draw.pick(_NAMES) if draw.chance(0.1) else "abcde"[j] for j in range(d)]
    lines = [
        ['"' + cell.replace('"', '""') + '"' for cell in row] for row in zip(*columns, strict=True)
    ]
    if draw.chance(0.8):
        lines.insert(0, names)
    content = joined(draw, after_changes(draw, lines, draw.pick((0, 0, 0, 0, 0, 0, 1, 2))), ",")
    if draw.chance(0.05):
        content = changed_bytes(draw, content, content)
    options: dict[str, Any] = {}
    for field in ("columns", "exclude", "categorical"):
        if draw.chance(0.5 if field == "categorical" else 0.08):
            few = draw.upto(d, 1)
            usual = ["abcde"[draw.upto(d - 1)] for _ in range(few)]
            options[field] = usual if draw.chance(0.8) else [draw.pick(_ITEMS) for _ in range(few)]
    for field in ("id_column", "label_column", "weight_column"):
        if draw.chance(0.04):
            options[field] = draw.pick(_ITEMS)
    asked = {
        "scale": draw.pick(("none", "none", "standard", "range", "robust")),
        "missing": draw.pick(("refuse", "drop", "mean", "median")),
        "weight": draw.pick((1.0, 0.5, 1e300, 1e-300)),
        "unseen": draw.pick(("refuse", "zeros")),
        "constants": draw.pick((None, None, "keep", "drop")),
    }
    return Case({"data.csv": content}, {"options": options, "asked": asked})


def _run(case: Case) -> Ended:
    lists: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in case.call["options"].items()
    }
    path, options, reader = "data.csv", Options(**lists), formats.choose("data.csv")
    try:
        assert reader.frame is not None
        gower_distances(mixed(reader.frame(path, options, None), options))
    except RefclustError as error:
        refused(error, path)
    try:
        done = read_prepared(reader, path, options, Asked(**case.call["asked"]))
    except RefclustError as error:
        return refused(error, path)
    if not all(note.isprintable() for note in done.notes):
        raise Broken("a note is printable", repr(done.notes))
    plan = done.data.preparation
    again = read_again(plan, reader, path, done.options)
    if plan is not None and plan.columns is None:
        assert plan.scale is not None
        again = replace(scaled(again, plan.scale), preparation=plan)
    if again.digest() != done.data.digest():
        raise Broken("the rows of a fit are prepared alike again", f"{done.options}")
    return Ended(ACCEPTED, checks.told(done.data))


TARGETS: Final[tuple[Target, ...]] = (Target("mixed", _made, _run, 60),)
