"""Trust is earned: who was not tried is tried first, who failed is not taken, and both are kept."""

from __future__ import annotations

import importlib.metadata
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from refclust.backends.choosing import choice, earning, fingerprint, memory
from refclust.backends.choosing.memory import Verdict
from refclust.backends.plugins import discovery
from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.registry import KERNELS
from refclust.notes import listen
from tests.backends.plugins import GOOD, command, earned, installed, put

pytestmark = pytest.mark.long  # by `pytest -m long`

DATA = LabelPairs("aab", "xyy")
CELLS = {("a", "x"): 1, ("a", "y"): 1, ("b", "y"): 1}
SMALL, LARGE = Problem("labels", 3), Problem("labels", 10**9)  # by what is said, not by what is
READY = GOOD.replace('Refusal("too many") if problem.n > 1000 else ', "")
WRONG = READY.replace(
    'return KERNELS["contingency.table"].reference(data)',
    "return {cell: n + 1 for cell, n in KERNELS['contingency.table'].reference(data).items()}",
)
DEADLY = READY.replace(
    'return KERNELS["contingency.table"].reference(data)', "import os; os._exit(0)"
)
EXITING = READY.replace(
    'return KERNELS["contingency.table"].reference(data)', "import sys; sys.exit(0)"
)
MOODY = READY.replace("return data", "Quick.used = 1e-9\n            return data").replace(
    "Estimate(0.0)", "Estimate(getattr(Quick, 'used', 0.0))"
)


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """What is told meanwhile."""
    told: list[str] = []
    listen(told.append)
    yield told
    listen(None)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that is not there yet."""
    monkeypatch.setenv("REFCLUST_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("REFCLUST_DISABLE_PLUGINS", raising=False)
    return tmp_path / "cache"


def ours(told: list[str]) -> list[str]:
    return [line for line in told if "'quick'" in line]


def ran(problem: Problem) -> str:
    session = Session("auto")
    assert session.run("contingency.table", problem, DATA) == CELLS
    return session.provenance().kernels[0].backend


@pytest.mark.spec("BK-EARN")
def test_checked_before_the_first_use_and_never_again(
    tmp_path: Path, heard: list[str], cache: Path
) -> None:
    with installed(tmp_path, rc_quick=READY):
        assert ran(LARGE) == "quick"
        first, passed = ours(heard)
        assert first == (
            "the backend 'quick' (rc_quick 1.2.3) has not been checked here yet: the short kit "
            "tries contingency.table"
        )
        assert passed.startswith("the backend 'quick' (rc_quick 1.2.3) passed in ")
        [kept] = (cache / "earned").iterdir()
        content = json.loads(kept.read_text())
        assert content["schema"] == "refclust-earned/1"
        assert content["kernels"]["contingency.table"]["ok"] is True
        heard.clear()
        memory.forget()  # as a new process would
        assert ran(LARGE) == "quick"
        assert ran(SMALL) == "quick"  # it costs nothing any more
    assert heard == []


@pytest.mark.spec("BK-EARN")
def test_small_problems_check_nobody(tmp_path: Path, heard: list[str], cache: Path) -> None:
    with installed(tmp_path, rc_quick=READY):
        assert ran(SMALL) == "reference"
    assert ours(heard) == []
    assert not cache.exists()


@pytest.mark.spec("BK-EARN")
@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (WRONG, "contingency.table on "),
        (DEADLY, "the kit's process did not tell its verdict"),
        (EXITING, "the kit's process did not tell its verdict"),
        (READY.replace("return data", "1 / 0"), "ZeroDivisionError: division by zero"),
        (MOODY, "contingency.table: its steady estimate depends on what ran before"),
    ],
    ids=["wrong", "deadly", "exiting", "raising", "moody"],
)
def test_who_does_not_pass_is_not_taken(
    tmp_path: Path, heard: list[str], source: str, fault: str
) -> None:
    with installed(tmp_path, rc_quick=source):
        record = discovery.find("quick")
        assert not choice._passes(record, "contingency.table")
        assert choice.fastest("contingency.table", SMALL).record.name == "reference"
        told = ours(heard)[-1]
        assert told.startswith(
            "the backend 'quick' (rc_quick 1.2.3) did not pass the short kit and is left out: "
        )
        assert fault in told
        assert told.endswith(" (remembered until «refclust conform quick» tries again)")
        # The failure is remembered, and told again, but not tried again.
        memory.forget()
        heard.clear()
        listen(heard.append)
        assert ran(SMALL) == "reference"
        assert ours(heard) == [told]
        # Whoever names it decides.
        assert choice.by_name("quick", "contingency.table", SMALL).record is record


@pytest.mark.spec("BK-EARN")
def test_a_kit_that_does_not_end_counts_as_a_fault_until_conform(
    tmp_path: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = (
        "the backend 'quick' (rc_quick 1.2.3) did not pass the short kit and is left out: the kit "
        "was not done after 0.05 s, the time limit; no fault was seen (remembered until «refclust "
        "conform quick» tries again)"
    )
    with installed(tmp_path, rc_quick=READY):
        with monkeypatch.context() as patch:
            patch.setattr(earning, "LIMIT", 0.05)
            assert not choice._passes(discovery.find("quick"), "contingency.table")
            assert ran(SMALL) == "reference"
        assert ours(heard)[-1] == told
        # Nobody waits for it again, also when there would be time enough.
        memory.forget()
        heard.clear()
        listen(heard.append)
        assert ran(SMALL) == "reference"
        assert ours(heard) == [told]
        earned("quick")  # as «refclust conform» does
        memory.forget()
        assert ran(SMALL) == "quick"


def test_without_an_interpreter_nobody_can_be_checked(
    tmp_path: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "")
    with installed(tmp_path, rc_quick=READY):
        assert not choice._passes(discovery.find("quick"), "contingency.table")
    assert "there is no Python interpreter here to run the kit with" in heard[-1]


BROKEN = {
    "bytes": b"\xff\xfe{",
    "long": b'{"schema": "' + b"x" * (1 << 21) + b'"}',
    "deep": b"[" * 100_000,
    "empty": b"",
}


@pytest.mark.spec("BK-EARN")
@pytest.mark.parametrize(
    "damage",
    ["garbage", "schema", "verdict", "folder", "bytes", "facts", "pipe", "long", "deep", "empty"],
)
def test_a_broken_memory_counts_as_none(tmp_path: Path, cache: Path, damage: str) -> None:
    with installed(tmp_path, rc_quick=READY):
        earned("quick")
        [kept] = (cache / "earned").iterdir()
        if damage == "folder":
            kept.unlink()
            kept.mkdir()
        elif damage == "pipe":
            kept.unlink()
            os.mkfifo(kept)
        elif damage in BROKEN:
            kept.write_bytes(BROKEN[damage])
        else:
            text = kept.read_text()
            edit = {
                "schema": ("earned/1", "earned/0"),
                "verdict": ("true", '"yes"'),
                "facts": ('"facts": {', '"facts": {"another": "machine", '),
            }
            kept.write_text(text.replace(*edit[damage]) if damage in edit else text[:50])
        memory.forget()
        assert not memory.recall(discovery.find("quick"))
        assert ran(SMALL) == "reference"  # so it is not for a small problem


@pytest.mark.spec("BK-EARN")
def test_where_nothing_can_be_written_every_process_checks(
    tmp_path: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REFCLUST_CACHE_DIR", str(tmp_path / "file" / "below"))
    with installed(tmp_path, rc_quick=READY):
        assert ran(LARGE) == "quick"
        assert ran(SMALL) == "quick"  # this process knows
        memory.forget()
        assert ran(SMALL) == "reference"  # another one does not
    assert "; this cannot be remembered: " in ours(heard)[1]


def test_the_newest_eight_of_a_backend_are_kept(tmp_path: Path, cache: Path) -> None:
    folder = cache / "earned"
    folder.mkdir(parents=True)
    names = [f"quick-{number:024x}.json" for number in range(12)]
    others = ["quick-start-" + "0" * 24 + ".json", "readme.txt"]
    for age, name in enumerate([*names, *others]):
        (folder / name).write_text("{}")
        os.utime(folder / name, (age, age))
    with installed(tmp_path, rc_quick=READY):
        earned("quick")
        own = memory._path(discovery.find("quick"))
    assert own is not None
    assert sorted(one.name for one in folder.iterdir()) == sorted([*names[5:], *others, own.name])


@pytest.mark.spec("BK-EARN")
def test_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_CACHE_DIR", "given")
    assert memory.folder() == Path("given")
    monkeypatch.delenv("REFCLUST_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/home")
    assert memory.folder() == Path("/home/refclust")
    monkeypatch.setenv("HOME", "/somebody")
    for nothing in ("", "relative/folder"):
        monkeypatch.setenv("XDG_CACHE_HOME", nothing)
        assert memory.folder() == Path("/somebody/.cache/refclust")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # nobody's home is known
    assert memory.folder() is None


@pytest.mark.spec("BK-EARN")
def test_without_a_home_this_process_remembers_alone(
    tmp_path: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("REFCLUST_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with installed(tmp_path, rc_quick=READY):
        assert ran(LARGE) == "quick"
        assert ran(SMALL) == "quick"
    assert ours(heard)[1].endswith(
        "; this cannot be remembered: there is no home folder, and REFCLUST_CACHE_DIR names no "
        "other"
    )
    assert not Path("~").exists()


@pytest.mark.spec("BK-EARN")
def test_what_somebody_else_wrote_is_not_believed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with installed(tmp_path, rc_quick=READY):
        earned("quick")
        record = discovery.find("quick")
        memory.forget()
        assert memory.recall(record)
        [kept] = (cache / "earned").iterdir()
        found = os.stat(kept)
        other = os.stat_result((*found[:4], os.geteuid() + 1, *found[5:]))
        monkeypatch.setattr(os, "fstat", lambda _: other)
        memory.forget()
        assert not memory.recall(record)


@pytest.mark.spec("BK-EARN")
def test_several_processes_may_write_at_once(tmp_path: Path, cache: Path) -> None:
    with installed(tmp_path, rc_quick=READY):
        record = discovery.find("quick")
        threads = [
            threading.Thread(
                target=memory.remember, args=(record, {f"k{i}": memory.Verdict(True, "now")})
            )
            for i in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        memory.forget()
        assert set(memory.recall(record)) <= {f"k{i}" for i in range(8)}
        assert memory.recall(record)
    [_] = (cache / "earned").iterdir()


@pytest.mark.spec("BK-EARN")
def test_what_can_matter_makes_another_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    building = READY.replace(
        "def export(", "def build(self):\n            return BUILD\n\n        def export("
    ).replace("class Quick:", "BUILD = '8 lanes'\n\n    class Quick:")
    with installed(tmp_path, rc_quick=building):
        record = discovery.find("quick")

        def digest() -> str:
            record.seen.pop("digest", None)
            return fingerprint.digest(record)

        first = digest()
        assert digest() == first
        import rc_quick  # type: ignore[import-not-found]

        others = set()
        for target, value in (
            ("refclust.backends.choosing.fingerprint.__version__", "9.9"),
            ("refclust.backends.choosing.fingerprint._judges", lambda: "another kit"),
            ("refclust.backends.choosing.fingerprint._machine", lambda: "another processor"),
            ("refclust.backends.choosing.fingerprint._needs", lambda _: {"library 2"}),
            ("platform.python_version", lambda: "9.9"),
        ):
            with monkeypatch.context() as change:
                change.setattr(target, value)
                others.add(digest())
        with monkeypatch.context() as change:
            change.setattr(rc_quick, "BUILD", "4 lanes")
            others.add(digest())
        with monkeypatch.context() as change:
            change.setenv("REFCLUST_THREADS", "7")
            others.add(digest())
        module = tmp_path / "rc_quick.py"
        text = module.read_text()
        module.write_text(text.replace("too many", "too much") + "#")
        others.add(digest())
        module.write_text(text)
        assert digest() == first
        assert len(others) == 8
        assert first not in others


def test_files_of_a_package_and_what_it_requires(tmp_path: Path) -> None:
    with installed(tmp_path, rc_quick=READY):
        record = discovery.find("quick")
        assert [path.name for path in fingerprint._sources(record)] == ["rc_quick.py"]
    package = tmp_path / "package"
    (package / "__pycache__").mkdir(parents=True)
    for name in ("b.py", "a.so", "__pycache__/c.py", "d.pyc"):
        (package / name).write_text("")
    assert [path.name for path in fingerprint._files(package)] == ["a.so", "b.py"]
    names = {line.split()[0] for line in fingerprint._needs("hypothesis")}
    assert "sortedcontainers" in names


@pytest.mark.spec("BK-EARN")
def test_kernels_of_a_fit_are_checked_together() -> None:
    loopback = discovery.find("loopback")
    kmeans = earning.together(loopback, "kmeans.lloyd_step")
    assert kmeans == earning.together(loopback, "seeding.potential")
    assert "kmeans.means" in kmeans
    assert "seeding.locate" in kmeans
    assert earning.together(loopback, "kmeans.directions") == ("kmeans.directions",)
    assert "kmeans.directions" not in kmeans
    gaussian = earning.together(loopback, "gaussian.em_step")
    assert gaussian == tuple(sorted(name for name in KERNELS if name.startswith("gaussian.")))
    assert {kernel for name in KERNELS for kernel in earning.together(loopback, name)} == set(
        KERNELS
    )


def test_one_fault_is_a_fault_of_all() -> None:
    loopback, kernels = discovery.find("loopback"), ("kmeans.means", "kmeans.squares")
    record = discovery.Record("some", "d", "1", "ready", "", loopback.backend, plugin="some")
    assert earning.known(record, kernels) is None
    passed = Verdict(True, "2026-11-17 12:00")
    memory.remember(record, {"kmeans.means": passed})
    assert earning.known(record, kernels) is None
    memory.remember(record, {"kmeans.squares": Verdict(True, "2026-11-17 11:00")})
    assert earning.known(record, kernels) == Verdict(True, "2026-11-17 11:00")
    failed = Verdict(False, "2026-11-17 12:00", "off by one")
    memory.remember(record, {"kmeans.squares": failed})
    assert earning.known(record, kernels) == failed


@pytest.mark.spec("BK-EARN")
def test_the_price_of_a_check(tmp_path: Path) -> None:
    slow = READY.replace("Estimate(0.0)", "Estimate(problem.n + 100 * problem.calls)")
    with installed(tmp_path, rc_quick=slow):
        record = discovery.find("quick")
        problem = Problem("labels", 10**6, 0, 0, 50)
        price = earning.price(record, ("contingency.table",), problem)
    assert price == 2.0 + 64 + 100
    reference = discovery.find("reference")
    kernels = ("contingency.table", "linkage.agglomerate")  # 64 of 2e-7 and 64 of 7e-7 seconds
    assert earning.price(reference, kernels, problem) == 2.0 + 64 * 7e-7 + 0.2 * (64 * 2e-7)


@pytest.mark.spec("BK-EARN")
def test_conform_is_remembered_and_listed(tmp_path: Path, cache: Path) -> None:
    put(tmp_path, rc_quick=READY)
    variables = {"REFCLUST_CACHE_DIR": str(cache)}

    def listed() -> tuple[str, str, str | None]:
        done = command(tmp_path, "backends", "--no-measure", "--json", **variables)
        [row] = [one for one in json.loads(done.out)["backends"] if one["name"] == "quick"]
        return row["state"], row["checked"]["state"], row["checked"]["fault"]

    assert listed() == ("ready", "not yet", None)
    assert command(tmp_path, "conform", "quick", "--quick", **variables).code == 0
    assert listed() == ("ready", "passed", None)
    done = command(tmp_path, "backends", "--no-measure", **variables)
    line = next(line for line in done.out.splitlines() if line.startswith("quick "))
    assert "  1 kernel, 2" in line
    (tmp_path / "rc_quick.py").write_text(
        (tmp_path / "rc_quick.py")
        .read_text()
        .replace(".reference(data)", ".reference(data) | {1: 1}")
    )
    assert listed() == ("ready", "not yet", None)  # another version
    assert command(tmp_path, "conform", "quick", "--quick", **variables).code == 1
    state, checked, fault = listed()
    assert (state, checked) == ("failed", "failed")
    assert fault is not None
    assert fault.startswith("contingency.table on ")


STATEFUL = """
    import os

    import pluggy

    from refclust.backends.builtin import Reference
    from refclust.backends.protocol import Estimate

    class Moody:
        name = "moody"
        api_version = 1
        accuracy = "exact"
        asked = 0

        def kernels(self):
            return Reference().kernels()

        def supports(self, kernel, problem):
            Moody.asked += 1
            if problem.steady:
                return Estimate(1e-9 * problem.n * problem.calls)
            return Estimate(0.0 if Moody.asked % 2 else 1e9)

        def prepare(self, data):
            return Reference().prepare(data)

        def export(self, value):
            return value

    @pluggy.HookimplMarker("refclust")
    def refclust_register_backends():
        return [Moody()]
