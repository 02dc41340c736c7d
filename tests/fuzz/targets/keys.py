"""Metrics by their keys, with options and profiles, on small tables and labels."""

from __future__ import annotations

from typing import Any, Final

from refclust.errors import RefclustError
from refclust.metrics import catalogue, profiles
from refclust.metrics.calls.labelings import score
from tests.fuzz.cases import ACCEPTED, Case, Draw, Ended, Target
from tests.fuzz.numerals import hostile, odd, word
from tests.fuzz.performing import refused

_NUMBERS: Final = ("2", "1/2", "0.5", "10", "1", "0", "-1", "3")


def _made(draw: Draw) -> Case:
    entries = tuple(catalogue.ENTRIES.values())
    if draw.chance(0.9):  # the others need other evidence, and say so
        entries = tuple(entry for entry in entries if entry.evidence == "labelings")
    entry = draw.pick(entries)
    name = draw.pick((entry.name, *entry.aliases))
    parts: list[str] = []
    for option, choices in entry.options.items():
        if draw.chance(0.6):
            value = str(draw.pick(choices)) if choices else draw.pick(_NUMBERS)
            if draw.chance(0.15):
                value = draw.pick((hostile, odd, word))(draw)
            parts.append(f"{option}={value}")
    if draw.chance(0.07):
        parts.append(draw.pick(("x=1", "average", "=", "average=min", "", " ", "a=b=c")))
    key = f"{name}[{','.join(parts)}]" if parts else name
    if draw.chance(0.08):
        at = draw.upto(len(key))
        key = key[:at] + draw.pick(("[", "]", ",", "=", odd(draw), " ")) + key[at + draw.upto(2) :]
    call: dict[str, Any] = {"key": key, **_given(draw)}
    if draw.chance(0.2):
        known = tuple(profiles.PROFILES) if hasattr(profiles, "PROFILES") else ("sklearn",)
        call["profile"] = draw.pick((*known, *known, "SKLEARN", odd(draw), word(draw)))
    return Case({}, call)


def _given(draw: Draw) -> dict[str, Any]:
    if draw.chance(0.5):
        rows, columns = draw.upto(4, 1), draw.upto(4, 1)
        most = draw.pick((1, 3, 9, 9, 30))
        return {"table": [[draw.upto(most) for _ in range(columns)] for _ in range(rows)]}
    n = draw.upto(9, 1)
    return {name: [draw.upto(3) for _ in range(n)] for name in ("true", "pred")}


def _run(case: Case) -> Ended:
    call = case.call
    given = (call["table"],) if "table" in call else (call["true"], call["pred"])
    try:
        found = score(call["key"], *given, profile=call.get("profile"))
    except RefclustError as error:
        return refused(error)
    return Ended(ACCEPTED, f"{float(found)!r} {found.undefined} {found.spec} {found.digits(20)}")


TARGETS: Final[tuple[Target, ...]] = (Target("keys", _made, _run, 60),)
