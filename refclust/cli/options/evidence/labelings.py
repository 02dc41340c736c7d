"""Options that many commands share, and how labels and tables become contingency tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from refclust.cli.options.complete import complete_backend, complete_profile
from refclust.cli.options.evidence.cases import EvidenceCase, names_of, sides
from refclust.cli.options.label_files import Side, read_sides, refuse_twice, sign_for
from refclust.cli.output import note
from refclust.errors import BadOption

if TYPE_CHECKING:
    from fractions import Fraction

    from refclust.backends.session import Session
    from refclust.cli.options.evidence.options import EvidenceOptions
    from refclust.data.pairing import Described

Profile = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="What another library would print: sklearn, genieclust, torchmetrics, …",
        autocompletion=complete_profile,
    ),
]
BackendName = Annotated[
    str | None,
    typer.Option(  # in the words of the core, which would take too long to import for a help
        "--backend",
        metavar="B",
        help="Who runs the kernels: auto, reference or a plugin. [$REFCLUST_BACKEND, else auto]",
        autocompletion=complete_backend,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]


def read(
    named: EvidenceOptions, session: Session, id_column: str | None = None
) -> list[EvidenceCase]:
    """Read files of labels, or a table, and count the table of each prediction."""
    if named.table is not None:
        refuse_ids(id_column)
        return [_read_table(named)]
    return _read_labels(named, session, id_column)


def refuse_ids(id_column: str | None) -> None:
    """Refuse to look for ids where there are no objects."""
    if id_column:
        raise BadOption("--id-column pairs files of labels; a table of counts has no ids")


def delimiter_sign(text: str | None) -> str | None:
    """The sign that a user named as delimiter."""
    if text is None:
        return None
    sign = {"tab": "\t", "\\t": "\t", "comma": ",", "space": " ", "semicolon": ";"}.get(text, text)
    if len(sign) != 1 or sign in '\r\n"':
        raise BadOption(f"--delimiter {text!r}: one character is needed, or the word tab")
    return sign


def _read_table(named: EvidenceOptions) -> EvidenceCase:
    from refclust.data.tables import read_table
    from refclust.metrics.contingency import Contingency

    refuse_labels(named)
    assert named.table is not None
    file = read_table(named.table, header=bool(named.header), delimiter=named.delimiter)
    table = Contingency.of_rows(file.rows)
    if file.clusters is not None and file.classes is not None:
        # Groups without an object are dropped on entry; the numbers say which are left.
        clusters = tuple(file.clusters[int(str(i))] for i in table.clusters)
        classes = tuple(file.classes[int(str(j))] for j in table.classes)
        table = replace(table, clusters=clusters, classes=classes)
    return EvidenceCase(named.table, table)


def refuse_labels(named: EvidenceOptions) -> None:
    """Refuse what goes with labels where a table stands in their place."""
    files = named.files or []
    extra = {
        "TRUE": files[0] if files else None,
        "PRED": files[1] if files[1:] else None,
        "--column-true": named.column_true,
        "--column-pred": named.column_pred,
        "--weights": named.weights,
        "--noise": named.noise,
        "--noise-policy": named.noise_policy,
    }
    spelled = [option for option, value in extra.items() if value is not None]
    if spelled:
        raise BadOption(f"--table replaces the labels, so {', '.join(spelled)} cannot go with it")


def _read_labels(
    named: EvidenceOptions, session: Session, id_column: str | None
) -> list[EvidenceCase]:
    from refclust.metrics.contingency import NO_NOISE, contingency

    truth, predictions, counts = read_answers(named, id_column)
    _check_noise(named.noise, truth, *predictions)
    return [
        EvidenceCase(
            name,
            contingency(
                truth,
                labels,
                weights=counts,
                noise=NO_NOISE if named.noise is None else named.noise,
                noise_policy=named.noise_policy,
                session=session,
            ),
        )
        for name, labels in zip(names_of(named), predictions, strict=True)
    ]


def read_answers(
    named: EvidenceOptions, id_column: str | None = None
) -> tuple[list[str], list[list[str]], list[int | Fraction] | None]:
    """The truth, every prediction, and the weights of the objects if there are any.

    Spec: DATA-PAIR
    """
    from refclust.data.pairing import paired

    if named.header is not None:
        raise BadOption("--header goes with --table; CSV and TSV files of labels always have one")
    true, predicted = sides(named)
    weights = None if named.weights is None else Side.of(named.weights)
    refuse_twice([true, *predicted], [] if weights is None else [weights.file])
    labels = read_sides([true, *predicted], named.delimiter, id_column)
    counts = read_weights(weights, named.delimiter, id_column)
    # Labels come first: their order is that of the truth where the truth has ids.
    ordered = paired([*labels, *([] if counts is None else [counts])])
    truth, *predictions = ordered[: len(labels)]
    return truth, predictions, None if counts is None else ordered[-1]


def read_weights(
    weights: Side | None, delimiter: str | None, id_column: str | None = None
) -> Described | None:
    """Read the weights of objects, with their ids where the file has them."""
    from refclust.data.labels import read_file, weights_of
    from refclust.data.pairing import Described

    if weights is None:
        return None
    sign = sign_for(weights, delimiter)
    file = read_file(weights.file, [weights.column], delimiter=sign, id_column=id_column)
    counts = weights_of(file.columns[0], weights.file, column=weights.column)
    return Described(weights.shown, counts, file.ids)


def weights_beside(
    weights: Described | None, name: str, objects: Sequence[object], ids: Sequence[str] | None
) -> list[int | Fraction] | None:
    """The weights of objects that are known, in their order.

    Spec: DATA-PAIR
    """
    from refclust.data.pairing import Described, paired

    return None if weights is None else paired([Described(name, objects, ids), weights])[1]


def _check_noise(noise: str | None, *sides: list[str]) -> None:
    if noise is not None and not any(noise in labels for labels in sides):
        note(f"no label is {noise!r}, so nothing is noise")
