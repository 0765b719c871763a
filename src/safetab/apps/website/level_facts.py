"""The pages' facts of levels: noise, selected totals, and reasons for absent groups."""

from __future__ import annotations

from fractions import Fraction

from safetab.apps.website.level_rows import MeasuredTable
from safetab.core.privacy.calibration import Stage
from safetab.foundation.templates import is_template
from safetab.model.census.area_levels import AreaLevel
from safetab.release.estimates.noise import far_threshold
from safetab.release.estimates.noisy_number import most_if_suppressed, reason_of
from safetab.release.files.documents import ReleaseFacts
from safetab.release.files.group_statuses import SUPPRESSED, absent_status
from safetab.release.files.release_universe import Universe


def noise_of_level(number: int, universe: Universe, confidence: Fraction) -> dict[str, object]:
    """A level's noise, and the totals above which selection no longer changes a difference."""
    level = universe.levels[number].design
    threshold = level.suppression_threshold
    known: dict[str, object] = {}
    for stage, measured in level.stages.items():
        name = _noise_in_pages(measured.noise.mechanism)
        known[stage.name] = [
            name,
            float(measured.noise.parameter),
        ]  # a float only describes published numbers
    if threshold is not None and Stage.STAGE_2 in level.stages:
        known["far"] = [
            far_threshold(level.noise(Stage.STAGE_2), threshold, draws, confidence)
            for draws in (1, 2)
        ]
    return known


def _noise_in_pages(mechanism: str) -> str:
    """The noise as the scripts of pages name it.

    Raises KeyError if none of them computes with it.
    """
    if not is_template(f"shared/noise/{mechanism}.js"):
        raise KeyError(mechanism)
    return mechanism.removeprefix("discrete_")


def is_selected(table: MeasuredTable, universe: Universe) -> bool:
    """Whether a total is shown only because it is above its threshold."""
    level = universe.levels[table.level]
    is_lone = table.shape is level.family.total and table.stage is Stage.STAGE_2
    return is_lone and level.design.suppression_threshold is not None


def absent_at(
    geography: AreaLevel, universe: Universe, facts: ReleaseFacts
) -> dict[str, list[object]]:
    """Why a group that is tabulated may be absent, by the number of its level.

    Each is the status, the reason, and the size above which a group would probably be shown.
    """
    status = absent_status(universe.product, facts.origin)
    absent: dict[str, list[object]] = {}
    for iterations in universe.census.tabulated_group_levels:
        level = universe.level_of(geography, iterations)
        is_suppressed = bool(level.design.stages) and status == SUPPRESSED
        most = most_if_suppressed(level.design, facts.options.confidence) if is_suppressed else None
        absent[str(iterations.number)] = [
            status,
            reason_of(None, level, universe.product, status),
            most,
        ]
    return absent
