"""Every file that an output may hold. A file that is not named here is not released."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from safetab.foundation.findings import OUTPUT_FORMAT
from safetab.foundation.new_files import SIGNATURE_FILES
from safetab.release.files.census_file import CENSUS_FILE
from safetab.release.files.checksums import CHECKSUMS_FILE
from safetab.release.files.data_dictionary import CSV_FOLDER, csv_names
from safetab.release.files.documents import DATAPACKAGE_FILE, PRIVACY_FILE, README_FILE
from safetab.release.files.numbers.number_files import RELEASE_FOLDER, numbers_file
from safetab.release.files.release_options import ReleaseOptions
from safetab.release.files.release_universe import Universe
from safetab.release.files.universe_files import COTERMINOUS_FILE, UNIVERSE_FILES
from safetab.release.files.write_release import AFTER_STEPS_FOLDER, AFTER_STEPS_README
from safetab.release.outputs.manifest import (
    ADDED_LATER,
    LOG_FILE,
    MANIFEST_FILE,
    NOT_FOR_RELEASE_FILE,
)

REPORT_FILE = "report.html"

_OF_EVERY_RELEASE = (
    README_FILE,
    REPORT_FILE,
    DATAPACKAGE_FILE,
    PRIVACY_FILE,
    CHECKSUMS_FILE,
    *UNIVERSE_FILES,
)


def measured_files(universe: Universe) -> tuple[str, ...]:
    """The tables and measurements of the passes that ran. No step after measuring changes them."""
    names = [
        *(f"{file.folder}/{{}}.csv" for file in universe.product.files),
        "measurements/{}.parquet",
    ]
    return tuple(name.format(each.name) for each in universe.passes for name in names)


def allowed_files(
    universe: Universe,
    options: ReleaseOptions,
    *,
    for_release: bool,
    of_format: int = OUTPUT_FORMAT,
) -> frozenset[str]:
    """The files that an output of this universe and these steps may hold."""
    names = [MANIFEST_FILE, LOG_FILE, REPORT_FILE, *measured_files(universe)]
    of_census = [] if universe.specification is None else [CENSUS_FILE]
    coterminous = [] if options.coterminous is None else [COTERMINOUS_FILE]
    released = [
        *_OF_EVERY_RELEASE,
        *of_census,
        *coterminous,
        *(numbers_file(level.design, of_format) for level in universe.levels),
    ]
    if options.csv:
        of_csv = csv_names(universe.entities, [*UNIVERSE_FILES, *coterminous])
        released += [f"{CSV_FOLDER}/{name}" for name in of_csv]
    names += [f"{RELEASE_FOLDER}/{name}" for name in released]
    if options.change_numbers:
        tables = [name for name in measured_files(universe) if name.endswith(".csv")]
        names += [f"{AFTER_STEPS_FOLDER}/{name}" for name in (AFTER_STEPS_README, *tables)]
    if not for_release:
        names.append(NOT_FOR_RELEASE_FILE)
    return frozenset(names) | ADDED_LATER


def stray_paths(output: Path, allowed: frozenset[str]) -> list[str]:
    """The paths in an output that may not be there: unknown files, links, and other folders."""
    folders = {str(folder) for name in allowed for folder in PurePosixPath(name).parents}
    stray = []
    for path in sorted(output.rglob("*")):
        name = path.relative_to(output).as_posix()
        is_named = name in (folders if path.is_dir() else allowed)
        if path.is_symlink() or not is_named or not (path.is_dir() or path.is_file()):
            stray.append(name)
    return stray


def not_files(path: Path) -> list[str]:
    """Links, pipes, and whatever else is neither a file nor a folder.

    Signatures have their own check.
    """
    found = (
        one for one in path.rglob("*") if one.is_symlink() or not (one.is_file() or one.is_dir())
    )
    return sorted(
        one.relative_to(path).as_posix() for one in found if one.name not in SIGNATURE_FILES
    )
