"""Tables in the files of other programs: Excel, Stata and SPSS, read whole by pandas."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, time
from pathlib import Path
from typing import Any

import pandas as pd

from nominym.control import require
from nominym.error import FormatError
from nominym.files import StrPath, as_input, missing_extra

SHEETS = (".xlsx", ".dta", ".sav")
"""Suffixes of such files."""

# Memory that a byte of a file takes, at most, while it is read: Excel packs its cells.
_FACTOR = {".xlsx": 60, ".dta": 10, ".sav": 20}
_PROGRAMS = {".xlsx": "Excel", ".dta": "Stata", ".sav": "SPSS"}


def read_sheet(path: StrPath) -> pd.DataFrame:
    """Read a table: the first sheet of an Excel file; Stata and SPSS files with value labels in place of codes.

    Only empty cells are missing; "NA" is a text. Column names are texts. Moments of a column that are all midnight are
    dates.
    """
    where, suffix = os.fspath(path), Path(path).suffix.lower()
    require(_FACTOR[suffix] * as_input(path).stat().st_size, f"reading {where}", "save it as CSV or Parquet")
    try:
        frame: pd.DataFrame = _READERS[suffix](path)
    except ImportError as error:
        raise missing_extra(f"{_PROGRAMS[suffix]} files", "tables") from error
    except MemoryError:
        raise
    except Exception as error:  # of a file that is none, the readers raise what they like
        told = str(error).partition("\n")[0] or type(error).__name__
        raise FormatError(f"{where}: not a valid {_PROGRAMS[suffix]} file ({told})") from None
    if not len(frame.columns):
        raise FormatError(f"{where} is empty: expected a first line with the names of the columns")
    return _with_dates(frame.rename(columns=str))


def _with_dates(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which columns of moments that are all midnight hold dates: these programs know no others."""
    found = {}
    for name in frame.columns:
        values = frame[name].dropna()
        if len(values) and all(isinstance(value, datetime) and value.time() == time.min for value in values):
            found[name] = frame[name].map(lambda value: value.date() if isinstance(value, datetime) else None)
    return frame.assign(**{name: column.astype(object) for name, column in found.items()})


def _without_blanks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of Stata or SPSS, whose missing texts are empty ones, with missing values in their place."""
    texts = [name for name in frame if frame[name].dtype == object or pd.api.types.is_string_dtype(frame[name].dtype)]
    return frame.assign(**{str(name): frame[name].mask(frame[name] == "", None) for name in texts})


def _excel(path: StrPath) -> Any:
    # As objects, since whole numbers beside empty cells would become floats.
    return pd.read_excel(path, dtype=object, keep_default_na=False, na_values=[""], engine="openpyxl")


_READERS: dict[str, Callable[[StrPath], Any]] = {
    ".xlsx": _excel,
    ".dta": lambda path: _without_blanks(pd.read_stata(path)),
    ".sav": lambda path: _without_blanks(pd.read_spss(path)),
}
