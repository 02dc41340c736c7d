"""Mutation testing: of one module by its tests, and of a whole backend by the conformance kit.

``python -m tests.mutation refclust/numbers/nearest.py tests/numbers`` changes a module of the core
in every way that ``changes`` knows and lets the named tests judge. ``python -m
tests.mutation.backends numpy`` takes a seeded sample of changes of each module of a plugin and lets
the kit alone judge; ``python -m tests.mutation.switched numba`` does so with a plugin that is
compiled, once for all changes of all modules.
"""
