"""``refclust fit``: k-means, bisecting k-means, trees of merges; the place of all other fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from refclust.cli import dataio, fit_files, fit_run, label_files, lazy
from refclust.cli import fit_options as opt
from refclust.cli.inputs import BackendName, Json
from refclust.cli.spreadsheets import SpreadsheetSafe
from refclust.cli.strict import App
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.cluster.results import BisectingFit
    from refclust.cluster.steps import Steps

LinkageName: TypeAlias = Literal[
    "single", "complete", "average", "weighted", "centroid", "median", "ward"
]

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
def kmeans(
    data: dataio.DataFile,
    k: opt.K = None,
    start: opt.Start = "k-means++",
    centres: opt.CentresFile = None,
    start_labels: opt.StartLabels = None,
    metric: opt.Metric = "euclidean",
    seed: opt.Seed = 0,
    restarts: opt.Restarts = 1,
    trials: opt.Trials = None,
    empty: opt.Empty = "farthest",
    tolerance: opt.Tolerance = None,
    limit: opt.Limit = 300,
    model: opt.ModelFile = None,
    labels: opt.LabelsFile = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    trace: opt.TraceFile = None,
    checkpoint: opt.CheckpointFile = None,
    checkpoint_every: opt.CheckpointEvery = 30.0,
    resume: opt.Resume = False,
    force: opt.Force = False,
    backend: BackendName = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check the fit again: a sample of rows and one full step."),
    ] = False,
    as_json: Json = False,
    *,
    given: dataio.Given,
) -> None:
    """Cluster rows by k-means: every decision exact, every number rounded once.

    \b
    refclust fit kmeans iris.csv -k 3 --label-column label
    refclust fit kmeans iris.csv -k 3 --label-column label --restarts 20 -o iris.model.json
    refclust fit kmeans texts/ -k 8 --metric cosine --stop-words stop.txt --labels labels.csv
    refclust fit kmeans big.npy -k 50 -o big.model.json --resume
    """
    outputs = fit_files.Outputs(model, labels, trace, force, spreadsheet_safe)
    read_from = [data, centres, label_files.split(start_labels)[0], given.stop_words]
    outputs.check(inputs=read_from, as_json=as_json)
    kept = fit_run.checkpoint_path(checkpoint, model)
    fit_run.check_checkpoint(
        kept,
        checkpoint_every,
        resume=resume,
        force=force,
        others=[*read_from, model, labels, trace],
    )
    if k is None and centres is None and start_labels is None:
        raise BadOption("how many clusters? give -k K, or a start: --centres or --start-labels")
    from refclust.cli import fit_summary
    from refclust.cluster.kmeans import kmeans_steps

    source = dataio.read(data, given)
    given_centres = None if centres is None else fit_files.centres(centres, source.data)
    given_labels = None if start_labels is None else label_files.read(start_labels, given)

    def begun() -> Steps:
        return kmeans_steps(
            source.data,
            k,
            start=start,
            centres=given_centres,
            labels=given_labels,
            metric=metric,
            seed=seed,
            restarts=restarts,
            trials=trials,
            empty=empty,
            tolerance=tolerance,
            limit=limit,
            trace="scalars",
            backend=backend,
            checkpoint=fit_run.checkpoint_of(kept, checkpoint_every, resume=resume),
        )

    fit = fit_run.run(lambda live: fit_run.iterated(begun(), live), kept)
    if check:
        fit_run.checked(fit, source.data)
    lines = fit_files.trace_lines(fit.trace, metric)
    fit_files.write(outputs, source, fit, fit.labels, None, lines)
    fit_run.drop(kept)
    scores = fit_files.scores(source.data, fit.labels)
    if as_json:
        fit_files.say_fit(fit_summary.kmeans_json(fit), scores, outputs, source)
    else:
        fit_files.tell(fit_summary.kmeans_lines(fit, source.data), scores, outputs)


@app.command("bisecting", short_help="Bisecting k-means: split one cluster after another.")
@dataio.reads
def bisecting(
    data: dataio.DataFile,
    k: opt.K = None,
    by: Annotated[
        opt.ByName, typer.Option("--by", help="Split the cluster of largest RSS or largest size.")
    ] = "rss",
    start: opt.Start = "k-means++",
    metric: opt.Metric = "euclidean",
    seed: opt.Seed = 0,
    restarts: opt.Restarts = 1,
    limit: opt.Limit = 300,
    model: opt.ModelFile = None,
    labels: opt.LabelsFile = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    checkpoint: opt.CheckpointFile = None,
    checkpoint_every: opt.CheckpointEvery = 30.0,
    resume: opt.Resume = False,
    force: opt.Force = False,
    backend: BackendName = None,
    as_json: Json = False,
    *,
    given: dataio.Given,
) -> None:
    """Cluster rows top-down: split a cluster in two by k-means until there are K.

    \b
    refclust fit bisecting iris.csv -k 3 --label-column label
    refclust fit bisecting texts/ -k 8 --metric cosine --by size --labels labels.csv
    """
    outputs = fit_files.Outputs(model, labels, None, force, spreadsheet_safe)
    outputs.check(inputs=[data, given.stop_words], as_json=as_json)
    kept = fit_run.checkpoint_path(checkpoint, model)
    fit_run.check_checkpoint(
        kept,
        checkpoint_every,
        resume=resume,
        force=force,
        others=[data, given.stop_words, model, labels],
    )
    if k is None:
        raise BadOption("how many clusters? give -k K")
    from refclust.cli import fit_summary
    from refclust.cluster import bisecting as algorithm

    source, wanted = dataio.read(data, given), k

    def split(live: fit_run.Live) -> BisectingFit:
        def told(leaves: int) -> None:
            live.where = f"with {leaves} of {wanted} clusters"
            live.tell(f"{leaves} of {wanted} clusters")

        return algorithm.bisecting(
            source.data,
            wanted,
            by=by,
            metric=metric,
            start=start,
            seed=seed,
            restarts=restarts,
            limit=limit,
            backend=backend,
            checkpoint=fit_run.checkpoint_of(kept, checkpoint_every, resume=resume),
            after_split=told,
        )

    fit = fit_run.run(split, kept)
    fit_files.write(outputs, source, fit, fit.labels, None)
    fit_run.drop(kept)
    scores = fit_files.scores(source.data, fit.labels)
    if as_json:
        fit_files.say_fit(fit_summary.bisecting_json(fit), scores, outputs, source)
    else:
        fit_files.tell(fit_summary.bisecting_lines(fit, source.data), scores, outputs)


@app.command("agglomerative", short_help="Merge the closest clusters into one tree.")
@dataio.reads
def agglomerative(
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="File or folder of the data; - is standard input."),
    ] = None,
    k: opt.K = None,
    height: Annotated[
        float | None, typer.Option("--height", metavar="H", help="Cut the tree at this height.")
    ] = None,
    linkage: Annotated[
        LinkageName, typer.Option("--linkage", help="How far apart two clusters are.")
    ] = "ward",
    metric: opt.Metric = "euclidean",
    distances: Annotated[
        str | None,
        typer.Option("--distances", metavar="FILE", help="A square matrix, instead of DATA."),
    ] = None,
    model: opt.ModelFile = None,
    labels: opt.LabelsFile = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    merges: Annotated[
        str | None,
        typer.Option("--merges", metavar="FILE", help="Write the table of merges, as CSV."),
    ] = None,
    force: opt.Force = False,
    backend: BackendName = None,
    as_json: Json = False,
    *,
    given: dataio.Given,
) -> None:
    """Cluster rows bottom-up: merge the two closest clusters until one is left.

    \b
    refclust fit agglomerative iris.csv -k 3 --label-column label
    refclust fit agglomerative iris.csv --height 2.5 --linkage average --label-column label
    refclust fit agglomerative --distances matrix.csv --linkage complete --merges merges.csv
    """
    outputs = fit_files.Outputs(model, labels, merges, force, spreadsheet_safe)
    outputs.check(inputs=[data, distances, given.stop_words], as_json=as_json)
    if (data is None) == (distances is None):
        raise BadOption("give either DATA or --distances FILE")
    if labels is not None and k is None and height is None:
        raise BadOption("--labels needs clusters: cut the tree with -k K or --height H")
    from refclust.cli import fit_summary
    from refclust.cluster import hierarchical
    from refclust.cluster.model import Cut

    source = dataio.read(data or distances or "", given)
    tree = hierarchical.agglomerative(
        None if data is None else source.data,
        linkage=linkage,
        metric=metric,
        k=k,
        height=height,
        distances=None if distances is None else source.data,
        backend=backend,
    )
    cut = None if tree.labels is None else Cut(k=k, height=height)
    lines = fit_files.merge_lines(tree.merges)
    fit_files.write(outputs, source, tree, tree.labels or (), cut, lines)
    sizes = None if tree.labels is None else fit_files.sizes(tree.labels)
    scores = [] if tree.labels is None else fit_files.scores(source.data, tree.labels)
    if as_json:
        told = fit_summary.tree_json(tree, source.data, sizes)
        fit_files.say_fit(told, scores, outputs, source)
    else:
        fit_files.tell(fit_summary.tree_lines(tree, sizes), scores, outputs)


for _name, _place, _help in (
    ("gaussian", "fit_mixture:gaussian", "Gaussian mixture: soft clusters of any shape."),
    ("multinomial", "fit_mixture:multinomial", "Multinomial mixture: soft clusters of counts."),
    ("bernoulli", "fit_mixture:bernoulli", "Bernoulli mixture: soft clusters of zeros and ones."),
    ("naive-bayes", "fit_classifier:naive_bayes", "Naive Bayes: classes of words or numbers."),
    ("qda", "fit_classifier:qda", "Quadratic discriminants: a Gaussian for each class."),
    ("lda", "fit_classifier:lda", "Linear discriminants: one covariance for all classes."),
    (
        "nearest-gaussian",
        "fit_classifier:nearest_gaussian",
        "The class of the largest density, whatever its share.",
    ),
):
    lazy.command(app, _name, f"refclust.cli.{_place}", _help, group="fit")
