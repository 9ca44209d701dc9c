"""Studies as objects."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym.control import Progress, check_progress, is_whole
from nominym.error import ParameterError
from nominym.itemsets import Itemsets
from nominym.study import drawing, plan, running, summary
from nominym.study.measures import Kind, chosen

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from nominym.files import StrPath

COLUMNS = ("data", "method", "seed", "measure", "value", "seconds", "error")
"""Columns that every result has, besides those of options."""


class Study:
    """Every method on every data set with every seed, measured.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(300, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> study = nym.Study(
    ...     {"discharges": frame},
    ...     {"strict": nym.study.grid(nym.RankSwap, k=[2, 5], accept="secondary"), "noise": nym.Noise(alpha=0.3)},
    ...     masked,
    ...     measures=["rmse", "nearest_row"],
    ...     seeds=range(3),
    ... )
    >>> len(study)
    9
    >>> found = study.run()
    >>> list(found)
    ['data', 'method', 'k', 'alpha', 'seed', 'measure', 'value', 'seconds', 'error']
    >>> print(study.table(rows=["method", "k", "alpha"], columns="measure", values=["rmse", "nearest_row"]))
    | method | k | alpha | rmse | nearest_row |
    ...

    Parameters
    ----------
    data
        Data sets by name. Each is a table of any library, ``Itemsets``, or a pair of such and what goes with them:
        meanings by column, or labels of item sets. A function of the seed draws a data set anew for each seed.
    methods
        Method objects, or functions of data, meanings and a seed that return a table (or item sets) of the same
        records in the same order; a list, or a mapping from names to one or several. Numbers among the options become
        columns of the result, all else is in the name. ``grid`` expands options. ``Recode`` is applied to item sets
        only, the other methods of the library to tables only.
    meanings
        Meanings by column, for all tables; or these by name of the data set.
    measures
        Names of ``MEASURES``, functions of an ``Outcome`` that return a number or several by name, or a mapping from
        names to these. None takes the usual ones.
    seeds
        Whole numbers; a single number n means 0 to n − 1.
    path
        Folder in which every cell is stored as it is done. Another run takes from there what it has, whatever ended the
        run before it. Files are named by a hash of content: data, meanings, method, seed and nominym itself;
        measures are distinguished by name and version, your own functions by their code.
    """

    def __init__(
        self,
        data: Any,
        methods: Any,
        meanings: Any = None,
        measures: Any = None,
        seeds: Any = range(5),
        *,
        path: StrPath | None = None,
    ) -> None:
        """Check what is asked for, before any work is done."""
        self.seeds = plan.checked_seeds(seeds)
        self._methods = plan.treatments(methods)
        self._data, self._meanings, self._path = data, meanings, path
        held = [plan.parted("", each.given)[0] for each in self._sources() if each.seed is None]
        kinds: set[Kind] = {"sets" if isinstance(each, Itemsets) else "table" for each in held}
        # What a function will draw is not known.
        self._measures = chosen(measures, kinds if len(held) == len(self._sources()) else {"table", "sets"})
        taken = next((name for each in self._methods for name in each.options if name in COLUMNS), None)
        if taken is not None:
            raise ParameterError(
                f"an option cannot be called {taken!r}, as a column of the result", parameter="methods"
            )
        self.seconds: float | None = None
        """Time that the last run took."""
        self._results: pd.DataFrame | None = None

    def _sources(self) -> list[plan.Source]:
        return plan.sources(self._data, self._meanings, self.seeds)

    def __len__(self) -> int:
        """Count the cells."""
        drawn = [1 if each.seed is not None else len(self.seeds) for each in self._sources()]
        return sum(drawn) * len(self._methods)

    def __repr__(self) -> str:
        """Return the size."""
        return f"<Study: {len(self):,} cells>"

    def run(self, progress: Progress = None, *, workers: int | None = None) -> pd.DataFrame:
        """Run what was not run, and return all figures.

        Ctrl-C ends a run within a second; what is done is kept where there is a ``path``.

        Parameters
        ----------
        progress
            True for a bar, or a callable of the cells done and the cells in all.
        workers
            Cells that run at a time; by default one for each core, up to eight. Figures do not depend on it, but
            ``seconds`` do: to compare times give 1.

        Returns
        -------
        pandas.DataFrame
            A row for each figure: ``data``, ``method``, a column for each number among the options, ``seed``,
            ``measure``, ``value``; ``seconds`` that the method took; and ``error``, which says what failed, empty where
            nothing did. ``study.results`` is the same table.
        """
        check_progress(progress)
        if workers is not None and not (is_whole(workers) and workers >= 1):
            raise ParameterError("give a whole number, 1 or more, or None", parameter="workers", value=workers)
        began = time.perf_counter()
        cells = list(plan.cells(self._sources(), self._methods, self.seeds))
        store = running.Store(self._path)
        found = running.run(cells, self._measures, store, running.workers_for(workers, len(cells)), progress)
        options = list(dict.fromkeys(name for each in self._methods for name in each.options))
        rows = []
        for place, cell in enumerate(cells):
            said: dict[str, Any] = {"data": cell.source.name, "method": cell.treatment.name}
            numbers = {name: cell.treatment.options.get(name) for name in options}
            said = {**said, **numbers, "seed": cell.seed}
            rows += [{**said, **{name: row[name] for name in COLUMNS[3:]}} for row in found[place]]
        frame = pd.DataFrame(rows, columns=[*COLUMNS[:2], *options, *COLUMNS[2:]])
        for name in options:
            frame[name] = _numbers(frame[name])
        self._results, self.seconds = frame, time.perf_counter() - began
        return frame

    @property
    def results(self) -> pd.DataFrame:
        """Return the results of the last run."""
        if self._results is None:
            raise ParameterError("the study was not run", remedy="call run() before")
        return self._results

    def means(self, by: Any, *, level: float = 0.95) -> pd.DataFrame:
        """Return means over the seeds with confidence intervals; see ``nominym.study.means``."""
        return summary.means(self.results, by, level=level)

    def table(self, rows: Any, columns: Any, values: Any = None, **how: Any) -> str:
        """Write means with confidence intervals as a table; see ``nominym.study.table``."""
        return summary.table(self.results, rows, columns, values, **how)

    def figure(self, x: str, y: str, by: Any = "method", **how: Any) -> go.Figure:
        """Draw means with confidence intervals; see ``nominym.study.figure``."""
        return drawing.figure(self.results, x, y, by, **how)


def _numbers(column: pd.Series) -> pd.Series:
    """Keep whole numbers whole, also where other methods have none."""
    held = column.dropna()
    if all(isinstance(value, int) for value in held):
        return column.astype("int64" if len(held) == len(column) else "Int64")
    return column.astype("float64")
