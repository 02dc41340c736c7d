"""Functions of the room beside the metrics that golden vectors ask for, chapter by chapter."""

from refclust.vectors.runners.functions import proximity, significance
from refclust.vectors.runners.functions.table import Functions

FUNCTIONS: Functions = {
    **proximity.FUNCTIONS,
    **significance.FUNCTIONS,
}
