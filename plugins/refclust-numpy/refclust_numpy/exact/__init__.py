"""Exact arithmetic on arrays of doubles: rounding errors, limbs, sums, moments, directions."""
