"""The explorer from public files: what `safetab explore` does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from safetab.config.config_file import CONFIG_FILE
from safetab.explorer.explorer_page import explorer_page
from safetab.explorer.page_facts import page_facts
from safetab.explorer.workbook.workbook import workbook_writer
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.new_file import Write, new_file_findings, write_new_files
from safetab.foundation.text_files import read_text
from safetab.foundation.whole_path import whole_path
from safetab.products.product import Selector
from safetab.tuning.tuning import Tuning, config_path, tuning_of


@dataclass(frozen=True, slots=True)
class ExplorerRequest:
    """Which files to write, and which to start from."""

    page: Path
    config: Path | None = None
    parameters: Path | None = None
    geography: Path | None = None
    workbook: Path | None = None
    overwrite: bool = False


def write_explorer(request: ExplorerRequest) -> tuple[Finding, ...]:
    """Writes the page and, if it is asked for, the workbook, both or none; gives back warnings about the files read.

    Raises InvalidInput, with every finding, if a file is at fault or can't be written.
    """
    files = [request.page] if request.workbook is None else [request.page, request.workbook]
    refused = [one for file in files for one in new_file_findings(file, overwrite=request.overwrite)]
    if len({whole_path(file) for file in files}) < len(files):
        refused.append(Finding(Severity.ERROR, "the command", "--xlsx", "is the page itself. Choose another name."))
    checked = tuning_of(request.config, request.parameters, request.geography)
    if refused:
        raise InvalidInput([*refused, *checked.errors])
    tuning = checked.require()
    if request.workbook is not None:
        _refuse_workbook_of_others(tuning)
    loaded = _loaded_config(request)
    page = explorer_page(page_facts(tuning.facts, _source(request), loaded, tuning.config.product))
    writers: dict[Path, Write] = {request.page: lambda beside: _write_page(page, beside)}
    if request.workbook is not None:
        writers[request.workbook] = workbook_writer(tuning, loaded)
    write_new_files(writers, overwrite=request.overwrite)
    return checked.warnings


def _refuse_workbook_of_others(tuning: Tuning) -> None:
    """The workbook's formulas are those of two stages and one table family."""
    product = tuning.config.product
    if product.has_several_families or product.selector is not Selector.NOISY_STAGE_1:
        message = (
            f"is a configuration of {product.name}; the workbook is about products whose tables a noisy first stage"
            " chooses. Write the page alone: it has both."
        )
        raise InvalidInput([Finding(Severity.ERROR, CONFIG_FILE, "", message)])


def _loaded_config(request: ExplorerRequest) -> str | None:
    path = config_path(request.config, request.parameters)
    return None if path is None else read_text(path)


def _write_page(page: str, file: Path) -> None:
    file.write_text(page, encoding="utf-8")


def _source(request: ExplorerRequest) -> str:
    """Where the numbers of groups are from, for those who read the page."""
    entities = "the 2020 Census" if request.geography is None else "the geography file given"
    iterations = "the 2020 Census" if request.parameters is None else "the lists given"
    if entities == iterations:
        return f"Geographic entities, race and ethnicity groups, and how many of them a person can be in: {entities}."
    return (
        f"Geographic entities: {entities}. Race and ethnicity groups, and how many of them a person can be in:"
        f" {iterations}."
    )
