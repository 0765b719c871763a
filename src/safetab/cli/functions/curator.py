"""The curator's functions besides a run.

They give the accounts of what was spent, and make tables from a CEF.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from safetab.apps.bureau.cef_tables import ConvertedCef, convert_cef
from safetab.apps.bureau.cef_tables import blocks_with_units as write_blocks
from safetab.foundation.argument_types import path_or_none, python_function
from safetab.foundation.failures import RunFailed, refusals_as_run_failed, why_refused
from safetab.foundation.files import whole_path
from safetab.foundation.findings import InvalidInput
from safetab.foundation.progress import NoProgress
from safetab.foundation.result_tables import Findings
from safetab.runs.spend_log.accounts_shown import AccountsOfLog, accounts_of_log, change_limit
from safetab.runs.spend_log.log_checks import check_log
from safetab.runs.spend_log.merged_logs import merge_logs
from safetab.runs.spend_log.people_accounts import amount_text


@python_function
def spend(
    log: str | Path,
    dataset: str | None = None,
    *,
    set_limit: str | float | None = None,
    unit: Literal["rho", "epsilon"] | None = None,
) -> AccountsOfLog:
    """The loss that all runs spent on each data set, its limit, and what is left.

    The command `safetab spend` says the same. Raises `safetab.InvalidInput` if the log can't be
    used. The accounts are confidential like the log.

    Args:
        log: The spend log of the runs.
        dataset: Only the accounts of this data set; if left out, all.
        set_limit: Set or change first how much each pass of `dataset` may lose in all.
        unit: The unit of `set_limit`; if left out, that of the current limit, or of the runs.
    """
    try:
        path, limit = whole_path(Path(log)), None if set_limit is None else amount_text(set_limit)
        warnings = (
            () if limit is None and unit is None else change_limit(path, dataset, limit, unit)
        )
        return accounts_of_log(path, dataset, warnings)
    except OSError as error:
        raise RunFailed(why_refused(error)) from None


@python_function
def check_spend_log(log: str | Path, against: list[str | Path] | None = None) -> Findings:
    """Every finding about a spend log, as `safetab spend LOG --check` says.

    An error is damage, a warning is a doubt. Changes nothing. Raises `safetab.InvalidInput` if the
    log can't be read.

    Args:
        log: The spend log of the runs.
        against: Confidential logs of runs, which tell how long the spend log was at their end.
    """
    with refusals_as_run_failed():
        return Findings(check_log(whole_path(Path(log)), [Path(each) for each in against or ()]))


@python_function
def merge_spend_logs(logs: list[str | Path], new: str | Path) -> Findings:
    """Write a new log with every run of several logs, once.

    The command `safetab spend LOG --merge OTHER --output NEW` does the same. The logs stay as they
    are. Returns the warnings. Raises `safetab.InvalidInput`, with nothing written, if a log can't
    be used or two say different things about a run.

    Args:
        logs: Two or more spend logs.
        new: The log to make, for all further runs.
    """
    if len(logs) < 2:
        raise InvalidInput.about("the command", "must be two or more spend logs.", "logs")
    with refusals_as_run_failed():
        return Findings(merge_logs([whole_path(Path(log)) for log in logs], whole_path(Path(new))))


@python_function
def convert(
    data: str | Path,
    out: str | Path,
    *,
    confidential_log: str | Path | None = None,
    overwrite: bool = False,
) -> ConvertedCef:
    """Write the records of a Census Edited File as Parquet, as `safetab cef convert` does.

    Returns how many records there are, and the warnings. Raises `safetab.InvalidInput` if a file is
    at fault.

    Args:
        data: The .ini file that says where the files of the CEF lie.
        out: The directory to make; it is as confidential as the CEF.
        confidential_log: The curator's log: line numbers of rows that break a rule, no values.
        overwrite: Replace `out` if it exists.
    """
    return convert_cef(
        Path(data), Path(out), path_or_none(confidential_log), NoProgress(), overwrite=overwrite
    )


@python_function
def blocks_with_units(
    data: str | Path, out_file: str | Path, *, confidential_log: str | Path | None = None
) -> Findings:
    """Write which blocks of a Census Edited File have a unit, as `safetab cef blocks` does.

    Returns the warnings. The list is public only where numbers of units are. Raises
    `safetab.InvalidInput` if a file is at fault.

    Args:
        data: The .ini file that says where the files of the CEF lie.
        out_file: The file to make, for `empty_blocks` of a run.
        confidential_log: The curator's log: line numbers of rows that break a rule, no values.
    """
    return Findings(write_blocks(Path(data), Path(out_file), path_or_none(confidential_log)))
