"""What values of any library have in common, and how JSON writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
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


def plain(value: Any) -> Any:
    """Turn figures of any kind into what JSON has words for; a table becomes a list of rows, what is no number null.

    >>> plain({"k": np.int64(3), 5: (0.5, float("nan")), "of": pd.DataFrame({"x": ["a"], "y": [1]})})
    {'k': 3, '5': [0.5, None], 'of': [{'x': 'a', 'y': 1}]}
    """
    if isinstance(value, pd.DataFrame):
        return [plain(row) for row in value.to_dict("records")]
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray | pd.Series):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
