"""The recipes do what they say: commands print it, and a notebook draws it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
v4: Any = nbformat.v4  # without types
PAGE = (ROOT / "spec" / "recipes.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
COMMAND = "import sys; from refclust.cli.app import main; sys.exit(main())"


def blocks(kind: str, text: str = PAGE) -> list[str]:
    """The blocks of a kind, in their order."""
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("block", blocks("console"))
def test_commands_print_what_the_page_shows(block: str, tmp_path: Path) -> None:
    environment = {**os.environ, "REFCLUST_DISABLE_PLUGINS": "1"}
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        words = shlex.split(line)
        if words[0] == "cat":  # the page shows a file: it is there
            (tmp_path / words[1]).write_text(shown, encoding="utf-8")
            continue
        assert words[0] == "refclust"
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *words[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == shown


def test_a_notebook_draws_what_the_page_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "1")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    cells = [v4.new_code_cell(block) for block in blocks("python")]
    assert len(cells) == 5
    notebook = v4.new_notebook(cells=cells)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    drawn = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        for output in cell["outputs"]
        if output["output_type"] == "execute_result"
    ]
    explanation, clause, fit, worked = drawn
    for shown in drawn:
        ElementTree.fromstring(f"<all>{shown}</all>")
        assert "<script" not in shown
        assert " src=" not in shown
    assert explanation.count("<math") > 4
    assert "<mfrac>" in clause
    assert "KMeansFit" in fit
    assert "Assignment, row 2" in worked


def test_every_recipe_has_a_block() -> None:
    for title, text in SECTIONS.items():
        assert blocks("console", text) or blocks("python", text), title
