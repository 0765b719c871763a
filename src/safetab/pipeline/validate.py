"""The checks of a run without the run: `safetab validate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from safetab.dialects.configuration import require_not_swapped
from safetab.dialects.own_records import paths_read
from safetab.engines.contract import CountingEngine
from safetab.foundation.findings import Finding, FindingsOf, require_none
from safetab.foundation.progress import NoProgress, Progress
from safetab.pipeline.guards import guarded, log_passed
from safetab.pipeline.inputs import checked_engine, required_inputs
from safetab.pipeline.options import RunOptions, refused_log, refused_options
from safetab.planning.losses import no_protection, privacy_warnings
from safetab.planning.run_plan import RunPlan


def validate_files(
    parameters: Path, data: Path, options: RunOptions | None = None, progress: Progress | None = None
) -> tuple[Finding, ...]:
    """Check all inputs, every record included, and return the warnings.

    Raises InvalidInput, with every finding, if something is wrong. The confidential log, if one is
    asked for, also says whether any record is in a group with a published total.
    """
    options = options or RunOptions()
    progress = progress or NoProgress()
    require_not_swapped(parameters, data)
    refused = refused_options(data, options)
    if options.confidential_log is not None:
        refused += refused_log(options.confidential_log, (parameters, *paths_read(data)))
    require_none(refused)
    with guarded(options, options.confidential_log) as (log, backend):
        checked = required_inputs(parameters, data, options, progress, backend)
        plan = checked.require().plan
        with checked_engine(checked, backend, progress) as (found, engine):
            privacy = FindingsOf(plan.config.spelling.file)
            unprotected = no_protection(plan.unprotected_levels)
            if unprotected is not None:  # people are synthetic: for others this is an error
                privacy.warning("privacy budgets", unprotected)
            for sentence in privacy_warnings(plan):
                privacy.warning("", sentence)
            warnings = (*found, *privacy.findings)
            if log:
                log_passed(log, warnings)
                for remark in _passes_without_selected_records(plan, engine):
                    log.write(f"warning: {remark}")
            return warnings


def _passes_without_selected_records(plan: RunPlan, engine: CountingEngine) -> Iterator[str]:
    """A sentence for each pass without a record in any group that has a published total.

    It depends on the records without noise, so it may go to the confidential log and nowhere else:
    it decides neither what a command says nor how it ends. Yields nothing if no published totals
    choose groups. The records must have been checked. Proof: docs/privacy.md#nobody.
    """
    if all(level.selected is None for level in plan.levels):
        return
    engine.prepare()
    for each in plan.config.passes:
        levels = [level for level in plan.levels_of(each) if level.design.stages]
        selected = [(level, level.selected.indices) for level in levels if level.selected is not None]
        # Levels without selected groups need no count.
        if not any(np.isin(groups, engine.totals(level).indices).any() for level, groups in selected if len(groups)):
            yield (
                f"none of the {plan.config.product.record.nouns} of the {each.name.upper()} pass is in any group"
                " with a published total. These are probably totals of other people."
            )
