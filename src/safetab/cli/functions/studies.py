"""Studies that need no confidential data: explorer, lists, changed parameters, and audit."""

from __future__ import annotations

import datetime
from pathlib import Path

from safetab.apps.audit.audit import audit as verdicts
from safetab.apps.audit.audit import parts_of_audit
from safetab.apps.audit.page import review_page
from safetab.apps.audit.verdicts import AuditReport
from safetab.apps.explorer.explore import ExplorerRequest, write_explorer
from safetab.foundation.argument_types import path_or_none, python_function
from safetab.foundation.findings import require_none
from safetab.foundation.interrupts import publishing_for_itself
from safetab.foundation.new_files import new_file_findings, write_new_file
from safetab.foundation.progress import NoProgress
from safetab.foundation.result_tables import Findings
from safetab.inputs.configuration import require_parameters
from safetab.inputs.parameter_difference import ParameterDifference, difference
from safetab.inputs.public_files import read_public_lists, write_short_form


@python_function
def explore(
    output: str | Path = "explorer.html",
    *,
    xlsx: str | Path | None = None,
    overwrite: bool = False,
    config: str | Path | None = None,
    parameters: str | Path | None = None,
    geography: str | Path | None = None,
) -> Findings:
    """Write an interactive page for choosing parameters.

    The command `safetab explore` does the same. Returns the warnings. Raises `safetab.InvalidInput`
    if a file is at fault or exists.

    Args:
        output: The page to write.
        xlsx: A workbook to write too; only for SafeTab-P.
        overwrite: Replace the files if they exist.
        config: A config.json to start from; if left out, that of `parameters`.
        parameters: The directory with config.json and the lists, or with a specification.
        geography: A GRF-C file, to count its entities.
    """
    own, asked = path_or_none(config), path_or_none(parameters)
    given = ExplorerRequest(
        Path(output), own, asked, path_or_none(geography), path_or_none(xlsx), overwrite
    )
    return Findings(write_explorer(given))


@python_function
def lists(
    parameters: str | Path, *, short: str | Path | None = None, overwrite: bool = False
) -> Findings:
    """Check the lists of codes and iterations, and write them in short form.

    The command `safetab lists` does the same. Returns the warnings. Raises `safetab.InvalidInput`
    if a list is at fault.

    Args:
        parameters: The directory with the lists, or with a specification.
        short: A file to write: the codes of each iteration in short form.
        overwrite: Replace `short` if it exists.
    """
    require_parameters(Path(parameters))
    checked = read_public_lists(Path(parameters))
    found = checked.require()
    if short is not None:
        write_short_form(found, Path(short), overwrite=overwrite)
    return Findings(checked.warnings)


@python_function
def audit(*, quick: bool = False, page: str | Path | None = None) -> AuditReport:
    """Try to break the program's own privacy claims, as the command `safetab audit` does.

    Returns every verdict; its `conclusion` says whether a fault was found. Takes about seven
    minutes.

    Args:
        quick: The same kinds of checks with less work: about a minute.
        page: An HTML page to write, for reviewers.
    """
    require_none(() if page is None else new_file_findings(Path(page)))
    with publishing_for_itself():
        found = tuple(verdicts(parts_of_audit(is_quick=quick), NoProgress()))
        made = AuditReport(found, quick, datetime.datetime.now(datetime.UTC).date())
        if page is not None:
            text = review_page(made)
            write_new_file(Path(page), lambda path: path.write_text(text, encoding="utf-8"))
    return made


@python_function
def diff(
    before: str | Path, after: str | Path, data: str | Path | None = None
) -> ParameterDifference:
    """The changes from one set of parameters to another, as the command `safetab diff` says.

    Opens no record file. Returns the differences, which print as sentences and convert to a table.
    Raises `safetab.InvalidInput`, with every finding, if a public file is at fault.

    Args:
        before: The directory with config.json or census.toml, and the lists.
        after: Another such directory, of the same dialect or not.
        data: The directory with the geography file GRF-C, to compare areas too.
    """
    return difference(Path(before), Path(after), path_or_none(data))
