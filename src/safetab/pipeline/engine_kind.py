"""The engines by their names; importing this loads none."""

from __future__ import annotations

from enum import StrEnum


class EngineKind(StrEnum):
    """Where persons are counted: in this process, or on Spark."""

    LOCAL = "local"
    SPARK = "spark"

    @classmethod
    def _missing_(cls, value: object) -> EngineKind | None:
        """`local` was called `duckdb` before; that name is still accepted."""
        return cls.LOCAL if value == "duckdb" else None
