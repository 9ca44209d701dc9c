"""``nominym compare``: methods and values of k on one table, and which to take."""

from __future__ import annotations

import shlex
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym.atomic import write_atomic
from nominym.cli import counted, say, say_table, spelled, topics
from nominym.cli.ending import tell
from nominym.cli.options import HIERARCHY, TEXT, Request
from nominym.error import NominymError, ParameterError
from nominym.files import as_path
from nominym.release.files import open_table, read_columns
from nominym.release.meanings import read_meanings
from nominym.release.pipeline import check_meant
from nominym.report import Choice
from nominym.report import compare as compare_methods
from nominym.report.choosing import SAMPLE
from nominym.report.page import check_page
from nominym.report.suggestion import CRITERIA, percent
from nominym.report.words import number

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

PAGE = "compare.html"


def compare(given: Namespace) -> None:
    """Compare methods, write the figures and the page, and show the suggestion."""
    asked = Request(given)
    source, out = asked.required("input"), as_path(given.out)
    masked, kept = (
        [name for name, column in asked.columns.items() if column["role"] == role]
        for role in ("quasi-identifier", "keep")
    )
    if not masked:
        raise ParameterError("no column is masked", parameter="quasi", remedy="give --quasi COLUMN=MEANING")
    shared = asked.of_methods("person", "sensitive", "measure", "accept")
    if (out / "results.csv").exists() and not (out / "cells").is_dir():
        raise ParameterError(f"{out / 'results.csv'} exists and does not come from a comparison; choose another folder")
    meant = asked.meanings()
    check_meant(meant, masked, optional=False)
    meanings = read_meanings(meant)
    columns = list(dict.fromkeys([*masked, *kept, *shared.get("sensitive", ()), *filter(None, [shared.get("person")])]))
    how = asked.files("delimiter", "encoding", "comment")
    with open_table(source, **how) as opened:
        # As in a release, texts of --na are missing values of masked columns.
        table = read_columns(opened, columns, dict.fromkeys(masked, asked.values["na"] or ()))
        left_out = [name for name in opened.names if name not in (*columns, *asked.columns)]
    if left_out:
        tell("notice", f"left out, as if dropped: {', '.join(left_out)}")
    sample = SAMPLE if given.sample is None else given.sample
    if 0 < sample < len(table):
        tell("notice", f"{sample:,} of {len(table):,} records are drawn and masked; --sample sets another number")
    new = not out.exists()
    # What only the owner may read is in a folder that only the owner may enter.
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        check_page(out / PAGE, overwrite=True)
        found = compare_methods(
            table, meanings, given.k,
            methods=given.methods, max_risk=given.max_risk, by="loss" if given.by is None else given.by,
            seeds=3 if given.seeds is None else given.seeds, sample=sample, **shared,
            path=out / "cells", workers=given.workers, progress=_Watch(),
        )  # fmt: skip
    except NominymError:
        if new:
            with suppress(OSError):  # something is in it
                out.rmdir()
        raise
    for name, write in (
        ("results.csv", found.results.to_csv),
        ("results.parquet", found.results.to_parquet),
        ("comparison.csv", found.table.to_csv),
    ):
        with write_atomic(out / name, 0o600) as file:
            write(file, index=False)
    found.write(out / PAGE, overwrite=True)
    _show(found)
    if found.method is not None:
        say(f"  to make the release: {_line(given, found, left_out)}")
    tell("notice", f"the files in {out} hold figures about the original data: keep them confidential")
    say(f"{out / PAGE}; figures: results.csv, results.parquet, comparison.csv")


class _Watch:
    """Tells how long it will take once the first run is done, and at every quarter."""

    def __init__(self) -> None:
        self.began, self.next = time.monotonic(), 0

    def __call__(self, done: int, total: int) -> None:
        """Report progress if it is time to."""
        if done < self.next or done >= total:
            return
        if done == 0:
            tell("notice", f"{counted(total, 'run')}: each masks the records and attacks the result")
        else:
            left = (time.monotonic() - self.began) / done * (total - done)
            shown = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
            tell("notice", f"{done:,} of {total:,} runs done, about {shown} to go")
        self.next = done + max(total // 4, 1) if done else 1


def _show(found: Choice) -> None:
    rows = found.table[found.table["risk"].notna()]
    shown = {
        "method": rows["name"],
        "stated bound": [_bound(each) for each in rows["bound"]],
        "found": rows["risk"].map(percent),
        "at most": rows["largest"].map(percent),
        "kept known": rows["kept"].map(percent),
        CRITERIA["loss"]: rows["loss"].map(percent),
        "counts": rows["counts"].map(percent),
        "correlations": rows["correlations"].map(number),
    }
    size = f"{found.records:,}" if found.records == found.rows else f"{found.records:,} drawn of {found.rows:,}"
    draws = counted(found.draws, "draw")
    say_table(pd.DataFrame(shown), f"{found.unit} re-identified by attacks, and what is lost ({size} records, {draws})")
    for name, error in found.table.loc[found.table["error"] != "", ["name", "error"]].itertuples(index=False):
        tell("warning", f"{name}: {error}")
    say(found.suggestion.headline)
    for reason in found.suggestion.reasons:
        say(f"  {reason}")
    if found.suggestion.not_covered:
        about = "; ".join(topics(found.suggestion.not_covered))
        say(f"  not covered, see the page: {about}")
    if found.refusal:
        tell("warning", f"the method refuses the table as it is: {found.refusal}")


def _bound(bound: float) -> str:
    return "none" if bound != bound else f"1/{round(1 / bound)}"


def _line(given: Namespace, found: Choice, left_out: Sequence[str]) -> str:
    """Write the command that makes the release suggested: what was given here, and the options of the method."""
    method: Any = found.method
    write = spelled(vars(given))
    parts = [f"nominym {method.command}", *map(shlex.quote, filter(None, [given.input]))]
    if given.config is None:
        parts += ["--out RELEASE", *(write("roles", {name: "identifier"}) for name in left_out)]
    of_methods = ("measure", "person", "sensitive", "accept")
    for name in ("config", "identifier", "quasi", "keep", *of_methods, *TEXT, *HIERARCHY):
        value = getattr(given, name)
        if value is not None and (name not in of_methods or name in method.options()):
            several = name in ("levels", "prefix")
            parts.append(write(name, ",".join(map(str, value)) if several else value))
    for name in ("k", "replace", "method", "alpha", "rate"):
        if name in method.options() and getattr(method, name) != method.default(name):
            parts.append(f"--{name} {getattr(method, name)}")
    return " ".join(parts)
