"""Fuzzers of everything that refclust reads or is told: ``python -m tests.fuzz --help``.

Input number i of target T under seed S is a pure function of (S, T, i), so any finding comes back
by ``--replay T:S:i``. Inputs run in a forked process under a limit of memory, watched from outside.
"""
