"""Options that several commands share, each with one name and one explanation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

# typer looks at these when the program runs, and older ones know Optional only.
# ruff: noqa: UP045

Input = Annotated[Optional[Path], typer.Argument(help="The table: .csv, .tsv (also .gz) or .parquet.", metavar="INPUT")]
Out = Annotated[Optional[Path], typer.Option("--out", "-o", help="The release to write: .csv, .tsv or .parquet.")]
Config = Annotated[Optional[Path], typer.Option("--config", "-c", help="A TOML file that holds the whole release.")]
Overwrite = Annotated[Optional[bool], typer.Option("--overwrite", help="Replace files that are already there.")]
Key = Annotated[Optional[Path], typer.Option("--key", help="Write the row of each record here. Keep it secret.")]
OwnersKey = Annotated[Optional[Path], typer.Option("--key", help="The key that was written with the release.")]
KeepOrder = Annotated[
    Optional[bool],
    typer.Option("--keep-order", help="Leave the rows in the order of the input, which may tell who is who."),
]
SameOrder = Annotated[
    Optional[bool], typer.Option("--keep-order", help="The rows of both files are in the same order.")
]
Delimiter = Annotated[Optional[str], typer.Option("--delimiter", help="Of delimited text; a comma by default.")]
Encoding = Annotated[Optional[str], typer.Option("--encoding", help="Of delimited text; utf-8 by default.")]
Na = Annotated[
    Optional[list[str]],
    typer.Option(
        "--na", metavar="TEXT", help="A text that means missing in masked columns, as empty cells do. May be repeated."
    ),
]

Identifier = Annotated[
    Optional[list[str]],
    typer.Option("--identifier", metavar="COLUMN", help="A column that names a person: dropped. May be repeated."),
]
Quasi = Annotated[
    Optional[list[str]],
    typer.Option(
        "--quasi",
        metavar="COLUMN=TAXONOMY",
        help="A column to mask, and its taxonomy: diagnosis=icd.csv. May be repeated.",
    ),
]
QuasiPlain = Annotated[
    Optional[list[str]], typer.Option("--quasi", metavar="COLUMN", help="A column to mask. May be repeated.")
]
Keep = Annotated[
    Optional[list[str]],
    typer.Option("--keep", metavar="COLUMN", help="A column that is published as it is. May be repeated."),
]
Format = Annotated[
    Optional[str],
    typer.Option("--format", help="Of the taxonomies: edges, arx, obo, snomed, wordnet, json, …; seen by default."),
]
VirtualRoot = Annotated[
    Optional[bool], typer.Option("--virtual-root", help="Put one concept above a taxonomy of several roots.")
]

Measure = Annotated[Optional[str], typer.Option("--measure", help="The semantic distance; wu-palmer by default.")]
Missing = Annotated[
    Optional[str], typer.Option("--missing", help="keep (default) or error: what to do with missing values.")
]
Seed = Annotated[
    Optional[int], typer.Option("--seed", help="For studies: the same seed gives the same release. Never publish it.")
]
Correlations = Annotated[
    Optional[bool], typer.Option("--correlations", help="Compare distance correlations before and after.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

ComparedK = Annotated[Optional[int], typer.Option("--k", help="Compare with 1/k; by default the k of the manifest.")]
Original = Annotated[Optional[Path], typer.Argument(help="The original records.", metavar="ORIGINAL")]
Released = Annotated[Optional[Path], typer.Argument(help="The release made of them.", metavar="RELEASE")]
ListColumn = Annotated[Optional[str], typer.Option("--column", help="Of a Parquet file, the column of lists of items.")]
