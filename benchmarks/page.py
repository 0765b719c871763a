"""docs/benchmarks.md has two writers: `make bench`, and for its last section `make bench-spark`."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SPARK_HEADING = "## On Spark"


def without_spark(text: str) -> str:
    return text.partition(SPARK_HEADING)[0]


def spark_section(text: str) -> str:
    """With its heading; nothing if there is none."""
    _, heading, section = text.partition(SPARK_HEADING)
    return heading + section
