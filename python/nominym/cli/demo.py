"""``nominym demo``: a whole release of synthetic records, from the original to both editions of the report."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nominym import datasets
from nominym.cli import mask, progress, say
from nominym.cli.ending import Exit, tell
from nominym.cli.judging import judge, read_pair
from nominym.cli.options import Request, parse
from nominym.error import Advice, ParameterError
from nominym.files import as_path
from nominym.release import write_table

if TYPE_CHECKING:
    from argparse import Namespace

_K, _K_BASKETS = 10, 8
_EDITIONS: Any = (("publication", "", "may be published with the release"), ("owner", "-owner", "for the owner only"))

_AGES = ", ".join(f'"{group}"' for group in ("0-17", "18-34", "35-49", "50-64", "65-74", "75-84", "85+"))
_TOML = f"""\
# A whole release in one file: nominym swap --config release.toml
[input]
path = "discharges.csv"

[output]
path = "release.csv"
key = "owner.parquet"

[columns]
patient = {{ role = "person" }}
diagnosis = {{ role = "quasi-identifier", taxonomy = "diagnoses.json" }}
secondary = {{ role = "quasi-identifier", taxonomy = "diagnoses.json" }}
procedure = {{ role = "quasi-identifier", taxonomy = "procedures.json" }}
age_group = {{ role = "quasi-identifier", order = [{_AGES}] }}
sex = {{ role = "quasi-identifier", meaning = "equal" }}
length_of_stay = {{ role = "quasi-identifier", meaning = "number" }}

[method]
command = "swap"
k = {_K}
"""


def demo(given: Namespace) -> Exit:
    """Mask synthetic discharges and baskets, attack the releases, and write the reports."""
    out, records, overwrite = as_path(given.out), given.records or 30_000, bool(given.overwrite)
    if records < 1_000:
        raise ParameterError("give 1,000 or more", parameter="records", value=records)
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not overwrite)):
        raise ParameterError(
            f"{out} exists and is not an empty folder", remedy=Advice("choose another, or give {}", overwrite=True)
        )
    out.mkdir(parents=True, exist_ok=True)
    kept = [_discharges(out, records, overwrite), _baskets(out, max(records // 10, 1_000), overwrite)]
    say(f"Try it on your own data: see {out / 'release.toml'} and nominym swap --help")
    return Exit.NOT_KEPT if False in kept else Exit.DONE


def _discharges(out: Path, records: int, overwrite: bool) -> Any:
    say(f"1. {records:,} synthetic hospital discharges, with taxonomies of diagnoses and procedures")
    frame, taxonomies = datasets.discharges(records, progress=progress())
    # Every fifth discharge is that of somebody who was there before.
    frame.insert(0, "patient", [f"P{number - number % 5 // 4:07}" for number in range(len(frame))])
    write_table(frame, out / "discharges.csv", overwrite=overwrite)
    for name, file in (("diagnosis", "diagnoses.json"), ("procedure", "procedures.json")):
        taxonomies[name].save(out / file)
    (out / "release.toml").write_text(_TOML, encoding="utf-8")
    made = ("discharges.csv", "diagnoses.json", "procedures.json", "release.toml")
    say(f"  {', '.join(str(out / name) for name in made)}")
    say(f"2. A release: values are swapped within groups of similar records of at least {_K} patients")
    say("  Distances go from 0 (unchanged) to 1 (unrelated).")
    toml = str(out / "release.toml")
    mask(parse(["swap", "--config", toml, *(["--overwrite"] if overwrite else [])]))
    return _judged(["--config", toml], out / "report", overwrite)


def _baskets(out: Path, records: int, overwrite: bool) -> Any:
    say(f"3. {records:,} synthetic baskets of items, each of which may be any of at least {_K_BASKETS} rows")
    records_of, _ = datasets.baskets(records)
    records_of.to_fimi(out / "baskets.dat", overwrite=overwrite)
    source, target = str(out / "baskets.dat"), str(out / "baskets-release.parquet")
    key = ["--key", str(out / "baskets-owner.parquet")]
    wanted = ["--k", str(_K_BASKETS), *key, *(["--overwrite"] if overwrite else [])]
    mask(parse(["recode", source, "--out", target, *wanted]))
    return _judged([source, target, *key], out / "baskets-report", overwrite)


def _judged(files: list[str], page: Path, overwrite: bool) -> Any:
    """Attack a release and write both editions of its report."""
    pair = read_pair(Request(parse(["audit", *files])), "an audit")
    found = judge(pair)
    say(f"  {found['verdict']}")
    if importlib.util.find_spec("plotly") is None:
        tell("notice", "no report: it needs the extra, pip install nominym[report]")
    else:
        from nominym import report

        for edition, ending, whose in _EDITIONS:
            path = Path(f"{page}{ending}.html")
            report.write(path, pair, edition=edition, overwrite=overwrite, progress=progress())
            say(f"  report, {whose}: {path}")
    return found["holds"]
