"""That every locked package has a wheel for each Python and processor.

Run it as `python -m tools.supply_chain.wheels`; needs uv. Nothing is downloaded or installed.
PySpark is published as source alone and is left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools import PROJECT
from tools.supply_chain.locks import LOCKS, LOWEST

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROCESSORS = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28")
SOURCE_ONLY = "pyspark"


def without_source_only(lock: str) -> str:
    return re.sub(rf"^{SOURCE_ONLY}==(?:.*\\\n)*.*\n", "", lock, flags=re.MULTILINE)


def complaint(lock: str, python: str, processor: str, folder: Path) -> str | None:
    """What uv says if a wheel is missing."""
    pins = folder / lock
    pins.write_text(without_source_only((PROJECT / lock).read_text()))
    command = [
        "uv",
        "pip",
        "install",
        "-q",
        "--dry-run",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--require-hashes",
    ]
    command += [
        "--target",
        str(folder / "nothing"),
        "--python-version",
        python,
        "--python-platform",
        processor,
    ]
    done = subprocess.run([*command, "-r", str(pins)], capture_output=True, text=True, check=False)  # noqa: S603
    return done.stderr if done.returncode else None


def main() -> int:
    missing = 0
    with TemporaryDirectory() as folder:
        for python in PYTHONS:
            for processor in PROCESSORS:
                for lock in (*LOCKS, LOWEST):
                    if words := complaint(lock, python, processor, Path(folder)):
                        missing += 1
                        print(f"{lock}, Python {python}, {processor}: {words}", file=sys.stderr)
    cases = len(PYTHONS) * len(PROCESSORS) * len((*LOCKS, LOWEST))
    print(f"{cases - missing} of {cases} lock files have all their wheels (PySpark aside).")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
