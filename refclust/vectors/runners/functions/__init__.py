"""Functions of the room beside the metrics that golden vectors ask for, chapter by chapter."""

from refclust.vectors.runners.functions import classification, scatter, significance
from refclust.vectors.runners.functions.table import Functions

FUNCTIONS: Functions = {
    **scatter.FUNCTIONS,
from refclust.vectors.runners.functions import agreement, significance

    **agreement.FUNCTIONS,
    **significance.FUNCTIONS,
    **classification.FUNCTIONS,
}
