"""Every example in the README, the guides and the example programs runs and shows what it says."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import commands
import nominym as nym

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```(console|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


# With the other tests of Spark, which have one session.
SPARK = pytest.param(
    ROOT / "docs" / "spark.md", marks=[pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("default")]
)


@pytest.mark.parametrize("page", [SPARK if page.name == "spark.md" else page for page in PAGES], ids=lambda p: p.name)
def test_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.name == "spark.md":
        pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'nominym[spark]'")
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java 17, which is not installed")
    examples = "\n".join(FENCE.findall(text))
    parsed = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    result = runner.run(parsed, out=report.append)
    assert result.failed == 0, "".join(report)
    # Pages of figures are written by programs and have no examples; that of commands has its own.
    if CONSOLE.search(text) is None and page.name != "benchmarks.md" and not page.name.endswith("-study.md"):
        assert result.attempted > 0


@pytest.mark.parametrize(
    "page", [page for page in PAGES if CONSOLE.search(page.read_text(encoding="utf-8"))], ids=lambda page: page.name
)
def test_commands_of_a_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(commands.visits())
    Path("illness.csv").write_text(commands.TAXONOMY)
    nym.datasets.baskets(200, seed=1, items=40)[0].to_fimi("baskets.dat")
    code = 0
    for kind, block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        if kind == "toml":
            # The first line names the file.
            Path(block.split()[1]).write_text(block)
            continue
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = example.partition("\n")
            code, shown = _run(line.replace("$?", str(code)), capfd)
            assert doctest.OutputChecker().check_output(expected, shown, doctest.ELLIPSIS), f"$ {line}\n{shown}"


def _run(line: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run a line of a console; what goes to standard error is shown first, as nobody can tell the order later."""
    program, *arguments = shlex.split(line)
    if program != "nominym":
        # The Python that is running, whatever the path of the shell finds.
        program = sys.executable if program == "python" else program
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr + done.stdout
    from nominym.cli import main

    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = capfd.readouterr()
    return int(ended.value.code or 0), told.err + told.out


def test_pictures_of_the_gallery_are_of_the_code_above_them() -> None:
    page = ROOT / "docs" / "gallery.md"
    shown = re.findall(r"'(.*)'\n\n```\n\n!\[.*?\]\((.*?svg)\)", page.read_text(encoding="utf-8"))
    assert {Path(path).name for _, path in shown} == {path.name for path in (page.parent / "gallery").glob("*.svg")}
    for title, path in shown:
        assert f">{title}<" in (page.parent / path).read_text(encoding="utf-8"), path


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
