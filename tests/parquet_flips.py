"""Flips bits of Parquet files and reads each as the program does, all in one process, which a signal would end.

    python -m tests.parquet_flips FOLDER FLIPS footer,pages persons,geography,release

Prints how many flips of each part of each file were refused. Fails if one is refused without the name of the file, or as anything but bad input.
"""

import faulthandler
import random
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import safetab
from tests.inside import InvalidInput, write_checksums
from tests.worlds.people import write_random_world

_LONGEST_READ = 600  # seconds


def flipped(content, part, numbers):
    """The file with one other bit in its footer, or in what lies before."""
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    at = numbers.randrange(footer, len(content)) if part == "footer" else numbers.randrange(footer)
    changed = bytearray(content)
    changed[at] ^= 1 << numbers.randrange(8)
    return bytes(changed)


def parquet_of(text, rows_in_a_group):
    """The same table as Parquet, instead of the text."""
    header, *rows = [line.split("|") for line in text.read_text().splitlines()]
    columns = {name: [row[position] for row in rows] for position, name in enumerate(header)}
    path = text.with_suffix(".parquet")
    pq.write_table(pa.table(columns), path, row_group_size=rows_in_a_group)
    text.unlink()
    return path


def _validated(world):
    safetab.validate(*world)


def _read_release(release):
    """The numbers of an area, why the others are absent, and all of the release."""
    write_checksums(release)  # as if the damage had been released
    safetab.open_release(release).totals(area="44007")
    safetab.status(release, area="44007")
    with tempfile.TemporaryDirectory() as folder:
        safetab.export(release, Path(folder) / "exported")


def _subject(kind, folder):
    """The file to damage, and what reads it."""
    county = {"run_pr": False, "privacy_budget_p_level_1_county": 1}  # a level is enough, and takes less time
    world = write_random_world(folder / "world", 2, people=200, budget=0, **county)
    if kind == "persons":
        return parquet_of(world.data / "person-records.txt", 70), lambda: _validated(world)
    if kind == "geography":
        return parquet_of(world.data / "GRF-C.txt", 20), lambda: _validated(world)
    safetab.run(*world, folder / "out", test_key="00" * 32)
    release = folder / "out" / "release"
    return release / "numbers" / "geography_level=COUNTY" / "regional-sex-by-age.parquet", lambda: _read_release(
        release
    )


def main(folder, flips, parts, kinds):
    for kind in kinds.split(","):
        path, read = _subject(kind, Path(folder) / kind)
        content = path.read_bytes()
        read()
        for part in parts.split(","):
            sys.stdout.write(f"{_refused(path, read, content, part, int(flips))}\n")


def _refused(path, read, content, part, flips):
    numbers, refused = random.Random(35), 0
    for number in range(flips):
        path.write_bytes(flipped(content, part, numbers))
        faulthandler.dump_traceback_later(_LONGEST_READ, exit=True)
        sys.stderr.write(f"{path.name} {part} {number}\n")  # the last one is the flip that ended the process
        try:
            read()
        except InvalidInput as invalid:
            if path.stem not in str(invalid):
                raise
            refused += 1
    return refused


if __name__ == "__main__":
    main(*sys.argv[1:])
