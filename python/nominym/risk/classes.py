"""Classes of records that share their values, and those that are alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import DataError, ParameterError
from nominym.frame import Table, column_names, distinct_codes, is_frame
from nominym.risk.figures import quantiles_of


@dataclass(frozen=True)
class Classes:
    """The classes of records with equal values in some columns."""

    n: int
    """Records."""
    classes: int
    """Distinct combinations of values."""
    unique: int
    """Records whose combination nobody else has."""
    share_unique: float
    """Their share of all records."""
    smallest: int
    """Size of the smallest class: the k of k-anonymity over these columns."""
    mean: float
    """Mean size of a class."""
    sizes: dict[str, int]
    """Quantiles of the sizes, each class counted once."""

    def to_dict(self) -> dict[str, Any]:
        """Give all figures by name."""
        return asdict(self)


def classes(frame: Any, columns: Any = None, *, progress: Progress = None) -> Classes:
    """Count the records that share their values in some columns, before or after masking.

    >>> import nominym as nym
    >>> table = {"sex": ["f", "f", "m", "m"], "age": [30, 30, 40, None]}
    >>> nym.risk.classes(table, ["sex", "age"])
    Classes(n=4, classes=3, unique=2, share_unique=0.5, smallest=1, mean=1.33..., sizes={'min': 1, ...})

    Parameters
    ----------
    frame
        A frame of any kind, with columns of any type.
    columns
        The columns that tell records apart; by default all. A missing value is a value of its own.
    progress
        ``True`` for a bar, or a callable of (done, total).

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release, IEEE TKDE 13.
    """
    check_progress(progress)
    table = Table(frame)
    if is_frame(columns):
        raise ParameterError(f"columns: a list of column names is needed, not {type(columns).__name__}")
    names = list(table.names) if columns is None else column_names(columns, table.names)
    if not names:
        raise ParameterError("columns: name one column at least")
    for name in names:
        table.values(name)
        if names.count(name) > 1:
            raise ParameterError(f"columns: {name!r} stands {names.count(name)} times; name each column once")
    table.check_lengths()
    coded = []
    for name in names:
        codes = distinct_codes(table.values(name)) + 1
        coded.append((codes.astype(np.uint32), int(codes.max(initial=0)) + 1))
    n = len(coded[0][0])
    if not n:
        raise DataError("the table has no records")
    with reporter(progress, "classes") as report:
        sizes, counts = _core.class_sizes(coded, report)
    unique = int(counts[0]) if sizes[0] == 1 else 0
    number = int(counts.sum())
    return Classes(n, number, unique, unique / n, int(sizes[0]), n / number, quantiles_of(sizes, counts))
