"""A release as CSV files, for spreadsheets and programs that read nothing else, in one of two forms."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.outputs.manifest import write_not_for_release
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.release.census_form.census_form import COLUMNS_FILE, write_census_form
from safetab.release.documents import DATAPACKAGE_FILE, PRIVACY_FILE, README_FILE
from safetab.release.numbers.number_files import NUMBERS_FOLDER
from safetab.release.release_folder import ReleaseFolder, open_release_folder

_ROWS_AT_ONCE = 1 << 17


class ExportForm(Enum):
    """How the files are laid out; the value is what the command line calls it."""

    TIDY = "tidy"  # a file for each geography level, a row for each number with all that is known of it
    CENSUS = "census"  # a file for each published table, named and laid out as the Census Bureau does


_KNOWN_BY = {ExportForm.TIDY: "universe/entities.csv", ExportForm.CENSUS: COLUMNS_FILE}


def export_csv(
    release: Path, folder: Path, form: ExportForm = ExportForm.TIDY, *, overwrite: bool = False
) -> dict[str, int]:
    """Writes every table of a release as CSV: numbers/COUNTY.csv, .., universe/entities.csv, ..; tells their rows.

    Texts are in quotes, so that a spreadsheet that reads them as text keeps leading zeros; null is nothing. An earlier
    export, of either form, is replaced if `overwrite` says so.
    """
    opened = open_release_folder(release)
    known_by = next((one for one in _KNOWN_BY.values() if (folder / one).is_file()), _KNOWN_BY[form])
    refused = output_findings(folder, [opened.path], overwrite=overwrite, known_by=known_by)
    if refused:
        raise InvalidInput(refused)
    try:
        with whole_output(folder, datetime.datetime.now(datetime.UTC).date(), overwrite=overwrite) as output:
            write_not_for_release(output, opened.facts.status)
            return (_write_tidy if form is ExportForm.TIDY else write_census_form)(opened, output)
    except pa.ArrowException:
        message = "a table can't be read. Get the release again."
        raise InvalidInput([Finding(Severity.ERROR, str(opened.path), "", message)]) from None
    except OSError as error:
        raise RunFailed(f"the machine refused: {error.strerror or 'unknown error'}. Nothing was written.") from None


def _write_tidy(opened: ReleaseFolder, output: Path) -> dict[str, int]:
    release, rows = opened.path, dict[str, int]()
    for name in (README_FILE, PRIVACY_FILE):
        shutil.copyfile(release / name, output / name)
    for path in sorted((release / "universe").glob("*.parquet")):
        rows |= _written(output, f"universe/{path.stem}.csv", [path], None)
    for part in sorted((release / NUMBERS_FOLDER).iterdir()):
        label = part.name.removeprefix("geography_level=")
        levels = (level for level in opened.universe.levels if level.geography.label == label)
        numbers = [file for level in levels if (file := opened.numbers_of(level)) is not None]
        rows |= _written(output, f"{NUMBERS_FOLDER}/{label}.csv", numbers, label)
    _write_dictionary(release, output, rows)
    return rows


def _write_dictionary(release: Path, output: Path, rows: Mapping[str, int]) -> None:
    """The data dictionary for the CSV files: a resource for each."""
    package = json.loads((release / DATAPACKAGE_FILE).read_text(encoding="utf-8"))
    by_name = {resource["name"]: resource for resource in package["resources"]}
    package["resources"] = []
    for path in rows:
        folder, stem = path.removesuffix(".csv").split("/")
        is_numbers = folder == NUMBERS_FOLDER
        name = f"{NUMBERS_FOLDER}-{stem.lower()}" if is_numbers else stem
        same = by_name[NUMBERS_FOLDER if is_numbers else stem]
        package["resources"].append(
            same | {"name": name, "path": path, "format": "csv", "mediatype": "text/csv", "encoding": "utf-8"}
        )
    (output / DATAPACKAGE_FILE).write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _written(output: Path, name: str, paths: list[Path], label: str | None) -> dict[str, int]:
    """One CSV file of some Parquet files; the geography level, which their folder tells, becomes the first column."""
    (output / name).parent.mkdir(exist_ok=True)
    rows = 0
    with (output / name).open("wb") as file:
        for path in paths:
            with pa.parquet.ParquetFile(path) as parquet:
                schema = parquet.schema_arrow
                empty = pa.RecordBatch.from_pylist([], schema=schema)
                batches = iter([empty]) if not parquet.metadata.num_rows else parquet.iter_batches(_ROWS_AT_ONCE)
                for batch in batches:
                    table = pa.Table.from_batches([batch])
                    if label is not None:
                        table = table.add_column(0, "geography_level", pa.repeat(pa.scalar(label), len(table)))
                    options = pa.csv.WriteOptions(include_header=not file.tell())
                    pa.csv.write_csv(table, file, options)
                    rows += len(table)
    return {name: rows}
