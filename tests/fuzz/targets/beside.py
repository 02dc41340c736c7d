"""What is read beside data: labels, weights, contingency tables, words to leave out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from refclust.data.labels import read_labels, read_weights
from refclust.data.readers.words import read_words
from refclust.data.tables import read_table
from refclust.errors import RefclustError
from refclust.metrics.contingency import Contingency
from tests.fuzz.cases import ACCEPTED, Broken, Case, Draw, Ended, Target
from tests.fuzz.mutations import Lines, changed_bytes, packed
from tests.fuzz.numerals import hostile, odd, word
from tests.fuzz.performing import refused
from tests.fuzz.targets.texts import after_changes, joined
from tests.fuzz.trees import changed, dumped

_WEIGHTS: Final = ("1", "2", "0", "0.25", "1/3", "3e2", "2.50", "10", "7/7", "1e-3")


def _beside(
    name: str, generate: Callable[[Draw], tuple[Lines, str, dict[str, Any]]], read: Any
) -> Target:
    def make(draw: Draw) -> Case:
        lines, path, options = generate(draw)
        changes = draw.pick((0, 0, 0, 0, 1, 1, 2))
        content = joined(draw, after_changes(draw, lines, changes), options.get("delimiter", ","))
        return Case(*_damaged(draw, path, content, options))

    def run(case: Case) -> Ended:
        path = case.call["file"]
        try:
            return Ended(ACCEPTED, repr(read(path, case.call["options"]))[:2000])
        except RefclustError as error:
            return refused(error, path)

    return Target(name, make, run, 60)


def _damaged(
    draw: Draw, path: str, content: bytes, options: dict[str, Any]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    if draw.chance(0.12):
        content = changed_bytes(draw, content)
    if draw.chance(0.1):
        path, content = f"{path}.gz", packed(draw, content)
    return {path: content}, {"file": path, "options": options}


def _column(draw: Draw, make: Callable[[Draw], str]) -> tuple[Lines, str, dict[str, Any]]:
    values = [make(draw) for _ in range(draw.upto(8, 1))]
    if draw.chance(0.5):
        return [[value] for value in values], "labels.txt", {}
    sign = draw.pick((",", ",", "\t"))
    lines = [["id", "true", "x"], *([str(i), value, "0"] for i, value in enumerate(values))]
    column = "true" if draw.chance(0.85) else draw.pick(("2", "9", odd(draw), hostile(draw)))
    return lines, draw.pick(("labels.csv", "labels.txt")), {"column": column, "delimiter": sign}


def _labels(draw: Draw) -> tuple[Lines, str, dict[str, Any]]:
    return _column(draw, word)


def _weights(draw: Draw) -> tuple[Lines, str, dict[str, Any]]:
    make = (lambda draw: draw.pick(_WEIGHTS)) if draw.chance(0.7) else _some_weight
    return _column(draw, make)


def _some_weight(draw: Draw) -> str:
    return hostile(draw) if draw.chance(0.2) else draw.pick(_WEIGHTS)


def _words(draw: Draw) -> tuple[Lines, str, dict[str, Any]]:
    plain = ("a", "the", "Und", "größe", "don't", "# und so weiter", "the # article", "", "x1")
    words = [[draw.pick(plain)] for _ in range(draw.upto(8, 1))]
    return words, "stop.txt", {"lowercase": draw.chance(0.7)}


def _table_made(draw: Draw) -> Case:
    rows, columns = draw.upto(4, 1), draw.upto(4, 1)
    cells = [[draw.pick(_WEIGHTS) for _ in range(columns)] for _ in range(rows)]
    changes = draw.pick((0, 0, 0, 0, 1, 1, 2))
    if draw.chance(0.4):
        tree: Any = [[int(x) if x.isdigit() else x for x in row] for row in cells]
        tree = {"table": tree} if draw.chance(0.3) else tree
        for _ in range(changes):
            tree = changed(draw, tree)
        return Case(*_damaged(draw, "table.json", dumped(draw, tree), {}))
    header = draw.chance(0.4)
    if header:
        names = [word(draw) for _ in range(columns)]
        cells = [["", *names], *([word(draw), *row] for row in cells)]
    sign = draw.pick((",", "\t", ";"))
    content = joined(draw, after_changes(draw, cells, changes), sign)
    named = sign if sign == ";" or draw.chance(0.3) else None
    path = {",": "table.csv", "\t": "table.tsv"}.get(sign, "table")
    return Case(*_damaged(draw, path, content, {"header": header, "delimiter": named}))


def _table_run(case: Case) -> Ended:
    path = case.call["file"]
    try:
        file = read_table(path, **case.call["options"])
    except RefclustError as error:
        return refused(error, path)
    if len({len(row) for row in file.rows}) > 1:
        raise Broken("a table is a rectangle", repr(file))
    try:
        table = Contingency.of_rows(file.rows)
    except RefclustError as error:
        return refused(error)
    # Numbers may have more digits than Python writes.
    return Ended(ACCEPTED, f"{len(file.rows)} rows, hash {hash(table.total)}")


TARGETS: Final[tuple[Target, ...]] = (
    _beside("labels", _labels, lambda path, options: read_labels(path, **options)),
    _beside("weights", _weights, lambda path, options: [*map(hash, read_weights(path, **options))]),
    _beside("words", _words, lambda path, options: read_words(path, **options)),
    Target("tables", _table_made, _table_run, 60),
)
