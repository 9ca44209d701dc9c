"""Loaders for public data sets, each from the files as they are published.

None of the data comes with nominym: fetch the files from the places named here. A missing file is a
``FileNotFoundError``, a file of other content a ``FormatError``.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nominym.error import FormatError
from nominym.files import StrPath
from nominym.meaning import Concepts, Taxonomy

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "income",
)  # fmt: skip
_ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_ADULT_INCOMES = ("<=50K", ">50K")

_DIAGNOSES = ("diag_1", "diag_2", "diag_3")
_ICD9_CODE = re.compile(r"(\d{1,3}|V\d\d|E\d{3})(\.\d{1,2})?")
_ICD9_COLUMNS = ("code", "dotted", "parent", "short_desc", "long_desc")


def load_adult(folder: StrPath) -> pd.DataFrame:
    """Load the census records of ``adult.data`` and, after them, those of ``adult.test``: 48,842 in all.

    Column names are those of the source; "?" is missing.

    >>> from tempfile import TemporaryDirectory
    >>> row = "39, ?, 77516, Bachelors, 13, Divorced, Sales, Wife, White, Female, 0, 0, 40, Cuba, <=50K"
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "adult.data").write_text(row)
    ...     _ = Path(folder, "adult.test").write_text(f"|1x3 Cross validator\\n{row}.\\n")
    ...     adult = load_adult(folder)
    >>> adult["income"].tolist(), adult["workclass"].isna().tolist()
    (['<=50K', '<=50K'], [True, True])

    B. Becker and R. Kohavi, Adult, UCI Machine Learning Repository, 1996, https://doi.org/10.24432/C5XW20.
    """
    expected, parts = f"{len(ADULT_COLUMNS)} columns from age to income, without a header", []
    for path in (Path(folder, "adult.data"), Path(folder, "adult.test")):
        frame = _read_table(path, expected, header=None, names=ADULT_COLUMNS, comment="|", skipinitialspace=True)
        for name in ADULT_COLUMNS:
            if name not in _ADULT_NUMBERS:
                frame[name] = frame[name].astype("str").str.strip().where(frame[name].notna())
            elif frame[name].dtype != np.int64:
                raise FormatError(f"{path}: the column {name} is not made of whole numbers; expected {expected}")
        frame["income"] = frame["income"].str.removesuffix(".")
        other = frame.loc[~frame["income"].isin(_ADULT_INCOMES), "income"]
        if len(other):
            raise FormatError(f"{path}: income {other.iloc[0]!r}; expected {' or '.join(_ADULT_INCOMES)}")
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


def load_diabetes(path: StrPath) -> pd.DataFrame:
    """Load the hospital encounters of ``diabetic_data.csv`` (or ``.csv.gz``): 101,766 records of 50 columns.

    "?" is missing. The diagnoses ``diag_1`` to ``diag_3`` get back the leading zeros that the source lost, so
    that all are dotted codes of ICD-9-CM: see ``load_icd9``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "diabetic_data.csv")
    ...     _ = path.write_text("encounter_id,diag_1,diag_2,diag_3\\n1,8,250.01,V27\\n2,38,?,E909\\n")
    ...     load_diabetes(path)["diag_1"].tolist()
    ['008', '038']

    B. Strack et al., Impact of HbA1c measurement on hospital readmission rates, BioMed Research
    International, 2014, 781670; data at https://doi.org/10.24432/C5230J.
    """
    expected = f"a header with {', '.join(_DIAGNOSES)}, and as many cells in each row"
    frame = _read_table(path, expected, _DIAGNOSES, dtype=dict.fromkeys(_DIAGNOSES, "str"), low_memory=False)
    for name in _DIAGNOSES:
        # Few codes, many rows.
        codes = {code: _ICD9_CODE.fullmatch(code) for code in frame[name].dropna().unique()}
        for code, match in codes.items():
            if match is None:
                raise FormatError(f"{os.fspath(path)}: {name} {code!r}; expected a code of ICD-9-CM or ?")
        padded = {code: match[1].zfill(3) + (match[2] or "") for code, match in codes.items() if match}
        frame[name] = frame[name].map(padded)
    return frame


def load_icd9(path: StrPath) -> Taxonomy:
    """Load the diagnoses of ICD-9-CM from a table of code, dotted code, parent and descriptions.

    Ids are the dotted codes; undotted ones are synonyms. The root is ``ICD-9-CM``. With the extra ``icd``,
    ``nominym.read_taxonomy("icd-9-cm")`` gives the same without a file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "icd9cm_hierarchy.csv")
    ...     _ = path.write_text(
    ...         "code,dotted,parent,long_desc,short_desc\\n"
    ...         "001,001,ROOT,,Cholera\\n0010,001.0,001,Cholera due to vibrio,Cholera vib\\n"
    ...     )
    ...     icd9 = load_icd9(path)
    >>> icd9.parents("001.0"), icd9.label("0010")
    (['001'], 'Cholera due to vibrio')

    National Center for Health Statistics, International Classification of Diseases, Ninth Revision, Clinical
    Modification.
    """
    frame = _read_table(path, f"a header with {', '.join(_ICD9_COLUMNS)}", _ICD9_COLUMNS, dtype="str")
    codes, dotted, parents, short, long = (frame[name].tolist() for name in _ICD9_COLUMNS)
    ids = dict(zip(codes, dotted, strict=True)) | {"ROOT": "ICD-9-CM"}
    return Taxonomy.from_concepts(
        Concepts(
            ids=["ICD-9-CM", *dotted],
            child=dotted,
            # A parent that no row has stays as it is, for the message of the taxonomy.
            parent=[ids.get(parent, parent) for parent in parents],
            labels={name: b or a for name, a, b in zip(dotted, short, long, strict=True)},
            synonyms={name: [code] for code, name in zip(codes, dotted, strict=True) if code != name},
            source=os.fspath(path),
        )
    )


def _read_table(path: StrPath, expected: str, needed: tuple[str, ...] = (), **options: Any) -> pd.DataFrame:
    """Read delimited text in which only "?" is missing and all rows have all cells, those of needed columns too."""
    try:
        frame: pd.DataFrame = pd.read_csv(path, keep_default_na=False, na_values=["?"], **options)
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(f"{os.fspath(path)}: {str(error).strip()}; expected {expected}") from error
    # pandas takes surplus cells for an index, and fills in empty cells.
    surplus = not frame.index.equals(pd.RangeIndex(len(frame)))
    if surplus or not len(frame) or frame.iloc[:, -1].astype("str").eq("").any():
        problem = "too many cells" if surplus else "too few cells" if len(frame) else "no records"
        raise FormatError(f"{os.fspath(path)}: {problem}; expected {expected}")
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise FormatError(f"{os.fspath(path)}: no column {missing[0]!r}; expected {', '.join(needed)}")
    return frame
