"""What can be chosen about Spark, and what of it is refused; importing this loads no Spark."""

from __future__ import annotations

import importlib.util
import os
import re
import socket
from dataclasses import dataclass

from safetab.foundation.findings import FindingsOf
from safetab.foundation.version import VERSION

TABLE_PREFIX = "table:"
BY_LOOPS = f"Spark: the executors have Python with safetab {VERSION}. They count with its compiled loops."
BY_EXPRESSIONS = f"Spark: no Python with safetab {VERSION} and pandas answers. The executors use Spark's expressions."

_SETTING = re.compile(r"spark\.[A-Za-z0-9._-]+=.*")
_STANDALONE = re.compile(r"spark://([^/]+)")
_SECONDS_TO_ANSWER = 5


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """`persons` and `geography` are paths as Spark reads them, or `table:NAME`; None means that DATA holds them."""

    master: str | None = None
    settings: tuple[str, ...] = ()
    persons: str | None = None
    geography: str | None = None

    @property
    def setting_values(self) -> dict[str, str]:
        """Once `check_settings` found nothing."""
        return {name: value for name, _, value in (setting.partition("=") for setting in self.settings)}


def is_submitted() -> bool:
    """Whether spark-submit started this process: then the master and the virtual machine are there already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def check_spark_options(options: SparkOptions, findings: FindingsOf, *, has_test_key: bool) -> None:
    """What can be known before a virtual machine is started."""
    for setting in options.settings:
        if not _SETTING.fullmatch(setting):
            findings.error("--spark-conf", f'"{setting}" must be NAME=VALUE, with a name that begins with "spark.".')
    if has_test_key and options.persons is not None:
        findings.error(
            "--test-key",
            "refused with --persons: the file that says that people do not exist must lie beside them, in DATA.",
        )
    if importlib.util.find_spec("pyspark") is None:
        findings.error("--engine", "the engine \"spark\" needs PySpark 4. Install it: pip install 'safetab[spark]'.")
    standalone = _STANDALONE.fullmatch(options.master or "")
    if standalone and not any(_answers(address) for address in standalone[1].split(",")):
        findings.error("--spark-master", f"nothing answers at {options.master}. Is the master running?")


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS_TO_ANSWER):
            return True
    except (OSError, ValueError, OverflowError):
        return False
