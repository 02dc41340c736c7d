"""Answers of classifiers, measurements of methods and judgements of raters, from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refclust.cli.options.cases import names_of
from refclust.cli.options.labelings import read_answers
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.cli.options.evidence import EvidenceOptions
    from refclust.formulas.outcomes import Measurements, Outcomes


def read_classifiers(named: EvidenceOptions) -> Outcomes:
    """Read the truth and what two or more classifiers said."""
    from refclust.metrics.calls.classifiers import outcomes

    names = names_of(named)
    if len(names) < 2:
        raise BadOption("name at least two classifiers: files A and B, or --column-pred twice")
    truth, predictions, counts = read_answers(named)
    return outcomes(truth, *predictions, weights=counts, names=names)


def read_trials(named: EvidenceOptions) -> Measurements:
    """Read a table of measurements, a column per method under its name."""
    from refclust.data.sheets import number, read_sheet
    from refclust.metrics.calls.classifiers import measurements

    assert named.trials is not None
    sheet = read_sheet(named.trials, header=named.header is not False, delimiter=named.delimiter)
    columns = zip(*sheet.converted(number), strict=True)
    return measurements(*columns, names=sheet.names)
