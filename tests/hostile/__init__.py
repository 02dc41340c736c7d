"""Documents that somebody damaged or forged: ``python -m tests.hostile`` tries all of them."""
