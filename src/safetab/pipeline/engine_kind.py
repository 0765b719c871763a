"""The engines by their names; importing this loads none."""

from __future__ import annotations

from enum import StrEnum


class EngineKind(StrEnum):
    """What counts the persons."""

    DUCKDB = "duckdb"
    SPARK = "spark"
