"""The nearest centre of each row: singles with proven bounds, then more digits where in doubt."""
