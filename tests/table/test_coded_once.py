"""A table is coded once: masking, summary, attacks, distortion, correlations, sweep and report use the same codes."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

import commands
import nominym as nym
from nominym.table import coding

# Small tables, of which much is kept.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(no other record has|can be read off them):nominym.error.PrivacyWarning"
)


@pytest.fixture
def codings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often a column is coded."""
    counted: Counter[str] = Counter()
    code = coding.code

    def counting(*given: object, **more: object) -> coding.Column:
        column = code(*given, **more)
        counted[str(column.name)] += 1
        return column

    for module in [each for name, each in sys.modules.items() if name.startswith("nominym")]:
        if getattr(module, "code", None) is code:
            monkeypatch.setattr(module, "code", counting)
    return counted


@pytest.mark.parametrize(
    "method",
    [nym.RankSwap(k=5, accept="secondary"), nym.RankSwap(k=5, method="records"), nym.Noise(alpha=0.3),
     nym.DataSwap(rate=0.2), nym.Microaggregate(k=5, accept="secondary"),
     nym.Microaggregate(k=5, replace="subsumer", accept="secondary")],
    ids=lambda method: method.command,
)  # fmt: skip
def test_from_frame_to_report(method: nym.RankSwap, codings: Counter[str], tmp_path: Path) -> None:
    frame, taxonomies = nym.datasets.discharges(300, seed=1)
    masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    codings.clear()
    res = method.apply(frame, masked, seed=1)
    assert res.secret.summary["attributes"]["diagnosis"]["unchanged"] < 1
    res.linkage()
    nym.risk.link(res.secret.comparison, k=5)
    nym.distortion.compare(res.secret.comparison, ["diagnosis", "sex"])
    for edition in ("publication", "owner"):
        res.report(tmp_path / f"{edition}.html", edition=edition)
    # The release shares the codes of the original, so that only the original is coded.
    assert set(codings.values()) == {1}
    assert set(codings) <= set(frame)


def test_a_sweep_codes_nothing(codings: Counter[str], tmp_path: Path) -> None:
    frame, taxonomies = nym.datasets.discharges(300, seed=1)
    res = nym.rank_swap(frame, {"diagnosis": taxonomies["diagnosis"]}, k=5, accept=["secondary", "procedure"], seed=1)
    codings.clear()
    nym.report.sweep(res, {"k": [2, 10, 20]})
    nym.report.compare_methods(res)
    assert not codings


def test_from_file_to_report(codings: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nominym.cli import main

    def run(*line: str) -> None:
        with pytest.raises(SystemExit) as ended:
            main(list(line))
        assert not ended.value.code

    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(commands.visits(200))
    Path("illness.csv").write_text(commands.TAXONOMY)
    columns = 3  # the name is dropped before anything is coded
    run("swap", "visits.csv", "-o", "release.csv", *commands.ROLES, "--k", "5", "--key", "key.parquet")
    assert set(codings.values()) == {1}
    assert len(codings) <= columns
    both = ("visits.csv", "release.csv", "--quasi", "diagnosis=illness.csv", "--key", "key.parquet")
    unknown = ("--unknown", "ward", "--unknown", "cost")
    for command in (("audit", *unknown), ("measure",), ("report", "--edition", "owner", "-o", "report.html")):
        codings.clear()
        run(command[0], *both, *command[1:])
        # The original and its release.
        assert max(codings.values()) == 2, command
        assert len(codings) <= columns, command
