"""Functions of the room beside the metrics that golden vectors ask for, chapter by chapter."""

from refclust.vectors.runners.functions import (
    agreement,
    classification,
    crossval,
    intervals,
    preparation,
    proximity,
    scatter,
    significance,
)
from refclust.vectors.runners.functions.table import Functions

FUNCTIONS: Functions = {
    **scatter.FUNCTIONS,
    **proximity.FUNCTIONS,
    **classification.FUNCTIONS,
    **agreement.FUNCTIONS,
    **crossval.FUNCTIONS,
    **intervals.FUNCTIONS,
    **significance.FUNCTIONS,
    **preparation.FUNCTIONS,
}
