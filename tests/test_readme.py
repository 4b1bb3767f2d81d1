"""What the README and the other documents say is true: commands run, links lead somewhere, figures are the measured ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from consformer.training.checkpoint import network_names, read_card

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

Shell = Callable[[str], subprocess.CompletedProcess[str]]


def blocks(language: str) -> list[str]:
    """The code blocks of a language, without those that set up (`.ci/run` runs these as they are)."""
    found = re.findall(rf"(<!-- setup: \w+ -->\n)?```{language}\n(.*?)```", README, flags=re.DOTALL)
    return [code for setup, code in found if not setup]


def setup(name: str) -> str:
    found = re.search(rf"<!-- setup: {name} -->\n```bash\n(.*?)```", README, flags=re.DOTALL)
    assert found
    return found[1].replace("\\\n", " ").strip()


@pytest.fixture
def run(tmp_path: Path) -> Shell:
    """Run shell commands as a reader would, in a folder with the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}

    def shell(code: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(["bash", "-euc", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        return done

    return shell


@pytest.mark.parametrize("code", blocks("bash"))
def test_the_commands_of_the_tour(run: Shell, code: str) -> None:
    run(code)


@pytest.mark.parametrize("code", blocks("python"))
def test_the_programs_of_the_tour(run: Shell, code: str, tmp_path: Path) -> None:
    (tmp_path / "tour.py").write_text(code)
    assert run("python tour.py").stdout.split()[0] == "solved"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_the_examples(run: Shell, path: Path) -> None:
    assert run(f"python examples/{path.name}").stdout.split()[0] == "solved"


def test_what_set_up_ends_with_solves_a_sudoku_and_a_graph(run: Shell) -> None:
    make, activate, install, *solves = setup("solve").split(" && ")
    assert make.startswith("python3 -m venv")
    assert activate == ". .venv/bin/activate"
    assert install.strip() == "pip install -c constraints.txt ."
    told = [run(command).stdout for command in map(str.strip, solves)]
    assert len(told) == 2
    assert all(re.search("^SOLVED ", out, flags=re.MULTILINE) for out in told)
    assert "network squares" in told[0]


def test_set_up_for_development_runs_all_tests() -> None:
    assert setup("test").endswith('pip install -c constraints.txt -e ".[dev]" && pytest')


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_files_named_in_the_documents_exist() -> None:
    named = re.compile(r"`((?:src|docs|benchmarks|examples|tests)/[\w/.-]+)`")
    missing = {(path.name, name) for path in DOCUMENTS for name in named.findall(path.read_text()) if not (ROOT / name).exists()}
    assert missing == set()


@pytest.mark.parametrize("name", network_names())
def test_figures_are_the_measured_ones(name: str) -> None:
    """Every figure in the file of a shipped network is in the README as it is there."""
    rows = read_card(name).results["measured"]
    assert rows
    for row in rows:
        assert f"| {row['set']} | `{name}` | {row['limit']} | {row['result']} |" in README
