"""``python -m spec.generators [--check]``: make every vector file, or compare with the disk."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import (
    make_agreement,
    make_classification,
    make_crossval,
    make_degenerate,
    make_distributions,
    make_edits,
    make_errata,
    make_exhaustive,
    make_hierarchical,
    make_intervals,
    make_kmeans,
    make_labels,
    make_medium,
    make_mixture,
    make_preparation,
    make_proximity,
    make_real,
    make_sampling,
    make_scatter,
    make_schema,
    make_significance,
    make_text,
    make_traps,
    make_worked,
    vectors_linear,
)
from .writer import VectorFile

SPEC = Path(__file__).resolve().parent.parent
LIMIT = 10_000_000
MAKERS: dict[str, Callable[[], list[VectorFile]]] = {
    "exhaustive": make_exhaustive.files,
    "worked": make_worked.files,
    "degenerate": make_degenerate.files,
    "errata": make_errata.files,
    "traps": make_traps.files,
    "medium": make_medium.files,
    "labels": make_labels.files,
    "distributions": make_distributions.files,
    "real": make_real.files,
    "sampling": make_sampling.files,
    "kmeans": make_kmeans.files,
    "text": make_text.files,
    "hierarchical": make_hierarchical.files,
    "mixture": make_mixture.files,
    "scatter": make_scatter.files,
    "agreement": make_agreement.files,
    "edits": make_edits.files,
    "crossval": make_crossval.files,
    "intervals": make_intervals.files,
    "significance": make_significance.files,
    "classification": make_classification.files,
    "proximity": make_proximity.files,
    "preparation": make_preparation.files,
}


def main(argv: list[str] | None = None) -> int:
    """Write the files, or with --check say which differ; 1 if any does."""
    parser = argparse.ArgumentParser(prog="python -m spec.generators", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--only", choices=sorted(MAKERS), action="append", help="some files only")
    options = parser.parse_args(argv)
    made: dict[Path, str] = {SPEC / "schema" / "vectors.schema.json": make_schema.text()}
    slugs: set[str] = set()
    for name, maker in MAKERS.items():
        if options.only and name not in options.only:
            continue
        start = time.monotonic()
        for file in maker():
            made[SPEC / "vectors" / file.path] = file.text()
            for case in file.cases:
                assert str(case["id"]) not in slugs, f"the id {case['id']} is used twice"
                slugs.add(str(case["id"]))
        print(f"{name}: {time.monotonic() - start:.1f} s", file=sys.stderr)
    if not options.only:
        made |= {SPEC / "vectors" / path: text for path, text in vectors_linear.texts().items()}
    size = sum(len(text.encode()) for text in made.values())
    assert size < LIMIT, f"{size} bytes are too many"
    print(f"{len(made)} files, {len(slugs)} cases, {size} bytes", file=sys.stderr)
    return _compare(made, complete=not options.only) if options.check else _write(made)


def _write(made: dict[Path, str]) -> int:
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


def _compare(made: dict[Path, str], *, complete: bool) -> int:
    wrong = [p for p, text in made.items() if not p.exists() or p.read_bytes() != text.encode()]
    if complete:
        wrong += [p for p in sorted((SPEC / "vectors").rglob("*.json")) if p not in made]
    for path in wrong:
        print(f"differs: {path.relative_to(SPEC.parent)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
