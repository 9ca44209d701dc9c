"""What lists of values of any library have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa


def is_missing(value: Any) -> bool:
    """Tell whether a single value is missing: None, NaN, NaT or NA."""
    return value is None or bool(pd.api.types.is_scalar(value) and pd.isna(value))


def is_polars(data: object, kind: str) -> bool:
    """Tell whether something is of a class of polars, which is an extra and never imported to find out."""
    return any(cls.__name__ == kind and cls.__module__.startswith("polars.") for cls in type(data).__mro__)


def is_frame(data: object) -> bool:
    """Tell whether data have named columns: a frame of any library, an Arrow stream, a mapping of columns."""
    if isinstance(data, pd.DataFrame | pa.Table | pa.RecordBatch | Mapping) or is_polars(data, "DataFrame"):
        return True
    columns = pd.Series | pd.Index | pa.Array | pa.ChunkedArray
    if isinstance(data, columns) or is_polars(data, "Series"):
        return False
    return hasattr(data, "__arrow_c_stream__") or is_lazy(data)


def is_lazy(data: object) -> bool:
    """Tell whether data are a query that has not run, of polars or narwhals."""
    return type(data).__name__ == "LazyFrame" and hasattr(data, "collect")


def is_sequence(values: object) -> bool:
    """Tell whether something is a list of values of any library, rather than a single one or a table."""
    single = isinstance(values, str | bytes | Mapping) or is_frame(values)
    return not single and hasattr(values, "__iter__")


def to_list(values: Any) -> list[Any]:
    """Return the values of a column of any library as Python objects."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)
