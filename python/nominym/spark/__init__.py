"""The methods on Apache Spark, for tables beyond one machine: a Spark data frame in, a Spark data frame out.

It needs the extra ``spark`` (PySpark 4 and Java 17). docs/spark.md explains what is exact, what is done in blocks, and
what keeps the guarantee when tasks fail.
"""

from nominym.error import MissingExtraError

try:
    import pyspark  # noqa: F401
except ImportError:
    raise MissingExtraError("Spark needs PySpark; install it with: pip install 'nominym[spark]'") from None

from nominym.spark.measure import distortion, linkage, stats
from nominym.spark.methods import Plan, add_noise, data_swap, mask, microaggregate, rank_swap
from nominym.spark.plan import PlanError
from nominym.spark.release import check_options, publish
from nominym.spark.sets import Where, recode

__all__ = [
    "Plan",
    "PlanError",
    "Where",
    "add_noise",
    "check_options",
    "data_swap",
    "distortion",
    "linkage",
    "mask",
    "microaggregate",
    "publish",
    "rank_swap",
    "recode",
    "stats",
]
