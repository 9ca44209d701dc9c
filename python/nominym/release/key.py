"""The owner's key: in which row of a release each record of the input is. Whoever has it undoes the shuffle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nominym.error import DataError, FormatError
from nominym.release.manifest import fingerprint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.atomic import StrPath

NAME = "nominym-key"
VERSION = 1

MODE = 0o600
"""A key is for its owner's eyes."""


def write_key(rows: NDArray[np.uint32], draft: Path, release: dict[str, Any]) -> None:
    """Write the row of each record, and which release these rows are of."""
    about = {"format": NAME, "version": VERSION, "release": release["sha256"]}
    table = pa.table({"row": pa.array(rows, pa.uint32())}).replace_schema_metadata({NAME: json.dumps(about)})
    pq.write_table(table, os.fspath(draft), compression="zstd")


def read_key(path: StrPath, release: StrPath, records: int) -> NDArray[np.uint32]:
    """Read the row of each record in a release; a key of another release is refused."""
    Path(path).stat()
    try:
        table = pq.read_table(os.fspath(path))
        about = json.loads((table.schema.metadata or {})[NAME.encode()])
        rows: NDArray[np.uint32] = table["row"].to_numpy().astype(np.uint32)
    except (pa.ArrowException, KeyError, ValueError):
        raise FormatError(f"{os.fspath(path)} is no key; expected the file that was asked for with --key") from None
    if about.get("release") != fingerprint(release)["sha256"]:
        raise DataError(f"{os.fspath(path)} is the key of another release than {os.fspath(release)}")
    if len(rows) != records or not np.array_equal(np.sort(rows), np.arange(records)):
        raise DataError(
            f"{os.fspath(path)} has {len(rows):,} rows, but the input has {records:,} records; it is of another input"
        )
    return rows
