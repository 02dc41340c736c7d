"""Every table two partitions of up to six objects can form, with every key."""

from __future__ import annotations

from .catalogue import all_encoded, clauses
from .tables import all_tables, make_table
from .writer import METRICS, VectorFile

# The number of tables for 1..6 objects up to the order of rows and of columns; transposed tables
# are not identified. (The same numbers count multiset partitions into multisets by size.)
HOW_MANY = (1, 4, 10, 33, 91, 298)
NOTES = {
    "what": "all tables up to the order of rows and of columns, transposed ones kept apart",
    "id": "x, then the rows of the table, one digit a cell",
}


def files() -> list[VectorFile]:
    """The exhaustive files: n = 1 to 4 in one, n = 5 in one, n = 6 in two."""
    made: list[VectorFile] = []
    cases = {n: all_tables(n) for n in range(1, 7)}
    assert tuple(len(found) for found in cases.values()) == HOW_MANY
    groups = [
        ("1-4", [t for n in range(1, 5) for t in cases[n]]),
        ("5", cases[5]),
        ("6a", cases[6][: len(cases[6]) // 2]),
        ("6b", cases[6][len(cases[6]) // 2 :]),
    ]
    for name, tables in groups:
        file = VectorFile(
            f"41-metrics/exhaustive-{name}.json",
            METRICS,
            f"All tables of small partitions, n = {name}",
            dict(NOTES),
        )
        for cells in tables:
            expect = all_encoded(make_table(cells))
            if not file.formulas:
                file.formulas = clauses(list(expect))
            slug = "x-" + "-".join("".join(map(str, row)) for row in cells)
            file.add(slug, {"table": [list(row) for row in cells]}, expect)
        made.append(file)
    return made
