"""``nominym demo``: a whole release of synthetic records, from the original to the report."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

from nominym import datasets
from nominym.cli import audit, console, job, recode, report, swap
from nominym.cli.errors import Exit, guarded
from nominym.cli.settings import Settings, settings
from nominym.error import ParameterError
from nominym.release.manifest import Manifest
from nominym.release.table import write_table

_K, _K_BASKETS = 10, 8

_TOML = """\
# A whole release in one file: nominym swap --config release.toml
[input]
path = "discharges.csv"

[output]
path = "release.csv"
key = "owner.parquet"

[columns.patient]
role = "identifier"

[columns.diagnosis]
role = "quasi-identifier"
taxonomy = "diagnoses.json"

[columns.procedure]
role = "quasi-identifier"
taxonomy = "procedures.json"

[columns.secondary]
role = "keep"

[columns.age_group]
role = "keep"

[columns.sex]
role = "keep"

[columns.length_of_stay]
role = "keep"

[method]
command = "swap"
guarantee = "strict"
k = 10
"""


@guarded
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for all files; made if it is not there.")],
    records: Annotated[int, typer.Option("--records", min=1_000, help="Hospital discharges to draw.")] = 100_000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of an earlier demo.")] = False,
) -> None:
    """Draw synthetic hospital discharges and baskets, release them, attack the releases, and write a report.

    All files are yours to look at; release.toml is the whole release in one file.

    \b
    Example:
      nominym demo --out demo
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not overwrite)):
        raise ParameterError(f"{out} is there and not an empty folder; choose another, or give overwrite=True")
    out.mkdir(parents=True, exist_ok=True)
    kept = [_discharges(out, records, overwrite), _baskets(out, max(records // 10, 1_000), overwrite)]
    console.say(f"Do it again with your own data: see {out / 'release.toml'} and nominym swap --help")
    if False in kept:
        raise typer.Exit(Exit.NOT_KEPT)


def _discharges(out: Path, records: int, overwrite: bool) -> bool | None:
    console.say(f"1. {records:,} synthetic hospital discharges, and what their diagnoses and procedures mean")
    frame, taxonomies = datasets.discharges(records, progress=console.progress())
    frame.insert(0, "patient", [f"P{number:07}" for number in range(len(frame))])
    write_table(frame, out / "discharges.csv", overwrite=overwrite)
    for name, file in (("diagnosis", "diagnoses.json"), ("procedure", "procedures.json")):
        taxonomies[name].save(out / file)
    (out / "release.toml").write_text(_TOML, encoding="utf-8")
    _say_files(out, "discharges.csv", "diagnoses.json", "procedures.json", "release.toml")
    asked = settings("swap", config_file=out / "release.toml", files={"overwrite": overwrite}, method={"k": _K})
    console.say(f"2. A release: diagnoses and procedures change places inside groups of {_K} like records or more")
    said = swap.run(asked)
    console.say("  How far values moved is told from 0, not at all, to 1, to where meanings have nothing in common.")
    job.report(said, asked.files)
    return _judged(asked, said, out / "report.html", overwrite, baskets=False)


def _baskets(out: Path, records: int, overwrite: bool) -> bool | None:
    console.say(f"3. {records:,} synthetic baskets of items, each to have {_K_BASKETS} equally likely owners")
    records_of, _ = datasets.baskets(records)
    records_of.to_fimi(out / "baskets.dat", overwrite=overwrite)
    asked = settings(
        "recode",
        config_file=None,
        files={"input": out / "baskets.dat", "output": out / "baskets-release.parquet", "overwrite": overwrite},
        method={"k": _K_BASKETS, "structure": "groups"},
    )
    said = recode.run(asked)
    _say_files(out, "baskets.dat", "baskets-release.parquet", "baskets-release.parquet.manifest.json")
    return _judged(asked, said, out / "baskets-report.html", overwrite, baskets=True)


def _judged(asked: Settings, said: Manifest, page: Path, overwrite: bool, *, baskets: bool) -> bool | None:
    """Attack a release and write its report."""
    k = said.params["k"]
    found: dict[str, Any] = audit.of_sets(asked, k) if baskets else audit.of_tables(asked, k, None)
    if baskets:
        console.say(f"  the attack: every basket could be {found['worlds']['smallest']:,} published rows or more")
    else:
        share = float(found["linkage"]["share"].max())
        console.say(f"  the attack: who knows both values finds {share:.2%} of the people; 1/{k} is {1 / k:.2%}")
    console.say(f"  the promise {'holds' if found['holds'] else 'DOES NOT HOLD'}")
    if importlib.util.find_spec("plotly") is None:
        console.notice("no report: it needs the extra, pip install nominym[report]")
    else:
        (report.of_sets if baskets else report.of_tables)(asked, page, k, None, overwrite)
        console.say(f"  report: {page}")
    holds: bool | None = found["holds"]
    return holds


def _say_files(out: Path, *names: str) -> None:
    console.say(f"  {', '.join(str(out / name) for name in names)}")
