"""Strict rank swapping in blocks: where there are more records than a driver can plan for.

Records are put into blocks of near ones along a z-order of all masked columns, and every block is masked by itself: its
groups, and permutations inside them. The guarantee is that of groups, so that it is the same; only records at the
borders of blocks might have had nearer ones to be grouped with. Roots, which distances depend on, are those of all
records. The driver has the counts of categories, and of cells of the z-order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from nominym import groups
from nominym.meaning import Meaning, Order, Taxonomy
from nominym.method import Result, made_with
from nominym.spark import draws, plan, tasks
from nominym.spark.figures import constant
from nominym.spark.source import BLOCK, COUNT, DRAWN, GROUP, ORDER, OTHER, SUM, Source, waiting
from nominym.swap import RankSwap
from nominym.swap.rank import notes_of
from nominym.table import Attribute, Column, Table, attributes, code, of_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import DataFrame

BLOCK_RECORDS = 250_000
"""Records of a block, about: the more, the nearer are the members of groups at its borders."""
FIGURES = "figures"
_CELLS = 20
"""Bits of the z-order by which blocks are cut."""


@dataclass(frozen=True)
class Places:
    """Where the categories of a column lie in the z-order, broadcast to all tasks."""

    categories: pa.Array
    spread: NDArray[np.int64]
    """Bits of the place of each category, apart from each other so that those of other columns fit between; and of a
    missing value."""


def mask(
    method: RankSwap,
    source: Source,
    meanings: Mapping[str, Meaning],
    masked: Sequence[str],
    others: Sequence[str],
    told: groups.Notes,
    seed: int | None,
    size: int | None = None,
) -> tuple[Result, DataFrame, list[Broadcast[Any]]]:
    """Mask a table block by block; ``size`` is the least number of records of a block.

    What waits is returned too, and what all tasks were told.
    """
    k = method.k or 2
    groups.check_size(source.records, k)
    found, places = _columns(method, source, meanings, masked)
    roots = {name: attribute.root for name, attribute in found.items()}
    session = source.data.sparkSession
    known = session.sparkContext.broadcast([places[name] for name in masked])
    within = [source.at(name) for name in masked]
    cells = min(_bits(len(masked)) * len(masked), _CELLS)
    shift = _bits(len(masked)) * len(masked) - cells
    hashed = source.hashed()
    histogram = hashed.select(*within, ORDER).mapInArrow(_counting(known, shift), f"cell int, n long, {SUM} long")
    counted = histogram.groupBy("cell").agg(F.sum("n").alias("n"), F.sum(SUM).alias(SUM)).toArrow()
    least = max(size or BLOCK_RECORDS, 2 * k)
    block_of, number = cut(counted["cell"].to_numpy(), counted["n"].to_numpy(), least, 1 << cells)
    told_cut = session.sparkContext.broadcast(block_of)
    in_block = T.StructType([*hashed.schema.fields, T.StructField(BLOCK, T.IntegerType())])
    rows = hashed.mapInArrow(_finding(known, told_cut, within, shift), in_block)
    totals = np.bincount(block_of[counted["cell"].to_numpy()], counted["n"].to_numpy(), number).astype(np.int64)
    sums = np.zeros(number, dtype=np.int64)
    np.add.at(sums, block_of[counted["cell"].to_numpy()], counted[SUM].to_numpy())
    meant = {source.at(name): meanings[name] for name in masked}
    ends = {source.at(name): _ends(found[name]) for name in masked}
    tops = {source.at(name): root for name, root in roots.items() if root is not None}
    job = session.sparkContext.broadcast((method, meant, tops, ends, totals, sums))
    solve = _solving(job, source.columns, within, draws.new_key(seed))
    fields = [T.StructField(source.at(f.name), f.dataType, True) for f in source.fields]
    made = rows.groupBy(BLOCK).applyInArrow(
        solve,
        T.StructType([*fields, T.StructField(GROUP, T.LongType()), T.StructField(DRAWN, T.LongType()),
                      T.StructField(FIGURES, T.StringType())]),
    )  # fmt: skip
    with waiting(made):
        summary = _summed(said(made), source, found, within, seed is not None)
        summary["groups"]["constant"] = constant(source, made, others)
    blocks = f"groups were formed in {number:,} blocks of near records, each by itself"
    summary["notes"] = notes_of(summary["attributes"], [blocks, *told.public])
    params = {
        "columns": list(masked), **method.params(), "roots": roots, "engine": "spark", "plan": "blocks",
        "blocks": number, **made_with(seed),
    }  # fmt: skip
    return Result(source.released(made), method, params, summary), made, [known, told_cut, job]


def _bits(columns: int) -> int:
    """Return how many bits of the z-order a column has."""
    return max(1, min(16, 60 // columns))


def _columns(
    method: RankSwap, source: Source, meanings: Mapping[str, Meaning], masked: Sequence[str]
) -> tuple[dict[str, Attribute], dict[str, Places]]:
    """Give the categories of each column their meaning, over all records, and their place in the z-order."""
    found, places = {}, {}
    bits = _bits(len(masked))
    for at, name in enumerate(masked):
        here = source.at(name)
        table = source.data.groupBy(here).agg(F.count(F.lit(1)).alias(COUNT)).toArrow()
        table = plan.in_utc(table)
        column = code(table[here].combine_chunks(), name)
        counts = np.zeros(column.size + 1, dtype=np.int64)
        np.add.at(counts, np.minimum(column.codes, column.size), table[COUNT].to_numpy())
        every = column.with_codes(np.arange(column.size, dtype=np.uint32))
        root = (method.roots or {}).get(name)
        attribute = of_columns([every], [meanings[name]], method.measure, [root])[0]
        found[name] = attribute
        order = _along(attribute)
        # Of the values in this order, the middle of each among all records.
        values = attribute.column
        number = {value: i for i, value in enumerate(column.categories)}
        weights = np.array([counts[number[value]] for value in values.categories])
        ends = np.cumsum(weights[order])
        middle = np.empty(len(order))
        middle[order] = (ends - weights[order] / 2) / max(int(ends[-1]) if len(ends) else 1, 1)
        spots = np.append((middle * (1 << bits)).astype(np.int64), (1 << bits) - 1)
        spread = np.zeros(len(spots), dtype=np.int64)
        for bit in range(bits):
            spread |= (spots >> bit & 1) << (bit * len(masked) + len(masked) - 1 - at)
        places[name] = Places(plan.categories_of(values, table.field(here).type), spread)
    return found, places


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


def _ends(attribute: Attribute) -> Column | None:
    """Return the lowest and the highest value of a column whose distances are relative to them."""
    if not isinstance(attribute.meaning, Order) or not attribute.size:
        return None
    codes = np.array([attribute.places.argmin(), attribute.places.argmax()], dtype=np.uint32)
    return attribute.column.with_codes(codes).occurring()


def _cells(table: Any, known: Any, names: Sequence[str] | None, shift: int) -> NDArray[np.int64]:
    z = np.zeros(table.num_rows, dtype=np.int64)
    for i, place in enumerate(known.value):
        values = table.column(i) if names is None else table[names[i]]
        z += place.spread[plan.coded_values(values, place.categories.cast(values.type))]
    return z >> shift


def _counting(known: Any, shift: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def counted(batch: pa.RecordBatch) -> pa.RecordBatch:
        cells, at, times = np.unique(_cells(batch, known, None, shift), return_inverse=True, return_counts=True)
        sums = np.zeros(len(cells), dtype=np.int64)
        np.add.at(sums, at, batch.column(ORDER).to_numpy() >> 32)
        columns = [cells.astype(np.int32), times.astype(np.int64), sums]
        return pa.record_batch([pa.array(column) for column in columns], names=["cell", "n", SUM])

    return tasks.of_batches(counted)


def _finding(
    known: Any, cut: Any, within: Sequence[str], shift: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def found(batch: pa.RecordBatch) -> pa.RecordBatch:
        block = cut.value[_cells(batch, known, within, shift)]
        return pa.record_batch(
            [*plan.in_utc(batch).columns, pa.array(block.astype(np.int32))], names=[*batch.schema.names, BLOCK]
        )

    return tasks.of_batches(found)


def said(made: DataFrame) -> list[dict[str, Any]]:
    """Collect the figures that blocks say beside their first record."""
    return [json.loads(row[0]) for row in made.filter(F.col(FIGURES).isNotNull()).select(FIGURES).collect()]


def cut(cells: NDArray[np.int64], counts: NDArray[np.int64], least: int, span: int) -> tuple[NDArray[np.int64], int]:
    """Cut the cells into blocks of at least so many records; return the block of each cell, and how many there are."""
    sizes = np.zeros(span, dtype=np.int64)
    sizes[cells] = counts
    block = np.minimum((np.cumsum(sizes) - sizes) // least, np.iinfo(np.int64).max)
    _, block = np.unique(block, return_inverse=True)
    totals = np.bincount(block, sizes)
    # A block that is too small goes to the one before it, the first ones to the one after.
    number, last = np.empty(len(totals), dtype=np.int64), -1
    open_size = 0.0
    for i, total in enumerate(totals):
        if last < 0 or open_size >= least:
            last, open_size = last + 1, 0.0
        number[i] = last
        open_size += total
    if open_size < least and last > 0:
        number[number == last] = last - 1
        last -= 1
    return number[block], last + 1


def _solving(job: Any, columns: Sequence[str], within: Sequence[str], key: bytes) -> Callable[[pa.Table], pa.Table]:
    def solved(rows: pa.Table) -> pa.Table:
        tasks.use_task_threads()
        method, meanings, roots, ends, totals, sums = job.value
        rows = plan.in_utc(rows)
        block, records = rows[BLOCK][0].as_py(), rows.num_rows
        if records != totals[block] or plan.hash_sum(rows[ORDER]) != sums[block]:
            raise plan.PlanError(plan.CHANGED)
        coded = Table(rows.select(within))
        codes = np.column_stack([coded.column(name).dense()[0] for name in within])
        order = np.lexsort((rows[OTHER].to_numpy(), rows[ORDER].to_numpy(), *codes.T[::-1]))
        # Which of the records of one tuple comes first, and so joins which group, is drawn with the whole key.
        changed = (np.diff(codes[order].astype(np.int64), axis=0) != 0).any(axis=1)
        tuples = np.concatenate(([0], np.cumsum(changed)))
        order = order[draws.shuffled_within(tuples, draws.numbers(key, block, -3, records))]
        rows = rows.take(pa.array(order))
        made = permuted(Table(rows.select(within)), method, meanings, roots, ends, key, block)
        values = [made.values[name] if name in made.values else rows[name] for name in columns]
        said = pa.array([json.dumps(made.figures)] + [None] * (records - 1), pa.string())
        grouped = pa.array((block << 32) + made.groups.astype(np.int64))
        return pa.table(
            [*values, grouped, tasks.mixing(key, block, records), said], names=[*columns, GROUP, DRAWN, FIGURES]
        )

    def solve(rows: pa.Table) -> pa.Table:
        return tasks.without_values(solved, rows)

    return solve


@dataclass(frozen=True)
class Permuted:
    """A masked block."""

    values: dict[str, Any]
    groups: NDArray[np.uint32]
    figures: dict[str, Any]


def permuted(
    table: Table,
    method: RankSwap,
    meanings: Mapping[str, Meaning],
    roots: Mapping[str, object],
    ends: Mapping[str, Column | None],
    key: bytes,
    block: int,
) -> Permuted:
    """Form groups in a block whose rows are in their canonical order, and permute inside them by draws of the key.

    ``ends`` are the lowest and the highest value of all records, by which differences of numbers are measured.
    """
    before = attributes(table, meanings, method.measure, roots, "keep")
    for name, each in before.items():
        span = ends[name]
        if span is not None:
            space = each.meaning.space([each.column, span], method.measure)
            before[name] = replace(each, space=space, places=space.places[0])
    known = list(before.values())
    # An adversary is taken to know the groups; what must not be guessed are permutations, which have the whole key.
    start = int(draws.numbers(key, block, 0, 1)[0])
    partition = groups.form(known, method.k or 2, longer=method.anneal, seed=start)
    n = len(table)
    members = np.argsort(partition.group_of, kind="stable")
    values, drawn = {}, None
    for i, name in enumerate(before):
        if drawn is None or method.draw == "independent":
            drawn = draws.shuffled_within(partition.group_of, draws.numbers(key, block, i + 1, n))
        rows = np.empty(n, dtype=np.int64)
        rows[members] = drawn
        values[name] = table.data[name].take(pa.array(rows))
    figures = {
        "records": n,
        "attributes": {
            name: {**partition.expected(each), "missing": each.column.missing} for name, each in before.items()
        },
        "groups": partition.summary({name: each.place_codes for name, each in before.items()}, {}),
    }
    return Permuted(values, partition.group_of, figures)


def _summed(
    said: Sequence[Mapping[str, Any]],
    source: Source,
    found: Mapping[str, Attribute],
    within: Sequence[str],
    seeded: bool,
) -> dict[str, Any]:
    """Add up what the blocks say: expectations over all draws, of all records."""
    if sum(block["records"] for block in said) != source.records:
        raise plan.PlanError(plan.CHANGED)
    public = {}
    for name, here in zip(found, within, strict=True):
        parts = [(block["records"], block["attributes"][here]) for block in said]
        missing = sum(each["missing"] for _, each in parts)
        lost = math.fsum(each["expected_missing_moved"] for _, each in parts)
        squares = math.fsum(
            each["expected_rmse"] ** 2 * (n - each["missing"] - each["expected_missing_moved"]) for n, each in parts
        )
        same = math.fsum(each["expected_unchanged"] * (n - each["missing"]) for n, each in parts)
        known = source.records - missing
        public[name] = {
            "categories": found[name].size,
            "missing": missing,
            "root": found[name].root,
            "expected_rmse": math.sqrt(squares / (known - lost)) if known > lost else 0.0,
            "expected_unchanged": same / known if known else 1.0,
            "expected_missing_moved": lost,
        }
    sizes: dict[int, int] = {}
    for block in said:
        for size, times in block["groups"]["sizes"].items():
            sizes[int(size)] = sizes.get(int(size), 0) + times
    smallest = min(sizes)
    read_off = {
        name: {what: sum(block["groups"]["read_off"][here][what] for block in said) for what in ("groups", "records")}
        for name, here in zip(found, within, strict=True)
    }
    grouped = {
        "count": sum(sizes.values()),
        "smallest": smallest,
        "largest": max(sizes),
        "sizes": dict(sorted(sizes.items())),
        "constant": {},
        "read_off": read_off,
    }
    bound = None if seeded else 1 / smallest
    return {"records": source.records, "attributes": public, "groups": grouped, "bound": bound}
