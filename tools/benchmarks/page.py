"""docs/benchmarks.md has two writers: `growth`, and `spark` for its last section."""

from __future__ import annotations

from tools import PROJECT

PAGE = PROJECT / "docs" / "benchmarks.md"
SPARK_HEADING = "## On Spark"


def without_spark(text: str) -> str:
    return text.partition(SPARK_HEADING)[0]


def spark_section(text: str) -> str:
    """With its heading; nothing if there is none."""
    _, heading, section = text.partition(SPARK_HEADING)
    return heading + section
