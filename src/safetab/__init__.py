"""Differentially private tables of detailed race and ethnicity groups: SafeTab-P.

`import safetab` stays light: what a function needs is imported when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from safetab.planning.run_plan import RunPlan

__version__ = "0.1.0"

__all__ = ["__version__", "plan"]


def plan(parameters: str | Path, data: str | Path) -> RunPlan:
    """What a run would measure, with how much noise, at what cost; opens no person file.

    Raises `safetab.findings.InvalidInput`, with every finding in it, if a public file is at fault.
    """
    from safetab.planning.planner import plan_of_files  # noqa: PLC0415

    return plan_of_files(parameters, data).require()
