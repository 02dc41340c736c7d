"""``refclust fit``: k-means, bisecting k-means, trees of merges; the place of all other fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refclust.cli import lazy
from refclust.cli.commands.fit import files as fit_files
from refclust.cli.commands.fit import running as fit_run
from refclust.cli.options import data as dataio
from refclust.cli.options import label_files
from refclust.cli.options.fit import Files
from refclust.cli.options.groups import together
from refclust.cli.strict import App
from refclust.cluster.options import AgglomerativeCall, BisectingCall, KMeansCall
from refclust.errors import BadOption
from refclust.mixture.families.named import help_of, names

if TYPE_CHECKING:
    from refclust.cluster.results import BisectingFit, KMeansFit
    from refclust.fitting.checkpoint import Checkpoint

app = App(cls=lazy.LazyGroup, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def _fit() -> None:
    """Fit clusters, mixtures, classifiers: print a summary, write files.

    \b
    refclust fit kmeans iris.csv -k 3 --label-column label
    refclust fit agglomerative iris.csv -k 3 --label-column label
    refclust fit gaussian iris.csv -k 3 --label-column label --covariance tied
    refclust fit multinomial texts/ -k 8 --m 1
    refclust fit naive-bayes mails.jsonl --text-column text --label-column kind -o mails.model.json
    """


@app.command("kmeans", short_help="K-means: nearest centres, or nearest directions.")
@dataio.reads
@together(Files, "files", leave_out=("merges", "certify"))
@together(KMeansCall, "call")
def kmeans(
    data: dataio.DataFile, *, call: KMeansCall, files: Files, reading: dataio.DataOptions
) -> None:
    """Cluster rows by k-means: every decision exact, every number rounded once.

    \b
    refclust fit kmeans iris.csv -k 3 --label-column label
    refclust fit kmeans iris.csv -k 3 --label-column label --restarts 20 -o iris.model.json
    refclust fit kmeans texts/ -k 8 --metric cosine --stop-words stop.txt --labels labels.csv
    refclust fit kmeans big.npy -k 50 -o big.model.json --resume
    """
    centres: Any = call.centres  # files, as typed
    labels: Any = call.labels
    files.refuse([data, centres, label_files.split(labels)[0], reading.stop_words])
    if call.k is None and centres is None and labels is None:
        raise BadOption("how many clusters? give -k K, or a start: --centres or --start-labels")
    from refclust.cli.show import clusters as summary
    from refclust.cluster.fit import kmeans_steps

    source = dataio.read(data, reading)
    dataio.note_scales(source.data, call.metric)
    asked = replace(
        call,
        data=source.data,
        centres=None if centres is None else fit_files.centres(centres, source.data),
        labels=None if labels is None else label_files.read(labels, reading, source.data),
        trace="scalars",
        backend=files.backend,
    )

    def iterated(live: fit_run.Live, checkpoint: Checkpoint | None) -> KMeansFit:
        steps = kmeans_steps(**vars(replace(asked, checkpoint=checkpoint)))
        return fit_run.iterated(steps, live)

    fit = files.run(iterated)
    if files.check:
        fit_run.checked(fit, source.data)
    lines = fit_files.trace_lines(fit.trace, fit.metric)
    fit_files.write(files.outputs, source, fit, fit.labels, None, lines, files.backend)
    fit_run.drop(files.kept)
    scores = fit_files.scores(source.data, fit.labels)
    if files.as_json:
        fit_files.say_fit(summary.kmeans_json(fit), scores, files.outputs, source)
    else:
        fit_files.tell(summary.kmeans_lines(fit, source.data), scores, files.outputs)


@app.command("bisecting", short_help="Bisecting k-means: split one cluster after another.")
@dataio.reads
@together(Files, "files", leave_out=("merges", "trace", "check", "certify"))
@together(BisectingCall, "call")
def bisecting(
    data: dataio.DataFile, *, call: BisectingCall, files: Files, reading: dataio.DataOptions
) -> None:
    """Cluster rows top-down: split a cluster in two by k-means until there are K.

    \b
    refclust fit bisecting iris.csv -k 3 --label-column label
    refclust fit bisecting texts/ -k 8 --metric cosine --by size --labels labels.csv
    """
    files.refuse([data, reading.stop_words])
    k: int | None = call.k  # as typed
    if k is None:
        raise BadOption("how many clusters? give -k K")
    from refclust.cli.show import clusters as summary
    from refclust.cluster import bisecting as algorithm

    source = dataio.read(data, reading)
    dataio.note_scales(source.data, call.metric)

    def split(live: fit_run.Live, checkpoint: Checkpoint | None) -> BisectingFit:
        def watch(leaves: int) -> None:
            live.where = f"with {leaves} of {k} clusters"
            live.tell(f"{leaves} of {k} clusters")

        asked = replace(call, data=source.data, backend=files.backend, checkpoint=checkpoint)
        return algorithm.bisecting(**vars(replace(asked, after_split=watch)))

    fit = files.run(split)
    fit_files.write(files.outputs, source, fit, fit.labels, None, backend=files.backend)
    fit_run.drop(files.kept)
    scores = fit_files.scores(source.data, fit.labels)
    if files.as_json:
        fit_files.say_fit(summary.bisecting_json(fit), scores, files.outputs, source)
    else:
        fit_files.tell(summary.bisecting_lines(fit, source.data), scores, files.outputs)


@app.command("agglomerative", short_help="Merge the closest clusters into one tree.")
@dataio.reads
@together(
    Files,
    "files",
    leave_out=("trace", "checkpoint", "checkpoint_every", "resume", "check", "certify"),
)
@together(AgglomerativeCall, "call")
def agglomerative(
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="File or folder of the data; - is standard input."),
    ] = None,
    *,
    call: AgglomerativeCall,
    files: Files,
    reading: dataio.DataOptions,
) -> None:
    """Cluster rows bottom-up: merge the two closest clusters until one is left.

    \b
    refclust fit agglomerative iris.csv -k 3 --label-column label
    refclust fit agglomerative iris.csv --height 2.5 --linkage average --label-column label
    refclust fit agglomerative --distances matrix.csv --linkage complete --merges merges.csv
    """
    outputs = files.outputs
    outputs.check(inputs=[data, call.distances, reading.stop_words], as_json=files.as_json)
    if (data is None) == (call.distances is None):
        raise BadOption("give either DATA or --distances FILE")
    if call.k is None and call.height is None and (files.labels or files.output):
        option = "--labels" if files.labels else "--output"
        raise BadOption(f"{option} needs clusters: cut the tree with -k K or --height H")
    if files.output is not None and data is None:
        raise BadOption("--output writes the rows of DATA; distances have none")
    from refclust.cli.show import clusters as summary
    from refclust.cluster import hierarchical
    from refclust.models.clusters import Cut

    rows: dict[str, Any]
    if data is None:
        source = dataio.read_plain(call.distances, reading)
        rows = {"distances": source.data}
    elif call.metric == hierarchical.GOWER:
        source, table = dataio.read_mixed(data, reading)
        rows = {"data": table}
    else:
        source = dataio.read(data, reading)
        dataio.note_scales(source.data, call.metric)
        rows = {"data": source.data}
    tree = hierarchical.agglomerative(**vars(replace(call, backend=files.backend, **rows)))
    cut = None if tree.labels is None else Cut(k=call.k, height=call.height)
    lines = fit_files.merge_lines(tree.merges)
    fit_files.write(outputs, source, tree, tree.labels or (), cut, lines)
    sizes = None if tree.labels is None else fit_files.sizes(tree.labels)
    scores = [] if tree.labels is None else fit_files.scores(source.data, tree.labels)
    if files.as_json:
        fit_files.say_fit(summary.tree_json(tree, source.data, sizes), scores, outputs, source)
    else:
        done = source.data if data is not None else None
        fit_files.tell(summary.tree_lines(tree, sizes, done), scores, outputs)


for _name, _place, _help in (
    *((family, f"mixtures:{family}", help_of(family)) for family in names()),
    ("naive-bayes", "classifiers:naive_bayes", "Naive Bayes: classes of words or numbers."),
    ("qda", "classifiers:qda", "Quadratic discriminants: a Gaussian for each class."),
    ("lda", "classifiers:lda", "Linear discriminants: one covariance for all classes."),
    (
        "nearest-gaussian",
        "classifiers:nearest_gaussian",
        "The class of the largest density, whatever its share.",
    ),
):
    lazy.command(app, _name, f"refclust.cli.commands.fit.{_place}", _help, group="fit")
