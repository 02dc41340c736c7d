"""Reads the ``Spec:`` lines of a docstring (tracing, no chapter).

``Spec: PUR, PUR-F`` cites clauses and may go on in the next line after a comma.
``Spec: none (why)`` says that a function realises no clause, and why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from refclust.trace.clauses import ID

_LINE = re.compile(r"Spec:(?: +(.*))?")
_IDS = re.compile(rf"{ID}(, *{ID})*")
_NONE = re.compile(r"none \((.+?)\)?\.?")


@dataclass(frozen=True, slots=True)
class Citations:
    """What a docstring cites; ``exempt`` is the reason to cite nothing, ``faults`` bad lines."""

    ids: tuple[str, ...] = ()
    exempt: str = ""
    faults: tuple[str, ...] = ()


def read(docstring: str) -> Citations:
    r"""Read all ``Spec:`` lines of a docstring.

    >>> read("Share of the majority.\n\n    Spec: PUR, PUR-F\n").ids
    ('PUR', 'PUR-F')
    """
    ids: list[str] = []
    exempt = ""
    faults: list[str] = []
    lines = [line.strip() for line in docstring.split("\n")]
    for number, line in enumerate(lines):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        cited = match[1] or ""
        following = iter(lines[number + 1 :])
        while cited.endswith(","):
            cited = f"{cited} {next(following, '')}"
        reason = _NONE.fullmatch(cited)
        if reason is not None:
            exempt = reason[1]
        elif _IDS.fullmatch(cited):
            ids.extend(re.findall(ID, cited))
        else:
            faults.append(f"Spec: {cited}".strip())
    return Citations(tuple(dict.fromkeys(ids)), exempt, tuple(faults))
