"""Masking a Spark data frame: the method object plans on counts, the records are masked where they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.core.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_type

from nominym.aggregate import Microaggregate
from nominym.control import Progress, check_progress, check_seed, require
from nominym.error import Advice, DataError, MissingValueError, ParameterError
from nominym.groups import Notes
from nominym.itemsets import Recode
from nominym.meaning import Meaning
from nominym.method import Method, Result
from nominym.noise import Noise
from nominym.spark import blocks as by_blocks
from nominym.spark import draws, figures, kept, plan, tasks
from nominym.spark.source import (
    BLOCK,
    COUNT,
    GROUP,
    ORDER,
    OTHER,
    SUM,
    Coded,
    Parts,
    Source,
    Staged,
    summed,
    telling,
    waiting,
)
from nominym.swap import DataSwap, RankSwap
from nominym.table import column_names

Plan = Literal["driver", "blocks"]

DRIVER_RECORDS = 20_000_000
"""Records up to which the driver plans by default: it holds their masked columns as codes, some hundred bytes each."""
BLOCK_RECORDS = 250_000
"""Records that a task has at a time, about."""
_RECORD, _CELL = 60, 30
"""Bytes that the driver needs for a record, and for each of its values that the method reads."""


def mask(
    method: Method,
    data: DataFrame,
    meanings: Any,
    *,
    plan: Plan | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> Result:
    """Mask the columns of a Spark data frame that have a meaning, by any method of tables.

    ``plan`` says where records are compared: on the "driver", which has the law of the method exactly, or in "blocks"
    of near records; by default it depends on their number. ``Result.data`` is computed whenever it is asked for, each
    time with the same rows; masked records do not wait in memory or on disks in between.
    """
    made = staged(method, data, meanings, plan=plan, seed=seed, progress=progress)
    made.forget()
    return made.result


def staged(
    method: Method,
    data: DataFrame,
    meanings: Any,
    *,
    plan: Plan | None = None,
    seed: int | None = None,
    progress: Progress = None,
    dropped: Sequence[str] = (),
    always: bool = False,
) -> Staged:
    """Mask as ``mask`` does, and keep the masked records at hand.

    ``dropped`` columns are not in the result. Kept columns are checked for methods with groups, and ``always`` for a
    release.
    """
    check_progress(progress)
    check_seed(seed)
    if plan not in (None, "driver", "blocks"):
        raise ParameterError("give 'driver' or 'blocks', or None to choose by size", parameter="plan", value=plan)
    if not isinstance(data, DataFrame):
        raise DataError(f"a Spark data frame is needed, not {type(data).__name__}")
    if isinstance(method, Recode):
        raise ParameterError(f"{method!r} recodes item sets", parameter="method", remedy="call nym.spark.recode")
    if plan == "blocks" and not (_in_blocks(method) or getattr(method, "method", None) == "records"):
        limited = getattr(method, "person", None) is not None or getattr(method, "sensitive", None)
        what = "persons and values may have records in any block" if limited else "it depends on all records at once"
        raise ParameterError(
            f"{method!r}: {what}",
            parameter="plan",
            value=plan,
            remedy=Advice(
                "give {}; blocks are for strict rank swapping and microaggregation, without person and sensitive, and "
                "for SRS-3",
                plan="driver",
            ),
        )
    masked, beside, left_out = _columns(method, data, meanings)
    source = Source.of(data, [*masked, *beside], dropped)
    records = source.records
    if not records:
        raise DataError("the table has no records")
    if getattr(method, "missing", "keep") == "error":
        _refuse_missing(source, masked)
    chosen = plan or ("driver" if records <= DRIVER_RECORDS or not _in_blocks(method) else "blocks")
    others = [name for name in source.names if name not in masked and name not in left_out]
    checked = always or getattr(method, "grouped", False)
    told = kept.check(source, method, masked, others, meanings) if checked else Notes([], [])
    if chosen == "blocks":
        return by_blocks.mask(method, source, meanings, masked, others, told, seed)  # type: ignore[arg-type]
    return _by_driver(method, source, meanings, masked, others, left_out, told, seed, progress)


def _refuse_missing(source: Source, masked: Sequence[str]) -> None:
    """Refuse missing values, counted on Spark; rows have no number there."""
    counts = source.data.agg(*(F.count_if(F.col(source.at(name)).isNull()) for name in masked)).collect()[0]
    for name, missing in zip(masked, counts, strict=True):
        if missing:
            raise MissingValueError(
                f"{missing:,} of {source.records:,} values are missing",
                column=name,
                remedy=Advice("fill or drop them, or give {} to leave them as they are", missing="keep"),
            )


def _in_blocks(method: Method) -> bool:
    """Return whether a method does in blocks what it does with all records: form groups and work inside them."""
    grouped = isinstance(method, Microaggregate) or (isinstance(method, RankSwap) and method.strict)
    return grouped and method.person is None and not method.sensitive  # type: ignore[attr-defined]


def _columns(method: Method, data: DataFrame, meanings: Any) -> tuple[list[str], list[str], list[str]]:
    """Return the masked columns, others that the method reads, and those that are no part of the result."""
    names = list(data.columns)
    if isinstance(method, DataSwap):
        masked = list(meanings) if isinstance(meanings, Mapping) else column_names(meanings, names)
        told = [name for of in ("equal", "unequal") for name in column_names(getattr(method, of), names, of)]
        return masked, told, []
    if not isinstance(meanings, Mapping) or not meanings:
        raise ParameterError("give a mapping from column names to meanings", parameter="meanings")
    person = getattr(method, "person", None)
    left_out = [] if person is None else [person]
    return list(meanings), [*left_out, *(getattr(method, "sensitive", None) or ())], left_out


def _by_driver(
    method: Method,
    source: Source,
    meanings: Mapping[str, Meaning],
    masked: Sequence[str],
    others: Sequence[str],
    left_out: Sequence[str],
    told: Notes,
    seed: int | None,
    progress: Progress,
) -> Staged:
    """Run the method on all tuples on the driver, and give every record of a tuple one of its slots."""
    columns = len(source.inside)
    remedy = "give plan='blocks'" if _in_blocks(method) else "give the driver more memory, or mask fewer columns"
    require(
        source.records * (_RECORD + _CELL * columns),
        f"a plan for {source.records:,} records of {columns:,} columns on the driver",
        remedy,
    )
    coded = source.coded()
    counted = coded.counted(whole=True)
    if counted.records != source.records:
        raise plan.PlanError(plan.CHANGED)
    # Other kept columns, which the owner may accept, are not there; they were judged on Spark.
    here = replace(method, accept=[name for name in method.accept if name in source.inside])  # type: ignore[attr-defined, call-arg]
    result: Result = here.apply(counted.table(), meanings, seed, progress)  # type: ignore[attr-defined]
    secret = result.owners("the plan")
    after = [secret.comparison.changes[name].after.column for name in masked]
    slots = plan.slots_of(after, secret.groups, counted.records)
    grouped = secret.groups is not None
    key = draws.new_key(seed)
    values = {}
    for name, column in zip(masked, after, strict=True):
        kind = result.data.schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        values[source.at(name)] = pa.array(list(column.categories), type=kind)
    summary, params = dict(result.summary), {**result.params, **method.params(), "engine": "spark", "plan": "driver"}
    with telling(source.data) as tell:
        made, known = _placed(coded, source.fields, counted, masked, values, slots, key, tell)
        if grouped:
            with waiting(made):
                constant = figures.constant(source, made, others)
            sizing = summary["groups"]
            summary = {**summary, "groups": {**sizing, "constant": {**sizing["constant"], **constant}}}
        data = source.released(made, masked, _parts(made, source.at(masked[0]), values, slots), left_out)
    summary["notes"] = [*told.public, *summary.get("notes", ())]
    result = replace(result, method=method, data=data, summary=summary, params=params)
    return Staged(result, made if grouped else None, [known])


def _placed(
    source: Coded,
    fields: Sequence[T.StructField],
    counted: plan.Counted,
    masked: Sequence[str],
    values: Mapping[str, pa.Array],
    slots: Any,
    key: bytes,
    tell: Callable[[Any], Broadcast[Any]],
) -> tuple[DataFrame, Broadcast[Any]]:
    """Send each block its share of the plan, and give its slots to its records; ``values`` are those after masking."""
    session = source.data.sparkSession
    number = max(1, math.ceil(counted.records / BLOCK_RECORDS))
    sizes = np.bincount(plan.blocks_of(counted.places, number), counted.counts, number)
    large = np.flatnonzero(sizes > 2 * BLOCK_RECORDS).tolist()
    parts = math.ceil(sizes.max() / BLOCK_RECORDS)
    sums = np.zeros(number, dtype=np.int64)
    np.add.at(sums, plan.blocks_of(counted.places, number), counted.sums)  # type: ignore[arg-type]
    rows_of = dict(enumerate(sums.tolist()))
    split = _split(source, counted, number, large, parts, rows_of) if large else None
    shares = plan.shares(counted, slots, number, split, key)
    ids = pa.array(list(shares), pa.int32())
    each = [share.to_bytes() for share in shares.values()]
    total = pa.array([rows_of[block] for block in shares], pa.int64())
    shipped = session.createDataFrame(pa.table({BLOCK: ids, "share": pa.array(each, pa.binary()), SUM: total}))
    before = {source.at(name): values for name, values in source.known.items()}
    schema = []
    for here, field in zip(source.columns, fields, strict=True):
        kept_type = here not in values or values[here].type == before[here].type
        schema.append(T.StructField(here, field.dataType if kept_type else from_arrow_type(values[here].type), True))
    schema.append(T.StructField(GROUP, T.LongType(), True))
    known = tell((before, values))
    place = tasks.placing(
        source.columns, source.within, [source.at(name) for name in masked], known,
        (ORDER, OTHER, SUM, BLOCK, GROUP), key,
    )  # fmt: skip
    rows = source.with_blocks(number, large, parts)
    return rows.groupBy(BLOCK).cogroup(shipped.groupBy(BLOCK)).applyInArrow(place, T.StructType(schema)), known


def _parts(made: DataFrame, first: str, values: Mapping[str, pa.Array], slots: Any) -> Parts:
    """Cut the parts of the release by the values that its first masked column has, which the driver knows."""
    every = values[first]
    counts = np.bincount(slots[:, 0], minlength=len(every) + 1)
    keys = pa.concat_arrays([every, pa.nulls(1, every.type)])
    order = pc.sort_indices(keys, null_placement="at_start")
    keys, counts = keys.take(order), counts[order.to_numpy()]
    # Two means of microaggregation may be the same number of 32 bits; a key that stood twice would double its rows.
    new = pc.fill_null(pc.not_equal(keys[1:], keys[:-1]), True).to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(np.concatenate(([True], new)))
    return Parts.planned(made, F.col(first), keys.take(pa.array(starts)), np.add.reduceat(counts, starts))


def _split(
    source: Coded, counted: plan.Counted, number: int, large: Sequence[int], parts: int, sums: dict[int, int]
) -> dict[int, tuple[Any, Any, Any]]:
    """Count the tuples of large blocks in each of their parts, and put the sums of the parts in place of theirs."""
    rows = source.with_blocks(number, large, parts)
    chosen = rows.filter(F.pmod(F.col(BLOCK), F.lit(number)).isin(list(large)))
    counting = chosen.groupBy(*source.within, BLOCK).agg(F.count(F.lit(1)).alias(COUNT), summed())
    found = counting.toArrow()
    known = zip(source.within, counted.categories, strict=True)
    codes = np.column_stack([plan.codes_of(found[name], len(values)) for name, values in known])
    block, counts = found[BLOCK].to_numpy().astype(np.int64), found[COUNT].to_numpy().astype(np.int64)
    home, part = block % number, block // number
    whole = {each: sums.pop(each) for each in large}
    for each, total in zip(block.tolist(), found[SUM].to_pylist(), strict=True):
        sums[each] = sums.get(each, 0) + total
    if any(whole[each] != sum(sums.get(each + number * i, 0) for i in range(parts)) for each in large):
        raise plan.PlanError(plan.CHANGED)
    return {each: (codes[home == each], part[home == each], counts[home == each]) for each in large}


def rank_swap(
    frame: DataFrame,
    meanings: Mapping[str, Meaning],
    k: int | None = None,
    *,
    plan: Plan | None = None,
    seed: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Result:
    """Swap values of a Spark data frame; options are those of ``nominym.rank_swap``.

    ``plan="driver"`` has the law of the method on one machine; ``plan="blocks"``, for strict swapping of more records
    than a driver can plan, forms groups inside blocks of near records: the guarantee is the same, groups are a little
    wider. By default the number of records decides. SRS-3 (``method="records"``) is another method in blocks, since
    candidates come from the same block; it is used only if asked for, and is then called "records in blocks".
    """
    return mask(RankSwap(k, **options), frame, meanings, plan=plan, seed=seed, progress=progress)


def microaggregate(
    frame: DataFrame,
    meanings: Mapping[str, Meaning],
    k: int | None = None,
    *,
    plan: Plan | None = None,
    seed: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Result:
    """Publish the same masked values for all records of a group; options are those of ``nominym.microaggregate``.

    ``plan`` is as in ``rank_swap``.
    """
    return mask(Microaggregate(k, **options), frame, meanings, plan=plan, seed=seed, progress=progress)


def data_swap(
    frame: DataFrame,
    columns: Any,
    rate: float = 0.05,
    *,
    seed: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Result:
    """Let random pairs of records exchange values; options are those of ``nominym.data_swap``.

    Of the owner's figures, ``compensating`` looks at the columns that take part: swapped, equal and unequal ones.
    """
    return mask(DataSwap(rate, **options), frame, columns, seed=seed, progress=progress)


def add_noise(
    frame: DataFrame,
    meanings: Mapping[str, Meaning],
    alpha: float | None = None,
    *,
    seed: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Result:
    """Replace values by concepts at a randomly drawn distance; options are those of ``nominym.add_noise``."""
    return mask(Noise(alpha, **options), frame, meanings, seed=seed, progress=progress)
