"""Plays a script on a backend: hands it the calls one by one and judges each answer (chapter 81).

Every answer is judged by the contract of its kernel against the reference's. Beside the value, the
manners are watched: inputs stay as they were, earlier answers too, errors are the reference's.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from refclust.backends.protocol import Backend, Estimate, Problem, Refusal
from refclust.errors import RefclustError
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.testing.diagnosis.rows import diagnose
from refclust.testing.scripts.facts import Trial, facts_in_words, facts_of
from refclust.testing.scripts.layouts import copied, fingerprint, foreign, guarded, surroundings
from refclust.testing.scripts.lockstep import Call, Made, Raised, Script

State: TypeAlias = Literal["reference", "own"]

_MORE: Final = 1_000_000  # times as large, to see whether only small problems are declined
_AGAIN: Final = 3
_MOST_WRONG: Final = 300  # calls of a kernel after which it is clear enough
_TOLD: Final = {"reference": "given the reference's state", "own": "on its own state"}
_NARROW: Final = Decimal("1e-25")  # an interval worked out with 60 digits is narrower than this


class Player:
    """One script on one backend; after a fault a kernel is called on to see where else it errs."""

    def __init__(self, backend: Backend, script: Script, rival: Script | None = None) -> None:
        self.backend, self.script, self.rival = backend, script, rival
        self.faults: dict[str, str] = {}
        self.calls: dict[str, int] = {}
        self.trials: dict[str, list[Trial]] = {}
        self.declined: dict[str, dict[str, None]] = {}
        self.marks: dict[str, int] = {}  # facts of all calls to come: the number of threads, say
        self.kept: list[tuple[int, Any, Any]] | None = None  # answers of all plays, if wanted
        self._wrong: dict[str, int] = {}
        self._given_up: set[str] = set()
        self._points: dict[int, Points] = {}
        self._own: dict[int, Any] = {}
        self._functions = offered(backend)
        self._data: list[Any] = []
        self._prepared: list[Any] = []
        self._marks: list[tuple[Any, list[bytes]]] = []  # of all data, as they were given

    def prepare(self, data: list[Any] | None = None) -> None:
        """Have the backend prepare all data, once; it gets copies, whatever it does to them."""
        self.script.work_out(self._functions)
        self._data = list(map(copied, self.script.data)) if data is None else data
        self._marks = [(fingerprint(data), surroundings(data)) for data in self._data]
        try:
            self._prepared = [self.backend.prepare(data) for data in self._data]
        except Exception as error:
            for kernel in self._kernels():
                self.faults[kernel] = f"prepare raised {_named(error)}"

    def play(self, state: State, where: str = "", places: Sequence[int] | None = None) -> None:
        """Make all calls, and see that no earlier answer has changed in the end."""
        self._own.clear()
        answers: list[tuple[int, Any, Any]] = []
        for place in range(len(self.script.calls)) if places is None else places:
            self.call(place, state, where)
            if place in self._own:
                answers.append((place, self._own[place], fingerprint(self._own[place])))
        self._check_kept(answers, f"{_TOLD[state]}{where}")
        self._check_widths()
        if self.kept is not None:
            self.kept += answers

    def settle(self) -> None:
        """See that no answer of any play has changed in the end."""
        self._check_kept(self.kept or [], "all answers of a long session")

    def _check_kept(self, answers: list[tuple[int, Any, Any]], where: str) -> None:
        for place, answer, before in answers:
            if fingerprint(answer) != before:
                kernel = self.script.calls[place].kernel
                fault = "an earlier answer changed later: its buffer was used again"
                self.faults.setdefault(kernel, f"{fault} [{where}]")

    def call(self, place: int, state: State, where: str = "") -> None:
        """Make one call and judge the answer."""
        call = self.script.calls[place]
        if call.kernel not in self._functions or call.kernel in self._given_up:
            return
        refused, fault = self._supported(call)
        if refused:
            return
        args = [self._argument(arg, state) for arg in call.args]
        first = call.kernel not in self.faults
        fault = fault or self._called(place, call, args, first)
        self.calls[call.kernel] = number = self.calls.get(call.kernel, 0) + 1
        facts = facts_of(call.kernel, self.script.data[call.data], args) | self.marks
        self.trials.setdefault(call.kernel, []).append(({**facts, "call": number}, not fault))
        if not fault:
            return
        self._wrong[call.kernel] = self._wrong.get(call.kernel, 0) + 1
        if self._wrong[call.kernel] > _MOST_WRONG:
            self._given_up.add(call.kernel)
        if first:
            note = f" ({call.note})" if call.note else ""
            self.faults[call.kernel] = (
                f"{_short(fault)}{note} [{_TOLD[state]}{where}: {facts_in_words(facts)}]"
            )

    def again(self, place: int) -> None:
        """Make one call without looking at the answer, and without noting anything."""
        call = self.script.calls[place]
        self._answer(call, [self._argument(arg, "reference") for arg in call.args])

    def answers(self) -> Mapping[int, Any]:
        """What the backend answered so far, by the place of the call."""
        return self._own

    def _kernels(self) -> list[str]:
        return [
            name for name in self._functions if any(c.kernel == name for c in self.script.calls)
        ]

    def _supported(self, call: Call) -> tuple[bool, str]:
        """Whether the backend declines a call, as it may, and what is wrong with how it says so."""
        support, fault = self._support(call, call.problem)
        if not isinstance(support, Refusal):
            if fault:
                self._given_up.add(call.kernel)
            return False, fault
        larger = replace(call.problem, n=call.problem.n * _MORE, size=call.problem.size * _MORE)
        if isinstance(self._support(call, larger)[0], Estimate):
            # Data of a kind may be declined, but then all of them that are not larger.
            return False, f"it declined: {support.reason}; but such a problem of more rows it takes"
        kind = ", ".join([call.problem.kind, *sorted(call.problem.traits)])
        self.declined.setdefault(call.kernel, {})[f"{kind}: {support.reason}"] = None
        return True, ""

    def _support(self, call: Call, problem: Problem) -> tuple[Any, str]:
        try:
            support = self.backend.supports(call.kernel, problem)
        except Exception as error:
            return None, f"supports raised {_named(error)}"
        if isinstance(support, Refusal):
            return support, ""
        if not isinstance(support, Estimate):
            name = type(support).__name__
            return None, f"supports returned a {name}, not an Estimate or a Refusal"
        if not support.seconds >= 0:
            return None, f"supports expects {support.seconds} seconds"
        return support, ""

    def _called(self, place: int, call: Call, args: list[Any], first: bool) -> str:
        data = self._data[call.data]
        before = [fingerprint(arg) for arg in args]
        due = call.due
        try:
            answer = self._answer(call, args)
        except RefclustError as error:
            if isinstance(due, Raised) and due.code == error.code:
                return ""
            self._given_up.add(call.kernel)
            right = f"the error {due.code}" if isinstance(due, Raised) else "an answer"
            return f"it raised {_named(error)} [{error.code}] instead of {right}"
        except Exception as error:
            self._given_up.add(call.kernel)
            return f"it raised {_named(error)}"
        changed = self._changed(call.data, args, before)
        if changed:
            self._given_up.add(call.kernel)
            return changed
        if isinstance(due, Raised):
            return f"it answered instead of raising the error {due.code}"
        fault = self._judged(call, data, args, answer, first)
        if not fault:
            self._own[place] = answer
        elif not first:
            return fault
        elif self._is_of_rival(call, args, answer):
            return f"stale prepared data: this is the answer for other data of this shape; {fault}"
        return f"{fault}{self._unsteady(call, args, answer)}" if fault else ""

    def _answer(self, call: Call, args: list[Any]) -> Any:
        function = self._functions[call.kernel]
        return self.backend.export(function(self._prepared[call.data], *args))

    def _changed(self, place: int, args: list[Any], before: list[Any]) -> str:
        # What a call leaves as it was need not be looked at again before the next one.
        data, (numbers, margins) = self._data[place], self._marks[place]
        if fingerprint(data) != numbers:
            self.prepare()  # the other kernels are not to blame
            return "it changed its input: the data"
        if surroundings(data) != margins:
            self.prepare()
            return "it wrote beyond the end, or before the beginning, of the data"
        for number, (arg, kept) in enumerate(zip(args, before, strict=True), 1):
            if fingerprint(arg) != kept:
                return f"it changed its input: argument {number}"
        return ""

    def _unsteady(self, call: Call, args: list[Any], answer: Any) -> str:
        """Whether the same call, made again, is answered otherwise: a word about races."""
        once = fingerprint(answer)
        for _ in range(_AGAIN):
            try:
                other = fingerprint(self._answer(call, args))
            except Exception:
                return ""
            if other != once:
                return "; the same call again is answered otherwise: a race, or memory that " + (
                    "nobody wrote, or something kept from call to call"
                )
        return ""

    def _judged(self, call: Call, data: Any, args: list[Any], answer: Any, first: bool) -> str:
        contract = KERNELS[call.kernel].contract
        try:
            malformed = contract.malformed(answer)
            if malformed:
                return f"malformed: {malformed}"
            # Some bounds depend on the rows: such a contract wants to see them.
            judged = getattr(contract, "judged", None)
            fault = (
                judged(self._rows(call.data), args, call.due, answer)
                if judged
                else contract.fault(call.due, _viewed(answer))
            )
        except Exception as error:
            return f"the answer, a {type(answer).__name__}, cannot be judged: {_named(error)}"
        if not fault or not first:
            return fault or ""
        guess = diagnose(call.kernel, data, args, call.due, answer)
        return f"{fault}; {guess}" if guess else fault

    def _rows(self, place: int) -> Points:
        """The rows that bounds depend on; those of the script, which nobody can have changed."""
        if place not in self._points:
            self._points[place] = Points(self.script.data[place])
        return self._points[place]

    def _is_of_rival(self, call: Call, args: list[Any], answer: Any) -> bool:
        """Whether it answered for the other data; a single row may be the same by accident."""
        if self.rival is None or isinstance(answer, int):
            return False
        try:
            due = self.rival.answer(call, args)
            return KERNELS[call.kernel].contract.fault(due, answer) is None
        except Exception:  # an answer may be wrong in any way
            return False

    def _check_widths(self) -> None:
        """See that intervals get narrow when many digits are asked for."""
        kernel = "information.expected_mi"
        for place, answer in self._own.items():
            call = self.script.calls[place]
            if call.kernel == kernel and call.args[0] >= 60 and answer[1] - answer[0] > _NARROW:
                fault = (
                    f"the interval is {answer[1] - answer[0]:.1e} wide for {call.args[0]} digits"
                )
                self.faults.setdefault(kernel, f"{fault}: it must shrink as digits are added")

    def _argument(self, arg: Any, state: State) -> Any:
        if isinstance(arg, Made):
            if state == "own" and arg.call in self._own:
                return arg.of(self._own[arg.call])
            arg = self.script.due(arg)
        return foreign(arg) if state == "reference" else guarded(arg)


def offered(backend: Backend) -> dict[str, Callable[..., Any]]:
    """The kernels of a backend that the core knows."""
    return {name: function for name, function in backend.kernels().items() if name in KERNELS}


def _viewed(answer: Any) -> Any:
    """A buffer of any library as one whose entries are plain numbers; other answers as they are."""
    if isinstance(answer, tuple | int | float | str | bytes | array):
        return answer
    try:
        return memoryview(answer)
    except TypeError:
        return answer


def _short(text: str) -> str:
    """A text in which endless numbers are cut."""
    return re.sub(r"\d{40,}", lambda match: f"{match[0][:20]}… ({len(match[0])} digits)", text)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
