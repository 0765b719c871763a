"""Starts and stops a Spark session."""

from __future__ import annotations

import tempfile
from pathlib import Path

from safetab.counting.contract import EngineSettings
from safetab.counting.spark.options import SparkOptions
from safetab.counting.spark.session import spark_session

if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        spark_session(SparkOptions(), EngineSettings(Path(folder)), print),
    ):
        pass
