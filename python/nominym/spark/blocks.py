"""Masking in blocks: where there are more records than a driver can plan for.

Records are put into blocks of near ones along a z-order of the masked columns, and every block is masked by itself. The
guarantee of groups does not depend on how they were found, so it is the same; only records at the borders of blocks
might have had nearer ones to be grouped with. The driver holds the counts of categories, and of cells of the z-order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_type

from nominym import groups
from nominym.aggregate import Microaggregate, aggregated, is_retyped, published, total_squares
from nominym.meaning import Meaning, Order, Taxonomy
from nominym.method import Result, made_with
from nominym.spark import draws, plan, tasks
from nominym.spark.block import Job, Meant, treated
from nominym.spark.figures import constant
from nominym.spark.source import (
    BLOCK,
    CELL,
    COUNT,
    GROUP,
    ORDER,
    OTHER,
    SUM,
    Parts,
    Source,
    Staged,
    Z,
    partitioned,
    summed,
    telling,
    waiting,
)
from nominym.swap import RankSwap
from nominym.swap.rank import NO_GUARANTEE, notes_of
from nominym.table import Attribute, Table, code, of_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

BLOCK_RECORDS = 250_000
"""Records of a block, about: the more, the nearer are the members of groups at its borders."""
FIGURES = "figures"
_Z, _CELLS = 60, 20
"""Bits that the z-order may have, and those by which blocks are cut."""
OTHER_LAW = (
    "SRS-3 within blocks: candidates come from the same block, so its distribution differs from that of SRS-3 over all "
    "records"
)
"""What is noted of SRS-3 in blocks."""


def mask(
    method: RankSwap | Microaggregate,
    source: Source,
    meanings: Mapping[str, Meaning],
    masked: Sequence[str],
    others: Sequence[str],
    told: groups.Notes,
    seed: int | None,
) -> Staged:
    """Mask a table block by block."""
    k = method.k or 2
    if method.grouped:
        groups.check_size(source.records, k)
    found = {name: _column(method, source, meanings[name], name, at, len(masked)) for at, name in enumerate(masked)}
    coded = source.coded({name: each.values for name, each in found.items()},
                         {name: each.spread for name, each in found.items()})  # fmt: skip
    bits = _bits(len(masked)) * min(len(masked), _Z)
    cells = min(bits, _CELLS)
    rows = coded.hashed().withColumn(CELL, F.shiftright(F.col(Z), bits - cells).cast("int")).drop(Z)
    counted = rows.groupBy(CELL).agg(F.count(F.lit(1)).alias(COUNT), summed()).toArrow()
    blocks = Blocks.cut(source.data.sparkSession, counted, k, 1 << cells)
    meant = {source.at(name): _meant(method, each, meanings[name]) for name, each in found.items()}
    fields = []
    for here, field in zip(source.columns, source.fields, strict=True):
        same = here not in meant or meant[here].kind == meant[here].values.type
        fields.append(T.StructField(here, field.dataType if same else from_arrow_type(meant[here].kind), True))
    fields += [T.StructField(GROUP, T.LongType()), T.StructField(FIGURES, T.StringType())]
    with telling(source.data) as tell:
        job = tell((Job(method, meant, 0 if seed is None else seed, draws.new_key(seed)), blocks))
        solve = _solving(job, source.columns, coded.within)
        made = blocks.joined(rows).groupBy(BLOCK).applyInArrow(solve, T.StructType(fields))
        with waiting(made):
            summary = _summed(method, said(made), source, found, made, seed is not None)
            if method.grouped:
                summary["groups"]["constant"] = constant(source, made, others)
            parts = Parts.of(made, source.at(masked[0]))
        summary["notes"] = _notes(method, summary, blocks.number, told.public)
        named = {} if method.grouped else {"method": "records in blocks"}
        params = {
            "columns": list(masked), **method.params(), **named,
            "roots": {name: each.attribute.root for name, each in found.items()}, "engine": "spark", "plan": "blocks",
            "blocks": blocks.number, **made_with(seed),
        }  # fmt: skip
        return Staged(Result(source.released(made, masked, parts), method, params, summary), made, [job])


def _notes(
    method: RankSwap | Microaggregate, summary: Mapping[str, Any], number: int, told: Sequence[str]
) -> list[str]:
    if not method.grouped:
        return [OTHER_LAW, *told, NO_GUARANTEE]
    notes = [f"groups were formed in {number:,} blocks of near records, each by itself", *told]
    return notes_of(summary["attributes"], notes) if isinstance(method, RankSwap) else notes


# ---- the columns of all records


class _Found(NamedTuple):
    """A masked column of all records."""

    attribute: Attribute
    """Each category once."""
    values: pa.Array
    counts: NDArray[np.uint64]
    spread: NDArray[np.int64]
    """Bits of the place of each category in the z-order, apart from each other so that those of other columns fit
    between; and of a missing value."""


def _bits(columns: int) -> int:
    """Return how many bits of the z-order a column has."""
    return max(1, min(16, _Z // columns))


def _spread(spots: NDArray[np.int64], at: int, columns: int) -> NDArray[np.int64]:
    """Put the bits of a column apart from each other; of very many columns, the last ones have none."""
    spread, shared = np.zeros(len(spots), dtype=np.int64), min(columns, _Z)
    for bit in range(_bits(columns) if at < shared else 0):
        spread |= (spots >> bit & 1) << (bit * shared + shared - 1 - at)
    return spread


def _column(
    method: RankSwap | Microaggregate, source: Source, meaning: Meaning, name: str, at: int, columns: int
) -> _Found:
    """Place the categories of a column by their meaning over all records, and in the z-order."""
    values, counts = source.categories(name)
    column = code(values, name)
    every = column.with_codes(np.arange(column.size, dtype=np.uint32))
    attribute = of_columns([every], [meaning], method.measure, [(method.roots or {}).get(name)])[0]
    weights = np.zeros(attribute.size, dtype=np.uint64)
    # A category of the attribute is one of those that were coded, which is one of the values.
    weights[attribute.column.codes[column.codes]] = counts[:-1]
    order = _along(attribute)
    # Of the values in this order, the middle of each among all records.
    ends = np.cumsum(weights[order].astype(np.float64))
    middle = np.empty(len(order))
    middle[order] = (ends - weights[order] / 2) / max(ends[-1] if len(ends) else 1, 1)
    bits = _bits(columns)
    spots = np.append((middle * (1 << bits)).astype(np.int64), (1 << bits) - 1)
    spread = _spread(spots, at, columns)
    return _Found(attribute, plan.categories_of(attribute.column, values.type), weights, spread)


def _along(attribute: Attribute) -> NDArray[np.int64]:
    """Return the categories in an order in which near ones follow each other."""
    categories = attribute.column.categories
    if isinstance(attribute.meaning, Taxonomy):
        taxonomy = attribute.meaning

        def path(value: Any) -> tuple[str, ...]:
            above = [taxonomy.ids[taxonomy.concept(value)]]
            while above[-1] != taxonomy.root:
                above.append(taxonomy.parents(above[-1])[0])
            return tuple(reversed(above))

        paths = [path(value) for value in categories]
        return np.array(sorted(range(len(paths)), key=paths.__getitem__), dtype=np.int64)
    if isinstance(attribute.meaning, Order):
        return np.argsort(attribute.places, kind="stable").astype(np.int64)
    return np.arange(len(categories), dtype=np.int64)


def _meant(method: RankSwap | Microaggregate, found: _Found, meaning: Meaning) -> Meant:
    """Return what tasks need to know about a column."""
    attribute = found.attribute
    column = attribute.column.with_codes(np.arange(attribute.size, dtype=np.uint32))
    kind = found.values.type
    if isinstance(method, Microaggregate):
        # The type that values have after masking follows from those that they may have before.
        common = method.replace == "subsumer"
        rows = np.arange(attribute.size, dtype=np.uint32)
        one = groups.Partition(np.zeros_like(rows), rows)
        after = aggregated(attribute.with_codes(rows), one, common=common).after.column
        retyped = [attribute.name] if is_retyped(attribute, common) else []
        like = Table(pa.table({attribute.name: found.values}))
        kind = like.replaced({attribute.name: after}, moved=True, retyped=retyped).data.schema.field(0).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return Meant(column, meaning, attribute.root, found.values, kind)


# ---- blocks


class Blocks(NamedTuple):
    """Blocks of cells that follow each other."""

    cells: NDArray[np.int32]
    block_of: NDArray[np.int64]
    """The block of each of the cells."""
    number: int
    partitions: NDArray[np.int64]
    """The number by which Spark sends each block to a partition of its own."""
    totals: NDArray[np.int64]
    sums: NDArray[np.int64]
    """Of each block, how many records it has, and what ``plan.hash_sum`` says of them."""

    @classmethod
    def cut(cls, session: Any, counted: pa.Table, least: int, span: int) -> Blocks:
        """Cut cells into blocks, given for each cell its records and the sum of their hashes."""
        if counted[CELL].null_count:
            raise plan.PlanError(plan.CHANGED)
        cells, sizes = counted[CELL].to_numpy(), counted[COUNT].to_numpy().astype(np.int64)
        block_of, number = cut(cells, sizes, max(BLOCK_RECORDS, 2 * least), 2 * least, span)
        here = block_of[cells]
        totals, sums = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
        np.add.at(totals, here, sizes)
        np.add.at(sums, here, counted[SUM].to_numpy().astype(np.int64))
        return cls(cells.astype(np.int32), here, number, partitioned(session, number), totals, sums)

    def check(self, rows: pa.Table) -> int:
        """Return the block of the rows of a task, and refuse rows that are not those of the plan."""
        found = np.flatnonzero(self.partitions == rows[BLOCK][0].as_py())
        if len(found) != 1 or rows.num_rows != self.totals[found[0]]:
            raise plan.PlanError(plan.CHANGED)
        if plan.hash_sum(rows[ORDER]) != self.sums[found[0]]:
            raise plan.PlanError(plan.CHANGED)
        return int(found[0])

    def joined(self, rows: DataFrame) -> DataFrame:
        """Send the records of each block to a partition of its own."""
        known = pa.table({"of": self.cells, BLOCK: self.partitions[self.block_of]})
        table = rows.sparkSession.createDataFrame(known)
        found = rows.join(F.broadcast(table), F.col(CELL) == F.col("of"), "left").drop(CELL, "of")
        return found.repartition(self.number, BLOCK)


def cut(
    cells: NDArray[Any], counts: NDArray[np.int64], wanted: int, least: int, span: int
) -> tuple[NDArray[np.int64], int]:
    """Cut cells into blocks of about as many records as are wanted, and no fewer than the least.

    Returns the block of each cell, and how many there are.
    """
    sizes = np.zeros(span, dtype=np.int64)
    sizes[cells] = counts
    records = max(int(sizes.sum()), 1)
    middle = np.cumsum(sizes) - sizes // 2 - sizes % 2
    block = middle * max(1, records // wanted) // records
    _, block = np.unique(np.maximum(block, 0), return_inverse=True)
    totals = np.bincount(block.reshape(-1), sizes)
    # A block that is too small goes to the one before it, the first ones to the one after.
    number, last, open_size = np.empty(len(totals), dtype=np.int64), -1, 0.0
    for i, total in enumerate(totals):
        if last < 0 or open_size >= least:
            last, open_size = last + 1, 0.0
        number[i] = last
        open_size += total
    if open_size < least and last > 0:
        number[number == last] = last - 1
        last -= 1
    return number[block.reshape(-1)], last + 1


def _solving(job: Any, columns: Sequence[str], within: Sequence[str]) -> Callable[[pa.Table], pa.Table]:
    def solved(rows: pa.Table) -> pa.Table:
        tasks.use_task_threads()
        told, blocks = job.value
        block = blocks.check(rows)
        codes = np.column_stack([plan.codes_of(rows[name], len(told.columns[name].values)) for name in within])
        order = np.lexsort((rows[OTHER].to_numpy(), rows[ORDER].to_numpy(), *codes.T[::-1]))
        # Which of the records of one tuple comes first, and so joins which group, is drawn with the whole key.
        changed = (codes[order[1:]] != codes[order[:-1]]).any(axis=1)
        tuples = np.concatenate(([0], np.cumsum(changed)))
        order = order[draws.shuffled_within(tuples, draws.numbers(told.key, block, -3, len(order)))]
        made = treated(told, {name: codes[order, i] for i, name in enumerate(within)}, block)
        kept = plan.in_utc(rows.select([name for name in columns if name not in within])).take(pa.array(order))
        values = [made.values[name] if name in made.values else kept[name] for name in columns]
        figures = pa.array([json.dumps(made.figures)] + [None] * (len(order) - 1), pa.string())
        grouped = pa.array((block << 32) + made.groups.astype(np.int64))
        return pa.table([*values, grouped, figures], names=[*columns, GROUP, FIGURES])

    def solve(rows: pa.Table) -> pa.Table:
        return tasks.without_values(solved, rows)

    return solve


def said(made: DataFrame) -> list[dict[str, Any]]:
    """Collect the figures that each block gives beside its first record."""
    return [json.loads(row[0]) for row in made.filter(F.col(FIGURES).isNotNull()).select(FIGURES).collect()]


# ---- the public summary


def _summed(
    method: RankSwap | Microaggregate,
    blocks: Sequence[Mapping[str, Any]],
    source: Source,
    found: Mapping[str, _Found],
    made: DataFrame,
    seeded: bool,
) -> dict[str, Any]:
    """Add up the figures of the blocks."""
    if sum(block["records"] for block in blocks) != source.records:
        raise plan.PlanError(plan.CHANGED)
    public: dict[str, Any] = {}
    figures = {}
    for name, each in found.items():
        parts = [(block["records"], block["attributes"][source.at(name)]) for block in blocks]
        missing = sum(part["missing"] for _, part in parts)
        public[name] = {"categories": each.attribute.size, "missing": missing, "root": each.attribute.root}
        if isinstance(method, Microaggregate):
            column = made.select(source.at(name)).filter(F.col(source.at(name)).isNotNull())
            figures[name] = _lost([part for _, part in parts], each, column.distinct().count())
        elif method.strict:
            public[name] |= _expected(parts, source.records - missing)
    summary = {"records": source.records, "attributes": public}
    if not method.grouped:
        return summary
    if isinstance(method, Microaggregate):
        lessened, overall = published(figures)
        summary = {"records": source.records,
                   "attributes": {name: {**each, **lessened[name]} for name, each in public.items()},
                   **overall}  # fmt: skip
    sizes: dict[int, int] = {}
    for block in blocks:
        for size, times in block["groups"]["sizes"].items():
            sizes[int(size)] = sizes.get(int(size), 0) + times
    grouped = {
        "count": sum(sizes.values()),
        "smallest": min(sizes),
        "largest": max(sizes),
        "sizes": dict(sorted(sizes.items())),
        "constant": {},
        "read_off": {
            name: {
                what: sum(block["groups"]["read_off"][source.at(name)][what] for block in blocks)
                for what in ("groups", "records")
            }
            for name in found
        },
    }
    return {**summary, "groups": grouped, "bound": None if seeded else 1 / min(sizes)}


def _expected(parts: Sequence[tuple[int, Mapping[str, float]]], known: int) -> dict[str, float]:
    """Return the expectations over all draws, of all blocks; so many records have a value."""
    lost = math.fsum(each["expected_missing_moved"] for _, each in parts)
    squares = math.fsum(
        each["expected_rmse"] ** 2 * (n - each["missing"] - each["expected_missing_moved"]) for n, each in parts
    )
    same = math.fsum(each["expected_unchanged"] * (n - each["missing"]) for n, each in parts)
    return {
        "expected_rmse": math.sqrt(squares / (known - lost)) if known > lost else 0.0,
        "expected_unchanged": same / known if known else 1.0,
        "expected_missing_moved": lost,
    }


def _lost(parts: Sequence[Mapping[str, float]], found: _Found, values: int) -> dict[str, float]:
    """Return what one value for all of a group loses of a column, of all blocks."""
    records = sum(each["records"] for each in parts)
    lost, total = math.fsum(each["squares"] for each in parts), total_squares(found.attribute, counts=found.counts)
    return {
        "values": values,
        "sse": lost / records if records else 0.0,
        "rmse": math.sqrt(lost / records) if records else 0.0,
        "loss": lost / total if total else 0.0,
        "unchanged": sum(each["same"] for each in parts) / records if records else 1.0,
        "missing_made": sum(each["missing_made"] for each in parts),
        "missing_filled": sum(each["missing_filled"] for each in parts),
    }
