"""The files of one pass, written level by level."""

from __future__ import annotations

from pathlib import Path

from safetab.census.geography_levels import TabulationPass
from safetab.config.run_config import RunConfig
from safetab.outputs.group_columns import GroupColumns
from safetab.outputs.measurement_file import MeasurementFile
from safetab.outputs.tables import TableFile
from safetab.planning.run_plan import LevelPlan
from safetab.tabulation.measurements import Measurements


class PassFiles:
    """The product's tables and the measurements of a pass."""

    def __init__(self, output: Path, tabulation_pass: TabulationPass, config: RunConfig) -> None:
        name = tabulation_pass.value
        self._allow_negative = config.allow_negative_counts
        self._files = {
            f"{layout.folder}/{name}.csv": TableFile(output / layout.folder / f"{name}.csv", layout)
            for layout in config.product.files
        }
        self._measurements = MeasurementFile(output / "measurements" / f"{name}.parquet", config.product)
        self._measurements_name = f"measurements/{name}.parquet"
        self._groups: GroupColumns | None = None
        self._level: LevelPlan | None = None

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each file has; complete once the files are closed."""
        return {name: file.rows for name, file in self._files.items()} | {
            self._measurements_name: self._measurements.rows
        }

    def write(self, measurements: Measurements) -> None:
        if self._groups is None or self._level is not measurements.plan:
            self._groups, self._level = GroupColumns(measurements.plan), measurements.plan
        for file in self._files.values():
            file.write(measurements, self._groups, allow_negative=self._allow_negative)
        self._measurements.write(measurements, self._groups)

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._measurements.close()
