"""Answers, probabilities, judgements and measurements, from files to evidence (CONV-EVIDENCE)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.options.evidence import sheets
from refclust.cli.options.evidence.cases import EvidenceCase, names_of
from refclust.cli.options.evidence.labelings import (
    read_answers,
    read_weights,
    refuse_ids,
    refuse_labels,
    weights_beside,
)
from refclust.cli.options.label_files import Side, read_sides, refuse_twice, sign_for
from refclust.errors import BadOption, BadTable

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.cli.options.data import DataOptions
    from refclust.cli.options.evidence.options import EvidenceOptions
    from refclust.formulas.memberships import Memberships
    from refclust.formulas.outcomes import Measurements, Outcomes
    from refclust.formulas.raters import Ratings

MISSING: Final = ""  # a cell without a judgement


def read_confusions(
    named: EvidenceOptions, session: Session, id_column: str | None = None
) -> list[EvidenceCase]:
    """Read the truth and predicted classes, or a table of them; a case of each prediction."""
    from refclust.metrics.calls.confusions import UNSAID, confusion

    more: dict[str, Any] = {
        "positive": UNSAID if named.positive is None else named.positive,
        "costs": None if named.costs is None else _costs(named.costs, named.delimiter),
        "session": session,
    }
    if named.table is not None:
        refuse_labels(named)
        refuse_ids(id_column)
        rows, names = _confusion_table(named)
        return [EvidenceCase(named.table, confusion(rows, labels=names, **more))]
    truth, predictions, counts = read_answers(named, id_column)
    labels = sheets.listed(named.classes)
    return [
        EvidenceCase(name, confusion(truth, predicted, labels=labels, weights=counts, **more))
        for name, predicted in zip(names_of(named), predictions, strict=True)
    ]


def _confusion_table(
    named: EvidenceOptions,
) -> tuple[list[list[int | Fraction]], Sequence[str] | None]:
    from refclust.data.files.textfile import display_name
    from refclust.data.tables import read_table

    assert named.table is not None
    file = read_table(named.table, header=bool(named.header), delimiter=named.delimiter)
    if file.clusters != file.classes:
        raise BadTable(
            f"{display_name(named.table)}: rows and columns of a confusion table are the same "
            "classes in the same order"
        )
    names = file.classes
    if named.classes is not None:
        if names is not None:
            raise BadOption("--classes names the classes of a table without a --header")
        names = tuple(sheets.listed(named.classes) or ())
    return file.rows, names


def _costs(path: str, delimiter: str | None) -> list[list[int | Fraction]]:
    from refclust.data.tables import read_table

    return read_table(path, delimiter=delimiter).rows


def read_probabilities(named: EvidenceOptions, reading: DataOptions) -> list[EvidenceCase]:
    """Read the truth and scores of one or more classifiers: a case of each file."""
    from refclust.data.pairing import Described, paired
    from refclust.metrics.calls.confusions import UNSAID
    from refclust.metrics.calls.probabilities import probabilities

    files = named.proba or []
    weights = None if named.weights is None else Side.of(named.weights)
    true = _truth_side(named)
    others = [*files, *([] if weights is None else [weights.file])]
    refuse_twice([] if true.file in files else [true], others)
    asked = reading.id_column
    apart = None
    if named.label_sets:
        apart = Described(true.shown, _true_sets(named, true, files))
    elif true.file not in files:
        [apart] = read_sides([true], sign_for(true, named.delimiter), asked, found=True)
    counts = read_weights(weights, named.delimiter, asked)
    cases = []
    for file in files:
        sheet = sheets.read(file, named, reading, but=None if apart else true.column)
        rows = sheet.described(range(len(sheet.sheet.rows)))
        described = [apart or sheet.described(sheet.beside or []), rows]
        ordered = paired([*described, *([] if counts is None else [counts])])
        cells = sheet.numbers()
        truth, numbers = ordered[0], [cells[i] for i in ordered[1]]
        single = len(sheet.names) == 1 and not named.label_sets
        evidence = probabilities(
            truth,
            numbers,
            labels=None if single else sheet.names,
            weights=None if counts is None else ordered[2],
            positive=_positive(named, sheet.names) if single else UNSAID,
            several=named.label_sets,
        )
        cases.append(EvidenceCase(file, evidence))
    return cases


def _true_sets(named: EvidenceOptions, true: Side, files: Sequence[str]) -> Sequence[Any]:
    """The true labels of each object, several in a line of their own file."""
    from refclust.data.sheets import read_sets

    if true.file in files or true.column is not None or named.positive is not None:
        raise BadOption("--proba with --label-sets needs a file TRUE of its own, without columns")
    return read_sets(true.file, delimiter=named.delimiter)


def _truth_side(named: EvidenceOptions) -> Side:
    files, proba = named.files or [], named.proba or []
    if len(files) > 1:
        raise BadOption("--proba FILE goes with the truth alone: one file TRUE")
    if files:
        return Side.of(files[0], named.column_true)
    if named.column_true is None or len(proba) > 1:
        raise BadOption("the truth is missing: give the file TRUE, or --column-true of --proba")
    return Side(proba[0], named.column_true)


def _positive(named: EvidenceOptions, names: Sequence[str]) -> Any:
    """The class that a single column is about: the one that is named, or whose name it bears."""
    from refclust.metrics.calls.confusions import UNSAID

    if named.positive is not None:
        return named.positive
    [name] = names
    return name.removeprefix("p_") if name.startswith("p_") else UNSAID


def read_label_sets(named: EvidenceOptions) -> list[EvidenceCase]:
    """Read true and predicted sets of labels, a line for each object."""
    from refclust.data.sheets import read_sets
    from refclust.metrics.calls.label_sets import label_sets

    files = named.files or []
    if len(files) < 2:
        raise BadOption("--label-sets needs two files or more: TRUE PRED")
    weights = None if named.weights is None else Side.of(named.weights)
    refuse_twice([Side(file, None) for file in files], [weights.file] if weights else [])
    truth, *predictions = [read_sets(file, delimiter=named.delimiter) for file in files]
    counts = weights_beside(read_weights(weights, None), files[0], truth, None)
    labels = sheets.listed(named.classes)
    return [
        EvidenceCase(name, label_sets(truth, predicted, labels=labels, weights=counts))
        for name, predicted in zip(files[1:], predictions, strict=True)
    ]


def read_raters(named: EvidenceOptions, reading: DataOptions) -> Ratings:
    """Read judgements, a column per rater, or how often each category was said."""
    from refclust.metrics.calls.raters import ratings, ratings_of_counts

    assert named.raters is not None
    sheet, counts = sheets.read_weighted(named.raters, named, reading)
    categories = sheets.listed(named.classes)
    if named.counts:
        names = sheet.names if categories is None else categories
        return ratings_of_counts(sheet.numbers(), categories=names, weights=counts)
    return ratings(
        sheet.rows, categories=categories, names=sheet.names, missing=MISSING, weights=counts
    )


def read_memberships(named: EvidenceOptions, reading: DataOptions) -> Memberships:
    """Read the shares of objects in clusters."""
    from refclust.metrics.calls.memberships import memberships

    assert named.memberships is not None
    sheet, counts = sheets.read_weighted(named.memberships, named, reading)
    return memberships(sheet.numbers(), weights=counts)


def read_two_memberships(named: EvidenceOptions, reading: DataOptions) -> list[EvidenceCase]:
    """Read the shares of objects in several fuzzy clusterings: the first beside each other one."""
    from refclust.data.pairing import paired
    from refclust.metrics.calls.memberships import two_memberships

    assert named.memberships is not None
    others = named.files or []
    refuse_twice([], [named.memberships, *others])
    first, counts = sheets.read_weighted(named.memberships, named, reading)
    cases = []
    for file in others:
        second = sheets.read(file, named, reading)
        shares, others_shares = paired(
            [first.described(first.numbers()), second.described(second.numbers())]
        )
        evidence = two_memberships(shares, others_shares, weights=counts)
        cases.append(EvidenceCase(file, evidence))
    return cases


def read_classifiers(named: EvidenceOptions, id_column: str | None = None) -> Outcomes:
    """Read the truth and what two or more classifiers said."""
    from refclust.metrics.calls.classifiers import outcomes

    names = names_of(named)
    if len(names) < 2:
        raise BadOption("name at least two classifiers: files A and B, or --column-pred twice")
    truth, predictions, counts = read_answers(named, id_column)
    return outcomes(truth, *predictions, weights=counts, names=names)


def read_trials(named: EvidenceOptions, reading: DataOptions) -> Measurements:
    """Read a table of measurements, a column per method under its name."""
    from refclust.metrics.calls.classifiers import measurements

    assert named.trials is not None
    sheet = sheets.read(named.trials, named, reading)
    columns = zip(*sheet.numbers(), strict=True)
    return measurements(*columns, names=sheet.names)
