"""The daemon of Spark's Python workers, with what tasks import: a worker is forked from it, and has that at once."""

from pyspark import daemon

import nominym.spark  # noqa: F401

if __name__ == "__main__":
    daemon.manager()
