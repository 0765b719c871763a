"""The workbook: the explorer's numbers for those who want a spreadsheet, with live formulas."""

from __future__ import annotations

import tempfile
from pathlib import Path

from xlsxwriter import Workbook
from xlsxwriter.exceptions import FileCreateError

from safetab.explorer.workbook_accuracy import write_accuracy
from safetab.explorer.workbook_curves import first_choice, write_curves
from safetab.explorer.workbook_exact import can_be_drawn, write_exact
from safetab.explorer.workbook_inputs import write_inputs
from safetab.explorer.workbook_results import write_results
from safetab.explorer.workbook_sheets import Styles
from safetab.findings import Finding, InvalidInput, Severity
from safetab.spec.tables import Stage
from safetab.tuning.tuning import Tuning

_OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}


def write_workbook(tuning: Tuning, path: Path) -> None:
    """A new xlsx file, whole or not at all. Raises InvalidInput if it is there already or can't be written."""
    try:
        if path.exists():
            raise _refused(path, "is there already. Give another file.")
        with tempfile.TemporaryDirectory(prefix=".safetab-", dir=path.parent) as beside:
            made = Path(beside) / "workbook.xlsx"
            _write(tuning, made)
            made.rename(path)
    except (OSError, FileCreateError) as error:
        cause = error.args[0] if isinstance(error, FileCreateError) else error
        reason = getattr(cause, "strerror", None) or "unknown error"
        raise _refused(path, f"can't be written: {reason}.") from None


def _write(tuning: Tuning, path: Path) -> None:
    workbook = Workbook(str(path), _OPTIONS)
    styles = Styles(workbook)
    inputs = write_inputs(workbook, tuning, styles)
    results = write_results(workbook, inputs, styles)
    write_curves(workbook, inputs, results, styles)
    curve_of = tuning.levels.get(results[first_choice(results)].inputs.level)
    if curve_of is not None and (Stage.STAGE_2 not in curve_of.stages or not can_be_drawn(curve_of)):
        curve_of = None
    write_exact(workbook, tuning, curve_of, styles)
    write_accuracy(workbook, styles)
    workbook.close()


def _refused(path: Path, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(path), "", message)])
