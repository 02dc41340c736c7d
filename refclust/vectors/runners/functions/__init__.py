"""Functions of the room beside the metrics that golden vectors ask for, chapter by chapter."""

from refclust.vectors.runners.functions import agreement, crossval, intervals, significance
from refclust.vectors.runners.functions.table import Functions

FUNCTIONS: Functions = {
    **agreement.FUNCTIONS,
    **crossval.FUNCTIONS,
    **intervals.FUNCTIONS,
    **significance.FUNCTIONS,
}
