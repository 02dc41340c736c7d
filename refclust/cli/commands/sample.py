"""``refclust sample``: rows drawn from a mixture or a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from refclust.cli.commands.predict import ModelFile
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.options.fit import Force, Seed
from refclust.cli.output import check_output, note, say_data, say_json
from refclust.cli.show.spreadsheets import SpreadsheetSafe, refuse_other, table
from refclust.errors import BadOption
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.models.records.clusters import ClassifierModel, MixtureModel


def sample(
    model: ModelFile,
    n: Annotated[int, typer.Option("-n", "--rows", metavar="N", help="How many rows.")],
    seed: Seed = 0,
    length: Annotated[
        float | None,
        typer.Option(
            "--length", metavar="L", help="Mean number of words of a row of a multinomial model."
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="FILE", help="Where to write, format by the ending. [CSV on stdout]"
        ),
    ] = "-",
    labels: Annotated[
        bool, typer.Option("--labels", help="Add the component or class of each row.")
    ] = False,
    spreadsheet_safe: SpreadsheetSafe = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Draw rows from a mixture or a classifier: the same rows for the same seed.

    \b
    refclust sample iris.model.json -n 1000 --seed 7 --out new.csv
    refclust sample texts.model.json -n 100 --length 80 --labels
    """
    check_output(out, force=force)
    from refclust.data.writers.writing import choose, write
    from refclust.models.clusters import load_model
    from refclust.models.records.clusters import ClassifierModel, MixtureModel

    form = "csv" if out == "-" else choose(out).name
    refuse_other(form, safe=spreadsheet_safe)
    loaded = load_model(model)
    if not isinstance(loaded, MixtureModel | ClassifierModel):
        held = f"{for_terminal(model)} holds a {loaded.algorithm} model"
        raise BadOption(
            f"{held}, which says nothing of how rows come about; a mixture or a classifier does"
        )
    if as_json and out == "-":
        say_json(_told(model, _drawn(loaded, n, seed, length, labelled=True), seed))
        return
    rows = table(_drawn(loaded, n, seed, length, labelled=labels), form=form, safe=spreadsheet_safe)
    if out == "-":
        _print(rows)
        return
    for part in write(out, rows, force=force):
        note(f"{part} are left out: files like {for_terminal(out)} do not hold them")
    if as_json:
        say_json({"schema": "refclust-sample/1", "model": model, "n": n, "seed": seed, "out": out})
        return
    note(f"wrote {for_terminal(out)}")


def _told(model: str, rows: Dataset, seed: int) -> dict[str, object]:
    """The rows with their components, for programs."""
    return {
        "schema": "refclust-sample/1",
        "model": model,
        "n": rows.n,
        "seed": seed,
        "features": None if rows.features is None else list(rows.features),
        "rows": [list(row) for row in rows.rows()],
        "labels": list(rows.labels or ()),
    }


def _drawn(
    model: MixtureModel | ClassifierModel,
    n: int,
    seed: int,
    length: float | None,
    *,
    labelled: bool,
) -> Dataset:
    from refclust.data.accepting.door import dataset
    from refclust.mixture.sample import sample as draw
    from refclust.models.records.clusters import MixtureModel

    family = model.family
    if family == "multinomial" and length is None:
        raise BadOption("how long? a multinomial model knows words, not lengths: give --length L")
    if family != "multinomial" and length is not None:
        raise BadOption(f"--length belongs to multinomial models; this one is {family}")
    drawn = draw(model.fitted.parameters.mixture(), n, family=family, seed=seed, length=length)
    names: Sequence[object] = range(len(model.fitted.sizes))
    if not isinstance(model, MixtureModel):
        names = model.fitted.classes
    return dataset(
        drawn.rows,
        features=model.data.features,
        labels=[str(names[k]) for k in drawn.labels] if labelled else None,
    )


def _print(rows: Dataset) -> None:
    from refclust.data.writers.writing import WRITERS

    for chunk in WRITERS["csv"].chunks(rows):
        say_data(chunk.decode())
