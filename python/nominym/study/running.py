"""Running the cells of a study: a few at a time, each stored as it is done.

Cells run in threads, not in processes: the core lets go of the interpreter while it works, so threads fill the cores
where a method has serial parts; data sets are in memory once and coded once; and own functions need not be pickled.
Everything is stored by the calling thread. A cell has a seed of its own, so results depend on none of this.
"""

from __future__ import annotations

import io
import json
import math
import os
import queue
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pandas as pd
import pyarrow as pa

from nominym.atomic import write_atomic
from nominym.control import Progress, steps
from nominym.error import PrivacyWarning
from nominym.files import StrPath, as_path
from nominym.study.measures import Measured, Outcome, figures
from nominym.study.plan import Cell

Row = dict[str, Any]
"""A figure: ``measure``, ``value``, ``seconds``, ``error``, and ``of``, the key of what was measured."""

_MOST_WORKERS = 8
# After Ctrl-C, work that reports its progress ends by itself; other work is not waited for.
_PATIENCE = 0.6


class Store:
    """A folder with a Parquet file for each cell, named by its key."""

    def __init__(self, path: StrPath | None) -> None:
        """Make the folder."""
        self.folder = None if path is None else as_path(path)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def read(self, key: str) -> list[Row]:
        """Return the figures of a cell, none where it is not there; failures are not taken for figures."""
        if self.folder is None:
            return []
        try:
            frame = pd.read_parquet(self.folder / f"{key}.parquet")
        except (OSError, pa.ArrowException):  # not there, or damaged: it is made again
            return []
        kept = frame.loc[frame["error"] == "", ["measure", "value", "seconds", "error", "of"]]
        return [{str(name): value for name, value in row.items()} for row in kept.to_dict("records")]

    def write(self, key: str, cell: Cell, rows: list[Row]) -> None:
        """Store a cell, all or nothing."""
        if self.folder is None:
            return
        said = {"data": cell.source.name, "method": cell.treatment.name, "seed": cell.seed}
        frame = pd.DataFrame([{**said, "options": json.dumps(cell.treatment.options), **row} for row in rows])
        content = io.BytesIO()
        frame.to_parquet(content, index=False)
        with write_atomic(self.folder / f"{key}.parquet") as file:
            file.write(content.getvalue())


def measured(cell: Cell, measures: list[Measured], store: Store, progress: Progress) -> tuple[str, list[Row], bool]:
    """Return the key and the figures of a cell, and whether they are new: measured now, not found in the store.

    What fails is told in place of a figure.
    """
    try:
        if not cell.fits:
            return "", [], False
        ready, key = cell.source.ready(), cell.key
    except Exception as error:
        return "", [_failed(each, error) for each in measures], False
    asked = [each for each in measures if each.of is None or each.of == ready.kind]
    stored = store.read(key)
    wanted = {each.key: each for each in asked}
    rows = [row for row in stored if row["of"] in wanted]
    missing = [each for of, each in wanted.items() if all(row["of"] != of for row in rows)]
    if missing:
        others = [row for row in stored if row["of"] not in wanted]
        rows += [*others, *_made(cell, missing, progress)]
    order = {of: place for place, of in enumerate(wanted)}
    rows.sort(key=lambda row: order.get(row["of"], len(order)))
    return key, rows, bool(missing)


def _made(cell: Cell, measures: list[Measured], progress: Progress) -> Iterator[Row]:
    ready = cell.source.ready()
    began = time.perf_counter()
    try:
        returned = cell.treatment.apply(ready.data, ready.table, ready.meanings, cell.seed, progress)
    except Exception as error:
        yield from (_failed(each, error) for each in measures)
        return
    seconds = time.perf_counter() - began
    outcome = Outcome(ready.data, ready.meanings, returned, cell.seed, ready.table, progress)
    for each in measures:
        try:
            found = figures(each, outcome)
        except Exception as error:
            yield {**_failed(each, error), "seconds": seconds}
            continue
        # What was measured and is no number, as the correlation of one column, is remembered too.
        for name, value in (found or {"": math.nan}).items():
            yield {"measure": name, "value": value, "seconds": seconds, "error": "", "of": each.key}


def _failed(measure: Measured, error: Exception) -> Row:
    said = f"{type(error).__name__}: {error}"
    return {"measure": measure.name, "value": math.nan, "seconds": math.nan, "error": said, "of": measure.key}


# ---- several at a time


class _Stopped(BaseException):
    """Ends the work of a thread. No Exception, for it is no failure of a cell."""


def workers_for(workers: int | None, cells: int) -> int:
    """Return how many cells run at a time: by default one for each core, up to eight."""
    return max(1, min(workers or min(os.cpu_count() or 1, _MOST_WORKERS), cells))


def run(
    cells: list[Cell], measures: list[Measured], store: Store, workers: int, progress: Progress
) -> dict[int, list[Row]]:
    """Run cells, and return the figures of each by its place."""
    found: dict[int, list[Row]] = {}
    with steps(progress, "study", len(cells)) as report, warnings.catch_warnings():
        # Nothing of this is released.
        warnings.simplefilter("ignore", PrivacyWarning)
        report(0)
        works = _alone(cells, measures, store) if workers == 1 else _together(cells, measures, store, workers)
        for place, key, rows, new in works:
            if new:
                store.write(key, cells[place], rows)
            wanted = {each.key for each in measures}
            found[place] = [row for row in rows if row["of"] in wanted and row["measure"]]
            report(len(found))
    return found


_Done = tuple[int, str, list[Row], bool]


def _alone(cells: list[Cell], measures: list[Measured], store: Store) -> Iterator[_Done]:
    for place, cell in enumerate(cells):
        yield (place, *measured(cell, measures, store, None))
        cell.source.done()


def _together(cells: list[Cell], measures: list[Measured], store: Store, workers: int) -> Iterator[_Done]:
    """Run cells in threads, and give what is done to the calling thread."""
    tasks, lock = iter(enumerate(cells)), threading.Lock()
    ended: queue.SimpleQueue[_Done | BaseException] = queue.SimpleQueue()
    stop = threading.Event()

    def watch(done: int, total: int) -> None:
        if stop.is_set():
            raise _Stopped

    def work() -> None:
        while not stop.is_set():
            with lock:
                place, cell = next(tasks, (-1, None))
            if cell is None:
                return
            try:
                ended.put((place, *measured(cell, measures, store, watch)))
            except _Stopped:
                return
            except BaseException as error:  # a panic of the core is no Exception
                ended.put(error)
                return
            cell.source.done()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for _ in cells:
            done = ended.get()
            if isinstance(done, BaseException):
                raise done
            yield done
    finally:
        stop.set()
        until = time.monotonic() + _PATIENCE
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0))
        # What was done before the end is kept.
        with suppress(queue.Empty):
            while True:
                done = ended.get_nowait()
                if not isinstance(done, BaseException) and done[3]:
                    store.write(done[1], cells[done[0]], done[2])
