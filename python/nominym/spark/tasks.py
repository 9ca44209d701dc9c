"""What runs where the records are: Arrow tables in, Arrow tables out.

An exception that leaves a task reaches the event log and the messages of Spark. So it says what went wrong, never with
which value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from nominym.spark import plan


@contextmanager
def without_values() -> Iterator[None]:
    """Let no value of the data leave by an exception."""
    try:
        yield
    except plan.PlanError as fault:
        told = str(fault)
    except Exception as fault:
        told = f"a task of nominym failed ({type(fault).__name__}); no more is said, since messages may quote the data"
    else:
        return
    # Outside of the handler, so that what was raised first is not shown either.
    raise plan.PlanError(told)


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
    names: tuple[str, str, str, str],
    key: bytes,
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """Make the function that gives the slots of a block to its records.

    ``known`` broadcasts the categories of the columns ``within`` the tuples, and those of the ``masked`` ones after
    masking. ``names`` are those of the two hashes, of the block and of the group.
    """
    first, second, block, group = names

    def place(left: pa.Table, right: pa.Table) -> pa.Table:
        with without_values():
            if right.num_rows != 1:
                raise plan.PlanError(plan.CHANGED)
            before, after = known.value
            share = plan.Share.from_bytes(right["share"][0].as_py())
            codes = [plan.coded_values(left[name], before[name].cast(left.field(name).type)) for name in within]
            hashes = [left[name].to_numpy() for name in (second, first)]
            stacked = np.column_stack(codes)
            order, slots = plan.placed(stacked, hashes, share, key, right[block][0].as_py())
            rows = left.select([name for name in columns if name not in masked]).take(pa.array(order))
            new = {name: plan.taken(after[name], slots[:, i]) for i, name in enumerate(masked)}
            made = [new[name] if name in new else rows[name] for name in columns]
            groups = pa.array(slots[:, -1].astype(np.int64))
            return pa.table([*made, groups], names=[*columns, group])

    return place
