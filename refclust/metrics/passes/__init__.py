"""Sums, extremes and orders over pairs of rows by kernels, with the exact values of definitions.

Realises ``refclust.formulas.clustered.Passes``. One pass in integers gives every sum to as many
bits as are asked for. Above a stated size (``CERTIFIED``, ``CERTIFIED_ROWS``) doubles of kernels,
with a proven bound, take its place, and it is made only where a decision hangs on it: a score is
then the double in the middle of a proven interval, and says so.
"""
