"""The wheel holds the package, the chapters, the vectors and the locks, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]


def test_the_wheel_ships_what_the_commands_need(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(wheel).namelist())
    spec = ROOT / "spec"
    wanted = [
        *spec.glob("*.md"),
        *spec.glob("*.txt"),
        *spec.rglob("locks/**/*.lock"),
        *spec.rglob("vectors/**/*.json"),
        *spec.rglob("vectors/**/*.md"),
        *spec.glob("schema/*.json"),
    ]
    assert len(wanted) > 30
    for path in wanted:
        assert f"refclust/_spec/{path.relative_to(spec).as_posix()}" in names
    assert "refclust/py.typed" in names
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"refclust"}
    assert not any(name.endswith(".pyc") for name in names)
