"""A release as CSV files, in one of two forms, for spreadsheets and simple programs."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path

import pyarrow as pa

from safetab.foundation.failures import raise_if_the_machine_failed, refusals_as_run_failed
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.model.census.census import Census
from safetab.release.files.census_form import CENSUS_FORM_FILES, COLUMNS_FILE, write_census_form
from safetab.release.files.checksums import CHECKSUMS, document_of, invalid
from safetab.release.files.data_dictionary import (
    CSV_FORMAT,
    csv_names,
    csv_resources_of,
    write_csv_tables,
)
from safetab.release.files.documents import (
    DATAPACKAGE_FILE,
    PRIVACY_FILE,
    README_FILE,
    README_TEXTS,
    facts_as_json,
)
from safetab.release.files.made_of import MADE_FILES, write_made_of
from safetab.release.files.release_folder import (
    EXPORTED_ENTITIES,
    ReleaseFolder,
    open_release_folder,
)
from safetab.release.outputs.manifest import NOT_FOR_RELEASE_FILE, write_json, write_not_for_release
from safetab.release.outputs.output_folder import (
    EarlierOutput,
    always_named,
    output_findings,
    whole_output,
)


class ExportForm(Enum):
    """The layout of the files. The value is its name on the command line."""

    # A file for each geography level, a row for each number with all that is known of it.
    TIDY = "tidy"
    # A file for each published table, named and laid out as the agency does.
    CENSUS = "census"


_OF_BOTH = (README_FILE, PRIVACY_FILE, NOT_FOR_RELEASE_FILE, *MADE_FILES)


def _earlier_exports(census: Census) -> dict[ExportForm, EarlierOutput]:
    """The files that an export of each form may hold; one that is replaced is known by them."""
    tidy = {*_OF_BOTH, DATAPACKAGE_FILE, *csv_names(census.area_levels)}
    return {
        ExportForm.TIDY: always_named(EXPORTED_ENTITIES, tidy),
        ExportForm.CENSUS: always_named(COLUMNS_FILE, {*_OF_BOTH, *CENSUS_FORM_FILES}),
    }


def export_csv(
    release: Path, folder: Path, form: ExportForm = ExportForm.TIDY, *, overwrite: bool = False
) -> dict[str, int]:
    """Write every table of a release as CSV and return the rows of each file.

    The tidy form has numbers/COUNTY.csv, .., universe/entities.csv, ..; see
    `safetab.release.files.data_dictionary`. An earlier export of either form is replaced if
    `overwrite` is true.
    """
    opened = open_release_folder(release)
    opened.refuse_inside(folder)
    census = opened.universe.census
    if form is ExportForm.CENSUS and census.area_codes is None:
        message = f"the {census.name} has no such form. Leave it out."
        raise InvalidInput([Finding(Severity.ERROR, "the command", "--form", message)])
    exports = _earlier_exports(census)
    earlier = next(
        (known for known in exports.values() if (folder / known.known_by).is_file()), exports[form]
    )
    refused = output_findings(folder, [opened.path], overwrite=overwrite, earlier=earlier)
    if refused:
        raise InvalidInput(refused)
    try:
        with refusals_as_run_failed(folder), whole_output(folder, overwrite=overwrite) as output:
            write_not_for_release(output, opened.facts.status)
            (output / PRIVACY_FILE).write_text(
                document_of(opened.path / PRIVACY_FILE), encoding="utf-8"
            )
            write = _write_tidy if form is ExportForm.TIDY else write_census_form
            rows = write(opened, output)
            write_made_of(output, opened.path)
            return rows
    except pa.ArrowException as error:
        raise_if_the_machine_failed(error)
        raise invalid(opened.path, "a table can't be read. Get the release again.") from None


def _write_tidy(opened: ReleaseFolder, output: Path) -> dict[str, int]:
    """Write the tidy CSV files with documents and a data dictionary; return the files' rows."""
    release = opened.path
    for level in opened.universe.levels:
        opened.numbers_of(level)  # has the columns of numbers
    levels = opened.universe.census.area_levels
    example = next((level for level in levels if level.kind.suppresses), levels[0])
    readme = README_TEXTS["exports"].format(level=example.label) + document_of(
        release / README_FILE
    )
    (output / README_FILE).write_text(readme, encoding="utf-8")
    rows = write_csv_tables(release, opened.universe, output, opened.format)
    package = json.loads((release / DATAPACKAGE_FILE).read_text(encoding="utf-8"))
    package["safetab"] = facts_as_json(opened.universe, opened.facts)
    package["safetab"]["csv_format"] = CSV_FORMAT
    del package["safetab"][CHECKSUMS]
    package["resources"] = csv_resources_of(opened.universe, rows, more=opened.facts.more_columns)
    write_json(output / DATAPACKAGE_FILE, package)
    return rows
