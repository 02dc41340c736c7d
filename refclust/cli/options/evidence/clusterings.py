"""Rows or proximities with their clusters, from files: what metrics of one clustering are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.options import data as dataio
from refclust.cli.options.evidence.cases import EvidenceCase
from refclust.cli.options.evidence.labelings import read_weights, weights_beside
from refclust.cli.options.label_files import Side, read_sides, sign_for
from refclust.errors import BadOption, LabelLengthMismatch
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.cli.options.data import DataOptions
    from refclust.cli.options.evidence.options import EvidenceOptions
    from refclust.data.dataset import Dataset
    from refclust.models.records.clusters import Model

_MODEL: Final = ".json"  # how the name of a model's file ends; no file of labels is called so


def read(named: EvidenceOptions, reading: DataOptions, session: Session) -> list[EvidenceCase]:
    """Read rows or proximities once, and the clusters of every clustering.

    Spec: CONV-EVIDENCE
    """
    path = named.data or named.proximity
    assert path is not None
    reading = replace(
        reading, format=named.data_format, header=named.header, delimiter=named.delimiter
    )
    files = named.files or []
    models = [file for file in files if _is_model(file)]
    columns: list[str | None] = [*(named.column_pred or ())] or [None]
    labels = [Side.of(file, column) for file in files if not _is_model(file) for column in columns]
    weights = None if named.weights is None else Side.of(named.weights)
    _refuse_twice([path, reading.stop_words, *models], labels, weights)
    if models and named.proximity is not None:
        raise BadOption(f"{for_terminal(models[0])}: a model puts rows into clusters; give --data")
    loaded = {file: _load(file) for file in models}
    data = _rows(path, reading, loaded)
    weighed = read_weights(weights, named.delimiter, reading.id_column)
    counts = weights_beside(weighed, for_terminal(path), range(data.n), data.ids)
    clusterings = _clusterings(named, data, loaded, labels, reading.id_column, session)
    return _cases(named, data, clusterings, counts, session)


def _clusterings(
    named: EvidenceOptions,
    data: Dataset,
    models: dict[str, Model],
    sides: list[Side],
    id_column: str | None,
    session: Session,
) -> list[tuple[str, Sequence[Any]]]:
    """The clusters of every row by each file of labels and each model, in the order given.

    Spec: DATA-PAIR
    """
    from refclust.data.pairing import Described, paired

    # The delimiter of the data; labels may stand one a line, with nothing to separate.
    sign = next(filter(None, (sign_for(side, named.delimiter) for side in sides)), None)
    known = data.ids is not None  # the data may have the column that is asked for
    described = read_sides(sides, sign, id_column, found=known) if sides else []
    for side in described:
        if len(side.values) != data.n:
            raise LabelLengthMismatch(
                f"{side.name} has {len(side.values):,} labels, the data have {data.n:,} rows"
            )
    rows = Described("the data", range(data.n), data.ids)
    labels = iter(paired([rows, *described])[1:])
    clusterings: list[tuple[str, Sequence[Any]]] = []
    columns = named.column_pred or []
    several = len(columns) > 1
    for file in named.files or []:
        if file in models:
            clusterings.append((file, _labels_by(models[file], data, session)))
            continue
        for column in columns or [""]:
            clusterings.append((f"{file}:{column}" if several else file, next(labels)))
    if not clusterings:
        if data.labels is None:
            raise BadOption(
                "the clusters are missing: give LABELS (a file, FILE:COLUMN or a model), or "
                "--label-column"
            )
        clusterings = [("the label column", data.labels)]
    return clusterings


def _cases(
    named: EvidenceOptions,
    data: Dataset,
    clusterings: Sequence[tuple[str, Sequence[Any]]],
    counts: Sequence[Any] | None,
    session: Session,
) -> list[EvidenceCase]:
    from refclust.metrics.calls.clusterings import clustered
    from refclust.metrics.contingency import NO_NOISE

    rows = {"rows": data} if named.proximity is None else {"proximity": data}
    return [
        EvidenceCase(
            name,
            clustered(
                **rows,
                labels=labels,
                similarities=named.similarities,
                weights=counts,
                noise=NO_NOISE if named.noise is None else named.noise,
                noise_policy=named.noise_policy,
                session=session,
            ),
        )
        for name, labels in clusterings
    ]


def _rows(path: str, reading: DataOptions, models: dict[str, Model]) -> Dataset:
    """The rows; where a model makes clusters of them, read as its data were read."""
    if not models:
        return dataio.read(path, reading).data
    source, unseen = dataio.read_as(next(iter(models.values())), path, reading)
    dataio.note_unseen(unseen)
    return source.data


def _labels_by(model: Model, data: Dataset, session: Session) -> Sequence[Any]:
    """The clusters into which a model puts rows."""
    from refclust.cli.commands.predict import check_has_rule
    from refclust.models.predict import predict
    from refclust.models.records.clusters import ClassifierModel, MixtureModel

    check_has_rule(model)
    if isinstance(model, MixtureModel | ClassifierModel):
        return list(predict(model, data, impossible="prior", session=session).labels)
    return list(predict(model, data, session=session).labels)


def _load(file: str) -> Model:
    from refclust.models.clusters import load_model

    return load_model(file)


def _is_model(file: str) -> bool:
    from refclust.data.files.packing import without_ending

    return without_ending(file).lower().endswith(_MODEL)


def _refuse_twice(
    others: Sequence[str | None], labels: Sequence[Side], weights: Side | None
) -> None:
    from refclust.cli.options.label_files import refuse_twice

    refuse_twice(labels, [*others, None if weights is None else weights.file])
