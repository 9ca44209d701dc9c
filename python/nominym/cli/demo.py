"""``nominym demo``: a whole release of synthetic records, from the original to both editions of the report."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nominym import datasets
from nominym.cli import Exit, notice, options, progress, release, say, show
from nominym.cli.judging import attack, attack_sets, read_pair, write_report
from nominym.error import Advice, ParameterError
from nominym.release import Publication, SetsPair, write_table

if TYPE_CHECKING:
    from argparse import Namespace

_K, _K_BASKETS = 10, 8

_TOML = f"""\
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
k = {_K}
"""


def demo(given: Namespace) -> Exit:
    """Mask synthetic discharges and baskets, attack the releases, and write the reports."""
    out, records, overwrite = Path(given.out), given.records or 100_000, bool(given.overwrite)
    if records < 1_000:
        raise ParameterError("give 1,000 or more", parameter="records", value=records)
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not overwrite)):
        raise ParameterError(
            f"{out} is there and not an empty folder", remedy=Advice("choose another, or give {}", overwrite=True)
        )
    out.mkdir(parents=True, exist_ok=True)
    kept = [_discharges(out, records, overwrite), _baskets(out, max(records // 10, 1_000), overwrite)]
    say(f"Do it again with your own data: see {out / 'release.toml'} and nominym swap --help")
    return Exit.NOT_KEPT if False in kept else Exit.DONE


def _discharges(out: Path, records: int, overwrite: bool) -> bool | None:
    say(f"1. {records:,} synthetic hospital discharges, and what their diagnoses and procedures mean")
    frame, taxonomies = datasets.discharges(records, progress=progress())
    frame.insert(0, "patient", [f"P{number:07}" for number in range(len(frame))])
    write_table(frame, out / "discharges.csv", overwrite=overwrite)
    for name, file in (("diagnosis", "diagnoses.json"), ("procedure", "procedures.json")):
        taxonomies[name].save(out / file)
    (out / "release.toml").write_text(_TOML, encoding="utf-8")
    _say_files(out, "discharges.csv", "diagnoses.json", "procedures.json", "release.toml")
    say(f"2. A release: diagnoses and procedures change places inside groups of at least {_K} similar records")
    say("  Distances go from 0 (unchanged) to 1 (unrelated).")
    toml = str(out / "release.toml")
    made = release(_asked("swap", "--config", toml, *(["--overwrite"] if overwrite else [])))
    show(made)
    return _judged(made, _asked("audit", "--config", toml), out / "report", overwrite)


def _baskets(out: Path, records: int, overwrite: bool) -> bool | None:
    say(f"3. {records:,} synthetic baskets of items, each with {_K_BASKETS} equally likely identities")
    records_of, _ = datasets.baskets(records)
    records_of.to_fimi(out / "baskets.dat", overwrite=overwrite)
    files = str(out / "baskets.dat"), str(out / "baskets-release.parquet")
    wanted = ["--k", str(_K_BASKETS), *(["--overwrite"] if overwrite else [])]
    made = release(_asked("recode", files[0], "--out", files[1], *wanted))
    show(made)
    return _judged(made, _asked("audit", *files), out / "baskets-report", overwrite)


def _asked(*arguments: str) -> options.Request:
    return options.Request(options.parse(arguments))


def _judged(made: Publication, asked: options.Request, page: Path, overwrite: bool) -> bool | None:
    """Attack a release and write both editions of its report."""
    pair = read_pair(asked, "an audit")
    if isinstance(pair, SetsPair):
        found: dict[str, Any] = attack_sets(pair)
        say(f"  the attack: every basket could be {found['worlds']['smallest']:,} published rows or more")
    else:
        found = attack(pair)
        share = float(found["linkage"]["share"].max())
        say(f"  the attack: an adversary who knows both values re-identifies {share:.2%} of the people; "
            f"1/{found['k']} is {1 / found['k']:.2%}")  # fmt: skip
    say(f"  the guarantee {'holds' if found['holds'] else 'DOES NOT HOLD'}")
    if importlib.util.find_spec("plotly") is None:
        notice("no report: it needs the extra, pip install nominym[report]")
    else:
        for edition, path in (("publication", Path(f"{page}.html")), ("owner", Path(f"{page}-owner.html"))):
            write_report(path, pair, edition=edition, overwrite=overwrite)
            whose = "may be published with the release" if edition == "publication" else "for the owner alone"
            say(f"  report, {whose}: {path}")
    holds: bool | None = found["holds"]
    return holds


def _say_files(out: Path, *names: str) -> None:
    say(f"  {', '.join(str(out / name) for name in names)}")
