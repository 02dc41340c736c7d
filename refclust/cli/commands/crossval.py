"""``refclust crossval``: judge classifiers on rows that they have not seen (chapter 55)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.options import data as dataio
from refclust.cli.options import label_files
from refclust.cli.options.dealing import Dealing
from refclust.cli.options.evidence.labelings import BackendName, Json
from refclust.cli.options.groups import together
from refclust.cli.output import note, say, say_data, say_json
from refclust.cli.show.tables import Form, Table, csv, in_csv
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.classify.crossval import CrossValidation, Training, Validated
    from refclust.cli.show.pieces import Piece

SCHEMA: Final = "refclust-crossval/1"
WORDS: Final = (
    "Pooled: the share of right answers among all of them. Mean: that of each fold, averaged. "
    "Training sets overlap, so the spread of the folds is no standard error."
)
_RESERVED: Final = ("data", "labels", "weights", "backend", "session")

ModelNames = Annotated[
    str,
    typer.Argument(
        metavar="MODEL[,MODEL…]", help="naive-bayes, lda, qda, nearest-gaussian; or several."
    ),
]
ClassLabels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="COLUMN|FILE[:COLUMN]",
        help="The class of each row: a column of the data, or a file. [--label-column]",
    ),
]
ModelOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="[MODEL:]NAME=VALUE",
        help="An option of the models as in `refclust fit`, such as smoothing=laplace.",
    ),
]
WrittenAs = Annotated[
    Form, typer.Option("--as", help="How to write it; --format is that of the data.")
]


@dataio.reads
@together(Dealing, "dealing")
def crossval(
    model: ModelNames,
    data: dataio.DataFile,
    labels: ClassLabels = None,
    option: ModelOptions = None,
    form: WrittenAs = "text",
    backend: BackendName = None,
    as_json: Json = False,
    *,
    dealing: Dealing,
    reading: dataio.DataOptions,
) -> None:
    """Cross-validate classifiers: fold by fold, pooled and averaged.

    \b
    refclust crossval lda iris.csv --labels species --folds 10 --stratified
    refclust crossval lda,qda iris.csv --labels species --repeats 10 --set qda:floor=1e-6
    refclust crossval naive-bayes mails.jsonl --text-column text --labels kind --set m=1

    Two models are compared by the corrected resampled t-test; five repeats of two folds also by
    the 5x2cv t-test. --json has the accuracies of all folds: columns for `corrected_t`,
    `five_by_two_t`, `wilcoxon` and `friedman` in Python.
    """
    from refclust.classify.crossval import crossval as validate
    from refclust.cli.commands.fit.classifiers import classes_of

    names = [name.strip().replace("_", "-") for name in model.split(",") if name.strip()]
    trainings = _trainings(names, option or [])
    dealing.check()
    file, asked = classes_of(labels, reading)
    source = dataio.read(data, asked)
    classes = source.data.labels if file is None else label_files.read(file, reading, source.data)
    if classes is None:
        raise BadOption("which classes? --labels names a column of the data, or a file")
    rows = replace(source.data, labels=tuple(classes)) if file is not None else source.data
    plan = rows.preparation
    if plan is not None and (plan.scale is not None or plan.fills is not None):
        note("scales and fills are those of all rows, also of those that a fold holds out")
    validation = validate(
        trainings,
        rows,
        classes if file is not None else None,
        folds=rows.n if dealing.leave_one_out else dealing.folds,
        stratified=dealing.stratified,
        repeats=dealing.repeats,
        seed=dealing.seed,
        backend=backend,
    )
    if as_json:
        say_json(_json(validation))
    elif form == "csv":
        say_data(_csv(validation))
    else:
        from refclust.cli.show.pieces import rendered

        say(rendered(_pieces(validation), form).rstrip("\n"))


def _trainings(names: Sequence[str], options: Sequence[str]) -> list[Training]:
    """The calls that train each model, with the options that are meant for it."""
    from functools import partial

    from refclust.classify.crossval import TRAININGS
    from refclust.numbers.reading import shown

    for name in names:
        if name not in TRAININGS:
            raise BadOption(f"no model is called {shown(name)}; there are: {', '.join(TRAININGS)}")
    if not names:
        raise BadOption("name a model: " + ", ".join(TRAININGS))
    keywords: dict[str, dict[str, Any]] = {name: {} for name in names}
    for text in options:
        target, value = _option(text, names)
        for name in target:
            keywords[name].update(value)
    return [partial(TRAININGS[name], **keywords[name]) for name in names]


def _option(text: str, names: Sequence[str]) -> tuple[Sequence[str], dict[str, Any]]:
    """An option of one model, or of all of them."""
    from refclust.numbers.reading import shown

    key, equals, value = text.partition("=")
    target, colon, name = key.rpartition(":")
    if not equals or not name:
        raise BadOption(f"--set {shown(text)} is not of the form NAME=VALUE or MODEL:NAME=VALUE")
    if name in _RESERVED:
        raise BadOption(f"--set {shown(text)}: {name} is no option of a model here")
    if colon and target not in names:
        raise BadOption(f"--set {shown(text)}: {shown(target)} is not among the models named")
    try:
        number: Any = float(value)
    except ValueError:
        number = value
    return ([target] if colon else names), {name.replace("-", "_"): number}


def _table(validation: CrossValidation, shown: Callable[[float], str]) -> Table:
    """A fold a row, a model a column."""
    head = ["repeat", "fold", "rows", *(model.name for model in validation.models)]
    rows = []
    for place, fold in enumerate(validation.models[0].folds):
        rates = [shown(float(model.rates[place])) for model in validation.models]
        number = place % len(validation.splits[0])
        rows.append([str(fold.repeat + 1), str(number + 1), str(len(fold.rows)), *rates])
    return Table(head, rows)


def _tests(validation: CrossValidation) -> dict[str, Any]:
    """P-values of the difference of two models, by the tests that fit the folds."""
    import refclust

    if len(validation.models) != 2:
        return {}
    scores: dict[str, Any] = {}
    if len(validation.models[0].rates) > 1:
        share = validation.test_share
        scores["corrected t"] = refclust.corrected_t(*validation.rates, test_share=share)
    if (len(validation.splits), len(validation.splits[0])) == (5, 2):
        scores["5x2cv t"] = refclust.five_by_two_t(*validation.rates)
    return scores


def _pieces(validation: CrossValidation) -> Iterator[Piece]:
    from refclust.cli.show.pieces import Title, Words
    from refclust.cli.show.scores.rendering import P_VALUE, value_text

    n, k, repeats = (
        len(validation.models[0].truth),
        len(validation.splits[0]),
        len(validation.splits),
    )
    kind = "stratified folds" if validation.stratified else "folds"
    times = f" {repeats} times," if repeats > 1 else ""
    yield Title(f"{n} rows, {k} {kind},{times} seed {validation.seed}")
    yield _table(validation, "{:.6g}".format)
    yield Table(
        ["model", "right", "answers", "pooled", "mean of folds"],
        [
            [
                model.name,
                str(sum(fold.right for fold in model.folds)),
                str(sum(len(fold.rows) for fold in model.folds)),
                f"{float(model.pooled):.6g}",
                f"{float(model.mean):.6g}",
            ]
            for model in validation.models
        ],
        words=frozenset((0,)),
    )
    tests = _tests(validation)
    for name, score in tests.items():
        yield Words(f"Difference of the two, {name} test: p = {value_text(score)}.")
    if tests:
        yield Words(P_VALUE)
    yield Words(WORDS)


def _csv(validation: CrossValidation) -> str:
    return csv(_table(validation, in_csv))


def _json(validation: CrossValidation) -> dict[str, Any]:
    from refclust.cli.show.scores.rendering import score_json
    from refclust.version import __version__

    return {
        "schema": SCHEMA,
        "refclust": __version__,
        "n": len(validation.models[0].truth),
        "folds": len(validation.splits[0]),
        "repeats": len(validation.splits),
        "stratified": validation.stratified,
        "seed": validation.seed,
        "splits": [[list(fold) for fold in split] for split in validation.splits],
        "models": [_model_json(model, len(validation.splits)) for model in validation.models],
        "tests": {name: score_json(score) for name, score in _tests(validation).items()},
    }


def _model_json(model: Validated, repeats: int) -> dict[str, Any]:
    return {
        "name": model.name,
        "pooled": {"value": float(model.pooled), "exact": str(model.pooled)},
        "mean": {"value": float(model.mean), "exact": str(model.mean)},
        "accuracies": [float(rate) for rate in model.rates],
        "right": [fold.right for fold in model.folds],
        "confusion": [
            {"true": str(true), "predicted": str(predicted), "count": count}
            for (true, predicted), count in sorted(model.confusion.items(), key=repr)
        ],
        "predictions": [
            [str(label) for label in model.predictions(repeat)] for repeat in range(repeats)
        ],
    }
