"""Small files that command lines name."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from refclust.vectors.verify import ANSWERS_FORMAT
from tests.fuzz.cases import Draw
from tests.fuzz.targets import answers, fits
from tests.fuzz.targets.arrays import npy

DATA: Final = (
    "rows.csv",
    "counts.svm",
    "labelled.csv",
    "texts.txt",
    "rows.jsonl",
    "rows.npy",
    "m.mtx",
)
ENDINGS: Final = (".csv", ".tsv", ".jsonl", ".npy", ".npz", ".svm", ".mtx", ".csv.gz", ".nosuch")
MODELS: Final = ("kmeans.json", "gaussian.json", "multinomial.json", "tree.json", "bayes.json")


@functools.cache
def pool() -> Mapping[str, bytes]:
    """The contents of all files, by name."""
    texts = {
        "rows.csv": _csv(["x", "y"], fits.POINTS),
        "bits.csv": _csv(["a", "b", "c"], fits.BITS),
        "centres.csv": _csv(["x", "y"], fits.POINTS[1:3]),
        "labelled.csv": _csv(
            ["x", "y", "label"],
            [[*row, side] for row, side in zip(fits.POINTS, fits.SIDES, strict=True)],
        ),
        "counted.csv": _csv(
            ["a", "b", "c", "label"],
            [[*row, kind] for row, kind in zip(fits.COUNTS, fits.KINDS, strict=True)],
        ),
        "both.csv": "id,true,pred,weight\n" + "".join(f"{i},{i % 2},{i % 3},1\n" for i in range(8)),
        "counts.svm": "".join(
            f"{kind} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row)) + "\n"
            for row, kind in zip(fits.COUNTS, fits.KINDS, strict=True)
        ),
        "texts.txt": "the cat and the dog\na dog\nno cat, no dog\n",
        "rows.jsonl": "".join(json.dumps(row) + "\n" for row in fits.NAMED),
        "m.mtx": "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 5\n3 2 -1.5\n",
        "true.txt": "x\nx\nx\ny\ny\n",
        "pred.txt": "1\n1\n2\n2\n2\n",
        "start.txt": "a\na\na\nb\nb\nb\na\nb\n",
        "weights.txt": "1\n2\n1/2\n0.25\n3\n",
        "stop.txt": "the\nand\n# no more\n",
        "table.csv": "5,1,0\n1,4,1\n2,0,3\n",
        "table.json": "[[5, 1], [2, 3]]",
        "distances.csv": "0,1,2\n1,0,3\n2,3,0\n",
        "answers.json": json.dumps({"format": ANSWERS_FORMAT, "answers": _right()}),
    }
    documents = dict(zip(MODELS, ("kmeans", "gaussian", "multinomial", "agglomerative",
                                  "naive-bayes"), strict=True))  # fmt: skip
    texts |= {name: json.dumps(fits.models()[kind]) for name, kind in documents.items()}
    found = {name: text.encode() for name, text in texts.items()}
    rows = [[float(x) for x in row] for row in fits.POINTS]
    return {**found, "rows.npy": npy(Draw("rows"), rows, "<f8")}


def _csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in (names, *rows))


def _right() -> dict[str, object]:
    """The right answer to one case, or at least an answer."""
    case = answers.few()[0].cases[0]
    return {case.id: dict.fromkeys(case.expect)}
