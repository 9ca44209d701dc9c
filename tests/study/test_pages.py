"""What writes the pages of studies: verdicts, claims, times; and the pages as they are."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
BENCHES = ROOT / "benches"


def bench(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import what is in no package; what it needs beyond the tests may be absent."""
    monkeypatch.syspath_prepend(str(BENCHES))
    monkeypatch.syspath_prepend(str(ROOT / "tests"))
    if name not in ("pages", "study"):
        pytest.importorskip("matplotlib")
        pytest.importorskip("ortools")
    return importlib.import_module(name)


@pytest.mark.parametrize("name", ["pages", "study", "reproduction"])
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = doctest.testmod(bench(name, monkeypatch))
    assert found.attempted
    assert not found.failed


def test_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = bench("reproduction", monkeypatch).judged
    rng = np.random.default_rng(1)

    def draws(*means: float, spread: float = 0.001) -> pd.DataFrame:
        return pd.DataFrame(np.array(means) + spread * rng.standard_normal((8, len(means))))

    printed = [0.1, 0.2, 0.3, 0.4]
    assert judged([(draws(0.1, 0.2, 0.3, 0.4), printed)], 0.01)[1] == "reproduced"
    assert judged([(draws(0.3, 0.4, 0.5, 0.6), printed)], 0.01)[1] == "shape only"
    assert judged([(draws(0.6, 0.5, 0.4, 0.3), printed)], 0.01)[1] == "contradicted"
    # One line that goes the other way is enough, however many go along.
    lines = [(draws(0.3, 0.4, 0.5, 0.6), printed)] * 9 + [(draws(0.9, 0.8, 0.7, 0.6), printed)]
    assert judged(lines, 0.01)[1] == "contradicted"
    # Lines that do not vary where the printed ones do are not alike.
    assert judged([(pd.DataFrame([[0.9] * 4] * 3), printed)], 0.01)[1] == "contradicted"
    # Small figures are not near because they are small: 0.002 is far from 0.006.
    assert judged([(draws(0.002, 0.02, spread=0.0), [0.006, 0.06])], 0.0001)[0].startswith("0 of 2 near")
    # A wide interval does not make a verdict better than undecided.
    said, verdict = judged([(draws(0.6, 0.5, 0.4, 0.3, spread=5), printed)], 0.01)
    assert "4 of 4 within the draws" in said
    assert verdict == "within the draws"
    # Features of different kinds have no order that could be kept.
    said, verdict = judged([(draws(0.2, 0.5, 0.9), [0.1, 0.2, 0.9])], 0.01, ordered=False)
    assert "rank" not in said
    assert verdict == "contradicted"


def test_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    page = bench("reproduction", monkeypatch)

    def verdict(held: int) -> str:
        return page.claimed("it holds", pd.Series([True] * held + [False] * (10 - held)))[1]

    assert [verdict(held) for held in (10, 9, 8, 6, 5, 0)] == ["shape only"] * 2 + ["partly"] * 2 + ["contradicted"] * 2
    said = page.claimed("it holds", pd.Series([True]), [True, True], pd.Series([True, False]))[0]
    assert said == "it holds: in every run; in print, in both cases; on discharges over a wide taxonomy, in 1 of 2 runs"
    # Other records than those of a paper say nothing against it.
    assert [page.elsewhere(each) for each in ("contradicted", "partly")] == ["differs", "partly"]


def test_every_verdict_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (BENCHES / "reproduction.md").read_text("utf-8")
    said = {each.partition(",")[0] for each in bench("reproduction", monkeypatch).VERDICTS}
    assert said == set(re.findall(r"^- \*\*([a-z ]+)\*\*:", text, flags=re.MULTILINE))


def test_records_for_noise_have_the_printed_features(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = bench("study_noise", monkeypatch)
    for shape, printed in noise.FEATURES.items():
        found = np.mean([noise.features(shape, seed) for seed in range(3)], axis=0)
        assert np.abs(found / printed - 1).max() < 0.25, (shape, found)


def test_claims_and_places_must_be_those_of_the_template(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pages = bench("pages", monkeypatch)
    with pytest.raises(AssertionError, match="claims"):
        pages.checked("[[one: it is]]", {"two": True})
    with pytest.raises(AssertionError, match="not filled"):
        pages.fill("itemsets", {}, str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_prediction_intervals_hold_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = bench("reproduction", monkeypatch).judged
    rng = np.random.default_rng(2)
    lines = [(pd.DataFrame(rng.standard_normal((5, 20))), rng.standard_normal(20)) for _ in range(40)]
    count = re.search(r"(\d+) of 800 within", judged(lines, 0.0)[0])
    assert count is not None
    assert 740 <= int(count[1]) <= 780


def test_the_page_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "reproduction.md").read_text("utf-8")
    named = set(re.findall(r"`(tests/[\w/.]+)`", page))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_no_page_states_what_did_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = bench("pages", monkeypatch).FAILED
    assert [page.name for page in (ROOT / "docs").glob("*.md") if failed in page.read_text("utf-8")] == []


def test_the_study_runs_every_script(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = bench("study", monkeypatch).SCRIPTS
    # Spark is a matter of a cluster, not of this study.
    assert {path.stem for path in BENCHES.glob("study_*.py")} - {"study_spark"} == set(scripts) - {"reproduction"}
    assert scripts[-1] == "reproduction"
