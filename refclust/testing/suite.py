"""The conformance kit as a pytest suite: one test for each check and each kernel it tries.

Run it with ``pytest --pyargs refclust.testing.suite --refclust-backend=NAME``; the author of a
backend writes nothing. pytest itself is not imported: hooks and plain assertions are enough.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Final

from refclust.backends.plugins.discovery import find
from refclust.backends.protocol import Backend
from refclust.backends.session import BACKEND_VARIABLE
from refclust.errors import RefclustError
from refclust.testing.kit import BACKEND, Check, checks, optional
from refclust.testing.scripts.player import offered

_NOBODY: Final = "name a backend: pytest --pyargs refclust.testing.suite --refclust-backend=NAME"


def pytest_generate_tests(metafunc: Any) -> None:
    """Make a test of every check and kernel for the backend that was named."""
    options = metafunc.config.option
    name = getattr(options, "refclust_backend", None) or os.environ.get(BACKEND_VARIABLE)
    quick = bool(getattr(options, "refclust_quick", False))
    cases = _cases(name, quick)
    metafunc.parametrize(
        ("backend", "check", "kernel"), cases, ids=[f"{case[1]}-{case[2]}" for case in cases]
    )


def test_backend_keeps_its_contracts(backend: str, check: str, kernel: str) -> None:
    """See that a kernel has no fault in a check."""
    fault = _NOBODY if not backend else _faults(backend, check).get(kernel)
    assert not fault, f"{kernel} on {check}: {fault}"


def _cases(name: str | None, quick: bool) -> list[tuple[str, str, str]]:
    """The check and the kernel of each test; trouble with the backend is one test that fails."""
    if not name:
        return [("", "protocol", BACKEND)]
    try:
        backend = _found(name)
        kernels = set(offered(backend))
    except Exception:
        return [(name, "protocol", BACKEND)]
    cases = []
    for check in checks(quick=quick):
        if optional(check.name, backend):
            continue  # it lacks what the check asks for, as it may
        used = sorted(kernels & check.kernels) if check.kernels else [BACKEND]
        cases += [(name, check.name, kernel) for kernel in used]
    return cases


def _found(name: str) -> Backend:
    backend = find(name).backend
    assert backend is not None
    return backend


@cache
def _faults(name: str, check: str) -> dict[str, str]:
    """The faults of all kernels in one check, which is run once."""
    try:
        backend = _found(name)
    except RefclustError as error:
        return {BACKEND: f"{error} [{error.code}]"}
    return {
        outcome.kernel: outcome.fault
        for outcome in _check(check).run(backend)
        if outcome.fault is not None
    }


@cache
def _check(name: str) -> Check:
    known = {check.name: check for check in checks(quick=True)}
    return known[name] if name in known else next(check for check in checks() if check.name == name)
