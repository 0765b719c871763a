"""A release as CSV files, for spreadsheets and programs that read nothing else."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.outputs.manifest import write_not_for_release
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.release.csv_tables import write_csv_tables
from safetab.release.data_dictionary import csv_resources_of
from safetab.release.documents import DATAPACKAGE_FILE, PRIVACY_FILE, README_FILE
from safetab.release.release_folder import ReleaseFolder, open_release_folder


def export_csv(release: Path, folder: Path) -> dict[str, int]:
    """Writes every table of a release as CSV: numbers/COUNTY.csv, .., universe/entities.csv, ..; tells their rows.

    See `safetab.release.csv_tables` for their form.
    """
    opened = open_release_folder(release)
    refused = output_findings(folder, [opened.path], overwrite=False)
    if refused:
        raise InvalidInput(refused)
    try:
        return _exported(opened, folder)
    except pa.ArrowException:
        message = "a table can't be read. Get the release again."
        raise InvalidInput([Finding(Severity.ERROR, str(opened.path), "", message)]) from None
    except OSError as error:
        raise RunFailed(f"the machine refused: {error.strerror or 'unknown error'}. Nothing was written.") from None


def _exported(opened: ReleaseFolder, folder: Path) -> dict[str, int]:
    release, rows = opened.path, dict[str, int]()
    with whole_output(folder, datetime.datetime.now(datetime.UTC).date(), overwrite=False) as output:
        write_not_for_release(output, opened.facts.status)
        for name in (README_FILE, PRIVACY_FILE):
            shutil.copyfile(release / name, output / name)
        rows |= write_csv_tables(release, opened.universe, output)
        _write_dictionary(opened, output, rows)
    return rows


def _write_dictionary(opened: ReleaseFolder, output: Path, rows: Mapping[str, int]) -> None:
    """The data dictionary for the CSV files: a resource for each."""
    package = json.loads((opened.path / DATAPACKAGE_FILE).read_text(encoding="utf-8"))
    package["resources"] = csv_resources_of(opened.universe.product, rows)
    (output / DATAPACKAGE_FILE).write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
