"""Writes a release: numbers, universe, and the data dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetab.census.geography import Geography
from safetab.census.geography_levels import TabulationPass
from safetab.release.coterminous.copies import PassSets, sets_of_passes
from safetab.release.csv_tables import CSV_FOLDER, write_csv_tables
from safetab.release.documents import ReleaseFacts, write_datapackage
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.numbers.write_numbers import NumbersWriter
from safetab.release.release_universe import Universe
from safetab.release.universe_files import write_universe


def write_release(
    output: Path,
    universe: Universe,
    facts: ReleaseFacts,
    populated: Mapping[TabulationPass, Geography],
) -> dict[str, int]:
    """The release of the measurements in `output`, and what becomes of the tables; tells how many rows each file has.

    `populated` is the geography of the blocks that may hold people; the coterminous step, if asked for, compares these.
    """
    release = output / RELEASE_FOLDER
    coterminous = facts.options.coterminous
    sets: Mapping[TabulationPass, PassSets] | None = None
    if coterminous is not None:
        sets = {of_pass.tabulation_pass: of_pass for of_pass in sets_of_passes(populated, coterminous)}
    rows = write_universe(release, universe, None if sets is None else sets.values())
    numbers = NumbersWriter(output, universe, facts.options)
    for tabulation_pass in universe.passes:
        measurements = output / "measurements" / f"{tabulation_pass.value}.parquet"
        numbers.write_pass(measurements, tabulation_pass, None if sets is None else sets[tabulation_pass])
    rows |= numbers.rows
    if facts.options.csv:
        written = write_csv_tables(release, universe, release / CSV_FOLDER)
        rows |= {f"{CSV_FOLDER}/{name}": count for name, count in written.items()}
    write_datapackage(release, universe, facts, rows)
    return {f"{RELEASE_FOLDER}/{name}": count for name, count in rows.items()} | numbers.rows_after_steps
