"""``nominym measure``: what a release lost."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, Any, Optional

import pandas as pd
import typer

from nominym import distortion, itemsets, stats
from nominym.cli import console, options, pair
from nominym.cli.errors import guarded
from nominym.cli.settings import Settings
from nominym.release.key import read_key

# ruff: noqa: UP045


@guarded
def measure(
    original: options.Original = None,
    release: options.Released = None,
    quasi: options.Quasi = None,
    columns: Annotated[
        Optional[list[str]],
        typer.Option(
            "--columns",
            metavar="COLUMN",
            help="A column for distortion; by default all in both files. May be repeated.",
        ),
    ] = None,
    key: options.OwnersKey = None,
    keep_order: options.SameOrder = None,
    measure: options.Measure = None,
    column: options.ListColumn = None,
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    config: options.Config = None,
    json: options.Json = False,
) -> None:
    """Compare a release with its original: how far values moved, means, variances, correlations, distortion.

    RMSE needs to know which row is whose (--key, or --keep-order); the rest does not.

    \b
    Examples:
      nominym measure visits.csv release.csv --quasi diagnosis=icd.csv --key owner.parquet
      nominym measure visits.csv release.csv --quasi diagnosis=icd.csv --json
      nominym measure --config release.toml
    """
    asked = pair.asked_for(
        "measure", config, original, release, key, keep_order, quasi=quasi, format=format, virtual_root=virtual_root,
        delimiter=delimiter, encoding=encoding, na=na, column=column,
    )  # fmt: skip
    if pair.are_sets(asked.files.input, asked.files.output):
        found = _of_sets(asked)
    else:
        found = _of_tables(pair.read_pair(asked, columns=columns), measure or "wu-palmer")
    if json:
        console.say_json(found)
        return
    for title, figures in found.items():
        if isinstance(figures, pd.DataFrame):
            if len(figures):
                console.say_table(figures, title)
        else:
            console.say(f"{title}: {figures:.4f}")


def _of_tables(given: pair.Pair, measure: str) -> dict[str, Any]:
    rows, progress = [], console.progress()
    for name, tax in given.taxonomies.items():
        before, after = given.before[name], given.after[name]
        row: dict[str, Any] = {"column": name}
        if given.aligned:
            row["rmse"] = stats.rmse(before, after, tax, measure=measure, progress=progress)
        for when, values in (("before", before), ("after", after)):
            row[f"mean {when}"] = stats.semantic_mean(values, tax, measure=measure, progress=progress)
            row[f"variance {when}"] = stats.semantic_variance(values, tax, measure=measure, progress=progress)
        rows.append(row)
    if rows and not given.aligned:
        console.notice("no RMSE: it needs to know which row is whose; give --key, or --keep-order")
    correlations = []
    for x, y in combinations(given.taxonomies, 2):
        was, now = (
            stats.distance_correlation(
                table[x], table[y], given.taxonomies[x], given.taxonomies[y], measure=measure, progress=progress
            )
            for table in (given.before, given.after)
        )
        correlations.append({"x": x, "y": y, "before": was, "after": now, "difference": now - was})
    found: dict[str, Any] = {"attributes": pd.DataFrame(rows), "correlations": pd.DataFrame(correlations)}
    compared = pair.nominal(given)
    if compared:
        found["distortion"] = distortion.table(given.before, given.after, compared, progress=progress)
    return found


def _of_sets(asked: Settings) -> dict[str, Any]:
    records, published, _ = pair.read_sets(asked)
    progress, files = console.progress(), asked.files
    found: dict[str, Any] = {}
    if files.key is not None:
        rows = read_key(files.key, files.output, records.n)
        found["error rate"] = itemsets.error_rate(records, published.base, rows, progress=progress)
    else:
        console.notice("no error rate: it needs to know which row is whose; give --key")
    kinds: tuple[Any, ...] = ("present", "absent")
    for kind in kinds:
        found[f"query error, items {kind}"] = itemsets.query_error(records, published.base, kind, progress=progress)
    return found
