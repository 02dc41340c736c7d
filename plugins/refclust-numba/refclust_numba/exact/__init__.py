"""Exact sums in limbs and what follows from them."""
