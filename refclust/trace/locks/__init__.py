"""Locks: what was reviewed, clause by clause, and what has drifted since."""
