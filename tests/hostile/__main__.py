"""All damage to all documents: ``python -m tests.hostile``; minutes."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.hostile import damage, documents


def main() -> int:
    """Try everything, print what ended how, and fail if something ended as it must not."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--kind", action="append", help="of checkpoint or model; all unless named")
    asked = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fit.json")
        for name in documents.FITS:
            if not asked.kind or name in asked.kind:
                faults += _checkpoint(name, path)
    for name, text in documents.model_texts().items():
        if not asked.kind or name in asked.kind:
            faults += _model(name, text)
    print(f"{faults} faults")
    return 1 if faults else 0


def _checkpoint(name: str, path: Path) -> int:
    content = documents.checkpoint_of(name, path)
    trials: dict[str, Callable[[], str]] = {}
    for told, made in (*damage.flipped(content, 1), *damage.cut(content[:-1])):
        trials[told] = lambda made=made: documents.resumed(name, path, made)  # type: ignore[misc]
    for told, forged in damage.forgeries(json.loads(content)):
        trials[told] = lambda forged=forged: documents.resumed(  # type: ignore[misc]
            name, path, documents.sealed(forged()).encode()
        )
    return _tried(f"checkpoint of {name}", trials)


def _model(name: str, text: str) -> int:
    content = text.encode()
    trials: dict[str, Callable[[], str]] = {}
    for told, made in (*damage.flipped(content, 1), *damage.cut(content[:-1])):
        if (decoded := made.decode(errors="ignore")) != text:
            trials[told] = lambda decoded=decoded: documents.loaded(decoded)  # type: ignore[misc]
    for told, forged in damage.forgeries(json.loads(text)):
        trials[told] = lambda forged=forged: documents.loaded(  # type: ignore[misc]
            damage.text(forged())
        )
    return _tried(f"model {name}", trials)


def _tried(title: str, trials: dict[str, Callable[[], str]]) -> int:
    started, ends, faults = time.monotonic(), Counter[str](), 0
    for told, trial in trials.items():
        try:
            ends[trial()] += 1
        except Exception:
            faults += 1
            last = traceback.format_exc().strip().splitlines()
            print(f"{title}, {told}: {last[-1][:200]}\n    {last[-3].strip()}", file=sys.stderr)
    counted = ", ".join(f"{code} {number}" for code, number in sorted(ends.items()))
    print(f"{title}: {counted}; {faults} faults, {time.monotonic() - started:.0f} s", flush=True)
    return faults


if __name__ == "__main__":
    raise SystemExit(main())
