"""Figures of masked records that are computed where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from nominym.spark.source import COUNT, GROUP, Source, content_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def constant(source: Source, made: DataFrame, others: Sequence[str]) -> dict[str, dict[str, int]]:
    """Count the groups in which a kept column has one value only, and their records."""
    if not others:
        return {}
    kinds = dict(zip(source.names, (field.dataType for field in source.fields), strict=True))
    hashes = [F.xxhash64(*content_of(F.col(source.at(name)), kinds[name])) for name in others]
    spread = [agg for i, h in enumerate(hashes) for agg in (F.min(h).alias(f"a{i}"), F.max(h).alias(f"b{i}"))]
    groups = made.groupBy(GROUP).agg(F.count(F.lit(1)).alias(COUNT), *spread)
    same = [F.col(f"a{i}") == F.col(f"b{i}") for i in range(len(hashes))]
    sums = [agg for each in same for agg in (F.count_if(each), F.sum(F.when(each, F.col(COUNT)).otherwise(0)))]
    row = groups.agg(*sums).collect()[0]
    return {name: {"groups": int(row[2 * i]), "records": int(row[2 * i + 1])} for i, name in enumerate(others)}
