"""The fits that are killed: every kind that keeps checkpoints, as calls of the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

OUTPUTS: Final = ("m.json", "l.csv", "t.csv")
CHECKPOINT: Final = "fit.checkpoint"
BACKENDS: Final = ("reference", "numpy", "numba")
_RESTARTS: Final = ("--start", "random", "--restarts", "3", "--seed", "3")
_MIXTURE: Final = ("-k", "3", "--limit", "6", "--restarts", "2", "--seed", "3")
_BOX: Final = ("--start", "random-centres", "--restarts", "4", "--seed", "1")
_FLOOR: Final = (*_MIXTURE, "--floor", "0.05")
_SAMPLED: Final = ("--variation", "monte-carlo", "--samples", "2", "--collapse", "reset")

KINDS: Final[dict[str, tuple[str, ...]]] = {
    "kmeans": ("kmeans", "points.csv", "-k", "5", *_RESTARTS),
    "kmeans-sparse": ("kmeans", "words.jsonl", "-k", "4", *_RESTARTS),
    "kmeans-cosine": ("kmeans", "words.jsonl", "-k", "4", "--metric", "cosine", *_RESTARTS),
    "kmeans-drop": ("kmeans", "points.csv", "-k", "8", "--empty", "drop", *_BOX),
    "bisecting": ("bisecting", "points.csv", "-k", "9", "--restarts", "2"),
    "gaussian": ("gaussian", "points.csv", *_FLOOR, "--start", "random"),
    "gaussian-diagonal": ("gaussian", "points.csv", *_FLOOR, "--covariance", "diagonal"),
    "gaussian-sampled": ("gaussian", "points.csv", *_FLOOR, *_SAMPLED),
    "multinomial": ("multinomial", "words.jsonl", *_MIXTURE, "--m", "1", "--start", "random"),
    "bernoulli": ("bernoulli", "bits.csv", *_MIXTURE, "--m", "1", "--start", "points"),
}


def write_data(folder: Path) -> None:
    """Write the data of all kinds: small, without much structure, so that fits take their time."""
    points = [f"{(37 * i * i) % 101 / 8},{(53 * i) % 89 / 4}" for i in range(45)]
    (folder / "points.csv").write_text("x,y\n" + "\n".join(points) + "\n", encoding="utf-8")
    words = [
        json.dumps({f"w{j}": (7 * i * j + i) % 5 + 1 for j in range(9) if (i * i + j) % 3})
        for i in range(30)
    ]
    (folder / "words.jsonl").write_text("\n".join(words) + "\n", encoding="utf-8")
    bits = [",".join(str((i * i * (j + 2)) % 7 % 2) for j in range(5)) for i in range(30)]
    (folder / "bits.csv").write_text("a,b,c,d,e\n" + "\n".join(bits) + "\n", encoding="utf-8")


def call(kind: str, backend: str, *, resume: bool) -> list[str]:
    """The words of a fit with all its files; a checkpoint is written whenever there is news."""
    method, data, *options = KINDS[kind]
    model, labels, trace = OUTPUTS
    words = ["fit", method, f"../{data}", *options, "--backend", backend, "--force"]
    words += ["--checkpoint", CHECKPOINT, "--checkpoint-every", "0"]
    words += ["--model", model, "--labels", labels]
    words += [] if method == "bisecting" else ["--trace", trace]
    return words + (["--resume"] if resume else [])


def outputs(kind: str) -> tuple[str, ...]:
    """The files that a fit leaves."""
    return OUTPUTS[:2] if KINDS[kind][0] == "bisecting" else OUTPUTS
