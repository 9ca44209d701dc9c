"""``nominym noise``: semantic noise."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from nominym.cli import console, job, options
from nominym.cli.errors import guarded
from nominym.cli.settings import check_request, settings
from nominym.noise import add_noise
from nominym.noise.request import Request
from nominym.result import Result
from nominym.taxonomy.measure import as_measure

# ruff: noqa: UP045


@guarded
def noise(
    input: options.Input = None,  # noqa: A002
    out: options.Out = None,
    quasi: options.Quasi = None,
    keep: options.Keep = None,
    identifier: options.Identifier = None,
    alpha: Annotated[
        Optional[float], typer.Option("--alpha", help="How much: variance of errors by that of the column.")
    ] = None,
    method: Annotated[
        Optional[str], typer.Option("--method", help="semantic (default), exponential, naive, probabilistic.")
    ] = None,
    epsilon: Annotated[
        Optional[float], typer.Option("--epsilon", help="With exponential: what is spent on each value.")
    ] = None,
    reference: Annotated[
        Optional[str], typer.Option("--reference", help="What errors move away from: mean (default), pair, root.")
    ] = None,
    correlated: Annotated[
        Optional[bool], typer.Option("--correlated/--independent", help="Whether errors of a record go together.")
    ] = None,
    law: Annotated[Optional[str], typer.Option("--law", help="normal (default) or laplace.")] = None,
    measure: options.Measure = None,
    correlations: options.Correlations = None,
    moments: Annotated[
        Optional[bool], typer.Option("--moments/--no-moments", help="Compare means and variances (default).")
    ] = None,
    missing: options.Missing = None,
    seed: options.Seed = None,
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
    key: options.Key = None,
    keep_order: options.KeepOrder = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    overwrite: options.Overwrite = None,
    config: options.Config = None,
) -> None:
    """Replace values by concepts as far away as a drawn error says.

    Every column needs a role: --quasi is masked, --keep is published as it is, --identifier is dropped.

    \b
    Examples:
      nominym noise visits.csv -o release.csv --quasi diagnosis=icd.csv --keep ward --alpha 0.3
      nominym noise visits.csv -o release.csv --quasi diagnosis=icd.csv --keep ward --method exponential --epsilon 2
      nominym noise --config release.toml --alpha 0.5
    """
    asked = settings(
        "noise",
        config_file=config,
        files={
            "input": input, "output": out, "key": key, "keep_order": keep_order, "delimiter": delimiter,
            "encoding": encoding, "na": na, "overwrite": overwrite,
        },
        identifier=identifier, quasi=quasi, keep=keep, format=format, virtual_root=virtual_root,
        method={
            "alpha": alpha, "method": method, "epsilon": epsilon, "reference": reference, "correlated": correlated,
            "law": law, "measure": measure, "correlations": correlations, "moments": moments, "missing": missing,
            "seed": seed,
        },
    )  # fmt: skip
    check_request(Request, add_noise, asked.method, measure=as_measure(asked.method.get("measure", "wu-palmer")))

    def mask(table: Any, taxonomies: dict[str, Any]) -> Result:
        domain = asked.columns.of_masked("root") or None
        return add_noise(table, taxonomies, domain=domain, progress=console.progress(), **asked.method)

    job.report(job.make("noise", asked, mask), asked.files)
