"""Measuring on Spark: joint counts where the records are, the exact formulas on the driver."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import distortion as one_machine
from nominym import stats as semantic
from nominym.control import Progress
from nominym.error import ParameterError
from nominym.meaning import Meaning, Measure
from nominym.spark.source import Source
from nominym.table import column_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nominym.method import Result


def stats(
    frame: DataFrame,
    meanings: Mapping[str, Meaning],
    *,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[str, object] | None = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Return semantic means and variances of columns, and the distance correlations of all pairs of them.

    As ``nominym.stats`` has them on one machine: ``attributes`` by column with ``mean`` and ``variance``, and
    ``correlations``, a pandas frame with a row for each pair. Records in which a column is missing are left out of its
    mean and variance, those in which any is missing out of correlations.
    """
    table = Source.of(frame, list(meanings)).coded().counted().table()
    figures = {}
    for name, meaning in meanings.items():
        how: Any = {"measure": measure, "root": (roots or {}).get(name), "progress": progress}
        values = table.values(name)
        figures[name] = {
            "mean": semantic.semantic_mean(values, meaning, **how),
            "variance": semantic.semantic_variance(values, meaning, **how),
        }
    found = semantic.covariance_matrix(table.data, meanings, roots=roots, measure=measure, progress=progress)
    matrix = np.asarray(found, dtype=np.float64)
    spread = np.sqrt(np.outer(matrix.diagonal(), matrix.diagonal()))
    related = np.divide(matrix, spread, out=np.zeros_like(matrix), where=spread > 0)
    names = list(meanings)
    pairs = [(x, y, float(related[names.index(x), names.index(y)])) for x, y in combinations(names, 2)]
    return {
        "records": len(table),
        "attributes": figures,
        "correlations": pd.DataFrame(pairs, columns=["x", "y", "distance_correlation"]),
    }


def distortion(before: DataFrame, after: DataFrame, columns: Any = None, *, progress: Progress = None) -> pd.DataFrame:
    """Return what became of joint distributions: ``nominym.distortion.table`` of two Spark data frames."""
    names = list(before.columns) if columns is None else column_names(columns, list(before.columns))
    old, new = (
        Source.of(frame, names, [name for name in frame.columns if name not in names]).coded().counted().table()
        for frame in (before, after)
    )
    return one_machine.table(old, new, names, progress=progress)


def linkage(result: Result, known: Any = None, **options: Any) -> Any:
    """Attack a release that was planned on the driver; options are those of ``nominym.risk.linkage``. Owner only.

    The adversary knows masked columns, as the guarantee has it. Kept columns never come to the driver: to attack with
    them known, audit a sample of the persons on one machine.
    """
    if result.secret is None:
        raise ParameterError(
            "the release was made in blocks, of which the driver has no original; mask a part of the records with "
            "plan='driver' to attack it"
        )
    return result.linkage(known, **options)
