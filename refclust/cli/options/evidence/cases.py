"""From files to evidence: what ``score`` and ``explain`` were given, read and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refclust.cli.options.label_files import Side

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.cli.options.data import DataOptions
    from refclust.cli.options.evidence.options import EvidenceOptions
    from refclust.formulas.evidence import Evidence, Kind


@dataclass(frozen=True, slots=True)
class EvidenceCase:
    """Evidence under the name it was given by, such as the file of a clustering."""

    name: str
    evidence: Evidence


def read_cases(
    kind: Kind, asked: EvidenceOptions, reading: DataOptions, session: Session
) -> list[EvidenceCase]:
    """Read evidence of a kind; several clusterings or predictions make several cases.

    Spec: CONV-EVIDENCE
    """
    from refclust.cli.options.evidence import labelings
    from refclust.data.files.textfile import written_in

    named = replace(asked, delimiter=labelings.delimiter_sign(asked.delimiter))
    refuse_unused(kind, named, reading)
    with written_in(reading.encoding, _files(named)):
        return _read(kind, named, reading, session)


def _files(named: EvidenceOptions) -> list[str]:
    """All files of the user's own that were named; models are ours, and UTF-8."""
    from refclust.data.files.packing import without_ending

    many = [*(named.files or ()), *(named.proba or ())]
    others = (named.data, named.proximity, named.table, named.raters, named.memberships)
    paths = [*many, *others, named.trials, named.costs, named.weights]
    files = [Side.of(path).file for path in paths if path is not None]
    return [file for file in files if not without_ending(file).lower().endswith(".json")]


def _read(
    kind: Kind, named: EvidenceOptions, reading: DataOptions, session: Session
) -> list[EvidenceCase]:
    from refclust.cli.options.evidence import answers, clusterings, labelings

    match kind:
        case "labelings":
            return labelings.read(named, session, reading.id_column)
        case "rows" | "proximities":
            return clusterings.read(named, reading, session)
        case "confusion":
            return answers.read_confusions(named, session, reading.id_column)
        case "probabilities":
            return answers.read_probabilities(named, reading)
        case "label_sets":
            return answers.read_label_sets(named)
        case "raters":
            return [EvidenceCase("raters", answers.read_raters(named, reading))]
        case "memberships":
            return [EvidenceCase("shares", answers.read_memberships(named, reading))]
        case "two_memberships":
            return answers.read_two_memberships(named, reading)
        case "classifiers":
            return [EvidenceCase("classifiers", answers.read_classifiers(named, reading.id_column))]
        case "measurements":
            return [EvidenceCase("trials", answers.read_trials(named, reading))]


def sides(named: EvidenceOptions) -> tuple[Side, list[Side]]:
    """The truth and the predictions that were named, by files or by columns."""
    from refclust.errors import BadOption

    files, columns = named.files or [], named.column_pred or []
    if not files:
        raise BadOption("nothing to read: give the files TRUE and PRED, or --table FILE")
    true, *others = files
    if others:
        predicted = [Side.of(file, column) for file in others for column in columns or (None,)]
        return Side.of(true, named.column_true), predicted
    if named.column_true is None or not columns:
        raise BadOption(
            f"PRED is missing: give a second file, or two columns of {true} with "
            "--column-true and --column-pred"
        )
    return Side(true, named.column_true), [Side(true, column) for column in columns]


def names_of(named: EvidenceOptions) -> list[str]:
    """What the predictions are called, as they were typed."""
    return case_names((named.files or [])[1:], named.column_pred or [])


def case_names(files: Sequence[str], columns: Sequence[str]) -> list[str]:
    """What clusterings are called: by what tells them apart, files or columns or both.

    >>> case_names(["a.csv", "b.csv"], ["k2"]), case_names(["a.csv"], ["k2", "k3"])
    (['a.csv', 'b.csv'], ['k2', 'k3'])
    >>> case_names(["a.csv", "b.csv"], ["k2", "k3"])
    ['a.csv:k2', 'a.csv:k3', 'b.csv:k2', 'b.csv:k3']
    """
    if len(columns) < 2:
        return list(files) or list(columns)
    if len(files) < 2:
        return list(columns)
    return [f"{file}:{column}" for file in files for column in columns]


def refuse_unused(kind: Kind, named: EvidenceOptions, reading: DataOptions) -> None:
    """Refuse options that this kind of evidence has no use for: nothing is passed over."""
    from refclust.cli.options.data import DataOptions
    from refclust.cli.options.evidence.options import USED
    from refclust.errors import BadOption

    used = USED[kind] | {"delimiter"}
    plain = type(named)()
    extra = [
        "TRUE" if name == "files" else f"--{name.replace('_', '-')}"
        for name in named.__slots__
        if name not in used and getattr(named, name) != getattr(plain, name)
    ]
    sheet = kind in ("probabilities", "raters", "memberships", "two_memberships", "measurements")
    rest = replace(reading, id_column=None, encoding=None, column=None if sheet else reading.column)
    if kind not in ("rows", "proximities") and rest != DataOptions():
        extra.append("options for reading data")
    if extra:
        from refclust.metrics.catalogue import NEEDS

        raise BadOption(f"{', '.join(extra)} cannot go with {NEEDS[kind]}")
