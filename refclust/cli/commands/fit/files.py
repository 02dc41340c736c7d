"""What a fit writes and prints: checked before any work, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refclust.cli.options.data import refuse_same
from refclust.cli.output import (
    check_output,
    note,
    say,
    say_beside,
    say_bytes,
    say_data,
    say_json,
)
from refclust.cli.show.spreadsheets import labelled, refuse_other
from refclust.data.files.source import refuse_twice
from refclust.errors import BadOption, RefclustError, UnknownFormat
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.cli.options.data import Source
    from refclust.cluster.results import Iteration
    from refclust.cluster.tree import Merge
    from refclust.data.dataset import Dataset
    from refclust.metrics.score import Score
    from refclust.models.classifiers import Fitted
    from refclust.models.clusters import Cut


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files a fit writes; checked before any work is done for them."""

    model: str | None = None
    labels: str | None = None
    table: str | None = None  # of iterations or of merges
    force: bool = False
    spreadsheet_safe: bool = False
    output: str | None = None  # the user's own table with answers

    def check(self, *, inputs: list[str | None], as_json: bool) -> None:
        """Refuse what could not be written at the end, or would destroy something."""
        for option, path in (("--model", self.model), ("--trace or --merges", self.table)):
            if path == "-":
                raise BadOption(
                    f"{option} needs a file; only --labels or --output can go to standard output"
                )
        printed = [
            option
            for option, path in (("--labels", self.labels), ("--output", self.output))
            if path == "-"
        ]
        if printed and as_json:
            raise BadOption(f"--json and {printed[0]} - cannot share standard output; name a file")
        if len(printed) > 1:
            raise BadOption("--labels and --output cannot share standard output; name a file")
        refuse_twice(inputs)
        files = (self.model, self.labels, self.table, self.output)
        named = [path for path in files if path is not None]
        refuse_same(named, [path for path in inputs if path is not None])
        for path in named:
            check_output(path, force=self.force)
        if self.labels is not None and self.labels != "-":
            _refuse_ending(self.labels)
        if self.output is not None:
            from refclust.data.files.source import hold
            from refclust.data.writers.joined import check_ending

            check_ending("-.csv" if self.output == "-" else self.output)
            hold(inputs[0] or "")
        if self.output is None or self.labels is not None:
            refuse_other(self.form, safe=self.spreadsheet_safe)

    @property
    def form(self) -> str | None:
        """The format of the labels, if any are written."""
        from refclust.data.writers.writing import label_format

        return label_format("-.csv" if self.labels == "-" else self.labels) if self.labels else None


def _refuse_ending(path: str) -> None:
    from refclust.data.files.textfile import suffix

    if suffix(path) not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise UnknownFormat(
            f"labels cannot be written to {for_terminal(path)}; allowed: .csv, .tsv, .jsonl"
        )


def write(
    outputs: Outputs,
    source: Source,
    fit: Fitted,
    labels: Sequence[int],
    cut: Cut | None,
    table: Iterable[str] = (),
    backend: str | None = None,
) -> None:
    """Write the model, the labels, the table of iterations or merges, then the user's own table.

    That one of them cannot be written, or its name was taken while the fit ran, is no reason to
    lose the others.
    """
    failed: list[RefclustError] = []
    jobs: tuple[Callable[[], None], ...] = (
        lambda: _write_model(outputs, source, fit, cut),
        lambda: _write_labels(outputs, source, labels),
        lambda: _write_table(outputs, table),
        lambda: _write_joined(outputs, source, fit, labels, cut, backend),
    )
    for job in jobs:
        try:
            job()
        except RefclustError as error:
            failed.append(error)
    for earlier in failed[:-1]:
        note(f"{earlier} [{earlier.code}]")
    if failed:
        raise failed[-1]


def _write_model(outputs: Outputs, source: Source, fit: Fitted, cut: Cut | None) -> None:
    if outputs.model is None:
        return
    from refclust.models.classifiers import model_of, save_model
    from refclust.models.reading import reading_of

    reading = reading_of(source.format, source.options, source.data)
    model = model_of(fit, data=source.data, reading=reading, cut=cut)
    save_model(outputs.model, model, force=outputs.force)
    note(f"wrote {for_terminal(outputs.model)}")


def _write_labels(outputs: Outputs, source: Source, labels: Sequence[int]) -> None:
    from refclust.data.writers.writing import label_chunks, write_labels

    if outputs.labels is None:
        return
    data, labels = labelled(
        source.data, labels, form=outputs.form or "", safe=outputs.spreadsheet_safe
    )
    if outputs.labels == "-":
        for chunk in label_chunks(data, labels):
            say_data(chunk)
    else:
        write_labels(outputs.labels, data, labels, force=outputs.force)
        note(f"wrote {for_terminal(outputs.labels)}")


def _write_table(outputs: Outputs, lines: Iterable[str]) -> None:
    if outputs.table is None:
        return
    from refclust.data.files.atomic import write_atomically

    content = (f"{line}\n".encode() for line in lines)
    write_atomically(outputs.table, content, replace=outputs.force)
    note(f"wrote {for_terminal(outputs.table)}")


