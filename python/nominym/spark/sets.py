"""Set-valued records on Spark: recoded on the driver, or in blocks along the Gray order of all of them.

In blocks, every record becomes a key of bytes that sorts as the rank of its set in Gray code. Blocks are ranges of such
keys. Their borders are chosen among keys by a hash, so they follow from the records alone, however these are
partitioned. Each block forms groups by itself; the guarantee is that of groups, so it is the same.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from nominym import _core
from nominym.control import Progress, check_progress, check_seed, require
from nominym.error import NO_VALUE, Advice, DataError, MissingValueError, ParameterError, no_column
from nominym.guarantee import Guarantee
from nominym.itemsets import Itemsets, Recode, closed
from nominym.itemsets.names import Missing, check_missing, missing_error, plain, sorted_names
from nominym.meaning import Taxonomy
from nominym.method import Result, made_with
from nominym.spark import blocks, draws, plan, tasks
from nominym.spark.source import (
    BLOCK,
    CELL,
    COUNT,
    ORDER,
    OTHER,
    Parts,
    Staged,
    check_categories,
    content_of,
    quoted,
    summed,
    telling,
    waiting,
    written,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRIVER_RECORDS = 2_000_000
"""Records up to which the driver recodes by default: it holds all of them."""
_RECORD, _ITEM = 400, 60
"""Bytes that the driver needs for a record, and for each item of it."""
ITEMS, LABEL, PERSON, KEY = "items", "label", "person", "key"
_BORDERS = 1 << 16
"""Keys among which the borders of blocks are chosen, about."""
_PREFIX = 64
"""Bytes of a key by which its block is found; sets that agree in so many items are in the same."""
_ITEM_TYPES = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)


@dataclass(frozen=True, eq=False, repr=False)
class Recoded(Result):
    """Recoded item sets on Spark: ``data`` has the columns base, distance, threshold and, if there is one, label."""

    @property
    def guarantee(self) -> Guarantee:
        """What the release guarantees: the claim, its adversary, unit and premise, and what is not covered."""
        assert isinstance(self.method, Recode)
        return self.method.stated(LABEL in self.data.columns, self.summary, self.params["seeded"])


class Where(NamedTuple):
    """The columns of a data frame that hold set-valued records."""

    column: str | None = None
    label: str | None = None
    person: str | None = None
    record: str | None = None
    item: str | None = None
    missing: Missing = "error"


def recode(
    frame: DataFrame,
    k: int | None = None,
    *,
    column: str | None = None,
    label: str | None = None,
    person: str | None = None,
    record: str | None = None,
    item: str | None = None,
    missing: Missing = "error",
    plan: Any = None,
    seed: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Recoded:
    """Recode the set-valued records of a Spark data frame; options are those of ``nominym.recode``.

    ``column`` holds lists of items; without it, the only column of lists. In a table with a row for each item,
    ``record`` and ``item`` name the columns of these. ``label`` and ``person`` are columns too; all others are left
    out. ``plan="driver"`` is ``nominym.recode`` on the driver; ``plan="blocks"``, for groups of k without persons,
    forms groups inside blocks of sets that follow each other in Gray code: the guarantee is the same, but more items
    are wrong. By default the number of records decides.
    """
    where = Where(column, label, person, record, item, missing)
    made = staged(Recode(k, **options), frame, where, plan=plan, seed=seed, progress=progress)
    made.forget()
    assert isinstance(made.result, Recoded)
    return made.result


def staged(
    method: Recode,
    data: DataFrame,
    where: Where,
    *,
    plan: Any = None,
    seed: int | None = None,
    progress: Progress = None,
) -> Staged:
    """Recode as ``recode`` does, and keep the rows at hand."""
    check_progress(progress)
    check_seed(seed)
    check_missing(where.missing)
    if plan not in (None, "driver", "blocks"):
        raise ParameterError("give 'driver' or 'blocks', or None to choose by size", parameter="plan", value=plan)
    if not isinstance(data, DataFrame):
        raise DataError(f"a Spark data frame is needed, not {type(data).__name__}")
    if not isinstance(method.order, str):
        raise ParameterError("rows have no number on Spark; name an order", parameter="order")
    fault = _not_in_blocks(method, where)
    if plan == "blocks" and fault is not None:
        raise ParameterError(f"{fault}, which blocks do not have", parameter="plan", value=plan,
                             remedy=Advice("give {}", plan="driver"))  # fmt: skip
    rows, left_out = _chosen(data, where)
    counts = _counted(rows, where)
    method.check_size(counts.records)
    chosen = plan or ("driver" if counts.records <= DRIVER_RECORDS or fault is not None else "blocks")
    notes = [f"not part of the release: {', '.join(left_out)}"] if left_out else []
    made = (_by_driver if chosen == "driver" else _by_blocks)(method, rows, counts, seed, progress)
    made.result.summary["notes"] = [*made.result.summary.get("notes", ()), *notes]
    return made


def _not_in_blocks(method: Recode, where: Where) -> str | None:
    """Return which options of a method depend on all records at once, or on the time that a task takes."""
    if method.structure != "groups":
        return f"structure={method.structure!r} is about the order of all records"
    if method.l is not None:
        return "l is about the labels of all records"
    if where.person is not None:
        return "persons may have records anywhere"
    return None if method.limit is None else "a limit makes the result depend on the machine"


# ---- the records


def _chosen(data: DataFrame, where: Where) -> tuple[DataFrame, list[str]]:
    """Select the columns of items, labels and persons under names of our own; return the names of the others too."""
    if (where.record is None) != (where.item is None):
        remedy = Advice("give both, {} and {}", record=NO_VALUE, item=NO_VALUE)
        raise ParameterError("a table with a row for each item has a column of records and one of items", remedy=remedy)
    if where.record is not None and where.column is not None:
        remedy = Advice("leave {} and {} out", record=NO_VALUE, item=NO_VALUE)
        raise ParameterError("a row holds one item, or a list of them", remedy=remedy)
    fields = {field.name: field for field in data.schema.fields}
    column = where.column if where.column is not None else where.item
    if column is None:
        lists = [name for name, field in fields.items() if isinstance(field.dataType, T.ArrayType)]
        if len(lists) != 1:
            there = ", ".join(map(repr, lists or fields))
            raise ParameterError(f"name the column that holds lists of items; there are {there}", parameter="column")
        column = lists[0]
    beside = {LABEL: where.label, PERSON: where.person}
    for name in filter(None, (column, where.record, *beside.values())):
        if data.columns.count(name) > 1:
            raise DataError(f"column name {name!r} occurs {data.columns.count(name)} times; rename the columns")
        if name not in fields:
            raise no_column(name, data.columns)
    kind = fields[column].dataType
    if where.record is None and not isinstance(kind, T.ArrayType):
        raise DataError(f"holds {kind.simpleString()} values, but lists of items are needed", column=column)
    named = kind.elementType if isinstance(kind, T.ArrayType) and where.record is None else kind
    texts = isinstance(named, T.StringType) and named.isUTF8BinaryCollation()
    if not isinstance(named, _ITEM_TYPES) and not texts:
        raise DataError(f"{named.simpleString()} is no type of items; these are whole numbers or texts", column=column)
    others = []
    for ours, told in beside.items():
        if told is not None:
            check_categories(fields[told])
            others.append(written(quoted(told), fields[told], True).alias(ours))
    used = [column, where.label]
    if where.record is None:
        items = quoted(column)
        if where.missing == "empty":
            items = F.coalesce(F.filter(items, lambda each: each.isNotNull()), F.array().cast(kind))
        rows = data.select(items.alias(ITEMS), *others)
    else:
        check_categories(fields[where.record])
        of = written(quoted(where.record), fields[where.record], True).alias("record")
        rows = _gathered(data.select(of, quoted(column).alias("item"), *others), where)
    return rows, [name for name in data.columns if name not in used]


def _gathered(rows: DataFrame, where: Where) -> DataFrame:
    """Gather the items of each record; an item that occurs twice counts once."""
    beside = [name for name in (LABEL, PERSON) if name in rows.columns]
    gaps = rows.agg(F.count_if(F.col("record").isNull()), F.count_if(F.col("item").isNull())).collect()[0]
    if gaps[0]:
        what = f"which record {gaps[0]:,} rows belong to is missing; fill or drop it"
        raise DataError(what, column=where.record)
    if gaps[1] and where.missing == "error":
        raise missing_error(f"the item of {gaps[1]:,} rows", where.item)
    same = [F.count_distinct(F.struct(F.col(name).isNull(), F.col(name))).alias(f"of_{name}") for name in beside]
    first = [F.first(name).alias(name) for name in beside]
    found = rows.groupBy("record").agg(F.collect_set("item").alias(ITEMS), *first, *same)
    for name, told in ((LABEL, where.label), (PERSON, where.person)):
        if name in beside:
            several = found.filter(F.col(f"of_{name}") > 1).count()
            if several:
                raise DataError(f"{several:,} records have several values; one is needed", column=told)
    return found.select(ITEMS, *beside)


class Counts(NamedTuple):
    """What is known of all records before any work."""

    records: int
    items: int
    sets: int
    """Different sets, about: an estimate that follows from the records alone."""


def _counted(rows: DataFrame, where: Where) -> Counts:
    """Count the records, and refuse lists that are no sets, and missing values."""
    items = F.col(ITEMS)
    beside = [name for name in (LABEL, PERSON) if name in rows.columns]
    told = {LABEL: where.label, PERSON: where.person}
    column = where.column or where.item
    found = rows.agg(
        F.count(F.lit(1)),
        F.coalesce(F.sum(F.size(items)), F.lit(0)),
        F.approx_count_distinct(_hash_of_set()),
        F.count_if(items.isNull()),
        F.count_if(F.exists(items, lambda each: each.isNull())),
        F.count_if(F.size(F.array_distinct(items)) < F.size(items)),
        *(F.count_if(F.col(name).isNull()) for name in beside),
    ).collect()[0]
    if not found[0]:
        raise DataError("the table has no records")
    for gaps, what in ((found[3], "lists are missing"), (found[4], "lists have a missing item")):
        if gaps:
            remedy = Advice("fill or drop them, or give {} to take them for nothing", missing="empty")
            raise MissingValueError(f"{gaps:,} of {found[0]:,} {what}", column=column, remedy=remedy)
    if found[5]:
        what = f"in {found[5]:,} of {found[0]:,} lists an item stands twice; an item is in a set or it is not"
        raise DataError(what, column=column)
    for name, gaps in zip(beside, found[6:], strict=True):
        if gaps:
            fill = "fill or drop them"
            raise MissingValueError(f"{gaps:,} of {found[0]:,} values are missing", column=told[name], remedy=fill)
    return Counts(int(found[0]), int(found[1]), max(int(found[2]), 1))


def _hash_of_set() -> Any:
    return F.xxhash64(F.array_sort(ITEMS))


def _params(method: Recode, seed: int | None, **more: Any) -> dict[str, Any]:
    return {**method.params(), "engine": "spark", **more, **made_with(seed)}


# ---- on the driver


def _by_driver(method: Recode, rows: DataFrame, counts: Counts, seed: int | None, progress: Progress) -> Staged:
    """Recode all records on the driver; what is published goes back to Spark."""
    require(
        _RECORD * counts.records + _ITEM * counts.items,
        f"recoding {counts.records:,} records on the driver",
        "give plan='blocks', or give the driver more memory",
    )
    # A canonical order, which is then drawn by the key: what comes first must depend on nothing else.
    canonical = rows.withColumn(ITEMS, F.array_sort(ITEMS)).orderBy(*rows.columns).toArrow()
    key = draws.new_key(seed)
    drawn = np.argsort(draws.numbers(key, 0, 0, counts.records), kind="stable")
    if canonical.num_rows != counts.records:
        raise plan.PlanError(plan.CHANGED)
    table = plan.in_utc(canonical).take(pa.array(drawn))
    beside = {name: table[name] if name in table.column_names else None for name in (LABEL, PERSON)}
    release = method.apply(
        Itemsets.from_column(table[ITEMS]), beside[LABEL], seed, progress, person=beside[PERSON]
    )  # fmt: skip
    kinds = {field.name: field.type for field in table.schema}
    made = _table_of(release, kinds.get(LABEL))
    schema = _schema(made, rows)
    data = rows.sparkSession.createDataFrame(made, schema)
    params = {**release.params, "engine": "spark", "plan": "driver"}
    result = Recoded(Parts.of(data, "base").sorted(data, data.columns), method.public, params, dict(release.summary))
    return Staged(result, None, [])


def _table_of(release: Any, label: Any) -> pa.Table:
    """Return what is published as a table of types that Spark takes."""
    parts = {
        "base": release.base.to_column("arrow"),
        "distance": release.distance.to_column("arrow"),
        "threshold": pa.array(release.threshold.astype(np.int32)),
    }
    if release.labels is not None:
        parts[LABEL] = pa.array(release.labels.tolist(), label)
    return pa.table(parts)


def _schema(like: Any, rows: DataFrame) -> T.StructType:
    """Return the types of what is published: items as texts or numbers of 64 bits."""
    named = T.LongType() if pa.types.is_integer(like.schema.field("base").type.value_type) else T.StringType()
    label = [T.StructField(LABEL, rows.schema[LABEL].dataType)] if LABEL in rows.columns else []
    lists = [T.StructField(name, T.ArrayType(named)) for name in ("base", "distance")]
    return T.StructType([*lists, T.StructField("threshold", T.IntegerType()), *label])


# ---- in blocks


class _Known(NamedTuple):
    """What tasks need to know of all items."""

    names: pa.Array
    taxonomy: Taxonomy | None

    @property
    def word(self) -> np.dtype[Any]:
        """The numbers of a key: of two bytes while these suffice."""
        return np.dtype(">u2") if len(self.names) < 2**16 - 2 else np.dtype(">u4")

    def sets(self, items: Any) -> Itemsets:
        """Code some records; with a taxonomy, their closures."""
        found = Itemsets.from_column(items)
        if self.taxonomy is not None:
            found = closed(found, self.taxonomy)
        return found.over(self.names)


def _by_blocks(method: Recode, rows: DataFrame, counts: Counts, seed: int | None, progress: Progress) -> Staged:
    """Recode the records block by block along their Gray order."""
    with telling(rows) as tell:
        return _in_blocks(method, rows, counts, seed, tell)


def _in_blocks(method: Recode, rows: DataFrame, counts: Counts, seed: int | None, tell: Callable[[Any], Any]) -> Staged:
    known = tell(_items(method, rows))
    labelled = [LABEL] if LABEL in rows.columns else []
    share = max(1, math.ceil(counts.sets / _BORDERS))
    few = rows.filter(F.pmod(_hash_of_set(), F.lit(share)) == 0).select(ITEMS)
    borders = tell(_prefixes_of(few.mapInArrow(_bordering(known), f"{KEY} binary").distinct().toArrow()))
    fields = [T.StructField(KEY, T.BinaryType()), *(rows.schema[name] for name in labelled)]
    schema = T.StructType([T.StructField(CELL, T.IntegerType()), *fields])
    content = [part for name, kind in ((field.name, field.dataType) for field in fields)
               for part in content_of(F.col(name), kind)]  # fmt: skip
    keyed = rows.select(ITEMS, *labelled).mapInArrow(_keying(known, borders), schema)
    keyed = keyed.withColumn(ORDER, F.xxhash64(*content)).withColumn(OTHER, F.xxhash64(F.lit("nominym"), *content))
    cells = keyed.groupBy(CELL).agg(F.count(F.lit(1)).alias(COUNT), summed()).toArrow()
    found = blocks.Blocks.cut(rows.sparkSession, cells, method.least, len(borders.value) + 1)
    number = found.number
    job = tell((replace(method, taxonomy=None), known.value.names, draws.new_key(seed), found))
    out = _schema(pa.table({"base": pa.array([], pa.list_(known.value.names.type))}), rows)
    solved = T.StructType([*out.fields, T.StructField(blocks.FIGURES, T.StringType())])
    made = found.joined(keyed).groupBy(BLOCK).applyInArrow(_solving(job), solved)
    with waiting(made):
        said, parts = blocks.said(made), Parts.of(made, "base")
        summary = _summed(said, counts, len(known.value.names), None if seed is not None else method)
        if labelled:
            most = rows.groupBy(LABEL).agg(F.count(F.lit(1)).alias(COUNT)).agg(F.count(COUNT), F.max(COUNT))
            kinds, frequent = most.collect()[0]
            summary["labels"] = {"number": int(kinds), "largest_share": frequent / counts.records}
    if isinstance(method.taxonomy, Taxonomy):
        meant = method.taxonomy
        summary["taxonomy"] = {"concepts": len(meant), "links": meant.links, "root": meant.root}
    summary["notes"] = [f"groups were formed in {number:,} blocks along the Gray order of the sets, each by itself"]
    params = _params(method, seed, plan="blocks", blocks=number)
    result = Recoded(parts.sorted(made, out.fieldNames()), method.public, params, summary)
    return Staged(result, made, [known, borders, job])


def _items(method: Recode, rows: DataFrame) -> _Known:
    """Bring the names of all items to the driver; with a taxonomy, of all concepts of closures."""
    counted = rows.select(F.explode(ITEMS).alias("item")).groupBy("item").agg(F.count(F.lit(1)).alias(COUNT))
    table = counted.orderBy("item").toArrow()
    values = plain(table["item"].combine_chunks())
    if method.taxonomy is None:
        return _Known(sorted_names(values), None)
    if isinstance(method.taxonomy, str):
        raise ParameterError("it was not kept; give it", parameter="taxonomy", value=method.taxonomy)
    method.taxonomy.concepts(values.to_pylist(), table[COUNT].to_pylist())
    single = Itemsets.of_names(np.arange(len(values) + 1, dtype=np.uint64), values)
    return _Known(closed(single, method.taxonomy).names, method.taxonomy)


def keys(sets: Itemsets, word: np.dtype[Any]) -> pa.Array:
    """Write every set as bytes that sort as its rank in Gray code: a number for each item, and one for the end.

    Behind an even number of items, a set with another item comes after one without, the later the smaller the item;
    behind an odd number of items it is the other way round.

    >>> sets = Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
    >>> written = keys(sets, np.dtype(">u2")).to_pylist()
    >>> sorted(range(6), key=written.__getitem__)
    [1, 3, 0, 2, 4, 5]
    """
    starts, items, width = sets.core.starts().astype(np.int64), sets.core.items().astype(np.int64), sets.n_items
    sizes = np.diff(starts)
    row = np.repeat(np.arange(sets.n), sizes)
    odd = (np.arange(len(items)) - starts[row]) % 2 == 1
    words = np.empty(len(items) + sets.n, dtype=word)
    words[np.arange(len(items)) + row] = np.where(odd, items + 1, width - items)
    words[starts[1:] + np.arange(sets.n)] = np.where(sizes % 2 == 1, width + 1, 0)
    ends = ((starts + np.arange(sets.n + 1)) * word.itemsize).astype(np.int64)
    found = pa.Array.from_buffers(pa.large_binary(), sets.n, [None, pa.py_buffer(ends), pa.py_buffer(words)])
    return found.cast(pa.binary())


def sets_of(found: Any, names: pa.Array, word: np.dtype[Any]) -> Itemsets:
    """Read sets again from their keys."""
    found = _flat(found)
    ends = np.frombuffer(found.buffers()[1], dtype=np.int64)[found.offset : found.offset + len(found) + 1]
    data = np.frombuffer(found.buffers()[2] or b"", dtype=np.uint8)[ends[0] : ends[-1]]
    words = data.view(word).astype(np.int64)
    ends = (ends - ends[0]) // word.itemsize
    held = np.ones(len(words), dtype=bool)
    held[ends[1:] - 1] = False
    sizes = np.diff(ends) - 1
    starts = np.concatenate(([0], np.cumsum(sizes)))
    odd = (np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)) % 2 == 1
    items = np.where(odd, words[held] - 1, len(names) - words[held]).astype(np.uint32)
    return Itemsets(_core.Sets.make(len(names), starts.astype(np.uint64), items), names)  # type: ignore[arg-type]


def _flat(found: Any) -> pa.Array:
    found = found.cast(pa.large_binary())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _prefixes(found: Any) -> NDArray[np.bytes_]:
    """Return the first bytes of keys; no key begins with another one, so zeros behind an end change no order."""
    return np.array(pc.binary_slice(_flat(found), 0, _PREFIX).to_pylist(), dtype=f"S{_PREFIX}")


def _prefixes_of(table: pa.Table) -> NDArray[np.bytes_]:
    return np.unique(_prefixes(table[KEY]))


_Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _bordering(known: Any) -> _Task:
    def found(batch: pa.RecordBatch) -> pa.RecordBatch:
        here: _Known = known.value
        return pa.record_batch([keys(here.sets(batch.column(0)), here.word)], names=[KEY])

    return tasks.of_batches(found)


def _keying(known: Any, borders: Any) -> _Task:
    """Make the task that writes keys, and finds the cell of each."""

    def found(batch: pa.RecordBatch) -> pa.RecordBatch:
        here: _Known = known.value
        batch = plan.in_utc(batch)
        made = keys(here.sets(batch.column(0)), here.word)
        cells = np.searchsorted(borders.value, _prefixes(made), side="right")
        place = pa.array(cells.astype(np.int32))
        return pa.record_batch([place, made, *batch.columns[1:]], names=[CELL, KEY, *batch.schema.names[1:]])

    return tasks.of_batches(found)


def _solving(job: Any) -> Callable[[pa.Table], pa.Table]:
    def solved(rows: pa.Table) -> pa.Table:
        tasks.use_task_threads()
        method, names, key, plans = job.value
        block, records = plans.check(rows), rows.num_rows
        rows = plan.in_utc(rows)
        by = [(name, "ascending") for name in (KEY, ORDER, OTHER)]
        rows = rows.take(pc.sort_indices(rows.select([KEY, ORDER, OTHER]), sort_keys=by))
        # Which of several equal sets comes first, and so joins which group, is drawn with the whole key.
        same = pc.equal(rows[KEY][1:], rows[KEY][:-1]).to_numpy()
        owner = np.concatenate(([0], np.cumsum(~same.astype(bool))))
        rows = rows.take(pa.array(draws.shuffled_within(owner, draws.numbers(key, block, -3, records))))
        sets = sets_of(rows[KEY], names, _Known(names, None).word)
        label = rows[LABEL] if LABEL in rows.column_names else None
        # An adversary is taken to know the groups, and all rows of a group publish the same.
        start = int(draws.numbers(key, block, 0, 1)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = method.apply(sets, label, start)
        made = _table_of(release, None if label is None else label.type)
        figures = {name: release.summary[name] for name in ("records", "expected_error", "threshold", "groups")}
        said = pa.array([json.dumps(figures)] + [None] * (records - 1), pa.string())
        return made.append_column(blocks.FIGURES, said)

    def solve(rows: pa.Table) -> pa.Table:
        return tasks.without_values(solved, rows)

    return solve


def _summed(said: Sequence[Mapping[str, Any]], counts: Counts, items: int, guaranteed: Recode | None) -> dict[str, Any]:
    """Add up the figures of the blocks."""
    if sum(block["records"] for block in said) != counts.records:
        raise plan.PlanError(plan.CHANGED)

    def mean(of: Callable[[Mapping[str, Any]], float]) -> float:
        return math.fsum(of(block) * block["records"] for block in said) / counts.records

    grouped = [block["groups"] for block in said]
    smallest = min(each["smallest"] for each in grouped)
    return {
        "records": counts.records,
        "items": items,
        "matches": smallest,
        "bound": None if guaranteed is None or guaranteed.bound is None else 1 / smallest,
        "expected_error": mean(lambda block: block["expected_error"]),
        "threshold": {
            "mean": mean(lambda block: block["threshold"]["mean"]),
            "largest": max(block["threshold"]["largest"] for block in said),
        },
        "groups": {
            "count": sum(each["count"] for each in grouped),
            "smallest": smallest,
            "largest": max(each["largest"] for each in grouped),
        },
    }
