"""From files to evidence: what ``score`` and ``explain`` were given, read and counted."""

from __future__ import annotations

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
    from refclust.cli.options.evidence import answers, clusterings, labelings

    named = replace(asked, delimiter=labelings.delimiter_sign(asked.delimiter))
    refuse_unused(kind, named, reading)
    match kind:
        case "labelings":
            return labelings.read(named, session)
        case "rows" | "proximities":
            return clusterings.read(named, reading, session)
        case "confusion":
            return answers.read_confusions(named, session)
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
            return [EvidenceCase("classifiers", answers.read_classifiers(named))]
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
        if len(columns) > 1:
            raise BadOption("--column-pred names one column of the files PRED; give it once")
        column = columns[0] if columns else None
        return Side.of(true, named.column_true), [Side.of(file, column) for file in others]
    if named.column_true is None or not columns:
        raise BadOption(
            f"PRED is missing: give a second file, or two columns of {true} with "
            "--column-true and --column-pred"
        )
    return Side(true, named.column_true), [Side(true, column) for column in columns]


def names_of(named: EvidenceOptions) -> list[str]:
    """What the predictions are called, as they were typed."""
    return (named.files or [])[1:] or list(named.column_pred or [])


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
    rest = replace(reading, column=None, id_column=None) if sheet else reading
    if kind not in ("rows", "proximities") and rest != DataOptions():
        extra.append("options for reading data")
    if extra:
        from refclust.metrics.catalogue import NEEDS

        raise BadOption(f"{', '.join(extra)} cannot go with {NEEDS[kind]}")
