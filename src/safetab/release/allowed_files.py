"""Every file that an output may hold, and when. What is not named here does not leave."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from safetab.outputs.manifest import LOG_FILE, MANIFEST_FILE, NOT_FOR_RELEASE_FILE
from safetab.release.after_steps import AFTER_STEPS_FOLDER, AFTER_STEPS_README
from safetab.release.checksums import CHECKSUMS_FILE
from safetab.release.csv_tables import CSV_FOLDER, csv_names
from safetab.release.documents import DATAPACKAGE_FILE, PRIVACY_FILE, README_FILE
from safetab.release.numbers.number_files import RELEASE_FOLDER, numbers_file
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import Universe
from safetab.release.universe_files import COTERMINOUS_FILE, UNIVERSE_FILES

REPORT_FILE = "report.html"

OF_EVERY_OUTPUT = (
    MANIFEST_FILE,
    LOG_FILE,
    REPORT_FILE,
    *(
        f"{RELEASE_FOLDER}/{name}"
        for name in (README_FILE, REPORT_FILE, DATAPACKAGE_FILE, PRIVACY_FILE, CHECKSUMS_FILE, *UNIVERSE_FILES)
    ),
)
MEASURED = "measurements/{}.parquet"
OF_STEPS = (f"{AFTER_STEPS_FOLDER}/{AFTER_STEPS_README}",)
OF_THE_COTERMINOUS_STEP = (f"{RELEASE_FOLDER}/{COTERMINOUS_FILE}",)
OF_WHAT_IS_NOT_FOR_RELEASE = (NOT_FOR_RELEASE_FILE,)


def measured_files(universe: Universe) -> tuple[str, ...]:
    """The tables and measurements of the passes that ran: no step after measuring changes them."""
    names = (*_tables(universe), MEASURED)
    return tuple(name.format(one.value) for one in universe.passes for name in names)


def _tables(universe: Universe) -> list[str]:
    return [f"{file.folder}/{{}}.csv" for file in universe.product.files]


def allowed_files(universe: Universe, options: ReleaseOptions, *, for_release: bool) -> frozenset[str]:
    """The files that an output of this universe and these steps may hold."""
    names = [*OF_EVERY_OUTPUT, *measured_files(universe)]
    names += [f"{RELEASE_FOLDER}/{numbers_file(level.design)}" for level in universe.levels]
    if options.change_numbers:
        tables = [f"{AFTER_STEPS_FOLDER}/{name}" for name in _tables(universe)]
        names += [*OF_STEPS, *(name.format(one.value) for one in universe.passes for name in tables)]
    if options.coterminous is not None:
        names += OF_THE_COTERMINOUS_STEP
    if options.csv:
        tables_of = [*UNIVERSE_FILES, *([COTERMINOUS_FILE] if options.coterminous is not None else [])]
        names += [f"{RELEASE_FOLDER}/{CSV_FOLDER}/{name}" for name in csv_names(universe, tables_of)]
    if not for_release:
        names += OF_WHAT_IS_NOT_FOR_RELEASE
    return frozenset(names)


def stray_paths(output: Path, allowed: frozenset[str]) -> list[str]:
    """What lies in an output and may not: files of other names, links, and folders that no allowed file is in."""
    folders = {str(folder) for name in allowed for folder in PurePosixPath(name).parents}
    stray = []
    for path in sorted(output.rglob("*")):
        name = path.relative_to(output).as_posix()
        is_named = name in (folders if path.is_dir() else allowed)
        if path.is_symlink() or not is_named or not (path.is_dir() or path.is_file()):
            stray.append(name)
    return stray
