"""A release as CSV files, for spreadsheets and programs that read nothing else, in one of two forms."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import pyarrow as pa

from safetab.foundation.failures import machine_refused, raise_if_the_machine_failed
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.outputs.earlier_output import always_named
from safetab.outputs.manifest import NOT_FOR_RELEASE_FILE, write_not_for_release
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.release.census_form.census_form import all_census_names, write_census_form
from safetab.release.census_form.columns_file import COLUMNS_FILE
from safetab.release.checksums import CHECKSUMS
from safetab.release.csv_tables import all_csv_names, write_csv_tables
from safetab.release.damage import document_of
from safetab.release.data_dictionary import csv_resources_of
from safetab.release.documents import DATAPACKAGE_FILE, PRIVACY_FILE, README_FILE, facts_as_json
from safetab.release.origin import LEAST_MARGIN_COLUMN
from safetab.release.release_folder import EXPORTED_ENTITIES, ReleaseFolder, open_release_folder


class ExportForm(Enum):
    """How the files are laid out; the value is what the command line calls it."""

    TIDY = "tidy"  # a file for each geography level, a row for each number with all that is known of it
    CENSUS = "census"  # a file for each published table, named and laid out as the Census Bureau does


_OF_BOTH = (README_FILE, PRIVACY_FILE, NOT_FOR_RELEASE_FILE)
_EARLIER = {
    ExportForm.TIDY: always_named(EXPORTED_ENTITIES, {*_OF_BOTH, DATAPACKAGE_FILE, *all_csv_names()}),
    ExportForm.CENSUS: always_named(COLUMNS_FILE, {*_OF_BOTH, *all_census_names()}),
}
_ABOUT_EXPORTS = """This folder holds the tables of a release as CSV files: numbers/COUNTY.csv,
universe/entities.csv and so on; datapackage.json describes their columns. What
follows is the README of the release. Its files and examples are those of the
release itself, not of this folder.

"""


def export_csv(
    release: Path, folder: Path, form: ExportForm = ExportForm.TIDY, *, overwrite: bool = False
) -> dict[str, int]:
    """Writes every table of a release as CSV: numbers/COUNTY.csv, .., universe/entities.csv, ..; tells their rows.

    See `safetab.release.csv_tables` for their form. An earlier export, of either form, is replaced if `overwrite` says
    so.
    """
    opened = open_release_folder(release)
    opened.refuse_inside(folder)
    earlier = next((one for one in _EARLIER.values() if (folder / one.known_by).is_file()), _EARLIER[form])
    refused = output_findings(folder, [opened.path], overwrite=overwrite, earlier=earlier)
    if refused:
        raise InvalidInput(refused)
    try:
        with whole_output(folder, datetime.datetime.now(datetime.UTC).date(), overwrite=overwrite) as output:
            write_not_for_release(output, opened.facts.status)
            return (_write_tidy if form is ExportForm.TIDY else write_census_form)(opened, output)
    except pa.ArrowException as error:
        raise_if_the_machine_failed(error)
        message = "a table can't be read. Get the release again."
        raise InvalidInput([Finding(Severity.ERROR, str(opened.path), "", message)]) from None
    except OSError as error:
        raise machine_refused(error, folder) from None


def _write_tidy(opened: ReleaseFolder, output: Path) -> dict[str, int]:
    release, rows = opened.path, dict[str, int]()
    for level in opened.universe.levels:
        opened.numbers_of(level)  # has the columns of numbers
    (output / PRIVACY_FILE).write_text(document_of(release / PRIVACY_FILE), encoding="utf-8")
    (output / README_FILE).write_text(_ABOUT_EXPORTS + document_of(release / README_FILE), encoding="utf-8")
    rows |= write_csv_tables(release, opened.universe, output, opened.format)
    _write_dictionary(opened, output, rows)
    return rows


def _write_dictionary(opened: ReleaseFolder, output: Path, rows: Mapping[str, int]) -> None:
    """The data dictionary for the CSV files: a resource for each."""
    package = json.loads((opened.path / DATAPACKAGE_FILE).read_text(encoding="utf-8"))
    more = () if opened.facts.origin is None else (LEAST_MARGIN_COLUMN,)
    package["safetab"] = facts_as_json(opened.universe, opened.facts)
    del package["safetab"][CHECKSUMS]
    package["resources"] = csv_resources_of(opened.universe.product, rows, more=more)
    (output / DATAPACKAGE_FILE).write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
