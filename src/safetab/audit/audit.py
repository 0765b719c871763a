"""The whole audit: tries to break what docs/privacy.md claims of the installed program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from safetab.audit.loss_bound import LOSS_WORLDS, loss_check
from safetab.audit.neighbour_checks import neighbour_checks
from safetab.audit.noise_checks import noise_checks
from safetab.audit.verdicts import Verdict
from safetab.foundation.progress import NoProgress, Progress

MOST_RUNS = max(world.runs for world in LOSS_WORLDS)


def audit(most_runs: int = MOST_RUNS, progress: Progress | None = None) -> Iterator[Verdict]:
    """Every verdict as it falls; no world of the loss bound is run more often than `most_runs`."""
    progress = progress or NoProgress()
    with tempfile.TemporaryDirectory(prefix="safetab-audit-") as temporary:
        folder = Path(temporary)
        progress.step("Neighbouring worlds", 1)
        yield from neighbour_checks(folder / "neighbours")
        progress.advance()
        progress.step("Noise", 1)
        yield from noise_checks(folder / "noise")
        progress.advance()
        for number, world in enumerate(LOSS_WORLDS):
            runs = min(world.runs, most_runs)
            progress.step(f"Loss, {world.name}", world.steps(runs))
            yield loss_check(world, folder / f"loss-{number}", runs, progress.advance, os.cpu_count() or 1)