"""


@pytest.mark.spec("BK-SELECT")
def test_contracts_that_leave_room_for_last_bits() -> None:
    exact = ("gaussian.exact_moments", "multinomial.exact_tallies")
    lengths = ("silhouette.distance_sums",)
    families = {
        name: name in lengths
        or (name.startswith(("gaussian.", "multinomial.")) and name not in exact)
        for name in KERNELS
    }
    assert {name: choice.bounded(name) for name in KERNELS} == families


@pytest.mark.spec("BK-SELECT")
@pytest.mark.parametrize("remembered", [False, True])
def test_where_bits_may_differ_nothing_but_the_problem_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remembered: bool
) -> None:
    checked: list[str] = []

    def passes(_: discovery.Record, kernels: tuple[str, ...]) -> Verdict:
        checked.extend(kernels)
        return Verdict(True, "2026-11-17 12:00")

    monkeypatch.setattr(earning, "earn", passes)
    entries = importlib.metadata.entry_points  # whatever else is installed stays out of it
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [one for one in entries(group=group) if one.name == "rc_moody"],
    )
    # Half a second is added whether the check is still to be made or not.
    near = Problem("dense", 1000, 124_000, 2, 1)  # 0.496 s on the reference
    far = Problem("dense", 1000, 126_000, 2, 1)  # 0.504 s
    with installed(tmp_path, rc_moody=STATEFUL):
        if remembered:
            earned("moody")
        found = [
            choice.fastest("gaussian.em_step", problem).record.name for problem in (near, far) * 3
        ]
    assert found == ["reference", "moody"] * 3
    assert bool(checked) is not remembered


@pytest.mark.spec("BK-SELECT")
def test_where_bits_are_fixed_the_state_may_count(tmp_path: Path) -> None:
    with installed(tmp_path, rc_moody=STATEFUL):
        earned("moody")
        problem = Problem("dense", 10, 20, 2)
        record = discovery.find("moody")
        first = [choice._estimate(record, "kmeans.lloyd_step", problem) for _ in range(2)]
        steady = [choice._estimate(record, "gaussian.em_step", problem) for _ in range(2)]
    assert sorted(map(float, map(str, first))) == [0.0, 1e9]
    assert steady == [1e-8, 1e-8]
