"""Rows or proximities with their clusters, from files: what metrics of one clustering are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.options import data as dataio
from refclust.cli.options.evidence.cases import EvidenceCase
from refclust.cli.options.evidence.labelings import read_weights_of
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
    labels = [Side.of(file, _column(named)) for file in files if not _is_model(file)]
    weights = None if named.weights is None else Side.of(named.weights)
    _refuse_twice([path, reading.stop_words, *models], labels, weights)
    if models and named.proximity is not None:
        raise BadOption(f"{for_terminal(models[0])}: a model puts rows into clusters; give --data")
    loaded = {file: _load(file) for file in models}
    data = _rows(path, reading, loaded)
    counts = read_weights_of(weights, named.delimiter, for_terminal(path), range(data.n))
    return _cases(named, data, loaded, labels, counts, session)


def _cases(
    named: EvidenceOptions,
    data: Dataset,
    models: dict[str, Model],
    sides: list[Side],
    counts: Sequence[Any] | None,
    session: Session,
) -> list[EvidenceCase]:
    from refclust.metrics.calls.clusterings import clustered
    from refclust.metrics.contingency import NO_NOISE

    # The delimiter of the data; labels may stand one a line, with nothing to separate.
    sign = next(filter(None, (sign_for(side, named.delimiter) for side in sides)), None)
    read_labels = iter(read_sides(sides, sign) if sides else [])
    clusterings: list[tuple[str, Any]] = [
        (file, _labels_by(models[file], data, session) if file in models else next(read_labels))
        for file in named.files or []
    ]
    if not clusterings:
        if data.labels is None:
            raise BadOption(
                "the clusters are missing: give LABELS (a file, FILE:COLUMN or a model), or "
                "--label-column"
            )
        clusterings = [("the label column", data.labels)]
    for name, labels in clusterings:
        if len(labels) != data.n:
            raise LabelLengthMismatch(
                f"{for_terminal(name)} has {len(labels):,} labels, the data have {data.n:,} rows"
            )
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
    return file.lower().removesuffix(".gz").endswith(_MODEL)


def _column(named: EvidenceOptions) -> str | None:
    columns = named.column_pred or []
    if len(columns) > 1:
        raise BadOption("--column-pred names one column of the files LABELS; give it once")
    return columns[0] if columns else None


def _refuse_twice(
    others: Sequence[str | None], labels: Sequence[Side], weights: Side | None
) -> None:
    from refclust.cli.options.label_files import refuse_twice

    refuse_twice(labels, [*others, None if weights is None else weights.file])
