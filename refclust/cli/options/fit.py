"""The options of ``refclust fit``: what to fit, from which start, and what to write where."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

StartName: TypeAlias = Literal["k-means++", "greedy", "random", "random-centres", "farthest"]
MetricName: TypeAlias = Literal["euclidean", "cosine"]
PolicyName: TypeAlias = Literal["farthest", "split", "keep", "drop", "error"]
ByName: TypeAlias = Literal["rss", "size"]

K = Annotated[int | None, typer.Option("-k", "--clusters", metavar="K", help="How many clusters.")]
Start = Annotated[StartName, typer.Option("--start", help="How the first centres are chosen.")]
CentresFile = Annotated[
    str | None, typer.Option("--centres", metavar="FILE", help="Start from these centres.")
]
StartLabels = Annotated[
    str | None,
    typer.Option(
        "--start-labels",
        metavar="FILE[:COLUMN]",
        help="Start from the means of these groups, one label per row.",
    ),
]
Metric = Annotated[
    MetricName, typer.Option("--metric", help="Nearest by which measure; cosine suits texts.")
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", help="Which random numbers: any whole number from 0.")
]
Restarts = Annotated[
    int, typer.Option("--restarts", metavar="R", help="Runs from other starts; the best is kept.")
]
Trials = Annotated[
    int | None, typer.Option("--trials", metavar="L", help="Candidates of --start greedy.")
]
Empty = Annotated[PolicyName, typer.Option("--empty", help="What becomes of an empty cluster.")]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="T",
        help="Stop when the objective gains no more than this share. [only when no label changes]",
    ),
]
Limit = Annotated[
    int, typer.Option("--limit", metavar="N", help="The largest number of iterations of a run.")
]
ModelFile = Annotated[
    str | None, typer.Option("--model", "-o", metavar="FILE", help="Write the model, as JSON.")
]
LabelsFile = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Write the cluster of each row: .csv, .tsv or .jsonl; - is standard output.",
    ),
]
TraceFile = Annotated[
    str | None,
    typer.Option("--trace", metavar="FILE", help="Write the iterations of the best run, as CSV."),
]
CheckpointFile = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Where a fit that is interrupted is kept. [the name of --model and .checkpoint]",
    ),
]
CheckpointEvery = Annotated[
    float, typer.Option("--checkpoint-every", metavar="SECONDS", help="How often it is kept.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where the checkpoint ends, to the same result.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
