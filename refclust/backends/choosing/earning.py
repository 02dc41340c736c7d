"""``auto`` must be earned: who has not passed the short kit here is tried first (BK-EARN).

The kit stands above the backends, so it is not imported here: a process of its own runs it, in
which a crash, an endless kernel or an exit harms nobody, and tells its verdict.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final

from refclust.backends.choosing import fingerprint, memory, offer
from refclust.backends.choosing.memory import Verdict
from refclust.backends.plugins import discovery
from refclust.backends.plugins.discovery import Record
from refclust.backends.plugins.guard import one_line
from refclust.backends.protocol import Estimate, Problem, Refusal
from refclust.errors import RefclustError
from refclust.kernels.registry import KERNELS
from refclust.notes import tell

_KIT: Final = "refclust.testing.kit"  # by name: imports point the other way
LIMIT: Final = 300.0  # seconds for one check
_CHECK: Final = 2.0  # seconds that a check takes beside what the backend needs for itself
# Kernels of one fit share most of what they import and compile: one in full, of the others so much.
_SHARE: Final = 0.2
# Fits on directions call these in addition.
_COSINE: Final = frozenset(("kmeans.directions", "kmeans.cosine_terms"))
_SEPARATE: Final = frozenset(
    ("contingency", "information", "distances", "linkage", "silhouette", "scatter", "pairs")
)
_FAMILIES: Final = {"seeding": ("kmeans", "seeding"), "kmeans": ("kmeans", "seeding")}


def together(record: Record, kernel: str) -> tuple[str, ...]:
    """The kernels of a backend that are checked with one of them: those that its fits call.

    >>> from refclust.backends.plugins.discovery import find
    >>> together(find("loopback"), "linkage.agglomerate")
    ('linkage.agglomerate',)
    """
    family = kernel.partition(".")[0]
    if family in _SEPARATE or kernel in _COSINE:
        return (kernel,)
    families = _FAMILIES.get(family, (family,))
    own = set(offer.kernels(record)) & set(KERNELS)
    return tuple(sorted(n for n in own - _COSINE if n.partition(".")[0] in families))


def known(record: Record, kernels: Iterable[str]) -> Verdict | None:
    """What is remembered of these kernels: the first fault, all passed, or nothing for some."""
    verdicts = memory.recall(record)
    recalled = [verdicts.get(kernel) for kernel in kernels]
    faults = [verdict for verdict in recalled if verdict is not None and not verdict.ok]
    if faults:
        return faults[0]
    passed = [verdict for verdict in recalled if verdict is not None]
    return min(passed, key=lambda verdict: verdict.when) if len(passed) == len(recalled) else None


def price(record: Record, kernels: Iterable[str], problem: Problem) -> float:
    """About how many seconds a check of these kernels would take, getting ready included."""
    tiny = replace(
        problem, n=min(problem.n, 64), size=min(problem.size, 256), k=min(problem.k, 4), calls=1
    )
    answers = [offer.support(record, kernel, tiny) for kernel in kernels]
    seconds = [answer.seconds for answer in answers if isinstance(answer, Estimate)]
    most = max(seconds, default=0.0)
    return _CHECK + most + _SHARE * (sum(seconds) - most)


def earn(record: Record, kernels: tuple[str, ...]) -> Verdict:
    """Put kernels of a backend through the short kit, remember the verdicts, and tell."""
    who = f"the backend {record.name!r} ({record.owner})"
    what = kernels[0] if len(kernels) == 1 else f"{len(kernels)} kernels"
    tell(f"{who} has not been checked here yet: the short kit tries {what}")
    started = time.perf_counter()
    verdicts = _judged(record, kernels)
    seconds = time.perf_counter() - started
    trouble = memory.remember(record, verdicts)
    verdict = known(record, kernels)
    assert verdict is not None
    forgotten = f"; this cannot be remembered: {trouble}" if trouble else ""
    if verdict.ok:
        tell(f"{who} passed in {seconds:.1f} s{forgotten}")
    return verdict


def tell_fault(record: Record, verdict: Verdict) -> None:
    """Tell that a backend is left out because it did not pass."""
    tell(
        f"the backend {record.name!r} ({record.owner}) did not pass the short kit and is left out: "
        f"{verdict.fault} (remembered until «refclust conform {record.name}» tries again)",
        warning=True,
    )


def verdicts_of(report: Any, kernels: Iterable[str]) -> dict[str, Verdict]:
    """The verdict on each kernel from a report of the kit.

    A fault of the backend itself is a fault of every kernel, and one that was not tried has none.
    """
    when = _now()
    faults = {
        outcome.kernel: f"{outcome.kernel} on {outcome.check}: {outcome.fault}"
        for outcome in report.faults
    }
    whole = next((fault for kernel, fault in faults.items() if kernel not in KERNELS), "")
    tried = {outcome.kernel for outcome in report.outcomes if outcome.calls}
    verdicts: dict[str, Verdict] = {}
    for kernel in kernels:
        fault = whole or faults.get(kernel, "")
        if fault or kernel in tried:
            verdicts[kernel] = Verdict(not fault, when, one_line(fault))
    return verdicts


def _judged(record: Record, kernels: tuple[str, ...]) -> Mapping[str, Verdict]:
    """Run the kit in a process of its own; whatever goes wrong there is a fault."""
    import subprocess  # start-up is quicker without it

    when = _now()

    def failed(fault: str) -> dict[str, Verdict]:
        return {kernel: Verdict(False, when, one_line(fault)) for kernel in kernels}

    if not sys.executable or getattr(sys, "frozen", False):
        return failed("there is no Python interpreter here to run the kit with")
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, record.name, *kernels],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        # Remembered like a fault: else every fit would wait as long again, and two fits on the same
        # machine, one while it is busy, might differ in last bits.
        return failed(f"the kit was not done after {LIMIT:g} s, the time limit; no fault was seen")
    except OSError as error:
        return failed(f"the kit could not be run: {error}")
    last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if done.returncode:
        return failed(f"the kit's process ended with {_ending(done.returncode)} {last}".strip())
    try:
        report = json.loads(done.stdout)
        if report["digest"] != fingerprint.digest(record):
            return failed("its files changed while it was checked")
        verdicts = {name: Verdict(**verdict) for name, verdict in report["kernels"].items()}
    except (ValueError, LookupError, TypeError):
        return failed(f"the kit's process did not tell its verdict {last}".strip())
    missing = {kernel: Verdict(False, when, "the kit did not try it") for kernel in kernels}
    return missing | {kernel: verdicts[kernel] for kernel in kernels if kernel in verdicts}


def _steady(record: Record, kernels: Iterable[str]) -> dict[str, Estimate | Refusal]:
    problem = Problem("dense", 1000, 4000, 3, 20, steady=True)
    return {kernel: offer.support(record, kernel, problem) for kernel in kernels}


def _unsteady(
    before: Mapping[str, Estimate | Refusal], after: Mapping[str, Estimate | Refusal]
) -> dict[str, Verdict]:
    """Faults of kernels whose steady estimate is another one after they have run."""
    return {
        kernel: Verdict(False, _now(), f"{kernel}: its steady estimate depends on what ran before")
        for kernel in before
        if before[kernel] != after[kernel]
    }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def main() -> None:
    """In the child: run the short kit on some kernels and print the verdicts as JSON."""
    # What anything prints from here on is not the verdict.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    name, *kernels = sys.argv[1:]
    try:
        record = discovery.find(name)
        before = _steady(record, kernels)
        report = import_module(_KIT).conform(record.backend, quick=True, only=kernels)
        verdicts = verdicts_of(report, kernels) | _unsteady(before, _steady(record, kernels))
        reply = {
            kernel: {"ok": v.ok, "when": v.when, "fault": v.fault} for kernel, v in verdicts.items()
        }
        json.dump({"digest": fingerprint.digest(record), "kernels": reply}, answer)
    except RefclustError as error:
        sys.exit(f"{error} [{error.code}]")
    answer.flush()
    answer.close()
    os._exit(0)  # nothing that the backend left behind may keep us or change the verdict
