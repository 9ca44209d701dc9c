"""Params and summaries in the words that JSON has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd


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
