"""Whether the executors have a Python that can run the compiled loops: asked of them before any record is read."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from safetab.engines.spark.executor_tasks import versions
from safetab.engines.spark.session import SPARK_ERRORS
from safetab.foundation.version import VERSION


def executors_have_python(session: SparkSession, log: Callable[[str], None]) -> bool:
    """A task for each core that Spark knows of imports what is needed, and says of which version it is."""
    cores = session.sparkContext.defaultParallelism
    try:
        found = session.range(0, cores, 1, cores).mapInArrow(versions, "version string").toArrow()
    except SPARK_ERRORS as error:
        log(f"Spark, asked for Python: {error}")
        return False
    return set(found.column(0).to_pylist()) == {VERSION}
