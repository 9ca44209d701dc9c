"""A Spark data frame as the methods need it: columns by number, values written in one way, tuples and their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.core.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from nominym.error import DataError, no_column
from nominym.method import Result
from nominym.spark.plan import Counted, in_utc, ranges

COUNT, PLACE, BLOCK, ORDER, OTHER, GROUP = "n", "place", "block", "order", "other", "group"
SUM, Z, CELL = "sum", "z", "cell"
"""Columns of our own; those of the table are called c0, c1, …"""

_BROADCAST = 1_000_000
"""Categories up to which all tasks get the codes of all of them."""
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
            raise DataError(f"column name {twice!r} occurs {names.count(twice)} times; rename the columns")
        lower: dict[str, str] = {}
        for name in names if data.sparkSession.conf.get("spark.sql.caseSensitive") != "true" else ():
            other = lower.setdefault(name.lower(), name)
            if other != name:
                raise DataError(
                    f"columns {other!r} and {name!r} differ in capital letters only, which Spark takes for one name; "
                    "rename one, or set spark.sql.caseSensitive to true"
                )
        for name in inside:
            if name not in names:
                raise no_column(name, names)
        fields = [field for field in data.schema.fields if field.name not in dropped or field.name in inside]
        columns = []
        for i, field in enumerate(fields):
            if field.name in inside:
                check_categories(field)
            if not _can_be_sorted(field.dataType):
                raise DataError(
                    f"its type {field.dataType.simpleString()} has no order in which different values differ and that "
                    "tasks can read, so that a release cannot be sorted by its content",
                    column=field.name,
                    remedy="drop the column, or turn it into text first",
                )
            columns.append(written(quoted(field.name), field, field.name in inside).alias(f"c{i}"))
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

    def categories(self, name: Any) -> tuple[pa.Array, NDArray[np.int64]]:
        """Bring the values of a column to the driver, in their order, and the records of each, of none last."""
        here = self.at(name)
        table = in_utc(self.data.groupBy(here).agg(F.count(F.lit(1)).alias(COUNT)).toArrow()).combine_chunks()
        values, counts = table[here].combine_chunks(), table[COUNT].to_numpy().astype(np.int64)
        order = pc.sort_indices(values).to_numpy()
        gaps = int(counts[values.is_null().to_numpy(zero_copy_only=False)].sum())
        order = order[: len(values) - values.null_count]
        return values.take(pa.array(order)), np.append(counts[order], gaps)

    def coded(
        self, values: Mapping[Any, pa.Array] | None = None, spreads: Mapping[Any, NDArray[np.int64]] | None = None
    ) -> Coded:
        """Put codes in place of the values that the method reads, where the records are.

        ``values`` are the categories in the order of their codes, by default in their own. With ``spreads``, one of
        each category and then of what is missing, the column ``Z`` has the sum of those of a record.
        """
        known = {name: self.categories(name)[0] for name in self.inside} if values is None else values
        data, new, z = self.data, {}, []
        for name, every in known.items():
            here = self.at(name)
            columns = {f"v{here}": every, f"k{here}": pa.array(np.arange(len(every), dtype=np.int32))}
            if spreads is not None:
                columns[f"z{here}"] = pa.array(spreads[name][:-1])
                z.append(F.coalesce(F.col(f"z{here}"), F.lit(int(spreads[name][-1]))))
            table = self.data.sparkSession.createDataFrame(pa.table(columns), _typed(columns, here, self.data))
            few = F.broadcast(table) if len(every) <= _BROADCAST else table
            data = data.join(few, F.col(here) == F.col(f"v{here}"), "left")
            # No code, then, has a value that was not there when categories were counted.
            new[here] = F.when(F.col(here).isNull(), -1).otherwise(F.col(f"k{here}")).cast("int")
        chosen = [new.get(here, F.col(here)).alias(here) for here in self.columns]
        data = data.select(*chosen, *([sum(z[1:], z[0]).alias(Z)] if z else []))
        fields = tuple(
            T.StructField(field.name, T.IntegerType()) if field.name in known else field for field in self.fields
        )
        return Coded(data, self.names, fields, self.inside, dict(known))

    def hashed(self) -> DataFrame:
        """Add two hashes of whole rows, for their canonical order: rows that agree in both are equal."""
        content = [part for here, field in zip(self.columns, self.fields, strict=True)
                   for part in content_of(F.col(here), field.dataType)]  # fmt: skip
        return self.data.withColumn(ORDER, F.xxhash64(*content)).withColumn(
            OTHER, F.xxhash64(F.lit("nominym"), *content)
        )

    def with_blocks(self, blocks: int, large: Sequence[int] = (), parts: int = 1) -> DataFrame:
        """Add the block of each record, and hashes of whole rows for their canonical order."""
        block = F.pmod(F.xxhash64(*self.within), F.lit(blocks)).cast("int")
        hashed = self.hashed()
        if not large:
            return hashed.withColumn(BLOCK, block)
        part = F.pmod(F.col(OTHER), F.lit(parts)).cast("int")
        return hashed.withColumn(BLOCK, F.when(block.isin(list(large)), block + F.lit(blocks) * part).otherwise(block))

    def released(self, made: DataFrame, masked: Sequence[Any], parts: Parts, left_out: Sequence[Any] = ()) -> DataFrame:
        """Restore the names of columns, and sort by content, so that neither order nor files reveal anything."""
        chosen = {self.at(name): name for name in self.names if name not in left_out}
        first = [self.at(name) for name in masked]
        order = [*first, *(here for here in chosen if here not in first)]
        rows = parts.sorted(made, order)
        return rows.select(*(F.col(here).alias(name) for here, name in chosen.items()))

    def table(self, names: Sequence[Any], data: DataFrame | None = None) -> pa.Table:
        """Bring some columns of all records, or of those in ``data``, to the driver."""
        found = (self.data if data is None else data).select(*(self.at(name) for name in names)).toArrow()
        return in_utc(found).rename_columns(list(map(str, names)))


@dataclass(frozen=True, eq=False)
class Coded(Source):
    """The same records with codes in place of the values that the method reads; −1 is a missing one."""

    known: Mapping[Any, pa.Array]
    """The categories of each column."""

    def counted(self, whole: bool = False) -> Counted:
        """Bring the distinct tuples and their counts to the driver; of ``whole`` rows, sums of their hashes as well."""
        place = F.xxhash64(*self.within).alias(PLACE)
        rows = self.hashed() if whole else self.data
        sums = [summed()] if whole else []
        found = rows.groupBy(*self.within).agg(F.count(F.lit(1)).alias(COUNT), *sums).select("*", place)
        values = [self.known[name] for name in self.inside]
        return Counted.of(found.toArrow(), self.inside, values, COUNT, PLACE, *([SUM] if whole else []))


def _typed(columns: Mapping[str, Any], here: str, data: DataFrame) -> T.StructType:
    kinds = {"v": data.schema[here].dataType, "k": T.IntegerType(), "z": T.LongType()}
    return T.StructType([T.StructField(name, kinds[name[0]]) for name in columns])


def sizes(data: DataFrame, columns: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers of records, and how many values of some columns have each; no value leaves Spark."""
    by_value = data.groupBy(*columns).agg(F.count(F.lit(1)).alias(COUNT))
    found = by_value.groupBy(COUNT).agg(F.count(F.lit(1)).alias("times")).toArrow()
    return found[COUNT].to_numpy(), found["times"].to_numpy()


