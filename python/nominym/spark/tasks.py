"""What runs where the records are: Arrow tables in, Arrow tables out.

An exception that leaves a task reaches the event log and the messages of Spark. So it says what went wrong, but never
quotes a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from nominym.spark import plan

Made = TypeVar("Made")


def without_values(run: Callable[..., Made], *given: Any) -> Made:
    """Run a part of a task, and let no value of the data leave by an exception."""
    try:
        return run(*given)
    except plan.PlanError as fault:
        told = str(fault)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as fault:  # panics of the core are no Exception
        told = f"a task of nominym failed ({type(fault).__name__}); no more is said, since messages may quote the data"
    # Outside of the handler, so that what was raised first is no context of this, and is shown nowhere.
    raise plan.PlanError(told)


def of_batches(
    run: Callable[[pa.RecordBatch], pa.RecordBatch],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make a task of a function of batches."""

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield without_values(run, batch)

    return each


def use_task_threads() -> None:
    """Use as many threads as Spark gives the task."""
    from pyspark import TaskContext

    from nominym.control import set_threads

    context = TaskContext.get()
    set_threads(1 if context is None else max(int(context.cpus()), 1))


def placing(
    columns: list[str],
    within: list[str],
    masked: list[str],
    known: Any,
    names: tuple[str, str, str, str, str],
    key: bytes,
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """Make the function that gives the slots of a block to its records.

    Columns ``within`` the tuples come as codes; ``known`` broadcasts their categories, and those of the ``masked`` ones
    after masking. ``names`` are those of the two hashes, of the sum of the first, of the block, and of the group.
    """
    first, second, total, block, group = names

    def placed(left: pa.Table, right: pa.Table) -> pa.Table:
        if right.num_rows != 1 or plan.hash_sum(left[first]) != right[total][0].as_py():
            raise plan.PlanError(plan.CHANGED)
        left = plan.in_utc(left)
        before, after = known.value
        number = right[block][0].as_py()
        share = plan.Share.from_bytes(right["share"][0].as_py())
        codes = [plan.codes_of(left[name], len(before[name])) for name in within]
        hashes = [left[name].to_numpy() for name in (second, first)]
        order, slots = plan.placed(np.column_stack(codes), hashes, share, key, number)
        rows = left.select([name for name in columns if name not in within]).take(pa.array(order))
        new = {name: plan.taken(before[name], found[order]) for name, found in zip(within, codes, strict=True)}
        new |= {name: plan.taken(after[name], slots[:, i]) for i, name in enumerate(masked)}
        made = [new[name] if name in new else rows[name] for name in columns]
        groups = pa.array(slots[:, -1].astype(np.int64))
        return pa.table([*made, groups], names=[*columns, group])

    def place(left: pa.Table, right: pa.Table) -> pa.Table:
        return without_values(placed, left, right)

    return place
