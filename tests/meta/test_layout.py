"""The shape of the repository: what may stand where, and who may import whom."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The benchmark is held to the rules of the core, from which it came.
OURS = (ROOT / "refclust", ROOT / "plugins" / "refclust-bench" / "refclust_bench")
TOP = {"refclust", "plugins", "tests", "spec", "pyproject.toml", "README.md"}
FOR_TOOLS = {"LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff"}


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listed.stdout.splitlines()


def test_top_level_is_the_agreed_one() -> None:
    tops = {name.partition("/")[0] for name in tracked()}
    assert {top for top in tops if not top.startswith(".")} == TOP | FOR_TOOLS


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


def test_generators_import_nothing_from_refclust() -> None:
    generators = sorted((ROOT / "spec" / "generators").glob("*.py"))
    assert generators
    for path in generators:
        assert "refclust" not in imports(path), path.name


def test_core_imports_only_the_standard_library_and_two_packages() -> None:
    allowed = {*sys.stdlib_module_names, "refclust", "pluggy", "typer"}
    core, bench = OURS
    for path in sorted(core.rglob("*.py")):
        assert imports(path) <= allowed, path.relative_to(ROOT)
    for path in sorted(bench.rglob("*.py")):
        assert imports(path) <= {*allowed, "refclust_bench"}, path.relative_to(ROOT)


def test_dependencies_are_two() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=]", dependency)[0] for dependency in project["dependencies"]}
    assert names == {"pluggy", "typer"}


def test_readme_and_ci_agree_on_the_test_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", readme, re.DOTALL)
    assert "refclust demo" in blocks[0]
    assert "pip install -e '.[test]'" in blocks[1]
    assert "pytest" in blocks[1]
    assert "-e '.[test]'" in ci
    assert "-m pytest" in ci
    distributions = {
        f"plugins/{path.parent.name}" for path in ROOT.glob("plugins/*/pyproject.toml")
    }
    assert distributions == set(re.findall(r"-e (plugins/\S+)", blocks[1]))
    assert distributions == set(re.findall(r"-e (plugins/\S+)", ci))


def test_no_random_numbers_but_from_random_random() -> None:
    # Only Random.random() is promised to stay the same between Python versions.
    forbidden = re.compile(r"\.(shuffle|sample|choice|choices|randrange|randint|gauss|uniform)\(")
    for path in sorted(path for root in OURS for path in root.rglob("*.py")):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.relative_to(ROOT)
