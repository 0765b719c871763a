"""The workbook: the explorer's numbers for those who want a spreadsheet, with live formulas."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from xlsxwriter import Workbook

from safetab.explorer.workbook.accuracy import write_accuracy
from safetab.explorer.workbook.config_sheet import write_config
from safetab.explorer.workbook.curves import first_choice, write_curves
from safetab.explorer.workbook.exact import write_exact
from safetab.explorer.workbook.inputs import write_inputs
from safetab.explorer.workbook.results import write_results
from safetab.explorer.workbook.sheets import Styles
from safetab.foundation.new_file import Write, write_new_file
from safetab.privacy.stages import Stage
from safetab.tuning.presets import PRODUCTION, presets
from safetab.tuning.tuning import Tuning

_OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}


def write_workbook(
    tuning: Tuning, path: Path, *, loaded_config: str | None = None, overwrite: bool | None = None
) -> None:
    """An xlsx file, whole or not at all. Raises InvalidInput if that can't be done.

    `overwrite` is what the user said; None if the command doesn't ask.
    """
    write_new_file(path, workbook_writer(tuning, loaded_config), overwrite=overwrite)


def workbook_writer(tuning: Tuning, loaded_config: str | None) -> Write:
    """Writes the workbook where it is told to.

    `loaded_config` is the text that the configuration was read from; None if it is that of 2020 production, changed or
    not.
    """
    base = loaded_config or presets()[PRODUCTION]
    return lambda path: _write(tuning, path, base)


def _write(tuning: Tuning, path: Path, base: str) -> None:
    made = BytesIO()
    workbook = Workbook(made, _OPTIONS)
    styles = Styles(workbook)
    inputs = write_inputs(workbook, tuning, styles)
    results = write_results(workbook, inputs, styles)
    write_config(workbook, inputs, base, styles)
    write_curves(workbook, inputs, results, styles)
    curve_of = tuning.levels.get(results[first_choice(results)].inputs.level)
    if curve_of is not None and (Stage.STAGE_2 not in curve_of.design.stages or not curve_of.design.can_be_drawn):
        curve_of = None
    write_exact(workbook, tuning, curve_of, styles)
    write_accuracy(workbook, styles)
    workbook.close()
    path.write_bytes(made.getvalue())
