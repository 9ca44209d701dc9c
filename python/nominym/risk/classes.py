"""Classes of records that share their values, and unique records."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import DataError, ParameterError
from nominym.stats import quantiles
from nominym.table import as_table, column_names


@dataclass(frozen=True)
class Classes:
    """The classes of records with equal values in some columns."""

    n: int
    """Records."""
    classes: int
    """Distinct combinations of values."""
    unique: int
    """Records whose combination no other record has."""
    share_unique: float
    """Their share of all records."""
    smallest: int
    """Size of the smallest class: the k of k-anonymity over these columns."""
    mean: float
    """Mean size of a class."""
    sizes: dict[str, int]
    """Quantiles of the sizes, each class counted once."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
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
    table = as_table(frame)
    names = list(table.names) if columns is None else column_names(columns, table.names)
    if not names:
        raise ParameterError("name at least one column", parameter="columns")
    n = len(table)
    if not n:
        raise DataError("the table has no records")
    coded = [table.column(name).dense() for name in names]
    with reporter(progress, "classes") as report:
        sizes, counts = _core.class_sizes(coded, report)
    unique = int(counts[0]) if sizes[0] == 1 else 0
    number = int(counts.sum())
    return Classes(n, number, unique, unique / n, int(sizes[0]), n / number, quantiles(counts, sizes))