def summed() -> Any:
    """Return the sum of hashes by which a task recognizes the rows that were counted; of 32 bits, so that it fits."""
    return F.sum(F.shiftright(F.col(ORDER), 32)).alias(SUM)


PART_RECORDS = 500_000
"""Records of a part of a release, about."""
_TO = "to"


@dataclass(frozen=True, eq=False)
class Parts:
    """Where the rows of a release go: to parts that follow each other in its order.

    Spark cuts a sorted table into parts by a sample of its rows, and takes that by their position, which may tell what
    a record was before masking. So parts are cut by content alone: by a ``key`` that follows from the column that comes
    first in the order, and the counts of keys in the release. A key with more records than a part has is spread over
    several by a hash of whole rows.
    """

    key: Any
    to: DataFrame
    number: int

    @classmethod
    def of(cls, made: DataFrame, first: str) -> Parts:
        """Count the keys of masked records; many values may have the same key."""
        key = key_of(F.col(first), made.schema[first].dataType)
        found = made.groupBy(key.alias(PLACE)).agg(F.count(F.lit(1)).alias(COUNT)).orderBy(PLACE).toArrow()
        found = in_utc(found)
        return cls.planned(made, key, found[PLACE], found[COUNT].to_numpy().astype(np.int64))

    @classmethod
    def planned(cls, made: DataFrame, key: Any, keys: Any, counts: NDArray[np.int64]) -> Parts:
        """Cut parts by different keys in their order, and the number of records of each."""
        records = int(counts.sum())
        number = max(1, -(-records // PART_RECORDS))
        ends = np.cumsum(counts)
        first, last = ((ends - counts) * number // max(records, 1), (ends - 1) * number // max(records, 1))
        last = np.where(counts > PART_RECORDS, last, first)
        session = made.sparkSession
        at = partitioned(session, number)
        flat, offsets = at[ranges(first, last - first + 1)], np.concatenate(([0], np.cumsum(last - first + 1)))
        to = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(flat))
        table = pa.table({PLACE: keys, _TO: to})
        return cls(key, session.createDataFrame(table), number)

    def sorted(self, made: DataFrame, order: Sequence[str]) -> DataFrame:
        """Bring rows into their parts, and sort each."""
        rows = made.select(*order)
        content = [part for here in order for part in content_of(F.col(here), rows.schema[here].dataType)]
        there = F.col(_TO)
        chosen = F.when(
            F.size(there) > 1, F.element_at(there, (F.pmod(F.xxhash64(*content), F.size(there)) + 1).cast("int"))
        )
        rows = rows.withColumn(PLACE, self.key).join(F.broadcast(self.to.withColumnRenamed(PLACE, BLOCK)),
                                                     F.col(PLACE).eqNullSafe(F.col(BLOCK)), "left")  # fmt: skip
        rows = rows.select(*order, chosen.otherwise(F.element_at(there, 1)).alias(PLACE))
        # Orders of Spark take −0 for 0: rows that differ in that alone would stay in the order in which they came.
        zeros = [part for here in order if _has_zeros(rows.schema[here].dataType)
                 for part in content_of(F.col(here), rows.schema[here].dataType)]  # fmt: skip
        ties = [F.xxhash64(*zeros), F.xxhash64(F.lit("nominym"), *zeros)] if zeros else []
        return rows.repartition(self.number, PLACE).sortWithinPartitions(*order, *ties).select(*order)


def _has_zeros(kind: T.DataType) -> bool:
    """Return whether values of a type may differ in the sign of a zero."""
    if isinstance(kind, T.ArrayType):
        return _has_zeros(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_has_zeros(field.dataType) for field in kind.fields)
    return isinstance(kind, T.FloatType | T.DoubleType)


def key_of(column: Any, kind: T.DataType) -> Any:
    """Return a key that is the same for many values, and in the same order as they."""
    if isinstance(kind, T.StringType):
        return F.substring(column, 1, 4)
    if isinstance(kind, T.ArrayType):
        return F.slice(column, 1, 1)
    if isinstance(kind, T.BooleanType):
        return column
    if isinstance(kind, T.DateType | T.TimestampType | T.TimestampNTZType):
        return F.unix_date(column.cast("date"))
    size = column.cast("double")
    return F.floor(F.signum(size) * F.log2(F.abs(size) + 1) * 64)


def partitioned(session: Any, number: int) -> NDArray[np.int64]:
    """Return a number for each partition that Spark sends there by its hash."""
    if number == 1:
        return np.zeros(1, dtype=np.int64)
    tried = number * (10 + number.bit_length())
    found = session.range(tried).select(F.pmod(F.hash("id"), F.lit(number)).alias(PLACE)).toArrow()[PLACE].to_numpy()
    _, first = np.unique(found, return_index=True)
    return first.astype(np.int64)


def content_of(column: Any, kind: T.DataType) -> list[Any]:
    """Return what tells a value of a column from every other one, to be hashed.

    Hashes of Spark skip what is missing, run lists together, and take −0 for 0. So what is missing, the length of each
    list and the sign of a zero are hashed as well.
    """
    parts = [column.isNull()]
    if isinstance(kind, T.StructType):
        for field in kind.fields:
            parts += content_of(column.getField(field.name), field.dataType)
    elif isinstance(kind, T.ArrayType):
        parts += [F.size(column), F.transform(column, lambda each: F.struct(*content_of(each, kind.elementType)))]
    elif isinstance(kind, T.FloatType | T.DoubleType):
        parts += [column, F.when(column == 0, column.cast("string"))]
    else:
        parts.append(column)
    return parts


def quoted(name: str) -> Any:
    """Return the column of a name, whatever signs are in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def check_categories(field: T.StructField) -> None:
    """Refuse columns of types that are not compared."""
    if not isinstance(field.dataType, _CATEGORIES):
        raise DataError(
            f"its type {field.dataType.simpleString()} has no categories on Spark: text, numbers, dates and times have",
            column=field.name,
            remedy="turn the column into text first",
        )


def written(column: Any, field: T.StructField, inside: bool) -> Any:
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
    if isinstance(kind, T.StringType):
        # Others take different texts for equal ones.
        return bool(kind.isUTF8BinaryCollation())
    return not isinstance(
        kind, T.MapType | T.VariantType | T.UserDefinedType | T.CalendarIntervalType | T.YearMonthIntervalType
    )


class Staged(NamedTuple):
    """A result, its records if they wait to be asked for, and what all tasks were told."""

    result: Result
    waiting: DataFrame | None
    told: Sequence[Broadcast[Any]]

    def forget(self) -> None:
        """Let go of what waits, in memory and on disk; it is computed again when it is asked for."""
        if self.waiting is not None:
            self.waiting.unpersist(blocking=True)

    def end(self) -> None:
        """Let go of all that tasks need, after which the result cannot be computed again."""
        self.forget()
        for each in self.told:
            each.destroy()


@contextmanager
def telling(data: DataFrame) -> Iterator[Callable[[Any], Broadcast[Any]]]:
    """Give a function that tells all tasks something; after a failure nothing of it stays in memory or on disks."""
    told: list[Broadcast[Any]] = []

    def tell(what: Any) -> Broadcast[Any]:
        told.append(data.sparkSession.sparkContext.broadcast(what))
        return told[-1]

    try:
        yield tell
    except BaseException:
        for each in told:
            each.destroy()
        raise


@contextmanager
def waiting(made: DataFrame) -> Iterator[None]:
    """Let masked records wait for what is asked of them; after a failure nothing stays in memory or on disks.

    What was lost is made again, the same bit by bit.
    """
    made.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield
    except BaseException:
        made.unpersist(blocking=True)
        raise
