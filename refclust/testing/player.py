"""Plays a script on a backend: hands it the calls one by one and judges each answer (chapter 81).

Every answer is judged by the contract of its kernel against the reference's. Beside the value, the
manners are watched: inputs stay as they were, earlier answers too, errors are the reference's.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from refclust.backends.protocol import Backend, Estimate, Refusal
from refclust.errors import RefclustError
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.testing.clothes import copied, fingerprint, foreign, guarded
from refclust.testing.diagnosis import diagnose
from refclust.testing.lockstep import Call, Made, Raised, Script

State: TypeAlias = Literal["reference", "own"]

_DECLINED: Final = "it declined"
_TOLD: Final = {"reference": "given the reference's state", "own": "on its own state"}
_NARROW: Final = Decimal("1e-25")  # an interval worked out with 60 digits is narrower than this


class Player:
    """One script on one backend; after the first fault of a kernel it is not called again."""

    def __init__(self, backend: Backend, script: Script, rival: Script | None = None) -> None:
        self.backend, self.script, self.rival = backend, script, rival
        self.faults: dict[str, str] = {}
        self.calls: dict[str, int] = {}
        self._own: dict[int, Any] = {}
        self._functions = offered(backend)
        self._data: list[Any] = []
        self._prepared: list[Any] = []

    def prepare(self, data: list[Any] | None = None) -> None:
        """Have the backend prepare all data, once; it gets copies, whatever it does to them."""
        self._data = list(map(copied, self.script.data)) if data is None else data
        try:
            self._prepared = [self.backend.prepare(data) for data in self._data]
        except Exception as error:
            for kernel in self._kernels():
                self.faults[kernel] = f"prepare raised {_named(error)}"

    def play(self, state: State, where: str = "") -> None:
        """Make all calls, and see that no earlier answer has changed in the end."""
        self._own.clear()
        told: dict[int, Any] = {}
        for place in range(len(self.script.calls)):
            self.one(place, state, where)
            if place in self._own:
                told[place] = fingerprint(self._own[place])
        for place, before in told.items():
            if fingerprint(self._own[place]) != before:
                kernel = self.script.calls[place].kernel
                fault = "an earlier answer changed later: its buffer was used again"
                self.faults.setdefault(kernel, f"{fault} [{_TOLD[state]}{where}]")
        self._check_widths()

    def one(self, place: int, state: State, where: str = "") -> None:
        """Make one call and judge the answer."""
        call = self.script.calls[place]
        if call.kernel not in self._functions or call.kernel in self.faults:
            return
        declined = self._declined(call)
        if declined.startswith(_DECLINED) and may_decline(call):
            return
        args = [self._argument(arg, state) for arg in call.args]
        fault = declined or self._called(place, call, args)
        self.calls[call.kernel] = self.calls.get(call.kernel, 0) + 1
        if fault:
            note = f" ({call.note})" if call.note else ""
            self.faults[call.kernel] = f"{fault}{note} [{_TOLD[state]}{where}]"

    def answers(self) -> Mapping[int, Any]:
        """What the backend answered so far, by the place of the call."""
        return self._own

    def _kernels(self) -> list[str]:
        return [
            name for name in self._functions if any(c.kernel == name for c in self.script.calls)
        ]

    def _declined(self, call: Call) -> str:
        try:
            support = self.backend.supports(call.kernel, call.problem)
        except Exception as error:
            return f"supports raised {_named(error)}"
        if isinstance(support, Refusal):
            return f"{_DECLINED}: {support.reason}"
        if not isinstance(support, Estimate):
            return f"supports returned a {type(support).__name__}, not an Estimate or a Refusal"
        return "" if support.seconds >= 0 else f"supports expects {support.seconds} seconds"

    def _called(self, place: int, call: Call, args: list[Any]) -> str:
        data = self._data[call.data]
        before = fingerprint(data), [fingerprint(arg) for arg in args]
        due, function = call.due, self._functions[call.kernel]
        try:
            answer = self.backend.export(function(self._prepared[call.data], *args))
        except RefclustError as error:
            if isinstance(due, Raised) and due.code == error.code:
                return ""
            right = f"the error {due.code}" if isinstance(due, Raised) else "an answer"
            return f"it raised {_named(error)} [{error.code}] instead of {right}"
        except Exception as error:
            return f"it raised {_named(error)}"
        if fingerprint(data) != before[0]:
            self.prepare()  # the other kernels are not to blame
            return "it changed its input: the data"
        for number, (arg, told) in enumerate(zip(args, before[1], strict=True), 1):
            if fingerprint(arg) != told:
                return f"it changed its input: argument {number}"
        if isinstance(due, Raised):
            return f"it answered instead of raising the error {due.code}"
        fault = self._judged(call, data, args, answer)
        if not fault:
            self._own[place] = answer
        elif self._is_of_rival(call, args, answer):
            return f"stale prepared data: this is the answer for other data of this shape; {fault}"
        return fault

    def _judged(self, call: Call, data: Any, args: list[Any], answer: Any) -> str:
        contract = KERNELS[call.kernel].contract
        try:
            malformed = contract.malformed(answer)
            if malformed:
                return f"malformed: {malformed}"
            # Some bounds depend on the rows: such a contract wants to see them.
            judged = getattr(contract, "judged", None)
            fault = (
                judged(Points(data), args, call.due, answer)
                if judged
                else contract.fault(call.due, _viewed(answer))
            )
        except Exception as error:
            return f"the answer, a {type(answer).__name__}, cannot be judged: {_named(error)}"
        if not fault:
            return ""
        guess = diagnose(call.kernel, data, args, call.due, answer)
        return f"{fault}; {guess}" if guess else fault

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


def may_decline(call: Call) -> bool:
    """Whether a backend may leave a call to the reference: normal densities of sparse rows."""
    return call.kernel.startswith("gaussian.") and call.problem.kind == "sparse"


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


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
