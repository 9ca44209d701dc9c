"""A Spark data frame as the methods need it: columns by number, values written in one way, tuples and their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from nominym.error import DataError, no_column
from nominym.spark.plan import Counted

COUNT, PLACE, BLOCK, ORDER, OTHER, GROUP = "n", "place", "block", "order", "other", "group"
"""Columns of our own; those of the table are called c0, c1, …"""

_CATEGORIES = (
    T.StringType, T.BooleanType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType,
    T.DecimalType, T.DateType, T.TimestampType, T.TimestampNTZType,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Source:
    """The records of a data frame: ``inside`` are the columns that the method reads, the others only come along."""

    data: DataFrame
    names: tuple[str, ...]
    fields: tuple[T.StructField, ...]
    inside: tuple[str, ...]

    @classmethod
    def of(cls, data: DataFrame, inside: Sequence[Any], dropped: Sequence[Any] = ()) -> Source:
        """Check names and types, and give the columns numbers; nothing is computed yet."""
        names = list(data.columns)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"column name {twice!r} stands {names.count(twice)} times; rename the columns")
        for name in inside:
            if name not in names:
                raise no_column(name, names)
        fields = [field for field in data.schema.fields if field.name not in dropped or field.name in inside]
        columns = []
        for i, field in enumerate(fields):
            if field.name in inside:
                _check_categories(field)
            elif not _can_be_sorted(field.dataType):
                raise DataError(
                    f"its type {field.dataType.simpleString()} has no order, so that a release cannot be sorted by its "
                    "content",
                    column=field.name,
                    remedy="drop the column, or turn it into text first",
                )
            columns.append(_written(quoted(field.name), field, field.name in inside).alias(f"c{i}"))
        kept = tuple(field.name for field in fields)
        return cls(data.select(*columns), kept, tuple(fields), tuple(name for name in kept if name in inside))

    def at(self, name: Any) -> str:
        """Return the name that a column has here."""
        return f"c{self.names.index(name)}"

    @property
    def columns(self) -> list[str]:
        """All columns, as they are called here."""
        return [f"c{i}" for i in range(len(self.names))]

    @property
    def within(self) -> list[str]:
        """The columns that the method reads, as they are called here."""
        return [self.at(name) for name in self.inside]

    @cached_property
    def records(self) -> int:
        """Records in all."""
        return int(self.data.count())

    def counted(self) -> Counted:
        """Bring the distinct tuples and their counts to the driver."""
        place = F.xxhash64(*self.within).alias(PLACE)
        found = self.data.groupBy(*self.within).agg(F.count(F.lit(1)).alias(COUNT)).select(*self.within, COUNT, place)
        return Counted.of(found.toArrow(), self.inside, COUNT, PLACE)

    def with_blocks(self, blocks: int, large: Sequence[int] = (), parts: int = 1) -> DataFrame:
        """Add the block of each record, and hashes of whole rows for their canonical order."""
        block = F.pmod(F.xxhash64(*self.within), F.lit(blocks)).cast("int")
        hashed = self.data.withColumn(ORDER, F.xxhash64(*self.columns)).withColumn(
            OTHER, F.xxhash64(F.lit("nominym"), *self.columns)
        )
        if not large:
            return hashed.withColumn(BLOCK, block)
        part = F.pmod(F.col(OTHER), F.lit(parts)).cast("int")
        return hashed.withColumn(BLOCK, F.when(block.isin(list(large)), block + F.lit(blocks) * part).otherwise(block))

    def released(self, made: DataFrame, left_out: Sequence[Any] = ()) -> DataFrame:
        """Give columns their names back, and sort by content, so that neither order nor files tell anything."""
        chosen = [F.col(f"c{i}").alias(name) for i, name in enumerate(self.names) if name not in left_out]
        frame = made.select(*chosen)
        return frame.orderBy(*(quoted(name) for name in frame.columns))

    def table(self, names: Sequence[Any], data: DataFrame | None = None) -> pa.Table:
        """Bring some columns of all records, or of those in ``data``, to the driver."""
        found = (self.data if data is None else data).select(*(self.at(name) for name in names)).toArrow()
        return found.rename_columns(list(map(str, names)))


def sizes(data: DataFrame, columns: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers of records, and how many values of some columns have each; no value leaves Spark."""
    by_value = data.groupBy(*columns).agg(F.count(F.lit(1)).alias(COUNT))
    found = by_value.groupBy(COUNT).agg(F.count(F.lit(1)).alias("times")).toArrow()
    return found[COUNT].to_numpy(), found["times"].to_numpy()


def quoted(name: str) -> Any:
    """Return the column of a name, whatever signs are in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def _check_categories(field: T.StructField) -> None:
    if not isinstance(field.dataType, _CATEGORIES):
        raise DataError(
            f"its type {field.dataType.simpleString()} has no categories on Spark: text, numbers, dates and times have",
            column=field.name,
            remedy="turn the column into text first",
        )


def _written(column: Any, field: T.StructField, inside: bool) -> Any:
    """Write values in one way where they are compared: NaN is missing, and −0 is 0."""
    if inside and isinstance(field.dataType, T.FloatType | T.DoubleType):
        kind = field.dataType
        return F.when(F.isnan(column), F.lit(None).cast(kind)).otherwise((column + F.lit(0).cast(kind)).cast(kind))
    return column


def _can_be_sorted(kind: T.DataType) -> bool:
    if isinstance(kind, T.ArrayType):
        return _can_be_sorted(kind.elementType)
    if isinstance(kind, T.StructType):
        return all(_can_be_sorted(field.dataType) for field in kind.fields)
    return not isinstance(kind, T.MapType | T.VariantType | T.UserDefinedType)


STAGED = StorageLevel.MEMORY_AND_DISK
"""How masked records wait for what is asked of them; what was lost is made again, the same bit by bit."""
