"""Every example in the README, the guides and the example programs runs and shows what it says."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    examples = "\n".join(FENCE.findall(text))
    parsed = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    result = runner.run(parsed, out=report.append)
    assert result.failed == 0, "".join(report)
    # Pages of figures are written by programs and have no examples.
    if page.name != "benchmarks.md" and not page.name.endswith("-study.md"):
        assert result.attempted > 0


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("program", sorted((ROOT / "examples").glob("*.py")), ids=lambda program: program.name)
def test_example(program: Path) -> None:
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_site(tmp_path: Path) -> None:
    """The site builds without a warning, and the notebook in it runs."""
    pytest.importorskip("mkdocs", reason="the site is built by mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # What the notebook shows is in the page only if it ran.
    assert "Linkage" in (tmp_path / "tutorial" / "index.html").read_text(encoding="utf-8")
    assert "rank_swap" in (tmp_path / "api" / "index.html").read_text(encoding="utf-8")
