"""``nominym swap``, ``noise``, ``data-swap`` and ``recode``: make a release, and say what may be known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nominym.cli import notice, progress, say, warn
from nominym.cli.options import Request
from nominym.release import Manifest, Publication, publish
from nominym.release.pipeline import IDENTIFIER, KEEP, SCOPE_NOTE, SEED_NOTE

if TYPE_CHECKING:
    from argparse import Namespace


def mask(given: Namespace) -> None:
    """Make the release that was asked for."""
    show(release(Request(given)))


swap = noise = data_swap = recode = mask


def release(asked: Request) -> Publication:
    """Make a release."""
    source, target = asked.required("input", "the input file"), asked.required("out", "--out, the file to write")
    method = asked.method()
    options = asked.files("key", "keep_order", "overwrite", "seed", "delimiter", "encoding", "na", "label", "column")
    return publish(source, target, asked.roles, method, asked.meanings(), **options, progress=progress())


def show(made: Publication) -> None:
    """Say in a few lines what a release is."""
    said, dropped = made.manifest, made.manifest.roles.get(IDENTIFIER) or []
    if dropped:
        notice(f"identifiers are dropped: {', '.join(dropped)}")
    for note in said.notes:
        if note != SCOPE_NOTE:
            (warn if note == SEED_NOTE else notice)(note)
    if made.paths.key is not None:
        warn(f"{made.paths.key} tells which row is whose: keep it secret, apart from the release")
    columns = f", {said.output['columns']} columns" if "columns" in said.output else ""
    without = f", without {', '.join(map(repr, dropped))}" if dropped else ""
    say(f"{made.paths.release}: {said.output['rows']:,} records{columns}{without}; rows {said.order}")
    for name, figures in said.summary.get("attributes", {}).items():
        if "expected_rmse" in figures:
            say(f"  {name}: {_expected(figures)}")
    if "groups" in said.summary:
        groups = said.summary["groups"]
        count = groups.get("count", groups.get("number"))
        say(f"  groups: {count:,}, of {groups['smallest']:,} to {groups['largest']:,} records")
    if "expected_error" in said.summary:
        say(f"  items wrong in the base: {said.summary['expected_error']:.1%} of a record's own, expected")
    say(f"  guarantee: {guarantee(said)}")
    record = f"; owner's record: {made.paths.key}" if made.paths.key is not None else ""
    say(f"  manifest: {made.paths.manifest.name}{record}")


def _expected(figures: dict[str, Any]) -> str:
    return (
        f"expected RMSE {figures['expected_rmse']:.4f}, {figures['expected_unchanged']:.1%} of the values expected to "
        "stay as they are"
    )


def guarantee(said: Manifest) -> str:
    """State what a release guarantees, with its premise."""
    if said.seeded:
        return "none, since a seed was given"
    if "bound" not in said.summary:
        return "none"
    known = "items" if said.command == "recode" else "masked values"
    kept = "; not covered: kept columns" if said.roles.get(KEEP) else ""
    return (
        f"re-identification probability of a row at most {said.summary['bound']:.3g} (adversary: knows all {known}, "
        f"the groups and the algorithm{kept})"
    )
