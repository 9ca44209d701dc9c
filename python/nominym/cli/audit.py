"""``nominym audit``: the attack, run; does the promise hold?"""

from __future__ import annotations

from typing import Any

import typer

from nominym.cli import console, options, pair
from nominym.cli.errors import Exit, guarded
from nominym.cli.settings import Settings
from nominym.error import ParameterError


@guarded
def audit(
    original: options.Original = None,
    release: options.Released = None,
    quasi: options.Quasi = None,
    k: options.ComparedK = None,
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
    """Attack a release as somebody would who knows the original values, and count the people found.

    Ends with 1 if more are found than 1/k allows. Item sets need no key.

    \b
    Examples:
      nominym audit visits.csv release.csv --quasi diagnosis=icd.csv --key owner.parquet
      nominym audit baskets.dat release.parquet --k 8
      nominym audit --config release.toml --json
    """
    asked = pair.asked_for(
        "audit", config, original, release, key, keep_order, quasi=quasi, format=format, virtual_root=virtual_root,
        delimiter=delimiter, encoding=encoding, na=na, column=column,
    )  # fmt: skip
    found = of_sets(asked, k) if pair.are_sets(asked.files.input, asked.files.output) else of_tables(asked, k, measure)
    if json:
        console.say_json(found)
    else:
        _say(found)
    if found["holds"] is False:
        raise typer.Exit(Exit.NOT_KEPT)


def of_tables(asked: Settings, k: int | None, measure: str | None) -> dict[str, Any]:
    """Link people with rows, by each masked column and by all; count who share their values."""
    masked = list(asked.columns.roles.masked)
    if not masked:
        raise ParameterError("name the columns that an intruder knows: --quasi diagnosis=taxonomy.csv")
    given = pair.read_pair(asked, order_needed="an audit", columns=masked)
    from nominym import risk

    # What has no taxonomy is known as it is written.
    meaning = {name: given.taxonomies.get(name, "equal") for name in masked}
    k = given.k if k is None else k
    how: dict[str, Any] = {} if measure is None else {"measure": measure}
    attacks = risk.linkages(given.before, given.after, meaning, k=k, progress=console.progress(), **how)
    holds = [found for found in attacks["holds"] if found is not None]
    return {
        "k": k,
        "holds": all(holds) if holds else None,
        "linkage": attacks,
        "classes before": risk.classes(given.before, masked).to_dict(),
        "classes after": risk.classes(given.after, masked).to_dict(),
    }


def of_sets(asked: Settings, k: int | None) -> dict[str, Any]:
    """Count the rows that each record could be."""
    records, published, manifest = pair.read_sets(asked)
    k = pair.promised(manifest) if k is None else k
    from nominym import risk

    found = risk.worlds(published, records, k=k, progress=console.progress())
    return {"k": k, "holds": found.holds, "worlds": found.to_dict()}


def _say(found: dict[str, Any]) -> None:
    if "linkage" in found:
        attacks = found["linkage"]
        shown = attacks.assign(known=[", ".join(map(str, names)) for names in attacks["known"]])
        wanted = [name for name in ("known", "attacked", "share", "bound", "holds") if name in shown]
        console.say_table(shown[wanted], "people found by the nearest row")
        for when in ("before", "after"):
            figures = found[f"classes {when}"]
            told = ", ".join(f"{name} {value:,}" for name, value in figures.items() if isinstance(value, int))
            console.say(f"records that share their values {when}: {told}")
    else:
        worlds = found["worlds"]
        console.say(f"rows that a record could be: {worlds['smallest']:,} or more; {worlds['attacked']:,} looked for")
    if found["holds"] is None:
        console.say("no k to compare with; give --k")
    else:
        console.say(f"1/{found['k']}: {'holds' if found['holds'] else 'DOES NOT HOLD'}")
