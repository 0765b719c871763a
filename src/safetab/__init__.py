"""Differentially private tables of detailed race and ethnicity groups: SafeTab-P.

`import safetab` stays light: what a function needs is imported when it is called.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from safetab.version import VERSION

if TYPE_CHECKING:
    from safetab.pipeline import RunOptions, RunSummary
    from safetab.planning.run_plan import RunPlan

__version__ = VERSION

__all__ = ["__version__", "plan", "run"]


def plan(parameters: str | Path, data: str | Path) -> RunPlan:
    """What a run would measure, with how much noise, at what cost; opens no person file.

    Raises `safetab.findings.InvalidInput`, with every finding in it, if a public file is at fault.
    """
    from safetab.planning.planner import plan_of_files  # noqa: PLC0415

    return plan_of_files(parameters, data).require()


def run(parameters: str | Path, data: str | Path, out: str | Path, options: RunOptions | None = None) -> RunSummary:
    """Validates, tabulates and writes: what the command `safetab run` does.

    Raises `safetab.findings.InvalidInput` if what was given is at fault, `safetab.failures.RunFailed` if the run itself
    failed.
    """
    from safetab.pipeline import run_files  # noqa: PLC0415

    return run_files(Path(parameters), Path(data), Path(out), options)
