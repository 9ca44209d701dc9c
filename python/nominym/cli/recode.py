"""``nominym recode``: set-valued records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from nominym.cli import console, job, options, sets
from nominym.cli.errors import guarded
from nominym.cli.settings import Settings, check_request, settings
from nominym.error import ParameterError
from nominym.itemsets import files
from nominym.itemsets import recode as recode_sets
from nominym.itemsets.recode import Request
from nominym.release.manifest import Manifest, fingerprint, manifest_path
from nominym.release.publish import check_targets

# ruff: noqa: UP045

_ITEMS = "Records that are sets: .dat or .fimi (also .gz), a line of numbers each, or .parquet with a column of lists."


@guarded
def recode(
    input: Annotated[Optional[Path], typer.Argument(help=_ITEMS, metavar="INPUT")] = None,  # noqa: A002
    out: Annotated[Optional[Path], typer.Option("--out", "-o", help="The release to write: .parquet or .txt.")] = None,
    k: Annotated[Optional[int], typer.Option("--k", help="Equally likely identities of a record.")] = None,
    l: Annotated[  # noqa: E741
        Optional[int], typer.Option("--l", help="In place of k: sensitive labels that a record may have.")
    ] = None,
    label: Annotated[
        Optional[str],
        typer.Option("--label", help="Column of sensitive labels; for .dat a file with one label a line."),
    ] = None,
    column: options.ListColumn = None,
    structure: Annotated[Optional[str], typer.Option("--structure", help="ring (default), groups, cahd.")] = None,
    order: Annotated[Optional[str], typer.Option("--order", help="gray-tsp (default), gray, best.")] = None,
    method: Annotated[
        Optional[str], typer.Option("--method", help="Of a ring: split (default), augment, closed-walk, wmc.")
    ] = None,
    effort: Annotated[Optional[str], typer.Option("--effort", help="Of groups: usual (default), none, long.")] = None,
    limit: Annotated[Optional[float], typer.Option("--limit", help="Of groups: seconds of search.")] = None,
    seed: options.Seed = None,
    key: options.Key = None,
    overwrite: options.Overwrite = None,
    config: options.Config = None,
) -> None:
    """Publish set-valued records so that each has k equally likely identities.

    Rows are always shuffled. Of a Parquet file, only the column of lists and the label are used.

    \b
    Examples:
      nominym recode baskets.dat -o release.parquet --k 8 --structure groups
      nominym recode baskets.parquet --column items --label illness -o release.parquet --l 6
      nominym recode --config release.toml
    """
    asked = settings(
        "recode",
        config_file=config,
        files={"input": input, "output": out, "key": key, "overwrite": overwrite, "column": column, "label": label},
        method={
            "k": k, "l": l, "structure": structure, "order": order, "method": method, "effort": effort,
            "limit": limit, "seed": seed,
        },
    )  # fmt: skip
    said = run(asked)
    console.say(f"{asked.files.output}: {said.output['rows']:,} records; rows shuffled")
    bound = said.achieved["bound"]
    console.say(f"  promise: nobody finds the row of a person with a probability above {bound:.3g}")
    console.say(f"  items wrong in the base: {said.achieved['expected_error']:.1%} of a record's own, expected")
    key_said = f"; key: {asked.files.key}" if asked.files.key else ""
    console.say(f"  manifest: {manifest_path(asked.files.output).name}{key_said}")


def run(asked: Settings) -> Manifest:
    """Make the release."""
    source = asked.files
    check_request(Request, recode_sets, asked.method)
    text = source.output.suffix.lower() in (".txt", ".dat")
    if not text and source.output.suffix.lower() not in (".parquet", ".pq"):
        raise ParameterError(f"{source.output}: a release of item sets ends in .parquet or .txt")
    if source.keep_order or asked.columns.given:
        raise ParameterError("item sets have no roles, and their rows are always shuffled: leave such settings out")
    labels = [] if source.label is None or not Path(source.label).is_file() else [source.label]
    source_print = fingerprint(source.input)
    check_targets(source.output, [source.input, *labels], source.key, source.overwrite)
    records, sensitive = sets.read(source.input, source.column, source.label)
    if asked.method.get("seed") is not None:
        console.warn(job.SEED_NOTE)
    release = recode_sets(records, labels=sensitive, progress=console.progress(), **asked.method)
    secret = release.secret
    assert secret is not None
    said = Manifest(
        command="recode",
        params={name: value for name, value in release.params.items() if name != "version"},
        achieved=release.summary,
        input={**source_print, "rows": records.n, "items": records.n_items},
        notes=[job.SEED_NOTE] if asked.method.get("seed") is not None else [],
    )
    write = files.draft_text if text else files.draft_parquet
    return job.published(
        source,
        lambda draft: write(release, draft),
        said,
        {"rows": len(release), "items": records.n_items},
        secret.row_of[secret.assignment],
    )