def _write_joined(
    outputs: Outputs,
    source: Source,
    fit: Fitted,
    labels: Sequence[int],
    cut: Cut | None,
    backend: str | None,
) -> None:
    if outputs.output is None:
        return
    from refclust.cli.commands.predict import Wanted, answered
    from refclust.models.classifiers import model_of
    from refclust.models.records.clusters import ClassifierModel, MixtureModel

    added: dict[str, Sequence[Any]] = {"cluster": labels}
    if cut is None:  # a tree has no centres
        model = model_of(fit, data=source.data)
        soft = isinstance(model, MixtureModel | ClassifierModel)
        wanted = Wanted(distance=True, proba=True, impossible="prior" if soft else "error")
        added |= answered(model, source.data, wanted, backend, either=True).extra
    write_joined(outputs, source, added)


def write_joined(outputs: Outputs, source: Source, added: Mapping[str, Sequence[Any]]) -> None:
    """Write the user's own rows with answers, or print them.

    Spec: DATA-JOIN
    """
    from refclust.backends.plugins import formats
    from refclust.data.files.atomic import write_atomically
    from refclust.data.files.packing import check_packing, packed
    from refclust.data.preparing.reading import rows_kept
    from refclust.data.writers.joined import Joining, joined

    assert outputs.output is not None
    reader = formats.choose(source.path, source.format)
    kept = rows_kept(source.data.preparation, reader, source.path, source.options)
    safe = outputs.spreadsheet_safe
    frame = None
    if reader.frame is not None and reader.name not in ("csv", "tsv"):
        frame = reader.frame(source.path, replace(source.options, columns=None, exclude=None), None)
    joining = Joining(
        *(source.path, source.format, source.options, source.data, added, kept), safe, frame
    )
    if outputs.output == "-":
        say_bytes(joined(joining, "-.csv"), what="the table", is_text=True)
        return
    check_packing(outputs.output)
    chunks = packed(outputs.output, joined(joining, outputs.output))
    write_atomically(outputs.output, chunks, replace=outputs.force)
    note(f"wrote {for_terminal(outputs.output)}")


def centres(path: str, data: Dataset) -> Dataset:
    """Read centres to start from, in the units of the data as the user has them."""
    from refclust.backends.plugins import formats
    from refclust.data.align import aligned
    from refclust.data.files.source import keeping
    from refclust.data.preparing.reading import read_again
    from refclust.data.readers.formats import Options
    from refclust.errors import DimensionMismatch
    from refclust.models.reading import in_units

    with keeping(path):
        given = read_again(data.preparation, formats.choose(path), path, Options())
    rows, left_out = aligned(given, data.features, data.d)
    if left_out:
        raise DimensionMismatch(
            f"{for_terminal(path)} has {left_out} features that the data do not have"
        )
    return in_units(data.preparation, rows)


def trace_lines(trace: Sequence[Iteration], metric: str) -> Iterator[str]:
    """The iterations of a run as CSV."""
    cosine = metric == "cosine"
    yield "iteration,changed,rss,rss_updated" + (",cosine" if cosine else "")
    for each in trace:
        updated = "" if each.rss_updated is None else repr(each.rss_updated)
        more = f",{each.cosine!r}" if cosine else ""
        yield f"{each.iteration},{each.changed},{each.rss!r},{updated}{more}"


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
    from refclust.cli.show.clusters import SHOWN
    from refclust.metrics import score

    # Rows count once each, whatever they weigh: these metrics judge rows.
    return [score(key, data.labels, list(labels)) for key in SHOWN]


def score_lines(scores: Sequence[Score]) -> Iterator[str]:
    """How well the clusters fit the classes that are known."""
    from refclust.cli.show import scores as render

    yield "against the known classes (↑ higher is better; `refclust score` has all metrics)"
    yield from render.score_lines(scores, grouped=False)


def say_fit(facts: dict[str, Any], scores: list[Score], outputs: Outputs, source: Source) -> None:
    """Print all about a fit as one JSON object."""
    from refclust.cli.show.clusters import SCHEMA
    from refclust.cli.show.scores import score_json
    from refclust.version import __version__

    say_json(
        {
            "schema": SCHEMA,
            "refclust": __version__,
            **facts,
            "format": source.format,
            "preparation": preparation_json(source.data),
            "scores": [score_json(score) for score in scores],
            "files": {
                "model": outputs.model,
                "labels": outputs.labels,
                "table": outputs.table,
                "output": outputs.output,
            },
        }
    )


def preparation_json(data: Dataset) -> Any:
    """What was done to the columns, as a model file holds it; null if nothing was."""
    if data.preparation is None:
        return None
    from dataclasses import asdict

    return asdict(data.preparation)


def tell(lines: Iterable[str], scores: list[Score], outputs: Outputs) -> None:
    """Print the summary, on stderr if the labels went to stdout."""
    text = "\n".join([*lines, *(["", *score_lines(scores)] if scores else [])])
    if "-" in (outputs.labels, outputs.output):
        say_beside(text)
    else:
        say(text)
