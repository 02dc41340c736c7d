"""What a fit writes and prints: checked before any work, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refclust.cli.dataio import refuse_same
from refclust.cli.output import (
    note,
    refuse_existing,
    say,
    say_beside,
    say_data,
    say_json,
)
from refclust.cli.spreadsheets import labelled, refuse_other
from refclust.errors import BadOption, FileNotReadable, UnknownFormat
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.classify.model import Fitted
    from refclust.cli.dataio import Source
    from refclust.cluster.model import Cut
    from refclust.cluster.results import Iteration
    from refclust.cluster.tree import Merge
    from refclust.data.dataset import Dataset
    from refclust.metrics.score import Score


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files a fit writes; checked before any work is done for them."""

    model: str | None = None
    labels: str | None = None
    table: str | None = None  # of iterations or of merges
    force: bool = False
    spreadsheet_safe: bool = False

    def check(self, *, inputs: list[str | None], as_json: bool) -> None:
        """Refuse what could not be written at the end, or would destroy something."""
        for option, path in (("--model", self.model), ("--trace or --merges", self.table)):
            if path == "-":
                raise BadOption(f"{option} needs a file; only --labels can go to standard output")
        if self.labels == "-" and as_json:
            raise BadOption("--json and --labels - cannot share standard output; name a file")
        if inputs.count("-") > 1:
            raise BadOption("standard input (-) can be read only once")
        named = [one for one in (self.model, self.labels, self.table) if one is not None]
        refuse_same(named, [one for one in inputs if one is not None])
        for path in named:
            refuse_existing(path, force=self.force)
            _refuse_lost(path)
        if self.labels is not None and self.labels != "-":
            _refuse_ending(self.labels)
        refuse_other(self.form, safe=self.spreadsheet_safe)

    @property
    def form(self) -> str | None:
        """The format of the labels, if any are written."""
        from refclust.data.writers import label_format

        return label_format("-.csv" if self.labels == "-" else self.labels) if self.labels else None


def _refuse_lost(path: str) -> None:
    """Refuse a folder that is not there now, not after an hour of work."""
    if path == "-":
        return
    folder, shown = os.path.dirname(path) or os.curdir, for_terminal(path)
    if not os.path.isdir(folder):
        raise FileNotReadable(f"cannot write {shown}: there is no folder {for_terminal(folder)}")
    if not os.access(folder, os.W_OK):
        where = f"the folder {for_terminal(folder)}"
        raise FileNotReadable(f"cannot write {shown}: {where} cannot be written to")
    if os.path.isdir(path):
        raise FileNotReadable(f"cannot write {shown}: is a directory")


def _refuse_ending(path: str) -> None:
    from refclust.data.textfile import suffix

    if suffix(path) not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise UnknownFormat(
            f"labels cannot be written to {for_terminal(path)}; allowed: .csv, .tsv, .jsonl"
        )


def write(
    outputs: Outputs, source: Source, fit: Fitted, labels: Sequence[int], cut: Cut | None
) -> None:
    """Write the model, then the labels."""
    from refclust.data.writers import label_chunks, write_labels

    if outputs.model is not None:
        from refclust.classify.model import model_of, save_model
        from refclust.cluster.reading import reading_of

        reading = reading_of(source.format, source.options, source.data)
        found = model_of(fit, data=source.data, reading=reading, cut=cut)
        save_model(outputs.model, found, force=outputs.force)
        note(f"wrote {for_terminal(outputs.model)}")
    if outputs.labels is None:
        return
    data, labels = labelled(
        source.data, labels, form=outputs.form or "", safe=outputs.spreadsheet_safe
    )
    if outputs.labels == "-":
        for chunk in label_chunks(data, labels):
            say_data(chunk)
    else:
        write_labels(outputs.labels, data, labels)
        note(f"wrote {for_terminal(outputs.labels)}")


def centres(path: str, data: Dataset) -> Dataset:
    """Read centres to start from, over the features of the data."""
    from refclust.cli.dataio import Given, read
    from refclust.data.align import aligned
    from refclust.errors import DimensionMismatch

    found, left_out = aligned(read(path, Given()).data, data.features, data.d)
    if left_out:
        raise DimensionMismatch(
            f"{for_terminal(path)} has {left_out} features that the data do not have"
        )
    return found


def write_text(path: str, lines: Iterable[str]) -> None:
    """Write lines of text to a file."""
    from refclust.data.atomic import write_atomically

    write_atomically(path, (f"{line}\n".encode() for line in lines))
    note(f"wrote {for_terminal(path)}")


def trace_lines(trace: Sequence[Iteration], metric: str) -> Iterator[str]:
    """The iterations of a run as CSV."""
    cosine = metric == "cosine"
    yield "iteration,changed,rss,rss_updated" + (",cosine" if cosine else "")
    for one in trace:
        updated = "" if one.rss_updated is None else repr(one.rss_updated)
        more = f",{one.cosine!r}" if cosine else ""
        yield f"{one.iteration},{one.changed},{one.rss!r},{updated}{more}"


def merge_lines(merges: Sequence[Merge]) -> Iterator[str]:
    """A table of merges as CSV."""
    yield "a,b,height,size"
    for merge in merges:
        yield f"{merge.a},{merge.b},{merge.height!r},{merge.size}"


def sizes(labels: Sequence[int]) -> list[int]:
    """How many rows each cluster has."""
    from collections import Counter

    counts = Counter(labels)
    return [counts[label] for label in sorted(counts)]


def scores(data: Dataset, labels: Sequence[int]) -> list[Score]:
    """A few metrics against the classes that are known, as a service."""
    if data.labels is None:
        return []
    from refclust.cli.fit_summary import SHOWN
    from refclust.metrics import score

    # Rows count once each, whatever they weigh: these metrics judge rows.
    return [score(key, data.labels, list(labels)) for key in SHOWN]


def score_lines(scores: Sequence[Score]) -> Iterator[str]:
    """How well the clusters fit the classes that are known."""
    from refclust.cli import render

    yield "against the known classes (↑ higher is better; `refclust score` has all metrics)"
    yield from render.score_lines(scores, grouped=False)


def say_fit(told: dict[str, Any], scores: list[Score], outputs: Outputs, source: Source) -> None:
    """Print all about a fit as one JSON object."""
    from refclust.cli.fit_summary import SCHEMA
    from refclust.cli.render import score_json
    from refclust.version import __version__

    say_json(
        {
            "schema": SCHEMA,
            "refclust": __version__,
            **told,
            "format": source.format,
            "scores": [score_json(one) for one in scores],
            "files": {"model": outputs.model, "labels": outputs.labels, "table": outputs.table},
        }
    )


def tell(lines: Iterable[str], scores: list[Score], outputs: Outputs) -> None:
    """Print the summary, on stderr if the labels went to stdout."""
    text = "\n".join([*lines, *(["", *score_lines(scores)] if scores else [])])
    if outputs.labels == "-":
        say_beside(text)
    else:
        say(text)
